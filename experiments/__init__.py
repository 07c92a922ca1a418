"""The studies: each experiment is a module here, and its runs are recorded beside it."""

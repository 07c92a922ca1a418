"""Claims of the study of merging."""

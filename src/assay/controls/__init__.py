"""Shams: the same machinery without correspondence. The package imports nothing by itself."""

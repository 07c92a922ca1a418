"""Comparisons of two sets of rows: one function to one number. The package imports nothing by itself."""

"""Pytest plugin of Assay."""

"""Assay: claims are tests."""

__version__ = "0.1.0"

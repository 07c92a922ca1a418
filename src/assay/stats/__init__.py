"""Estimates and resampling. The package imports nothing by itself: the record opens `assay.stats.estimate` alone."""

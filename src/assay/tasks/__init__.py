"""Input of the studies: texts and task items. The package imports nothing by itself."""

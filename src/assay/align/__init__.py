"""Maps from donor rows to recipient rows, fitted on paired rows. The package imports nothing by itself.

``from assay.align.maps import MAPS`` is the table of all of them.
"""

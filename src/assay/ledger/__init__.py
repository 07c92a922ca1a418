"""Claims: sentences whose printed numbers are compared with registered runs."""

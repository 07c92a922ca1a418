"""Figures and tables, drawn from recorded results alone."""

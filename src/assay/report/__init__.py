"""Figures, drawn from recorded results alone."""

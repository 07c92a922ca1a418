"""Manuscripts: Markdown and LaTeX as passages, each number of them bound to a claim, set aside, loose or wrong."""

"""Every number that a text of this repository prints, as a test against the registered runs."""

"""Merging of models tensor by tensor, and of whole checkpoints in a stream. The package imports nothing by itself."""

"""Language models: where their weights come from, where a family keeps its parts, and how rows and losses are read.

The submodules are imported by name (``from assay.models.pretrained import open_pretrained``), so that
``sites``, ``families`` and ``weights_source`` open without torch.
"""

"""Study of merging: do diagnostics of two models predict whether they merge?"""

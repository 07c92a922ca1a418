"""Options, markers and hooks of the claims plugin; `assay` itself is imported only once a claim is collected."""

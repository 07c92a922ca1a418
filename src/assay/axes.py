"""Legend of the axis words in array annotations, and the array types that carry them.

========  =====================================================================
word      meaning
========  =====================================================================
item      one example: a sentence, a program, a prompt
row       one residual vector: one item at one position
token     one position in a batch of sequences
layer     one block of a model, counted from 0
d         width of the residual stream; ``d_donor`` and ``d_recipient`` if two
draw      one resample of a bootstrap or of a permutation
cluster   items that are drawn together (a help file, an article)
========  =====================================================================

``Float[NDArray, "item d"]`` is checked in tests (jaxtyping with beartype) and free in production.
"""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from numpy import ndarray as NDArray

__all__ = ["Bool", "Float", "Int", "NDArray"]

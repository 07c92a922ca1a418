"""The set of tensors that two models are compared over: which ones, in which group, and why the others are left out.

A cosine over "the weights" means nothing without it: buffers of -1e9 make any two models equal, gains that start at 1
make unrelated models similar, and a tied head counts the embedding twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, final

import numpy as np

from assay.axes import Float, NDArray
from assay.choices import checked_choice
from assay.errors import ShapeError

Group = Literal["matrix", "gain", "bias", "embedding", "other"]
Vocabulary = Literal["shared", "different"]
GROUPS: tuple[Group, ...] = ("matrix", "gain", "bias", "embedding", "other")
TensorSource: TypeAlias = Mapping[str, Any]
"""Tensors by canonical name, numpy arrays or torch tensors; may read a file at each access."""

CHUNK = 2**20
_BUFFER = re.compile(r"(^|\.)(masked_bias|rotary_emb\.(original_)?inv_freq|inv_freq)$")
_CAUSAL_MASK = re.compile(r"(^|\.)(attention|attn)\.bias$")
_EMBEDDING = re.compile(
    r"(^|[._])(embed_tokens|embed_in|embed_out|wte|lm_head|word_embeddings|token_embedding|embed|unembed|embeddings?)"
    r"([._]|$)"
)
_POSITIONS = re.compile(r"(^|[._])(wpe|position_embeddings?|embed_positions|pos_embed|positions?)([._]|$)")
_HEAD = re.compile(r"(^|[._])(embed_out|lm_head|unembed|head)([._]|$)")
_NORM = re.compile(r"norm|(^|[._])ln(_|\d|\.|$)", re.IGNORECASE)
_BIAS = re.compile(r"(^|[._])(bias|b_[a-z]+)$", re.IGNORECASE)


class SharedTensor(NamedTuple):
    """One tensor of the set."""

    name: str
    group: Group
    shape: tuple[int, ...]

    @property
    def n_params(self) -> int:
        """Number of values in it."""
        return math.prod(self.shape)


class Excluded(NamedTuple):
    """One tensor that is not in the set, and why."""

    name: str
    reason: str


@final
@dataclass(frozen=True)
class TensorSet:
    """What is compared, in the order of names, and what is not; stored next to every number that was taken over it."""

    tensors: tuple[SharedTensor, ...]
    excluded: tuple[Excluded, ...]

    @property
    def n_params(self) -> int:
        """Number of values in all tensors of the set."""
        return sum(tensor.n_params for tensor in self.tensors)

    def of(self, *groups: Group) -> TensorSet:
        """The tensors of some groups; the others are excluded with their group as the reason.

        Raises:
            EstimateError: an unknown group.
        """
        for group in groups:
            checked_choice(group, Group, what="TensorSet: group")
        kept = tuple(tensor for tensor in self.tensors if tensor.group in groups)
        out = tuple(Excluded(t.name, f"group {t.group} was not asked for") for t in self.tensors if t not in kept)
        return TensorSet(kept, self.excluded + out)


def tensor_set(
    donor: TensorSource,
    recipient: TensorSource,
    *,
    vocabulary: Vocabulary,
    tied: Mapping[str, str] | None = None,
    group_of: Callable[[str, tuple[int, ...]], Group] | None = None,
) -> TensorSet:
    """Floating tensors that both models hold under one name in one shape, each physical tensor once.

    Left out with a reason: what only one side holds, other shapes, integers, buffers (causal masks, ``masked_bias``,
    ``inv_freq``), the second name of tied weights, and with a ``different`` vocabulary token embeddings and heads.
    Tied weights are seen where a source returns the same object at each access and two names share memory; for
    sources that read files say them: ``tied={"lm_head.weight": "model.embed_tokens.weight"}``. ``group_of``
    replaces `group_by_name` for models that name their parts otherwise.

    Raises:
        ShapeError: nothing is left to compare.
        EstimateError: another vocabulary than the two, or an unknown group.
    """
    checked_choice(vocabulary, Vocabulary, what="tensor_set: vocabulary")
    second = dict(tied or {}) | _sharing_memory(donor, "donor") | _sharing_memory(recipient, "recipient")
    kept, excluded = [], []
    for name in sorted(donor.keys() | recipient.keys()):
        reason = _missing(name, donor, recipient)
        shape: tuple[int, ...] = ()
        if not reason:
            one, other = donor[name], recipient[name]
            shape = tuple(int(side) for side in one.shape)
            reason = _unlike(one, other) or _not_a_weight(name, len(shape))
        if not reason and name in second:
            reason = f"tied to {second[name]}"
        if not reason and vocabulary == "different" and _of_vocabulary(name):
            reason = "the vocabularies differ"
        if reason:
            excluded.append(Excluded(name, reason))
        else:
            group = (group_of or group_by_name)(name, shape)
            checked_choice(group, Group, what=f"tensor_set: group of {name}")
            kept.append(SharedTensor(name, group, shape))
    if not kept:
        raise ShapeError(
            f"tensor_set: of {len(excluded)} tensors none can be compared; the first, {excluded[:1]}. Map both models "
            "to the same canonical names."
        )
    return TensorSet(tuple(kept), tuple(excluded))


def group_by_name(name: str, shape: tuple[int, ...]) -> Group:
    """The group by the names that transformers models use.

    ``embedding``: token and position embeddings and heads; ``bias``; ``gain``: vectors of norms; ``matrix``: what is
    left with two axes or more; ``other``: vectors that are none of these.
    """
    if len(shape) >= 2:
        return "embedding" if _EMBEDDING.search(name) or _POSITIONS.search(name) else "matrix"
    if _BIAS.search(name):
        return "bias"
    return "gain" if _NORM.search(name) else "other"


def float64_chunks(tensor: Any) -> Iterator[Float[NDArray, " value"]]:
    """The values of a tensor, flattened, in float64 pieces of at most 2**20, so that half precision is never summed."""
    if isinstance(tensor, np.ndarray):
        flat = tensor.reshape(-1)
        for start in range(0, flat.size, CHUNK):
            yield flat[start : start + CHUNK].astype(np.float64)
        return
    flat = tensor.detach().reshape(-1)
    for start in range(0, flat.numel(), CHUNK):
        yield flat[start : start + CHUNK].double().cpu().numpy()


def _missing(name: str, donor: TensorSource, recipient: TensorSource) -> str:
    if name not in donor:
        return "only the recipient holds it"
    return "" if name in recipient else "only the donor holds it"


def _unlike(one: Any, other: Any) -> str:
    if tuple(one.shape) != tuple(other.shape):
        return f"shape {tuple(one.shape)} in the donor, {tuple(other.shape)} in the recipient"
    kinds = [tensor.dtype for tensor in (one, other) if not _floating(tensor)]
    return f"{kinds[0]} is no floating type" if kinds else ""


def _floating(tensor: Any) -> bool:
    if isinstance(tensor, np.ndarray):
        return bool(tensor.dtype.kind == "f")
    return bool(tensor.dtype.is_floating_point)


def _not_a_weight(name: str, n_axes: int) -> str:
    if _BUFFER.search(name):
        return "a buffer"
    return "a buffer (causal mask)" if _CAUSAL_MASK.search(name) and n_axes != 1 else ""


def _of_vocabulary(name: str) -> bool:
    return bool(_EMBEDDING.search(name)) and not _POSITIONS.search(name)


def _sharing_memory(source: TensorSource, side: str) -> dict[str, str]:
    """Second and later names of one piece of memory, and the name they repeat; a head repeats the embedding."""
    first: dict[tuple[Any, ...], str] = {}
    second: dict[str, str] = {}
    for name in source:
        tensor = source[name]
        if tensor is not source[name]:
            continue
        kept = first.setdefault(_place(tensor), name)
        if kept != name:
            body, again = sorted((kept, name), key=lambda each: bool(_HEAD.search(each)))
            second[again] = f"{body} in the {side}"
    return second


def _place(tensor: Any) -> tuple[Any, ...]:
    if isinstance(tensor, np.ndarray):
        return (tensor.__array_interface__["data"][0], tensor.shape, tensor.strides)
    return (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()))

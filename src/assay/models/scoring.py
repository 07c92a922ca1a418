"""Negative log-likelihood of lines, and pooled rows of every layer, in one forward pass.

Prefix rule: every line is preceded by one prefix token, BOS if the tokenizer has one, else EOS. It is never scored and
never pooled (its residual row is an attention sink whose norm drowns the others). All tokens of the line are scored.
Rows of the vocabulary beyond the tokenizer keep their share of probability, as in the plain softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import torch
from torch import Tensor

from assay.axes import Bool, Float, Int, NDArray
from assay.errors import DataError, ModelError, ShapeError
from assay.models.hooks import recording
from assay.models.pooling import position_weighted_mean
from assay.models.pretrained import PretrainedModel
from assay.models.sites import HookPoint, Site, at_every_layer

__all__ = ["Rows", "Scores", "nll", "read_rows", "target_nats"]

Pool = Callable[[Tensor, Tensor], Tensor]
Progress = Callable[[int, int], None]
_BATCH_TOKENS = 512
_HEAD_TOKENS = 512
_HEAD_VOCABULARY = 4096


@final
@dataclass(frozen=True)
class Scores:
    """NLL of each line: the sum over its tokens in nats, the number of scored tokens, its UTF-8 bytes."""

    nats: Float[NDArray, " item"]
    tokens: Int[NDArray, " item"]
    bytes: Int[NDArray, " item"]

    @property
    def nats_per_token(self) -> float:
        """All nats over all tokens (micro-average). Comparable only where tokenizer and lines are the same."""
        return float(self.nats.sum() / self.tokens.sum())

    @property
    def nats_per_byte(self) -> float:
        """All nats over all UTF-8 bytes of the raw lines; the unit for comparisons across tokenizers."""
        return float(self.nats.sum() / self.bytes.sum())


@final
@dataclass(frozen=True)
class Rows:
    """Pooled rows at ``resid_post`` of layers 0 to L-1 (the last one before the final norm), and the scores."""

    rows: Float[NDArray, "layer item d"]
    scores: Scores


class _Batch(NamedTuple):
    items: list[int]
    input_ids: Int[Tensor, "batch token"]
    mask: Int[Tensor, "batch token"]


def nll(
    pretrained: PretrainedModel,
    lines: Sequence[str],
    *,
    batch_tokens: int = _BATCH_TOKENS,
    progress: Progress | None = None,
) -> Scores:
    """NLL of ``lines``: minus the float32 log-softmax at each token, summed a line in float64.

    Batches of at most ``batch_tokens`` tokens, padding included, longest lines first; a line's score does not depend
    on its batch beyond rounding. ``progress(done, total)`` counts lines after each batch.

    Errors: DataError for no lines, an empty line, a line with special tokens of the tokenizer in its text, or one
    longer than the model reads (nothing is truncated); ModelError for a tokenizer with neither BOS nor EOS.
    """
    return _read(pretrained, lines, (), position_weighted_mean, batch_tokens, progress).scores


def read_rows(
    pretrained: PretrainedModel,
    lines: Sequence[str],
    *,
    pool: Pool = position_weighted_mean,
    batch_tokens: int = _BATCH_TOKENS,
    progress: Progress | None = None,
) -> Rows:
    """``nll`` and, from the same forward pass, ``pool(hidden, mask)`` of every layer's ``resid_post``, float32.

    ``pool`` gets the tokens of the lines without the prefix token and must return "batch d".
    Errors: as ``nll``; ShapeError if ``pool`` returns another shape.
    """
    sites = at_every_layer(HookPoint.RESID_POST, n_layers=pretrained.n_layers)
    return _read(pretrained, lines, sites, pool, batch_tokens, progress)


def _read(
    pretrained: PretrainedModel,
    lines: Sequence[str],
    sites: Sequence[Site],
    pool: Pool,
    batch_tokens: int,
    progress: Progress | None,
) -> Rows:
    encoded = _encode(pretrained, lines)
    nats = np.zeros(len(lines))
    rows = np.zeros((len(sites), len(lines), pretrained.width), dtype=np.float32)
    done = 0
    for batch in _batches(encoded, batch_tokens, _pad(pretrained.tokenizer)):

        def read(site: Site, hidden: Tensor, mask: Tensor = batch.mask) -> Tensor:
            pooled = pool(hidden[:, 1:], mask[:, 1:])
            if pooled.shape != (len(hidden), hidden.shape[2]):
                raise ShapeError(f"read_rows: pool returned {tuple(pooled.shape)} at {site}, (batch, d) was expected.")
            return pooled

        with torch.no_grad(), recording(pretrained, sites, read=read) as pooled:
            decoder = pretrained.model.get_submodule(pretrained.family.decoder)
            final_hidden = decoder(
                input_ids=batch.input_ids, attention_mask=batch.mask, use_cache=False
            ).last_hidden_state
            nats[batch.items] = _line_nats(pretrained, final_hidden, batch)
        for site, row in pooled.items():
            rows[site.layer, batch.items] = row.numpy()
        done += len(batch.items)
        if progress is not None:
            progress(done, len(lines))
    tokens = np.array([len(ids) - 1 for ids in encoded], dtype=np.int64)
    n_bytes = np.array([len(line.encode()) for line in lines], dtype=np.int64)
    return Rows(rows, Scores(nats, tokens, n_bytes))


def _line_nats(pretrained: PretrainedModel, final_hidden: Tensor, batch: _Batch) -> NDArray:
    scored: Bool[Tensor, "batch token"] = batch.mask[:, 1:].bool()
    nats = torch.zeros(scored.shape, dtype=torch.float64)
    values = target_nats(pretrained, final_hidden[:, :-1][scored], batch.input_ids[:, 1:][scored])
    nats[scored] = values.double()
    return nats.sum(dim=1).numpy()


def target_nats(
    pretrained: PretrainedModel, hidden: Float[Tensor, "row d"], targets: Int[Tensor, " row"]
) -> Float[Tensor, " row"]:
    """Minus the log-probability of each target under the head applied to final (normed) hidden rows, in nats.

    The head is applied in blocks of rows and of the vocabulary with a running log-sum-exp, so that the logits of a
    large vocabulary are never held whole. It lies within 1e-5 nats a token of the log-softmax in float64 of the same
    logits on a vocabulary of 262,144, where torch's float32 log-softmax over the whole row is off by up to 6e-5.
    """
    model, family = pretrained.model, pretrained.family
    head: Any = model.get_submodule(family.head)
    cap = getattr(model.config, family.softcap_field) if family.softcap_field else None
    nats = torch.empty(len(hidden), dtype=torch.float32)
    for start in range(0, len(hidden), _HEAD_TOKENS):
        rows = slice(start, start + _HEAD_TOKENS)
        total = torch.full((len(hidden[rows]),), -torch.inf)
        chosen = torch.empty_like(total)
        for first in range(0, len(head.weight), _HEAD_VOCABULARY):
            block = slice(first, first + _HEAD_VOCABULARY)
            bias = None if head.bias is None else head.bias[block]
            logits = torch.nn.functional.linear(hidden[rows], head.weight[block], bias).float()
            if cap is not None:
                logits = torch.tanh(logits / cap) * cap
            here = (targets[rows] >= first) & (targets[rows] < first + len(logits[0]))
            chosen[here] = logits[here, targets[rows][here] - first]
            total = torch.logaddexp(total, torch.logsumexp(logits, dim=1))
        nats[rows] = total - chosen
    return nats


def _encode(pretrained: PretrainedModel, lines: Sequence[str]) -> list[list[int]]:
    if not lines:
        raise DataError("scoring: no lines were given.")
    tokenizer: Any = pretrained.tokenizer
    prefix = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    if prefix is None:
        raise ModelError(
            f"scoring: the tokenizer of {pretrained.label} has neither BOS nor EOS to precede a line with."
        )
    limit = int(pretrained.model.config.max_position_embeddings)
    special = set(tokenizer.all_special_ids)
    encoded = []
    for number, ids in enumerate(tokenizer(list(lines), add_special_tokens=False)["input_ids"]):
        if not ids:
            raise DataError(f"scoring: line {number} ({lines[number]!r}) has no tokens. Leave empty lines out.")
        if found := special.intersection(ids):
            token = tokenizer.convert_ids_to_tokens(min(found))
            raise DataError(
                f"scoring: line {number} ({lines[number][:60]!r}) contains {token}, "
                f"a special token of {pretrained.label}, or text that it has no token for. Leave the line out."
            )
        if len(ids) + 1 > limit:
            raise DataError(
                f"scoring: line {number} has {len(ids)} tokens, {pretrained.label} reads {limit - 1} after the prefix. "
                "Nothing is truncated: split the line or leave it out."
            )
        encoded.append([prefix, *ids])
    return encoded


def _batches(encoded: list[list[int]], batch_tokens: int, pad: int) -> Iterator[_Batch]:
    order = sorted(range(len(encoded)), key=lambda item: -len(encoded[item]))
    start = 0
    while start < len(order):
        width = len(encoded[order[start]])
        items = order[start : start + max(1, batch_tokens // width)]
        start += len(items)
        input_ids = torch.full((len(items), width), pad, dtype=torch.long)
        mask = torch.zeros_like(input_ids)
        for row, item in enumerate(items):
            ids = torch.tensor(encoded[item])
            input_ids[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        yield _Batch(items, input_ids, mask)


def _pad(tokenizer: Any) -> int:
    """Any id would do: padding follows the real tokens, is masked, and is neither scored nor pooled."""
    return 0 if tokenizer.pad_token_id is None else int(tokenizer.pad_token_id)

"""Rewriting the printed numbers of one claim from its registered run, and nothing else in the file."""

from __future__ import annotations

from collections.abc import Iterable

from assay.errors import ClaimError
from assay.ledger.judge import Judgement
from assay.ledger.sentence import read_sentence
from assay.ledger.source import ClaimFile


def accepted(source: ClaimFile, judgement: Judgement, *, names: Iterable[str] = ()) -> bytes:
    """The file with each differing number of the claim printed as registered, in the same form and precision.

    Every other byte stays. ClaimError when the place of a number is hidden behind escapes or joined literals.
    """
    claim = judgement.claim
    function = source.functions.get(claim.qualname)
    if function is None or function.written is None:
        raise ClaimError(f"claim {claim.id}: its docstring is not found in {claim.path}; edit it by hand")
    bindings = read_sentence(function.written, names=names).bindings
    data = source.data
    for at in sorted(judgement.corrections, reverse=True):
        binding = bindings[at]
        span = source.span(claim.qualname, binding.start, binding.end)
        if span is None:
            raise ClaimError(f"claim {claim.id}: escapes hide where {binding.text} stands; edit it by hand")
        data = data[: span[0]] + judgement.corrections[at].encode() + data[span[1] :]
    return data

"""`--claims-accept ID`: one claim and the sentences that cite it print what the registered run says."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.errors import AssayError, ClaimError
from assay.ledger.accept import accepted
from assay_pytest.repository import repository_of

if TYPE_CHECKING:
    import pytest

    from assay.ledger.judge import Judgement
    from assay.ledger.source import ClaimFile


class Rewritten(NamedTuple):
    """The difference, or why there is none; ``sentence`` is what the claim says now, empty if nothing was written."""

    text: str
    sentence: str = ""


def rewrite(config: pytest.Config, source: ClaimFile, judgement: Judgement) -> Rewritten:
    """Rewrite the claim in its file and in the texts.

    All is worked out before anything is written: a mistake leaves every file as it was.
    """
    names = tuple(config.getini("claims_names"))
    changes: list[tuple[Path, str, bytes, bytes]] = []
    try:
        after = accepted(source, judgement, names=names)
        if after != source.data:
            changes.append((source.path, judgement.claim.path, source.data, after))
        texts, by_hand = _texts(config, judgement, names)
    except AssayError as error:
        return Rewritten(f"    not rewritten: {error}")
    changes += texts
    hints = "".join(f"\n    not rewritten: {one}" for one in by_hand)
    if not changes:
        return Rewritten(hints.lstrip("\n"))
    from assay.ledger.texts.accept import new_display
    from assay.runs.storage import write_durable

    for path, _, _, new in changes:
        mode = path.stat().st_mode
        write_durable(path, new)
        path.chmod(mode)
    diffs = [line for _, name, old, new in changes for line in _diff(name, old, new)]
    said = "\n".join(["    rewritten from the registered run; look at it, then run again:", *diffs]) + hints
    return Rewritten(said, new_display(judgement, names=names))


def _diff(name: str, before: bytes, after: bytes) -> Iterable[str]:
    old, new = (data.decode().splitlines() for data in (before, after))
    return difflib.unified_diff(old, new, f"{name} (printed)", f"{name} (registered)", n=0, lineterm="")


def _texts(
    config: pytest.Config, judgement: Judgement, names: tuple[str, ...]
) -> tuple[list[tuple[Path, str, bytes, bytes]], list[str]]:
    """Texts that change, each with its bytes before and after, and what has to be edited by hand."""
    from assay.ledger.texts.accept import accepted_text, new_display
    from assay.ledger.texts.manuscripts import read_manuscripts
    from assay_pytest.texts import reader, texts_of

    claim = judgement.claim
    changes: list[tuple[Path, str, bytes, bytes]] = []
    by_hand: list[str] = []
    display = new_display(judgement, names=names)
    knows = reader(config, {claim.id: claim.sentence.display})
    try:
        for manuscript in read_manuscripts(knows, texts_of(config), repository_of(config)):
            found = accepted_text(knows, manuscript, claim.id, display)
            by_hand += found.by_hand
            for part, after in found.after:
                if part.file is not None:
                    changes.append((part.file, part.path, part.text.encode(), after.encode()))
    except ClaimError as error:
        raise ClaimError(f"{error}; correct it first") from error
    return changes, by_hand

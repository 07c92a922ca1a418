"""`--claims-text FILE...`: the numbers of texts, compared with the claims at the end of a session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay_pytest.repository import repository_of

if TYPE_CHECKING:
    import pytest

    from assay.ledger.texts.coverage import Coverage, Reader


def reader(config: pytest.Config, known: Mapping[str, str] | None = None) -> Reader:
    """A reader that knows the claims in the claim files, and those given with their sentences as displayed."""
    from assay.ledger.session import list_claims
    from assay.ledger.texts.coverage import Reader

    names = config.getini("claims_names")
    folder = repository_of(config) / config.getini("claims_dir")
    listed = list_claims(folder, names=names) if folder.is_dir() else []
    return Reader(
        {one.id: one.sentence for one in listed} | dict(known or {}),
        names=names,
        constants=config.getini("claims_constants"),
        results=config.getini("claims_results"),
        experiments={one.id: one.experiment for one in listed},
    )


def texts_of(config: pytest.Config) -> list[Path]:
    """Texts that cite claims: by the ini key and the option."""
    return [*_configured(config), *_asked(config)]


def checked_texts(config: pytest.Config) -> list[Path]:
    """Texts whose every number is compared: those of the option, and LaTeX among those of the ini key."""
    from assay.ledger.citations import LATEX

    return [*(path for path in _configured(config) if path.suffix.lower() in LATEX), *_asked(config)]


def coverage_of(config: pytest.Config, known: Mapping[str, str]) -> list[Coverage]:
    """Coverage of the texts whose every number is compared, and of the files that they read."""
    texts = checked_texts(config)
    if not texts:
        return []
    from assay.ledger.texts.manuscripts import cover_texts

    return cover_texts(reader(config, known), texts, repository_of(config))


def _configured(config: pytest.Config) -> list[Path]:
    root = repository_of(config)
    found = [path for pattern in config.getini("claims_texts") for path in sorted(root.glob(pattern))]
    return [path for path in found if path.is_file()]


def _asked(config: pytest.Config) -> list[Path]:
    if not config.option.claims_text:
        return []
    from assay.ledger.texts.manuscripts import find_texts

    return find_texts(config.invocation_params.dir, config.option.claims_text)

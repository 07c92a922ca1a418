"""`--claims-text FILE...`: the numbers of texts, compared with the claims at the end of a session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay_pytest.repository import repository_of

if TYPE_CHECKING:
    import pytest

    from assay.ledger.coverage import Coverage, Reader


def reader(config: pytest.Config, known: Mapping[str, str] | None = None) -> Reader:
    """A reader that knows the claims in the claim files, and those given with their sentences as displayed."""
    from assay.ledger.coverage import Reader
    from assay.ledger.session import list_claims

    names = config.getini("claims_names")
    folder = repository_of(config) / config.getini("claims_dir")
    claims = {one.id: one.sentence for one in list_claims(folder, names=names)} if folder.is_dir() else {}
    return Reader(
        {**claims, **(known or {})},
        names=names,
        constants=config.getini("claims_constants"),
        results=config.getini("claims_results"),
    )


def texts_of(config: pytest.Config) -> list[tuple[Path, str]]:
    """Texts that cite claims, each once and with the name under which it is reported: by the ini key and the option."""
    return _named(config, [*_configured(config), *_asked(config)])


def checked_texts(config: pytest.Config) -> list[tuple[Path, str]]:
    """Texts whose every number is compared: those of the option, and LaTeX among those of the ini key."""
    from assay.ledger.text import LATEX

    latex = [path for path in _configured(config) if path.suffix.lower() in LATEX]
    return _named(config, [*latex, *_asked(config)])


def coverage_of(config: pytest.Config, known: Mapping[str, str]) -> list[Coverage]:
    """Coverage of the texts whose every number is compared."""
    texts = checked_texts(config)
    if not texts:
        return []
    from assay.ledger.manuscripts import read_text

    knows = reader(config, known)
    return [knows.cover(read_text(path), name) for path, name in texts]


def _configured(config: pytest.Config) -> list[Path]:
    root = repository_of(config)
    found = [path for pattern in config.getini("claims_texts") for path in sorted(root.glob(pattern))]
    return [path for path in found if path.is_file()]


def _asked(config: pytest.Config) -> list[Path]:
    if not config.option.claims_text:
        return []
    from assay.ledger.manuscripts import find_texts

    return find_texts(config.invocation_params.dir, config.option.claims_text)


def _named(config: pytest.Config, paths: list[Path]) -> list[tuple[Path, str]]:
    root = repository_of(config).resolve()
    whole = dict.fromkeys(path.resolve() for path in paths)
    return [(path, path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name) for path in whole]

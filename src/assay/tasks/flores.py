"""Reader of the FLORES-200 layout: one file a language and split, one sentence a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.errors import DataError
from assay.tasks.lines import read_lines
from assay.tasks.parallel import ParallelText, parallel_text

FLORES_SPLITS = ("dev", "devtest")
FLORES_LICENCE = "CC BY-SA 4.0"
FLORES_CODES: Mapping[str, tuple[str, ...]] = {
    "en": ("eng_Latn",),
    "zh": ("zho_Hans", "cmn_Hans"),
    "pt": ("por_Latn",),
    "pl": ("pol_Latn",),
    "it": ("ita_Latn",),
}
"""Short names and their file codes: that of FLORES-200 first, then that of FLORES+, where they differ."""

_RENAMED = (("zho_Hans", "cmn_Hans"), ("zho_Hant", "cmn_Hant"), ("est_Latn", "ekk_Latn"), ("tgl_Latn", "fil_Latn"))


def flores200(
    folder: Path | str,
    split: str,
    *,
    languages: Sequence[str] = tuple(FLORES_CODES),
    clusters: Sequence[str] | None = None,
) -> ParallelText:
    """Sentences of one split from ``folder/<split>/<code>.<split>``, named as in ``languages``.

    A language is a short name of `FLORES_CODES` or a file code; where FLORES+ renamed a code, both are tried. Clusters
    are the articles: the column ``URL`` of ``folder/metadata_<split>.tsv``. Ids are ``<split>:<line from 1>``.

    Args:
        folder: the unpacked ``flores200_dataset``.
        split: ``dev`` or ``devtest``; the two are never mixed.
        languages: at least one.
        clusters: one name a line, for text without metadata.

    Raises:
        DataError: unknown split, a missing file, unequal numbers of lines (with the counts), blank lines, no metadata.

    Source: NLLB Team 2022 (arXiv 2207.04672); FLORES+ of the Open Language Data Initiative.
    """
    if split not in FLORES_SPLITS:
        raise DataError(f"flores200: no split {split!r}; one of {', '.join(FLORES_SPLITS)}, never both in one text.")
    if not languages or len(set(languages)) != len(languages):
        raise DataError(f"flores200: languages {tuple(languages)}; name at least one, each once.")
    root = Path(folder)
    files = {language: _file(root, split, language) for language in languages}
    lines = {language: read_lines(path) for language, path in files.items()}
    _refuse_unequal(files, lines)
    _refuse_blank(files, lines)
    n = len(lines[languages[0]])
    return parallel_text(
        lines,
        ids=[f"{split}:{number}" for number in range(1, n + 1)],
        clusters=_articles(root, split, n) if clusters is None else clusters,
        source=f"FLORES-200, {split}",
        licence=FLORES_LICENCE,
    )


def _file(root: Path, split: str, language: str) -> Path:
    codes = FLORES_CODES.get(language) or next((pair for pair in _RENAMED if language in pair), (language,))
    if language in codes:
        codes = (language, *(code for code in codes if code != language))
    paths = [root / split / f"{code}.{split}" for code in codes]
    found = [path for path in paths if path.is_file()]
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise DataError(f"flores200: {names} are the same language in two releases in {root / split}. Keep one.")
    other = [path for name in FLORES_SPLITS for code in codes if (path := root / split / f"{code}.{name}").is_file()]
    hint = f" {other[0].name} belongs to the other split." if other else ""
    raise DataError(
        f"flores200: no file for {language!r}: tried {', '.join(str(path) for path in paths)}.{hint} "
        "Give the folder that holds dev/ and devtest/."
    )


def _refuse_unequal(files: Mapping[str, Path], lines: Mapping[str, list[str]]) -> None:
    if len({len(found) for found in lines.values()}) != 1:
        counts = ", ".join(f"{path.name} {len(lines[language])}" for language, path in files.items())
        raise DataError(f"flores200: unequal numbers of lines: {counts}. Line i must be the same sentence everywhere.")


def _refuse_blank(files: Mapping[str, Path], lines: Mapping[str, list[str]]) -> None:
    for language, path in files.items():
        for number, line in enumerate(lines[language], start=1):
            if not line.strip():
                raise DataError(f"flores200: line {number} of {path} is blank. Every line must be a sentence.")
    if not all(lines.values()):
        raise DataError(f"flores200: {next(iter(files.values()))} is empty.")


def _articles(root: Path, split: str, n: int) -> list[str]:
    path = root / f"metadata_{split}.tsv"
    if not path.is_file():
        raise DataError(
            f"flores200: {path} is missing, so the articles that sentences come from are not known. Put it there, or "
            "name the cluster of every line in clusters= (sentences of one article are not independent)."
        )
    header, *rows = [line.split("\t") for line in read_lines(path)] or [[""]]
    if "URL" not in header:
        raise DataError(f"flores200: {path} has no column URL; it has {', '.join(header)}.")
    if len(rows) != n:
        raise DataError(f"flores200: {path} describes {len(rows)} lines, the text has {n}. Do not mix splits.")
    column = header.index("URL")
    short = next((number for number, row in enumerate(rows, start=2) if len(row) <= column or not row[column]), None)
    if short is not None:
        raise DataError(f"flores200: line {short} of {path} has no URL.")
    return [row[column] for row in rows]

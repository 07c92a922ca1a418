"""Elements of the help pages: one text for each id of each file, in every language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.tasks.help_filters import Aligned

_TAGS = ("p", "h1", "h2", "h3", "h4", "h5", "h6")
_ID_PREFIXES = ("par_", "hd_")
_SWITCHES = ("switchinline", "switch")


def normalised(text: str) -> str:
    """Every run of Unicode white space (no-break, ideographic, line and paragraph separators) becomes one space, none
    stays at the ends. Nothing else changes: no case, quotes, digits or composition of letters.
    """
    return " ".join(text.split())


def page_texts(content: bytes) -> tuple[dict[str, str], int]:
    """Normalised text of every paragraph and heading of one page by its id, and how many repeated ids were left out.

    The first element of an id counts. A line break is a space. Where a page holds variants for operating systems or
    applications, the default variant is read, or the first one if none is the default.
    """
    from lxml import html

    texts: dict[str, str] = {}
    repeated = 0
    for element in html.fromstring(content).iter(*_TAGS):
        name = element.get("id") or ""
        if not name.startswith(_ID_PREFIXES):
            continue
        if name in texts:
            repeated += 1
        else:
            texts[name] = normalised("".join(_pieces(element)))
    return texts, repeated


def aligned_elements(
    folders: Mapping[str, Path], progress: Callable[[str], None]
) -> tuple[list[Aligned], Counter[str]]:
    """Elements with the same file and id in all folders, sorted by file, then in page order; and what was counted.

    Counts: ``repeated id`` (in the pages of the first language), ``elements`` of the first language, ``aligned``.

    Raises:
        DataError: a folder without pages.
    """
    pages: dict[str, dict[str, dict[str, str]]] = {}
    counts: Counter[str] = Counter()
    first = next(iter(folders))
    for language, folder in folders.items():
        files = sorted(folder.rglob("*.html"), key=lambda path: path.relative_to(folder).as_posix())
        if not files:
            raise DataError(f"help corpus: no pages for {language} below {folder}. Is this the right package?")
        progress(f"reading {len(files):,} pages in {language}")
        pages[language] = {}
        for file in files:
            pages[language][file.relative_to(folder).as_posix()], repeated = page_texts(file.read_bytes())
            counts["repeated id"] += repeated if language == first else 0
    counts["elements"] = sum(len(page) for page in pages[first].values())
    elements = [
        Aligned(file, name, {language: pages[language][file][name] for language in folders})
        for file, page in pages[first].items()
        for name in page
        if all(name in pages[language].get(file, {}) for language in folders)
    ]
    counts["aligned"] = len(elements)
    return elements, counts


def _pieces(element: Any) -> list[str]:
    pieces = [element.text or ""]
    children = [child for child in element if isinstance(child.tag, str)]
    chosen = children
    if element.tag == "span" and element.get("class") in _SWITCHES:
        default = [child for child in children if (child.get("id") or "").startswith("default")]
        chosen = default or children[:1]
    for child in element:
        if child in chosen:
            pieces += [" "] if child.tag == "br" else _pieces(child)
        pieces.append(child.tail or "")
    return pieces

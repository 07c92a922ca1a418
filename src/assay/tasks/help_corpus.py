"""Five languages, sentence by sentence: the help of LibreOffice, from the packages of Debian."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.errors import DataError
from assay.fetching import cache_root, install_folder, need_space, run_tool, sha256_file
from assay.tasks.help_filters import keep_translated
from assay.tasks.help_pages import aligned_elements
from assay.tasks.parallel import ParallelText, decode, encode, parallel_text, part_digest
from assay.tasks.splits import split_by_hash

HELP_LANGUAGES = ("en", "zh", "pt", "pl", "it")
HELP_VERSION = "4:7.4.7-1+deb12u14"
HELP_LICENCE = "MPL-2.0"
HELP_CORPUS_SIZES = {"devtest": 1012, "dev": 997, "train": 10636}
HELP_CORPUS_DIGEST = {
    "devtest": "1322a62beadbc6f9050a804efe501c85dc2570fbf98918fb6acd49e3fdea772d",
    "dev": "f18f30b6f46224ff0977ef7eb2bfb736c7c1b414cdb66e19d6604935165f3cba",
    "train": "44624bd2c21c81eca59821e5c1759548b27654de0d61071123ec0b07cf42c22e",
}
"""SHA-256 of the canonical bytes of each split (`assay.tasks.parallel.encode`): of its content, not of the packages."""

_PACKAGES = {"en": "en-us", "zh": "zh-cn", "pt": "pt", "pl": "pl", "it": "it"}
_FOLDERS = {"en": "en-US", "zh": "zh-CN", "pt": "pt", "pl": "pl", "it": "it"}
_NAME = "help-corpus-1"
_UNPACKED_BYTES = 200_000_000
_DEBS = "ASSAY_HELP_DEBS"
_ADVICE = (
    f"Package lists missing or old: run `apt-get update` once, as root. No apt or no network: put the five packages "
    f"libreoffice-help-{{en-us,zh-cn,pt,pl,it}} (.deb, version {HELP_VERSION}) into a folder and set {_DEBS} to it."
)


def help_corpus(split: str = "devtest", languages: Sequence[str] = HELP_LANGUAGES) -> ParallelText:
    """Held-out (``devtest``, ``dev``) or training sentences of the help corpus; fetched first if they are not cached.

    Items are paragraphs and headings of 40 to 300 English characters, translated in all languages
    (`assay.tasks.help_filters.keep_translated`), in the order of the hash of their id; clusters are the help pages.
    The splits share pages, so a language model that saw ``train`` has seen the neighbours of ``devtest``.

    Raises:
        DataError: unknown split or language, packages that cannot be fetched, or content with another digest.
    """
    _refuse_unknown(split, languages)
    path = _checked_split(fetch_help_corpus(), split)
    return decode(path.read_bytes(), source=f"help corpus, {split}", licence=HELP_LICENCE).only(languages)


def help_corpus_digest(split: str, n: int | None = None, *, languages: Sequence[str] = HELP_LANGUAGES) -> str:
    """Digest of ``help_corpus(split, languages).take(n)``, known before anything is fetched.

    Raises:
        DataError: unknown split or language, or ``n`` out of range.
    """
    _refuse_unknown(split, languages)
    size = HELP_CORPUS_SIZES[split]
    wanted = size if n is None else n
    if not 1 <= wanted <= size:
        raise DataError(f"help corpus: {wanted} items of {split} wanted, it has {size}. Ask for 1 to {size}.")
    if wanted == size and tuple(languages) == HELP_LANGUAGES:
        return HELP_CORPUS_DIGEST[split]
    return part_digest(HELP_CORPUS_DIGEST[split], languages=languages, n=wanted)


def fetch_help_corpus(progress: Callable[[str], None] | None = None, *, debs: Path | None = None) -> Path:
    """Cache folder with one file a split and ``counts.json`` (how many elements each filter refused).

    The packages come from ``debs``, else from the folder in ``ASSAY_HELP_DEBS``, else through ``apt-get download``
    (15 MB, no root needed). They are unpacked in a temporary folder; only the aligned sentences are kept (8 MB).

    Raises:
        DataError: with what to do, when packages are missing or their content is not the pinned one.
    """
    say = progress or _silent

    def build(folder: Path) -> None:
        need_space(folder, _UNPACKED_BYTES, "help corpus")
        with tempfile.TemporaryDirectory(prefix="unpacked-", dir=folder) as scratch:
            packages = _packages(Path(scratch), debs, say)
            text, counts = _read_packages(packages, Path(scratch) / "unpacked", say)
        held_out = {split: HELP_CORPUS_SIZES[split] for split in ("devtest", "dev")}
        splits = split_by_hash(text.ids, sizes=held_out, rest="train")
        for split, rows in splits.items():
            content = encode(_rows(text, rows))
            (folder / f"{split}.jsonl").write_bytes(content)
        _refuse_other_content(folder, packages, counts)
        (folder / "counts.json").write_text(json.dumps(counts, indent=1) + "\n")

    return install_folder(build, cache_root() / _NAME)


class HelpCorpus:
    """The help corpus as something to fetch: what it is, and fetching it into the cache."""

    def describe(self) -> str:
        """One line: what, how large, under which licence."""
        return (
            "LibreOffice help in English, Chinese, Portuguese, Polish and Italian, aligned "
            f"(Debian packages libreoffice-help-*, {HELP_LICENCE}): 15 MB to fetch, 8 MB kept, about 15 seconds"
        )

    def fetch(self, *, progress: Callable[[str], None] | None = None) -> Path:
        """Folder in the cache, see `fetch_help_corpus`; what was there already is checked again."""
        folder = fetch_help_corpus(progress)
        for split in HELP_CORPUS_SIZES:
            _checked_split(folder, split)
        return folder


FETCHABLES = {"help-corpus": HelpCorpus()}


def _silent(_message: str) -> None:
    """Progress that nobody asked for."""


def _checked_split(folder: Path, split: str) -> Path:
    path = folder / f"{split}.jsonl"
    found = sha256_file(path) if path.is_file() else "no such file"
    if found != HELP_CORPUS_DIGEST[split]:
        raise DataError(
            f"help corpus: {path} is not what was fetched (SHA-256 {found}, pinned {HELP_CORPUS_DIGEST[split]}). "
            f"Delete the folder {folder} and run `assay data fetch help-corpus`."
        )
    return path


def _refuse_unknown(split: str, languages: Sequence[str]) -> None:
    if split not in HELP_CORPUS_SIZES:
        raise DataError(f"help corpus: no split {split!r}; it has {', '.join(HELP_CORPUS_SIZES)}.")
    absent = [language for language in languages if language not in HELP_LANGUAGES]
    if absent or not languages or len(set(languages)) != len(languages):
        raise DataError(
            f"help corpus: languages {tuple(languages)} wanted; choose among {', '.join(HELP_LANGUAGES)}, each once."
        )


def _packages(scratch: Path, debs: Path | None, say: Callable[[str], None]) -> dict[str, Path]:
    named = os.environ.get(_DEBS)
    folder = debs or (Path(named).expanduser() if named else None)
    if folder is None:
        folder = scratch
        names = [f"libreoffice-help-{package}" for package in _PACKAGES.values()]
        say(f"apt-get download {' '.join(names)} (15 MB)")
        run_tool(["apt-get", "download", *names], what="help corpus", advice=_ADVICE, cwd=scratch)
    packages = {}
    for language, package in _PACKAGES.items():
        found = sorted(folder.glob(f"libreoffice-help-{package}_*.deb"))
        if len(found) != 1:
            raise DataError(
                f"help corpus: {len(found)} files libreoffice-help-{package}_*.deb in {folder}, exactly one is needed. "
                f"{_ADVICE}"
            )
        packages[language] = found[0]
    return packages


def _read_packages(
    packages: dict[str, Path], unpacked: Path, say: Callable[[str], None]
) -> tuple[ParallelText, dict[str, int]]:
    unpacked.mkdir()
    for package in packages.values():
        say(f"unpacking {package.name}")
        run_tool(["dpkg-deb", "-x", str(package), str(unpacked)], what="help corpus", advice=_ADVICE)
    pages = unpacked / "usr" / "share" / "libreoffice" / "help"
    elements, counts = aligned_elements({language: pages / name / "text" for language, name in _FOLDERS.items()}, say)
    kept, refused = keep_translated(elements, english="en", chinese="zh")
    text = parallel_text(
        {language: [element.texts[language] for element in kept] for language in HELP_LANGUAGES},
        ids=[f"{element.file}#{element.element}" for element in kept],
        clusters=[element.file for element in kept],
        source="help corpus",
        licence=HELP_LICENCE,
    )
    say(f"{len(kept):,} of {len(elements):,} aligned elements kept")
    return text, {**counts, **{f"refused: {reason}": n for reason, n in refused.items()}, "kept": len(kept)}


def _rows(text: ParallelText, rows: Sequence[int]) -> ParallelText:
    return parallel_text(
        {language: [text.sentences[language][row] for row in rows] for language in text.languages},
        ids=[text.ids[row] for row in rows],
        clusters=[text.clusters[row] for row in rows],
        source=text.source,
        licence=text.licence,
    )


def _refuse_other_content(folder: Path, packages: dict[str, Path], counts: dict[str, int]) -> None:
    other = {
        split: found
        for split, pinned in HELP_CORPUS_DIGEST.items()
        if (found := sha256_file(folder / f"{split}.jsonl")) != pinned
    }
    if not other:
        return
    versions = {
        run_tool(["dpkg-deb", "-f", str(package), "Version"], what="help corpus", advice=_ADVICE).strip()
        for package in packages.values()
    }
    found = "; ".join(f"{split} has {digest}, pinned is {HELP_CORPUS_DIGEST[split]}" for split, digest in other.items())
    raise DataError(
        f"help corpus: the packages of version {', '.join(sorted(versions))} give other sentences than the pinned ones "
        f"of version {HELP_VERSION} ({counts['kept']:,} kept; {found}). Nothing was kept. Fetch version {HELP_VERSION} "
        f"(`apt-get download libreoffice-help-pl={HELP_VERSION}` and so on, or snapshot.debian.org) into a folder and "
        f"set {_DEBS} to it."
    )

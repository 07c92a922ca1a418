"""Sentences that are translations of each other, item by item, with the digest that names their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.errors import DataError
from assay.tasks.splits import hash_order


@dataclass(frozen=True)
class ParallelText:
    """The same items in several languages; position i is the same item everywhere.

    ``ids`` are unique, ``clusters`` names for every item the document that it comes from (the unit of resampling),
    ``sentences`` holds one tuple a language. ``digest`` names the content (see `encode` and `part_digest`),
    ``whole`` is the digest of the text that this one is a part of, empty if it is no part.

    Raises:
        DataError: no language or item, a repeated language or id, unequal lengths, or a blank sentence.
    """

    languages: tuple[str, ...]
    ids: tuple[str, ...]
    clusters: tuple[str, ...]
    sentences: Mapping[str, tuple[str, ...]]
    digest: str
    source: str
    licence: str
    whole: str = field(default="")

    def __post_init__(self) -> None:
        _refuse_bad_lists(self)
        _refuse_bad_sentences(self)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, n: int) -> ParallelText:
        """The ``n`` items whose ids come first in hash order, in the order of this text; all of them give this text.

        ``text.take(m).take(n)`` equals ``text.take(n)``.

        Raises:
            DataError: ``n`` is not between 1 and the number of items.
        """
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(self):
            raise DataError(f"take: {n!r} items of {self.source} wanted, it has {len(self)}. Ask for 1 to {len(self)}.")
        if n == len(self):
            return self
        return self._part(self.languages, sorted(hash_order(self.ids)[:n]))

    def only(self, languages: Sequence[str]) -> ParallelText:
        """The same items in some of the languages, in the order asked for.

        Raises:
            DataError: a language that the text does not have.
        """
        absent = [language for language in languages if language not in self.languages]
        if absent:
            raise DataError(f"{self.source}: no language {', '.join(absent)}; it has {', '.join(self.languages)}.")
        if tuple(languages) == self.languages:
            return self
        return self._part(tuple(languages), range(len(self)))

    def _part(self, languages: tuple[str, ...], rows: Sequence[int]) -> ParallelText:
        whole = self.whole or self.digest
        return ParallelText(
            languages=languages,
            ids=tuple(self.ids[row] for row in rows),
            clusters=tuple(self.clusters[row] for row in rows),
            sentences={name: tuple(self.sentences[name][row] for row in rows) for name in languages},
            digest=part_digest(whole, languages=languages, n=len(rows)),
            source=self.source,
            licence=self.licence,
            whole=whole,
        )


def parallel_text(
    sentences: Mapping[str, Sequence[str]], *, ids: Sequence[str], clusters: Sequence[str], source: str, licence: str
) -> ParallelText:
    """A text from its parts, its digest taken from its content. Errors as for `ParallelText`."""
    columns = {language: tuple(lines) for language, lines in sentences.items()}
    draft = ParallelText(tuple(columns), tuple(ids), tuple(clusters), columns, "", source, licence)
    return ParallelText(
        draft.languages, draft.ids, draft.clusters, columns, hashlib.sha256(encode(draft)).hexdigest(), source, licence
    )


def encode(text: ParallelText) -> bytes:
    """Canonical bytes of the content: a JSON line with the languages, then one line ``[id, cluster, sentence, ...]`` an
    item, UTF-8, line feeds. Their SHA-256 is the digest of a text that is no part of another.
    """
    columns = [text.ids, text.clusters, *(text.sentences[language] for language in text.languages)]
    rows = [list(text.languages), *(list(row) for row in zip(*columns, strict=True))]
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows).encode()


def decode(content: bytes, *, source: str, licence: str) -> ParallelText:
    """The text whose canonical bytes these are (inverse of `encode`).

    Raises:
        DataError: the bytes are no canonical text.
    """
    try:
        languages, *rows = [json.loads(line) for line in content.decode().split("\n")[:-1]]
        ids, clusters, *columns = zip(*rows, strict=True)
        sentences = dict(zip(languages, columns, strict=True))
    except (ValueError, TypeError) as error:
        raise DataError(f"{source}: the stored text cannot be read ({error}). Delete it and fetch it again.") from error
    return parallel_text(sentences, ids=ids, clusters=clusters, source=source, licence=licence)


def part_digest(whole: str, *, languages: Sequence[str], n: int) -> str:
    """Digest of the part of a text with these languages and its first ``n`` items in hash order.

    It is derived from the digest of the whole, so it is known without the text.
    """
    part = {"languages": list(languages), "n": n, "whole": whole}
    return hashlib.sha256(json.dumps(part, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _refuse_bad_lists(text: ParallelText) -> None:
    if not text.languages or not text.ids:
        raise DataError(
            f"{text.source}: {len(text.languages)} languages and {len(text.ids)} items; at least one of each."
        )
    if set(text.languages) != set(text.sentences) or len(set(text.languages)) != len(text.languages):
        raise DataError(f"{text.source}: languages {text.languages} but sentences for {tuple(text.sentences)}.")
    lengths = {"ids": len(text.ids), "clusters": len(text.clusters)}
    lengths |= {language: len(lines) for language, lines in text.sentences.items()}
    if len(set(lengths.values())) != 1:
        counts = ", ".join(f"{name} {count}" for name, count in lengths.items())
        raise DataError(f"{text.source}: unequal numbers of lines: {counts}. Every item needs a line everywhere.")
    if len(set(text.ids)) != len(text.ids):
        seen: set[str] = set()
        repeated = next(name for name in text.ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"{text.source}: the id {repeated!r} occurs twice. Ids must be unique.")


def _refuse_bad_sentences(text: ParallelText) -> None:
    for language in text.languages:
        for name, line in zip(text.ids, text.sentences[language], strict=True):
            if not line.strip():
                raise DataError(f"{text.source}: item {name!r} is blank in {language}. Remove the item everywhere.")
            if "\n" in line:
                raise DataError(f"{text.source}: item {name!r} has a line feed in {language}. Use one line an item.")

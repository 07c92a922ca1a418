"""docs/CLAIM_EVIDENCE.md: one row a claim, the same bytes for the same evidence, merged so that no row is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ClaimError
from assay.ledger.citations import GENERATED
from assay.ledger.claim import Verdict, natural
from assay.ledger.sentence import Source, read_sentence

_HEAD = f"""{GENERATED}: pytest claims/ --claims-table PATH; do not edit -->

# Claims and their evidence

"""
_LEGEND = """Numbers in **bold** are compared with the registered run at the precision at which they are printed;
numbers in *italics* are constants of the protocol. "Keys read" is what the test of the claim really read from the run.

"""
_COLUMNS = ("id", "sentence", "verdict", "kind", "section", "tier", "run", "keys read", "generator")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$])")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>|#~$])")
_CELL = re.compile(r"(?<!\\)(?:\\\\)*\|")


@dataclass(frozen=True, slots=True)
class Row:
    """One claim as the table shows it; lists are joined with "; ", and `note` says why a claim does not hold."""

    id: str
    sentence: str
    verdict: str
    note: str
    kind: str
    section: str
    tier: str
    run: str
    keys: str
    generator: str


def kind_in_words(kind: str, order: str, doubt: str) -> str:
    """Kind of a claim; of one on a confirmatory run with the order of freeze and run, and why that is in doubt."""
    return f"{kind} (order {order}{f': {doubt}' if doubt else ''})" if order else kind


def emphasised(written: str, *, names: Iterable[str] = ()) -> str:
    """A claim's sentence in Markdown: compared numbers bold, constants in italics, the rest escaped."""
    sentence = read_sentence(written, names=names)
    parts: list[str] = []
    last = 0
    for binding in sentence.bindings:
        opening = written.rindex("{", last, binding.start)
        parts.append(_literal(written[last:opening]))
        mark = "*" if binding.source is Source.CONSTANT else "**"
        parts.append(f"{mark}{escape(binding.text)}{mark}")
        last = written.index("}", binding.end) + 1
    parts.append(_literal(written[last:]))
    return " ".join("".join(parts).split())


def _literal(text: str) -> str:
    return escape(text.replace("{{", "{").replace("}}", "}"))


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", text))


def render(rows: Iterable[Row]) -> str:
    """The whole file: legend, counts of verdicts, and the rows in the order of their ids."""
    ordered = sorted(rows, key=lambda row: natural(row.id))
    counts = Counter(row.verdict for row in ordered)
    legend = [f"| {verdict} | {counts[verdict]} | {verdict.meaning} |" for verdict in reversed(Verdict)]
    counted = ["| verdict | claims | meaning |", "| --- | ---: | --- |", *legend]
    table = [_line(_COLUMNS), _line("---" for _ in _COLUMNS), *map(_row, ordered)]
    return _HEAD + _LEGEND + "\n".join(counted) + "\n\n" + "\n".join(table) + "\n"


def _row(row: Row) -> str:
    verdict = f"**{row.verdict}**" + (f"<br>{escape(row.note)}" if row.note else "")
    cells = (row.kind, row.section, row.tier, row.run, row.keys, row.generator)
    code = [_codes(cell) if at >= 3 else escape(cell) for at, cell in enumerate(cells)]
    return _line((f"`{row.id}`", row.sentence, verdict, *code))


def _codes(cell: str) -> str:
    return ", ".join(f"`{part}`".replace("|", "\\|") for part in cell.split("; ") if part)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def read_rows(text: str) -> list[Row]:
    """Rows of a table that `render` wrote; ClaimError for a line that it did not write."""
    heading = _line(_COLUMNS)
    lines = text.splitlines()
    if heading not in lines:
        raise ClaimError("the claim table has another heading: delete the file, and generate it in a full session")
    rows = []
    for number, line in enumerate(lines[lines.index(heading) + 2 :], start=lines.index(heading) + 3):
        cells = _split(line)
        if len(cells) != len(_COLUMNS):
            raise ClaimError(f"line {number} of the claim table has {len(cells)} cells; generate it in a full session")
        verdict, _, note = cells[2].partition("<br>")
        plain = [_ESCAPED.sub(r"\1", cell) for cell in cells[3:6]]
        codes = ["; ".join(re.findall(r"`([^`]*)`", cell.replace("\\|", "|"))) for cell in cells[6:]]
        kind, section, tier = plain
        run, keys, generator = codes
        rows.append(
            Row(
                id=cells[0].strip("`"),
                sentence=cells[1],
                verdict=verdict.strip("*"),
                note=_ESCAPED.sub(r"\1", note),
                kind=kind,
                section=section,
                tier=tier,
                run=run,
                keys=keys,
                generator=generator,
            )
        )
    return rows


def _split(line: str) -> list[str]:
    cells, start = [], 1
    for found in _CELL.finditer(line, 1):
        cells.append(line[start : found.end() - 1].strip())
        start = found.end()
    return cells


def merged(earlier: Iterable[Row], judged: Mapping[str, Row], *, written: Iterable[str] | None) -> list[Row]:
    """Rows of this session over the earlier ones.

    `written` are the ids that claim files hold. A row of a claim that is gone from them is dropped only when this
    session judged every claim there is; a partial session (`written` is None) keeps every row that it did not judge.
    """
    ids = set(written or ())
    full = written is not None and ids <= set(judged)
    kept = {row.id: row for row in earlier if row.id in ids or not full}
    return list((kept | dict(judged)).values())


def update_table(path: Path, judged: Mapping[str, Row], *, written: Iterable[str] | None) -> bool:
    """Rewrite the table at `path` durably; True when its bytes changed."""
    from assay.runs.storage import write_durable

    before = path.read_text("utf-8") if path.is_file() else ""
    after = render(merged(read_rows(before) if before else (), judged, written=written))
    if after == before:
        return False
    write_durable(path, after.encode())
    return True

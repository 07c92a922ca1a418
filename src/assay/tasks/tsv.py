"""Reader of parallel text in one tab-separated file."""

from __future__ import annotations

from pathlib import Path

from assay.errors import DataError
from assay.tasks.lines import read_lines
from assay.tasks.parallel import ParallelText, parallel_text


def parallel_tsv(path: Path | str, *, licence: str = "not stated") -> ParallelText:
    """Text with a header ``id``, ``cluster``, then one column a language; one item a line, UTF-8, no quoting.

    The column ``cluster`` names the document of the item (the unit of resampling): write the id again where every item
    stands alone.

    Raises:
        DataError: no such columns, a line with another number of fields (with its number), a blank sentence or
            cluster, a repeated id.
    """
    file = Path(path)
    lines = read_lines(file)
    header = lines[0].split("\t") if lines else []
    if header[:2] != ["id", "cluster"] or len(header) < 3 or len(set(header)) != len(header) or "" in header:
        raise DataError(
            f"{file}: the first line must name the columns id, cluster and one a language, tabs between; "
            f"it is {header}."
        )
    rows = [line.split("\t") for line in lines[1:]]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise DataError(
                f"{file}: line {number} has {len(row)} fields, the header has {len(header)}. Quote nothing."
            )
        if not row[0].strip() or not row[1].strip():
            raise DataError(f"{file}: line {number} has no id or no cluster.")
    return parallel_text(
        {language: [row[column] for row in rows] for column, language in enumerate(header[2:], start=2)},
        ids=[row[0] for row in rows],
        clusters=[row[1] for row in rows],
        source=file.name,
        licence=licence,
    )

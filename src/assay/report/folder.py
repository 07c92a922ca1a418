"""The folder of a report: page, Markdown, numbers and tables for LaTeX, figures and badge, all written or none."""

from __future__ import annotations

from pathlib import Path

from assay.errors import ConfigError
from assay.report.badge import badge
from assay.report.illustrations import illustrations
from assay.report.latex import numbers_file, tables
from assay.report.markdown import figure_path, markdown
from assay.report.page import page
from assay.report.study import Study
from assay.runs.storage import shown, write_durable


def report_files(study: Study) -> dict[str, bytes]:
    """Every file of a report by its path in the folder; equal evidence gives equal bytes.

    Raises:
        ConfigError: the extra assay[report] is missing, or pyproject.toml chooses a column that is not there.
        EvidenceError: a figure or table of a registered run was altered.
    """
    drawn = [(run, one) for run in study.runs for one in illustrations(run, study.repository)]
    lead = {run.run_id for run in study.lead()}
    shown_first = [(run, one.file, one.alt) for run, one in drawn if run.run_id in lead]
    files = {
        "index.html": page(study).encode(),
        "report.md": markdown(study, shown_first).encode(),
        "badge.svg": badge(claim.verdict for claim in study.claims).encode(),
        "numbers.tex": numbers_file(study).encode(),
    }
    files |= {f"tables/{name}": text.encode() for name, text in tables(study).items()}
    for run in study.runs:
        names = [name for name in run.manifest.summary if name.startswith("figures/")]
        files |= {figure_path(run, Path(name).name): run.results.file(name).read_bytes() for name in names}
    return files


def write_report(study: Study, folder: Path) -> list[str]:
    """Write the report of a study into a folder and name its files.

    Raises:
        ConfigError: the folder holds the record, or is a file; and all that :func:`report_files` raises.
    """
    if folder.is_file() or (folder / "registry").is_dir():
        raise ConfigError(f"report: {shown(folder)} is no folder for a report. Choose another (--out FOLDER).")
    files = report_files(study)
    for name, data in files.items():
        write_durable(folder / name, data)
    return list(files)

"""The HTML page of a study: one file that opens offline, on a phone as on a screen, light and dark, without scripts."""

from __future__ import annotations

import base64
import re
from importlib import resources
from typing import Any, NamedTuple

from assay.errors import ConfigError
from assay.ledger.claim import Verdict
from assay.report.digits import duration, size
from assay.report.facts import facts
from assay.report.illustrations import Illustration, illustrations
from assay.report.preregistered import MEANING, NO_RUN, NONE
from assay.report.study import ReportedRun, Study
from assay.report.summary import (
    attention,
    counted,
    evidence_in_words,
    findings,
    unsettled_claims,
    verdict_in_words,
)
from assay.report.tables import PrintedTable, chosen_columns, printed_tables
from assay.runs.order import OrderVerdict

SHOWN_ROWS = 50
"""Rows of a table that the page shows; the file with all of them can be saved from it."""

_SHORT = 12
_MINUS = re.compile(r"(?<![\w.])-(?=[\d.])")
SYMBOLS = {
    Verdict.HOLDS: "✓",
    Verdict.FAILS: "✗",
    Verdict.UNVERIFIED: "?",
    Verdict.STALE: "↻",
    Verdict.PENDING: "…",
}
ORDER_SYMBOLS = {
    OrderVerdict.PROVEN: "✓",
    OrderVerdict.WITNESSED: "◉",
    OrderVerdict.UNPROVABLE: "?",
    OrderVerdict.VIOLATED: "✗",
}


class Shown(NamedTuple):
    """A registered run with what the page shows of it."""

    run: ReportedRun
    lead: bool
    figures: tuple[Illustration, ...]
    tables: tuple[PrintedTable, ...]


def page(study: Study) -> str:
    """The whole page; equal evidence gives equal bytes.

    Raises:
        ConfigError: the package jinja2 is missing, or a chosen column is not in its table.
        EvidenceError: a figure or table of a registered run was altered.
    """
    lead = {run.run_id for run in study.lead()}
    chosen = chosen_columns(study.repository)
    shown = [
        Shown(run, run.run_id in lead, illustrations(run, study.repository), printed_tables(run, chosen))
        for run in study.runs
    ]
    template = _environment().get_template("page.html.j2")
    text: str = template.render(
        study=study,
        style=_packaged("page.css"),
        verdict=verdict_in_words(study),
        evidence=evidence_in_words(study),
        findings=findings(study),
        attention=attention(study),
        unsettled=unsettled_claims(study),
        earlier=[one for one in study.open if one.settled],
        counts={verdict: study.verdicts[verdict] for verdict in (Verdict.HOLDS, *list(Verdict)[:-1])},
        runs=sorted(shown, key=lambda one: not one.lead),
        preregistered=study.preregistered,
        tiers={run.run_id: run.registration.tier for run in study.runs},
    )
    return text


def _environment() -> Any:
    try:
        import jinja2
    except ModuleNotFoundError:
        raise ConfigError("report: the package jinja2 is missing. Install the extra assay[report].") from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_packaged),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "data_uri": _data_uri,
        "duration": duration,
        "size": size,
        "typographic": lambda text: _MINUS.sub("\u2212", text),
        "facts": facts,
    }
    environment.globals |= {
        "symbols": SYMBOLS,
        "short": _SHORT,
        "shown_rows": SHOWN_ROWS,
        "counted": counted,
        "order_symbols": ORDER_SYMBOLS,
        "meaning": MEANING,
        "no_run": NO_RUN,
        "none_frozen": NONE,
    }
    return environment


def _packaged(name: str) -> str:
    return resources.files("assay.report").joinpath("templates", name).read_text("utf-8")


def _data_uri(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"

"""A report for programs: verdicts, how each run stands to the present code, freezes, and the order of runs."""

from __future__ import annotations

from typing import Any

from assay.report.claims import ReportedClaim
from assay.report.study import ReportedRun, Study
from assay.runs.stale import Waiver


def document(study: Study) -> dict[str, Any]:
    """What ``assay report --json`` says of a study."""
    return {
        "study": study.name,
        "verdicts": {str(verdict): count for verdict, count in study.verdicts.items()},
        "claims": [_claim(claim) for claim in study.claims],
        "runs": [_run(run, study) for run in study.runs],
        "open": [one._asdict() for one in study.open],
        "preregistration": study.preregistered.document(),
    }


def _claim(claim: ReportedClaim) -> dict[str, Any]:
    order = {"order": list(claim.order), "doubt": claim.doubt}
    return {"id": claim.id, "verdict": str(claim.verdict), "note": claim.note, "kind": claim.kind, **order}


def _run(run: ReportedRun, study: Study) -> dict[str, Any]:
    standing, order = run.standing, study.preregistered.order(run.run_id)
    in_force = standing.waiver if run.waived else None
    return {
        "run_id": run.run_id,
        "experiment": run.manifest.experiment,
        "tier": run.registration.tier,
        "kind": run.manifest.kind,
        "changes": [str(reason) for reason in standing.reasons],
        "stale": standing.stale,
        "waiver": _waiver(in_force) if in_force else None,
        "void_waivers": [_waiver(waiver) for waiver in standing.void],
        "order": order.order if order else None,
    }


def _waiver(waiver: Waiver) -> dict[str, str]:
    return {"why": waiver.why, "at": waiver.at}

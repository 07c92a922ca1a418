"""``assay run --stale``: say which registered runs are outgrown, and run them again, upstream first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.cli.executors import Computing
from assay.cli.run import Plan, document, prints_to_stderr, run_plans, warn_of_unused
from assay.cli.show import echo_json, echo_table, say
from assay.errors import ConfigError
from assay.runs.configuration import plain
from assay.runs.execution import registered_in
from assay.runs.refresh import Place, Rerun, fresh_first, reruns
from assay.runs.registry import open_record
from assay.runs.storage import find_repository


def refresh(
    name: str | None,
    *,
    tier: str | None,
    assignments: tuple[str, ...],
    register: str | None,
    folder: Path | None,
    computing: Computing,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Print the plan, and unless it is a dry run carry it out; runs read those that were run again before them."""
    if assignments:
        raise ConfigError("run --stale: --set does not go with it; each run keeps what --set said when it was started.")
    if register is not None and not register.strip():
        raise ConfigError("--register: say in one sentence why these runs should speak for their experiments.")
    repository = find_repository()
    record = open_record(folder or repository / "experiments")
    with prints_to_stderr():
        steps = reruns(record, repository, name=name, tier=tier)
    if computing.executor == "slurm-script" and register is None and len(steps) > 1 and not dry_run:
        raise ConfigError(
            f"run --stale --executor slurm-script: {len(steps)} runs would be collected by later commands, which "
            'do not know of each other. Add --register "...": each then reads what was registered before it. '
            "Nothing was run."
        )
    plans = [Plan(one.now.experiment, one.now.config, one.manifest.tier, one.now.assignments) for one in steps]
    for plan in plans:
        plain(plan.config)
    if not as_json:
        _show(steps, name)
    reports: list[dict[str, Any]] = []
    if not dry_run:
        fresh: dict[Place, str] = {}
        reports = run_plans(
            plans,
            record,
            repository,
            register=register,
            computing=computing,
            as_json=as_json,
            upstream=fresh_first(record, fresh, registered_in(record, open_record(repository / "experiments"))),
            ended=lambda plan, run_id: fresh.update({(plan.experiment.name, plan.experiment.tag(plan.tier)): run_id}),
        )
    warnings = warn_of_unused(reports, computing)
    if as_json:
        status = "planned" if dry_run else document(reports)["status"]
        planned = [_document(one) for one in steps]
        echo_json({"status": status, "plan": planned, "runs": reports, "warnings": warnings})
    elif any(one["status"] == "completed" for one in reports) and register is None:
        say('Not registered: the runs that spoke still do. assay runs register RUN_ID --why "..."')


def _show(steps: list[Rerun], name: str | None) -> None:
    if not steps:
        say(f"Nothing {'of ' + name if name else 'that is registered'} is stale.")
        return
    rows: list[tuple[Any, ...]] = []
    for place, one in enumerate(steps, start=1):
        first, *others = one.why
        seconds = one.manifest.duration_seconds or 0.0
        rows.append((place, one.manifest.experiment, one.manifest.tag, f"{seconds:.1f} s", first))
        rows += [("", "", "", "", reason) for reason in others]
    echo_table(("", "experiment", "tier", "took", "because"), rows)
    total = sum(one.manifest.duration_seconds or 0.0 for one in steps)
    say(f"{len(steps)} to run again; the runs that spoke took {total:.1f} s in all.")


def _document(step: Rerun) -> dict[str, Any]:
    manifest = step.manifest
    return {
        "run_id": manifest.run_id,
        "experiment": manifest.experiment,
        "tier": manifest.tier,
        "seconds": manifest.duration_seconds,
        "because": list(step.why),
        "set": list(step.now.assignments or ()),
    }

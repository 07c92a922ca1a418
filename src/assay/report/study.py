"""What a report is made of: the claims of a study, the registered runs behind them, and everything that is open."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, final

from assay.errors import AssayError, ConfigError, RecordError
from assay.ledger.claim import Verdict
from assay.ledger.evidence import OpenedRun
from assay.ledger.waiver_words import void_in_words, waived_for
from assay.report.claims import ReportedClaim, read_claims
from assay.report.preregistered import Preregistered, is_run_of, read_preregistered
from assay.runs.configuration import nearest
from assay.runs.experiment import listing
from assay.runs.manifest import Manifest, RunStatus
from assay.runs.order import OrderVerdict
from assay.runs.privacy import scrub
from assay.runs.registration import Registration, read_registration, registration_files
from assay.runs.registry import Record, split_attempt
from assay.runs.results import Results
from assay.runs.stale import Standing, explained


@final
@dataclass(frozen=True)
class ReportedRun:
    """A registered run, verified, and how it stands to the present code and data; ``claims`` is how many read it."""

    registration: Registration
    results: Results
    standing: Standing
    claims: int

    @property
    def run_id(self) -> str:
        """The run."""
        return self.registration.run_id

    @property
    def manifest(self) -> Manifest:
        """Who, what, with which code, data and machine."""
        return self.results.manifest

    @property
    def name(self) -> str:
        """Experiment and tier, as files of a report are named."""
        return f"{self.registration.experiment}.{self.registration.tier}"

    @property
    def changes(self) -> tuple[str, ...]:
        """What changed since the run, waived or not."""
        return tuple(map(str, self.standing.reasons))

    @property
    def waived(self) -> str:
        """The waiver in force with its reason, in the words of `pytest claims/`; empty when there is none."""
        return waived_for(self.run_id, self.standing)

    @property
    def void(self) -> tuple[str, ...]:
        """Waivers that were given for another state of code and data."""
        return tuple(map(void_in_words, self.standing.void))

    def figures(self) -> tuple[str, ...]:
        """Names of the figures, without suffix."""
        files = [name for name in self.manifest.summary if name.startswith("figures/")]
        return tuple(dict.fromkeys(name.removeprefix("figures/").rpartition(".")[0] for name in files))


class Open(NamedTuple):
    """A run or registration that does not speak as it should: how it stands, why, and whether that needs nothing."""

    what: str
    state: str
    why: str
    settled: bool = False


@final
@dataclass(frozen=True)
class Study:
    """A study (or one experiment) with its claims, registered runs and freezes, as record and claims say now."""

    name: str
    question: str
    method: str
    repository: Path
    claims: tuple[ReportedClaim, ...]
    runs: tuple[ReportedRun, ...]
    open: tuple[Open, ...]
    preregistered: Preregistered

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many claims have each verdict."""
        return Counter(claim.verdict for claim in self.claims)

    def with_verdict(self, *verdicts: Verdict) -> tuple[ReportedClaim, ...]:
        """The claims of these verdicts."""
        return tuple(claim for claim in self.claims if claim.verdict in verdicts)

    @property
    def sections(self) -> dict[str, list[ReportedClaim]]:
        """Claims by the section that they name, in the order of their ids."""
        found: dict[str, list[ReportedClaim]] = {}
        for claim in self.claims:
            found.setdefault(claim.section, []).append(claim)
        return found

    def lead(self) -> tuple[ReportedRun, ...]:
        """Of each experiment the run that most claims read."""
        best: dict[str, ReportedRun] = {}
        for run in self.runs:
            if run.claims > best.setdefault(run.manifest.experiment, run).claims:
                best[run.manifest.experiment] = run
        return tuple(best.values())


def read_study(name: str, repository: Path, record: Record) -> Study:
    """Judge the claims of the study or experiment ``name`` and gather the runs that speak for it.

    Raises:
        ConfigError: nothing in the record, the claims or experiments/ has that name.
        RecordError: a run of the study is damaged.
    """
    claims = read_claims(repository, record)
    experiments = _experiments(name, repository, record, claims)
    chosen = tuple(claim for claim in claims if _belongs(claim, name, experiments))
    runs, unsettled = _runs(record, repository, experiments, chosen)
    preregistered = read_preregistered(record, repository, experiments)
    question, method = _docstring(repository, experiments)
    return Study(
        name=name,
        question=question,
        method=method,
        repository=repository,
        claims=chosen,
        runs=runs,
        open=(*unsettled, *_doubts(preregistered, runs), *_attempts(record, experiments, runs)),
        preregistered=preregistered,
    )


def _experiments(name: str, repository: Path, record: Record, claims: tuple[ReportedClaim, ...]) -> tuple[str, ...]:
    known = {one.name for one in listing(repository)}
    known |= {path.name.removesuffix(".json").rpartition(".")[0] for path in registration_files(record)}
    known |= {claim.experiment for claim in claims if claim.experiment}
    found = [one for one in sorted(known) if one == name or one.startswith(f"{name}.")]
    if not found:
        names = sorted(known | {one.partition(".")[0] for one in known})
        raise ConfigError(f"report: there is no study or experiment {name!r}.{nearest(name, names)}")
    return tuple(found)


def _belongs(claim: ReportedClaim, name: str, experiments: tuple[str, ...]) -> bool:
    """Whether a claim speaks of the study: by its `registered` marker, or, without one, by its folder."""
    if claim.experiment:
        return claim.experiment in experiments
    return claim.file.startswith(f"claims/{name.partition('.')[0]}/")


def _runs(
    record: Record, repository: Path, experiments: tuple[str, ...], claims: tuple[ReportedClaim, ...]
) -> tuple[tuple[ReportedRun, ...], list[Open]]:
    found: list[ReportedRun] = []
    unsettled: list[Open] = []
    readers = Counter(run for claim in claims for run in claim.runs)
    for path in registration_files(record):
        name = path.name.removesuffix(".json")
        if name.rpartition(".")[0] not in experiments:
            continue
        try:
            registration = read_registration(record, path)
            results = record.results(registration.run_id)
        except AssayError as error:
            reason = getattr(error, "reason", "unreadable")
            unsettled.append(Open(f"registration {name}", reason, scrub(str(error), repository)))
            continue
        standing = _explained(OpenedRun(record, repository, results), repository)
        run = ReportedRun(registration, results, standing, readers[registration.run_id])
        if standing.stale:
            unsettled.append(
                Open(run.run_id, "stale", "; ".join((f"since the run, {run.changes[0]}", *run.changes[1:], *run.void)))
            )
        found.append(run)
    return tuple(found), unsettled


def _explained(run: OpenedRun, repository: Path) -> Standing:
    """How a run stands to the present code and data, with the definitions that changed where its commit tells them."""
    standing = run.standing()
    reasons = explained(standing.reasons, run.manifest, repository)
    return replace(standing, reasons=tuple(replace(one, what=scrub(one.what, repository)) for one in reasons))


def _doubts(preregistered: Preregistered, runs: tuple[ReportedRun, ...]) -> list[Open]:
    """Registered runs of which nobody can prove that the freeze came first, or of which it did not."""
    problem = preregistered.problem
    found = [Open(f"freezes of {preregistered.study}", "damaged", problem)] if problem else []
    for run in runs:
        order = preregistered.order(run.run_id)
        if order is not None and order.order in (OrderVerdict.UNPROVABLE, OrderVerdict.VIOLATED):
            found.append(Open(run.run_id, f"order {order.order}", order.reason))
    return found


def _attempts(record: Record, experiments: tuple[str, ...], runs: tuple[ReportedRun, ...]) -> list[Open]:
    """Runs of the study that failed, were interrupted or superseded, or that never got to speak.

    A run that did not complete is settled once a later attempt of the same configuration speaks.
    """
    speaking = dict(split_attempt(run.run_id) for run in runs)
    found = []
    for run_id in record.attempts():
        if not is_run_of(run_id, experiments):
            continue
        base, attempt = split_attempt(run_id)
        try:
            one = _attempt(record, run_id, later=speaking.get(base, 0) > attempt)
        except RecordError as error:
            one = Open(run_id, "damaged", scrub(str(error), record.root.parent))
        found += [one] if one else []
    return found


def _attempt(record: Record, run_id: str, *, later: bool) -> Open | None:
    status, standing = record.status(run_id), record.standing(run_id)
    said: dict[str, str] = {}
    for event in record.events(run_id):
        said |= {name: str(event.payload[name]) for name in ("error", "message", "by") if name in event.payload}
    if status is not RunStatus.COMPLETED:
        why = ": ".join(said[name] for name in ("error", "message") if said.get(name))
        return Open(run_id, str(status), why, settled=later)
    if standing == "superseded":
        return Open(run_id, standing, f"by {said.get('by', 'another run')}", settled=True)
    return None if standing else Open(run_id, "completed", "not registered: it speaks for nothing", settled=True)


def _docstring(repository: Path, experiments: tuple[str, ...]) -> tuple[str, str]:
    """First paragraph of the docstring of the study's one experiment, or of each, and the rest of it."""
    heads, rests = [], []
    for name in experiments:
        path = repository / "experiments" / Path(*name.split(".")).with_suffix(".py")
        if path.is_file():
            head, _, rest = (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n\n")
            heads += [" ".join(head.split())] if head else []
            rests += [" ".join(rest.split())] if rest else []
    return " ".join(heads), " ".join(rests)

"""The first paragraph of a report: how many claims hold, on what, and what was found, in words."""

from __future__ import annotations

from collections.abc import Sequence

from assay.ledger.claim import Verdict
from assay.report.claims import ReportedClaim
from assay.report.study import Open, Study
from assay.runs.order import OrderVerdict

_SAID = {
    Verdict.FAILS: ("fails", "fail"),
    Verdict.UNVERIFIED: ("is unverified", "are unverified"),
    Verdict.STALE: ("is stale", "are stale"),
    Verdict.PENDING: ("is pending", "are pending"),
}


def listed(words: Sequence[str]) -> str:
    """Words as an enumeration: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 claim, 12 claims."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def verdict_in_words(study: Study) -> str:
    """One or two sentences: how many claims hold, and which do not and why in one word."""
    total, holding = len(study.claims), study.verdicts[Verdict.HOLDS]
    if not total:
        return "No claim speaks of this study yet: nothing that a text says about it is checked."
    numbers = sum(len(claim.numbers) for claim in study.with_verdict(Verdict.HOLDS))
    checked = (
        "is what a registered run says" if numbers == 1 else f"of the {numbers:,} numbers is what a registered run says"
    )
    if holding == total:
        which = "The one claim holds" if total == 1 else f"All {total} claims hold"
        return f"{which}: {'the number' if numbers == 1 else 'each'} {checked}, at the printed precision."
    exceptions = []
    for verdict, (one, many) in _SAID.items():
        ids = [claim.id for claim in study.with_verdict(verdict)]
        if ids:
            exceptions.append(f"{listed(ids)} {one if len(ids) == 1 else many}")
    hold = "holds" if holding == 1 else "hold"
    return f"{holding} of {counted(total, 'claim')} {hold}; {listed(exceptions)}."


def evidence_in_words(study: Study) -> str:
    """A sentence each on the runs behind the claims, the order of freeze and run, waivers, and that nothing is open."""
    runs = study.runs
    if not runs:
        return "No run is registered."
    kinds = sorted({run.manifest.kind for run in runs})
    said = listed(kinds) if len(runs) == 1 or len(kinds) > 1 else f"all {kinds[0]}"
    names = list(dict.fromkeys(run.registration.tier for run in runs))
    which = f"{'tier' if len(names) == 1 else 'tiers'} {listed(names)}"
    stand = (
        "Behind it stands"
        if len(study.claims) == 1
        else "Behind them stands"
        if len(runs) == 1
        else "Behind them stand"
    )
    behind = f"{stand} {counted(len(runs), 'registered run')} ({which}), {said}."
    return " ".join(filter(None, (behind, _order(study), _waivers(study), _rest(study))))


def _order(study: Study) -> str:
    """What is known of the order of freeze and registered confirmatory runs, verdict by verdict."""
    orders = [found.order for run in study.runs if (found := study.preregistered.order(run.run_id))]
    said = [
        f"{verdict} for {counted(orders.count(verdict), 'run')}" if len(orders) > 1 else str(verdict)
        for verdict in OrderVerdict
        if verdict in orders
    ]
    return f"The order of freeze and run is {listed(said)}." if said else ""


def _waivers(study: Study) -> str:
    waived = sum(bool(run.waived) for run in study.runs)
    which = f" {waived} of them" if len(study.runs) > 1 else ""
    return f"What changed since{which} is waived, with the reason." if waived else ""


def _rest(study: Study) -> str:
    if attention(study) or unsettled_claims(study):
        return ""
    return f"Nothing{' else' if any(run.waived for run in study.runs) else ''} is stale, pending or failed."


def attention(study: Study) -> tuple[Open, ...]:
    """Runs and registrations that somebody has to look at."""
    return tuple(one for one in study.open if not one.settled)


def unsettled_claims(study: Study) -> tuple[ReportedClaim, ...]:
    """Claims that do not simply hold, worst first."""
    return tuple(claim for verdict in _SAID for claim in study.with_verdict(verdict))


def findings(study: Study) -> tuple[ReportedClaim, ...]:
    """The first claim of each section: what the study found, in short."""
    return tuple(claims[0] for claims in study.sections.values())

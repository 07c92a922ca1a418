"""What the runs that a claim reads are when taken together: looked up once for each set of runs that claims share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.ledger.waiver_words import void_in_words, waived_for

if TYPE_CHECKING:
    from assay.ledger.evidence import OpenedRun


class Footing(NamedTuple):
    """Ids, experiments, tiers and kinds of some runs, and how they stand.

    ``order`` holds the verdicts on the order of freeze and confirmatory runs, ``doubt`` why one is unprovable and what
    changed after a freeze, ``violated`` why one is violated; ``stale`` says what changed since the runs, which waivers
    are void for it, and how to repeat them, ``waived`` which changes are waived and why. Texts are empty where there is
    nothing to say.
    """

    runs: tuple[str, ...]
    experiments: tuple[str, ...]
    tier: str
    kind: str
    order: str
    doubt: str
    violated: tuple[str, ...]
    stale: str
    waived: str


def footing_of(opened: Sequence[OpenedRun]) -> Footing:
    """Compare some runs with the present code, data and history."""
    manifests = [run.manifest for run in opened]
    orders = {run.run_id: order for run in opened if (order := run.order()) is not None}
    doubts = [f"{run_id}: {order.doubt}" for run_id, order in orders.items() if order.doubt]
    outgrown = [run for run in opened if run.standing().stale]
    changed = [f"{reason} since {run.run_id}" for run in outgrown for reason in run.standing().reasons]
    void = [void_in_words(waiver) for run in outgrown for waiver in run.standing().void]
    return Footing(
        runs=tuple(run.run_id for run in opened),
        experiments=tuple(dict.fromkeys(manifest.experiment for manifest in manifests)),
        tier=", ".join(dict.fromkeys(manifest.tier or manifest.tag for manifest in manifests)),
        kind=", ".join(sorted({manifest.kind for manifest in manifests})),
        order=", ".join(dict.fromkeys(order.verdict for order in orders.values())),
        doubt="; ".join(doubts),
        violated=tuple(f"{order.reason} ({name})" for name, order in orders.items() if order.verdict == "violated"),
        stale="; ".join((*changed, *void, *map(_rerun, outgrown))),
        waived="; ".join(filter(None, (waived_for(run.run_id, run.standing()) for run in opened))),
    )


def _rerun(run: OpenedRun) -> str:
    tier = f" --tier {run.manifest.tier}" if run.manifest.tier else ""
    return f'assay run {run.manifest.experiment}{tier} --register "..."'

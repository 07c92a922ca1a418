"""`--claims-mutate`: before a claim's test runs as usual, it runs once for each move of what it reads, unreported."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pytest
from _pytest.runner import runtestprotocol  # setup, call and teardown of one test; what pytest-rerunfailures uses too

from assay.errors import ClaimError
from assay.ledger.claim import Verdict
from assay.ledger.judge import Judgement
from assay.ledger.mutation import Lens, effects

if TYPE_CHECKING:
    from assay_pytest.collecting import Gathered
    from assay_pytest.judging import Judging


class Mutating:
    """Finds out, for each claim that holds, which moves of its evidence it notices."""

    def __init__(self, judging: Judging, gathered: Gathered) -> None:
        """Have `judging` judge the claims in `gathered` under every move."""
        self._judging = judging
        self._claims = gathered.claims

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Move everything that the claim reads, one at a time; then pytest runs and reports it as registered."""
        claim = self._claims.get(item)
        if claim is None or claim.mark.pending:
            return
        seen = Lens()
        if self._run(item, seen).verdict in (Verdict.HOLDS, Verdict.STALE):
            self._judging.effects[item] = effects(claim, seen, lambda lens: self._run(item, lens))

    def _run(self, item: pytest.Item, lens: Lens) -> Judgement:
        """One run of the test with its fixtures made anew; what its module set up stays for the next."""
        judging = self._judging
        judging.look_through(lens)
        try:
            with warnings.catch_warnings(action="ignore"):
                runtestprotocol(item, log=False, nextitem=cast("pytest.Item", item.parent))
        finally:
            judging.lens = None  # the next run is the one that pytest reports
        if judging.judged is None:
            raise ClaimError(f"--claims-mutate: the test of claim {self._claims[item].id} was not run by pytest")
        return judging.judged


def summarise(terminal: pytest.TerminalReporter, found: Sequence[dict[str, str]]) -> None:
    """Print, by claim, the moves that were tried and noticed, and what cannot fail."""
    width = max([len(one["claim"]) for one in found], default=0)
    powerless = 0
    for one in found:
        tried = one.get("claim_moves")
        if tried is None:
            said = f"not moved: it is {one['claim_verdict']}"
        else:
            said = f"{tried} moves, {one['claim_moves_noticed']} noticed" if int(tried) else "nothing to move"
        faults = one.get("claim_faults", "")
        powerless += bool(faults)
        label, colour = ("CANNOT FAIL", {"red": True}) if faults else ("moved", {})
        terminal.write_line(
            f"{label:<11} {one['claim']:<{width}}  {said}" + (f": {faults}" if faults else ""), **colour
        )
    moves = sum(int(one.get("claim_moves", 0)) for one in found)
    terminal.write_line(f"{moves} moves of what claims read; {powerless} of {len(found)} claims cannot fail")

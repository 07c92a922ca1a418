"""Options, markers, the `evidence` fixture and the hooks of collection; inert, without `assay`, until a claim is met.

Only the process that pytest was started in writes: workers of pytest-xdist send their verdicts as `user_properties`.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, ClassVar

import pytest

from assay_pytest.repository import repository_of

if TYPE_CHECKING:
    from pathlib import Path

    from assay.ledger.evidence import Evidence
    from assay_pytest.judging import Judging


_BETWEEN = 10_000  # objects made and not freed between two searches for garbage among the youngest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--claims-*` and the ini keys `claims_*`."""
    group = parser.getgroup("claims", "claims whose printed numbers are checked against registered runs")
    group.addoption(
        "--claims-strict", action="store_true", help="a stale claim fails, and one whose order is unprovable"
    )
    group.addoption("--claims-table", metavar="PATH", help="rewrite the table of claims and evidence at PATH")
    group.addoption("--claims-json", metavar="PATH", help="write the verdicts of this session to PATH")
    group.addoption("--claims-accept", metavar="ID", help="rewrite the printed numbers of one claim from its run")
    group.addoption(
        "--claims-mutate", action="store_true", help="rerun each claim with each number it read moved: can it fail?"
    )
    group.addoption(
        "--claims-text",
        metavar="FILE",
        nargs="+",
        help="compare every number of these Markdown or LaTeX files with the claims (write the option last)",
    )
    group.addoption("--claims-root", metavar="DIR", help="folder of the record (default: experiments/)")
    parser.addini("claims_dir", "folder of the claim files", default="claims")
    parser.addini("claims_names", "names with a space and digits, such as 'Gemma 3 270M'", type="args", default=[])
    parser.addini("claims_constants", "constants of the protocol in texts, such as '95 %'", type="args", default=[])
    parser.addini(
        "claims_results", "how words of headings about results begin", type="args", default=["abstract", "result"]
    )
    parser.addini(
        "claims_texts", "Markdown and LaTeX files that cite claims", type="args", default=["README.md", "docs/*.md"]
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and in the controlling process what gathers verdicts."""
    config.addinivalue_line(
        "markers",
        "claim(id, *, section=None, kind=None, pending=None, theorem=None): the docstring is a claim; "
        "its numbers stand in braces with the key of the result, {key: printed}",
    )
    config.addinivalue_line(
        "markers", "registered(experiment, *, tier=None): the registered run that speaks for the claims"
    )
    config.pluginmanager.register(Claims(repository_of(config) / config.getini("claims_dir")), "assay-claims")
    if hasattr(config, "workerinput"):
        return
    from assay_pytest.reporting import Reporting

    if config.option.claims_accept and (
        getattr(config.option, "numprocesses", None) or getattr(config.option, "dist", "no") != "no"
    ):
        raise pytest.UsageError("--claims-accept rewrites a source file and runs in one process: leave out -n")
    given = [one for one in config.invocation_params.args if str(one).split("=")[0] == "--claims-accept"]
    if len(given) > 1:
        raise pytest.UsageError(f"--claims-accept is given {len(given)} times: accept one claim, look, then the next")
    if config.option.claims_mutate and (config.option.claims_accept or config.option.usepdb):
        other = "--claims-accept" if config.option.claims_accept else "--pdb"
        raise pytest.UsageError(f"--claims-mutate makes claims fail on purpose: leave out {other}")
    config.pluginmanager.register(Reporting(config), "assay-claims-reporting")


def _marks(item: pytest.Item) -> list[pytest.Mark]:
    """Markers of a claim, closest first; empty for another test."""
    found = [mark for mark in item.iter_markers() if mark.name in ("claim", "registered")]
    return found if any(mark.name == "claim" for mark in found) else []


class Claims:
    """The claims of one session: they are checked when they are collected, and then judged."""

    _frozen: ClassVar[bool] = False  # in this process, and not given back to the garbage collector yet

    def __init__(self, folder: Path) -> None:
        """Know of no claim yet; `folder` holds the claim files."""
        self._judging: Judging | None = None
        self._folder = folder
        self._thresholds: tuple[int, int, int] | None = None  # as they were before the first claim file

    def pytest_sessionstart(self) -> None:
        """Give the garbage collector back what an earlier session in this process froze; one that ends need not."""
        if Claims._frozen:
            gc.unfreeze()
        Claims._frozen = False

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """From the first claim file on, look for garbage less often: what tests and reports are made of lasts."""
        is_one = isinstance(collector, pytest.Module) and self._folder in collector.path.parents
        if is_one and self._thresholds is None and 0 < gc.get_threshold()[0] < _BETWEEN:
            self._thresholds = gc.get_threshold()
            gc.set_threshold(_BETWEEN, *self._thresholds[1:])

    def pytest_unconfigure(self) -> None:
        """Look for garbage as often as before the claims."""
        if self._thresholds is not None and gc.get_threshold() == (_BETWEEN, *self._thresholds[1:]):
            gc.set_threshold(*self._thresholds)

    def pytest_collection_finish(self) -> None:
        """Spare the garbage collector what claims were made of: a fifth of the time of a session of thousands."""
        if Claims._frozen:
            gc.freeze()

    @pytest.fixture
    def evidence(self) -> Evidence:
        """Numbers, tables and runs that a claim reads; each read is recorded and shown in the table of claims."""
        found = self._judging.current if self._judging is not None else None
        if found is None:
            raise pytest.UsageError('evidence is for claims: mark the test with pytest.mark.claim("ID")')
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Check every claim before anything runs: sentences, ids, markers, cited texts."""
        accept = config.option.claims_accept
        marks = {item: found for item in items if (found := _marks(item))}
        if not marks:
            if accept and not session.testsfailed:
                raise pytest.UsageError(f"--claims-accept {accept}: no claim was collected")
            return
        Claims._frozen = True
        gc.freeze()  # collected tests live as long as the session: no need to look for garbage among them
        from assay_pytest.bodies import Bodies, OtherBodies, called_by_others
        from assay_pytest.collecting import collect
        from assay_pytest.judging import Judging

        gathered = collect(marks, config)
        for path, messages in gathered.errors.items():
            session.config.hook.pytest_collectreport(
                report=pytest.CollectReport(nodeid=path, outcome="failed", longrepr="\n".join(messages), result=[])
            )
        if gathered.errors:
            items[:] = [item for item in items if item not in marks]
            return
        if accept and accept not in {claim.id for claim in gathered.claims.values()}:
            raise pytest.UsageError(f"--claims-accept {accept}: no claim has this id")
        self._judging = Judging(config, gathered)
        config.pluginmanager.register(self._judging, "assay-claims-judging")
        if config.option.claims_mutate:
            from assay_pytest.mutating import Mutating

            config.pluginmanager.register(Mutating(self._judging, gathered), "assay-claims-mutating")
        others = called_by_others(gathered.claims)
        config.pluginmanager.register(Bodies(self._judging, others), "assay-claims-bodies")
        if others:
            config.pluginmanager.register(OtherBodies(self._judging, others), "assay-claims-other-bodies")

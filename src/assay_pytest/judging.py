"""Verdicts on claims as their tests end, in whichever process runs them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.errors import ClaimError
from assay.ledger.claim import Claim, Verdict
from assay.ledger.evidence import Evidence, EvidenceStore
from assay.ledger.judge import Judgement, Problem, judge, pending, problem_of, unverified, without_evidence, worsen
from assay.ledger.sentence import read_sentence
from assay_pytest.collecting import Gathered, code_of
from assay_pytest.repository import repository_of

if TYPE_CHECKING:
    from assay.ledger.mutation import Effects, Lens
    from assay.ledger.source import ClaimFile

_SKIPPED = "the test was skipped: nothing is skipped; a claim without evidence is pending=..."
_XFAILED = "the test is marked as expected to fail: a claim holds or does not"


class Judging:
    """Gives each claim its evidence, judges it when its test has run, and writes the verdict into the report."""

    def __init__(self, config: pytest.Config, gathered: Gathered) -> None:
        """Judge the claims in `gathered` against the record that the options name."""
        elsewhere, self._root = config.option.claims_root, repository_of(config)
        record = config.invocation_params.dir / elsewhere if elsewhere else self._root / "experiments"
        self._claims = gathered.claims
        self._stood_in = gathered.stood_in
        self._texts = gathered.texts
        self._sources = gathered.sources
        self._store = EvidenceStore(record, self._root)
        self.item: pytest.Item | None = None
        self.claim: Claim | None = None
        self.current: Evidence | None = None
        self.lens: Lens | None = None
        self.judged: Judgement | None = None
        self.inside = False  # while the body of a claim runs
        self._stage = ""  # of the test that runs: what pytest reports next of it
        self._met: list[Problem] = []  # in subtests of the test that runs
        self.effects: dict[pytest.Item, Effects] = {}
        self._names = tuple(config.getini("claims_names"))
        self._strict = bool(config.option.claims_strict)
        self._accept = config.option.claims_accept
        self._config = config

    def look_through(self, lens: Lens) -> None:
        """Judge the next run of a test by evidence that is read through `lens`, and say nothing of it in its report."""
        self.lens, self.judged = lens, None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Make the evidence of the claim that is about to run, and spare a direct request the fixture machinery."""
        self.item = item
        self.claim = claim = self._claims.get(item)
        self.current = None
        if claim is None:
            return
        self.current = Evidence(self._store, claim.run, self.lens)
        self._stage, self._met, self.judged = "setup", [], None
        if self._stood_in and item in self._stood_in:
            return
        if isinstance(item, pytest.Function) and "evidence" in item.fixturenames:
            item.funcargs["evidence"] = self.current

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn the outcome of a claim's test into a verdict; what its subtests and the teardown say counts as well."""
        report = yield
        claim, evidence = self.claim, self.current
        if claim is None or evidence is None or item is not self.item:
            return report
        when, passed = report.when, report.outcome == "passed" and not hasattr(report, "wasxfail")
        if when == "setup" and passed:
            self._stage = "call"
            return report
        raised = call.excinfo.value if call.excinfo is not None else None
        if when == "teardown":
            if self._met or not passed:
                self._end(item, report, raised)
        elif when == "call" and (self.inside or self._stage != "call"):
            self._meet(report, raised)
        else:
            self._stage = "teardown"
            self.judged = self._judge(claim, evidence, report, raised)
            if self.lens is None:
                self._conclude(item, report, self.judged)
        return report

    def _meet(self, report: pytest.TestReport, raised: BaseException | None) -> None:
        """Remember what a subtest says of its claim; while evidence is moved, pytest is told of none."""
        if report.skipped or hasattr(report, "wasxfail"):
            self._met.append(without_evidence(f"a subtest was skipped: nothing is skipped ({self._words(raised)})"))
        elif raised is not None:
            found = problem_of(raised, "a subtest")
            asserted = isinstance(raised, AssertionError)
            self._met.append(replace(found, lines=(("subtest", found.note),)) if asserted else found)
        if self.lens is not None:
            report.outcome, report.longrepr = "passed", None
            vars(report).pop("wasxfail", None)

    def _end(self, item: pytest.Item, report: pytest.TestReport, raised: BaseException | None) -> None:
        """Add what came after the verdict: a fixture that fails in its teardown, a subtest there."""
        if self.judged is None:
            return
        if not report.passed:
            self._met.append(without_evidence(f"a fixture failed in its teardown: {self._words(raised)}"))
        worsen(self.judged, *self._met)
        if self.lens is None:
            self._tell(item, report, self.judged)
            if not report.failed:
                report.outcome, report.longrepr = "failed", self._explain(item, self.judged)

    def _judge(
        self, claim: Claim, evidence: Evidence, report: pytest.TestReport, raised: BaseException | None
    ) -> Judgement:
        if hasattr(report, "wasxfail") or (raised is None and report.failed):  # the latter: strict, and passed
            return unverified(claim, _XFAILED)
        if report.skipped:
            return unverified(claim, f"{_SKIPPED} ({self._words(raised)})")
        if report.when == "setup":
            return unverified(claim, f"a fixture failed: {self._words(raised)}")
        if claim.mark.pending:
            return pending(claim)
        met, self._met = self._met, []
        citations = self._texts.of(claim.id)
        return judge(claim, evidence, raised=raised, others=met, citations=citations, names=self._names)

    def _words(self, raised: BaseException | None) -> str:
        """What was raised, as a table may hold it: without paths, names of users and hosts, and secrets."""
        from assay.runs.privacy import scrub

        return scrub(str(raised), self._root)

    def _conclude(self, item: pytest.Item, report: pytest.TestReport, judgement: Judgement) -> None:
        self._tell(item, report, judgement)
        effects = self.effects.get(item) if self.effects else None
        changed = bool(self._accept) and judgement.claim.id == self._accept
        doubtful = self._strict and (judgement.verdict is Verdict.STALE or bool(judgement.doubt))
        if effects is not None and effects.faults and not (judgement.failed or doubtful):
            report.outcome, report.longrepr = "failed", effects.explain(judgement.claim)
            return
        if not (judgement.failed or doubtful or changed):
            return
        text = self._explain(item, judgement)
        if changed:
            diff = self._rewrite(item, report, judgement)
            if not diff and not (judgement.failed or doubtful):
                return
            text += f"\n{diff}"
        if hasattr(report, "wasxfail"):
            del report.wasxfail
        own = report.outcome == "failed" and not judgement_explains(report, judgement)
        report.outcome = "failed"
        if own:
            report.sections.append((f"claim {judgement.claim.id}", text))
        else:
            report.longrepr = text

    def _tell(self, item: pytest.Item, report: pytest.TestReport, judgement: Judgement) -> None:
        """Write the verdict where it travels with the reports of the test."""
        effects = self.effects.get(item) if self.effects else None
        properties = properties_of(judgement) + ([] if effects is None else effects.properties())
        others = [one for one in item.user_properties if not one[0].startswith("claim")]
        item.user_properties[:] = others + properties
        report.user_properties = others + properties

    def _explain(self, item: pytest.Item, judgement: Judgement) -> str:
        from assay.ledger.explain import explain

        claim = judgement.claim
        function = code_of(item)
        try:
            source = self._sources.of(Path(function.__code__.co_filename))
            lines = binding_lines(source, claim.qualname, self._names)
        except ClaimError:
            lines = []

        def line_of(binding: int | None) -> int:
            at = 0 if binding is None else binding + 1
            return lines[at] if at < len(lines) else claim.line

        return explain(judgement, line_of=line_of, citations=self._texts.of(claim.id))

    def _rewrite(self, item: pytest.Item, report: pytest.TestReport, judgement: Judgement) -> str:
        """Rewrite the printed numbers of the claim in its file and in the texts; the difference, or why none."""
        from assay_pytest.accepting import rewrite

        path = Path(code_of(item).__code__.co_filename)
        found = rewrite(self._config, self._sources.of(path), judgement)
        self._sources.forget(path)
        if found.sentence:
            for properties in (item.user_properties, report.user_properties):
                properties.append(("claim_rewritten", found.sentence))
        return found.text or (
            "" if judgement.verdict in (Verdict.HOLDS, Verdict.STALE) else "    no printed number to rewrite"
        )


def judgement_explains(report: pytest.TestReport, judgement: Judgement) -> bool:
    """Whether our explanation replaces pytest's own: for evidence and claim errors, skips, and numbers."""
    return report.when == "call" and all(problem.lines for problem in judgement.problems)


def binding_lines(source: ClaimFile, qualname: str, names: tuple[str, ...]) -> list[int]:
    """Lines of the docstring and of each of its braces."""
    function = source.functions.get(qualname)
    if function is None or function.written is None:
        return []
    bindings = read_sentence(function.written, names=names).bindings
    return [source.place(qualname, offset)[0] for offset in (0, *(binding.start for binding in bindings))]


def properties_of(judgement: Judgement) -> list[tuple[str, Any]]:
    """What travels to the controlling process and into JUnit files."""
    claim = judgement.claim
    return [
        ("claim", claim.id),
        ("claim_sentence", claim.sentence.display),
        ("claim_written", " ".join(claim.sentence.written.split())),
        ("claim_verdict", str(judgement.verdict)),
        ("claim_note", judgement.note),
        ("claim_kind", str(judgement.kind)),
        ("claim_order", judgement.order),
        ("claim_doubt", judgement.doubt),
        ("claim_section", claim.mark.section),
        ("claim_tier", judgement.tier),
        ("claim_run", "; ".join(judgement.runs)),
        ("claim_keys", "; ".join(judgement.keys)),
        ("claim_generator", "; ".join(judgement.generators)),
        ("claim_printed", "; ".join(binding.text for binding in claim.sentence.numbers)),
        ("claim_registered", "; ".join(judgement.registered)),
        ("claim_ties", "; ".join(judgement.ties)),
        ("claim_file", claim.path),
    ]

"""What the controlling process does with the verdicts: terminal summary, table, JSON, exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay_pytest.repository import repository_of

if TYPE_CHECKING:
    from assay.ledger.table import Row
    from assay_pytest.lost import Lost

_LISTED = ("FAILS", "UNVERIFIED", "STALE", "PENDING")
_COLOURS = {"FAILS": "red", "UNVERIFIED": "red", "STALE": "yellow", "PENDING": "yellow", "HOLDS": "green"}
_NARROWING = ("keyword", "markexpr", "lf", "stepwise", "stepwise_skip", "deselect", "collectonly")
_ENDS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class Reporting:
    """Gathers the verdicts of a session; does and prints nothing in a session without claims."""

    def __init__(self, config: pytest.Config) -> None:
        """Gather for the options in `config`."""
        self._config = config
        self._verdicts: dict[str, dict[str, str]] = {}
        self._said: list[str] = []
        self._covered: list[str] = []
        self._skipped: dict[Path, str] = {}
        self._ended = ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note why a file was skipped as a whole."""
        if report.skipped and isinstance(report.longrepr, tuple):
            path = (self._config.rootpath / report.nodeid).resolve()
            self._skipped[path] = f"its file was skipped: {report.longrepr[2].removeprefix('Skipped: ')}"

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note why the session ended before its end: an interruption, or a test that called pytest.exit."""
        self._ended = f"the session ended early ({excinfo.typename}: {excinfo.value})"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdict that the report of a claim's test carries."""
        if report.when != "teardown" or not report.user_properties:
            return
        found: dict[str, str] = dict(report.user_properties)  # type: ignore[arg-type]  # what claims add is text
        if "claim_verdict" in found:
            self._verdicts[found["claim"]] = found

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
        """Write what was asked for, fail the session if a claim or a text does, and then look at what pytest wrote."""
        self._finish(session, exitstatus)
        yield
        written = getattr(self._config.option, "xmlpath", None)
        if self._verdicts and written and Path(written).is_file():
            from assay_pytest.junit import anonymise

            anonymise(Path(written), repository_of(self._config))

    def _finish(self, session: pytest.Session, exitstatus: int) -> None:
        option = self._config.option
        asked = option.claims_table or option.claims_json or option.claims_accept or option.claims_text
        folder = repository_of(self._config) / self._config.getini("claims_dir")
        if not self._verdicts and not asked and not folder.is_dir():
            return
        from assay.errors import AssayError

        full = self._is_full(session, exitstatus)
        try:
            if full:
                self._find_lost()
            if self._verdicts or self._said or asked:
                self._conclude(full=full)
        except AssayError as error:
            self._complain(f"claims: {error}")
        bad = any(one["claim_verdict"] in ("FAILS", "UNVERIFIED") for one in self._verdicts.values())
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and (bad or self._said):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _is_full(self, session: pytest.Session, exitstatus: int) -> bool:
        """Whether pytest was to run every test of the files that it was pointed at, and came to its end."""
        narrowed = any(getattr(self._config.option, name, None) for name in _NARROWING)
        named = any("::" in place for place in self._config.args)
        return exitstatus in _ENDS and not (narrowed or named or session.shouldfail)

    def _find_lost(self) -> None:
        """Count claims that are written and that no test judged as unverified, each with its place and the reason."""
        from assay_pytest.written import WHOLE, all_are_among, read, written_files

        root, judged = repository_of(self._config).resolve(), dict[str, set[str]]()
        for found in self._verdicts.values():
            judged.setdefault(found["claim_file"], set()).add(found["claim"])
        whole = self._config.stash.get(WHOLE, {})
        for path in written_files(self._config, root, judged):
            file = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
            ids = judged.get(file, set())
            if ids != whole.get(file) and not all_are_among(ids, read(path)):
                self._take_lost(path, file, ids)

    def _take_lost(self, path: Path, file: str, ids: set[str]) -> None:
        from assay_pytest.lost import lost_claims

        ended = self._skipped.get(path) or self._ended
        for one in lost_claims(self._config, path, ids, ended):
            said = f"{file}:{one.function.line}: written, and not judged: {one.why}"
            if one.id and one.id not in self._verdicts:
                self._verdicts[one.id] = self._unverified(one, file, said)
            else:
                self._complain(f"{said} (claim {one.id or 'whose id is computed'})")

    def _unverified(self, lost: Lost, file: str, said: str) -> dict[str, str]:
        """What the report of a claim would have said, had a test judged it."""
        from assay.errors import ClaimError
        from assay.ledger.claim import Claim
        from assay.ledger.judge import unverified
        from assay.ledger.sentence import Sentence, read_sentence
        from assay.runs.privacy import scrub
        from assay_pytest.judging import properties_of

        function, written = lost.function, lost.function.written or ""
        try:
            sentence = read_sentence(written, names=self._config.getini("claims_names"))
        except ClaimError:
            sentence = Sentence(written, " ".join(written.split()), ())
        mark = next(mark for mark in function.marks if mark.id == lost.id)
        claim = Claim(mark, sentence, function.run, file, function.line, function.qualname)
        return dict(properties_of(unverified(claim, scrub(said, repository_of(self._config)))))

    def _complain(self, message: str) -> None:
        self._said.append(message)

    def _conclude(self, *, full: bool) -> None:
        option, root = self._config.option, repository_of(self._config)
        if option.claims_accept and option.claims_accept not in self._verdicts:
            self._complain(f"--claims-accept {option.claims_accept}: the claim did not run, nothing was rewritten")
        self._check_citations(full=full)
        self._check_texts()
        here = self._config.invocation_params.dir
        if option.claims_table:
            from assay.ledger.table import update_table

            written = self._written(root) if full else None
            rows = {name: self._row(found) for name, found in self._verdicts.items()}
            update_table(here / option.claims_table, rows, written=written)
        if option.claims_json:
            from assay.runs.storage import readable_json, write_durable

            write_durable(here / option.claims_json, readable_json(self._json()))

    def _written(self, root: Path) -> set[str] | None:
        """Ids in the claim files, read without running them; None when there is no folder of claims to read."""
        from assay.ledger.source import static_claims

        folder = root / self._config.getini("claims_dir")
        return {mark.id for _, _, mark in static_claims(folder)} if folder.is_dir() else None

    def _check_citations(self, *, full: bool) -> None:
        from assay.ledger.citations import read_texts

        texts = read_texts(repository_of(self._config), self._config.getini("claims_texts"))
        known = set(self._verdicts)
        if texts and texts.unknown(known):
            written = self._written(repository_of(self._config))
            if written is None and not full:
                return  # which claims there are cannot be known from some of them
            known |= written or set()
            for citation in texts.unknown(known):
                self._complain(f"{citation.place} cites ({citation.claim}): no claim has this id")

    def _check_texts(self) -> None:
        """Compare every number of the texts that ask for it."""
        from assay_pytest.texts import coverage_of

        known = {name: one.get("claim_rewritten") or one["claim_sentence"] for name, one in self._verdicts.items()}
        for text in coverage_of(self._config, known):
            self._covered.append(text.summary)
            for one in text.failing:
                self._complain(f"{one.place} {one.message}")

    def _row(self, found: dict[str, str]) -> Row:
        from assay.errors import ClaimError
        from assay.ledger.table import Row, emphasised, escape, kind_in_words

        try:
            sentence = emphasised(found["claim_written"], names=self._config.getini("claims_names"))
        except ClaimError:  # of a claim that pytest did not collect, and so did not refuse
            sentence = escape(found["claim_written"])
        return Row(
            id=found["claim"],
            sentence=sentence,
            verdict=found["claim_verdict"],
            note=found["claim_note"],
            kind=kind_in_words(found["claim_kind"], found["claim_order"], found["claim_doubt"]),
            section=found["claim_section"],
            tier=found["claim_tier"],
            run=found["claim_run"],
            keys=found["claim_keys"],
            generator=found["claim_generator"],
        )

    def _ordered(self) -> list[dict[str, str]]:
        from assay.ledger.claim import natural

        return [self._verdicts[name] for name in sorted(self._verdicts, key=natural)]

    def _json(self) -> dict[str, Any]:
        claims = [
            {"id": found["claim"]} | {name[6:]: value for name, value in found.items() if name.startswith("claim_")}
            for found in self._ordered()
        ]
        counts = Counter(found["claim_verdict"] for found in self._verdicts.values())
        return {"claims": claims, "verdicts": dict(sorted(counts.items()))}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the counts of verdicts, and by name every claim that does not simply hold."""
        if not self._verdicts and not self._said:
            return
        terminal = terminalreporter
        terminal.ensure_newline()
        terminal.section("claims", sep="=", bold=True)
        found = self._ordered()
        width = max([len(one["claim"]) for one in found], default=0)
        for verdict in _LISTED:
            for one in found:
                if one["claim_verdict"] == verdict:
                    line = f"{verdict:<10}  {one['claim']:<{width}}  {one['claim_note']}"
                    terminal.write_line(line.rstrip(), **{_COLOURS[verdict]: True})
        if self._config.option.claims_mutate:
            from assay_pytest.mutating import summarise

            summarise(terminal, found)
        for one in found:
            if one["claim_verdict"] == "HOLDS" and one["claim_note"]:
                terminal.write_line(f"{'waived':<10}  {one['claim']:<{width}}  {one['claim_note']}", yellow=True)
            if one["claim_ties"]:
                terminal.write_line(f"{'tie':<10}  {one['claim']:<{width}}  {one['claim_ties']}", yellow=True)
            if one["claim_doubt"]:
                doubt = f"{one['claim_order']}: {one['claim_doubt']}"
                terminal.write_line(f"{'order':<10}  {one['claim']:<{width}}  {doubt}", yellow=True)
        for message in self._said:
            terminal.write_line(message, red=True)
        for line in self._covered:
            terminal.write_line(line)
        counts = Counter(one["claim_verdict"] for one in found)
        parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("HOLDS", *_LISTED) if counts[verdict])
        beside = f"; {len(self._said)} more to correct, see above" if self._said else ""
        terminal.write_line(f"{len(found)} claim{'s' if len(found) != 1 else ''}: {parts or 'none judged'}{beside}")

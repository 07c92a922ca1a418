"""Evidence of a claim: numbers and tables of registered runs, verified once a session, each read recorded."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, ClaimError, EvidenceError
from assay.ledger.claim import Kind, RunMark
from assay.ledger.footing import Footing, footing_of
from assay.ledger.printed import finite

if TYPE_CHECKING:
    import pandas as pd

    from assay.ledger.mutation import Lens
    from assay.runs import Manifest, Record, Results
    from assay.runs.order import Order
    from assay.runs.stale import Standing

_MUTABLE = (list, dict)  # fields of the configuration; every other value is immutable


class OpenedRun:
    """A registered run, its digests verified; numbers are read from it by key."""

    def __init__(self, record: Record, repository: Path, results: Results) -> None:
        """Hold verified `results` of `record`; sources are compared with those in `repository`."""
        self._record = record
        self._repository = repository
        self._results = results
        self._values: dict[str, Any] = {}
        self._order: Order | None = None
        self._standing: Standing | None = None
        self.run_id: str = results.run_id
        self.manifest: Manifest = results.manifest

    def has(self, key: str) -> bool:
        """Whether the run registered this key, its parts (`.low`, `.count`) included."""
        try:
            self.value(key)
        except EvidenceError as error:
            return error.reason != "absent"
        return True

    def value(self, key: str) -> Any:
        """The registered value, its own to keep; EvidenceError when it is absent or not finite."""
        if key not in self._values:
            self._values[key] = self._read(key)
        value = self._values[key]
        if isinstance(value, EvidenceError):
            raise EvidenceError(str(value), reason=value.reason)
        return deepcopy(value) if isinstance(value, _MUTABLE) else value

    def _read(self, key: str) -> Any:
        try:
            if key.startswith("config."):
                value = self._results.config(key.removeprefix("config."))
            else:
                value = self._results.value(key)
        except EvidenceError as error:
            return error
        except AssayError as error:
            return EvidenceError(str(error), reason="unreadable")
        if not finite(value):
            text = f"{self.run_id}: {key} is {value}, which is not finite; no claim holds on it"
            return EvidenceError(text, reason="non-finite")
        return value

    def table(self, name: str) -> pd.DataFrame:
        """A table of the run, a fresh copy each time."""
        return self._results.table(name)

    def standing(self) -> Standing:
        """How the run stands to the present code and data; looked up once a session.

        A run that cannot be compared is outgrown, and the one reason says why.
        """
        from assay.runs.stale import Reason, Standing, standing_of

        if self._standing is None:
            try:
                self._standing = standing_of(self._record, self.run_id, self._repository)
            except AssayError as error:
                unreadable = Reason("source", self.manifest.experiment, f"cannot be compared ({error})")
                self._standing = Standing((unreadable,), None, {}, "")
        return self._standing

    def order(self) -> Order | None:
        """Whether the freeze came before the run, if it is confirmatory; looked up once a session."""
        if self._order is None and self.manifest.kind == Kind.CONFIRMATORY:
            from assay.runs.order import order_of

            self._order = order_of(self.manifest, self._repository)
        return self._order


class EvidenceStore:
    """Registered runs opened in this session; a run that cannot be opened says so each time it is asked for."""

    def __init__(self, root: Path, repository: Path) -> None:
        """Read the record under `root` (registry, manifests, summaries, registered); `repository` holds the sources."""
        self._root = root
        self._repository = repository
        self._record: Record | None = None
        self._opened: dict[RunMark, OpenedRun | EvidenceError] = {}
        self._footings: dict[tuple[str, ...], Footing] = {}

    def footing(self, opened: Mapping[str, OpenedRun]) -> Footing:
        """How some of the opened runs, by id, stand together."""
        runs = tuple(opened)
        found = self._footings.get(runs)
        if found is None:
            found = self._footings[runs] = footing_of(tuple(opened.values()))
        return found

    def open(self, wanted: RunMark) -> OpenedRun:
        """The registered run of an experiment and tier; EvidenceError says why it cannot be evidence."""
        if wanted not in self._opened:
            self._opened[wanted] = self._open(wanted)
        opened = self._opened[wanted]
        if isinstance(opened, EvidenceError):
            raise EvidenceError(str(opened), reason=opened.reason)
        return opened

    def _open(self, wanted: RunMark) -> OpenedRun | EvidenceError:
        from assay.runs import Record

        if self._record is None:
            self._record = Record(self._root)
        try:
            registration = self._record.registered(wanted.experiment, wanted.tier)
            return OpenedRun(self._record, self._repository, self._record.results(registration.run_id))
        except EvidenceError as error:
            return error
        except AssayError as error:
            return EvidenceError(str(error), reason="unreadable")


class RunEvidence:
    """Reads from one registered run, recorded under the claim that makes them."""

    __slots__ = ("_lens", "_opened", "_prefix", "_reads", "_refused")

    def __init__(self, opened: OpenedRun, evidence: Evidence, prefix: str, lens: Lens | None = None) -> None:
        """Record each read in `evidence`, with `prefix` before the key; read through `lens` if there is one."""
        self._opened = opened
        self._reads = evidence.reads
        self._refused = evidence.refused
        self._prefix = prefix
        self._lens = lens

    @property
    def run_id(self) -> str:
        """The run that is read."""
        return self._opened.run_id

    @property
    def manifest(self) -> Manifest:
        """Who, what, with which code, data and machine: a fresh copy each time."""
        return deepcopy(self._opened.manifest)

    def __getitem__(self, key: str) -> Any:
        """Number, Count, Estimate, truth value or text under a key; EvidenceError when absent or not finite."""
        self._reads[self._prefix + key] = None
        try:
            return self._opened.value(key) if self._lens is None else self._lens.number(self._prefix, key, self._opened)
        except EvidenceError as error:
            self._refused.append(error)
            raise

    def table(self, name: str) -> pd.DataFrame:
        """A table of the run; EvidenceError when absent or altered."""
        label = f"{self._prefix}table {name}"
        self._reads[label] = None
        try:
            return self._opened.table(name) if self._lens is None else self._lens.table(label, name, self._opened)
        except EvidenceError as error:
            self._refused.append(error)
            raise


class Evidence:
    """What a claim may read: its registered run, other registered runs, and values that it derives itself.

    `reads` are the keys and tables asked for, `refused` the errors that some of them raised, whoever caught them.
    """

    __slots__ = ("_lens", "_main", "_main_run", "_mark", "_store", "bound", "opened", "reads", "refused")

    def __init__(self, store: EvidenceStore, run: RunMark | None, lens: Lens | None = None) -> None:
        """Read from `store`; `run` is what the `registered` marker names, `lens` may show one value moved."""
        self._store = store
        self._mark = run
        self._lens = lens
        self._main: RunEvidence | None = None
        self._main_run: OpenedRun | None = None
        self.reads: dict[str, None] = {}
        self.bound: dict[str, Any] = {}
        self.opened: dict[str, OpenedRun] = {}
        self.refused: list[EvidenceError] = []

    def __getitem__(self, key: str) -> Any:
        """Number, Count, Estimate, truth value or text of the registered run."""
        return self._registered()[key]

    def table(self, name: str) -> pd.DataFrame:
        """A table of the registered run as a DataFrame."""
        return self._registered().table(name)

    def run(self, experiment: str, *, tier: str | None = None) -> RunEvidence:
        """The registered run of another experiment or tier."""
        label = f"{experiment}.{tier}:" if tier else f"{experiment}:"
        return RunEvidence(self._open(RunMark(experiment, tier)), self, label, self._lens)

    def bind(self, **values: Any) -> None:
        """Give the braces of the sentence values that the claim derives itself, by name."""
        if twice := sorted(set(values) & set(self.bound)):
            raise ClaimError(f"evidence.bind: {', '.join(twice)} is bound already")
        self.bound.update(values if self._lens is None else self._lens.bind(values))

    @property
    def manifest(self) -> Manifest:
        """Manifest of the registered run."""
        return self._registered().manifest

    def main(self) -> OpenedRun | None:
        """The run that the `registered` marker names, or None without a marker."""
        if self._main_run is None and self._mark is not None:
            self._main_run = self._open(self._mark)
        return self._main_run

    def footing(self) -> Footing:
        """How the runs that were read stand together."""
        return self._store.footing(self.opened)

    def read(self, key: str) -> Any:
        """The value behind a brace: bound names first, then the registered run; the read is recorded."""
        if key in self.bound:
            value = self.bound[key]
            if not finite(value):
                raise EvidenceError(f"{key}, bound by the claim, is {value}: not finite", reason="non-finite")
            return value
        try:
            return self[key]
        except EvidenceError as error:
            if error.reason != "absent" or not key.isidentifier():
                raise
            said = str(error).removesuffix(".")
            said += f"{' Or' if said.endswith('?') else ', or'} bind it in the body: evidence.bind({key}=...)"
            raise EvidenceError(said, reason="absent") from error

    def _registered(self) -> RunEvidence:
        if self._main is None:
            opened = self.main()
            if opened is None:
                raise ClaimError(
                    'no run speaks for this claim: mark it with pytest.mark.registered("study.experiment"), '
                    "or read another run with evidence.run(...)"
                )
            self._main = RunEvidence(opened, self, "", self._lens)
        return self._main

    def _open(self, wanted: RunMark) -> OpenedRun:
        try:
            opened = self._store.open(wanted)
        except EvidenceError as error:
            self.refused.append(error)
            raise
        self.opened[opened.run_id] = opened
        return opened

"""Can a claim fail? It is judged again with each number that it read moved, one at a time; nothing on disk is touched.

A claim cannot fail when a value or table that it read has no effect: it holds wherever that is moved to. It cannot fail
either when a number that it prints as derived is the same whatever is read, or when it holds on NaN.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

from assay.errors import EvidenceError
from assay.ledger.claim import Claim
from assay.ledger.judge import Judgement
from assay.ledger.moves import PARTS, is_count, is_estimate, moved, moved_part, non_finite
from assay.ledger.printed import Printed, finite, shown
from assay.ledger.table_moves import table_moves

if TYPE_CHECKING:
    import pandas as pd

    from assay.ledger.evidence import OpenedRun


class Move(NamedTuple):
    """One change of one thing that a claim reads.

    `subject` is what is judged (a key, a table, a bound name), `target` the key under which the changed `value` is read
    (of a part the whole, so that all its parts agree); for a table `value` makes the changed copy.
    """

    subject: str
    target: str
    said: str
    value: Any
    finite: bool = True
    column: str = ""
    words: bool = False


class _Seen(NamedTuple):
    """A value as it was read: itself, and the count or estimate that it is a part of."""

    value: Any
    target: str
    whole: Any
    part: str


@final
class Lens:
    """Stands between a claim and its evidence: notes what is read, and shows one value or table moved."""

    def __init__(self, move: Move | None = None) -> None:
        """Show everything as registered, except what `move` changes."""
        self._move = move
        self.values: dict[str, _Seen] = {}
        self.tables: dict[str, pd.DataFrame] = {}
        self.bound: dict[str, Any] = {}

    def number(self, prefix: str, key: str, opened: OpenedRun) -> Any:
        """The value under a key; EvidenceError when it is absent or, moved or not, not finite."""
        label = prefix + key
        if self._move is None:
            if label not in self.values:
                self.values[label] = _seen(prefix, key, opened)
            return opened.value(key)
        whole, _, part = label.rpartition(".")
        if label != self._move.target and (whole != self._move.target or part not in PARTS):
            return opened.value(key)
        value = self._move.value if label == self._move.target else getattr(self._move.value, part)
        if not finite(value):
            raise EvidenceError(f"{opened.run_id}: {key} is {value}, which is not finite", reason="non-finite")
        return value

    def table(self, label: str, name: str, opened: OpenedRun) -> pd.DataFrame:
        """The table; changed if the move concerns it."""
        frame = opened.table(name)
        if self._move is None:
            self.tables.setdefault(label, frame.copy())
        return self._move.value(frame) if self._move is not None and self._move.target == label else frame

    def bind(self, values: dict[str, Any]) -> dict[str, Any]:
        """Values that the claim derived, by name; changed if the move concerns one of them."""
        self.bound |= values
        move = self._move
        return {
            name: move.value if move is not None and move.target == _derived(name) else value
            for name, value in values.items()
        }


def _derived(name: str) -> str:
    return f"{name} (derived)"


def _seen(prefix: str, key: str, opened: OpenedRun) -> _Seen:
    value = opened.value(key)
    whole, _, part = key.rpartition(".")
    if part in PARTS and whole and not key.startswith("config.") and opened.has(whole):
        with contextlib.suppress(EvidenceError):  # of a count of nothing the parts can be read, and not the whole
            entire = opened.value(whole)
            if is_count(entire) or is_estimate(entire):
                return _Seen(value, prefix + whole, entire, part)
    return _Seen(value, prefix + key, value, "")


@final
@dataclass(frozen=True)
class Effects:
    """What became of the moves of one claim; `faults` say, for each thing without effect, why the claim cannot fail."""

    tried: int
    noticed: int
    faults: tuple[str, ...]

    def properties(self) -> list[tuple[str, str]]:
        """What travels to the controlling process and into JUnit files."""
        return [
            ("claim_moves", str(self.tried)),
            ("claim_moves_noticed", str(self.noticed)),
            ("claim_faults", "; ".join(self.faults)),
        ]

    def explain(self, claim: Claim) -> str:
        """Why the claim cannot fail, uncut."""
        lines = [f"{claim.id}  CANNOT FAIL  {claim.path}:{claim.line}"]
        lines += [f"    {'why' if not at else '':<12}{fault}" for at, fault in enumerate(self.faults)]
        lines.append(f"    {'tried':<12}{self.tried} moves, {self.noticed} noticed")
        advice = "print it in braces, assert what the sentence says of it, or do not read it"
        return "\n".join([*lines, f"    {'what to do':<12}{advice}"])


def moves_of(claim: Claim, seen: Lens) -> list[Move]:
    """Every move of what a claim was seen to read, in the order of its reads."""
    printed: dict[str, list[Printed]] = {}
    for binding in claim.sentence.numbers:
        if binding.printed is not None:
            printed.setdefault(binding.key, []).append(binding.printed)
    moves: list[Move] = []
    for label, read in seen.values.items():
        forms = printed.get(label, [])
        others = moved_part(read.whole, read.part, forms) if read.part else moved(read.value, forms)
        moves += _value_moves(label, read.target, others, non_finite(read.whole, read.part))
    for name, value in seen.bound.items():
        moves += _value_moves(_derived(name), _derived(name), moved(value, printed.get(name, [])), non_finite(value))
    for label, frame in seen.tables.items():
        moves += [
            Move(label, label, one.said, one.change, one.finite, one.column, one.words) for one in table_moves(frame)
        ]
    return moves


def _value_moves(label: str, target: str, others: list[Any], nan: Any) -> list[Move]:
    moves = [Move(label, target, shown(other), other) for other in others]
    return moves if nan is None else [*moves, Move(label, target, "NaN", nan, finite=False)]


def effects(claim: Claim, seen: Lens, rerun: Callable[[Lens], Judgement]) -> Effects:
    """Judge a claim again under every move; `rerun` runs its test with a lens and gives the verdict."""
    tried: dict[str, list[_Tried]] = {}
    derived: dict[str, set[str]] = {}
    for move in moves_of(claim, seen):
        lens = Lens(move)
        tried.setdefault(move.subject, []).append(_Tried(move, _noticed(rerun(lens), move)))
        for name, value in lens.bound.items():
            derived.setdefault(name, set()).add(repr(value))
    every = [one for found in tried.values() for one in found]
    faults = [fault for subject, found in tried.items() for fault in _faults(subject, found)]
    for name, value in seen.bound.items():
        if derived.get(name) == {repr(value)}:
            faults.append(f"{name} is bound to {shown(value)} whatever is read")
    if not every and not claim.mark.theorem:
        faults.append("nothing that it read can be moved: neither a number, a word nor a table of a run decides it")
    return Effects(len(every), sum(one.noticed for one in every), tuple(faults))


def _noticed(judgement: Judgement, move: Move) -> bool:
    """Whether the verdict turned; other words in a table are noticed by an assertion, not by a lookup in vain."""
    stumbled = any(not problem.lines and problem.note != "an assertion fails" for problem in judgement.problems)
    return judgement.failed and not (move.words and stumbled)


class _Tried(NamedTuple):
    move: Move
    noticed: bool


def _faults(subject: str, tried: list[_Tried]) -> list[str]:
    telling = [move for move, noticed in tried if noticed and move.finite]
    if not telling:
        said = [move.said for move, _ in tried if move.finite]
        listed = ", ".join(said[:4]) + (f" and {len(said) - 4} more" if len(said) > 4 else "")
        return [f"{subject} had no effect: the claim holds with {listed}"]
    matter = {move.column for move in telling}
    deaf = [move for move, noticed in tried if not noticed and not move.finite and move.column in matter]
    return [f"{subject} is not checked for NaN: the claim holds with {move.said}" for move in deaf]

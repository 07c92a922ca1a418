"""The source of claim files, read without running them: sentences, markers, and where each printed number stands.

Docstrings are read from the syntax tree, so that errors have their line and column.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ClaimError
from assay.ledger.claim import ClaimMark, RunMark, claim_mark, run_mark
from assay.ledger.claim_files import claim_files

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = _Function | ast.ClassDef


@dataclass(frozen=True)
class FunctionSource:
    """One function of a claim file: its markers as written, its docstring, and the place of the docstring.

    `computed` says whether it has claim markers whose arguments only an import knows, `hidden_by` is the line of a
    later definition of the same name in the same block: of the function, or of a class around it.
    """

    qualname: str
    line: int
    marks: tuple[ClaimMark, ...]
    run: RunMark | None
    written: str | None
    literal: ast.Constant | None
    computed: bool = False
    hidden_by: int | None = None


class ClaimFile:
    """A Python file with claims, parsed once."""

    def __init__(self, path: Path) -> None:
        """Parse `path`; ClaimError when it cannot be read or is not Python."""
        self.path = path
        try:
            self.data = path.read_bytes()
            tree = ast.parse(self.data)
        except (OSError, SyntaxError, ValueError) as error:
            raise ClaimError(f"{path.name}: cannot be read as Python: {error}") from error
        self.written = tuple(_functions(tree))
        self.functions = {function.qualname: function for function in self.written}  # those that Python keeps

    def place(self, name: str | FunctionSource, offset: int) -> tuple[int, int]:
        """Line and column (both from 1) of a character of the docstring of a function, or of the one of that qualname.

        Where escapes or joined literals hide the place, it is that of the docstring's opening quote.
        """
        function = self.functions.get(name) if isinstance(name, str) else name
        if function is None or function.literal is None or function.written is None:
            return (function.line if function else 1), 1
        line, column = function.literal.lineno, function.literal.col_offset
        at = self._offset(function, offset)
        if at is None:
            return line, self._characters(line, column) + 1
        before = self.data[:at]
        return before.count(b"\n") + 1, len(before[before.rfind(b"\n") + 1 :].decode()) + 1

    def span(self, qualname: str, start: int, end: int) -> tuple[int, int] | None:
        """Byte span of docstring characters in the file, or None where escapes hide it."""
        function = self.functions.get(qualname)
        if function is None:
            return None
        left, right = self._offset(function, start), self._offset(function, end)
        return None if left is None or right is None else (left, right)

    def _offset(self, function: FunctionSource, offset: int) -> int | None:
        """Byte offset in the file of a character of the docstring, where its text stands there unchanged."""
        if function.literal is None or function.written is None:
            return None
        left = self._byte(function.literal.lineno, function.literal.col_offset)
        right = self._byte(function.literal.end_lineno or 0, function.literal.end_col_offset or 0)
        segment = self.data[left:right]
        newline = "\r\n" if b"\r\n" in segment else "\n"  # ast reads one newline for two bytes
        inside = segment.find(function.written.replace("\n", newline).encode())
        if inside < 0:
            return None
        return left + inside + len(function.written[:offset].replace("\n", newline).encode())

    def _byte(self, line: int, column: int) -> int:
        lines = self.data.split(b"\n")
        mark = 3 if self.data.startswith(b"\xef\xbb\xbf") and line == 1 else 0
        return sum(len(text) + 1 for text in lines[: line - 1]) + column + mark

    def _characters(self, line: int, column: int) -> int:
        return len(self.data.split(b"\n")[line - 1][:column].decode(errors="replace"))


def static_claims(folder: Path) -> Iterator[tuple[ClaimFile, FunctionSource, ClaimMark]]:
    """Every claim written under a folder, in the order of files and lines, without importing anything."""
    for path in claim_files(folder):
        source = ClaimFile(path)
        for function in source.written:
            for mark in function.marks:
                yield source, function, mark


def _functions(tree: ast.Module) -> Iterator[FunctionSource]:
    yield from _walk(tree.body, "", _pytestmark(tree.body))


def _walk(
    body: Sequence[ast.stmt], prefix: str, outer: tuple[ast.Call, ...], hidden: int | None = None
) -> Iterator[FunctionSource]:
    last = {node.name: node.lineno for node in body if isinstance(node, _Named)}
    for node in body:
        hidden_by = last[node.name] if isinstance(node, _Named) and last[node.name] > node.lineno else hidden
        if isinstance(node, _Function):
            yield _function(node, prefix, (*_calls(node.decorator_list), *outer), hidden_by)
            yield from _walk(node.body, f"{prefix}{node.name}.<locals>.", outer, hidden_by)
        elif isinstance(node, ast.ClassDef):
            marks = (*_calls(node.decorator_list), *_pytestmark(node.body), *outer)
            yield from _walk(node.body, f"{prefix}{node.name}.", marks, hidden_by)
        else:
            for block in _blocks(node):
                yield from _walk(block, prefix, outer, hidden)


def _function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str, calls: tuple[ast.Call, ...], hidden_by: int | None
) -> FunctionSource:
    literal = _docstring(node)
    return FunctionSource(
        qualname=prefix + node.name,
        line=node.lineno,
        marks=_marks(calls),
        run=_run(calls),
        written=literal.value if literal is not None and isinstance(literal.value, str) else None,
        literal=literal,
        computed=any(_name(call) == "claim" and _literals(call) is None for call in calls),
        hidden_by=hidden_by,
    )


def _blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """Blocks of statements inside `if`, `with`, `try`, `for` and `match`."""
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
    for inner in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield inner.body


def _docstring(node: _Function) -> ast.Constant | None:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first.value
    return None


def _pytestmark(body: Sequence[ast.stmt]) -> tuple[ast.Call, ...]:
    found: list[ast.Call] = []
    for node in body:
        if _assigns_pytestmark(node):
            value = getattr(node, "value", None)
            found += _calls(value.elts if isinstance(value, ast.List | ast.Tuple) else [value] if value else [])
    return tuple(found)


def _assigns_pytestmark(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets)


def _calls(expressions: Sequence[ast.expr]) -> tuple[ast.Call, ...]:
    """Marker calls among decorators, and those inside `parametrize`."""
    return tuple(
        call
        for expression in expressions
        for call in ast.walk(expression)
        if isinstance(call, ast.Call) and _name(call) in ("claim", "registered")
    )


def _name(call: ast.Call) -> str:
    marker = call.func
    if not isinstance(marker, ast.Attribute):
        return ""
    owner = marker.value
    named = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return marker.attr if named == "mark" else ""


def _literals(call: ast.Call) -> tuple[list[object], dict[str, object]] | None:
    try:
        args = [ast.literal_eval(argument) for argument in call.args]
        return args, {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    except ValueError:
        return None  # computed at import: only collection knows it


def _marks(calls: Sequence[ast.Call]) -> tuple[ClaimMark, ...]:
    found = []
    for call in calls:
        literals = _literals(call) if _name(call) == "claim" else None
        if literals is not None:
            try:
                found.append(claim_mark(*literals))
            except ClaimError:
                continue  # collection reports it with its line
    return tuple(found)


def _run(calls: Sequence[ast.Call]) -> RunMark | None:
    for call in calls:
        literals = _literals(call) if _name(call) == "registered" else None
        if literals is not None:
            try:
                return run_mark(*literals)
            except ClaimError:
                return None  # collection reports it with its line
    return None

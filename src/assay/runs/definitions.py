"""What differs between two versions of a module, by the names of its top-level definitions.

Two versions are compared as the source digest sees them: comments, docstrings, layout and ``__version__`` are nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from assay.runs.source import is_idle, shape

_LONGEST_VALUE = 40  # characters of a constant's value that a sentence shows


class DefinitionChange(NamedTuple):
    """A definition that differs: its ``kind`` (function, class, constant, import, statement), name, and how."""

    kind: str
    name: str
    how: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.kind, self.name, self.how) if part and part != "import")


_Key = tuple[str, str]
"""Kind and name of a definition."""


class _Part(NamedTuple):
    kind: str
    name: str
    shape: str
    body: str
    value: str


def changed_definitions(before: bytes, after: bytes) -> list[DefinitionChange]:
    """Definitions that changed, are new, are gone or have another name; methods as ``Class.method``.

    Raises:
        SyntaxError: one of the two is no Python.
    """
    old, new = (_parts(ast.parse(text)) for text in (before, after))
    changes = [_changed(old[key], new[key]) for key in old if key in new and _shapes(old[key]) != _shapes(new[key])]
    gone, fresh = _without_members(old.keys() - new.keys(), old), _without_members(new.keys() - old.keys(), new)
    for part in gone:
        twin = next((one for one in fresh if (one.kind, one.body) == (part.kind, part.body) and part.body), None)
        if twin is not None:
            fresh.remove(twin)
        changes.append(DefinitionChange(part.kind, part.name, f"renamed to {twin.name}" if twin else "is gone"))
    changes += [DefinitionChange(part.kind, part.name, "is new") for part in fresh]
    if not changes and shape(ast.parse(before)) != shape(ast.parse(after)):
        changes.append(DefinitionChange("order", "", "of the statements changed"))
    return changes


def _without_members(keys: Set[_Key], parts: Mapping[_Key, list[_Part]]) -> list[_Part]:
    """The parts under some keys, members of a class that is itself among them left out."""
    classes = {name for kind, name in keys if kind == "class"}
    return [parts[key][0] for key in parts if key in keys and key[1].rpartition(".")[0] not in classes]


def _shapes(parts: list[_Part]) -> list[str]:
    return [part.shape for part in parts]


def _changed(old: list[_Part], new: list[_Part]) -> DefinitionChange:
    one, two = old[0], new[0]
    values = len(old) == len(new) == 1 and one.value and two.value and one.value != two.value
    if values and max(len(one.value), len(two.value)) <= _LONGEST_VALUE:
        return DefinitionChange(two.kind, two.name, f"{one.value} -> {two.value}")
    return DefinitionChange(two.kind, two.name, "changed")


def _parts(tree: ast.Module) -> dict[_Key, list[_Part]]:
    found: dict[_Key, list[_Part]] = {}
    for statement in tree.body:
        for part in _of(statement):
            found.setdefault((part.kind, part.name), []).append(part)
    return found


def _of(node: ast.stmt, owner: str = "") -> Iterator[_Part]:
    """The definition that a statement makes; a class gives its head and each of its members."""
    if is_idle(node):
        return
    if isinstance(node, ast.ClassDef):
        members = [part for statement in node.body for part in _of(statement, f"{owner}{node.name}.")]
        head = "".join(map(shape, (*node.bases, *node.keywords, *node.decorator_list)))
        yield _Part("class", owner + node.name, head, head + "".join(part.body for part in members), "")
        yield from members
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        whole = shape(node)
        yield _Part("function", owner + node.name, whole, whole.replace(f"name=str:{node.name!r}", "", 1), "")
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        name = ", ".join(map(ast.unparse, targets))
        value = ast.unparse(node.value) if node.value else ""
        yield _Part("constant", owner + name, shape(node), shape(node.value) if node.value else "", value)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield _Part("import", ast.unparse(node), shape(node), "", "")
    else:
        yield _Part("statement", _first_line(node, owner), shape(node), "", "")


def _first_line(node: ast.stmt, owner: str) -> str:
    return owner + repr(ast.unparse(node).splitlines()[0])

"""Which code a run depends on: a digest of every project module that its module reaches, read but never imported.

A digest is over the syntax tree without comments, docstrings, positions and ``__version__``, so formatting changes
nothing and a constant of a distant module does. Imports are followed wherever they stand; those for type checkers alone
are not, except where a package names there what it loads on demand and somebody asks for that name. Modules of the
record are left out: they cannot change a number.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from assay.errors import RecordError
from assay.runs.storage import digest, shown

_RECORD = ("assay.runs", "assay.ledger", "assay.report", "assay.cli", "assay.__main__", "assay.errors", "assay_pytest")
_FACE = "assay"
"""The package itself only names what is loaded on demand (a test holds that): its list changes no number."""
_INSTALLED = ("site-packages", "dist-packages", "__pypackages__")
_ENVIRONMENT = "pyvenv.cfg"
"""The file by which Python knows a virtual environment, whatever the folder's name."""
_COMPUTED = "?"
_IGNORED_FIELDS = {"kind", "type_comment", "ctx", "type_ignores"}


class _Module(NamedTuple):
    digest: str
    references: frozenset[str]
    on_demand: dict[str, str]
    computes: bool


_CACHE: dict[tuple[str, str], tuple[tuple[int, int], _Module]] = {}


def module_digests(module: str, repository: Path) -> dict[str, str]:
    """SHA-256 by module name of ``module`` and of every project module that it can reach, parent packages included.

    A project module is a file under ``repository`` or its ``src/``; virtual environments and installed packages are
    foreign. A module that is not there gives an error; one of the record, or foreign, is not listed.
    """
    root = repository.resolve()
    if _locate(module, root) is None:
        raise RecordError(f"source: the module {module} has no file under {root.name}/. Is it named as its file is?")
    found: dict[str, str] = {}
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        reference = waiting.pop()
        if reference in seen or _is_record(reference):
            continue
        seen.add(reference)
        for name, rest in _modules_of(reference, root):
            path = _locate(name, root)
            if path is None:
                continue
            content = _read(path, name)
            if rest and rest in content.on_demand:
                waiting.append(content.on_demand[rest])
            if name not in found and name != _FACE:
                found[name] = content.digest
                waiting += content.references
    return dict(sorted(found.items()))


def file_of(module: str, repository: Path) -> Path | None:
    """The file of the repository that holds the module, if there is one."""
    return _locate(module, repository.resolve())


def by_path(files: Iterable[Path | str], repository: Path) -> dict[str, str]:
    """SHA-256 of files of the repository by their path, with a ``/`` in it, which tells it from a module's name.

    A file that is not there is left out.
    """
    root = repository.resolve()
    relative = [(root / file).relative_to(root).as_posix() for file in files]
    names = [name if "/" in name else f"./{name}" for name in relative]
    found = {name: _locate(name, root) for name in names}
    return {name: _read(file, name).digest for name, file in found.items() if file is not None}


def is_project_file(file: Path, module: str, root: Path) -> bool:
    """Whether a loaded file under ``root`` is code that can change a number: not foreign, and not the record itself."""
    return not (is_foreign(file, root) or _is_record(module) or module == _FACE)


def computes_imports(modules: Iterable[str], repository: Path) -> bool:
    """Whether one of these modules, or files by their path, imports under a name that its text does not tell."""
    files = ((name, file_of(name, repository)) for name in modules)
    return any(_read(file, name).computes for name, file in files if file is not None)


def is_module(module: str, repository: Path) -> bool:
    """Whether a file of the repository holds the module."""
    return file_of(module, repository) is not None


def source_digest(module: str, repository: Path) -> str:
    """One SHA-256 over :func:`module_digests`."""
    return digest(module_digests(module, repository))


def possible_files(module: str) -> Iterator[str]:
    """Where the file of a module may lie, relative to the repository, in the order in which it is looked for."""
    if "/" in module:  # a path, by which a file is known that import statements do not lead to
        yield from [module.removeprefix("./")] if module.endswith(".py") else []
        return
    for place in _places(module):
        yield from (f"{place}/__init__.py", f"{place}.py")


def shape(node: ast.AST) -> str:
    """Text of a syntax tree without comments, docstrings, positions and ``__version__``: what a digest is over."""
    parts: list[str] = []
    _dump(node, parts)
    return "".join(parts)


def shape_digest(tree: ast.Module) -> str:
    """SHA-256 of the shape of a module: the digest that :func:`module_digests` gives for it."""
    return digest(shape(tree).encode(errors="surrogatepass"))


def is_foreign(file: Path, root: Path) -> bool:
    """Whether a file under ``root`` lies in a virtual environment or among installed packages."""
    place = str(root)
    for folder in file.parent.relative_to(root).parts:
        place = os.path.join(place, folder)
        if folder in _INSTALLED or os.path.isfile(os.path.join(place, _ENVIRONMENT)):
            return True
    return False


def _is_record(name: str) -> bool:
    return any(name == entry or name.startswith(f"{entry}.") for entry in _RECORD)


def _modules_of(reference: str, root: Path) -> Iterator[tuple[str, str]]:
    """Modules that a dotted reference loads, each with the attribute after its name: ``a.b.f`` loads a and a.b."""
    parts = reference.split(".")
    for length in range(1, len(parts) + 1):
        name = ".".join(parts[:length])
        if _locate(name, root) is None and not _is_folder(name, root):
            return
        yield name, parts[length] if length < len(parts) else ""


def _places(name: str) -> Iterator[str]:
    parts = name.split(".")
    if all(parts):
        yield from ("/".join(parts), "/".join(("src", *parts)))


def _locate(name: str, root: Path) -> Path | None:
    files = (root / file for file in possible_files(name))
    return next((file for file in files if file.is_file() and not is_foreign(file, root)), None)


def _is_folder(name: str, root: Path) -> bool:
    return any((root / place).is_dir() for place in _places(name))


def _read(path: Path, name: str) -> _Module:
    try:
        state = path.stat()
        stamp = (state.st_mtime_ns, state.st_size)
        key = (str(path), name)
        if key not in _CACHE or _CACHE[key][0] != stamp:
            tree = ast.parse(path.read_bytes(), filename=path.name)
            _CACHE[key] = (stamp, _digested(tree, name, is_package=path.name == "__init__.py"))
    except OSError as cause:
        raise RecordError(f"source: {shown(path)} cannot be read ({cause.strerror}).") from cause
    except (SyntaxError, ValueError) as cause:
        raise RecordError(f"source: {shown(path)} is not valid Python ({cause}). Repair it first.") from cause
    return _CACHE[key][1]


def _digested(tree: ast.Module, name: str, *, is_package: bool) -> _Module:
    package = name if is_package else name.rpartition(".")[0]
    bound: dict[str, str] = {}
    typing_only: dict[str, str] = {}
    references: set[str] = set()
    chains: list[ast.Attribute] = []
    _collect(tree, package, bound, typing_only, references, chains)
    computes = _COMPUTED in references
    references -= {_COMPUTED}
    references |= {bound[head] + rest for head, rest in map(_chain, chains) if head in bound}
    return _Module(shape_digest(tree), frozenset(references), typing_only, computes)


def _collect(
    tree: ast.AST,
    package: str,
    bound: dict[str, str],
    typing_only: dict[str, str],
    references: set[str],
    chains: list[ast.Attribute],
) -> None:
    """Sort what a tree imports: names bound to references, the same for type checkers alone, attribute chains."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, typing = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            for local, reference, loaded in _imported(node, package):
                (typing_only if typing else bound)[local] = reference
                references.update(() if typing else (loaded,))
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            waiting += [(child, True) for child in node.body] + [(child, typing) for child in node.orelse]
        else:
            if isinstance(node, ast.Attribute):
                chains.append(node)
            elif isinstance(node, ast.Call):
                references.update(_imported_by_call(node, package))
            waiting += [(child, typing) for child in ast.iter_child_nodes(node)]


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str, str]]:
    """Local name, what it refers to, and what is loaded, for each name that an import statement binds."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (
                alias.asname or alias.name.split(".")[0],
                alias.name if alias.asname else alias.name.split(".")[0],
                alias.name,
            )
        return
    base = node.module or ""
    if node.level:
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
    for alias in node.names:
        reference = base if alias.name == "*" else f"{base}.{alias.name}"
        yield alias.asname or alias.name, reference, reference


def _imported_by_call(node: ast.Call, package: str) -> Iterator[str]:
    """Module of ``import_module("a.b")`` and ``__import__("a.b")``; ``_COMPUTED`` if its name is not written out."""
    function = node.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    if name in ("import_module", "__import__"):
        target = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if isinstance(target, str):
            yield target if not target.startswith(".") else package + "." + target.lstrip(".")
        else:
            yield _COMPUTED


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _chain(node: ast.Attribute) -> tuple[str, str]:
    rest = ""
    here: ast.expr = node
    while isinstance(here, ast.Attribute):
        rest = f".{here.attr}{rest}"
        here = here.value
    return (here.id, rest) if isinstance(here, ast.Name) else ("", "")


def _dump(node: object, parts: list[str]) -> None:
    """Text of a syntax tree that is the same on every Python: empty fields, positions and bare words are left out."""
    if isinstance(node, ast.AST):
        parts.append(f"{type(node).__name__}(")
        for field in node._fields:
            value = getattr(node, field, None)
            if field == "values" and isinstance(node, ast.JoinedStr):
                value = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
            if field not in _IGNORED_FIELDS and value is not None and value != []:
                parts.append(f"{field}=")
                _dump(value, parts)
        parts.append(")")
    elif isinstance(node, list):
        parts.append("[")
        for entry in node:
            if not is_idle(entry):
                _dump(entry, parts)
                parts.append(",")
        parts.append("]")
    else:
        parts.append(f"{type(node).__name__}:{hex(node) if type(node) is int else repr(node)}")


def is_idle(node: object) -> bool:
    """Whether a statement can change no number: a docstring or other bare text, or the version of a package."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id == "__version__" and isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

"""Experiments: functions of a configuration and a run, found by name in the folder ``experiments/`` of a repository.

``merging.transport`` is the function decorated ``@experiment("merging.transport", version=1)`` in
``experiments/merging/transport.py``. Listing them reads sources and imports nothing; only ``find`` imports, and
only the module that was asked for.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.errors import ConfigError
from assay.runs.configuration import hints_of, nearest
from assay.runs.file_names import is_device
from assay.runs.preparing import Preparing

if TYPE_CHECKING:
    from assay.runs.recorder import Run

TIERS = ("tiny", "quick", "small", "open", "full", "confirmatory")
"""Names a tier may have: tests, minutes on two cores, models trained here, open weights, the full rosters, and what a
study was frozen to run once."""

DEFAULT_TAG = "default"
"""Tag of the one configuration of an experiment without tiers: the defaults of its dataclass."""

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


class Listed(NamedTuple):
    """An experiment as its source shows it; ``problem`` is empty, or says why it cannot be run."""

    name: str
    path: Path
    problem: str


class Experiment:
    """A named, versioned function ``(config, run) -> None`` with its tiers; calling it calls the function."""

    def __init__(
        self,
        name: str,
        function: Callable[[Any, Run], None],
        *,
        version: int,
        tiers: Mapping[str, Callable[[], Any]],
        data: Callable[[Any], Mapping[str, str]] | None,
    ) -> None:
        self.name = name
        self.function = function
        self.version = version
        self.tiers = dict(tiers)
        self.data = data
        functools.update_wrapper(self, function)

    def __call__(self, config: Any, run: Run) -> None:
        """Run the experiment's function on a configuration, recording into ``run``."""
        self.function(config, run)

    def __repr__(self) -> str:
        return f"<experiment {self.name} version {self.version}, tiers: {', '.join(self.tiers) or 'none'}>"

    @property
    def config_type(self) -> type[Any]:
        """The frozen dataclass that annotates the function's first parameter."""
        parameters = list(inspect.signature(self.function).parameters.values())
        found = None
        if len(parameters) == 2 and parameters[0].annotation is not inspect.Parameter.empty:
            first = {"__module__": self.function.__module__, "__annotations__": {"config": parameters[0].annotation}}
            found = hints_of(type(self.function.__name__, (), first))["config"]
        if not isinstance(found, type):
            raise ConfigError(
                f"experiment {self.name}: write `def {self.function.__name__}(config: Settings, run: Run) -> None` "
                "with your frozen dataclass as the annotation of the first parameter."
            )
        return found

    def configuration(self, tier: str | None) -> Any:
        """The configuration of a tier; ``None`` stands for the dataclass's defaults, or the only tier there is.

        Raises:
            ConfigError: the tier is unknown or has to be chosen (the tiers are listed), or returns something else.
        """
        tag = self.tag(tier)
        if tag == DEFAULT_TAG:
            fields = dataclasses.fields(self.config_type) if dataclasses.is_dataclass(self.config_type) else ()
            bare = [repr(x.name) for x in fields if x.init and x.default is x.default_factory is dataclasses.MISSING]
            if bare:
                raise ConfigError(
                    f"experiment {self.name} has no tiers, so each field needs a default: {', '.join(bare)} has none."
                )
            with Preparing(f"experiment {self.name}, its defaults", trace=False):
                return self.config_type()
        with Preparing(f"experiment {self.name}, tier {tag!r}"):
            config = self.tiers[tag]()
        if type(config) is not self.config_type:
            raise ConfigError(
                f"experiment {self.name}, tier {tag!r}: the tier's function must return "
                f"{self.config_type.__qualname__}, it returned {config!r}."
            )
        return config

    def tag(self, tier: str | None) -> str:
        """The tag of a run at ``tier``: the tier's name, or ``default`` for an experiment without tiers."""
        if not self.tiers:
            if tier not in (None, DEFAULT_TAG):
                raise ConfigError(f"experiment {self.name} has no tier {tier!r}: it has no tiers; leave out --tier.")
            return DEFAULT_TAG
        if tier is None:
            if len(self.tiers) > 1:
                raise ConfigError(f"experiment {self.name}: choose a tier with --tier: {', '.join(self.tiers)}.")
            return next(iter(self.tiers))
        if tier not in self.tiers:
            raise ConfigError(f"experiment {self.name} has no tier {tier!r}.{nearest(tier, list(self.tiers))}")
        return tier


def experiment(
    name: str,
    *,
    version: int,
    tiers: Mapping[str, Callable[[], Any]] | None = None,
    data: Callable[[Any], Mapping[str, str]] | None = None,
) -> Callable[[Callable[[Any, Run], None]], Experiment]:
    """Make a function ``(config, run) -> None`` the experiment ``name``.

    ``version`` is raised when the meaning of its numbers changes. ``tiers`` maps tier names to functions of no argument
    that return the frozen dataclass. ``data(config)`` gives the SHA-256 of each data set by name, known before the run;
    they enter the run id.

    Raises:
        ConfigError: the name, the version or a tier's name is not allowed.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"experiment {name!r}: a name is lower-case words joined by dots, such as merging.transport.")
    if device := next(filter(is_device, name.split(".")), ""):
        raise ConfigError(f"experiment {name!r}: no file can be called {device!r} on Windows. Choose another name.")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ConfigError(f"experiment {name}: version is a whole number from 1, got {version!r}.")
    for tier, make in (tiers or {}).items():
        if tier not in TIERS:
            raise ConfigError(f"experiment {name}: {tier!r} is no tier's name. A tier is one of {', '.join(TIERS)}.")
        if not callable(make):
            raise ConfigError(f"experiment {name}, tier {tier!r}: wanted a function of no argument, got {make!r}.")

    def decorate(function: Callable[[Any, Run], None]) -> Experiment:
        return Experiment(name, function, version=version, tiers=tiers or {}, data=data)

    return decorate


def listing(repository: Path) -> list[Listed]:
    """Every experiment under ``experiments/``, sorted by name; reads sources, imports nothing."""
    root = repository / "experiments"
    found: list[Listed] = []
    for path in sorted(root.rglob("*.py")):
        expected = ".".join(path.relative_to(root).with_suffix("").parts)
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            found.append(Listed(expected, path, f"does not parse: {error}"))
            continue
        found += [Listed(name, path, _mismatch(name, expected, path)) for name, _ in _decorated(tree)]
    return sorted(found)


def study(name: str, repository: Path) -> list[str]:
    """Names of the experiments that ``name`` stands for: itself, or those of the study (the folder) of that name.

    Raises:
        ConfigError: neither an experiment nor a study has that name (those that exist are listed), or one is broken.
    """
    known = listing(repository)
    chosen = [one for one in known if one.name == name] or [one for one in known if one.name.startswith(f"{name}.")]
    if not chosen:
        folder = f"{repository.name}/experiments"
        raise ConfigError(f"No experiment {name!r} in {folder}.{nearest(name, [one.name for one in known])}")
    for one in chosen:
        if one.problem:
            raise ConfigError(f"experiment {one.name}: {one.path.relative_to(repository)} {one.problem}.")
    return [one.name for one in chosen]


def find(name: str, repository: Path) -> Experiment:
    """Import the module of experiment ``name`` and return the experiment; nothing else of the repository is imported.

    Raises:
        ConfigError: unknown name, a module or function without a docstring, a name that does not match its file, or a
            package the module needs that is not installed, another package ``experiments`` that goes before this
            one, or the module raises while it is imported.
    """
    if study(name, repository) != [name]:
        raise ConfigError(f"{name!r} is a study: name one of {', '.join(study(name, repository))}.")
    path = repository / "experiments" / Path(*name.split(".")).with_suffix(".py")
    description(name, repository)
    if sys.path[:1] != [str(repository)]:
        sys.path.insert(0, str(repository))
    _refuse_other_package(name, repository)
    module = _imported(f"experiments.{name}", name)
    origin = Path(str(module.__file__)).resolve()
    if origin != path.resolve():
        raise ConfigError(
            f"experiment {name}: the module experiments.{name} was imported from {origin}, not from {path}. "
            "Run each repository in a Python process of its own."
        )
    for value in vars(module).values():
        if isinstance(value, Experiment) and value.name == name:
            return value
    raise ConfigError(f"experiment {name}: importing {path} left no experiment of that name at module level.")


def description(name: str, repository: Path) -> str:
    """First line of the docstring of the experiment's function, read from its source (also under ``python -OO``).

    Raises:
        ConfigError: the module or the function has no docstring.
    """
    path = repository / "experiments" / Path(*name.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_bytes())
    function = next(node for found, node in _decorated(tree) if found == name)
    for what, node in ((f"module {path.relative_to(repository)}", tree), (f"function {function.name}", function)):
        if not ast.get_docstring(node):
            raise ConfigError(
                f"experiment {name}: the {what} has no docstring. Say there in one sentence what it finds out."
            )
    return (ast.get_docstring(function) or "").splitlines()[0]


def _decorated(tree: ast.Module) -> list[tuple[str, ast.FunctionDef]]:
    found = []
    for node in tree.body:
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else []:
            if not (isinstance(mark, ast.Call) and mark.args and isinstance(mark.args[0], ast.Constant)):
                continue
            called = mark.func.attr if isinstance(mark.func, ast.Attribute) else getattr(mark.func, "id", "")
            if called == "experiment" and isinstance(node, ast.FunctionDef):
                found.append((str(mark.args[0].value), node))
    return found


def _mismatch(name: str, expected: str, path: Path) -> str:
    if name == expected:
        return ""
    return f"declares {name!r}; by its place its name is {expected!r}: rename one of the two"


def _refuse_other_package(name: str, repository: Path) -> None:
    """Refuse a package ``experiments`` with an __init__.py elsewhere: Python takes it rather than a plain folder."""
    importlib.invalidate_caches()
    spec = importlib.util.find_spec("experiments")
    if spec is None or spec.origin is None:
        return
    other, own = Path(spec.origin).resolve(), (repository / "experiments").resolve()
    if other.parent != own:
        entry = other.parent.parent if other.name == "__init__.py" else other.parent
        raise ConfigError(
            f"experiment {name}: Python imports the package experiments from {other}, not from {own}, which has no "
            f"__init__.py and comes after it. Take {entry} off PYTHONPATH, or that package out of this environment. If "
            "it has to stay: an empty experiments/__init__.py here goes first, and makes the registered runs stale. "
            "Nothing was run."
        )


def _imported(module: str, name: str) -> Any:
    importlib.invalidate_caches()
    with Preparing(f"experiment {name} cannot be imported"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name and error.name.split(".")[0] in ("experiments", "assay"):
                raise
            raise ConfigError(
                f"experiment {name} needs the package {error.name!r}, which is not installed here. "
                "Install it there where the run is started (torch, pandas and the like come with the extra assay[lab])."
            ) from error

"""Reading the YAML of a merge, in the format that mergekit users have: every key known, nothing passed over."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from assay.errors import ConfigError

__all__ = ["DTYPES", "Recipe", "Slice", "Source", "near", "parse_recipe", "read_recipe"]

DTYPES = ("float64", "float32", "bfloat16", "float16")
_TOP = (
    "merge_method",
    "models",
    "slices",
    "modules",
    "base_model",
    "parameters",
    "dtype",
    "out_dtype",
    "tokenizer_source",
    "tokenizer",
    "chat_template",
)
Settings = Mapping[str, Any]


@final
@dataclass(frozen=True)
class Source:
    """One model in a slice, with the layers it gives (None: all) and what holds for it alone."""

    model: str
    layers: tuple[int, int] | None = None
    parameters: Settings = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Slice:
    """A run of layers of the result and the models that it is merged from."""

    sources: tuple[Source, ...]
    base_model: str | None = None
    parameters: Settings = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Recipe:
    """A whole merge. ``shared`` are the parameters of the module and of the top level, the nearer first.

    ``stacked`` says that the recipe names layers (``slices``), so that models may differ in depth.
    """

    method: str
    slices: tuple[Slice, ...]
    base_model: str | None = None
    shared: tuple[Settings, ...] = ()
    dtype: str | None = None
    out_dtype: str | None = None
    tokenizer_source: str | None = None
    stacked: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is read, the base first, then in the order of the recipe."""
        named = [self.base_model, *(one.base_model for one in self.slices)]
        named += [source.model for one in self.slices for source in one.sources]
        return tuple(dict.fromkeys(name for name in named if name is not None))


def read_recipe(path: Path, methods: Sequence[str]) -> Recipe:
    """The recipe of a YAML file.

    Raises:
        ConfigError: it cannot be read, or as `parse_recipe`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"merge: the recipe {path} cannot be read ({error}).") from error
    return parse_recipe(text, methods, where=str(path))


def parse_recipe(text: str, methods: Sequence[str], *, where: str = "recipe") -> Recipe:
    """The recipe that YAML text spells; ``methods`` are the names it may use.

    Raises:
        ConfigError: not YAML, a key twice, a key or method that is not known (the nearest is suggested), a value of the
            wrong kind, none or several of models, slices and modules, or what assay does not do (adapters, tokens).
    """
    top = _mapping(_loaded(text, where), _TOP, where)
    method = top.get("merge_method")
    if not isinstance(method, str):
        raise ConfigError(f"{where}: merge_method is missing. {near('', methods)}")
    if method not in methods:
        raise ConfigError(f"{where}: there is no merge_method {method!r}.{near(method, methods)}")
    _refused(top, where)
    body, module = _body(top, where)
    for key in ("dtype", "out_dtype"):
        if top.get(key) is not None and top[key] not in DTYPES:
            raise ConfigError(f"{where}: {key} is {top[key]!r}.{near(str(top[key]), DTYPES)}")
    return Recipe(
        method=method,
        slices=tuple(body),
        base_model=_model(top.get("base_model"), f"{where}: base_model"),
        shared=(*([_parameters(module, f"{where}: module")] if module else []), _parameters(top, where)),
        dtype=top.get("dtype"),
        out_dtype=top.get("out_dtype"),
        tokenizer_source=_tokenizer(top, where),
        stacked=bool((module or top).get("slices")),
    )


def near(name: str, known: Sequence[str]) -> str:
    """The nearest known name, if there is a near one, and all of them: the end of a message."""
    found = difflib.get_close_matches(name.replace("-", "_"), known, n=1)
    return (f" Did you mean {found[0]!r}?" if found else "") + f" Known: {', '.join(known)}."


def _body(top: Mapping[str, Any], where: str) -> tuple[list[Slice], Mapping[str, Any] | None]:
    given = [key for key in ("models", "slices", "modules") if top.get(key)]
    if len(given) != 1:
        raise ConfigError(f"{where}: give exactly one of models, slices and modules; it has {given or 'none'}.")
    if given == ["models"]:
        return [_of_models(top["models"], where)], None
    if given == ["slices"]:
        return _of_slices(top["slices"], where), None
    modules = top["modules"]
    if not isinstance(modules, dict) or len(modules) != 1:
        raise ConfigError(f"{where}: modules names {modules!r}; only models of one module can be merged.")
    name, content = next(iter(modules.items()))
    inside = f"{where}: module {name}"
    module = _mapping(content, ("models", "slices", "parameters"), inside)
    if bool(module.get("models")) == bool(module.get("slices")):
        raise ConfigError(f"{inside}: give exactly one of models and slices.")
    if module.get("models"):
        return [_of_models(module["models"], inside)], module
    return _of_slices(module["slices"], inside), module


def _of_models(models: Any, where: str) -> Slice:
    sources = []
    for place, one in enumerate(_items(models, f"{where}: models")):
        here = f"{where}: models[{place}]"
        content = _mapping(one, ("model", "parameters"), here)
        sources.append(Source(_needed(content, here), None, _parameters(content, here)))
    return Slice(tuple(sources))


def _of_slices(slices: Any, where: str) -> list[Slice]:
    found = []
    for place, one in enumerate(_items(slices, f"{where}: slices")):
        here = f"{where}: slices[{place}]"
        content = _mapping(one, ("sources", "base_model", "parameters"), here)
        sources = []
        for number, each in enumerate(_items(content.get("sources"), f"{here}: sources")):
            there = f"{here}: sources[{number}]"
            source = _mapping(each, ("model", "layer_range", "parameters"), there)
            layers = _layers(source.get("layer_range"), there)
            sources.append(Source(_needed(source, there), layers, _parameters(source, there)))
        if len({one.layers[1] - one.layers[0] for one in sources if one.layers}) > 1:
            raise ConfigError(f"{here}: its sources give different numbers of layers: {[s.layers for s in sources]}.")
        base = _model(content.get("base_model"), f"{here}: base_model")
        found.append(Slice(tuple(sources), base, _parameters(content, here)))
    return found


def _layers(given: Any, where: str) -> tuple[int, int]:
    whole = isinstance(given, list) and len(given) == 2 and all(type(one) is int for one in given)
    if not whole or not 0 <= given[0] < given[1]:
        raise ConfigError(f"{where}: layer_range is {given!r}; give [first, one after the last].")
    return given[0], given[1]


def _refused(top: Mapping[str, Any], where: str) -> None:
    if top.get("chat_template") is not None:
        raise ConfigError(
            f"{where}: chat_template is not rewritten by a merge; that of the tokenizer's model is kept. Leave it out."
        )
    if top.get("tokenizer") and top.get("tokenizer_source"):
        raise ConfigError(f"{where}: give tokenizer or tokenizer_source, not both.")


def _tokenizer(top: Mapping[str, Any], where: str) -> str | None:
    if not top.get("tokenizer"):
        return _model(top.get("tokenizer_source"), f"{where}: tokenizer_source")
    content = _mapping(top["tokenizer"], ("source", "tokens", "pad_to_multiple_of"), f"{where}: tokenizer")
    for key in ("tokens", "pad_to_multiple_of"):
        if content.get(key):
            raise ConfigError(
                f"{where}: tokenizer.{key} would make new rows of the embedding, which a merge here never does. "
                "Leave it out and resize the merged model."
            )
    return _model(content.get("source"), f"{where}: tokenizer.source")


def _parameters(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    given = content.get("parameters")
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise ConfigError(f"{where}: parameters is {given!r}; give names and values.")
    return given


def _needed(content: Mapping[str, Any], where: str) -> str:
    model = _model(content.get("model"), f"{where}: model")
    if model is None:
        raise ConfigError(f"{where}: it names no model.")
    return model


def _model(given: Any, where: str) -> str | None:
    if given is None:
        return None
    if isinstance(given, dict):
        given = given["model"].get("path") if isinstance(given.get("model"), dict) else given.get("path")
    if not isinstance(given, str) or not given:
        raise ConfigError(f"{where} is {given!r}; give the folder of a checkpoint.")
    if "+" in given and not Path(given).exists():
        raise ConfigError(f"{where} is {given!r}: an adapter cannot be merged here. Merge it into its model first.")
    return given


def _items(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise ConfigError(f"{where} is {given!r}; give a list of at least one.")
    return given


def _mapping(given: Any, known: Sequence[str], where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ConfigError(f"{where}: names and values are needed, got {given!r}.")
    for key in given:
        if key not in known:
            raise ConfigError(f"{where}: there is no key {key!r}.{near(str(key), known)}")
    return given


def _loaded(text: str, where: str) -> Any:
    import yaml

    try:
        _once(yaml.compose(text, Loader=yaml.SafeLoader), where)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: not YAML ({error}).") from error


def _once(node: Any, where: str) -> None:
    """Refuse a key that a mapping has twice: YAML's reader would keep the last."""
    if isinstance(getattr(node, "value", None), list):
        pairs = [pair for pair in node.value if isinstance(pair, tuple)]
        keys = [key.value for key, _ in pairs if isinstance(key.value, str)]
        if twice := [key for place, key in enumerate(keys) if key in keys[:place]]:
            raise ConfigError(f"{where}: the key {twice[0]!r} is there twice.")
        for child in [value for _, value in pairs] or node.value:
            _once(child, where)

"""The plan of a merge: every tensor of the result, what it is made of and how, worked out from headers alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from assay.choices import checked_choice
from assay.errors import ConfigError, ModelError
from assay.merge.checkpoint import FLOATS, HEADS, Checkpoint, Slot, is_embedding
from assay.merge.compatibility import Vocabulary, checked_compatible
from assay.merge.operator import OPERATORS, AbstractMergeOperator
from assay.merge.recipe import Recipe, Slice, Source
from assay.merge.settings import checked_names, options_for, per_input_for

__all__ = ["Made", "Part", "Plan", "planned"]

_LAYER = re.compile(r"^(.*?\b(?:layers|h|blocks)\.)(\d+)(\..*)$")
_SAFETENSORS = {name: key for key, name in FLOATS.items()}
_WIDTH = ("F16", "BF16", "F32", "F64")


class Part(NamedTuple):
    """One tensor of one model that enters."""

    model: str
    name: str
    slot: Slot


@final
@dataclass(frozen=True)
class Made:
    """One tensor of the result. ``operator`` None copies the one part, byte for byte."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    operator: AbstractMergeOperator | None
    inputs: tuple[Part, ...]
    base: Part | None
    per_input: Mapping[str, tuple[float, ...]]


@final
@dataclass(frozen=True)
class Plan:
    """Every tensor of the result by name, the configuration to write, and what to say about the merge.

    ``first`` is the model whose configuration, and tokenizer unless ``tokenizer`` names another, the result takes over.
    """

    made: tuple[Made, ...]
    config: dict[str, Any]
    first: Checkpoint
    tokenizer: Checkpoint
    notes: tuple[str, ...]


def planned(recipe: Recipe, checkpoints: Mapping[str, Checkpoint], *, vocabulary: Vocabulary = "refuse") -> Plan:
    """The plan of ``recipe`` over opened checkpoints, every parameter of every tensor checked.

    Raises:
        ConfigError: another vocabulary, parameters that the method does not have or that no tensor can be merged
            with, layers that a model does not have, or a base that is missing.
        ModelError: models that do not fit each other: configuration, vocabulary, names or shapes of tensors.
    """
    checked_choice(vocabulary, Vocabulary, what="merge: vocabulary", error=ConfigError)
    _checked_parameters(recipe)
    models = [checkpoints[name] for name in recipe.models]
    notes = checked_compatible(models, vocabulary=vocabulary, stacked=recipe.stacked)
    sources = [_sources(recipe, one, checkpoints) for one in recipe.slices]
    made: list[Made] = []
    layer = 0
    for one, parts in zip(recipe.slices, sources, strict=True):
        depth = _depth(parts, checkpoints)
        for offset in range(depth):
            t = offset / (depth - 1) if depth > 1 else 1.0
            made += _layer(recipe, one, parts, checkpoints, layer=layer, offset=offset, t=t)
            layer += 1
    made += _outside(recipe, sources, checkpoints, vocabulary=vocabulary)
    first = models[0]
    config = _config(recipe, first, sources, checkpoints, made)
    tokenizer = _tokenizer(recipe, first, checkpoints)
    return Plan(tuple(sorted(made, key=lambda one: one.name)), config, first, tokenizer, tuple(notes))


def _checked_parameters(recipe: Recipe) -> None:
    operator = OPERATORS[recipe.method]
    for settings in recipe.shared:
        checked_names(operator, settings, "recipe", of_input=False)
    for place, one in enumerate(recipe.slices):
        checked_names(operator, one.parameters, f"slice {place}", of_input=False)
        for source in one.sources:
            checked_names(operator, source.parameters, f"model {source.model}", of_input=True)
            if source.parameters and source.model == _base_of(recipe, one) and operator.base != "ignored":
                raise ConfigError(
                    f"model {source.model}: it is the base of {operator.name} and has no parameters of its own, but "
                    f"the recipe gives it {', '.join(source.parameters)}. Remove them."
                )


def _base_of(recipe: Recipe, one: Slice) -> str | None:
    return one.base_model or recipe.base_model


def _sources(recipe: Recipe, one: Slice, checkpoints: Mapping[str, Checkpoint]) -> list[Source]:
    """The sources of a slice with the base among them, if the method uses one."""
    base, needed = _base_of(recipe, one), OPERATORS[recipe.method].base
    sources = list(one.sources)
    if needed == "required" and base is None:
        raise ConfigError(f"recipe: {recipe.method} needs a base_model.")
    if base is not None and needed != "ignored" and base not in [source.model for source in sources]:
        if recipe.stacked:
            raise ConfigError(
                f"recipe: the base {base} must be among the sources of every slice, with its layer_range."
            )
        sources.append(Source(base))
    for source in sources:
        n_layers = checkpoints[source.model].n_layers
        if source.layers is not None and source.layers[1] > n_layers:
            raise ConfigError(
                f"recipe: layer_range {list(source.layers)} of {source.model}, which has {n_layers} layers."
            )
    return sources


def _depth(sources: Sequence[Source], checkpoints: Mapping[str, Checkpoint]) -> int:
    first = sources[0]
    return first.layers[1] - first.layers[0] if first.layers else checkpoints[first.model].n_layers


def _layer(
    recipe: Recipe,
    one: Slice,
    sources: Sequence[Source],
    checkpoints: Mapping[str, Checkpoint],
    *,
    layer: int,
    offset: int,
    t: float,
) -> list[Made]:
    by_source = []
    for source in sources:
        number = (source.layers[0] if source.layers else 0) + offset
        names = {}
        for name in checkpoints[source.model].tensors:
            match = _LAYER.match(name)
            if match and int(match.group(2)) == number:
                names[f"{match.group(1)}{layer}{match.group(3)}"] = name
        by_source.append(names)
    _same_names(by_source, sources)
    return [
        _made(recipe, one, sources, checkpoints, name=name, names=[names[name] for names in by_source], t=t)
        for name in by_source[0]
    ]


def _outside(
    recipe: Recipe,
    sources: Sequence[Sequence[Source]],
    checkpoints: Mapping[str, Checkpoint],
    *,
    vocabulary: Vocabulary,
) -> list[Made]:
    """Tensors of no layer: the embedding by the first slice, the others by the last; gradients at their start."""
    made = []
    for place, before in ((0, True), (-1, False)):
        by_source = []
        for source in sources[place]:
            names = [name for name in checkpoints[source.model].tensors if not _LAYER.match(name)]
            by_source.append({name: name for name in names if is_embedding(name) == before})
        _same_names(by_source, sources[place])
        for name in by_source[0]:
            if vocabulary == "exclude" and (before or name in HEADS):
                model = checkpoints[recipe.models[0]]
                slot = model.tensors[name]
                made.append(Made(name, slot.dtype, slot.shape, None, (Part(model.name, name, slot),), None, {}))
                continue
            names_in = [name] * len(by_source)
            made.append(
                _made(recipe, recipe.slices[place], sources[place], checkpoints, name=name, names=names_in, t=0.0)
            )
    return made


def _same_names(by_source: Sequence[Mapping[str, str]], sources: Sequence[Source]) -> None:
    for names, source in zip(by_source, sources, strict=True):
        if odd := sorted(set(names) ^ set(by_source[0])):
            has, lacks = (source, sources[0]) if odd[0] in names else (sources[0], source)
            raise ModelError(
                f"merge: {has.model!r} has a tensor {odd[0]!r} and {lacks.model!r} has none ({len(odd)} such tensors). "
                "No tensor is made up: merge models of one architecture."
            )


def _made(
    recipe: Recipe,
    one: Slice,
    sources: Sequence[Source],
    checkpoints: Mapping[str, Checkpoint],
    *,
    name: str,
    names: Sequence[str],
    t: float,
) -> Made:
    kind = OPERATORS[recipe.method]
    parts = [
        Part(source.model, given, checkpoints[source.model].tensors[given])
        for source, given in zip(sources, names, strict=True)
    ]
    if len({part.slot.shape for part in parts}) > 1:
        shapes = ", ".join(f"{part.slot.shape} in {part.model!r}" for part in parts)
        raise ModelError(f"merge: tensor {name!r} has shapes {shapes}. Merge models of one shape.")
    shared = (one.parameters, *recipe.shared)
    base = None if kind.base == "ignored" else _base_of(recipe, one)
    inputs = [place for place, source in enumerate(sources) if source.model != base]
    integers = [part for part in parts if part.slot.dtype not in FLOATS]
    if integers:
        return Made(name, parts[0].slot.dtype, parts[0].slot.shape, None, tuple(parts), None, {})
    operator = options_for(kind, shared, name=name, t=t, where="recipe")
    given = [
        per_input_for(
            kind, (sources[place].parameters, *shared), name=names[place], t=t, where=f"model {sources[place].model}"
        )
        for place in inputs
    ]
    per_input = operator.coefficients(len(inputs), {key: tuple(each[key] for each in given) for key in kind.per_input})
    base_part = next((part for part in parts if part.model == base), None)
    return Made(
        name,
        _dtype(recipe, parts),
        parts[0].slot.shape,
        operator,
        tuple(parts[i] for i in inputs),
        base_part,
        per_input,
    )


def _dtype(recipe: Recipe, parts: Sequence[Part]) -> str:
    chosen = recipe.out_dtype or recipe.dtype
    if chosen is not None:
        return _SAFETENSORS[chosen]
    found = {part.slot.dtype for part in parts}
    return "F32" if found == {"F16", "BF16"} else max(found, key=_WIDTH.index)


def _config(
    recipe: Recipe,
    first: Checkpoint,
    sources: Sequence[Sequence[Source]],
    checkpoints: Mapping[str, Checkpoint],
    made: Sequence[Made],
) -> dict[str, Any]:
    config = dict(first.config)
    stored = {FLOATS[one.dtype] for one in made if one.dtype in FLOATS}
    for key in ("dtype", "torch_dtype"):
        if key in config and len(stored) == 1:
            config[key] = next(iter(stored))
    if recipe.stacked:
        layers = [(one[0].model, i) for one in sources if one[0].layers for i in range(*one[0].layers)]
        config["num_hidden_layers"] = len(layers)
        if "layer_types" in config:
            config["layer_types"] = [checkpoints[model].config["layer_types"][i] for model, i in layers]
    return config


def _tokenizer(recipe: Recipe, first: Checkpoint, checkpoints: Mapping[str, Checkpoint]) -> Checkpoint:
    chosen = recipe.tokenizer_source
    if chosen in (None, "union"):
        return first
    if chosen == "base":
        if recipe.base_model is None:
            raise ConfigError("recipe: tokenizer_source is base, and there is no base_model.")
        return checkpoints[recipe.base_model]
    if chosen not in checkpoints:
        raise ConfigError(f"recipe: tokenizer_source {chosen!r} is none of the models: {', '.join(checkpoints)}.")
    return checkpoints[chosen]

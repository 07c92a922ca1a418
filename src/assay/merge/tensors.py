"""Merging one tensor: inputs checked, computed in float32 or float64, cast once at the end with its error measured."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from assay.errors import ConfigError, DataError, ShapeError
from assay.merge.operator import AbstractMergeOperator, TensorGroup

__all__ = ["Merged", "all_finite", "merge_state_dicts", "merge_tensor", "promoted"]


class Merged(NamedTuple):
    """A merged tensor. ``rounding`` is the largest absolute error of the cast to its type; 0 where there was none."""

    tensor: Tensor
    notes: tuple[str, ...]
    rounding: float


def merge_tensor(operator: AbstractMergeOperator, group: TensorGroup, *, dtype: torch.dtype | None = None) -> Merged:
    """One tensor of several, in ``dtype`` or else in the type that holds all inputs' types.

    All arithmetic is in float32 (float64 if an input or ``dtype`` is), whatever is stored; one cast ends it. Gradients
    are not tracked.

    Raises:
        ShapeError: inputs of different shapes.
        ConfigError: no base, a wrong number of inputs, or numbers that the operator refuses.
        DataError: NaN or infinity in an input (named), integers, or a result beyond the range of the stored type.
    """
    given = _given(operator, group)
    out = dtype or functools.reduce(torch.promote_types, (tensor.dtype for tensor in given.values()))
    compute = torch.float64 if out is torch.float64 else torch.float32
    for tensor in given.values():
        compute = torch.promote_types(compute, tensor.dtype)
    ready = dataclasses.replace(
        group,
        tensors=tuple(tensor.to(compute) for tensor in group.tensors),
        base=None if group.base is None or operator.base == "ignored" else group.base.to(compute),
        per_input=operator.coefficients(len(group.tensors), group.per_input),
    )
    with torch.no_grad():
        fused = operator.fuse(ready)
        return _cast(fused.tensor, out, notes=fused.notes, name=group.name)


def merge_state_dicts(
    operator: AbstractMergeOperator,
    inputs: Mapping[str, Mapping[str, Tensor]],
    *,
    base: Mapping[str, Tensor] | None = None,
    per_input: Mapping[str, tuple[float, ...]] | None = None,
    seed: int = 0,
) -> dict[str, Merged]:
    """Every tensor of models in memory, ``inputs`` by model name; whole-model scope is surveyed first.

    Raises:
        ShapeError: models with different tensors.
        As `merge_tensor`.
    """
    from assay.merge.survey import surveyed

    everyone = {**inputs, **({} if base is None else {"base": base})}
    names = sorted(set().union(*everyone.values()))
    for model, tensors in everyone.items():
        if missing := [name for name in names if name not in tensors]:
            raise ShapeError(f"merge: model {model!r} has no tensor {missing[0]!r}, which another model has.")
    groups = {
        name: TensorGroup(
            name=name,
            models=tuple(inputs),
            tensors=tuple(tensors[name] for tensors in inputs.values()),
            base=None if base is None else base[name],
            per_input=per_input or {},
            seed=seed,
        )
        for name in names
    }
    facts = surveyed(operator, names, groups.__getitem__)
    return {
        name: merge_tensor(operator, dataclasses.replace(group, facts=facts.get(name)))
        for name, group in groups.items()
    }


def promoted(group: TensorGroup) -> TensorGroup:
    """The group with every tensor in float32, or in float64 where one of them is."""
    everyone = [*group.tensors, *([] if group.base is None else [group.base])]
    compute = torch.float64 if any(one.dtype is torch.float64 for one in everyone) else torch.float32
    base = None if group.base is None else group.base.to(compute)
    return dataclasses.replace(group, tensors=tuple(one.to(compute) for one in group.tensors), base=base)


def all_finite(tensor: Tensor) -> bool:
    """Whether no entry is NaN or infinite; one pass where all are well."""
    return math.isfinite(float(tensor.detach().sum())) or bool(torch.isfinite(tensor).all())


def _given(operator: AbstractMergeOperator, group: TensorGroup) -> dict[str, Tensor]:
    if operator.base == "required" and group.base is None:
        raise ConfigError(f"{operator.name}: tensor {group.name!r} came without a base, which it needs.")
    if len(group.models) != len(group.tensors):
        raise ShapeError(f"{operator.name}: {len(group.models)} model names for {len(group.tensors)} tensors.")
    if not group.tensors:
        raise ConfigError(f"{operator.name}: no input for tensor {group.name!r}.")
    given = {f"{model} (input {place})": group.tensors[place] for place, model in enumerate(group.models)}
    if group.base is not None and operator.base != "ignored":
        given["the base"] = group.base
    shapes = {model: tuple(tensor.shape) for model, tensor in given.items()}
    if len(set(shapes.values())) > 1:
        raise ShapeError(
            f"{operator.name}: tensor {group.name!r} has shapes {shapes}. Merge models of one architecture."
        )
    for model, tensor in given.items():
        if not tensor.is_floating_point():
            raise DataError(f"{operator.name}: tensor {group.name!r} of {model} holds {tensor.dtype}, not floats.")
        if not all_finite(tensor):
            bad = int((~torch.isfinite(tensor)).sum())
            raise DataError(
                f"{operator.name}: tensor {group.name!r} of {model} holds {bad} NaN or infinite entries "
                f"of {tensor.numel()}. Merging would spread them: repair or leave out that model."
            )
    return given


def _cast(tensor: Tensor, dtype: torch.dtype, *, notes: tuple[str, ...], name: str) -> Merged:
    result = tensor.to(dtype)
    if not all_finite(result):
        raise DataError(
            f"merge: tensor {name!r} reaches {float(tensor.abs().max()):.3g}, beyond the range of {dtype}. "
            "Store the result in a wider type (out_dtype: float32)."
        )
    rounding = (
        float((result.to(tensor.dtype) - tensor).abs().max()) if dtype != tensor.dtype and tensor.numel() else 0.0
    )
    return Merged(result, notes, rounding)

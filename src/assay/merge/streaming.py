"""Merging whole checkpoints tensor by tensor: memory near one tensor of each input, output written in place.

The folder that comes out is whole or not there. `MERGE_RECORD` in it says what was merged, how, and every digest.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from assay.errors import ConfigError, ModelError
from assay.merge.checkpoint import TYPES, Checkpoint, is_embedding, open_checkpoint
from assay.merge.compatibility import Vocabulary
from assay.merge.operator import OPERATORS, Facts, TensorGroup
from assay.merge.plan import Made, Plan, planned
from assay.merge.recipe import Recipe, read_recipe
from assay.merge.writer import SHARD_BYTES, Shape, sharded, write_shards

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["MERGE_RECORD", "MergeReport", "TensorReport", "merge_checkpoints", "merge_file", "preflight"]

MERGE_RECORD = "assay_merge.json"
_COPIED = (
    "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "spiece.model", "chat_template.jinja", "generation_config.json",
)  # fmt: skip


class TensorReport(NamedTuple):
    """One tensor written: SHA-256 of its bytes, largest error of its last cast, and what had to be decided."""

    sha256: str
    rounding: float
    notes: tuple[str, ...]


@final
@dataclass(frozen=True)
class MergeReport:
    """What was written where. ``left_out`` holds the stored tensors that are no weights, by model, with the reason."""

    folder: Path
    tensors: Mapping[str, TensorReport]
    n_bytes: int
    notes: tuple[str, ...]
    left_out: Mapping[str, Mapping[str, str]]


def merge_file(
    path: Path,
    out: Path,
    *,
    seed: int = 0,
    vocabulary: Vocabulary = "refuse",
    shard_bytes: int = SHARD_BYTES,
    progress: Callable[[str], None] | None = None,
) -> MergeReport:
    """Merge what the recipe in the YAML file ``path`` says into the new folder ``out``; see `merge_checkpoints`."""
    recipe = read_recipe(path, list(OPERATORS))
    return merge_checkpoints(recipe, out, seed=seed, vocabulary=vocabulary, shard_bytes=shard_bytes, progress=progress)


def preflight(recipe: Recipe, *, vocabulary: Vocabulary = "refuse") -> tuple[Plan, dict[str, Checkpoint]]:
    """Everything that can be wrong with a merge, found without reading a weight. Errors: as `merge_checkpoints`."""
    if recipe.method not in OPERATORS:
        raise ConfigError(f"merge: there is no method {recipe.method!r}. Known: {', '.join(OPERATORS)}.")
    checkpoints = {name: open_checkpoint(name) for name in recipe.models}
    return planned(recipe, checkpoints, vocabulary=vocabulary), checkpoints


def merge_checkpoints(
    recipe: Recipe,
    out: Path,
    *,
    seed: int = 0,
    vocabulary: Vocabulary = "refuse",
    shard_bytes: int = SHARD_BYTES,
    progress: Callable[[str], None] | None = None,
) -> MergeReport:
    """Merge into the new folder ``out``. How inputs are sharded, and in which order, changes no byte of a tensor.

    ``seed`` is the root of the streams of random methods. A folder is made next to ``out`` and renamed at the end.

    Raises:
        ConfigError: a recipe that cannot be followed, or ``out`` is there already.
        ModelError: models that cannot be read, do not fit each other, or whose stored head differs from the embedding
            that the configuration ties it to.
        DataError: NaN or infinity in a weight, or a result beyond the range of its type.
    """
    if out.exists():
        raise ConfigError(f"merge: {out} is there already. Name a new folder.")
    plan, checkpoints = preflight(recipe, vocabulary=vocabulary)
    for one in checkpoints.values():
        _checked_tie(one)
    shards = sharded([Shape(one.name, one.dtype, one.shape) for one in plan.made], shard_bytes=shard_bytes)
    stream = _Stream(plan, checkpoints, seed, progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".part", dir=out.parent))
    try:
        digests = write_shards(scratch, shards, stream.make)
        report = MergeReport(
            folder=out,
            tensors={name: TensorReport(digests[name], *stream.said[name]) for name in sorted(digests)},
            n_bytes=sum(one.n_bytes for shard in shards for one in shard.tensors),
            notes=plan.notes,
            left_out={name: one.left_out for name, one in checkpoints.items()},
        )
        _write_rest(scratch, plan, _record(recipe, plan, report, seed))
        scratch.chmod(0o755)
        os.rename(scratch, out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return report


@final
class _Stream:
    """Reads the parts of one tensor after the other and merges them."""

    def __init__(
        self, plan: Plan, checkpoints: Mapping[str, Checkpoint], seed: int, progress: Callable[[str], None] | None
    ) -> None:
        self.made = {one.name: one for one in plan.made}
        self.checkpoints = checkpoints
        self.seed = seed
        self.progress = progress
        self.said: dict[str, tuple[float, tuple[str, ...]]] = {}
        self.facts = self._facts()

    def make(self, name: str) -> Tensor:
        """The merged tensor; what is to be said of it is kept in ``said``."""
        import torch

        from assay.merge.tensors import merge_tensor

        one = self.made[name]
        if self.progress is not None:
            self.progress(f"{len(self.said) + 1}/{len(self.made)} {name}")
        if one.operator is None:
            self.said[name] = (0.0, ())
            return self._copied(one)
        group = dataclasses.replace(self._group(name), facts=self.facts.get(name))
        merged = merge_tensor(one.operator, group, dtype=getattr(torch, TYPES[one.dtype]))
        self.said[name] = (merged.rounding, merged.notes)
        return merged.tensor

    def _group(self, name: str) -> TensorGroup:
        one = self.made[name]
        return TensorGroup(
            name=name,
            models=tuple(part.model for part in one.inputs),
            tensors=tuple(self.checkpoints[part.model].read(part.slot) for part in one.inputs),
            base=None if one.base is None else self.checkpoints[one.base.model].read(one.base.slot),
            per_input=one.per_input,
            seed=self.seed,
        )

    def _copied(self, one: Made) -> Tensor:
        import torch

        first, *others = (self.checkpoints[part.model].read(part.slot) for part in one.inputs)
        for part, other in zip(one.inputs[1:], others, strict=True):
            if other.dtype != first.dtype or not torch.equal(first, other):
                raise ModelError(
                    f"merge: tensor {one.name!r} holds integers that differ between {one.inputs[0].model!r} and "
                    f"{part.model!r}. Only equal ones can be copied."
                )
        return first

    def _facts(self) -> dict[str, Facts]:
        operators = {one.operator for one in self.made.values() if one.operator is not None}
        scopes = {getattr(one, "scope", "tensor") for one in operators}
        if scopes != {"model"}:
            if "model" in scopes:
                raise ConfigError("merge: scope is model for some tensors only. Give it once, without filters.")
            return {}
        if len(operators) > 1:
            raise ConfigError(
                "merge: scope model needs the same options for every tensor. Leave out gradients and filters."
            )
        from assay.merge.survey import surveyed

        names = [name for name in sorted(self.made) if self.made[name].operator is not None]
        return surveyed(operators.pop(), names, self._group)


def _checked_tie(checkpoint: Checkpoint) -> None:
    """A stored copy of a tied head must be the embedding."""
    if checkpoint.tied_head is None:
        return
    embedding = next((name for name in checkpoint.tensors if is_embedding(name)), None)
    if embedding is None:
        raise ModelError(f"merge: {checkpoint.name!r} ties its head to an embedding that it does not have.")
    import torch

    if not torch.equal(checkpoint.read(checkpoint.tied_head), checkpoint.read(checkpoint.tensors[embedding])):
        raise ModelError(
            f"merge: {checkpoint.name!r} says tie_word_embeddings, but its stored head differs from its embedding. "
            "Set tie_word_embeddings to false in its config.json, or remove the head."
        )


def _record(recipe: Recipe, plan: Plan, report: MergeReport, seed: int) -> dict[str, Any]:
    """What `MERGE_RECORD` holds: the recipe, and for each tensor its operator, coefficients, digest and notes."""
    tensors = {}
    for one in plan.made:
        said = report.tensors[one.name]
        tensors[one.name] = {
            "sha256": said.sha256,
            "rounding": said.rounding,
            "notes": list(said.notes),
            "operator": None if one.operator is None else one.operator.described(),
            "inputs": [f"{part.model}:{part.name}" for part in one.inputs],
            "base": None if one.base is None else f"{one.base.model}:{one.base.name}",
            "per_input": {key: list(values) for key, values in one.per_input.items()},
        }
    return {
        "method": recipe.method,
        "models": list(recipe.models),
        "base_model": recipe.base_model,
        "seed": seed,
        "notes": list(report.notes),
        "left_out": {name: dict(why) for name, why in report.left_out.items()},
        "tensors": tensors,
    }


def _write_rest(folder: Path, plan: Plan, record: Mapping[str, Any]) -> None:
    for name, content in (("config.json", plan.config), (MERGE_RECORD, record)):
        (folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for name in _COPIED:
        source = (plan.first if name == "generation_config.json" else plan.tokenizer).folder / name
        if source.is_file():
            shutil.copyfile(source, folder / name)

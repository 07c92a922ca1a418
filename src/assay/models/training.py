"""Training of toy decoders and small language models: resumable, and the same bytes on every repeat.

The batch of a step is a function of the step alone, and the checkpoint holds weights, optimiser state and losses; so
a training that was killed and started again ends in the same file as one that was not. For that the version of torch,
the kind of processor and the number of torch threads must be the same; version and threads stand in the checkpoint and
are checked.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, final, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from assay.axes import Float, Int, NDArray
from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.checkpoint import CHECKPOINT, read_checkpoint, write_checkpoint

__all__ = [
    "SCHEDULES",
    "UNSCORED",
    "BatchSource",
    "TokenBatch",
    "Trained",
    "TrainingConfig",
    "learning_rate",
    "train",
]

UNSCORED = -100
_MOMENTS = ("exp_avg", "exp_avg_sq")

SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda progress: 1.0,
    "linear": lambda progress: 1.0 - progress,
    "cosine": lambda progress: 0.5 * (1.0 + math.cos(math.pi * progress)),
}


@runtime_checkable
class TokenBatch(Protocol):
    """One batch. ``targets`` holds the token to be predicted after each position, ``UNSCORED`` where none is scored."""

    @property
    def input_ids(self) -> Int[NDArray, "batch token"]: ...
    @property
    def attention_mask(self) -> Int[NDArray, "batch token"]: ...
    @property
    def targets(self) -> Int[NDArray, "batch token"]: ...


@runtime_checkable
class BatchSource(Protocol):
    """Batches by step: equal step, equal batch. ``digest`` names the data; equal digests mean equal batches."""

    @property
    def digest(self) -> str: ...
    def __call__(self, step: int) -> TokenBatch: ...


@final
@dataclass(frozen=True)
class TrainingConfig:
    """AdamW with warm-up, a named schedule and gradient clipping.

    Rate at step s, from 0: ``peak`` (s + 1) / ``warmup`` while s < ``warmup``; after it ``peak`` (``floor`` +
    (1 - ``floor``) shape(p)), p = (s - warmup) / (steps - warmup), shape one of ``SCHEDULES``. Gradients are scaled to
    the norm ``clip`` if they exceed it. ``decay`` acts on matrices, not on embeddings, biases and norms. A checkpoint
    is written every ``checkpoint_every`` steps and after the last.

    ``products`` is the type in which the factors of matrix products are rounded. ``bfloat16`` keeps weights, sums,
    softmax, norms and the optimiser in float32 and is about 1.8 times as fast on a processor with AMX; it is another
    training, with other numbers, as repeatable as the first.

    Raises:
        ConfigError: an unknown schedule or a value out of its range.
    """

    steps: int = 3000
    peak: float = 1e-3
    warmup: int = 100
    schedule: str = "cosine"
    floor: float = 0.1
    clip: float = 1.0
    decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    checkpoint_every: int = 500
    products: Literal["float32", "bfloat16"] = "float32"

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ConfigError(f"TrainingConfig: schedule {self.schedule!r}; there are {', '.join(SCHEDULES)}.")
        if self.products not in ("float32", "bfloat16"):
            raise ConfigError(f"TrainingConfig: products {self.products!r}; there are float32 and bfloat16.")
        if self.steps < 1 or self.checkpoint_every < 1 or not 0 <= self.warmup < self.steps:
            raise ConfigError(
                f"TrainingConfig: steps {self.steps}, warmup {self.warmup}, checkpoint_every {self.checkpoint_every}; "
                "steps and checkpoint_every are 1 or more, warmup is 0 or more and below steps."
            )
        shares = all(0 <= part < 1 for part in (self.beta1, self.beta2)) and 0 <= self.floor <= 1 and self.decay >= 0
        if not shares or not all(0 < part < math.inf for part in (self.peak, self.clip, self.epsilon)):
            raise ConfigError(
                f"TrainingConfig: {self}; peak, clip and epsilon are positive and finite, floor lies in [0, 1], the "
                "betas in [0, 1), decay is not negative."
            )


class Trained(NamedTuple):
    """Loss of every step (mean over scored tokens, nats), and how many of the steps an earlier call had done."""

    losses: Float[NDArray, " step"]
    resumed_from: int


def learning_rate(config: TrainingConfig, step: int) -> float:
    """Rate of a step counted from 0; the formula stands at ``TrainingConfig``."""
    if step < config.warmup:
        return config.peak * (step + 1) / config.warmup
    progress = (step - config.warmup) / (config.steps - config.warmup)
    return config.peak * (config.floor + (1.0 - config.floor) * SCHEDULES[config.schedule](progress))


def train(
    model: nn.Module,
    batches: BatchSource,
    *,
    config: TrainingConfig,
    folder: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Trained:
    """Train ``model`` in place; with ``folder``, go on from the checkpoint that lies there and leave the last one.

    ``model`` is called as ``model(input_ids=, attention_mask=, use_cache=False).logits`` and must be at its step 0.
    ``progress(steps_done, loss)`` is called after each step.

    Raises:
        ModelError: dropout, no trainable weight, a checkpoint of another training, threads or version, a damaged
            checkpoint, or a loss that is not finite.
        ShapeError: a batch without scored tokens or of unlike shapes.
    """
    weights = _weights(model)
    identity = _identity(model, weights, batches.digest, config)
    optimizer = _optimizer(model, weights, config)
    losses: list[float] = []
    if folder is not None and (folder / CHECKPOINT).exists():
        losses = _resume(folder / CHECKPOINT, weights, optimizer, identity)
    resumed_from = len(losses)
    for step in range(resumed_from, config.steps):
        losses.append(_step(model, weights, optimizer, batches(step), config, step))
        if folder is not None and ((step + 1) % config.checkpoint_every == 0 or step + 1 == config.steps):
            _save(folder / CHECKPOINT, model, optimizer, identity, losses)
        if progress is not None:
            progress(step + 1, losses[-1])
    return Trained(np.array(losses), resumed_from)


def _weights(model: nn.Module) -> dict[str, nn.Parameter]:
    rates = {name: part.p for name, part in model.named_modules() if isinstance(part, nn.Dropout) and part.p > 0}
    dropout = getattr(getattr(model, "config", None), "attention_dropout", 0.0)
    if rates or dropout:
        raise ModelError(
            f"training: dropout {rates or dropout} in {type(model).__name__}; it draws from torch's global state, so "
            "that a training could not be repeated. Set it to 0."
        )
    weights = {name: part for name, part in model.named_parameters() if part.requires_grad}
    if not weights:
        raise ModelError(f"training: no weight of {type(model).__name__} is trainable. Call model.requires_grad_().")
    return weights


def _identity(model: nn.Module, weights: dict[str, nn.Parameter], data: str, config: TrainingConfig) -> dict[str, Any]:
    start = hashlib.sha256()
    for name, weight in model.named_parameters():
        start.update(f"{name} {weight.dtype} {tuple(weight.shape)} {name in weights};".encode())
        start.update(weight.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return {
        "config": asdict(config),
        "data": data,
        "start": start.hexdigest(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }


def _optimizer(model: nn.Module, weights: dict[str, nn.Parameter], config: TrainingConfig) -> torch.optim.AdamW:
    embeddings = {id(part.weight) for part in model.modules() if isinstance(part, nn.Embedding)}
    decayed = [weight for weight in weights.values() if weight.ndim >= 2 and id(weight) not in embeddings]
    chosen = {id(weight) for weight in decayed}
    others = [weight for weight in weights.values() if id(weight) not in chosen]
    groups = [{"params": decayed, "weight_decay": config.decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=config.peak,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        fused=True,
    )


def _step(
    model: nn.Module,
    weights: dict[str, nn.Parameter],
    optimizer: torch.optim.AdamW,
    batch: TokenBatch,
    config: TrainingConfig,
    step: int,
) -> float:
    ids, mask, targets = (torch.as_tensor(part) for part in (batch.input_ids, batch.attention_mask, batch.targets))
    scored = targets != UNSCORED
    if not (ids.shape == mask.shape == targets.shape) or not bool(scored.any()):
        raise ShapeError(
            f"training: step {step}: ids {tuple(ids.shape)}, mask {tuple(mask.shape)}, targets {tuple(targets.shape)}, "
            f"{int(scored.sum())} scored; one shape and at least one scored token are needed."
        )
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(config, step)
    optimizer.zero_grad()
    with torch.autocast(ids.device.type, dtype=torch.bfloat16, enabled=config.products == "bfloat16"):
        logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    loss: Tensor = nn.functional.cross_entropy(logits[scored].float(), targets[scored])
    value = float(loss.detach())
    if not math.isfinite(value):
        raise ModelError(f"training: the loss of step {step} is {value}. Lower peak ({config.peak}) or warm up longer.")
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(weights.values(), config.clip, error_if_nonfinite=True)
    optimizer.step()
    return value


def _save(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.AdamW,
    identity: dict[str, Any],
    losses: list[float],
) -> None:
    tensors = {"losses": torch.tensor(losses, dtype=torch.float64)}
    for name, weight in model.named_parameters():
        tensors[f"model.{name}"] = weight.detach()
        if weight.requires_grad:
            for moment in _MOMENTS:
                tensors[f"optimizer.{name}.{moment}"] = optimizer.state[weight][moment]
    write_checkpoint(path, tensors, identity=identity)


def _resume(
    path: Path, weights: dict[str, nn.Parameter], optimizer: torch.optim.AdamW, identity: dict[str, Any]
) -> list[float]:
    tensors, found = read_checkpoint(path)
    changed = sorted(key for key in identity.keys() | found.keys() if identity.get(key) != found.get(key))
    if changed:
        raise ModelError(
            f"training: {path} belongs to another training: {', '.join(changed)} differ(s) ("
            + "; ".join(f"{key}: there {found.get(key)}, asked {identity.get(key)}" for key in changed)
            + "). Give another folder, or the same model, data, configuration, threads and version."
        )
    losses: list[float] = tensors["losses"].tolist()
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(tensors[f"model.{name}"])
            state = {moment: tensors[f"optimizer.{name}.{moment}"].to(weight.device) for moment in _MOMENTS}
            optimizer.state[weight] = {"step": torch.tensor(float(len(losses))), **state}
    return losses

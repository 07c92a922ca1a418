"""Opening a transformers model through its family: checked before the weights are read, never with code of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from assay.errors import ModelError
from assay.models.families import Family, family_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from assay.models.weights_source import WeightsSource

__all__ = ["PretrainedModel", "open_pretrained", "preflight", "quiet"]

_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_TOKENIZERS = (("tokenizer.json",), ("tokenizer.model",), ("vocab.json", "merges.txt"), ("spiece.model",))


@final
@dataclass(frozen=True)
class PretrainedModel:
    """A causal language model ready to be read: float32, eager attention, evaluation mode, no gradients.

    ``label`` is what tables and figures print; for dequantised weights it says so. ``digest`` is that of the source.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    family: Family
    n_layers: int
    width: int
    label: str
    digest: str


def open_pretrained(source: WeightsSource, *, progress: Callable[[str], None] | None = None) -> PretrainedModel:
    """The model of ``source``, fetched first if the cache does not have it.

    The same source gives the same bits for the same versions, processor kind and number of torch threads.

    Errors: DataError if the source cannot be fetched; ModelError if the folder fails ``preflight``, the weights are
    truncated or do not fit the configuration: nothing is initialised at random and no tensor is passed over.
    """
    folder = source.ready() or source.fetch(progress=progress)
    family = preflight(folder)
    model, tokenizer = _load(folder)
    model.requires_grad_(requires_grad=False)
    return PretrainedModel(
        model=model,
        tokenizer=tokenizer,
        family=family,
        n_layers=int(model.config.num_hidden_layers),
        width=int(model.config.hidden_size),
        label=source.label,
        digest=source.digest,
    )


def preflight(folder: Path) -> Family:
    """The family of a model folder that is safe and complete enough to be opened; no weights are read.

    Errors: ModelError naming the path and what to do, if there is no folder, no readable config.json, code to be
    executed (``auto_map``), quantised or only pickled weights, a missing shard, an unknown family, or no tokenizer.
    """
    if not folder.is_dir():
        raise ModelError(f"model: {folder} is not a folder. Give the folder that holds config.json.")
    config = _json_object(folder / "config.json", "Give the folder of a transformers model.")
    settings = folder / "tokenizer_config.json"
    for path, content in ((folder / "config.json", config), (settings, _optional(settings))):
        if "auto_map" in content:
            raise ModelError(
                f"model: {path} has auto_map: it wants code of its own to be executed, which is never done. "
                "Use a checkpoint of a family that transformers knows."
            )
    family = family_of(config.get("model_type"), where=f"model: {folder / 'config.json'}")
    if "quantization_config" in config:
        raise ModelError(
            f"model: {folder} holds quantised weights (quantization_config in config.json). "
            "Use the float checkpoint, or convert it once with transformers' dequantize()."
        )
    _weights(folder)
    if not any(all((folder / name).is_file() for name in names) for names in _TOKENIZERS):
        raise ModelError(f"model: {folder} has no tokenizer (tokenizer.json). Save the tokenizer next to the weights.")
    return family


def _weights(folder: Path) -> None:
    if (folder / "model.safetensors").is_file():
        return
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = _json_object(index, "Fetch the model again.").get("weight_map")
        names = sorted({str(name) for name in shards.values()}) if isinstance(shards, dict) else []
        missing = [name for name in names if not (folder / name).is_file()]
        if missing or not names:
            raise ModelError(f"model: {folder} lacks {', '.join(missing) or 'shards'} of {index.name}. Fetch it again.")
        return
    pickled = sorted(path.name for pattern in _PICKLED for path in folder.glob(pattern))
    if pickled:
        raise ModelError(
            f"model: {folder} has pickled weights only ({', '.join(pickled)}); unpickling may execute code, so it is "
            "never done. Convert them to safetensors where you trust them (model.save_pretrained)."
        )
    raise ModelError(f"model: {folder} has no model.safetensors. Fetch the weights, or give the right folder.")


def _load(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    import torch
    import transformers
    from safetensors import SafetensorError

    causal: Any = transformers.AutoModelForCausalLM
    try:
        with quiet():
            model, info = causal.from_pretrained(
                folder,
                dtype=torch.float32,
                attn_implementation="eager",
                trust_remote_code=False,
                use_safetensors=True,
                local_files_only=True,
                output_loading_info=True,
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, AttributeError, SafetensorError) as error:
        raise ModelError(
            f"model: {folder} cannot be opened ({type(error).__name__}: {error}). "
            "A file is truncated or does not fit the others: fetch the model again."
        ) from error
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if info[kind]:
            some = ", ".join(sorted(str(key) for key in info[kind])[:5])
            raise ModelError(
                f"model: {folder}: {len(info[kind])} {kind.replace('_', ' ')} between weights and configuration "
                f"({some}). No tensor is passed over or made up: give the weights that belong to this config.json."
            )
    return model.eval(), tokenizer


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' bars and hints while open; its settings are restored. Errors still come as exceptions.

    Errors: ModelError under ``python -OO``: transformers builds its classes from docstrings, which are then missing.
    """
    if sys.flags.optimize >= 2:
        raise ModelError(
            "model: transformers cannot be used under python -OO, which removes docstrings. Use -O or none."
        )
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _optional(path: Path) -> dict[str, Any]:
    return _json_object(path, "Fetch the tokenizer again.") if path.exists() else {}


def _json_object(path: Path, advice: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"model: {path} does not exist. {advice}") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"model: {path} cannot be read as JSON ({error}). {advice}") from error
    if not isinstance(content, dict):
        raise ModelError(f"model: {path} holds {type(content).__name__}, not an object. {advice}")
    return content

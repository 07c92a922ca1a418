"""Whether configurations describe one architecture, field by field, before any weight is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from assay.errors import ModelError
from assay.merge.checkpoint import Checkpoint

__all__ = ["FIELDS", "Vocabulary", "checked_compatible", "compared"]

Vocabulary = Literal["refuse", "exclude"]
FIELDS = (
    "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "intermediate_size", "hidden_act", "norm_eps", "rope", "rotary_pct", "use_parallel_residual", "sliding_window",
    "use_sliding_window", "layer_types", "attention_bias", "mlp_bias", "query_pre_attn_scalar",
    "attn_logit_softcapping", "final_logit_softcapping", "vocab_size", "tie_word_embeddings",
)  # fmt: skip
_SPELLINGS = {
    "hidden_act": ("hidden_act", "hidden_activation", "activation_function"),
    "norm_eps": ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon"),
}
_LAYERED = ("num_hidden_layers", "layer_types")


def checked_compatible(checkpoints: Sequence[Checkpoint], *, vocabulary: Vocabulary, stacked: bool) -> list[str]:
    """Refuse models that are not of one architecture and vocabulary; what could not be compared is returned as notes.

    ``stacked`` recipes name their layers, so that depth may differ; ``vocabulary`` "exclude" takes embedding and head
    from the first model, so that vocabularies may. Where configurations are written differently, transformers is asked
    for the defaults that they leave out.

    Raises:
        ModelError: with every field that differs and its value in both models.
    """
    first, *others = checkpoints
    passed = {*(_LAYERED if stacked else ()), *(("vocab_size",) if vocabulary == "exclude" else ())}
    for other in others:
        fields = [field for field in FIELDS if field not in passed]
        found = _differences(compared(first.config), compared(other.config), fields)
        if found:
            whole = [compared(_with_defaults(one)) for one in (first, other)]
            found = _differences(whole[0], whole[1], fields)
        if found:
            lines = "\n".join(f"  {field}: {one!r} and {two!r}" for field, (one, two) in found.items())
            raise ModelError(
                f"merge: {first.name!r} and {other.name!r} are not of one architecture:\n{lines}\n"
                "Tensors of different meaning cannot be averaged. Merge models of one family and shape."
            )
    return [] if vocabulary == "exclude" else _vocabularies(checkpoints)


def compared(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a configuration that must agree, under one spelling; what is left out is None."""
    result = {field: _first(config, _SPELLINGS.get(field, (field,))) for field in FIELDS}
    rope = config.get("rope_parameters")
    if rope is None:
        scaling = config.get("rope_scaling") or {}
        theta = _first(config, ("rope_theta", "rotary_emb_base"))
        rope = {"rope_theta": theta, "rope_type": scaling.get("type", "default"), **scaling}
    rope = {key: value for key, value in rope.items() if key != "type" and value is not None}
    pct = rope.pop("partial_rotary_factor", None)
    result["rotary_pct"] = pct if pct is not None else _first(config, ("rotary_pct", "partial_rotary_factor"))
    result["rope"] = rope
    return result


def _differences(one: Mapping[str, Any], other: Mapping[str, Any], fields: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    return {field: (one[field], other[field]) for field in fields if one[field] != other[field]}


def _first(config: Mapping[str, Any], spellings: Sequence[str]) -> Any:
    return next((config[name] for name in spellings if config.get(name) is not None), None)


def _with_defaults(checkpoint: Checkpoint) -> dict[str, Any]:
    """The configuration with the defaults of its family, from transformers; no code of the folder is executed."""
    from huggingface_hub.errors import StrictDataclassError
    from transformers import AutoConfig

    config: Any = AutoConfig
    kind = str(checkpoint.config.get("model_type", ""))
    try:
        whole: dict[str, Any] = config.for_model(kind, **_given(checkpoint.config)).to_dict()
    except (ValueError, TypeError, KeyError, AttributeError, StrictDataclassError) as error:
        raise ModelError(
            f"merge: transformers cannot read the configuration of {checkpoint.name!r} (model_type {kind!r}: {error})."
        ) from error
    return whole


def _given(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in ("model_type", "auto_map")}


def _vocabularies(checkpoints: Sequence[Checkpoint]) -> list[str]:
    known = {one.name: one.vocabulary() for one in checkpoints}
    if len({digest for digest in known.values() if digest}) > 1:
        lines = "\n".join(f"  {name}: {(digest or 'no tokenizer')[:12]}" for name, digest in known.items())
        raise ModelError(
            f"merge: the tokenizers have different vocabularies:\n{lines}\nThe same row would stand for different "
            "tokens. Give --vocabulary exclude to take embedding and head from the first model."
        )
    return [f"vocabulary not compared: {name} has no tokenizer" for name, digest in known.items() if digest is None]

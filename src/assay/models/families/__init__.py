"""The families of models that can be opened, by the ``model_type`` of their configuration."""

from __future__ import annotations

from assay.errors import ModelError
from assay.models.families.family import Family, Place, Projection
from assay.models.families.gemma3 import GEMMA3
from assay.models.families.gpt_neox import GPT_NEOX
from assay.models.families.llama import LLAMA
from assay.models.families.mistral import MISTRAL
from assay.models.families.toy import TOY

__all__ = ["FAMILIES", "Family", "Place", "Projection", "family_of"]

FAMILIES: dict[str, Family] = {
    model_type: family for family in (LLAMA, GEMMA3, GPT_NEOX, MISTRAL, TOY) for model_type in family.model_types
}


def family_of(model_type: object, *, where: str) -> Family:
    """The family of a configuration's ``model_type``; ``where`` names the model in the message.

    Errors: ModelError if no family has it, with the list of those there are.
    """
    if isinstance(model_type, str) and model_type in FAMILIES:
        return FAMILIES[model_type]
    raise ModelError(
        f"{where}: model_type {model_type!r} belongs to no known family. Known: {', '.join(sorted(FAMILIES))}. "
        "A new family is one file of data in assay/models/families."
    )

"""Mistral: the parts of Llama under the names of Llama; attention may slide over a window."""

from __future__ import annotations

from dataclasses import replace

from assay.models.families.llama import LLAMA

MISTRAL = replace(LLAMA, name="mistral", model_types=("mistral",))

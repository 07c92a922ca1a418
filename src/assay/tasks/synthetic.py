"""A small five-language text made from templates, for tests and for the tier that runs in seconds."""

from __future__ import annotations

from collections.abc import Mapping

from assay.errors import DataError
from assay.tasks.parallel import ParallelText, parallel_text

LANGUAGES = ("en", "zh", "pt", "pl", "it")

_ANIMALS: tuple[Mapping[str, str], ...] = (
    {"en": "cat", "zh": "猫", "pt": "o gato", "pl": "kot", "it": "il gatto"},
    {"en": "dog", "zh": "狗", "pt": "o cão", "pl": "pies", "it": "il cane"},
    {"en": "horse", "zh": "马", "pt": "o cavalo", "pl": "koń", "it": "il cavallo"},
    {"en": "bird", "zh": "鸟", "pt": "o pássaro", "pl": "ptak", "it": "l'uccello"},
    {"en": "wolf", "zh": "狼", "pt": "o lobo", "pl": "wilk", "it": "il lupo"},
    {"en": "bear", "zh": "熊", "pt": "o urso", "pl": "niedźwiedź", "it": "l'orso"},
    {"en": "lion", "zh": "狮子", "pt": "o leão", "pl": "lew", "it": "il leone"},
    {"en": "rabbit", "zh": "兔子", "pt": "o coelho", "pl": "królik", "it": "il coniglio"},
)
_TIMES: tuple[Mapping[str, str], ...] = (
    {"en": "in the morning", "zh": "早上", "pt": "de manhã", "pl": "rano", "it": "al mattino"},
    {"en": "in the evening", "zh": "晚上", "pt": "à noite", "pl": "wieczorem", "it": "di sera"},
    {"en": "in summer", "zh": "夏天", "pt": "no verão", "pl": "latem", "it": "in estate"},
    {"en": "in winter", "zh": "冬天", "pt": "no inverno", "pl": "zimą", "it": "in inverno"},
)
_ACTIONS: tuple[Mapping[str, str], ...] = (
    {
        "en": "sleeps in the house",
        "zh": "在房子里睡觉",
        "pt": "dorme na casa",
        "pl": "śpi w domu",
        "it": "dorme in casa",
    },
    {
        "en": "drinks cold water",
        "zh": "喝冷水",
        "pt": "bebe água fria",
        "pl": "pije zimną wodę",
        "it": "beve acqua fredda",
    },
    {
        "en": "runs to the river",
        "zh": "跑向河边",
        "pt": "corre para o rio",
        "pl": "biegnie do rzeki",
        "it": "corre al fiume",
    },
    {
        "en": "waits near the door",
        "zh": "在门边等",
        "pt": "espera junto à porta",
        "pl": "czeka przy drzwiach",
        "it": "aspetta alla porta",
    },
    {
        "en": "looks at the moon",
        "zh": "看月亮",
        "pt": "olha para a lua",
        "pl": "patrzy na księżyc",
        "it": "guarda la luna",
    },
)
_PAGE = 2
_MOST = len(_ANIMALS) * len(_TIMES) * len(_ACTIONS)


def synthetic_text(n: int = 40) -> ParallelText:
    """``n`` sentences (1 to 160) such as "In winter the wolf drinks cold water.", the same items in five languages.

    Clusters are pages of two sentences with the same animal and action. No randomness.

    Raises:
        DataError: ``n`` out of range.
    """
    if not 1 <= n <= _MOST:
        raise DataError(f"synthetic_text: {n} sentences wanted, the templates give 1 to {_MOST}.")
    choices = []
    for scene in range(_MOST // len(_TIMES)):
        animal = scene % len(_ANIMALS)
        action = (scene // len(_ANIMALS) + scene) % len(_ACTIONS)
        choices += [(animal, action, time) for time in range(len(_TIMES))]
    choices = choices[:n]
    return parallel_text(
        {name: [_sentence(name, *choice) for choice in choices] for name in LANGUAGES},
        ids=[f"synthetic:{number}" for number in range(n)],
        clusters=[f"page:{number // _PAGE}" for number in range(n)],
        source="synthetic templates",
        licence="Apache-2.0",
    )


def synthetic_text_digest(n: int = 40) -> str:
    """Digest of ``synthetic_text(n)``."""
    return synthetic_text(n).digest


def _sentence(language: str, animal: int, action: int, time: int) -> str:
    who, when, what = _ANIMALS[animal][language], _TIMES[time][language], _ACTIONS[action][language]
    if language == "zh":
        return f"{when}{who}{what}。"
    who = f"the {who}" if language == "en" else who
    return f"{when[0].upper()}{when[1:]} {who} {what}."

"""How many examples a law takes: a share of what the hypothesis profile says, so that a deeper profile deepens it."""

from __future__ import annotations

from hypothesis import settings


def examples(share: float) -> settings:
    """Settings of the loaded profile with ``share`` of its examples, at least one."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))

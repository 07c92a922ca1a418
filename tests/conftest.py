"""Options of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=30)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--kills`: how often the kill campaign kills; `make campaigns` says 50."""
    parser.addoption(
        "--kills", type=int, default=3, help="how often tests/campaigns kills a run of merging.representations"
    )

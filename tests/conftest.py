"""Options of the whole suite. Laws draw 12 examples, the same ones every time; `make test-deep` draws 300 new ones."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

_SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}
settings.register_profile("repeatable", derandomize=True, max_examples=12, **_SLOW)
settings.register_profile("deep", derandomize=False, max_examples=300, **_SLOW)
settings.load_profile("repeatable")

# A shell that starts the suite in the background lets it ignore Ctrl-C; the programs that tests interrupt must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that a test starts print the same on a CI server, where pytest's own summary would be longer."""
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Lengths of the campaigns: short ones by default, those of `make campaigns` when it says so."""
    parser.addoption(
        "--kills",
        type=int,
        default=3,
        help="how often tests/campaigns kills a run; other campaigns have a multiple of it",
    )
    parser.addoption(
        "--sessions", type=int, default=2, help="how many parallel sessions tests/campaigns compares with a serial one"
    )
    parser.addoption(
        "--edits", type=int, default=4, help="how many edits of tests/campaigns are also judged by the command line"
    )

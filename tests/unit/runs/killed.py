"""A program that is killed while it writes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest


def kill_after(seconds: float, code: str, *arguments: str) -> None:
    """Start Python `code` that prints a line when it has begun and never ends; SIGKILL it `seconds` after that line."""
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            writer.wait(seconds)
        writer.send_signal(signal.SIGKILL)

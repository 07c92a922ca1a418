"""Signals while a run lasts: a stop interrupts it, nothing interrupts its last words, and handlers are put back."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from assay.runs.signals import signals_ignored, signals_interrupt


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_stop_interrupts_by_its_name(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt, match=number.name), signals_interrupt():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_no_signal_interrupts_the_last_words() -> None:
    with signals_ignored():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_thread_leaves_signals_alone() -> None:
    seen = []

    def body() -> None:
        with signals_interrupt():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]

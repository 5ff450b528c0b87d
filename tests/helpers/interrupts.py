"""Interrupt work at a known moment, without sleep or timers; stop work that hangs."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

LONGEST_SWITCH = 1000.0
"""A switch interval in seconds. It is so long that Python never takes the GIL from a thread."""
WHOLE = 0.4
"""The minimum processor time of the uninterrupted work, in seconds.

Native code checks for signals every 0.05 s. In this time two threads use 0.1 s of processor time.
So work that stops at the next check uses less than half of WHOLE.
"""


def interrupt_me() -> None:
    """Send this process the signal of Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def time_after_interrupt(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that native `work` takes after an interrupt.

    A second thread sends the signal. The switch interval keeps this thread from running until
    `work` releases the GIL, so the signal arrives while native code runs. Fails if `work` keeps the
    GIL.
    """
    begun = threading.Event()
    sent: list[float] = []

    def send() -> None:
        begun.wait()
        sent.append(time.process_time())
        interrupt_me()

    thread = threading.Thread(target=send)
    thread.start()
    interval = sys.getswitchinterval()
    has_ended = False
    try:
        sys.setswitchinterval(LONGEST_SWITCH)
        begun.set()
        work()
        has_ended = True
        thread.join()  # runs the handler of a signal that was not noticed
    except KeyboardInterrupt:
        elapsed = time.process_time() - sent[0]
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    if has_ended:
        pytest.fail("the work did not release the GIL")
    return elapsed


def stops_soon(*prepare: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Return whether native work stops soon after an interrupt at its start.

    Each function of `prepare` takes a size and returns work of this size. All of them do the same
    work, for example with one thread and with two. Doubles `size` until the work of the first
    function takes WHOLE seconds of processor time; otherwise a fast machine could end the work
    before it notices the interrupt. Each work must stop in half of that time, in one of five tries.
    """
    while (whole := processor_time(prepare[0](size))) < WHOLE:
        size *= 2
    return all(
        any(time_after_interrupt(prepared(size)) < whole / 2 for _ in range(5))
        for prepared in prepare
    )


def processor_time(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that `work` takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


@contextmanager
def deadline(seconds: int = 30) -> Iterator[None]:
    """Raise AssertionError if the block takes longer than `seconds`."""

    def fail(*_: object) -> None:
        raise AssertionError(f"the work did not end in {seconds} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)

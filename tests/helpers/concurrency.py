"""Run work in several threads, and measure how long native work keeps other threads waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Work = Callable[[], object]


def run_at_once(workers: list[Work]) -> list[BaseException]:
    """Start all workers together, each in its own thread; return the exceptions they raise."""
    raised: list[BaseException] = []
    barrier = threading.Barrier(len(workers))

    def run(worker: Work) -> None:
        try:
            barrier.wait()
            worker()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), "a thread hangs"
    return raised


def assert_lets_threads_run(work: Work) -> None:
    """Fail if this thread waits for half of the time that `work` takes in another thread.

    Tries 50 times, because on a busy machine a thread may wait for other reasons.
    """
    shares = []
    for _ in range(50):
        longest = 0.0
        thread = threading.Thread(target=work)
        begin = before = time.perf_counter()
        thread.start()
        while thread.is_alive():
            time.sleep(0.0005)
            now = time.perf_counter()
            longest, before = max(longest, now - before), now
        shares.append(longest / (before - begin))
        if shares[-1] < 0.5:
            return
    raise AssertionError(f"this thread waited for {min(shares):.0%} of the time")

"""Run work in several threads, make their tasks small, and measure how long threads wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from bpe import SpecialTokenError, Tokenizer

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
    """Fail if `work` in another thread keeps this thread from running, for example by the GIL.

    A single wait of this thread must take less than half of the time of `work`. One of 50 tries
    must succeed, because on a busy machine a thread may also wait for other reasons.
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


@contextmanager
def tasks_of(size: int) -> Iterator[None]:
    """Divide the work of native threads into tasks of `size`, so that short texts need several."""
    from pretok import _core

    before = _core.set_task_size(size)
    try:
        yield
    finally:
        _core.set_task_size(before)


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of `call`, with arrays as lists.

    If it refuses a special token, return the token, its position and the index of the text.
    """
    try:
        found = call()
    except SpecialTokenError as error:
        return error.token, error.position, error.text_index
    if isinstance(found, tuple):
        return [part.tolist() for part in found]
    return found.tolist() if hasattr(found, "tolist") else found


def everything(
    tok: Tokenizer, texts: list[str | bytes], special: str, threads: int | None
) -> list[Any]:
    """Return the outcomes of four methods for each of `texts`, and of both batch methods for all.

    The four are `encode`, `encode_array`, `count` and `tokens`. Each text is also encoded as a
    continuation.
    """
    calls: list[Callable[[], Any]] = []
    for text in texts:
        for method in (tok.encode, tok.encode_array, tok.count, tok.tokens):
            for continues in (False, True):
                options = {"threads": threads, "continuation": continues}
                calls.append(partial(method, text, special, **options))  # type: ignore[arg-type]
    for batch in (tok.encode_batch, tok.encode_batch_array):
        calls.append(lambda b=batch: b(texts, special, threads=threads))  # type: ignore[misc]
    return [outcome(call) for call in calls]

"""PromptStore: what it keeps, and calls that do not get its lock or find it half changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bpe.sessions import prompt_store
from bpe.sessions.prompt_store import PromptStore
from bpe.types import Ids


def bytes_of(text: str) -> Ids:
    return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)


def encoded(
    store: PromptStore, text: str, encode: Callable[[str], Ids] = bytes_of
) -> tuple[list[int], int]:
    """Return the ids of `text`, and the number of ids reused."""
    ids, prefix, reused = store.encode(text, b"", b"", False, (), (), lambda: encode(text))
    assert prefix == reused
    return ids.tolist(), reused


def test_a_kept_text_is_not_encoded_again() -> None:
    store, results = PromptStore(10_000), iter([np.array([7], np.uint32)])
    for reused in (0, 1, 1):
        assert encoded(store, "ab", lambda _: next(results)) == ([7], reused)


def test_a_text_that_two_threads_encode_counts_once() -> None:
    store, other = PromptStore(10_000), PromptStore(10_000)
    encoded(other, "ab")

    def encode(text: str) -> Ids:
        encoded(store, text)  # as another thread does meanwhile
        return bytes_of(text)

    encoded(store, "ab", encode)
    assert store.statistics()[5:] == other.statistics()[5:]


def test_a_text_may_take_an_eighth() -> None:
    store = PromptStore(10_000)
    encoded(store, "ab")
    size = store.statistics()[6]
    for max_bytes, chunks in ((8 * size, 1), (8 * size - 1, 0)):
        store = PromptStore(max_bytes)
        encoded(store, "ab")
        assert store.statistics()[5] == chunks


def test_a_call_without_the_lock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler may call while the thread that it interrupted has the lock."""
    monkeypatch.setattr(prompt_store, "_LOCK_SECONDS", 0.01)
    store = PromptStore(10_000)
    encoded(store, "ab")
    before = store.statistics()
    with store._lock():
        assert encoded(store, "ab") == ([97, 98], 0)
        assert encoded(store, "c") == ([99], 0)
        store.clear()
    assert store.statistics() == before


def test_a_child_drops_what_a_thread_has_half_changed() -> None:
    store = PromptStore(10_000)
    encoded(store, "ab")
    store._is_changing = True  # as in a child that was forked while another thread made a change
    assert encoded(store, "c") == ([99], 0)
    chunks, held = store.statistics()[5:7]
    assert (chunks, held < 1000) == (1, True)

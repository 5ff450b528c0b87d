"""All 16,777,216 sequences of three bytes, and so of one and two, split alike in both backends."""

from __future__ import annotations

import numpy as np

import pretok
from pretok.pretokenizer import BackendName


def _sequences(first: int) -> bytes:
    """Each sequence that begins with `first`, between letters and spaces: "a" + sequence + " "."""
    block = np.empty((256, 256, 5), np.uint8)
    block[..., 0] = ord("a")
    block[..., 1] = first
    block[..., 2] = np.arange(256)[:, None]
    block[..., 3] = np.arange(256)
    block[..., 4] = ord(" ")
    return block.tobytes()


def test_every_sequence_of_three_bytes(native: BackendName) -> None:
    # o200k tells most classes apart. ASCII around each keeps sequences out of each other's way.
    fast = pretok.get("o200k", backend=native)
    plain = pretok.get("o200k", backend="python")
    for first in range(256):
        data = _sequences(first)
        offsets = fast.offsets(data)
        assert np.array_equal(offsets, plain.offsets(data)), f"first byte {first:#04x}"
        assert offsets[-1] == len(data)

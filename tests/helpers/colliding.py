"""Tokens and words that collided in the hash tables of pretok 0.1.0, which had no secret keys.

Each public function returns `count` strings. With `collide=False`, the strings have the same sizes,
and collide as rarely as the strings of a usual file.
"""

from __future__ import annotations

from itertools import product
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
OTHER = np.uint64(0xD6E8FEB86659FD93)
PRINTABLE = np.frombuffer(bytes(range(0x21, 0x7F)), np.uint8)


def short_tokens(count: int, collide: bool) -> list[bytes]:
    """Return tokens of 11 bytes. A factor of their hash was 0, so all hashes were equal.

    They collided in TokenTable.
    """
    prefix = OTHER.tobytes() if collide else b"ordinary"
    return [prefix + number.to_bytes(3, "big") for number in range(count)]


def long_tokens(count: int, collide: bool) -> list[bytes]:
    """Return tokens of 32 bytes of printable ASCII, which had the same 64-bit hash_long."""
    blocks = _blocks() if collide else _random_blocks(len(_blocks()))
    pairs = product(blocks, repeat=2)
    return [one + other for one, other in (next(pairs) for _ in range(count))]


def cut_tokens(count: int, collide: bool) -> list[bytes]:
    """Return tokens of 12 bytes whose polynomial hashes modulo 2^64 selected the same slot.

    They collided in TokenSplits.
    """
    random = np.random.default_rng(1)
    halves = random.integers(0, 256, (2, 2 * count, 6), np.uint8)
    if not collide:
        return [half.tobytes() for half in halves.reshape(2, count, 2 * 6)[0]]
    first, last = map(_polynomials, halves)
    with np.errstate(over="ignore"):
        wanted = -(first * OTHER**6)
    order = np.argsort(last)
    # For each first half, choose the last half whose hash is `wanted` or the next larger one. Their
    # sum is 0 or so small that its high bits, which select the slot, are 0.
    found = order[np.searchsorted(last[order], wanted) % len(order)]
    with np.errstate(over="ignore"):
        sums = last[found] - wanted
    near = np.argsort(sums)[:count]
    tokens = [halves[0][i].tobytes() + halves[1][found[i]].tobytes() for i in near]
    assert len(set(tokens)) == count
    assert sums[near[-1]] >> np.uint64(64 - count.bit_length()) == 0
    return tokens


def training_words(count: int, collide: bool) -> list[str]:
    """Return words of 13 letters. The hash of WordTable used only the first 8 bytes."""
    letters = product(ascii_lowercase, repeat=5)
    numbers = ("".join(next(letters)) for _ in range(count))
    return [f"collides{number}" if collide else f"{number}ordinary" for number in numbers]


def _blocks() -> list[bytes]:
    """Return blocks of 16 bytes of printable ASCII that had the same hash."""
    random = np.random.default_rng(1)
    low = PRINTABLE[random.integers(0, len(PRINTABLE), (1 << 19, 8))].view("<u8")[:, 0]
    with np.errstate(over="ignore"):
        mixed = (low ^ np.uint64(16)) * GOLDEN
    high = mixed ^ mixed >> np.uint64(32)
    both = np.stack([low, high], axis=1).view(np.uint8).reshape(-1, 16)
    printable = ((both > 0x20) & (both < 0x7F)).all(axis=1)
    return [block.tobytes() for block in both[printable]]


def _random_blocks(count: int) -> list[bytes]:
    random = np.random.default_rng(2)
    return [block.tobytes() for block in PRINTABLE[random.integers(0, len(PRINTABLE), (count, 16))]]


def _polynomials(strings: NDArray[np.uint8]) -> Hashes:
    found = np.zeros(len(strings), np.uint64)
    with np.errstate(over="ignore"):
        for digit in strings.T.astype(np.uint64):
            found = found * OTHER + (digit + np.uint64(1)) * GOLDEN
    return found

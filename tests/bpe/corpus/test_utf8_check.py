"""Utf8Check finds what Python's decoder finds, in text that comes in blocks."""

from __future__ import annotations

import codecs
import sys
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.corpus.utf8_check import Utf8Check
from support import max_examples

# Both ends of each range of bytes in the table of well-formed sequences in the Unicode standard.
EDGES = bytes.fromhex("007F808F909FA0BFC0C1C2DFE0E1ECEDEEEFF0F1F3F4F5FF")


@pytest.fixture(params=["native", "python"])
def checks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check in C++, or in Python as without the C++ extension."""
    if request.param == "python":
        monkeypatch.setitem(sys.modules, "pretok._core", None)
        monkeypatch.delattr("pretok._core", raising=False)
    else:
        request.getfixturevalue("native")


def compare(blocks: list[bytes]) -> None:
    """Compare each step, and the result, with Python's decoder."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    check = Utf8Check()
    for block in blocks:
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            assert not check.add(block)
            assert not check.is_complete
            return
        # C++ may find a malformed sequence in an earlier block than Python's decoder.
        assert check.add(block) or not is_utf8(b"".join(blocks))
    assert check.is_complete == is_utf8(b"".join(blocks))


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.usefixtures("checks")
def test_every_sequence_of_edges() -> None:
    for count in (1, 2, 3):
        for sequence in product(EDGES, repeat=count):
            compare([bytes(sequence)])
    for first in (0xE0, 0xED, 0xF0, 0xF1, 0xF4):
        for rest in product(EDGES[:11], repeat=3):
            data = bytes([first, *rest])
            compare([data])
            compare([data[:2], data[2:]])


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("at", range(40))
def test_one_byte_among_ascii(at: int) -> None:
    """Sixteen bytes of ASCII are skipped at a time."""
    for byte in EDGES:
        data = bytearray(b"a" * 40)
        data[at] = byte
        compare([bytes(data)])
        compare([bytes(data[:at]), bytes(data[at:])])


@pytest.mark.usefixtures("checks")
@given(
    st.lists(st.sampled_from(["a" * 17, "é", "中", "😀", "\0"]) | st.text(max_size=3)),
    st.lists(st.integers(0, 200), max_size=4),
    st.none() | st.tuples(st.integers(0, 200), st.sampled_from(list(EDGES))),
)
@settings(max_examples=max_examples(300))
def test_blocks(texts: list[str], cuts: list[int], change: tuple[int, int] | None) -> None:
    data = bytearray("".join(texts).encode("utf-8", "ignore"))
    if change is not None and change[0] < len(data):
        data[change[0]] = change[1]
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    compare([bytes(data[start:end]) for start, end in pairwise(ends)])

"""Decode streams return each character as soon as it is complete, with any division of the ids."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import DecodeStream, UnknownTokenError
from decoding import SPECIAL, Index, all_ids, make
from pretok.machine.backend import BackendName
from support import max_examples


def chunks(ids: list[int], cuts: list[int]) -> Iterator[list[int]]:
    bounds = [0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]
    for start, end in pairwise(bounds):
        yield ids[start:end]


@pytest.mark.parametrize("errors", ["replace", "ignore", "surrogateescape", "backslashreplace"])
@given(
    ids=st.lists(all_ids, max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=8),
    skip=st.booleans(),
)
@settings(max_examples=max_examples(300))
def test_a_stream_returns_the_whole_text_for_any_division(
    backend: BackendName, errors: str, ids: list[int], cuts: list[int], skip: bool
) -> None:
    tok = make(backend)
    whole = tok.decode(ids, errors=errors, skip_special=skip)
    for parts in (list(chunks(ids, cuts)), [[id] for id in ids]):
        stream = tok.decode_stream(errors=errors, skip_special=skip)
        fed: list[int] = []
        out = ""
        for part in parts:
            out += stream.feed(part if len(part) != 1 else part[0])
            fed += part
            # The stream holds back only an incomplete sequence at the end.
            left = [id for id in fed if not (skip and id == SPECIAL)]
            held = held_back(tok.decode_bytes(left), errors, out)
            assert len(held) < 4
        assert out + stream.finish() == whole


def held_back(data: bytes, errors: str, out: str) -> bytes:
    """Return the bytes at the end of `data` that are not in `out`, the text returned so far.

    Fails unless they are the start of a UTF-8 sequence that later bytes may complete.
    """
    sizes = [size for size in range(5) if size <= len(data)
             and data[: len(data) - size].decode("utf-8", errors) == out]  # fmt: skip
    assert sizes, "the stream held back more than an incomplete sequence"
    held = data[len(data) - sizes[0] :]
    # Like Python's incremental decoder, the stream may wait for the third byte of a surrogate.
    if held and not (held[0] == 0xED and len(held) == 2):
        with pytest.raises(UnicodeDecodeError, match="unexpected end of data"):
            held.decode()
    return held


def test_a_stream_returns_complete_characters_at_once(backend: BackendName) -> None:
    stream = make(backend).decode_stream()
    assert isinstance(stream, DecodeStream)
    assert stream.feed([0x68, 0xC3]) == "h"
    assert stream.feed(0xA9) == "\u00e9"
    assert [stream.feed(byte) for byte in "\U0001f600".encode()] == ["", "", "", "\U0001f600"]
    assert stream.feed([0xE4, 0x41]) == "\ufffdA"
    assert stream.feed([0xFF]) == "\ufffd"
    assert stream.feed([]) == ""
    assert stream.feed(0xE4) == ""
    assert stream.finish() == "\ufffd"


@pytest.mark.parametrize("kind", [int, np.int64, np.uint32, np.int8, Index])
def test_a_stream_takes_one_id_of_any_type_of_int(backend: BackendName, kind: Any) -> None:
    assert make(backend).decode_stream().feed(kind(97)) == "a"


def test_a_finished_stream_cannot_be_used(backend: BackendName) -> None:
    stream = make(backend).decode_stream()
    assert stream.finish() == ""
    message = r"the stream is finished; get another with decode_stream\(\)"
    with pytest.raises(ValueError, match=message):
        stream.feed(97)
    with pytest.raises(ValueError, match=message):
        stream.finish()


@pytest.mark.parametrize("wrong", [259, [97, 259], [97, -1], np.array([98, 259]), [97, None],
                                   [98, "x"], [97, 1 << 70]])  # fmt: skip
def test_refused_ids_do_not_change_a_stream(backend: BackendName, wrong: Any) -> None:
    stream = make(backend).decode_stream()
    assert stream.feed([0xF0, 0x9F]) == ""
    with pytest.raises((UnknownTokenError, TypeError)):
        stream.feed(wrong)
    assert stream.feed([0x98, 0x80]) == "\U0001f600"


def test_refused_ids_do_not_change_a_strict_stream(backend: BackendName) -> None:
    stream = make(backend).decode_stream(errors="strict")
    assert stream.feed(0xE4) == ""
    with pytest.raises(UnicodeDecodeError):
        stream.feed(0x41)
    assert stream.feed([0xB8, 0xAD]) == "\u4e2d"
    assert stream.feed(0xE4) == ""
    with pytest.raises(UnicodeDecodeError):
        stream.finish()


def test_streams_do_not_share_state(backend: BackendName) -> None:
    tok = make(backend)
    first, second = tok.decode_stream(), tok.decode_stream()
    assert (first.feed(0xC3), second.feed(0x41)) == ("", "A")
    assert (first.feed(0xA9), second.finish()) == ("\u00e9", "")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_does_not_share_state(copied: Callable[[Any], Any], backend: BackendName) -> None:
    stream = make(backend).decode_stream()
    stream.feed([97, 0xC3])
    other = copied(stream)
    assert other.feed(0xA9) == "é"
    assert stream.ids == (97, 0xC3)
    assert repr(other) == "DecodeStream(3 ids, open)"
    with pytest.raises(TypeError, match="cannot pickle a DecodeStream"):
        pickle.dumps(stream)


def test_a_stream_omits_unknown_ids(backend: BackendName) -> None:
    tok = make(backend)
    stream = tok.decode_stream(unknown="skip")
    assert isinstance(stream, DecodeStream)
    assert stream.feed([0xC3, 99_999, 0xA9]) + stream.feed(99_999) + stream.feed(97) == "éa"
    assert stream.finish() == ""
    with pytest.raises(ValueError, match="the stream is finished"):
        stream.feed(97)
    with pytest.raises(ValueError, match="the stream is finished"):
        stream.finish()
    with pytest.raises(ValueError, match='unknown=\'no\': expected "raise" or "skip"'):
        tok.decode_stream(unknown="no")  # type: ignore[arg-type]

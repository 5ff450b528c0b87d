"""Decoding: ids of every kind of container, what is no id, and streams."""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, DecodeStream, Tokenizer, UnknownTokenError, Vocabulary
from pretok.pretokenizer import BackendName
from support import max_examples, run_python
from vocabularies import BYTES

VOCABULARY = Vocabulary(
    BYTES | {256: b"ab", 257: "\u4e2d".encode()[:2], 258: b"\x9f\x98", 260: " \u00e9".encode()}
)
SPECIAL = 300
IDS = [*range(259), 260, SPECIAL, 301]
all_ids = st.sampled_from(IDS) | st.sampled_from([0xF0, 0x9F, 0x98, 0x80, 257, 0xAD, 258, SPECIAL])
INT_TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u2", ">u8", np.intp)
Decode = Callable[[Tokenizer, Any], object]
DECODERS: dict[str, Decode] = {
    "decode": lambda tok, ids: tok.decode(ids),
    "decode_bytes": lambda tok, ids: tok.decode_bytes(ids),
    "decode_stream": lambda tok, ids: tok.decode_stream().feed(ids),
}
each_decoder = pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)


def make(backend: BackendName) -> Tokenizer:
    added = [AddedToken("<s>", SPECIAL), AddedToken("<plain>", 301, special=False)]
    return Tokenizer(VOCABULARY, "gpt2", added_tokens=added, backend=backend)


def test_what_ids_become(backend: BackendName) -> None:
    tok = make(backend)
    assert tok.decode([256, 33, SPECIAL, 260, 301]) == "ab!<s> \u00e9<plain>"
    assert tok.decode_bytes([257, 0xAD, 0xFF]) == b"\xe4\xb8\xad\xff"
    assert tok.decode([257, 0xAD, 0xFF]) == "\u4e2d\ufffd"
    assert tok.decode([]) == ""
    assert tok.decode_bytes([]) == b""
    assert tok.decode([257]) == b"\xe4\xb8".decode("utf-8", "replace") == "\ufffd"


@given(ids=st.lists(all_ids, max_size=20))
@settings(max_examples=max_examples(200))
def test_containers(backend: BackendName, ids: list[int]) -> None:
    tok = make(backend)
    wanted = b"".join(map(tok.token_bytes, ids))
    given: list[Any] = [
        ids, tuple(ids), iter(ids), (id for id in ids), dict.fromkeys(ids) and ids, map(int, ids),
        np.array(ids, np.int64), np.array(ids, np.uint32), list(np.array(ids, np.int32)),
        array.array("i", ids),
    ]  # fmt: skip
    for each in given:
        assert tok.decode_bytes(each) == wanted
    assert tok.decode(ids) == wanted.decode("utf-8", "replace")
    assert tok.decode(np.array(ids, np.uint16), "surrogateescape") == wanted.decode(
        "utf-8", "surrogateescape"
    )


@pytest.mark.parametrize("dtype", INT_TYPES)
def test_arrays_of_every_type_of_int(backend: BackendName, dtype: Any) -> None:
    tok = make(backend)
    most = min(int(np.iinfo(dtype).max), 256)
    ids = [97, 98, 0, 33, min(most, 127), most]
    given = np.array(ids, dtype)
    assert tok.decode_bytes(given) == tok.decode_bytes(ids)
    assert tok.decode_bytes(given[::-1]) == tok.decode_bytes(ids[::-1])
    assert tok.decode_bytes(given[::2]) == tok.decode_bytes(ids[::2])
    assert tok.decode_bytes(np.array([], dtype)) == b""
    assert tok.decode_stream().feed(given[:2]) == "ab"
    assert tok.decode(given, skip_special=True) == tok.decode(ids)
    given.flags.writeable = False
    assert tok.decode(given) == tok.decode(ids)
    assert tok.token_bytes(given[0]) == b"a"


def test_an_empty_array_of_no_type(backend: BackendName) -> None:
    # np.array([]) is of floats, and holds none.
    assert make(backend).decode(np.array([])) == ""
    assert make(backend).decode_bytes(np.array([])) == b""


@each_decoder
@pytest.mark.parametrize(
    ("ids", "at", "id"),
    [
        ([97, 259], 1, 259),
        ([97, 98, -1], 2, -1),
        ([1 << 24], 0, 1 << 24),
        ([97, 1 << 32], 1, 1 << 32),
        ([97, (1 << 32) + 97], 1, (1 << 32) + 97),
        ([1 << 63], 0, 1 << 63),
        ([1 << 64, 5], 0, 1 << 64),
        ([(1 << 64) + 97], 0, (1 << 64) + 97),
        ([-(1 << 70)], 0, -(1 << 70)),
        ((97, 302), 1, 302),
        (np.array([97, 259]), 1, 259),
        (np.array([97, -1], np.int8), 1, -1),
        (np.array([97, (1 << 64) - 1], np.uint64), 1, (1 << 64) - 1),
        (np.array([(1 << 32) + 97]), 0, (1 << 32) + 97),
    ],
)
def test_an_id_that_no_token_has(
    backend: BackendName, decode: Decode, ids: Any, at: int, id: int
) -> None:
    message = rf"ids\[{at}\] is {id}, which is no token's id; expected .* largest of which is 301"
    with pytest.raises(UnknownTokenError, match=message) as caught:
        decode(make(backend), ids)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, bpe.BpeError)


def test_the_position_counts_special_tokens_that_are_left_out(backend: BackendName) -> None:
    tok = make(backend)
    with pytest.raises(UnknownTokenError, match=r"ids\[2\] is 999"):
        tok.decode([SPECIAL, 97, 999], skip_special=True)
    with pytest.raises(UnknownTokenError, match=r"ids\[2\] is 999"):
        tok.decode_stream(skip_special=True).feed([SPECIAL, 97, 999])
    with pytest.raises(UnknownTokenError, match=r"ids\[1\] is 999"):
        tok.decode(iter([97, 999]))


@each_decoder
@pytest.mark.parametrize(
    ("ids", "at"),
    [(["a"], 0), ([97, None], 1), ([97, 1.0], 1), ([[97]], 0), ([b"a"], 0), ([97, "98"], 1),
     (np.array([1.0]), 0), (np.array([True]), 0), ("ab", 0), ([97, np.float64(98)], 1),
     (np.array([97, None]), 1)],
)  # fmt: skip
def test_what_is_no_id(backend: BackendName, decode: Decode, ids: Any, at: int) -> None:
    with pytest.raises(TypeError, match=rf"ids\[{at}\] is .*; expected an int"):
        decode(make(backend), ids)


@pytest.mark.parametrize("ids", [["a"], [[97]], np.array([1.5]), [97, None]])
def test_what_is_no_id_where_special_tokens_are_left_out(backend: BackendName, ids: Any) -> None:
    tok = make(backend)
    with pytest.raises(TypeError, match=r"ids\[[01]\] is .*; expected an int"):
        tok.decode(ids, skip_special=True)
    with pytest.raises(TypeError, match=r"ids\[[01]\] is .*; expected an int"):
        tok.decode_stream(skip_special=True).feed(ids)


@each_decoder
@pytest.mark.parametrize("shape", [(1, 1), (2, 2)])
def test_arrays_of_more_dimensions(
    backend: BackendName, decode: Decode, shape: tuple[int, ...]
) -> None:
    with pytest.raises(TypeError, match=r"expected an int|expected one dimension of ints"):
        decode(make(backend), np.full(shape, 97))


@pytest.mark.parametrize("ids", [5, None, 1.5, np.array(5)])
def test_ids_that_are_no_sequence(backend: BackendName, ids: Any) -> None:
    tok = make(backend)
    for call in (tok.decode, tok.decode_bytes, lambda ids: tok.decode(ids, skip_special=True)):
        with pytest.raises(TypeError):
            call(ids)


def test_an_array_of_objects_is_as_a_list(backend: BackendName) -> None:
    assert make(backend).decode(np.array([97, 256], object)) == "aab"


class Index:
    """What can be used as an int."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Raises:
    def __index__(self) -> int:
        raise ZeroDivisionError


def test_what_can_be_used_as_an_int(backend: BackendName) -> None:
    tok = make(backend)
    assert tok.decode([Index(97), np.uint8(98), True]) == "ab\x01"  # type: ignore[list-item]
    assert tok.decode((Index(256),)) == "ab"  # type: ignore[arg-type]
    with pytest.raises((ZeroDivisionError, TypeError)):
        tok.decode([97, Raises()])  # type: ignore[list-item]


CHANGING = """
import sys
from bpe import Tokenizer, Vocabulary
tok = Tokenizer(Vocabulary({b: bytes([b]) for b in range(256)}), "gpt2", backend=sys.argv[1])
class Shrinks:
    def __index__(self):
        ids.clear()
        ids.extend(range(98, 98 + int(sys.argv[2])))
        return 97
for turn in range(int(sys.argv[3])):
    ids = [Shrinks() for _ in range(1000)]
    try:
        text = tok.decode_bytes(ids)
        assert set(text) <= set(range(256))
    except (ValueError, RuntimeError, TypeError):
        pass
print("done")
"""


@pytest.mark.parametrize(("size", "turns"), [("0", "200"), ("20", "200"), ("5000", "20")])
def test_a_list_that_changes_meanwhile(backend: BackendName, size: str, turns: str) -> None:
    done = run_python(CHANGING, backend, size, turns)
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr


@pytest.mark.parametrize("errors", ["strict", "ignore", "replace", "surrogateescape",
                                    "backslashreplace"])  # fmt: skip
@given(ids=st.lists(all_ids, max_size=12))
@settings(max_examples=max_examples(100))
def test_error_handlers_are_those_of_python(
    backend: BackendName, errors: str, ids: list[int]
) -> None:
    tok = make(backend)
    try:
        wanted = tok.decode_bytes(ids).decode("utf-8", errors)
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            tok.decode(ids, errors)
    else:
        assert tok.decode(ids, errors) == tok.decode(ids, errors=errors) == wanted


def test_an_error_handler_that_there_is_not(backend: BackendName) -> None:
    with pytest.raises(LookupError, match="unknown error handler name"):
        make(backend).decode([0xFF], "nonsense")


def test_special_tokens_can_be_left_out(backend: BackendName) -> None:
    tok = make(backend)
    ids = [SPECIAL, 256, 301, SPECIAL, 33]
    assert tok.decode(ids, skip_special=True) == "ab<plain>!"
    assert tok.decode(np.array(ids), skip_special=True) == "ab<plain>!"
    assert tok.decode(iter(ids), skip_special=True) == "ab<plain>!"
    stream = tok.decode_stream(skip_special=True)
    assert [stream.feed(id) for id in ids] == ["", "ab", "<plain>", "", "!"]


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
def test_a_stream_is_the_whole_however_it_is_cut(
    backend: BackendName, errors: str, ids: list[int], cuts: list[int], skip: bool
) -> None:
    tok = make(backend)
    whole = tok.decode(ids, errors, skip)
    for parts in (list(chunks(ids, cuts)), [[id] for id in ids]):
        stream = tok.decode_stream(errors, skip)
        fed: list[int] = []
        out = ""
        for part in parts:
            out += stream.feed(part if len(part) != 1 else part[0])
            fed += part
            # What is behind a whole sequence is held back, and that is an incomplete one.
            left = [id for id in fed if not (skip and id == SPECIAL)]
            held = held_back(tok.decode_bytes(left), errors, out)
            assert len(held) < 4
        assert out + stream.finish() == whole


def held_back(data: bytes, errors: str, out: str) -> bytes:
    """Return the bytes at the end of `data` that are not in `out`."""
    sizes = [size for size in range(5) if size <= len(data)
             and data[: len(data) - size].decode("utf-8", errors) == out]  # fmt: skip
    assert sizes, "more is held back than an incomplete sequence"
    held = data[len(data) - sizes[0] :]
    # Python's own decoder waits for the third byte of what would be a surrogate.
    if held and not (held[0] == 0xED and len(held) == 2):
        with pytest.raises(UnicodeDecodeError, match="unexpected end of data"):
            held.decode()
    return held


def test_a_stream_gives_what_is_whole_at_once(backend: BackendName) -> None:
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


def test_a_stream_is_finished_once(backend: BackendName) -> None:
    stream = make(backend).decode_stream()
    assert stream.finish() == ""
    message = r"the stream is finished; get another with decode_stream\(\)"
    with pytest.raises(ValueError, match=message):
        stream.feed(97)
    with pytest.raises(ValueError, match=message):
        stream.finish()


@pytest.mark.parametrize("wrong", [259, [97, 259], [97, -1], np.array([98, 259]), [97, None],
                                   [98, "x"], [97, 1 << 70]])  # fmt: skip
def test_a_stream_is_as_before_what_it_refused(backend: BackendName, wrong: Any) -> None:
    stream = make(backend).decode_stream()
    assert stream.feed([0xF0, 0x9F]) == ""
    with pytest.raises((UnknownTokenError, TypeError)):
        stream.feed(wrong)
    assert stream.feed([0x98, 0x80]) == "\U0001f600"


def test_a_strict_stream_is_as_before_what_it_refused(backend: BackendName) -> None:
    stream = make(backend).decode_stream("strict")
    assert stream.feed(0xE4) == ""
    with pytest.raises(UnicodeDecodeError):
        stream.feed(0x41)
    assert stream.feed([0xB8, 0xAD]) == "\u4e2d"
    assert stream.feed(0xE4) == ""
    with pytest.raises(UnicodeDecodeError):
        stream.finish()


def test_streams_do_not_share_anything(backend: BackendName) -> None:
    tok = make(backend)
    first, second = tok.decode_stream(), tok.decode_stream()
    assert (first.feed(0xC3), second.feed(0x41)) == ("", "A")
    assert (first.feed(0xA9), second.finish()) == ("\u00e9", "")


def test_token_bytes_and_token_id(backend: BackendName) -> None:
    tok = make(backend)
    for id, token in VOCABULARY.token_bytes.items():
        assert tok.token_bytes(id) == token
        assert tok.token_id(token) == id
    assert tok.token_bytes(SPECIAL) == b"<s>"
    assert tok.token_id("<s>") == SPECIAL
    assert tok.token_id("<plain>") == 301
    assert tok.token_id("ab") == 256
    assert tok.token_id(" \u00e9") == 260
    for missing in ("abc", b"abc", "<S>", "", b"", "\u4e2d", "\ud800"):
        with pytest.raises(UnknownTokenError, match=r"no token is .*; encode"):
            tok.token_id(missing)
    with pytest.raises(UnknownTokenError):
        tok.token_bytes(259)
    for wrong in (None, "97", 97.0, b"a", [97]):
        with pytest.raises(TypeError):
            tok.token_bytes(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, 97, 1.5, ["a"], object()])
def test_token_id_of_another_type(backend: BackendName, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"expected (str or bytes|bytes or str)"):
        make(backend).token_id(wrong)


def test_decoding_much(backend: BackendName) -> None:
    tok = make(backend)
    count = 1_000_000 if backend == "native" else 100_000
    ids = [256, 33] * count
    assert tok.decode(ids) == "ab!" * count
    assert tok.decode_bytes(np.array(ids)) == b"ab!" * count

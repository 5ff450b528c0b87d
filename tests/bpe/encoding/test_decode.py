"""Decode ids in every kind of container; refuse values that are not ids."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, Tokenizer, UnknownTokenError, Vocabulary
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from decoding import SPECIAL, VOCABULARY, Index, all_ids, make
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from support import max_examples, run_python
from vocabularies import BYTES
from vocabulary_files import made, made_vocabulary

INT_TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u2", ">u8", np.intp)
Decode = Callable[[Tokenizer, Any], object]
DECODERS: dict[str, Decode] = {
    "decode": lambda tok, ids: tok.decode(ids),
    "decode_bytes": lambda tok, ids: tok.decode_bytes(ids),
    "decode_stream": lambda tok, ids: tok.decode_stream().feed(ids),
}
each_decoder = pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)


def test_text_and_bytes_of_ids(backend: BackendName) -> None:
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
        ids, tuple(ids), iter(ids), (id for id in ids), map(int, ids),
        np.array(ids, np.int64), np.array(ids, np.uint32), list(np.array(ids, np.int32)),
        array.array("i", ids),
    ]  # fmt: skip
    for each in given:
        assert tok.decode_bytes(each) == wanted
    assert tok.decode(ids) == wanted.decode("utf-8", "replace")
    assert tok.decode(np.array(ids, np.uint16), errors="surrogateescape") == wanted.decode(
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


def test_an_empty_array_of_floats(backend: BackendName) -> None:
    # np.array([]) has the dtype float64, although it holds no floats.
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
    message = rf"ids\[{at}\] is {id}, which is not the id of a token; the largest id is 301"
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
def test_invalid_ids_are_refused(backend: BackendName, decode: Decode, ids: Any, at: int) -> None:
    with pytest.raises(TypeError, match=rf"ids\[{at}\] is .*; expected an int"):
        decode(make(backend), ids)


@each_decoder
@pytest.mark.parametrize("ids", [[1, 1.0], [1, np.float64(1)], [1, "1"]])
def test_a_character_vocabulary_refuses_ids_that_are_not_ints(
    backend: BackendName, decode: Decode, ids: list[Any]
) -> None:
    tok = Tokenizer(CharacterVocabulary({0: b"<unk>", 1: b"a"}, {1: 0.0}, 0), WHOLE,
                    backend=backend)  # fmt: skip
    with pytest.raises(TypeError, match=r"ids\[1\] is .*; expected an int"):
        decode(tok, ids)


@pytest.mark.parametrize("id", [4, 9])
@pytest.mark.parametrize("options", [TextOptions("<unk>", fuses_unknown=True),
                                     TextOptions("<unk>", byte_level=True)])  # fmt: skip
def test_added_tokens_of_a_text_vocabulary(
    backend: BackendName, options: TextOptions, id: int
) -> None:
    vocabulary = TextVocabulary({0: "<unk>", 1: "a", 2: "b", 3: "ab"}, [(1, 2, 3)], options)
    preset = "gpt2" if options.byte_level else WHOLE
    tok = Tokenizer(vocabulary, preset, added_tokens=[AddedToken("<s>", id)], backend=backend)
    ids = tok.encode("ab!<s>a", "allow")
    assert ids == [3, 0, id, 1]
    assert tok.decode(ids) == "ab<unk><s>a"
    assert tok.decode_bytes(np.array(ids)) == b"ab<unk><s>a"
    assert tok.decode(ids, skip_special=True) == "ab<unk>a"
    assert tok.decode_batch([ids, [id]]) == ["ab<unk><s>a", "<s>"]
    assert tok.decode_stream().feed(ids) == "ab<unk><s>a"
    assert tok.token_bytes(id) == b"<s>"
    assert [token.bytes for token in tok.tokens("ab<s>", "allow")] == [b"ab", b"<s>"]
    with pytest.raises(UnknownTokenError, match=rf"ids\[1\] is {id + 1}, which"):
        tok.decode([id, id + 1])


@pytest.mark.parametrize("ids", [["a"], [[97]], np.array([1.5]), [97, None]])
def test_invalid_ids_are_refused_with_skip_special(backend: BackendName, ids: Any) -> None:
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
    with pytest.raises(TypeError, match=r"ids\[0\] is \[.*; expected an int"):
        decode(make(backend), np.full(shape, 97))


def make_piece_tokenizer(backend: BackendName) -> Tokenizer:
    pieces = CharacterVocabulary({0: b"<unk>", 1: b"a"}, {1: 0.0}, 0)
    return Tokenizer(pieces, WHOLE, backend=backend)


def make_chain_tokenizer(backend: BackendName) -> Tokenizer:
    return bpe.train(["ab"], vocab_size=5, alphabet="characters", backend=backend)


@pytest.mark.parametrize("make", [make, make_piece_tokenizer, make_chain_tokenizer])
@pytest.mark.parametrize("ids", [1, None, 1.5, np.array(1)])
def test_ids_that_cannot_be_iterated(
    backend: BackendName, make: Callable[[BackendName], Tokenizer], ids: Any
) -> None:
    tok = make(backend)
    calls: list[Callable[[Any], object]] = [
        tok.decode,
        tok.decode_bytes,
        lambda ids: tok.decode(ids, skip_special=True),
        lambda ids: tok.decode(ids, unknown="skip"),
        lambda ids: tok.decode_batch([[1], ids]),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="expected an iterable of ids, got "):
            call(ids)
    if isinstance(ids, float | None):
        with pytest.raises(TypeError, match="expected an id or an iterable of ids, got "):
            tok.decode_stream().feed(ids)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="expected an iterable of iterables of ids, got "):
            tok.decode_batch(ids)  # type: ignore[arg-type]
    else:
        assert tok.decode_stream().feed(ids) == tok.decode([1])


def test_skipping_unknown_ids_refuses_values_that_are_not_ints(backend: BackendName) -> None:
    with pytest.raises(TypeError, match=r"ids\[2\] is 1.5; expected an int"):
        make(backend).decode([97, 999, 1.5], unknown="skip")  # type: ignore[list-item]


def test_an_array_of_objects_decodes_like_a_list(backend: BackendName) -> None:
    assert make(backend).decode(np.array([97, 256], object)) == "aab"


class Raises:
    def __index__(self) -> int:
        raise ZeroDivisionError


def test_objects_with_index_are_ids(backend: BackendName) -> None:
    tok = make(backend)
    assert tok.decode([Index(97), np.uint8(98), True]) == "ab\x01"  # type: ignore[list-item]
    assert tok.decode((Index(256),)) == "ab"  # type: ignore[arg-type]
    with pytest.raises((ZeroDivisionError, TypeError)):
        tok.decode([97, Raises()])  # type: ignore[list-item]


def test_an_id_that_changes(backend: BackendName) -> None:
    class Changes:
        def __init__(self) -> None:
            self.values = iter([999])

        def __index__(self) -> int:
            return next(self.values, 97)

    with pytest.raises(TypeError, match="ids, of type list, changed while they were decoded"):
        make(backend).decode([Changes()])  # type: ignore[list-item]


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
def test_a_list_that_changes_while_it_is_decoded(
    backend: BackendName, size: str, turns: str
) -> None:
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
            tok.decode(ids, errors=errors)
    else:
        assert tok.decode(ids, errors=errors) == wanted


def test_an_unknown_error_handler_is_refused(backend: BackendName) -> None:
    with pytest.raises(LookupError, match="unknown error handler name"):
        make(backend).decode([0xFF], errors="nonsense")


def test_special_tokens_can_be_left_out(backend: BackendName) -> None:
    tok = make(backend)
    ids = [SPECIAL, 256, 301, SPECIAL, 33]
    assert tok.decode(ids, skip_special=True) == "ab<plain>!"
    assert tok.decode(np.array(ids), skip_special=True) == "ab<plain>!"
    assert tok.decode(iter(ids), skip_special=True) == "ab<plain>!"
    kinds: list[Any] = [Index, np.array, np.int64]  # the items have `__index__`
    for kind in kinds:
        assert tok.decode([kind(id) for id in ids], skip_special=True) == "ab<plain>!"
    stream = tok.decode_stream(skip_special=True)
    assert [stream.feed(id) for id in ids] == ["", "ab", "<plain>", "", "!"]


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
        with pytest.raises(UnknownTokenError, match=r"is not a token; encode"):
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


def test_decoding_many_ids(backend: BackendName) -> None:
    tok = make(backend)
    count = 1_000_000 if backend == "native" else 100_000
    ids = [256, 33] * count
    assert tok.decode(ids) == "ab!" * count
    assert tok.decode_bytes(np.array(ids)) == b"ab!" * count


PARTS = st.sampled_from(
    [
        *(b"a", b"some ascii text", b"x" * 130),
        *(text.encode() for text in ("é", "а" * 5, "中" * 4, "中" * 50, "\U0001f600", "\x80", "Ā")),
        *(b"\xef\xbf\xbf", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xed\xa0\x80"),
        *(b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xc1\xbf"),
        *(b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\x80", b"\xff"),
    ]
)


def outcome(decode: Callable[[], str]) -> object:
    """Return the decoded text, or the arguments of the UnicodeDecodeError."""
    try:
        return decode()
    except UnicodeDecodeError as error:
        return error.args


@given(parts=st.lists(PARTS, max_size=12))
@example([b"\xe4", b"a" * 200])
@settings(max_examples=max_examples(400))
def test_bytes_that_may_not_be_utf8(native: BackendName, parts: list[bytes]) -> None:
    data = b"".join(parts)
    ours = made(native, Vocabulary(BYTES, []), special=())
    for errors in ("replace", "ignore", "backslashreplace", "surrogateescape"):
        assert ours.decode(list(data), errors=errors) == data.decode("utf-8", errors)
    assert ours.decode_bytes(list(data)) == data
    assert outcome(lambda: ours.decode(list(data), errors="strict")) == outcome(data.decode)


@pytest.mark.parametrize(
    "kind",
    [
        list, tuple, iter, np.array,
        *(lambda ids, dtype=dtype: np.array(ids, dtype)
          for dtype in ("u2", "i4", "u4", "i8", "u8", ">i4", ">u8")),
        lambda ids: np.repeat(np.array(ids), 2)[::2],
        lambda ids: np.frombuffer(b"x" + np.array(ids, "u4").tobytes(), "u4", offset=1),
        lambda ids: [np.int64(id) for id in ids],
        lambda ids: [*ids[:-1], np.uint32(ids[-1])],
    ],
)  # fmt: skip
def test_containers_of_thousands_of_ids(backend: BackendName, kind: Any) -> None:
    ours = made(backend, special=(("<|end|>", 300), ("<pad>", 70000)))
    ids = [256, 300, 99, 300, 262, 257] * 900
    text = "ab<|end|>c<|end|>é t" * 900
    assert ours.decode(kind(ids)) == text
    assert ours.decode(kind(ids), skip_special=True) == text.replace("<|end|>", "")
    assert ours.decode_bytes(kind(ids)) == text.encode()


@pytest.mark.parametrize("wrong", [-1, 299, 70000, 2**31, 2**63, -(2**70)])
def test_the_position_of_a_wrong_id_in_every_container(backend: BackendName, wrong: int) -> None:
    ours = made(backend)
    for ids in ([97, wrong], (97, wrong), iter([97, wrong]), [97] * 5000 + [wrong]):
        with pytest.raises(UnknownTokenError, match=f"is {wrong}, which is not the id of a token"):
            ours.decode(ids)
    if -(2**63) <= wrong < 2**63:
        with pytest.raises(UnknownTokenError, match=r"ids\[1\] is"):
            ours.decode(np.array([97, wrong], np.int64), skip_special=True)


def test_long_tokens(backend: BackendName) -> None:
    tokens = {**BYTES, **{256 + size: bytes([97 + size % 26]) * size for size in range(2, 80)}}
    added = [AddedToken("long " * 1000, 1000)]
    ours = made(backend, Vocabulary(tokens, []), special=(), added_tokens=added)
    ids = [*range(258, 336), 1000, 120] * 3
    want = b"".join(tokens.get(id, b"long " * 1000) for id in ids)
    assert ours.decode_bytes(ids) == want
    assert ours.decode(np.array(ids, np.uint32)) == want.decode()


def test_handlers_that_do_not_exist(backend: BackendName) -> None:
    ours = made(backend, made_vocabulary())
    for wrong in ("no such handler", "nul\0nul", "\ud800"):
        with pytest.raises((LookupError, ValueError)):
            ours.decode([255], errors=wrong)
    with pytest.raises(TypeError):
        ours.decode([255], errors=None)  # type: ignore[arg-type]

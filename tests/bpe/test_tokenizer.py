"""Tokenizer: every method agrees with every other, for str and bytes, on both backends."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pretok
from bpe import AddedToken, Template, Token, Tokenizer, UnknownTokenError, Vocabulary
from bpe.merge import Merger
from hello_tokenizer import SPECIAL, TEXT, VOCABULARY, make
from pretok.machine.backend import BackendName
from support import SOME_NAMES, max_examples, seeded
from vocabularies import BYTES

texts = st.text("hello wr's12\n\u4e2d\u00e9\U0001f600<s>\x00", max_size=30) | st.text(max_size=15)
surrogates = st.text("a\u4e2d\U0001f600\ud83d\ude00\ud800\udfff\udc80\udcff", max_size=12)


def by_hand(preset: str, data: bytes) -> list[int]:
    """Return the ids of pre-tokens merged one by one."""
    merger = Merger(VOCABULARY)
    parts = pretok.get(preset, backend="python").split_bytes(data)
    return [id for part in parts for id in merger.merge(part)]


@pytest.mark.parametrize("preset", SOME_NAMES)
@given(text=texts)
@example(TEXT)
@settings(max_examples=max_examples(60))
def test_all_methods_agree(backend: BackendName, preset: str, text: str) -> None:
    tok = make(backend, preset)
    for policy in ("text", "allow", {"<s>"}):
        ids = tok.encode(text, policy)
        if policy == "text" or "<s>" not in text:
            assert ids == by_hand(preset, text.encode())
        assert all(type(id) is int for id in ids)
        assert tok.encode(text.encode(), policy) == ids
        found = tok.encode_array(text, policy)
        assert (str(found.dtype), found.shape, found.tolist()) == ("uint32", (len(ids),), ids)
        assert tok.count(text, policy) == len(ids)
        tokens = tok.tokens(text, policy)
        assert [token.id for token in tokens] == ids
        assert [token.bytes for token in tokens] == [tok.token_bytes(id) for id in ids]
        assert tok.decode(ids) == tok.decode(found) == text
        assert tok.decode_bytes(ids) == text.encode()
        assert tok.encode_batch([text, "", text.encode()], policy) == [ids, [], ids]
        flat, offsets = tok.encode_batch_array([text, "", text], policy)
        assert (str(flat.dtype), str(offsets.dtype)) == ("uint32", "int64")
        assert flat.tolist() == ids + ids
        assert offsets.tolist() == [0, len(ids), len(ids), 2 * len(ids)]


@pytest.mark.parametrize("preset", SOME_NAMES)
@given(data=st.binary(max_size=30) | texts.map(str.encode))
@settings(max_examples=max_examples(60))
def test_bytes_come_back(backend: BackendName, preset: str, data: bytes) -> None:
    tok = make(backend, preset)
    for policy in ("text", "allow"):
        ids = tok.encode(data, policy)
        assert tok.decode_bytes(ids) == data
        assert tok.encode_array(data, policy).tolist() == ids
        assert tok.count(data, policy) == len(ids)
        assert tok.encode_batch([data], policy) == [ids]
        tokens = tok.tokens(data, policy)
        assert [data[token.start : token.end] for token in tokens] == [
            tok.token_bytes(id) for id in ids
        ]
    assert tok.encode(data, "text") == by_hand(preset, data)


def test_worked_examples(backend: BackendName) -> None:
    # An example from a text that teaches BPE: three merges turn eleven letters into five symbols.
    tokens = BYTES | {256: b"aa", 257: b"ab", 258: b"aaab"}
    merges = [(97, 97, 256), (97, 98, 257), (256, 257, 258)]
    tok = Tokenizer(Vocabulary(tokens, merges), "gpt2", backend=backend)
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    # <PAD> <UNK> <BOS> <EOS> at 0 to 3, bytes from 4 on, then ab, abc, abcd.
    tokens = {byte + 4: token for byte, token in BYTES.items()}
    tokens |= {260: b"ab", 261: b"abc", 262: b"abcd"}
    specials = ["<PAD>", "<UNK>", "<BOS>", "<EOS>"]
    added = [AddedToken(content, id) for id, content in enumerate(specials)]
    merges = [(101, 102, 260), (260, 103, 261), (261, 104, 262)]
    tok = Tokenizer(Vocabulary(tokens, merges), "gpt2", added_tokens=added, backend=backend)
    assert tok.encode("ab") == [260]
    assert tok.encode("abcde") == [262, 105]
    assert tok.decode([262, 105]) == "abcde"
    assert tok.encode("<BOS>ab<EOS>", "allow") == [2, 260, 3]


def pieces(text: str, tokens: list[Token]) -> None:
    """Assert that spans are in order, hold their tokens' bytes, and cover the whole text."""
    ends = [0]
    for token in tokens:
        assert 0 <= token.start <= token.end <= len(text)
        of = text[token.start : token.end].encode()
        assert token.bytes in of
        assert token.start <= ends[-1] <= token.end
        ends.append(token.end)
    assert ends[-1] == len(text)
    data = [len(char.encode()) for char in text]
    places = list(accumulate(data, initial=0))
    at = 0
    for token in tokens:
        start = max(i for i in range(len(text)) if places[i] <= at)
        at += len(token.bytes)
        end = min(i for i in range(len(places)) if places[i] >= at)
        assert (token.start, token.end) == (start, end)


@given(text=texts)
@example("\U0001f600")
@example("\u4e2d\u6587")
@settings(max_examples=max_examples(200))
def test_spans(backend: BackendName, text: str) -> None:
    tok = make(backend)
    pieces(text, tok.tokens(text, "allow"))
    pieces(text, tok.tokens(text, "text"))


def test_the_span_of_a_part_of_a_code_point_is_the_whole_code_point(
    backend: BackendName,
) -> None:
    tok = make(backend)
    found = tok.tokens("a\U0001f600\u4e2d!")
    assert [(token.bytes, token.start, token.end) for token in found] == [
        (b"a", 0, 1),
        (b"\xf0\x9f\x98", 1, 2),
        (b"\x80", 1, 2),
        ("\u4e2d".encode(), 2, 3),
        (b"!", 3, 4),
    ]
    found = tok.tokens("a\U0001f600".encode())
    assert [(token.start, token.end) for token in found] == [(0, 1), (1, 4), (4, 5)]
    assert found[0] == Token(97, b"a", 0, 1) == (97, b"a", 0, 1)
    assert all(type(value) is int for token in found for value in (token[0], *token[2:]))


@given(text=surrogates)
@example("\ud83d\ude00")
@example("\ud83d\ud83d\ude00\ude00")
@settings(max_examples=max_examples(300))
def test_surrogates_are_joined_or_replaced(backend: BackendName, text: str) -> None:
    tok = make(backend)
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    ids = tok.encode(joined)
    assert tok.encode(text) == tok.encode(text, errors="replace") == ids
    assert tok.encode_array(text).tolist() == ids
    assert tok.count(text) == len(ids)
    assert tok.encode_batch([text, "a"]) == [ids, [97]]
    tokens = tok.tokens(text)
    assert [token.id for token in tokens] == ids
    # Each code point of `joined` is one code point of `text`, or the two of a surrogate pair.
    widths = []
    at = 0
    for char in joined:
        widths.append(1 + (char > "\uffff" and text[at] != char))
        at += widths[-1]
    assert at == len(text)
    places = list(accumulate(widths, initial=0))
    for token, of in zip(tokens, tok.tokens(joined), strict=True):
        assert (token.start, token.end) == (places[of.start], places[of.end])


@given(text=surrogates)
@settings(max_examples=max_examples(200))
def test_surrogates_with_other_handlers(backend: BackendName, text: str) -> None:
    tok = make(backend)
    for errors in ("strict", "surrogateescape"):
        calls: list[Any] = [tok.encode, tok.encode_array, tok.count, tok.tokens]
        try:
            data = text.encode("utf-8", errors)
        except UnicodeEncodeError:
            for call in calls:
                with pytest.raises(UnicodeEncodeError):
                    call(text, errors=errors)
            with pytest.raises(UnicodeEncodeError):
                tok.encode_batch(["a", text], errors=errors)
            continue
        for call in calls:
            result, wanted = call(text, errors=errors), call(data)
            if call == tok.tokens:
                assert [token[:2] for token in result] == [token[:2] for token in wanted]
                assert all(text[token.start : token.end] for token in result)
                assert [text[token.start : token.end].encode("utf-8", errors).find(token.bytes)
                        for token in result].count(-1) == 0  # fmt: skip
            else:
                assert np.array_equal(result, wanted)
        ids = tok.encode(text, errors=errors)
        assert tok.decode(ids, errors=errors) == text
        assert tok.encode_batch(["a", text], errors=errors)[1] == ids


@pytest.mark.parametrize("wrong", ["ignore", "", "STRICT", None, 5])
def test_an_unknown_error_handler_is_refused(backend: BackendName, wrong: Any) -> None:
    tok = make(backend)
    message = "errors=.*; expected 'replace', 'strict' or 'surrogateescape'"
    for call in (tok.encode, tok.encode_array, tok.count, tok.tokens):
        with pytest.raises(ValueError, match=message):
            call("a", errors=wrong)
    for batch in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(ValueError, match=message):
            batch(["a"], errors=wrong)


def many_texts(count: int, words: int) -> list[str | bytes]:
    """Return `count` short random texts, a text of many words, "", and a long run of one letter."""
    rng = seeded(count)
    units = ["hello ", "world's ", "\u4e2d\u6587", "12", "\n\n", "\U0001f600", "\ud800", "\x00"]
    made: list[str | bytes] = []
    for number in range(count):
        text = "".join(rng.choices(units, k=rng.choice((0, 1, 5, 60))))
        made.append(text.encode("utf-8", "replace") if number % 5 == 0 else text)
    return [*made, "hello world " * words, "", "z" * 5000]


@pytest.mark.parametrize("threads", [None, 1, 2, 7, 100])
def test_a_batch_equals_single_calls_with_any_number_of_threads(
    backend: BackendName, threads: int | None
) -> None:
    tok = make(backend)
    batch = many_texts(300, 30_000) if backend == "native" else many_texts(50, 1000)
    wanted = [tok.encode(text) for text in batch]
    assert tok.encode_batch(batch, threads=threads) == wanted
    assert tok.encode_batch(iter(batch), threads=threads) == wanted
    assert tok.encode_batch(tuple(batch), threads=threads) == wanted
    ids, offsets = tok.encode_batch_array(batch, threads=threads)
    assert offsets.tolist() == list(accumulate(map(len, wanted), initial=0))
    assert ids.tolist() == [id for one in wanted for id in one]
    nothing: list[list[str | bytes]] = [[], [""], ["", b""]]
    for empty in nothing:
        assert tok.encode_batch(empty, threads=threads) == [[] for _ in empty]
        ids, offsets = tok.encode_batch_array(empty, threads=threads)
        assert (ids.tolist(), offsets.tolist()) == ([], [0] * (len(empty) + 1))
        assert (str(ids.dtype), str(offsets.dtype)) == ("uint32", "int64")


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", np.float64(2)])
def test_wrong_numbers_of_threads(backend: BackendName, threads: Any) -> None:
    tok = make(backend)
    message = r"threads=.*; expected None or an int of at least 1"
    for batch in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(ValueError, match=message):
            batch(["a"], threads=threads)
    for call in (tok.encode, tok.encode_array, tok.count, tok.tokens):
        with pytest.raises(ValueError, match=message):
            call("a", threads=threads)


@pytest.mark.parametrize("wrong", [None, 5, 1.5, ["a"], object(), np.array([97])])
def test_a_text_of_another_type(backend: BackendName, wrong: Any) -> None:
    tok = make(backend)
    message = f"expected str or bytes, got {type(wrong).__name__}"
    for call in (tok.encode, tok.encode_array, tok.count, tok.tokens):
        with pytest.raises(TypeError, match=message):
            call(wrong)
    for batch in (tok.encode_batch, tok.encode_batch_array):
        for threads in (None, 1, 2):
            with pytest.raises(TypeError, match=rf"^texts\[1\]: {message}"):
                batch(["a", wrong], threads=threads)


def test_errors_of_a_batch_name_the_index_of_the_text(backend: BackendName) -> None:
    tok = make(backend)
    for batch in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(UnicodeEncodeError, match=r"\(texts\[2\]\)$"):
            batch(["a", "a a", "a\ud800"], errors="strict")
    vocabulary = Vocabulary({byte: bytes([byte]) for byte in range(255)}, merges=())
    lacking = Tokenizer(vocabulary, "gpt2", backend=backend)
    for batch in (lacking.encode_batch, lacking.encode_batch_array):
        with pytest.raises(UnknownTokenError, match=r"^texts\[1\]: .*0xff"):
            batch(["a", b"a\xff"])


def test_calls_that_take_only_bytes(backend: BackendName) -> None:
    tok = make(backend)
    calls: tuple[Callable[[Any], object], ...] = (tok.merge, tok._safe_cut)
    for call in calls:
        with pytest.raises(TypeError, match=r"^expected bytes, got str; pass text.encode\(\)$"):
            call("hello hello")
        with pytest.raises(TypeError, match=r"^expected bytes, got NoneType$"):
            call(None)
        for kind in (bytearray, memoryview):
            assert call(kind(b"hello hello")) == call(b"hello hello")


@pytest.mark.parametrize(
    ("wrong", "got"), [("abc", "one str"), (b"abc", "one bytes"), (5, "int"), (None, "NoneType")]
)
def test_a_batch_is_not_a_single_text(backend: BackendName, wrong: Any, got: str) -> None:
    tok = make(backend)
    for call in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(TypeError, match=f"^expected an iterable of texts, got {got}"):
            call(wrong)


class Text(str):
    """A subclass of str."""


def test_types_of_texts(backend: BackendName) -> None:
    tok = make(backend)
    ids = tok.encode("hello \u4e2d")
    data = "hello \u4e2d".encode()
    given: list[Any] = [Text("hello \u4e2d"), np.str_("hello \u4e2d"), data, bytearray(data),
                        memoryview(data), np.bytes_(data)]  # fmt: skip
    for text in given:
        assert tok.encode(text) == ids
        assert tok.encode_array(text).tolist() == ids
        assert tok.count(text) == len(ids)
        assert len(tok.tokens(text)) == len(ids)
        assert tok.encode_batch([text]) == [ids]
    assert tok.encode_batch(given, threads=3) == [ids] * len(given)


def test_texts_of_every_internal_width(backend: BackendName) -> None:
    # Python keeps a str in 1, 2 or 4 bytes per code point, by its widest one.
    tok = make(backend)
    text = "hello \u00e9 12\x00"
    for widest in ("", "\u00ff", "\u0100", "\u4e2d", "\uffff", "\U00010000", "\U0010ffff"):
        ids = tok.encode(text + widest)
        assert tok.decode(ids) == text + widest
        assert ids == tok.encode((text + widest).encode())


@pytest.mark.parametrize(
    "code", [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
)
def test_code_points_where_the_utf8_length_changes(backend: BackendName, code: int) -> None:
    tok = make(backend)
    for text in (chr(code), f"a{chr(code)}b", chr(code) * 3):
        assert tok.decode_bytes(tok.encode(text)) == text.encode()
        assert {(token.start, token.end) for token in tok.tokens(chr(code))} == {(0, 1)}


def test_empty_text(backend: BackendName) -> None:
    for options in ({}, {"normalizer": "NFC"}, {"add_prefix_space": True}):
        tok = make(backend, **options)
        for empty in ("", b""):
            assert tok.encode(empty) == []
            assert tok.encode_array(empty).tolist() == []
            assert tok.encode_array(empty).dtype == np.uint32
            assert tok.count(empty) == 0
            assert tok.tokens(empty) == []
    assert make(backend).decode([]) == ""


def test_arrays_belong_to_the_caller(backend: BackendName) -> None:
    tok = make(backend)
    first = tok.encode_array("hello")
    first[:] = 0
    ids, offsets = tok.encode_batch_array(["hello"])
    ids[:] = 0
    offsets[:] = 0
    assert tok.encode_array("hello").tolist() == tok.encode("hello") == [259]
    assert tok.encode_batch_array(["hello"])[0].tolist() == [259]


def test_template(backend: BackendName) -> None:
    tok = make(backend, template=Template((1, SPECIAL), (2,)))
    text = "hello\u4e2d"
    ids = tok.encode(text)
    assert ids == [259, 267]
    with_ids = [1, SPECIAL, *ids, 2]
    assert tok.encode(text, add_special_tokens=False) == ids
    assert tok.encode(text, add_special_tokens=True) == with_ids
    found = tok.encode_array(text, add_special_tokens=True)
    assert (str(found.dtype), found.tolist()) == ("uint32", with_ids)
    assert tok.count(text, add_special_tokens=True) == len(with_ids)
    assert tok.encode_batch([text, ""], add_special_tokens=True) == [with_ids, [1, SPECIAL, 2]]
    flat, offsets = tok.encode_batch_array([text, ""], add_special_tokens=True)
    assert (str(flat.dtype), flat.tolist()) == ("uint32", [*with_ids, 1, SPECIAL, 2])
    assert (str(offsets.dtype), offsets.tolist()) == ("int64", [0, 5, 8])
    assert tok.encode_batch([], add_special_tokens=True) == []
    assert [row.tolist() for row in tok.encode_batch_array([], add_special_tokens=True)] == [
        [],
        [0],
    ]
    data = text.encode()
    packed = tok.encode_packed(
        data * 2, np.array([8, 16, 16]), errors="strict", add_special_tokens=True
    )
    assert [row.tolist() for row in packed] == [[*with_ids, 1, SPECIAL, 2], [0, 5, 8]]
    assert [str(row.dtype) for row in packed] == ["uint32", "int64"]
    with pytest.raises(ValueError, match="errors='none'; expected 'replace'"):
        tok.encode_packed(b"", np.array([0]), errors="none")  # type: ignore[arg-type]
    assert tok.template == Template((1, SPECIAL), (2,)) == ((1, SPECIAL), (2,))
    plain = make(backend)
    assert plain.template == Template()
    assert plain.encode(text, add_special_tokens=True) == ids
    assert plain.encode_array(text, add_special_tokens=True).tolist() == ids
    assert plain.tokens(text, add_special_tokens=True) == plain.tokens(text)


def test_spans_of_a_template_are_empty(backend: BackendName) -> None:
    tok = make(backend, template=Template((1, SPECIAL), (2,)))
    text = "hello\u4e2d"
    for each, size in ((text, 6), (text.encode(), 8), (memoryview(text.encode()), 8)):
        inner = tok.tokens(each)
        start = [(1, 0, 0), (SPECIAL, 0, 0)]
        tokens = tok.tokens(each, add_special_tokens=True)
        assert tokens[2:-1] == inner
        assert [(id, at, to) for id, _, at, to in tokens[:2]] == start
        assert tokens[1].bytes == tok.token_bytes(SPECIAL)
        assert (tokens[-1].id, *tokens[-1][2:]) == (2, size, size)
        spans = tok.token_spans(each, add_special_tokens=True)
        assert [str(row.dtype) for row in spans] == ["uint32", "int64", "int64"]
        assert [row.tolist() for row in spans] == [
            [token.id for token in tokens],
            [token.start for token in tokens],
            [token.end for token in tokens],
        ]
    unknown = make(backend, template=Template((9999,)))
    with pytest.raises(UnknownTokenError, match="9999"):
        unknown.tokens(text, add_special_tokens=True)


def test_a_space_before_the_text(backend: BackendName) -> None:
    tok = make(backend, add_prefix_space=True)
    plain = make(backend)
    assert tok.encode("world") == plain.encode(" world") == [262, 108, 100]
    assert tok.encode(" world") == plain.encode(" world")
    assert tok.encode("\tworld") == plain.encode(" \tworld")
    # Each text between added tokens gets a space of its own.
    assert tok.encode("world<s>world", "allow") == [262, 108, 100, SPECIAL, 262, 108, 100]
    assert tok.count("world") == 3
    assert tok.encode_batch(["world", ""]) == [[262, 108, 100], []]
    assert [(token.start, token.end) for token in tok.tokens("world")] == [(0, 3), (3, 4), (4, 5)]
    found = tok.tokens("\u4e2d<s>12", "allow")
    assert [token.id for token in found] == [32, 267, SPECIAL, 32, 265]
    assert [(token.start, token.end) for token in found] == [(0, 1), (0, 1), (1, 4), (4, 5), (4, 6)]

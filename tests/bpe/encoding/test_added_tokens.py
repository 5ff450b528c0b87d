"""Added tokens: their matches, their flags as in Hugging Face's tokenizers, and linear time."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from added_token_engines import added_tokens, flags, live
from bpe import AddedToken, SpecialTokenError, Tokenizer, VocabularyError
from bpe.encoding.added_tokens import AddedTokens, word_ranges
from byte_tokenizer import PLAIN, make, plain
from paths import shared
from pretok import Preset, Run
from pretok.charsets import code_points
from pretok.machine.backend import BackendName
from support import TIMES, TOO_MUCH, growth, max_examples, seeded
from vocabularies import BYTES, as_chars, live_bpe


def test_the_leftmost_longest_token_matches(backend: BackendName) -> None:
    tok = make(backend, "<a>", "<a><b>", "<a><b", "a>", "><", "<b>")
    assert tok.encode("<a><b>", "allow") == [257]
    assert tok.encode("<a><b", "allow") == [258]
    assert tok.encode("<a><", "allow") == [256, 60]
    assert tok.encode("a><b>", "allow") == [259, 261]
    assert tok.encode("><b>", "allow") == [260, 98, 62]
    # Tokens that are not allowed do not hide allowed ones.
    assert tok.encode("<a><b>", {"<a>", "<b>"}) == [256, 261]
    assert tok.encode("<a><b>", {"a>"}) == [60, 259, *plain("<b>")]


def leftmost_longest(contents: list[str], text: str) -> list[int]:
    """Return the ids of `text`: at each place the longest token that matches, or one byte."""
    ids = {content: 256 + at for at, content in enumerate(contents)}
    found: list[int] = []
    at = 0
    while at < len(text):
        here = [content for content in contents if text.startswith(content, at)]
        if here:
            best = max(here, key=len)
            found.append(ids[best])
            at += len(best)
        else:
            found += text[at].encode()
            at += 1
    return found


@given(
    contents=st.lists(st.text("ab\u4e2d\u00e9", min_size=1, max_size=5), max_size=8, unique=True),
    text=st.text("ab\u4e2d\u00e9", max_size=30),
)
@example(["aab", "ab", "aaab"], "aaaabaab")
@settings(max_examples=max_examples(300))
def test_matches_are_leftmost_and_longest(
    backend: BackendName, contents: list[str], text: str
) -> None:
    tok = make(backend, *contents)
    assert tok.encode(text, "allow") == leftmost_longest(contents, text)
    assert tok.decode(tok.encode(text, "allow")) == text


@pytest.mark.parametrize("count", [300, 1100])
def test_hundreds_of_tokens(backend: BackendName, count: int) -> None:
    contents = [f"<|reserved_{number}|>" for number in range(count)]
    tok = make(backend, *contents)
    rng = seeded(count)
    parts = rng.choices([*contents, "<|reserved_", "1", "|>", " x"], k=400)
    assert tok.encode("".join(parts), "allow") == leftmost_longest(contents, "".join(parts))


HOSTILE = ("<|<|<|", "<|reserved_", "<|end|>", "<", "<|x|><|end", "<|x|>", " <|x|>  ")
SPLIT_IN_EIGHTS = Preset("eights", rules=(Run(code_points((0, 0x10FFFF)), at_most=8),))
"""Pre-tokens of at most 8 code points, so that merging takes little of the measured time."""


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("policy", ["allow", "raise"])
def test_time_is_linear_with_hundreds_of_tokens(
    backend: BackendName, text: str, policy: Any
) -> None:
    if policy == "raise" and "<|x|>" in text:
        text = text.replace("<|x|>", "<|x|<")  # "raise" would stop at the first "<|x|>"
    added = [AddedToken(f"<|reserved_{number}|>", 300 + number) for number in range(500)]
    added += [AddedToken("<|" + "<|" * n + "end|]", 1000 + n) for n in range(20)]
    added += [AddedToken("<|x|>", 256, lstrip=True, rstrip=True, single_word=True)]
    tok = Tokenizer(PLAIN, SPLIT_IN_EIGHTS, added_tokens=added, backend=backend)

    def work(size: int) -> None:
        tok.count(text * (size // len(text)), policy)

    assert growth(work, (1_000_000 if backend == "native" else 40_000) // TIMES) < TOO_MUCH


@pytest.mark.parametrize("flags", [{"lstrip": True}, {"rstrip": True}, {"single_word": True}])
def test_stripping_takes_linear_time(backend: BackendName, flags: dict[str, bool]) -> None:
    added = [AddedToken("x", 256, **flags), AddedToken("\n", 257, special=False)]
    tok = Tokenizer(PLAIN, SPLIT_IN_EIGHTS, added_tokens=added, backend=backend)

    def work(size: int) -> None:
        tok.count(" " * size + "x" + " " * size, "allow")
        tok.count(" \n" * (size // 2), "allow")
        tok.count(" x" * (size // 2), "allow")

    assert growth(work, (500_000 if backend == "native" else 20_000) // TIMES) < TOO_MUCH


def test_spans_of_added_tokens(backend: BackendName) -> None:
    tok = make(backend, AddedToken("<a>", 256, lstrip=True, rstrip=True), "<b>")
    found = tok.tokens("\u4e2d \u3000<a> \n<b> ", "allow")
    assert [(token.id, token.start, token.end) for token in found[3:]] == [
        (256, 1, 8), (257, 8, 11), (32, 11, 12)
    ]  # fmt: skip
    assert found[3].bytes == b"<a>"


SPACES = " \t\n\u00a0\u3000\u2028\x1c\u200b"
BESIDE = "ab_1\u00e9\u0301\u4e2d\u200d\u24b6-<>\U0001f600"


@given(
    added=added_tokens,
    text=st.text("ab< >\u4e2d\u1ebf_" + SPACES + BESIDE, max_size=30),
    policy=st.sampled_from(["allow", "text"]),
)
@settings(max_examples=max_examples(400))
def test_flags_are_those_of_hugging_face(
    backend: BackendName,
    added: list[tuple[str, dict[str, bool]]],
    text: str,
    policy: Any,
) -> None:
    engine, ours = live(added, nfc=False)
    engine.encode_special_tokens = policy == "text"
    tok = make(backend, *ours)
    wanted = engine.encode(text)
    assert tok.encode(text, policy) == wanted.ids
    found = tok.tokens(text, policy)
    assert [(token.start, token.end) for token in found] == wanted.offsets


@given(
    added=added_tokens,
    text=st.text("ab< >e\u1ebf\u0302\u0301\u0323\u4e2d \u1100\u1161\u0958", max_size=30),
    policy=st.sampled_from(["allow", "text"]),
)
@settings(max_examples=max_examples(300))
def test_flags_are_those_of_hugging_face_in_normalized_text(
    backend: BackendName,
    added: list[tuple[str, dict[str, bool]]],
    text: str,
    policy: Any,
) -> None:
    engine, ours = live(added, nfc=True)
    engine.encode_special_tokens = policy == "text"
    assert make(backend, *ours, nfc=True).encode(text, policy) == engine.encode(text).ids


@pytest.mark.parametrize("text", ["< ", "< <", "<<  "])
def test_no_token_matches_within_a_special_token_that_stays_text(
    backend: BackendName, text: str
) -> None:
    plain_one = {"special": False, "normalized": False}
    added = [("<", plain_one), (" ", plain_one), ("< ", {"special": True, "normalized": False})]
    engine, ours = live(added, nfc=False)
    engine.encode_special_tokens = True
    assert make(backend, *ours).encode(text, "text") == engine.encode(text).ids


def test_tokens_in_normalized_text(backend: BackendName) -> None:
    content = "<e\u0301>"
    normalized = make(backend, AddedToken(content, 256, normalized=True), nfc=True)
    exact = make(backend, AddedToken(content, 256), nfc=True)
    for text in (content, "<\u00e9>"):
        engine, _ = live([(content, {"special": True, "normalized": True})], nfc=True)
        assert normalized.encode(text, "allow") == engine.encode(text).ids == [256]
        engine, _ = live([(content, {"special": True, "normalized": False})], nfc=True)
        assert exact.encode(text, "allow") == engine.encode(text).ids
    assert exact.encode(content, "allow") == [256]
    assert exact.encode("<\u00e9>", "allow") == plain("<\u00e9>")


@pytest.mark.parametrize("text", ["<e\u0301>", "<\u00e9>", "x<\u00e9>e\u0301"])
def test_a_normalized_token_is_refused_however_it_is_written(
    backend: BackendName, text: str
) -> None:
    content = "<e\u0301>"
    tok = make(backend, AddedToken(content, 256, normalized=True), nfc=True)
    with pytest.raises(SpecialTokenError) as caught:
        tok.encode(text)
    assert caught.value.token == content
    assert caught.value.position == text.index("<")
    with pytest.raises(SpecialTokenError):
        tok.encode_batch([text])


@given(
    added=st.lists(
        st.tuples(st.text("ab \u4e2d\u00e9_", min_size=1, max_size=3), flags),
        min_size=1,
        max_size=4,
        unique_by=lambda token: token[0],
    ),
    data=st.lists(
        st.sampled_from([b"a", b"b", b" ", b"_", b"\xe4\xb8\xad", b"\xe4", b"\xb8", b"\xad",
                         b"\xc3\xa9", b"\xc3", b"\xa9", b"\xe3\x80\x80", b"\x80", b"\xff",
                         b"\xed\xa0\x80", b"\xc2\xa0", b"\xf0\x9f\x98\x80", b"\xc0\xa0",
                         b"\xe0\x80\xa0", b"\xf4\x90\x80\x80", b"\xf0\x9f"]),
        max_size=20,
    ).map(b"".join),
    policy=st.sampled_from(["allow", "text", "raise"]),
)  # fmt: skip
@settings(max_examples=max_examples(500))
def test_python_and_native_find_the_same_in_any_bytes(
    native: BackendName, added: list[tuple[str, dict[str, bool]]], data: bytes, policy: Any
) -> None:
    tokens = [AddedToken(content, 300 + at, **given) for at, (content, given) in enumerate(added)]
    for nfc in (False, True):
        results: list[Any] = []
        for backend in (native, "python"):
            tok = make(backend, *tokens, nfc=nfc)
            try:
                results.append((tok.encode(data, policy), tok.tokens(data, policy)))
            except SpecialTokenError as error:
                results.append((error.token, error.position))
        assert results[0] == results[1]


@given(added=added_tokens, text=st.text("ab< >\u00e9_" + SPACES, max_size=30))
@settings(max_examples=max_examples(200))
def test_segments_cover_the_whole_text(added: list[tuple[str, dict[str, bool]]], text: str) -> None:
    # No token has rstrip, because its match may overlap a following token that begins with white
    # space. Then the segments would not cover the text exactly.
    tokens = [
        AddedToken(content, 300 + at, **(given | {"rstrip": False}))
        for at, (content, given) in enumerate(added)
    ]
    data = text.encode()
    segments = list(AddedTokens(tokens, word_ranges()).split(data))
    bounds = [0, *(segment.end for segment in segments)]
    assert [*(segment.start for segment in segments), len(data)] == bounds
    assert all(segment.start < segment.end for segment in segments)
    for start, end, token in segments:
        part = data[start:end].decode()
        if token is not None:
            assert part == token.content or (token.lstrip and part.endswith(token.content))


def members(ranges: Any) -> set[int]:
    return {code for first, last in ranges for code in range(first, last + 1)}


def test_word_characters_are_those_of_rust() -> None:
    """Hugging Face's tokenizers and tiktoken share the `\\w` of Rust.

    The file has the characters that tiktoken's `\\w` matched, of all code points.
    """
    measured = json.loads(shared("golden", "class_ranges.json").read_text())["\\w"]["tiktoken"]
    assert members(word_ranges()) == members(measured)
    ends = [code for pair in word_ranges() for code in pair]
    assert ends == sorted(ends)


def test_word_characters_are_those_of_hugging_face() -> None:
    """A single_word token "xy" does not match before a word character."""
    codes = {code + beside for pair in word_ranges() for code in pair for beside in (-1, 0, 1)}
    codes |= set(range(0, 0x110000, 61))
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    engine = live_bpe({as_chars(token): id for id, token in BYTES.items()}, [])
    engine.add_tokens([tokenizers.AddedToken("xy", single_word=True, normalized=False)])
    wanted = set()
    chars = [chr(code) for code in sorted(codes) if code < 0x110000 and not 0xD800 <= code < 0xE000]
    for at in range(0, len(chars), 4000):
        some = chars[at : at + 4000]
        encoding = engine.encode("".join(f"xy{char}\n" for char in some))
        starts = {start for id, (start, _) in zip(encoding.ids, encoding.offsets, strict=True)
                  if id == 256}  # fmt: skip
        places = accumulate((4 for _ in some), initial=0)
        wanted |= {char for char, place in zip(some, places, strict=False) if place not in starts}
    words = members(word_ranges())
    assert [char for char in chars if (ord(char) in words) != (char in wanted)] == []


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ([AddedToken("", 300)], r"added token 300 is ''; expected text that is not empty"),
        (
            [AddedToken("\ud800", 300)],
            r"added token 300 is '\\ud800'; expected text that is not empty",
        ),
        (
            [AddedToken("\ud83d\ude00", 300)],
            r"expected text that is not empty and has no surrogates",
        ),
        ([AddedToken("<a>", -1)], r"'<a>' has id -1; expected an int from 0 to 16777215"),
        ([AddedToken("<a>", 1 << 24)], r"'<a>' has id 16777216; expected an int"),
        ([AddedToken("<a>", True)], r"'<a>' has id True; expected an int"),
        ([AddedToken("<a>", "5")], r"'<a>' has id '5'; expected an int"),  # type: ignore[arg-type]
        (
            [AddedToken("<a>", 97)],
            r"'<a>' has id 97, which is the id of b'a'; give each token its own",
        ),
        ([AddedToken("<a>", 300), AddedToken("<a>", 301)], r"'<a>' is listed twice"),
    ],
)
def test_added_tokens_that_are_refused(
    backend: BackendName, added: list[AddedToken], message: str
) -> None:
    with pytest.raises(VocabularyError, match=message):
        make(backend, *added)


@pytest.mark.parametrize("wrong", [5, None, b"<a>"])
def test_an_added_token_whose_content_is_not_a_str(backend: BackendName, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"the content of added token 300 is .*; expected a str"):
        make(backend, AddedToken(wrong, 300))


def test_two_added_tokens_may_have_one_id(backend: BackendName) -> None:
    tok = make(backend, AddedToken("<a>", 300), AddedToken("<b>", 300, special=False))
    assert tok.encode("<a><b>", "allow") == [300, 300]
    assert tok.decode([300]) == "<a>"
    assert tok.token_id("<a>") == tok.token_id("<b>") == 300
    assert tok.encode("<a><b>", "text") == [*plain("<a>"), 300]


def test_an_added_token_may_repeat_a_token_of_the_vocabulary(backend: BackendName) -> None:
    tok = make(backend, AddedToken("a", 97, lstrip=True), AddedToken("\u4e2d", 300, special=False))
    assert tok.encode("b  a\u4e2d", "allow") == [98, 97, 300]
    assert tok.encode("b a", "text") == [98, 32, 97]
    assert tok.vocab_size == 301
    assert tok.special_tokens == {"a": 97}
    assert tok.token_id("\u4e2d") == 300
    assert tok.token_bytes(300) == "\u4e2d".encode()
    with pytest.raises(bpe.UnknownTokenError):
        tok.token_id("\u4e2d".encode())

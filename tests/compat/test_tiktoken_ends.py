"""The drop-in for tiktoken with incomplete texts: truncated bytes, and encode_with_unstable.

encode_with_unstable returns the ids that stay if the text goes on, and the completions: lists of
ids for the rest of the text, which may have more bytes than the rest.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.compat.tiktoken import Encoding
from paths import shared
from pretok.machine.backend import BackendName
from support import FULL, max_examples, need_native
from tiktoken_pairs import PARTS, assert_same, live, ours, ranks, texts

Pair = tuple[Encoding, Any]
SHORT = (
    "a",
    "hello",
    "The",
    "fan",
    "ta",
    "'s",
    "1",
    "!",
    "#",
    "é",
    "日本",
    "👍🏽",
    "<|endoftext|>",
)


NAMES = ("r50k", "cl100k", "o200k", "llama3", "qwen2")


@pytest.fixture(scope="session", params=NAMES)
def any_pair(request: pytest.FixtureRequest, backend: BackendName) -> Pair:
    """Our Encoding and tiktoken's with each real vocabulary."""
    return ours(request.param, backend), live(request.param)


def small_pair() -> Pair:
    """Return our Encoding in pure Python and tiktoken's, with the first 5,000 tokens of r50k."""
    module = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    arguments: dict[str, Any] = {
        "pat_str": pretok.get("r50k").preset.pattern,
        "mergeable_ranks": {token: id for token, id in ranks("r50k").items() if id < 5000},
        "special_tokens": {"<|endoftext|>": 5000},
    }
    return Encoding("r50k", **arguments, backend="python"), module.Encoding("r50k", **arguments)


# The completions of a space are slow: in a large vocabulary, the Python backend takes seconds for
# them. In the largest, the native backend and tiktoken take half a second. So without FULL, only
# the first vocabulary is tried.
COMPLETING = NAMES if FULL else NAMES[:1]


@pytest.fixture(
    scope="session",
    params=[("small", "python"), *((n, "native") for n in COMPLETING)],
    ids="-".join,
)
def completing_pair(request: pytest.FixtureRequest) -> Pair:
    """Our Encoding and tiktoken's: natively with real vocabularies, in Python with a small one."""
    name, backend = request.param
    if backend == "python":
        return small_pair()
    need_native()
    return ours(name, backend), live(name)


def _cut(parts: list[tuple[str, int]]) -> bytes:
    """Return the UTF-8 of texts, each without the given number of bytes at its end."""
    return b"".join(text.encode()[: max(len(text.encode()) - less, 0)] for text, less in parts)


broken = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(PARTS), st.sampled_from((0, 0, 1, 2))).map(lambda p: _cut([p])),
        st.binary(max_size=2),
    ),
    max_size=7,
).map(b"".join)


@given(data=broken)
@settings(max_examples=max_examples(200))
def test_bytes_that_may_not_be_utf8(any_pair: Pair, data: bytes) -> None:
    assert_same(any_pair, lambda enc: enc._encode_bytes(data))
    encoding, _ = any_pair
    assert encoding.decode_bytes(encoding._encode_bytes(data)) == data


@given(text=texts(), cut=st.integers(1, 3))
@settings(max_examples=max_examples(150))
def test_bytes_cut_off(any_pair: Pair, text: str, cut: int) -> None:
    assert_same(any_pair, lambda enc: enc._encode_bytes(text.encode()[:-cut]))


def test_recorded_answers_for_bytes(backend: BackendName) -> None:
    lines = shared("golden", "golden_bytes.jsonl").read_text().splitlines()
    assert len(lines) == 128
    for case in map(json.loads, lines):
        data = base64.b64decode(case["bytes_b64"])
        assert ours(case["encoding"], backend)._encode_bytes(data) == case["ids"], data


def _same_completions(pair: Pair, text: str, **arguments: Any) -> None:
    mine, theirs = (encoding.encode_with_unstable(text, **arguments) for encoding in pair)
    assert mine[0] == theirs[0]
    assert mine[1] == sorted(map(list, theirs[1])), "tiktoken's are in any order"


@given(
    text=st.lists(
        st.one_of(st.sampled_from(SHORT), st.sampled_from((" ", " ", "\n", "\t", "\r", "\u3000"))),
        max_size=6,
    ).map("".join),
    policy=st.sampled_from(({"allowed_special": "all"}, {"disallowed_special": ()})),
)
@settings(max_examples=max_examples(25))
def test_completions(completing_pair: Pair, text: str, policy: dict[str, Any]) -> None:
    if completing_pair[0].name != "r50k":
        text = text.rstrip(" ")  # slow: half of the tokens begin with a space
    _same_completions(completing_pair, text, **policy)


def test_completions_of_chosen_texts(completing_pair: Pair) -> None:
    for text in (
        "",
        "hello fanta",
        "  !",
        "a\n\n",
        "x <|endoftext|>",
        "<|endoftext|>\n \n",
        "日",
        "a ",
        "a\r  ",
        "a\n  ",
    ):
        _same_completions(
            completing_pair, text, allowed_special={"<|endoftext|>"}, disallowed_special=()
        )


@given(text=texts())
@settings(max_examples=max_examples(30))
def test_completions_begin_with_the_text(native: BackendName, text: str) -> None:
    encoding = ours("cl100k", native)
    stable, completions = encoding.encode_with_unstable(text, disallowed_special=())
    data = text.encode()
    assert data.startswith(encoding.decode_bytes(stable))
    for completion in completions:
        assert encoding.decode_bytes(stable + completion).startswith(data)


def test_a_token_that_merging_does_not_make(backend: BackendName) -> None:
    # "ab" merges first, and then nothing else: "abcd" is found only as a whole pre-token.
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab", 257: b"bc", 258: b"aBC"}
    tokens |= {259: b"abcd", 260: b"\xc3bc", 261: b"abc\xc3"}
    pair = _pair(tokens, backend)
    for text in ("abcd", "ab", "xab", "aBC", "aB"):
        _same_completions(pair, text)
    for data in (b"abcd", b"abc\xc3", b"abcd\xc3", b"\xc3bc", b"\xc3b", b"ab\xc3bc"):
        assert_same(pair, lambda enc, data=data: enc._encode_bytes(data))  # type: ignore[misc]


def test_divided_white_space_is_merged_from_its_bytes(
    backend: BackendName,
) -> None:
    # " \n" merges first, so merging from bytes never makes the longer token.
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b" \n", 257: b"  \n\n"}
    pair = _pair(tokens, backend)
    _same_completions(pair, "  \n\n\n")
    assert [32, 256, 10, 10] in pair[0].encode_with_unstable("  \n\n\n")[1]


def _pair(tokens: dict[int, bytes], backend: BackendName) -> Pair:
    """Return our Encoding and tiktoken's with these tokens."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    arguments: dict[str, Any] = {
        "pat_str": pretok.get("r50k").preset.pattern,
        "mergeable_ranks": {token: id for id, token in tokens.items()},
        "special_tokens": {},
    }
    return (
        Encoding("small", **arguments, backend=backend),
        tiktoken.Encoding("small", **arguments),
    )


def test_an_ordinary_added_token_has_no_completions(backend: BackendName) -> None:
    vocabulary = Vocabulary({byte: bytes([byte]) for byte in range(256)} | {256: b"ab"})
    added = [AddedToken("ab!", 300, special=False)]
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=added, backend=backend)
    encoding = Encoding.from_tokenizer(tokenizer)
    assert encoding._encode_bytes(b"abab!\xff") == [256, 300, 255]
    assert encoding.encode_with_unstable("abab!") == ([256, 300], [])
    assert encoding.encode_with_unstable("ab!a") == ([300], [[97], [256]])

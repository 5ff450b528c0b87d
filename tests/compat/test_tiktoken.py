"""Each call of the drop-in for tiktoken has the result or the error of tiktoken."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.compat import tiktoken
from bpe.compat.tiktoken import Encoding
from paths import shared
from pretok.machine.backend import BackendName
from support import max_examples
from tiktoken_pairs import PARTS, SPECIAL, assert_same, live, ours, texts

Pair = tuple[Encoding, Any]
EOT = "<|endoftext|>"
MARKED = f"hi {EOT} x<|fim_prefix|>"


@pytest.fixture(scope="session")
def pair(backend: BackendName) -> Pair:
    """Our Encoding and tiktoken's with cl100k_base."""
    return ours("cl100k", backend), live("cl100k")


@pytest.fixture(scope="session", params=["r50k", "cl100k", "o200k", "llama3", "qwen2"])
def any_pair(request: pytest.FixtureRequest, backend: BackendName) -> Pair:
    """Our Encoding and tiktoken's with each real vocabulary."""
    return ours(request.param, backend), live(request.param)


@pytest.mark.parametrize(
    "name",
    [
        "encode",
        "encode_ordinary",
        "encode_to_numpy",
        "encode_ordinary_batch",
        "encode_batch",
        "encode_with_unstable",
        "encode_single_token",
        "decode",
        "decode_bytes",
        "decode_single_token_bytes",
        "decode_tokens_bytes",
        "decode_with_offsets",
        "decode_batch",
        "decode_bytes_batch",
        "token_byte_values",
        "is_special_token",
        "_encode_single_piece",
        "_encode_only_native_bpe",
        "_encode_bytes",
    ],
)
def test_every_method_takes_tiktokens_arguments(name: str) -> None:
    theirs = signature(getattr(live("cl100k"), name)).parameters
    mine = signature(getattr(Encoding, name)).parameters
    assert list(mine)[1:] == list(theirs)
    for argument in theirs:
        assert mine[argument].kind == theirs[argument].kind
        assert mine[argument].default == theirs[argument].default


def test_nothing_public_is_missing() -> None:
    public = {name for name in dir(live("cl100k")) if not name.startswith("_")}
    assert public <= set(dir(Encoding)) | {"name", "max_token_value"}
    module = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    functions = {name for name, value in vars(module).items() if callable(value)}
    assert functions <= set(tiktoken.__all__)
    assert tiktoken.__version__ == module.__version__


ALLOWED = [
    set(),
    {EOT},
    frozenset([EOT, "<|fim_prefix|>"]),
    {"none such"},
    "all",
]
DISALLOWED = [
    "all",
    (),
    [],
    {EOT},
    frozenset([EOT]),
    [EOT],
    (EOT, "none such"),
    {EOT: 1},
    ["i <"],
    {""},
    "xz",
    [1],
    [b"hi"],
    None,
]


def one_name(value: Any) -> str:
    """Return a test id that is the same in each process, although the order of a set is not.

    pytest-xdist needs this, because each of its processes collects the tests.
    """
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}{sorted(value)!r}"
    return repr(value)


@pytest.mark.parametrize("allowed", ALLOWED, ids=one_name)
@pytest.mark.parametrize("disallowed", DISALLOWED, ids=one_name)
# The text "hi" alone would be slow, because many tokens begin with it, and encode_with_unstable
# lists them.
@pytest.mark.parametrize("text", [MARKED, "hi 7", ""])
def test_allowed_and_disallowed(pair: Pair, allowed: Any, disallowed: Any, text: str) -> None:
    given = {"allowed_special": allowed, "disallowed_special": disallowed}
    assert_same(pair, lambda enc: enc.encode(text, **given))
    assert_same(pair, lambda enc: enc.encode_to_numpy(text, **given))
    assert_same(pair, lambda enc: enc.encode_with_unstable(text, **given)[0])
    if disallowed is not None:
        assert_same(pair, lambda enc: enc.encode_batch(["a", text], **given))


@pytest.mark.parametrize("allowed", [{1}, "other", [EOT], (EOT,), None], ids=repr)
@pytest.mark.parametrize("disallowed", ["all", ()], ids=repr)
@pytest.mark.parametrize("text", ["hi", ""])
def test_allowed_special_of_a_wrong_type(
    pair: Pair, allowed: Any, disallowed: Any, text: str
) -> None:
    given = {"allowed_special": allowed, "disallowed_special": disallowed}
    assert_same(pair, lambda enc: enc.encode(text, **given))
    assert_same(pair, lambda enc: enc.encode_batch([text], **given))


@given(
    text=texts(surrogates=True),
    allowed=st.one_of(st.just("all"), st.sets(st.sampled_from(list(SPECIAL["cl100k"])))),
    disallowed=st.one_of(st.just("all"), st.lists(st.sampled_from(PARTS), max_size=3)),
)
@settings(max_examples=max_examples(300))
def test_any_allowed_and_disallowed(pair: Pair, text: str, allowed: Any, disallowed: Any) -> None:
    given = {"allowed_special": allowed, "disallowed_special": disallowed}
    assert_same(pair, lambda enc: enc.encode(text, **given))


@pytest.mark.parametrize(
    ("text", "disallowed", "named", "at"),
    [
        (f"ab{EOT}", "all", EOT, 2),
        (f"é👍{EOT} <|fim_prefix|>", "all", EOT, 2),
        (f"<|fim_prefix|>{EOT}", [EOT], EOT, 14),
        ("abcd", ["bcd", "ab", "abc"], "abc", 0),
        ("xabab", ["abb", "bab"], "bab", 2),
        ("aab", ["ab", "aa"], "aa", 0),
        ("cba", ["a", "b"], "b", 1),
    ],
)
def test_the_error_names_the_first_token_and_what_to_do(
    pair: Pair, text: str, disallowed: Any, named: str, at: int
) -> None:
    with pytest.raises(ValueError, match="allowed_special=") as caught:
        pair[0].encode(text, disallowed_special=disallowed)
    message = str(caught.value)
    assert f"disallowed special token {named!r} at offset {at}.\n" in message
    assert "disallowed_special=()" in message
    assert f"special_tokens_set - {{{named!r}}}" in message


def test_recorded_answers_for_special_tokens(backend: BackendName) -> None:
    special: dict[str, int] = {}
    seen = set()
    for line in shared("golden", "golden_special.jsonl").read_text().splitlines():
        case = json.loads(line)
        # A case without special tokens has the special tokens of the case before it.
        special = case["special_tokens"] or special
        name, text = case["encoding"], case["text"]
        seen.add(name)
        if name == "o200k_harmony":
            encoding = _with_special(ours("o200k", backend), special)
        else:
            encoding = ours(name, backend)
        first = next(iter(special))
        assert encoding.encode(text, allowed_special="all") == case["ids_all_allowed"], text
        assert encoding.encode_ordinary(text) == case["ids_as_text"], text
        only_first = encoding.encode(text, allowed_special={first}, disallowed_special=())
        assert only_first == case["ids_only_first"], text
    assert len(seen) == 7


def _with_special(encoding: Encoding, special: dict[str, int]) -> Encoding:
    """Return `encoding` with other special tokens.

    Keeps one object for each `encoding` and tuple of names, so the ids of a name must not change.
    """
    found = _extended.get((id(encoding), tuple(special)))
    if found is None:
        found = Encoding(
            "extended",
            pat_str=encoding._pat_str,
            mergeable_ranks=encoding._mergeable_ranks,
            special_tokens=special,
            backend=encoding.tokenizer.backend,
        )
        _extended[id(encoding), tuple(special)] = found
    return found


_extended: dict[tuple[int, tuple[str, ...]], Encoding] = {}


def test_two_special_tokens_with_one_id(backend: BackendName) -> None:
    # As in o200k_harmony: <|endofprompt|> and <|reserved_200018|> are both 200018.
    encoding = _with_special(ours("cl100k", backend), {"<|a|>": 100300, "<|b|>": 100300})
    assert encoding.encode("<|a|><|b|>", allowed_special="all") == [100300, 100300]
    assert encoding.decode([100300]) == "<|a|>"


WRONG_TEXTS = [b"x", None, 1, ["a"], bytearray(b"hello"), "\ud83d", "a\ud83d\udc4d\udc4d"]


@pytest.mark.parametrize("text", [*WRONG_TEXTS, "", "hello", EOT, "zzzzzz"], ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda enc, text: enc.encode(text),
        lambda enc, text: enc.encode(text, disallowed_special=()),
        lambda enc, text: enc.encode_ordinary(text),
        lambda enc, text: enc.encode_to_numpy(text),
        lambda enc, text: enc.encode_to_numpy(text, disallowed_special=()),
        lambda enc, text: enc.encode_with_unstable(text)[0],
        lambda enc, text: enc.encode_single_token(text),
        lambda enc, text: enc.encode_batch(text),
        lambda enc, text: enc.encode_batch([text]),
        lambda enc, text: enc.encode_ordinary_batch(text),
        lambda enc, text: enc.encode_ordinary_batch([text, "b"]),
        lambda enc, text: enc._encode_only_native_bpe(text),
        lambda enc, text: enc._encode_bytes(text),
    ],
)
def test_invalid_texts(pair: Pair, text: Any, call: Callable[[Any, Any], Any]) -> None:
    assert_same(pair, lambda enc: call(enc, text))


@pytest.mark.parametrize("text", [b"x", b"\xff\xfe", None, 1, "hello", "\ud83d", " indivisible!"])
def test_one_pre_token(pair: Pair, text: Any) -> None:
    assert_same(pair, lambda enc: enc._encode_single_piece(text))


def test_an_empty_piece_is_a_value_error(pair: Pair) -> None:
    with pytest.raises(ValueError, match="got an empty one"):
        pair[0]._encode_single_piece("")


IDS = [
    [],
    [1, 2],
    (1, 2),
    range(3),
    b"ab",
    "ab",
    np.array([1, 2]),
    np.array([1, 2], np.uint32),
    [np.int64(3)],
    [True],
    [128, 40],
    [100257, 64],
    [100256],
    [99, 100256],
    [100256, -1],
    [1000000],
    [-1],
    [1 << 32],
    [1 << 70],
    [1.5],
    [np.float64(2)],
    ["a"],
    [None],
    None,
    5,
]


@pytest.mark.parametrize("ids", IDS, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda enc, ids: enc.decode(ids),
        lambda enc, ids: enc.decode(ids, errors="strict"),
        lambda enc, ids: enc.decode(ids, "ignore"),
        lambda enc, ids: enc.decode(ids, errors="no such"),
        lambda enc, ids: enc.decode_bytes(ids),
        lambda enc, ids: enc.decode_tokens_bytes(ids),
        lambda enc, ids: enc.decode_with_offsets(ids),
        lambda enc, ids: enc.decode_batch([[1], ids]),
        lambda enc, ids: enc.decode_batch([ids], errors="strict"),
        lambda enc, ids: enc.decode_bytes_batch([ids, [1]]),
    ],
)
def test_decoding(pair: Pair, ids: Any, call: Callable[[Any, Any], Any]) -> None:
    assert_same(pair, lambda enc: call(enc, ids))


@pytest.mark.parametrize(
    "id", [0, 100255, 100256, 100257, 100276, -1, 1 << 32, True, np.int64(5), 1.0, "a", None]
)
def test_one_id(pair: Pair, id: Any) -> None:
    assert_same(pair, lambda enc: enc.decode_single_token_bytes(id))
    assert_same(pair, lambda enc: enc.is_special_token(id))


@pytest.mark.parametrize("threads", [1, 8, 100, None, 0, -1, "a", 1.5])
def test_num_threads(pair: Pair, threads: Any) -> None:
    assert_same(pair, lambda enc: enc.encode_batch(["a", "b c"], num_threads=threads))
    assert_same(pair, lambda enc: enc.encode_ordinary_batch([], num_threads=threads))
    assert_same(pair, lambda enc: enc.decode_batch([], num_threads=threads))
    assert_same(pair, lambda enc: enc.decode_bytes_batch([[1]], num_threads=threads))


def test_batches_take_any_iterable(pair: Pair) -> None:
    assert_same(pair, lambda enc: enc.encode_batch(("a", "b c")))
    assert_same(pair, lambda enc: enc.encode_batch(char for char in "ab"))
    assert_same(pair, lambda enc: enc.encode_batch(["a", 1, EOT]))
    assert_same(pair, lambda enc: enc.encode_batch(["a", EOT, 1]))
    assert_same(pair, lambda enc: enc.decode_batch(iter([[1], [2]])))


def test_properties(any_pair: Pair) -> None:
    for name in ("name", "n_vocab", "max_token_value", "special_tokens_set", "_special_tokens"):
        assert_same(any_pair, lambda enc, name=name: getattr(enc, name))  # type: ignore[misc]
    for name in ("_pat_str", "_mergeable_ranks", "_special_token_values", "eot_token"):
        assert_same(any_pair, lambda enc, name=name: getattr(enc, name))  # type: ignore[misc]
    assert_same(any_pair, repr)
    assert_same(any_pair, lambda enc: enc.token_byte_values())


@given(text=texts(surrogates=True))
@settings(max_examples=max_examples(75))
def test_any_text(any_pair: Pair, text: str) -> None:
    assert_same(any_pair, lambda enc: enc.encode(text))
    assert_same(any_pair, lambda enc: enc.encode(text, allowed_special="all"))
    assert_same(any_pair, lambda enc: enc.encode_ordinary(text))
    assert_same(any_pair, lambda enc: enc.encode_to_numpy(text, disallowed_special=()))
    assert_same(any_pair, lambda enc: enc.encode_batch([text, text], allowed_special="all"))
    assert_same(any_pair, lambda enc: enc.encode_ordinary_batch([text]))
    assert_same(any_pair, lambda enc: enc.encode_single_token(text))
    assert_same(any_pair, lambda enc: enc._encode_only_native_bpe(text))
    if text:
        assert_same(any_pair, lambda enc: enc._encode_single_piece(text))


@given(ids=st.lists(st.integers(0, 50255) | st.integers(50256, 200100), max_size=8))
@settings(max_examples=max_examples(75))
def test_any_ids(any_pair: Pair, ids: list[int]) -> None:
    for method in ("decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
        assert_same(any_pair, lambda enc, method=method: getattr(enc, method)(ids))  # type: ignore[misc]
    assert_same(any_pair, lambda enc: enc.decode_batch([ids, ids]))
    assert_same(any_pair, lambda enc: enc.decode_bytes_batch([ids]))
    for id in ids:
        assert_same(any_pair, lambda enc, id=id: enc.is_special_token(id))  # type: ignore[misc]


@given(text=texts())
@settings(max_examples=max_examples(75))
def test_offsets_of_a_text(any_pair: Pair, text: str) -> None:
    encoding, _ = any_pair
    ids = encoding.encode(text, allowed_special="all")
    decoded, offsets = encoding.decode_with_offsets(ids)
    assert decoded == text
    spans = encoding.tokenizer.tokens(text, "allow")
    assert offsets == [token.start for token in spans]
    assert_same(any_pair, lambda enc: enc.decode_with_offsets(ids))

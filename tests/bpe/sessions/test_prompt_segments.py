"""PromptCache.encode_segments and chats: the ids and ends of Tokenizer.encode_segments."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, SpecialTokenError, Tokenizer, chat
from bpe.types import SegmentLike
from pretok.machine.backend import BackendName
from prompts import ALL_BITS, small_cache
from random_normalizers import random_normalizer
from support import PRESET_NAMES, max_examples, seeded

PIECES = [
    "a", "ab", " ", "  ", "\n", "\r\n", "\n\n", "123", "é", "e\u0301", "\u0301", "中", "!", "'s",
    "<e>", "<e", ">", "<l>", "<r>", "<w>", "<n>", "the", " the", "s\n", " \n", "▁", "a" * 30,
]  # fmt: skip
TOKENS = [
    AddedToken("<e>", 900),
    AddedToken("<e><e>", 901),
    AddedToken("<l>", 902, lstrip=True),
    AddedToken("<r>", 903, special=False, rstrip=True),
    AddedToken("<w>", 904, single_word=True),
    AddedToken("<n>", 905, special=False, normalized=True),
    AddedToken("  ", 906, special=False),
]
POLICIES = ["raise", "text", "allow", "allow", "plain", "content"]


@pytest.fixture(scope="module")
def vocabulary() -> bpe.Vocabulary:
    return bpe.train(["ab ab the the\n\n 123 é 中中 !! \n <e> s\n"] * 3, 280).vocabulary


def random_tokenizer(random: Random, vocabulary: bpe.Vocabulary) -> Tokenizer | None:
    tokens = random.sample(TOKENS, random.randrange(len(TOKENS)))
    normalizer: Any = random.choice([None, None, None, "NFC", "NFC", random_normalizer(random)])
    try:
        return Tokenizer(
            vocabulary, random.choice(PRESET_NAMES), added_tokens=tokens, normalizer=normalizer,
            add_prefix_space=random.random() < 0.3,
        )  # fmt: skip
    except bpe.VocabularyError:  # the normalizer removes an added token
        return None


def segment(random: Random, pieces: list[str]) -> SegmentLike:
    if random.random() < 0.1:
        return random.choices(range(1000), k=random.randrange(3))
    text = "".join(random.choices(pieces, k=random.choice([0, 1, 3, 12])))
    return text if random.random() < 0.1 else (text, random.choice(POLICIES))


def outcome(encode: Any, segments: list[SegmentLike], joined: bool, **options: Any) -> Any:
    try:
        found = encode(segments, "text", joined=joined, **options)
    except SpecialTokenError as error:
        return error.token, error.position, error.text_index
    return found.ids.tolist(), found.ends.tolist()


@pytest.mark.parametrize("hash_mask", [ALL_BITS, 63], ids=["", "collisions"])
def test_ids_and_ends(vocabulary: bpe.Vocabulary, native: BackendName, hash_mask: int) -> None:
    random = seeded(f"prompt segments {hash_mask}")
    reused = 0
    for _ in range(max_examples(30)):
        tok = random_tokenizer(random, vocabulary)
        if tok is None:
            continue
        max_bytes = random.choice([20_000, 60_000, 1 << 20])
        windows = random.choice([(1, 1), (2, 9), (6, 24), (20, 60)])
        cache = small_cache(tok, max_bytes, windows, hash_mask)
        pieces = random.sample(PIECES, 6)
        old: list[SegmentLike] = []
        for _ in range(60):
            at = random.randrange(len(old) + 1)
            new = [segment(random, pieces) for _ in range(random.randrange(4))]
            old = (old[:at] + new + old[at + random.randrange(2) :])[-20:]
            joined = random.random() < 0.8
            salt = random.choice(["", "", "tenant"])
            expected = outcome(tok.encode_segments, old, joined)
            assert outcome(cache.encode_segments, old, joined, salt=salt) == expected, (tok, old)
            if isinstance(expected[0], list):
                # Texts and segments share chunks.
                text = "".join(each[0] for each in old if isinstance(each, tuple))
                assert cache.encode(text, "text").ids.tolist() == tok.encode(text, "text")
            assert cache.stats.bytes_held <= max_bytes
        reused += cache.stats.ids_reused
    assert reused > 2000


LINES = "".join(f"line {number} says {number * number}\n" for number in range(1000))


def test_what_is_shared(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    tok = Tokenizer(vocabulary, "gpt2", added_tokens=TOKENS)
    cache = bpe.PromptCache(tok)
    whole = cache.encode(LINES, "plain")
    found = cache.encode_segments([(LINES, "plain"), ("<e>", "allow")])
    assert found.reused > 0.8 * len(whole)  # the chunks of a text
    others: list[list[SegmentLike]] = [
        [(LINES, "allow"), ("<e>", "allow")],
        [(LINES[:300], "plain"), (LINES[300:500], "allow")],
        [LINES[:500].encode(), [5]],
    ]
    for segments in others:
        assert cache.encode_segments(segments, "text").reused == 0
    ids: list[SegmentLike] = [(LINES[:1000], "plain"), [5, 6], (LINES[1000:], "plain")]
    first, again = cache.encode_segments(ids), cache.encode_segments(ids)
    assert again.reused > first.reused > 0.5 * len(again)
    other = cache.encode_segments([ids[0], [5, 7], ids[2]])
    assert other.reused == first.reused  # the chunk with the ids is not reused
    assert cache.encode_segments(ids, salt="x").reused == 0
    for size in (1, 30):
        parts: list[SegmentLike] = [
            (LINES[at : at + size], "allow") for at in range(0, len(LINES), size)
        ]
        assert cache.encode_segments(parts).reused == 0
        longer = cache.encode_segments([*parts, ("more", "allow")])
        assert longer.reused > 0.8 * len(longer)
    line, new = (LINES, "plain"), ("new", "plain")
    apart = cache.encode_segments([("", "plain"), line, new, line], joined=False)
    assert apart.reused > 0.8 * len(apart) > 1.6 * apart.reused_prefix > 0.6 * len(apart)
    assert cache.encode_segments([new, line], joined=False).reused_prefix == 0
    small = small_cache(tok, windows=(1, 1))  # keeps "1" and "2", but no part of them
    for reused in (0, 2):
        assert small.encode_segments(["1", "2"], joined=False).reused_prefix == reused
    assert cache.encode_segments([]).ends is not None
    assert len(cache.encode_segments([[5], [], ""])) == 1


@pytest.mark.parametrize("text", ["1", "x1"])
def test_given_ids_at_the_end_of_a_window(
    text: str, vocabulary: bpe.Vocabulary, native: BackendName
) -> None:
    """The text after given ids gets a prefix, so they are neither the end nor the start of a chunk.

    No cut is proven within "1", but one after the "1" of "x1".
    """
    tok = Tokenizer(vocabulary, "qwen2", add_prefix_space=True)
    segments: list[SegmentLike] = [(text, "text"), [7], ("a", "text")]
    found = small_cache(tok, windows=(len(text), len(text))).encode_segments(segments)
    expected = tok.encode_segments(segments)
    assert found.ends is not None
    assert (found.ids.tolist(), found.ends.tolist()) == (
        expected.ids.tolist(),
        expected.ends.tolist(),
    )


def test_calls_without_the_cache(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    tok = Tokenizer(vocabulary, "gpt2", added_tokens=TOKENS, backend=backend)
    cache = bpe.PromptCache(tok)
    text = LINES[:5000]
    calls: list[tuple[Any, dict[str, Any]]] = [
        ([(text, {"<e>"})], {}),
        ([(text, "plain"), np.array([1, 2])], {}),
        ([(text, "plain")], {"errors": "strict"}),
        ([(bytearray(text.encode()), "plain")], {}),
    ]
    for segments, options in calls:
        expected = tok.encode_segments(segments, **options)
        found = cache.encode_segments(segments, **options)
        assert found.ends is not None
        assert np.array_equal(found.ids, expected.ids)
        assert np.array_equal(found.ends, expected.ends)
    wrongs: list[Any] = ["text", [5], [(text, "other")]]
    for wrong in wrongs:
        for encode in (tok.encode_segments, cache.encode_segments):
            with pytest.raises((TypeError, ValueError)):
                encode(wrong)
    with pytest.raises(TypeError, match="salt="):
        cache.encode_segments([], salt=5)  # type: ignore[arg-type]


def test_chats(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    tok = Tokenizer(vocabulary, "gpt2", added_tokens=TOKENS, backend=backend)
    cache = bpe.PromptCache(tok)
    template = "{% for m in messages %}<e>{{ m.role }}\n{{ m.content }}<r>\n{% endfor %}"
    messages = [{"role": "system", "content": LINES}]
    for turn in range(4):
        messages.append({"role": "user", "content": f"<e> Turn {turn} <r>"})
        expected = tok.encode_chat(messages, chat_template=template)
        found = tok.encode_chat(messages, chat_template=template, cache=cache, salt="a")
        assert np.array_equal(found.ids, expected.ids)
        assert found.source_of == expected.source_of
        assert np.array_equal(found.mask("user"), expected.mask("user"))
    assert (cache.stats.ids_reused > 0.6 * cache.stats.ids) == (backend == "native")
    other = Tokenizer(vocabulary, "gpt2", backend=backend)
    with pytest.raises(ValueError, match="expected a cache of this tokenizer"):
        chat.encode(other, messages, chat_template=template, cache=cache)

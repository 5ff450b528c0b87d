"""Merging: both backends against its definition, tiktoken, Hugging Face, and each other."""

from __future__ import annotations

import random
from functools import partial
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pretok
from bpe import Tokenizer, Vocabulary
from bpe.merge import MAX_SCANNED, Merger, merge, merge_finder, recover_merges
from pretok.machine.backend import BackendName
from support import FULL, max_examples, seeded
from vocabularies import (
    BYTES,
    LETTERS,
    Whole,
    as_chars,
    from_merges,
    from_ranks,
    in_chars,
    installed_ranks,
    live_bpe,
    naive,
)

pre_tokens = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=24).map(bytes)
any_vocabulary = from_ranks() | from_merges()
SHARED_PARTS = Vocabulary(
    # Both ab + c and a + bc make abc, but "abc" merges as a + bc. No pair makes abcd.
    BYTES | {256: b"abc", 257: b"bc", 258: b"ab", 259: b"cd", 260: b"abcd"}
)
ODD_RANKS = Vocabulary(
    # Parts have higher ranks than the tokens that they make: a merge enables one of a lower rank.
    {byte + 10: token for byte, token in BYTES.items()}
    | {0: b"abcabc", 1: b"abc", 2: b"aab", 300: b"ab", 301: b"bc", 302: b"ca", 303: b"aa"}
)


def make(vocabulary: Vocabulary, backend: BackendName) -> Tokenizer:
    return Tokenizer(vocabulary, "gpt2", backend=backend)


@given(made=any_vocabulary, texts=st.lists(pre_tokens, min_size=1, max_size=5))
@example(SHARED_PARTS, [b"abc", b"abcd", b"abcabcd", b"xabcdab"])
@example(ODD_RANKS, [b"abcabc", b"aabcabc", b"abcaabc", b"caabcaab"])
@settings(max_examples=max_examples(200))
def test_merging_equals_its_definition(
    backend: BackendName, made: Vocabulary, texts: list[bytes]
) -> None:
    tok = make(made, backend)
    for text in texts:
        wanted = naive(made, text)
        assert tok.encode(text) == wanted, "the first time"
        assert tok.encode(text) == wanted, "the second time"
        assert b"".join(made.token_bytes[id] for id in wanted) == text
    spaced = b" ".join([*texts, *texts])
    assert tok.encode(spaced) == [
        id for part in pretok.get("gpt2").split_bytes(spaced) for id in naive(made, part)
    ]


@given(made=any_vocabulary, text=st.lists(st.sampled_from(LETTERS), min_size=50, max_size=80))
@settings(max_examples=max_examples(60))
def test_scan_and_heap_equal_the_definition(
    backend: BackendName, made: Vocabulary, text: list[int]
) -> None:
    # Up to MAX_SCANNED bytes, merging scans all pairs; for more bytes it has another algorithm. The
    # lengths of `text` are on both sides.
    assert 50 < MAX_SCANNED < 80
    assert make(made, backend).encode(bytes(text)) == naive(made, bytes(text))


def random_vocabularies(rng: random.Random, count: int) -> list[Vocabulary]:
    """Return vocabularies with long chains of merges: each token joins two random tokens."""
    found = []
    for number in range(count):
        tokens = [bytes([letter]) for letter in b"abcd"[: rng.choice((1, 2, 3, 4))]]
        merges = []
        for _ in range(rng.choice((3, 20, 120))):
            left, right = (rng.randrange(len(tokens)) for _ in range(2))
            if tokens[left] + tokens[right] not in tokens:
                tokens.append(tokens[left] + tokens[right])
                merges.append((left, right, len(tokens) - 1))
        base = {1000 + byte: bytes([byte]) for byte in range(256)
                if bytes([byte]) not in tokens}  # fmt: skip
        ordered = list(enumerate(tokens))
        if number % 2:
            ids = rng.sample(range(len(tokens)), len(tokens))
            ordered = [(ids[at], token) for at, token in ordered]
            merges = [(ids[a], ids[b], ids[c]) for a, b, c in merges]
        if number % 3 == 1:
            rng.shuffle(merges)
        found.append(Vocabulary(base | dict(ordered), merges if number % 3 else None))
    return found


@pytest.mark.parametrize("seed", range(6) if FULL else range(3))
def test_python_and_native_merge_long_pre_tokens_alike(native: BackendName, seed: int) -> None:
    rng = seeded(seed)
    # A long pre-token is merged in windows, and some windows have to grow.
    lengths = [1, 2, *range(MAX_SCANNED - 6, MAX_SCANNED + 4), 127, 128, 129, 1000, 4000]
    lengths += rng.sample(range(MAX_SCANNED, 700), 40)
    for made in random_vocabularies(rng, 12):
        ours, theirs = make(made, native), make(made, "python")
        letters = b"abcd"[: rng.choice((1, 2, 4))]
        texts = [bytes(rng.choices(letters, k=length)) for length in lengths]
        for length in lengths:
            period = bytes(rng.choices(letters, k=rng.choice((1, 2, 3, 7, 40))))
            texts.append((period * length)[:length] + bytes(rng.choices(letters, k=3)))
        for text in texts:
            if text:
                ids = ours.encode(text)
                assert ids == theirs.encode(text), (made.token_bytes, made.merges, text)
                assert ours.decode_bytes(ids) == text


@pytest.mark.parametrize("seed", range(4))
def test_the_scan_and_the_heap_of_python_are_alike(seed: int) -> None:
    from bpe.merge import _merge_long, _merge_short

    rng = seeded(seed)
    for made in random_vocabularies(rng, 12):
        find = merge_finder(made)
        for length in (1, 2, 3, 10, MAX_SCANNED, MAX_SCANNED + 1, 300):
            symbols = [made.byte_ids[byte] for byte in rng.choices(b"abcd", k=length)]
            found = _merge_short(list(symbols), find)
            assert found == _merge_long(list(symbols), find) == merge(list(symbols), find)


def test_every_short_text(native: BackendName) -> None:
    for made in (SHARED_PARTS, ODD_RANKS):
        ours, reference = make(made, native), Merger(made)
        for length in range(1, 8):
            for letters in product(b"abcd", repeat=length):
                text = bytes(letters)
                assert ours.encode(text) == reference.merge(text)


@given(made=from_ranks(), texts=st.lists(pre_tokens, min_size=1, max_size=5))
@settings(max_examples=max_examples(150))
def test_ranks_merge_as_in_tiktoken(
    backend: BackendName, made: Vocabulary, texts: list[bytes]
) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    engine = tiktoken.Encoding(
        "made-up",
        pat_str=r"\p{L}+|\P{L}",
        mergeable_ranks={token: id for id, token in made.token_bytes.items()},
        special_tokens={},
    )
    tok = make(made, backend)
    for text in (*texts, b"".join(texts) * 5):  # tiktoken has another algorithm from 100 bytes on
        assert tok.encode(text) == engine.encode_ordinary(text.decode())


@given(
    made=from_merges(twins=False),
    texts=st.lists(pre_tokens, min_size=1, max_size=5),
    spaced=st.booleans(),
)
@settings(max_examples=max_examples(150))
def test_merges_merge_as_in_tokenizers(
    backend: BackendName, made: Vocabulary, texts: list[bytes], spaced: bool
) -> None:
    engine = live_bpe(*in_chars(made), ignore_merges=made.ignore_merges)
    text = (b" " if spaced else b"").join(texts)
    assert make(made, backend).encode(text) == engine.encode(text.decode()).ids


def test_the_later_of_two_equal_merges_counts(backend: BackendName) -> None:
    tokens = BYTES | {256: b"ab", 257: b"bc"}
    once = [(97, 98, 256), (98, 99, 257)]
    assert make(Vocabulary(tokens, once), backend).encode("abc") == [256, 99]
    twice = Vocabulary(tokens, [*once, (97, 98, 256)])
    assert make(twice, backend).encode("abc") == [97, 257]
    assert live_bpe(*in_chars(twice)).encode("abc").ids == [97, 257]


def test_ignore_merges(backend: BackendName) -> None:
    tokens = BYTES | {256: b"ab", 257: b"abc"}
    merges = [(97, 98, 256)]
    merged, whole = (Vocabulary(tokens, merges, ignore) for ignore in (False, True))
    assert make(merged, backend).encode("abc abcd") == [256, 99, 32, 256, 99, 100]
    assert make(whole, backend).encode("abc abcd") == [257, 32, 256, 99, 100]


@pytest.mark.parametrize("order", [1, -1])
def test_a_whole_pre_token_has_the_lowest_id(backend: BackendName, order: int) -> None:
    # The order of the tokens does not matter.
    twins = [(300, b"ab"), (299, b"ab"), (298, b"xx"), (297, b"xx"), (302, b"ab"), (296, b"a")]
    tokens = dict([*twins, *BYTES.items()][::order])
    tok = make(Vocabulary(tokens, [], ignore_merges=True), backend)
    assert tok.encode("ab") == [299]
    assert tok.encode("xx") == [297]
    assert tok.encode("a") == [97]
    long = {400: b"y" * 20, 399: b"y" * 20, 401: b"y" * 20}
    tokens = dict([*long.items(), *BYTES.items()][::order])
    assert make(Vocabulary(tokens, [], ignore_merges=True), backend).encode("y" * 20) == [399]


@given(made=from_ranks(), texts=st.lists(pre_tokens, min_size=1, max_size=5))
@example(SHARED_PARTS, [b"abc", b"abcd", b"abcabcd"])
@example(ODD_RANKS, [b"abcabc", b"aabcabc"])
@settings(max_examples=max_examples(200))
def test_recovered_merges_give_the_ids_of_the_ranks(
    backend: BackendName, made: Vocabulary, texts: list[bytes]
) -> None:
    by_ranks = make(made, backend)
    recovered = by_ranks.merge_ids
    assert recovered == tuple(recover_merges(made))
    assert [result for _, _, result in recovered] == sorted(result for _, _, result in recovered)
    by_merges = make(Vocabulary(made.token_bytes, recovered, ignore_merges=True), backend)
    for text in (*texts, b"".join(texts) * 4):
        assert by_merges.encode(text) == by_ranks.encode(text)
    assert by_ranks.merges == tuple(
        (made.token_bytes[left], made.token_bytes[right]) for left, right, _ in recovered
    )


def test_merges_are_kept_as_they_were_passed(backend: BackendName) -> None:
    merges = ((98, 99, 257), (97, 98, 256), (98, 99, 257))
    tok = make(Vocabulary(BYTES | {256: b"ab", 257: b"bc"}, merges), backend)
    assert tok.merge_ids == merges
    assert tok.merges == ((b"b", b"c"), (b"a", b"b"), (b"b", b"c"))


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_the_merges_of_a_real_vocabulary(native: BackendName, name: str) -> None:
    """Each token has one merge. Merging by these merges gives equal ids, here and in tokenizers."""
    made = Vocabulary({id: token for token, id in installed_ranks(name).items()})
    preset = name.removesuffix("_base")
    by_ranks = Tokenizer(made, preset, backend=native)
    split = pretok.get(preset, backend=native).split_bytes
    recovered = by_ranks.merge_ids
    assert len(recovered) == len(made.token_bytes) - 256
    with_merges = Vocabulary(made.token_bytes, recovered, ignore_merges=True)
    by_merges = Tokenizer(with_merges, preset, backend=native)
    text = "Hello world's 12345 über Straße 中文字符 \U0001f600\U0001f3fd\n\n\tif x: return 'é'"
    assert by_merges.encode(text) == by_ranks.encode(text)
    sample = sorted(made.token_bytes)[:: 97 if name == "cl100k_base" else 211]
    reference = Merger(made)
    for id in sample:
        token = made.token_bytes[id]
        wanted = [each for part in split(token) for each in reference.merge(part)]
        assert by_ranks.encode(token) == wanted
    some = {merge[2]: merge for merge in recovered}
    limited = Vocabulary({id: token for id, token in made.token_bytes.items() if id < 3000})
    assert list(recover_merges(limited)) == [some[id] for id in sorted(some) if id < 3000]
    engine = live_bpe(*in_chars(with_merges), ignore_merges=True)
    for word in ("Hello", "internationalization", "\u4e2d\u6587\u5b57\u7b26", "aaaaaaaaaaaaaaaa"):
        data = word.encode()
        assert split(data) == [data]
        assert by_merges.encode(data) == [each.id for each in engine.model.tokenize(as_chars(data))]


def test_a_text_that_is_not_split(backend: BackendName) -> None:
    made = random_vocabularies(random.Random(7), 1)[0]
    text = bytes(random.Random(8).choices(b"abc ,", k=500))
    whole = Tokenizer(made, Whole(), backend=backend)
    assert whole.encode(text) == Merger(made).merge(text)
    assert whole.encode(text.decode()) == Merger(made).merge(text)


def test_bytes_of_every_kind_merge(backend: BackendName) -> None:
    # Tokens of zero bytes, and of bytes that are not UTF-8.
    pairs = [(0, 0), (0xFF, 0xFE), (0xE4, 0xB8), (0xB8, 0xAD)]
    tokens = BYTES | {256 + at: bytes(pair) for at, pair in enumerate(pairs)}
    tokens |= {300: bytes(5), 301: bytes(40), 302: b"\xe4\xb8\xad"}
    made = Vocabulary(tokens)
    rng = seeded(9)
    reference = Merger(made)
    tok = Tokenizer(made, Whole(), backend=backend)
    for length in (1, 2, 5, 6, 30, 40, 41, 100):
        for alphabet in (b"\0", b"\0\xff\xfe", b"\xe4\xb8\xad", bytes(range(256))):
            text = bytes(rng.choices(alphabet, k=length))
            assert tok.encode(text) == reference.merge(text)
            if length < 50:
                assert reference.merge(text) == naive(made, text)


def test_a_stray_byte_merges_before_the_character_it_follows(backend: BackendName) -> None:
    """The rank of A9 80 is lower than that of the character C2 A9."""
    vocabulary = Vocabulary(BYTES | {256: b"\xa9\x80", 257: b"\xc2\xa9"})
    assert make(vocabulary, backend).encode(b"\xc2\xa9\x80") == [0xC2, 256]


def test_emoji_merge_in_parts_and_across(backend: BackendName) -> None:
    """Merge the bytes of one emoji, of two emoji, and of an emoji with a space before it."""
    emoji, other, joiner = "\U0001f600".encode(), "\U0001f601".encode(), "\u200d".encode()
    vocabulary = Vocabulary(
        BYTES
        | {256: b"\x81\xf0", 257: b"\xf0\x9f", 258: b" \xf0\x9f", 259: b"\xf0\x9f\x98"}
        | {260: emoji, 261: joiner[1:], 262: emoji + joiner[:1]}
    )
    tokenizer = make(vocabulary, backend)
    assert tokenizer.encode(emoji + joiner) == [262, 261]
    assert tokenizer.encode(emoji + other) == [260, 259, 0x81]
    assert tokenizer.encode(other + emoji) == [259, 256, 0x9F, 0x98, 0x80]
    assert tokenizer.encode(b" " + emoji) == [258, 0x98, 0x80]


def test_merging_does_not_recurse(backend: BackendName) -> None:
    # Each token is the previous token and one letter: the merges are a chain of `longest` tokens.
    longest = 2000 if backend == "native" else 1200
    tokens = BYTES | {254 + size: b"a" * size for size in range(2, longest + 1)}
    tok = make(Vocabulary(tokens), backend)
    merges = tok.merge_ids
    assert len(merges) >= longest - 1
    work = partial(tok.encode, "a" * longest)
    assert work() == [254 + longest]
    assert len(tok.encode("a" * (longest + 1) + "b")) >= 3

"""`merge_vocabularies`: the properties of its docstring, by the definition of merging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, Tokenizer, UnsupportedError, Vocabulary, VocabularyError
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.conversion.texts import texts_for
from bpe.merge import Merger
from conversions import loaded
from paths import shared
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from support import max_examples, seeded, strings
from vocabularies import LETTERS, from_merges, from_ranks, naive
from vocabulary_files import made, made_vocabulary

TEXTS = [text for size in range(1, 7) for text in strings(LETTERS.decode(), size, 20)]


def is_coarser(
    ids: Sequence[int], old: Sequence[int], tokens: Mapping[int, bytes], first: int
) -> bool:
    """Return whether `ids` are `old`, with runs replaced by ids from `first` on."""
    at = 0
    for id in ids:
        if id < first:
            if old[at : at + 1] != [id]:
                return False
            at += 1
        else:
            end = at
            while b"".join(tokens[part] for part in old[at:end]) != tokens[id]:
                end += 1
                if end > len(old):
                    return False
            at = end
    return at == len(old)


@settings(max_examples=max_examples(60), deadline=None)
@given(st.one_of(from_ranks(), from_merges()), st.one_of(from_ranks(), from_merges()))
def test_random_vocabularies(first: Vocabulary, second: Vocabulary) -> None:
    a, b = (Tokenizer(part, "gpt2", backend="python") for part in (first, second))
    merged = bpe.merge_vocabularies(a, b)
    tok = merged.tokenizer
    assert merged.new_ids == range(a.vocab_size, tok.vocab_size)
    for id, token in first.token_bytes.items():
        assert tok.vocabulary.token_bytes[id] == token
    merger = Merger(Vocabulary(tok.vocabulary.token_bytes, tok.vocabulary.merges))
    for id in merged.new_ids:
        token = tok.token_bytes(id)
        assert merger.merge(token) == [id]  # without looking up whole pre-tokens
    left = {item.id for item in merged.left_out}
    for id, token in second.token_bytes.items():
        if id in left:
            assert merged.ids[id] == -1
        else:
            assert tok.token_bytes(int(merged.ids[id])) == token
    for item in merged.left_out:
        assert merger.merge(item.token) == list(item.ids)
        assert len(item.ids) > 2
    for text in TEXTS:
        data = text.encode()
        ids, old = naive(tok.vocabulary, data), naive(first, data)
        assert ids == tok.encode(text)
        assert is_coarser(ids, old, tok.vocabulary.token_bytes, a.vocab_size), text
        if all(id < a.vocab_size for id in ids):
            assert ids == old


def test_gpt2_and_whisper(native: BackendName) -> None:
    """Both split like GPT-2; r50k's ids are most of Whisper's."""
    first, second = loaded("GPT-2 (vocab.json)"), loaded("Whisper")
    merged = bpe.merge_vocabularies(first, second)
    tok, tokens = merged.tokenizer, merged.tokenizer.vocabulary.token_bytes
    for text in texts_for([first, second], 60)[-60:]:
        ids, old = tok.encode(text, "text"), first.encode(text, "text")
        assert is_coarser(ids, old, tokens, first.vocab_size), text
    new = [id for id in merged.new_ids if id not in set(tok.special_tokens.values())]
    assert len(new) > 15_000
    assert all(tok.merge(tok.token_bytes(id)) == [id] for id in new[::50])
    assert tok.special_tokens["<|endoftext|>"] == 50256
    assert merged.ids[second.special_tokens["<|endoftext|>"]] == 50256
    assert merged.ids[second.special_tokens["<|en|>"]] == tok.special_tokens["<|en|>"]
    missing = set(range(second.vocab_size)) - {*second.vocabulary.token_bytes}
    missing -= {token.id for token in second.added_tokens}
    assert {*(merged.ids == -1).nonzero()[0]} == missing | {item.id for item in merged.left_out}
    assert len(merged.left_out) < 500


def test_left_out_tokens_and_their_ids() -> None:
    """Of "abcd" the first vocabulary makes three tokens, so no single merge makes the token."""
    first = made("python", made_vocabulary([(b"b", b"c")]), "gpt2", special=())
    second = made("python", made_vocabulary([(b"a", b"b"), (b"c", b"d"), (b"ab", b"cd")]), "gpt2",
                  special=())  # fmt: skip
    merged = bpe.merge_vocabularies(first, second)
    assert merged.left_out == ((b"abcd", 258, (97, 256, 100)),)
    assert merged.ids[256:].tolist() == [257, 258, -1]
    assert merged.tokenizer.encode("abcd ab cd") == [97, 256, 100, 32, 257, 32, 258]


def test_a_later_token_makes_an_earlier_one_possible() -> None:
    first = made("python", made_vocabulary([(b"b", b"c")]), "gpt2", special=())
    second = Vocabulary(
        {**made_vocabulary([(b"b", b"c")]).token_bytes, 257: b"abcd", 258: b"bcd"},
        [(98, 99, 256), (256, 100, 258), (97, 258, 257)],
    )
    merged = bpe.merge_vocabularies(first, Tokenizer(second, "gpt2", backend="python"))
    assert merged.left_out == ()
    assert merged.tokenizer.encode("abcd") == [merged.ids[257]]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"preset": "qwen2"}, "the split of the tokenizers differs: gpt2 and qwen2"),
        ({"normalizer": "NFC"}, "the normalizer of the tokenizers differs: None and NFC"),
        ({"add_prefix_space": True}, "the add_prefix_space of the tokenizers differs"),
        ({"added_tokens": [AddedToken("<|end|>", 300, lstrip=True)]}, "'<|end|>' has the flags"),
        ({"added_tokens": [AddedToken("ab", 300)]}, "'ab' is an ordinary token of the first"),
    ],
)
def test_parts_that_cannot_be_reconciled(options: dict[str, Any], match: str) -> None:
    first = made("python", preset="gpt2")
    second = made("python", **{"preset": "gpt2", **options})
    with pytest.raises(VocabularyError, match=match.replace("|", r"\|")):
        bpe.merge_vocabularies(first, second)
    if "added_tokens" in options and "ordinary" in match:
        with pytest.raises(VocabularyError, match="of the second tokenizer"):
            bpe.merge_vocabularies(second, first)


FALLBACK = {id: f"<0x{id:02X}>" for id in range(256)}
CHARACTERS = "abc\u00e9"


def text_tokenizer(random: Random, kind: str) -> Tokenizer:
    """Return a small tokenizer whose tokens are text, with a fallback token for each byte."""
    singles = random.sample(CHARACTERS, random.choice([2, 3, 4]))
    texts, merges = {256: "<unk>"}, []
    for char in singles:
        texts[257 + len(texts)] = char
    drawn = {"".join(random.choices(CHARACTERS, k=random.randrange(2, 6))) for _ in range(9)}
    if kind == "scores":
        texts |= {400 + at: text for at, text in enumerate(sorted(drawn - {*texts.values()}))}
        scores = {id: float(random.randrange(-8, 0)) for id in texts if id != 256}
        tokens = {id: bytes([id]) for id in FALLBACK} | {id: t.encode() for id, t in texts.items()}
        made: Vocabulary = CharacterVocabulary(tokens, scores, 256, tuple(FALLBACK))
    else:
        for at in range(random.randrange(9)):
            left, right = random.choices([id for id in texts if id != 256], k=2)
            joined = texts[left] + texts[right]
            known = {text: id for id, text in texts.items()}
            texts.setdefault(id := known.get(joined, 400 + at), joined)
            merges.append((left, right, id))
        options = TextOptions("<unk>", has_fallback=True)
        made = TextVocabulary(FALLBACK | texts, merges, options)
    return Tokenizer(made, WHOLE, backend="python")


@pytest.mark.parametrize("kind", ["scores", "merges"])
@pytest.mark.parametrize("other", ["scores", "merges"])
def test_random_text_vocabularies(kind: str, other: str) -> None:
    random = seeded(f"merging {kind} {other}")
    new_count = left_count = 0
    texts = [text.encode() for size in range(1, 6) for text in strings(CHARACTERS, size, 60)]
    for _ in range(max_examples(40)):
        first, second = text_tokenizer(random, kind), text_tokenizer(random, other)
        merged = bpe.merge_vocabularies(first, second)
        tok, tokens = merged.tokenizer, merged.tokenizer.vocabulary.token_bytes
        new_count += len(merged.new_ids)
        left_count += len(merged.left_out)
        assert merged.ids[:257].tolist() == list(range(257))
        for id in merged.new_ids:
            assert tok.merge(tok.vocabulary.token_bytes[id]) == [id]
        left = {item.id: item for item in merged.left_out}
        for id, token in second.vocabulary.token_bytes.items():
            assert (merged.ids[id] == -1) == (id in left)
            assert id in left or tokens[int(merged.ids[id])] == token
        for item in merged.left_out:
            assert tok.merge(item.token) == list(item.ids)
            assert len(item.ids) > 1
        for data in texts:
            ids, old = tok.merge(data), first.merge(data)
            assert is_coarser(ids, old, tokens, first.vocab_size), data
            if all(id < first.vocab_size for id in ids):
                assert ids == old
    assert new_count > max_examples(40)
    assert left_count > 0


def test_a_piece_that_a_new_token_would_make() -> None:
    """Nothing makes "abcd" in the first vocabulary, but "abc" and "d" would."""
    tokens = {97 + at: char.encode() for at, char in enumerate("abcd")} | {0: b"<unk>"}
    scores = dict.fromkeys(range(97, 101), -9.0)
    first = CharacterVocabulary(tokens | {200: b"abcd", 201: b"bc"},
                                scores | {200: -1.0, 201: -2.0}, 0)  # fmt: skip
    second = CharacterVocabulary(tokens | {300: b"abc", 301: b"bc", 302: b"dd"},
                                 scores | {300: -3.0, 301: -2.0, 302: -4.0}, 0)  # fmt: skip
    toks = [Tokenizer(vocabulary, WHOLE, backend="python") for vocabulary in (first, second)]
    merged = bpe.merge_vocabularies(*toks)
    assert merged.left_out == ((b"abc", 300, (97, 201)),)
    assert merged.ids[[301, 302]].tolist() == [201, 202]
    assert merged.tokenizer.merge(b"abcdd") == [97, 201, 202]


def test_llama_2_and_mistral(native: BackendName) -> None:
    """The text of a piece may have "▁"."""
    first, second = (bpe.load(shared("vocabs", "spm", name), backend=native)
                     for name in ("llama2.model", "mistral01.model"))  # fmt: skip
    merged = bpe.merge_vocabularies(first, second)
    tok, tokens = merged.tokenizer, merged.tokenizer.vocabulary.token_bytes
    assert len(merged.new_ids) > 7_000
    assert len(merged.left_out) < 2_000
    assert {item.id for item in merged.left_out} == {*(merged.ids == -1).nonzero()[0]}
    for text in texts_for([first, second], 60)[-60:]:
        ids, old = tok.encode(text, "text"), first.encode(text, "text")
        assert is_coarser(ids, old, tokens, first.vocab_size), text


def test_text_vocabularies_that_cannot_be_reconciled(native: BackendName) -> None:
    with pytest.raises(UnsupportedError, match="of the first vocabulary are text, and those of th"):
        bpe.merge_vocabularies(loaded("Llama 2"), made())
    with pytest.raises(TypeError, match="expected two Tokenizers, got str"):
        bpe.merge_vocabularies(made(), "gpt2")  # type: ignore[arg-type]
    random = seeded("merging")
    plain = TextVocabulary({0: "a", 1: "##b", 2: "ab"}, [(0, 1, 2)], TextOptions(prefix="##"))
    prefixed = Tokenizer(plain, WHOLE, backend="python")
    bare = Tokenizer(TextVocabulary({0: "a"}, ()), WHOLE, backend="python")
    with pytest.raises(UnsupportedError, match="prefix or suffix by their place"):
        bpe.merge_vocabularies(prefixed, bare)
    with pytest.raises(UnsupportedError, match="prefix or suffix by their place"):
        bpe.merge_vocabularies(bare, prefixed)
    with pytest.raises(VocabularyError, match="only the second vocabulary has a fallback token"):
        bpe.merge_vocabularies(bare, text_tokenizer(random, "merges"))
    byte = TextVocabulary(
        FALLBACK | {300: "<0x61><0x62>"}, [(97, 98, 300)], TextOptions(has_fallback=True)
    )
    with pytest.raises(UnsupportedError, match=r"has the token '<0x6\d>', which stands for"):
        bpe.merge_vocabularies(Tokenizer(byte, WHOLE, backend="python"), bare)
    level = TextVocabulary({0: "a"}, (), TextOptions(byte_level=True))
    with pytest.raises(UnsupportedError, match="only one of the vocabularies has the characters"):
        bpe.merge_vocabularies(bare, Tokenizer(level, "gpt2", backend="python"))


def test_splits_that_are_alike_under_two_names() -> None:
    """The patterns of GPT-2 and r50k split every text alike."""
    first, second = made("python", preset="gpt2"), made("python", preset="r50k")
    assert bpe.merge_vocabularies(first, second).tokenizer.preset == first.preset

"""Tokenizer.extend makes words single tokens, and keeps all that a tokenizer has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextOptions, TextVocabulary
from paths import shared
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from support import max_examples

TEXTS = ["low lower lowest new newer newest", "the fox and the dog"]
WORDS = [" kubernetes", "kubernetes", " lowland", " newtown", "日本語", " Σigma"]


def tokenizers(backend: BackendName) -> dict[str, Tokenizer]:
    options: dict[str, Any] = {"backend": backend, "progress": False}
    plain = bpe.train(TEXTS, 275, preset="gpt2", **options)
    tokens = plain.vocabulary.token_bytes
    ignoring = Vocabulary(tokens, plain.vocabulary.merges, True)
    text = bpe.train(TEXTS, 300, alphabet="characters", byte_fallback=True, **options)
    return {
        "merges": plain,
        "ranks": Tokenizer(Vocabulary(tokens), "gpt2", backend=backend),
        "ignore_merges": Tokenizer(ignoring, "gpt2", backend=backend),
        "text": text,
    }


@pytest.mark.parametrize("kind", tokenizers("python"))
def test_words_are_single_tokens(backend: BackendName, kind: str) -> None:
    old = tokenizers(backend)[kind]
    words = [word for word in WORDS if kind != "text" or not word.startswith(" ")]
    new = old.extend(words)
    for word in words:
        assert len(new.encode(word)) == 1
        assert new.decode(new.encode(word)) == word
    tokens, known = new.vocabulary.token_bytes, old.vocabulary.token_bytes
    assert {id: tokens[id] for id in known} == known
    assert new.merge_ids[: len(old.merge_ids)] == old.merge_ids
    added = tokens.keys() - known.keys()
    assert min(added) == old.vocab_size
    for text in TEXTS:
        assert new.encode(text) == old.encode(text)
    if kind == "merges":  # every new token is the result of merging its own bytes
        assert all(new.merge(tokens[id]) == [id] for id in added)
        assert len(added) == len(new.merge_ids) - len(old.merge_ids)
    if new.vocabulary.ignore_merges:
        assert len(added) == len(words)
    assert new.extend(words) == new


@given(words=st.lists(st.text(st.sampled_from("abc"), min_size=1, max_size=12), max_size=6))
@settings(max_examples=max_examples(60))
def test_random_words(backend: BackendName, words: list[str]) -> None:
    old = bpe.train(["abab cab"], 259, preset="gpt2", backend=backend, progress=False)
    new = old.extend(words)
    assert all(len(new.encode(word)) == 1 for word in words)
    sizes = sum(len(old.encode(word)) - 1 for word in {*words})
    assert new.vocab_size - old.vocab_size <= sizes


def test_one_word_gets_the_least_tokens(backend: BackendName) -> None:
    """A tree of merges over n different tokens has n - 1 nodes; equal halves share theirs."""
    old = bpe.train(["ab"], 256, backend=backend, progress=False)
    assert old.extend(["abcdefgh"]).vocab_size == 256 + 7
    assert old.extend(["abababab"]).vocab_size == 256 + 3
    assert old.extend(["abcd", "xabcd"]).vocab_size == 256 + 4


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("two words", r"is split into .*two.* words.*; pass these parts"),
        ("x<e>y", "has the added token .*<e>.* in it"),
        ("x<s>y", "has the added token .*<s>.* in it"),
        ("e\u0301x", "stands for .*, because the normalizer changes it or"),
        ("", "expected a non-empty str"),
        ("\ud800", "expected a non-empty str"),
    ],
)
def test_words_that_are_refused(backend: BackendName, word: str, message: str) -> None:
    added = [AddedToken("<e>", 300), AddedToken("<s>", 301, special=False)]
    plain = tokenizers(backend)["merges"].vocabulary
    old = Tokenizer(plain, "gpt2", added_tokens=added, normalizer="NFC", backend=backend)
    with pytest.raises(ValueError, match=message):
        old.extend(["good", word])


@pytest.mark.parametrize("unknown", [None, "<unk>"])
@pytest.mark.parametrize("ignores_merges", [False, True])
def test_words_with_characters_without_a_token(unknown: str | None, ignores_merges: bool) -> None:
    """Before, "a?b" is the one token "ab", and "?" no token or the unknown one."""
    options = TextOptions(unknown, ignores_merges=ignores_merges)
    texts = {0: "a", 1: "b", 2: "ab", 3: "<unk>"}
    new = Tokenizer(TextVocabulary(texts, [(0, 1, 2)], options), WHOLE).extend(["a?b", "?"])
    assert [new.decode(new.encode(word)) for word in ("a?b", "?", "ab")] == ["a?b", "?", "ab"]
    assert [len(new.encode(word)) for word in ("a?b", "?", "ab")] == [1, 1, 1]
    options = TextOptions(unknown, byte_level=True)
    with pytest.raises(
        bpe.VocabularyError, match=r"no token for a character|a character of it has no token"
    ):
        Tokenizer(TextVocabulary(texts, [(0, 1, 2)], options), WHOLE).extend(["a?b"])


def test_wrong_arguments(backend: BackendName) -> None:
    old = tokenizers(backend)["merges"]
    with pytest.raises(TypeError, match=r"words is one str; pass \[word\]"):
        old.extend("word")
    with pytest.raises(TypeError, match="a word is of type bytes"):
        old.extend([b"word"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="new_ids='before'"):
        old.extend(["word"], new_ids="before")  # type: ignore[arg-type]
    assert old.extend([]) == old


def test_new_ids(backend: BackendName) -> None:
    old = tokenizers(backend)["merges"]
    new = old.extend(["xyz"], new_ids=1000)
    assert new.encode("xyz") == [1001]
    assert new.extend(["vw"], new_ids="gaps").encode("vw") == [275]


@pytest.mark.parametrize(
    "name", ["hf/gpt2_tokenizer.json", "hf/llama2.json", "spm/llama2.model", "cl100k_base.tiktoken"]
)
def test_published_vocabularies(native: BackendName, name: str) -> None:
    preset = "cl100k" if name.endswith("tiktoken") else None
    old = bpe.load(shared("vocabs", name), preset)
    words = ["kubectl", "宇宙船"]
    if not isinstance(old.vocabulary, AnyCharacterVocabulary):
        words.append(" Staphylococcus")
    new = old.extend(words)
    assert all(len(new.encode(word)) == 1 for word in words)
    text = shared("texts", "english.txt").read_bytes()[:100_000].decode("utf-8", "ignore")
    assert new.encode(text, "plain") == old.encode(text, "plain")

"""bpe.train with initial= goes on where the training of the tokenizer has stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.editing.grow import with_tokens
from bpe.training.initial import Initial, Symbols
from bpe.training.limits import Limits
from bpe.training.trainer import TieBreak
from paths import shared
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer
from support import max_examples, seeded

LANGUAGES = {
    "English": "the quick brown fox jumps over the lazy dog, then other quick dogs jump over it. ",
    "German": "Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Würde. ",
    "Japanese": "すべての人間は、生まれながらにして自由であり、尊厳と権利とについて平等である。 ",
}
LETTERS = ("a", "ab", "abc ", "aé", "日本 ")
few_letters = st.sampled_from(LETTERS).flatmap(
    lambda letters: st.lists(st.text(st.sampled_from(letters), max_size=24), max_size=8)
)


def trained(texts: Sequence[str], vocab_size: int, **options: Any) -> Tokenizer:
    return bpe.train(texts, vocab_size, progress=False, **options)


def corpus(language: str, size: int = 60) -> list[str]:
    """Return random sentences of the words of a language."""
    chance, words = seeded(language), LANGUAGES[language].split(" ")
    return [" ".join(chance.choices(words, k=8)) for _ in range(size)]


def definition(initial: Tokenizer, texts: Sequence[str], number: int) -> Tokenizer:
    """Return the result of the definition, in plain Python.

    It adds one merge at a time: it encodes each pre-token with the merges so far, counts all
    neighbors, and merges the most frequent pair; among several, that of the tokens that were made
    first.
    """
    tok, added = initial, 0
    start = Initial(initial, "after")
    split = initial.pre_tokenizer
    counter = start.counter(split, "python", None, Limits())
    words = counter.count([(None, list(texts))]).take()
    ids = start.ids(number)
    while added < number:
        whole = Tokenizer(tok.vocabulary, WHOLE, backend="python")
        symbols = Symbols.of(tok, tok.vocabulary)
        order = {id: at for at, id in enumerate(symbols.ids)}
        text_of = dict(zip(symbols.ids, symbols.texts, strict=True))
        counts: Counter[tuple[int, int]] = Counter()
        for word, count in words:
            for left, right in pairwise(whole.encode(word, "plain")):
                if left in order and right in order:
                    counts[left, right] += count
        if not counts:
            return tok
        pair = min(counts, key=lambda pair: (-counts[pair], order[pair[0]], order[pair[1]]))
        text = text_of[pair[0]] + text_of[pair[1]]
        known = next((id for id in symbols.ids if text_of[id] == text), None)
        if known is None:
            tok = with_tokens(tok, {ids[added]: text}, [(*pair, ids[added])])
            added += 1
        else:
            tok = with_tokens(tok, {}, [(*pair, known)])
    return tok


def with_ranks(tok: Tokenizer) -> Tokenizer:
    return Tokenizer(Vocabulary(tok.vocabulary.token_bytes), "gpt2")


def with_scores(tok: Tokenizer) -> Tokenizer:
    """Return a SentencePiece model with the tokens of a tokenizer of characters."""
    texts = tok.vocabulary.texts  # type: ignore[attr-defined]
    names = {f"<0x{byte:02X}>": byte for byte in range(256)}
    tokens = {id: bytes([names[text]]) if text in names else text.encode()
              for id, text in texts.items()}  # fmt: skip
    fallback = [id for id, text in texts.items() if text in names]
    scores = {id: -float(id) for id, text in texts.items() if text not in names and id}
    vocabulary = CharacterVocabulary(tokens, scores, 0, fallback)
    return Tokenizer(vocabulary, WHOLE, normalizer=tok.normalizer, decoder=tok.decoder)


def starts(texts: Sequence[str]) -> dict[str, Tokenizer]:
    """Return a trained tokenizer of each kind."""
    plain = trained(texts, 290, preset="gpt2")
    text = trained(texts, 310, alphabet="characters", byte_fallback=True)
    ignoring = Vocabulary(plain.vocabulary.token_bytes, plain.vocabulary.merges, True)
    gaps = {id if id < 256 else 3 * id: token for id, token in plain.vocabulary.token_bytes.items()}
    merges = [tuple(id if id < 256 else 3 * id for id in row) for row in plain.merge_ids]
    return {
        "merges": plain,
        "ranks": with_ranks(plain),
        "ignore_merges": Tokenizer(ignoring, "gpt2"),
        "gaps": Tokenizer(Vocabulary(gaps, merges), "gpt2"),  # type: ignore[arg-type]
        "special": Tokenizer(plain.vocabulary, "gpt2", added_tokens=[AddedToken("<e>", 290)]),
        "text": text,
        "scores": with_scores(text),
        "normalizer": Tokenizer(plain.vocabulary, "gpt2", normalizer="NFC", add_prefix_space=True),
        "added": Tokenizer(
            plain.vocabulary, "gpt2", added_tokens=[AddedToken(" d", 290, special=False)]
        ),
    }


KINDS = tuple(starts(["ab"]))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_merges_are_those_of_the_definition(kind: str, language: str, backend: BackendName) -> None:
    """The old tokenizer knows half of the texts, so the new texts have unknown characters."""
    texts = corpus(language)
    old = starts(texts[:3])[kind]
    options = {"character_coverage": 0.001} if kind in ("text", "scores") else {}
    ours = trained(texts, old.vocab_size + 12, initial=old, backend=backend, **options)
    assert ours == definition(old, texts, 12)
    assert ours.merge_ids != old.merge_ids


@given(texts=few_letters, old=st.integers(0, 30), new=st.integers(0, 40), least=st.integers(0, 3))
@settings(max_examples=max_examples(100))
def test_training_in_two_parts_is_training_in_one_go(
    backend: BackendName, texts: list[str], old: int, new: int, least: int
) -> None:
    options: dict[str, Any] = {"min_frequency": least, "backend": backend}
    first = trained(texts, 256 + old, preset="gpt2", **options)
    whole = trained(texts, 256 + old + new, preset="gpt2", **options)
    assert trained(texts, 256 + old + new, initial=first, **options) == whole


@given(texts=few_letters, old=st.integers(0, 30), longest=st.none() | st.integers(2, 9))
@settings(max_examples=max_examples(60))
def test_characters_in_two_parts_are_those_in_one_go(
    backend: BackendName, texts: list[str], old: int, longest: int | None
) -> None:
    options: dict[str, Any] = {"backend": backend, "max_token_length": longest}
    size = trained(texts, 400, alphabet="characters", **options).vocab_size
    first = trained(texts, max(12, size - old), alphabet="characters", **options)
    whole = trained(texts, first.vocab_size + old, alphabet="characters", **options)
    assert trained(texts, first.vocab_size + old, initial=first, **options) == whole


@given(texts=few_letters, more=few_letters, old=st.integers(0, 30), new=st.integers(0, 40),
       tie_break=st.sampled_from(["huggingface", "first-seen"]),
       longest=st.none() | st.integers(2, 9))  # fmt: skip
@settings(max_examples=max_examples(100))
def test_python_and_native_agree(
    native: BackendName, texts: list[str], more: list[str], old: int, new: int,
    tie_break: TieBreak, longest: int | None,
) -> None:  # fmt: skip
    first = trained(texts, 256 + old, preset="gpt2", tie_break=tie_break)
    results = [
        trained(more, 256 + old + new, initial=first, tie_break=tie_break, backend=name,
                max_token_length=longest)
        for name in ("python", native)
    ]  # fmt: skip
    assert results[0].vocabulary == results[1].vocabulary


random_ranks = st.lists(st.text(st.sampled_from("ab"), min_size=2, max_size=5), max_size=12)


@given(tokens=random_ranks, texts=few_letters)
@settings(max_examples=max_examples(100))
def test_random_ranks_are_those_of_the_definition(
    backend: BackendName, tokens: list[str], texts: list[str]
) -> None:
    """Tokens that no merge made before are made at once when a new token leads to them."""
    known = {byte: bytes([byte]) for byte in range(256)}
    known |= {256 + at: text.encode() for at, text in enumerate(dict.fromkeys(tokens))}
    old = Tokenizer(Vocabulary(known), "gpt2")
    ours = trained(texts, old.vocab_size + 6, initial=old, backend=backend)
    assert ours == definition(old, texts, 6)


def test_a_new_token_joins_tokens_that_were_not_reachable(backend: BackendName) -> None:
    """After "aa" is a token, the first two letters and the third are "aaa" before others merge."""
    known = {byte: bytes([byte]) for byte in range(256)}
    for tokens, text, expected in (
        ([b"aaa"], "aaaaaa", [b"aaa", b"aaa"]),
        ([b"aaaa", b"aaa"], "a" * 9, [b"aaaa", b"aaaa", b"a"]),
        ([b"aabb", b"abb"], "aabbabb", [b"aabb", b"abb"]),
    ):
        old = Tokenizer(Vocabulary(known | dict(enumerate(tokens, 256))), "gpt2")
        texts = [text] * 9
        ours = trained(texts, old.vocab_size + 1, initial=old, backend=backend)
        assert [ours.token_bytes(id) for id in ours.encode(text)] == expected
        for number in range(1, 4):
            ours = trained(texts, old.vocab_size + number, initial=old, backend=backend)
            assert ours == definition(old, texts, number)


def test_new_ids(backend: BackendName) -> None:
    texts = corpus("English")
    old = starts(texts)["gaps"]
    free = sorted({*range(old.vocab_size)} - {*old.vocabulary.token_ids})
    ours = trained(texts, old.vocab_size, initial=old, new_ids="gaps", backend=backend)
    new = {*ours.vocabulary.token_ids} - {*old.vocabulary.token_ids}
    assert sorted(new) == free[: len(new)]
    later = trained(texts, 2000, initial=old, new_ids=1990, backend=backend)
    assert {*later.vocabulary.token_ids} - {*old.vocabulary.token_ids} == {*range(1990, 2000)}
    tokens = ours.vocabulary.token_bytes
    expected = trained(texts, old.vocab_size + len(new), initial=old, backend=backend)
    assert [tokens[id] for id in sorted(new)] == [
        expected.vocabulary.token_bytes[old.vocab_size + at] for at in range(len(new))
    ]


def test_new_ids_must_be_after_ranks() -> None:
    old = Tokenizer(
        Vocabulary({id + 9 if id > 255 else id: token for id, token in
                    trained(["abab"], 258).vocabulary.token_bytes.items()}), "gpt2")  # fmt: skip
    with pytest.raises(ValueError, match="pass new_ids='after', or an id of at least 267"):
        trained(["abab"], 270, initial=old, new_ids="gaps")
    assert trained(["xyz"], 268, initial=old).vocabulary.from_ranks


def test_characters_become_tokens_before_merges(backend: BackendName) -> None:
    old = trained(["ab ab\n"], 270, alphabet="characters", byte_fallback=True)
    new = trained(["日本 日\n ab 語"], old.vocab_size + 4, initial=old, backend=backend)
    texts = new.vocabulary.texts  # type: ignore[attr-defined]
    assert [texts[old.vocab_size + at] for at in range(4)] == ["日", "本", "語", "▁日"]
    with pytest.raises(ValueError, match="a lower character_coverage= leaves out rare"):
        trained(["日本 日\n ab 語"], old.vocab_size + 1, initial=old, backend=backend)
    few = trained(
        ["日本 日\n ab 語"], old.vocab_size, initial=old, character_coverage=0.1,
        required_characters="a", backend=backend,
    )  # fmt: skip
    assert few == old


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "gpt2"}, "preset='gpt2' does not go with initial="),
        ({"special_tokens": ["<e>"]}, "special_tokens=.* does not go with initial="),
        ({"alphabet": "characters"}, "alphabet='characters' does not go with initial="),
        ({"byte_fallback": True}, "byte_fallback=True does not go with initial="),
        ({"character_coverage": 0.9}, "needs alphabet="),
        ({"vocab_size": 257}, "expected at least 258, the vocab_size of initial="),
        ({"new_ids": "before"}, "new_ids='before'; expected 'after', 'gaps' or an id"),
        ({"initial": None, "new_ids": "gaps"}, "needs initial="),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    arguments = {"initial": trained(["abab"], 258), "vocab_size": 300, **options}
    with pytest.raises(ValueError, match=message):
        bpe.train(["ab"], progress=False, **arguments)


def test_initial_must_be_a_tokenizer() -> None:
    with pytest.raises(TypeError, match="initial is of type str; expected a Tokenizer"):
        bpe.train(["ab"], 300, initial="gpt2")  # type: ignore[arg-type]


def test_a_merge_must_not_make_a_special_token(backend: BackendName) -> None:
    old = Tokenizer(trained(["ab"], 257).vocabulary, "gpt2", added_tokens=[AddedToken("xyz", 300)])
    with pytest.raises(ValueError, match=r"the texts make the token .*xyz.*, which is token 300"):
        trained(["xyz xyz"], 310, initial=old, backend=backend)


def test_merges_with_a_prefix_are_refused() -> None:
    options = TextOptions(prefix="##")
    old = Tokenizer(TextVocabulary({0: "a", 1: "##a", 2: "aa"}, [(0, 1, 2)], options), WHOLE)
    with pytest.raises(bpe.UnsupportedError, match="continuing_subword_prefix"):
        trained(["aa"], 9, initial=old)


def test_a_token_may_take_one_slot_or_two(native: BackendName) -> None:
    """A merge makes "abcd" of two tokens, which is one token where it is a whole pre-token."""
    tokens = {byte: bytes([byte]) for byte in range(256)}
    tokens |= {256: b"ab", 257: b"cd", 258: b"abcd"}
    vocabulary = Vocabulary(tokens, [(97, 98, 256), (99, 100, 257)], ignore_merges=True)
    old = Tokenizer(vocabulary, "gpt2")
    texts = ["abcd"] * 2 + ["xabcdx", "yabcdy", "zabcdz"] * 3
    results = [trained(texts, 262, initial=old, backend=name) for name in ("python", native)]
    assert results[0] == results[1]
    assert results[0].merge_ids[2] == (256, 257, 258)


@pytest.mark.parametrize("name", ["hf/gpt2_tokenizer.json", "hf/llama2.json", "spm/llama2.model",
                                  "cl100k_base.tiktoken", "hf/gpt_neox.json"])  # fmt: skip
def test_published_vocabularies_keep_their_ids(native: BackendName, name: str) -> None:
    preset = "cl100k" if name.endswith("tiktoken") else None
    old = bpe.load(shared("vocabs", name), preset)
    text = shared("texts", "cjk.txt").read_bytes()[:200_000].decode("utf-8", "ignore")
    is_text = isinstance(old.vocabulary, AnyCharacterVocabulary)
    options = {"character_coverage": 0.9} if is_text else {}
    new = trained([text], old.vocab_size + 300, initial=old, **options)
    english = shared("texts", "english.txt").read_bytes()[:200_000].decode("utf-8", "ignore")
    lines = english.splitlines()
    pairs = list(
        zip(new.encode_batch(lines, "plain"), old.encode_batch(lines, "plain"), strict=True)
    )
    kept = [(ours, theirs) for ours, theirs in pairs if max(ours, default=0) < old.vocab_size]
    assert all(ours == theirs for ours, theirs in kept)
    assert len(kept) > 0.7 * len(lines)
    fewer = new.encode_array(text, "plain")
    assert len(fewer) < 0.95 * len(old.encode_array(text, "plain"))
    assert new.decode(fewer) == old.decode(old.encode(text, "plain"))


def test_saved_files_give_the_ids_in_other_libraries(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    texts = corpus("German")
    for kind, old in starts(texts[:3]).items():
        if kind == "scores":
            continue
        new = trained(texts, old.vocab_size + 20, initial=old)
        new.save(tmp_path / "tokenizer.json")
        live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        loaded = bpe.load(tmp_path / "tokenizer.json")
        for text in texts:
            ids = new.encode(text)
            assert loaded.encode(text) == ids
            assert live.encode(text, add_special_tokens=False).ids == ids


def test_pre_tokens_are_those_of_encoding(backend: BackendName) -> None:
    """The sum of the encoded words has the tokens of the encoded texts."""
    texts = corpus("Japanese") + corpus("English")
    for old in starts(texts[:9]).values():
        counter = Initial(old, "after").counter(
            PreTokenizer(old.preset, backend=backend) if old.preset else old.pre_tokenizer,
            backend, None, Limits(),
        )  # fmt: skip
        words = counter.count([(None, list(texts))]).take()
        whole = Tokenizer(old.vocabulary, WHOLE, backend=backend)
        ids: Counter[int] = Counter()
        for word, count in words:
            for id in whole.encode(word, "plain"):
                ids[id] += count
        expected = Counter(id for text in texts for id in old.encode(text, "text"))
        added = {token.id for token in old.added_tokens if not token.special}
        assert ids == Counter({id: n for id, n in expected.items() if id not in added})

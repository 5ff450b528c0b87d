"""bpe.train with alphabet="characters" equals Hugging Face's BpeTrainer with Metaspace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import Tokenizer, UnsupportedError, VocabularyError
from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.training.characters import DECODER, NORMALIZER, words_preset
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer
from support import max_examples, seeded
from text_models import PARTS, SENTENCES

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

SPECIAL = ["<unk>", "<s>", "</s>"]
LETTERS = ("a ", "ab ", "abc ", "ab ▁", "aé\n ", "日本 ", "ab😀 ")
texts_of_few_letters = st.sampled_from(LETTERS).flatmap(
    lambda letters: st.lists(st.text(st.sampled_from(letters), max_size=40), max_size=12)
)


def trained(source: Any, vocab_size: int = 400, **options: Any) -> Tokenizer:
    return bpe.train(
        source, vocab_size=vocab_size, alphabet="characters", progress=False,
        special_tokens=options.pop("special_tokens", SPECIAL), **options,
    )  # fmt: skip


def of_tokenizers(texts: Sequence[str], fallback: bool, **options: Any) -> dict[str, Any]:
    """Return the model that Hugging Face's BpeTrainer trains with Metaspace."""
    live = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    live.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.BpeTrainer(
        special_tokens=[*SPECIAL, *(BYTE_NAMES if fallback else ())],
        show_progress=False,
        **{"vocab_size": 400, "initial_alphabet": ["▁"], **options},
    )
    live.train_from_iterator(texts, trainer)
    model: dict[str, Any] = json.loads(live.to_str())["model"]
    return model


def assert_as_tokenizers(ours: Tokenizer, model: dict[str, Any]) -> None:
    """Check that `ours` has the tokens and the merges of a model of Hugging Face."""
    vocabulary = ours.vocabulary
    assert isinstance(vocabulary, TextVocabulary)
    assert vocabulary.pieces == model["vocab"]
    texts = vocabulary.texts
    assert [[texts[left], texts[right]] for left, right, _ in vocabulary.merges] == list(
        map(list, model["merges"])
    )


@given(
    texts=texts_of_few_letters,
    size=st.integers(20, 90),
    least=st.integers(0, 4),
    longest=st.none() | st.integers(2, 9),
)
@settings(max_examples=max_examples(60))
def test_merges_are_those_of_hugging_face(
    backend: BackendName, texts: list[str], size: int, least: int, longest: int | None
) -> None:
    options = {} if longest is None else {"max_token_length": longest}
    model = of_tokenizers(texts, False, vocab_size=size, min_frequency=least, **options)
    ours = trained(texts, size, min_frequency=least, max_token_length=longest, backend=backend)
    assert_as_tokenizers(ours, model)


@pytest.mark.parametrize("fallback", [True, False])
def test_sentences(backend: BackendName, fallback: bool) -> None:
    ours = trained(SENTENCES, 380, byte_fallback=fallback, backend=backend)
    assert_as_tokenizers(ours, of_tokenizers(SENTENCES, fallback, vocab_size=380))
    assert trained(SENTENCES, 380, byte_fallback=fallback, backend=backend, threads=2) == ours


def test_coverage_limits_the_alphabet(backend: BackendName) -> None:
    """Like BpeTrainer, training drops characters from the words if the alphabet lacks them."""
    texts = ["aaaa bbb ccaa bcab", "axaya zz"]  # counts: ▁ 6, a 10, b 5, c 3, z 2, x and y 1
    ours = trained(texts, 60, character_coverage=0.9, required_characters="é", backend=backend)
    assert_as_tokenizers(
        ours, of_tokenizers(texts, False, vocab_size=60, limit_alphabet=6,
                            initial_alphabet=["▁", "é"])
    )  # fmt: skip
    tokens = [token.decode() for token in ours.vocabulary.token_bytes.values()]
    assert [text for text in tokens if len(text) == 1] == [*"abczé▁"]
    assert ours.encode("x") == [ours.token_id("▁"), 0]


def test_words_are_those_of_metaspace() -> None:
    metaspace, split = tokenizers.pre_tokenizers.Metaspace(), PreTokenizer(words_preset()).split
    random = seeded("words")
    for _ in range(200):
        text = "".join(random.choices("ab ▁\n", k=random.randrange(9)))
        words = [piece.replace(" ", "▁") for piece in split(text)]
        words = [word if word.startswith("▁") else "▁" + word for word in words]
        assert words == [piece for piece, _ in metaspace.pre_tokenize_str(text)], repr(text)


@pytest.mark.parametrize("fallback", [True, False])
def test_saved_files_give_the_ids_in_other_libraries(tmp_path: Path, fallback: bool) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    ours = trained(SENTENCES, 380, byte_fallback=fallback)
    ours.save(tmp_path / "spm.model")
    ours.save(tmp_path / "tokenizer.json")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spm.model"))
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    loaded = bpe.load(tmp_path / "spm.model")
    assert bpe.load(tmp_path / "tokenizer.json") == ours
    random = seeded("saved")
    for _ in range(150):
        text = "".join(random.choices(PARTS, k=random.randrange(12))).replace("\0", "")
        ids = ours.encode(text, "text")
        assert ids == loaded.encode(text, "text") == pieces.encode(text), text
        if "<unk>" not in text and "<s>" not in text:
            assert ids == live.encode(text).ids
        if fallback:
            assert ours.decode(ids) == pieces.decode(ids) == loaded.decode(ids)


def text_model(
    merges: Sequence[tuple[int, int, int]], options: TextOptions | None = None, **arguments: Any
) -> Tokenizer:
    texts = dict(enumerate(["<unk>", "a", "b", "ab", "aa", "aab", "▁", "▁a"]))
    vocabulary = TextVocabulary(texts, merges, options or TextOptions("<unk>", True))
    added = [bpe.AddedToken("<unk>", 0)]
    parts: dict[str, Any] = {"normalizer": NORMALIZER, "decoder": DECODER, "added_tokens": added}
    return Tokenizer(vocabulary, arguments.pop("preset", WHOLE), **parts | arguments)


MERGES = [(1, 2, 3), (1, 1, 4), (1, 3, 5), (6, 1, 7)]


@pytest.mark.parametrize(
    ("tokenizer", "error", "match"),
    [
        (text_model([*MERGES, (4, 2, 5)]), VocabularyError, "several merges that are not next"),
        (text_model(MERGES[:-1]), VocabularyError, "'▁a', is merged from '▁' and 'a'"),
        (text_model([*MERGES[:2], (4, 2, 5), MERGES[3]]), VocabularyError,
         "'aab', is merged from 'a' and 'ab' by sentencepiece"),
        (text_model(MERGES, TextOptions("<unk>")), UnsupportedError, "fuse_unk or byte_fallback"),
        (text_model(MERGES, normalizer=None), UnsupportedError, 'like the normalizers Prepend "▁"'),
        (text_model(MERGES, decoder=None), UnsupportedError, "the decoders Replace"),
        (text_model(MERGES, preset="gpt2"), UnsupportedError, "splits text before it merges"),
        (text_model(MERGES, added_tokens=[bpe.AddedToken("x", 9, special=False)]),
         UnsupportedError, "cannot hold the added token 'x'"),
        (text_model(MERGES, template=bpe.Template((0,))), VocabularyError, "hold the template"),
    ],
)  # fmt: skip
def test_tokenizers_that_a_sentencepiece_model_cannot_hold(
    tmp_path: Path, tokenizer: Tokenizer, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        tokenizer.save(tmp_path / "spm.model")


def test_special_tokens() -> None:
    ours = trained(["ab ab"], 30, special_tokens={"<s>": 5, "<unk>": 3})
    assert ours.special_tokens == {"<s>": 5, "<unk>": 3}
    assert sorted(ours.vocabulary.token_bytes) == list(range(len(ours.vocabulary.token_bytes)))
    ours = trained(["ab ab"], 30, special_tokens=["<s>"], unknown_token="[UNK]")
    assert ours.special_tokens == {"[UNK]": 0, "<s>": 1}
    assert ours.encode("☃", "text")[1:] == [0]
    assert trained([b"a\xff"], 30).token_id("\ufffd")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"preset": "gpt2"}, "has its own split and tie-break; omit preset= and tie_break="),
        ({"tie_break": "first-seen"}, "omit preset= and tie_break="),
        ({"character_coverage": 0}, "character_coverage=0; expected a number above 0"),
        ({"required_characters": 5}, "required_characters=5; expected a str"),
        (
            {"required_characters": "\ud800"},
            r"required_characters='\\ud800'; expected a str without",
        ),
        ({"unknown_token": ""}, "unknown_token=''; expected a non-empty str"),
        ({"special_tokens": {"<s>": 1}}, "no id for '<unk>', the token for unknown text; add it"),
        ({"special_tokens": ["<unk>", "x"]}, "'x' is a single character or the name of a byte"),
        ({"special_tokens": ["<unk>", "<0x0A>"]}, "is a single character or the name of a byte"),
        ({"special_tokens": ["<unk>", "ab"]}, "make the token 'ab', which is a special token"),
        ({"vocab_size": 5}, "vocab_size=5; expected at least 7: 4 for characters and bytes, 3 for"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        trained(["cab cab"], **options)
    with pytest.raises(ValueError, match="alphabet='letters'; expected one of"):
        bpe.train(["a"], vocab_size=300, alphabet="letters")  # type: ignore[arg-type]

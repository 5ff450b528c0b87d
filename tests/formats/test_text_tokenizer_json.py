"""tokenizer.json files whose tokens are text: ids, spans and texts equal those of tokenizers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import SpecialTokenError, Tokenizer, UnsupportedError, VocabularyError
from bpe.text_vocabulary import BYTE_NAMES, TextOptions, TextVocabulary
from paths import shared
from pre_tokenizer_json import byte_level, sequence, split
from pretok.machine.backend import backend as best_backend
from support import TOO_MUCH, growth, seeded
from vocabulary_files import added, huggingface, write

tokenizers = pytest.importorskip("tokenizers", reason="the engine is not installed")

SENTENCES = [
    "the quick brown fox  jumps over the lazy dog",
    "Hello world, hello there! naïve café e\u0301 ﬁne don't foo",
    "日本語の文章 a▁b aaaa aaaa aa aaa 1234 99 foo bar foo baz",
] * 3
PARTS = [
    *"Aあabehlot  ▁\t\n日本é\u0301\u0323①ﬁ\u00a0☃😀\x00.,",
    *("<sep>", "foo", "<s>", "<unk>", "<0x41>", "hello", "the", "  ", "aa", "Foo"),
    *(" do not", "n't"),
]  # fmt: skip
PREPEND: dict[str, Any] = {"type": "Prepend", "prepend": "▁"}
MARKS: dict[str, Any] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
LLAMA: dict[str, Any] = {"type": "Sequence", "normalizers": [PREPEND, MARKS]}
LLAMA_DECODER: dict[str, Any] = {"type": "Sequence", "decoders": [
    {**MARKS, "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
    {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}  # fmt: skip
ADDED = [added(0, "<unk>"), added(1, "<s>"), added(2, "<sep>", lstrip=True, special=False)]
NORMALIZED = [*ADDED, added(3, "foo", normalized=True, special=False),
              added(4, "A b", normalized=True)]  # fmt: skip


def metaspace(scheme: str = "always", **options: Any) -> dict[str, Any]:
    """Return a Metaspace, a pre_tokenizer and a decoder."""
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme,
            "split": True, **options}  # fmt: skip


def chained(*normalizers: str | dict[str, Any]) -> dict[str, Any]:
    """Return a Sequence of normalizers; a name stands for one without options."""
    listed = [{"type": each} if isinstance(each, str) else each for each in normalizers]
    return {"type": "Sequence", "normalizers": listed}


def regex(pattern: str, content: str) -> dict[str, Any]:
    """Return a Replace of a regex."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
        "strip_accents": None, "lowercase": True}  # fmt: skip
FALLBACK = {"model_byte_fallback": True, "model_fuse_unk": True}
CASES: dict[str, dict[str, Any]] = {
    "llama": {"normalizer": LLAMA, "decoder": LLAMA_DECODER, **FALLBACK},
    "gemma": {"normalizer": MARKS, "decoder": LLAMA_DECODER, **FALLBACK, "pre_tokenizer": {
        **split(""), "pattern": {"String": " "}, "behavior": "MergedWithPrevious"}},
    "mistral": {"pre_tokenizer": metaspace("first", split=False), "decoder": LLAMA_DECODER,
                **FALLBACK},
    "metaspace": {"pre_tokenizer": metaspace(), "decoder": metaspace(), **FALLBACK},
    "metaspace, never": {"pre_tokenizer": metaspace("never"), "decoder": metaspace("never")},
    "metaspace, tokens": {"pre_tokenizer": metaspace("first"), "added_tokens": NORMALIZED,
                          "normalizer": chained("Lowercase", STRIP), "decoder": metaspace()},
    "metaspace, digits": {"pre_tokenizer": sequence(
        metaspace(split=False), {"type": "Digits", "individual_digits": True}), **FALLBACK},
    "normalized tokens": {"normalizer": chained("NFKC", LLAMA, "Lowercase"), **FALLBACK,
                          "added_tokens": NORMALIZED},
    "unknown": {"normalizer": LLAMA, "model_fuse_unk": True, "decoder": LLAMA_DECODER},
    "each unknown": {"normalizer": LLAMA, "decoder": {"type": "Fuse"}},
    "dropped": {"model_unk_token": None, "pre_tokenizer": metaspace(split=False)},
    "whole": {"model_ignore_merges": True, "pre_tokenizer": metaspace(),
              "decoder": {"type": "WordPiece", "prefix": "▁", "cleanup": True}},
    "forms": {"normalizer": chained("NFD", "StripAccents", "NFC", "Nmt"), **FALLBACK,
              "decoder": {"type": "WordPiece", "prefix": "a", "cleanup": False}},
    "spaces": {"normalizer": chained(regex(r"\s+", " "), regex(" {2,}", "▁"), STRIP, MARKS)},
    "bert": {"normalizer": BERT, "pre_tokenizer": split(r"\p{L}+|\s|[^\s\p{L}]+"),
             "decoder": {"type": "BPEDecoder", "suffix": "o"}},
    "stripped": {"decoder": {"type": "Sequence", "decoders": [
        {"type": "Fuse"}, {"type": "Strip", "content": "a", "start": 2, "stop": 0},
        regex("a+", "b"), byte_level(), metaspace(), {"type": "Fuse"}]}, **FALLBACK},
    "byte level": {"normalizer": chained("NFKD", "ByteLevel"), "decoder": byte_level()},
}  # fmt: skip
SUFFIX: dict[str, Any] = {
    "model_end_of_word_suffix": "</w>",
    "model_vocab": {"<unk>": 0, "<s>": 1, "<sep>": 2, "a": 3, "o</w>": 4, "f": 5, "o": 6,
                    "fo": 7, "foo</w>": 8, "Ġ": 9, "Ġ</w>": 10, "Ġf": 11, "l</w>": 12},
    "model_merges": [["f", "o"], ["fo", "o</w>"], ["Ġ", "f"]],
}  # fmt: skip
CASES |= {
    "words": {"pre_tokenizer": {"type": "WhitespaceSplit"}, **FALLBACK, "decoder": {
        "type": "BPEDecoder", "suffix": "</w>"}},
    "clip, words": {**SUFFIX, "pre_tokenizer": sequence(
        split(r"'s|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+", behavior="Removed", invert=True),
        byte_level(add_prefix_space=False)),
        "normalizer": chained("NFC", regex(r"\s+", " "), "Lowercase"), "decoder": byte_level()},
    "clip": {**SUFFIX, "pre_tokenizer": sequence(split(r"\p{L}+|\p{N}|[^\p{L}\p{N}]+"),
                                                 byte_level(use_regex=False)),
             "normalizer": chained("NFC", regex(r"\s+", " "), "Lowercase"),
             "decoder": {"type": "BPEDecoder", "suffix": "</w>"}},
    "prefix": {"model_continuing_subword_prefix": "##", "model_vocab": {
        "<unk>": 0, "<s>": 1, "<sep>": 2, "a": 3, "##a": 4, "aa": 5, "##o": 6, "f": 7, "fo": 8,
        "foo": 9, "##ah": 10, "##h": 11},
        "model_merges": [["a", "##a"], ["f", "##o"], ["fo", "##o"], ["##a", "##h"]],
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
}  # fmt: skip


@cache
def trained() -> dict[str, Any]:
    """Return the BPE model that tokenizers trains on SENTENCES, as JSON."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(split=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=180, special_tokens=["<unk>", "<s>", "<sep>", "foo", "A b"], show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


def file_of(**changes: Any) -> dict[str, Any]:
    """Return a small tokenizer.json of text; `changes` are those of `huggingface`."""
    vocab = dict(trained()["vocab"])
    if changes.get("model_byte_fallback"):
        vocab |= {name: len(vocab) + byte for byte, name in enumerate(BYTE_NAMES)}
    defaults: dict[str, Any] = {
        "added_tokens": ADDED,
        "pre_tokenizer": None,
        "decoder": None,
        "model_vocab": vocab,
        "model_merges": trained()["merges"],
        "model_unk_token": "<unk>",
    }
    return huggingface(**{**defaults, **changes})


def texts(random: Random, count: int) -> Iterator[str]:
    yield from ("", " ", "▁", "  foo", "<s> a", "foo")
    for _ in range(count):
        yield "".join(random.choice(PARTS) for _ in range(random.randrange(20)))


def both(path: Path) -> list[Tokenizer]:
    """Return the tokenizer in pure Python, and in C++ if C++ can merge it."""
    loaded = [bpe.load(path, backend="python"), bpe.load(path)]
    return loaded[: 1 + (loaded[1].backend == "native")]


def check(ours: Tokenizer, live: Any, text: str) -> None:
    """Check ids, spans, decoded text and streams."""
    expected = live.encode(text, add_special_tokens=False)
    ids = ours.encode(text, "allow")
    assert ids == expected.ids, text
    spans = [(token.start, token.end) for token in ours.tokens(text, "allow")]
    assert spans == expected.offsets, text
    assert ours.count(text, "allow") == len(ids)
    check_decoding(ours, live, ids)


def check_decoding(ours: Tokenizer, live: Any, ids: list[int]) -> None:
    decoded = live.decode(ids, skip_special_tokens=False) if ids else ""
    assert ours.decode(ids) == decoded, ids
    assert ours.decode(ids, skip_special=True) == (live.decode(ids) if ids else "")
    stream = ours.decode_stream()
    assert "".join([*map(stream.feed, ids), stream.finish()]) == decoded, ids


@pytest.mark.parametrize("case", CASES)
def test_as_tokenizers(tmp_path: Path, case: str) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[case]))
    live = tokenizers.Tokenizer.from_file(str(path))
    random = seeded(case)
    for ours in both(path):
        for text in texts(random, 60):
            check(ours, live, text)
        known = list(ours.vocabulary.token_bytes)
        for _ in range(40):
            check_decoding(ours, live, random.choices(known, k=random.randrange(1, 12)))


@pytest.mark.parametrize("case", CASES)
def test_saved(tmp_path: Path, case: str) -> None:
    ours = bpe.load(write(tmp_path / "tokenizer.json", file_of(**CASES[case])), backend="python")
    ours.save(tmp_path / "again.json")
    again = bpe.load(tmp_path / "again.json", backend="python")
    assert again == ours == pickle.loads(pickle.dumps(ours))
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "again.json"))
    for text in texts(seeded(case), 15):
        check(again, live, text)


@pytest.mark.parametrize("case", ["llama", "gemma", "mistral", "metaspace", "unknown", "bert"])
def test_backends(tmp_path: Path, case: str) -> None:
    if best_backend() != "native":
        pytest.skip("the native backend is not built")
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[case]))
    if case == "bert":  # an unknown character may be at both sides of a split
        assert bpe.load(path).backend == "python"
        with pytest.raises(UnsupportedError, match="backend='native' cannot merge"):
            bpe.load(path, backend="native")
        return
    python, native = both(path)
    random = seeded(case)
    for text in texts(random, 60):
        data = bytes(random.choice([*text.encode(), 0x80, 0xE3, 0xFF]) for _ in range(len(text)))
        for given in (text.encode() + data, data):
            assert python.tokens(given, "allow") == native.tokens(given, "allow"), given
            assert python.encode_array(given, "allow").tolist() == native.encode(given, "allow")
    batch = list(texts(random, 10))
    assert python.encode_batch(batch, "allow") == native.encode_batch(batch, "allow")
    ids, offsets = native.encode_batch_array(batch, "allow")
    assert [row.tolist() for row in np.split(ids, offsets[1:-1])] == python.encode_batch(
        batch, "allow"
    )


@pytest.mark.parametrize("name", ["llama2", "mistral03"])
def test_published(name: str) -> None:
    path = shared(f"vocabs/hf/{name}.json")
    live = tokenizers.Tokenizer.from_file(str(path))
    for ours in both(path):
        for file in ("multilingual.txt", "emoji.txt", "code.txt", "whitespace.txt"):
            text = shared(f"texts/{file}").read_bytes()[:6000].decode(errors="ignore")
            check(ours, live, text)
        assert ours.encode("a", add_special_tokens=True) == live.encode("a").ids


def test_special_tokens(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES["metaspace, tokens"]))
    for ours in both(path):
        with pytest.raises(SpecialTokenError) as caught:
            ours.encode("é   a  A B")  # found as "a b" in the normalized text
        assert (caught.value.token, caught.value.position) == ("A b", 7)
        assert 4 not in ours.encode("é A B", "text")
        assert ours.encode("x<s>y", {"<s>"}) == ours.encode("x<s>y", "allow")
        assert ours.encode("foo", "text") == [3]


def test_bytes_and_errors(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES["llama"]))
    for ours in both(path):
        ids = ours.encode(b"a\xff\xe3\x81")
        assert ours.decode_bytes(ids) == b"a\xff\xe3\x81"
        assert ours.decode(ids) == "a\ufffd\ufffd\ufffd"
        with pytest.raises(UnicodeDecodeError):
            ours.decode(ids, errors="strict")
        assert ours.token_bytes(ours.token_id("a")) == b"a"
        with pytest.raises(bpe.UnknownTokenError):
            ours.decode([999_999])


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"model_unk_token": "<other>"}, VocabularyError, "the unknown token is '<other>', which"),
        ({"model_vocab": {}, "model_merges": [], "added_tokens": []}, VocabularyError,
         "model.vocab is {}; expected at least one token"),
        ({"model_type": "Unigram"}, UnsupportedError, "model.type .* bpe reads only BPE models"),
        ({"model_type": "WordPiece"}, UnsupportedError, "bpe reads only BPE models"),
        ({"model_type": "WordLevel"}, UnsupportedError, "bpe reads only BPE models"),
        ({"normalizer": chained(STRIP), "added_tokens": [*ADDED, added(300, " ", normalized=True)],
          "model_vocab": {"<unk>": 0, "<s>": 1, "<sep>": 2, " ": 300}, "model_merges": []},
         VocabularyError, "the normalizer makes added token ' ' empty"),
        ({"model_continuing_subword_prefix": "##"}, VocabularyError, "does not begin with '##'"),
        ({"model_end_of_word_suffix": "x", "model_byte_fallback": True}, UnsupportedError,
         "byte_fallback with continuing_subword_prefix, end_of_word_suffix"),
    ],
)  # fmt: skip
def test_refused(
    tmp_path: Path, changes: dict[str, Any], error: type[Exception], match: str
) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**changes))
    with pytest.raises(error, match=match):
        bpe.load(path)


def test_not_saved_in_other_formats(tmp_path: Path) -> None:
    ours = bpe.load(write(tmp_path / "tokenizer.json", file_of()), backend="python")
    for suffix in ("pretok", "model", "tiktoken"):
        with pytest.raises(UnsupportedError, match="the tokens are text, not bytes"):
            ours.save(tmp_path / f"a.{suffix}")
    path = write(tmp_path / "bytes.json", huggingface(normalizer={"type": "NFKC"}))
    with pytest.raises(UnsupportedError, match="cannot hold the normalizer or the decoder"):
        bpe.load(path).save(tmp_path / "a.pretok")


def test_merging_takes_n_log_n_time() -> None:
    letters = {id: "a" * (1 << id) for id in range(16)}
    merges = [(id, id, id + 1) for id in range(15)]
    vocabulary = TextVocabulary(letters, merges, TextOptions())
    merger = vocabulary.merger()
    assert merger.merge(b"a" * 32769) == [15, 0]
    assert growth(lambda size: merger.merge(b"a" * size), 1_000) < TOO_MUCH

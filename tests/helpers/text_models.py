"""Small tokenizer.json files whose tokens are text, for bpe and Hugging Face's tokenizers."""

from __future__ import annotations

import json
from base64 import b64encode
from copy import deepcopy
from functools import cache
from typing import Any

from bpe import Tokenizer
from bpe.characters.marks import BYTE_NAMES
from charsmaps import charsmap
from pre_tokenizer_json import byte_level, sequence, split
from vocabulary_files import added, huggingface

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
    """Return a Metaspace object, which can be a pre_tokenizer or a decoder."""
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme,
            "split": True, **options}  # fmt: skip


def chained(*normalizers: str | dict[str, Any]) -> dict[str, Any]:
    """Return a Sequence of normalizers. A str is the type of a normalizer without options."""
    listed = [{"type": each} if isinstance(each, str) else each for each in normalizers]
    return {"type": "Sequence", "normalizers": listed}


def regex(pattern: str, content: str) -> dict[str, Any]:
    """Return a Replace object that replaces the matches of a regex by `content`."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
        "strip_accents": None, "lowercase": True}  # fmt: skip
CHARSMAP = {"ﬁ": "fi", "①": "1", "é": "e\u0301", "☃": "", "\u0301": "!", "x": "▁ "}
PRECOMPILED = {"type": "Precompiled", "precompiled_charsmap": b64encode(
    charsmap({rule.encode(): new for rule, new in CHARSMAP.items()})).decode()}  # fmt: skip
FALLBACK = {"model_byte_fallback": True, "model_fuse_unk": True}
CASES: dict[str, dict[str, Any]] = {
    "llama": {"normalizer": LLAMA, "decoder": LLAMA_DECODER, **FALLBACK},
    "gemma": {"normalizer": MARKS, "decoder": LLAMA_DECODER, **FALLBACK, "pre_tokenizer": {
        **split(""), "pattern": {"String": " "}, "behavior": "MergedWithPrevious"}},
    # Gemma 2 has a tab in place of <0x09>.
    "characters for bytes": {"normalizer": MARKS, **FALLBACK, "without_fallback": "ae",
                             "decoder": {"type": "Sequence", "decoders": [
        {**MARKS, "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}]}},
    "unknown bytes": {"normalizer": MARKS, **FALLBACK, "without_fallback": "aZ"},
    "mistral": {"pre_tokenizer": metaspace("first", split=False), "decoder": LLAMA_DECODER,
                **FALLBACK},
    "metaspace": {"pre_tokenizer": metaspace(), "decoder": metaspace(), **FALLBACK},
    "metaspace, never": {"pre_tokenizer": metaspace("never"), "decoder": metaspace("never")},
    "metaspace, tokens": {"pre_tokenizer": metaspace("first"), "added_tokens": NORMALIZED,
                          "normalizer": chained("Lowercase", STRIP), "decoder": metaspace()},
    "metaspace, digits": {"pre_tokenizer": sequence(
        metaspace(split=False), {"type": "Digits", "individual_digits": True}), **FALLBACK},
    "metaspace, after words": {
        "pre_tokenizer": sequence({"type": "WhitespaceSplit"}, metaspace("first")),
        "added_tokens": NORMALIZED, "decoder": {
            "type": "CTC", "pad_token": "a", "word_delimiter_token": "▁", "cleanup": True}},
    "metaspace, after others": {**FALLBACK, "normalizer": chained("NFKC", STRIP), "pre_tokenizer":
        sequence({"type": "Punctuation", "behavior": "Isolated"},
                 {"type": "Digits", "individual_digits": True}, split(r"\p{L}+|[^\p{L}]+"),
                 metaspace(split=False), split(r"a+|[^a]+")),
        "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}, {
            "type": "CTC", "pad_token": "", "word_delimiter_token": "o", "cleanup": False}]}},
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
    "precompiled": {"normalizer": chained(PRECOMPILED, "Lowercase"), "pre_tokenizer": metaspace(),
                    "added_tokens": NORMALIZED, "decoder": metaspace(), **FALLBACK},
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
    """Return the BPE model that Hugging Face's tokenizers trains on SENTENCES, as JSON."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(split=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=180, special_tokens=["<unk>", "<s>", "<sep>", "foo", "A b"], show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


def file_of(**changes: Any) -> dict[str, Any]:
    """Return a small tokenizer.json whose tokens are text. The caller may change it.

    `changes` are as in vocabulary_files.huggingface. `without_fallback` has the ASCII characters
    that have no fallback token.
    """
    vocab = dict(trained()["vocab"])
    without = changes.pop("without_fallback", "")
    if changes.get("model_byte_fallback"):
        names = {name: len(vocab) + byte for byte, name in enumerate(BYTE_NAMES)}
        vocab |= {name: id for name, id in names.items() if chr(int(name[3:5], 16)) not in without}
    defaults: dict[str, Any] = {
        "added_tokens": ADDED,
        "pre_tokenizer": None,
        "decoder": None,
        "model_vocab": vocab,
        "model_merges": trained()["merges"],
        "model_unk_token": "<unk>",
    }
    return deepcopy(huggingface(**{**defaults, **changes}))


def check(ours: Tokenizer, live: Any, text: str) -> None:
    """Compare ids, spans, decoded text and streams with `live`, a Tokenizer of Hugging Face."""
    expected = live.encode(text, add_special_tokens=False)
    ids = ours.encode(text, "allow")
    assert ids == expected.ids, text
    spans = [(token.start, token.end) for token in ours.tokens(text, "allow")]
    assert spans == expected.offsets, text
    assert ours.count(text, "allow") == len(ids)
    check_decoding(ours, live, ids)


def check_decoding(ours: Tokenizer, live: Any, ids: list[int]) -> None:
    """Compare the text of `ids`, with and without special tokens, and of a stream."""
    decoded = live.decode(ids, skip_special_tokens=False) if ids else ""
    assert ours.decode(ids) == decoded, ids
    assert ours.decode(ids, skip_special=True) == (live.decode(ids) if ids else "")
    stream = ours.decode_stream()
    assert "".join([*map(stream.feed, ids), stream.finish()]) == decoded, ids


_WORDS = ["a", "b", "c", "d", "ab", "cd", "▁ab", "▁cd", "▁▁"]
# Spaces only begin tokens, so Tokenizer._safe_cut finds cuts between words.
WORDS: dict[str, Any] = {
    "model_vocab": {token: id for id, token in enumerate(["<unk>", *BYTE_NAMES, "▁", *_WORDS])},
    "model_merges": [["a", "b"], ["▁", "ab"], ["c", "d"], ["▁", "cd"], ["▁", "▁"]],
}

"""tokenizer.json: errors name the member that cannot be read, or what cannot be saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, UnsupportedError, Vocabulary, VocabularyError
from pre_tokenizer_json import byte_level, sequence, split
from pretok import Preset, Run
from pretok.charsets import LETTER
from pretok.pre_tokenizer import PreTokenizer
from pretok.presets import CL100K, GPT2, LLAMA3
from text_models import metaspace
from vocabulary_files import huggingface, made, made_vocabulary, write


def _bad(path: str, value: Any, error: type[Exception], message: str, **changes: Any) -> Any:
    return pytest.param(path, value, error, message, changes, id=f"{path}={value!r:.40}")


@pytest.mark.parametrize(
    ("path", "value", "error", "message", "changes"),
    [
        _bad("truncation", {"x": 1}, UnsupportedError, "truncation.x is 1, which is not supported"),
        _bad("truncation", {"max_length": 1, "stride": 0, "strategy": "x"}, VocabularyError,
             'truncation.strategy is "x"; expected one of LongestFirst, OnlyFirst, OnlySecond'),
        _bad("truncation", {"max_length": -1}, VocabularyError, "truncation.max_length is -1; ex"),
        _bad("padding", {"strategy": {"Fixed": 1, "x": 2}}, VocabularyError,
             "padding.strategy is .*; expected \"BatchLongest\" or"),
        _bad("padding", {"strategy": "BatchLongest", "direction": "left"}, VocabularyError,
             'padding.direction is "left"; expected one of Right, Left'),
        _bad("surprise", 1, UnsupportedError, "surprise is 1, which is not supported"),
        _bad("model", {"type": "WordPiece"}, UnsupportedError, 'model.type is "WordPiece"'),
        _bad("model.dropout", 1.5, VocabularyError, "model.dropout is 1.5; expected null or a"),
        _bad("model.dropout", "no", VocabularyError, 'model.dropout is "no"; expected null or'),
        _bad("model.continuing_subword_prefix", "##", VocabularyError, "does not begin with '##'"),
        _bad("model.end_of_word_suffix", 5, VocabularyError, "model.end_of_word_suffix is 5"),
        _bad("model.surprise", True, UnsupportedError, "model.surprise is true, which is not"),
        _bad("model.ignore_merges", 1, VocabularyError, "model.ignore_merges is 1; expected tr"),
        _bad("model.vocab", None, VocabularyError, "model.vocab is missing or null; expected an"),
        _bad("model.vocab.a", "x", VocabularyError, r"model.vocab\['a'\] is \"x\"; expected a n"),
        _bad("model.vocab.a", -1, VocabularyError, r"model.vocab\['a'\] is -1"),
        _bad("model.vocab.a", True, VocabularyError, r"model.vocab\['a'\] is true"),
        _bad("model.vocab.a", 1 << 40, VocabularyError, r"model.vocab\['a'\] is 1099511627776"),
        _bad("model.vocab.a", 98, VocabularyError, r"is 98; expected a unique id, but 'a' has it"),
        _bad("model.vocab.\ud800", 600, VocabularyError, "lone surrogate", added_tokens=[]),
        _bad("model.merges", None, VocabularyError, "model.merges is missing or null; expected a"),
        _bad("model.merges.1", "a b c", VocabularyError, r"model.merges\[1\] is \"a b c\"; exp"),
        _bad("model.merges.1", ["a"], VocabularyError, r"model.merges\[1\] is \[\"a\"\]; expect"),
        _bad("model.merges.1", 5, VocabularyError, r"model.merges\[1\] is 5; expected two tok"),
        _bad("model.merges.1", ["a", "x"], VocabularyError,
             r"model.merges\[1\] merges 'a' and 'x', but the vocabulary has no token 'ax'"),
        _bad("model.merges.1", "zz a", VocabularyError, r"merges 'zz' and 'a', .* no token 'zz'"),
        _bad("added_tokens", {}, VocabularyError, r"added_tokens is {}; expected a list"),
        _bad("added_tokens.0.id", None, VocabularyError, r"added_tokens\[0\].id is missing"),
        _bad("added_tokens.0.content", "\ud800", VocabularyError, "text without lone surrogates"),
        _bad("added_tokens.0.special", None, VocabularyError, r"added_tokens\[0\].special is mi"),
        _bad("added_tokens.0.surprise", 1, UnsupportedError, r"added_tokens\[0\].surprise is 1"),
        _bad("normalizer", {"type": "Surprise"}, UnsupportedError,
             'normalizer is {"type": "Surprise"}, .* expected one of NFC, '),
        _bad("normalizer", {"type": "Precompiled", "precompiled_charsmap": "a!="}, VocabularyError,
             r'normalizer.precompiled_charsmap is "a!="; expected base64'),
        _bad("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
             VocabularyError, "normalizer.precompiled_charsmap: the charsmap has 3 bytes"),
        _bad("normalizer", {"type": "Sequence", "normalizers": [{"type": "Surprise"}]},
             UnsupportedError, r"normalizer.normalizers\[0\] is"),
        _bad("normalizer", {"type": "Strip", "strip_left": True}, VocabularyError,
             "normalizer.strip_right is missing"),
        _bad("normalizer", {"type": "Replace", "pattern": {"Regex": r"\w+a"}, "content": ""},
             UnsupportedError, "normalizer.pattern is .* its pattern does not compile to rules"),
        _bad("normalizer", {"type": "Replace", "pattern": {"String": ""}, "content": ""},
             VocabularyError, "normalizer.pattern.String is .*; expected a text of 1 to 256"),
        _bad("normalizer", {"type": "Prepend", "prepend": "a" * 257}, VocabularyError,
             "normalizer.prepend is .*; expected a text of 1 to 256"),
        _bad("pre_tokenizer", {"type": "Metaspace"}, VocabularyError,
             "pre_tokenizer is .* missing field 'replacement'"),
        _bad("pre_tokenizer", sequence(metaspace(), metaspace()), UnsupportedError,
             r"pretokenizers\[1\] is .* expected at most one Metaspace"),
        _bad("pre_tokenizer", sequence(byte_level(use_regex=False), metaspace()), UnsupportedError,
             r"pretokenizers\[0\] is .* it changes the text, and the Metaspace"),
        _bad("pre_tokenizer", sequence({"type": "Whitespace"}, byte_level()), UnsupportedError,
             "pre_tokenizer is .*, which is not supported: it drops parts"),
        _bad("pre_tokenizer", sequence({"type": "Surprise"}, byte_level()), UnsupportedError,
             r"pre_tokenizer.pretokenizers\[0\]: unknown pre_tokenizer {'type': 'Surprise'}"),
        _bad("pre_tokenizer", sequence(byte_level(), byte_level()), UnsupportedError,
             r"pretokenizers\[0\]: this part changes the text, and .*pretokenizers\[1\]"),
        _bad("pre_tokenizer", sequence(split(r"\w+a"), byte_level(use_regex=False)),
             UnsupportedError,
             r"pretokenizers\[0\].pattern.Regex: no preset is equivalent to this pattern"),
        _bad("pre_tokenizer", sequence(
            split(CL100K.pattern.replace(r"\s++$", r"\s+$")), byte_level(use_regex=False)),
             UnsupportedError, "as tiktoken reads it, it is 'cl100k'"),
        _bad("pre_tokenizer", sequence(
            split(LLAMA3.pattern, behavior="Removed"), byte_level(use_regex=False)),
             UnsupportedError, "it drops parts of the text, but bpe encodes all of it"),
        _bad("pre_tokenizer", sequence(
            split(LLAMA3.pattern, behavior="Dropped"), byte_level(use_regex=False)),
             UnsupportedError, r"pretokenizers\[0\]: Split: expected a behavior .* got 'Dropped'"),
        _bad("pre_tokenizer", sequence(
            split(LLAMA3.pattern), byte_level(use_regex=False, add_prefix_space=True)),
             UnsupportedError, r"pretokenizers\[1\].add_prefix_space: after another part it puts"),
        _bad("pre_tokenizer", byte_level(surprise=True), UnsupportedError, "field 'surprise'"),
        _bad("post_processor", {"type": "Other"}, UnsupportedError, 'post_processor is {"type": "'),
        _bad("post_processor", {"type": "TemplateProcessing", "single": [], "special_tokens": {}},
             UnsupportedError, r"post_processor.single is \[\], which is not supported"),
        _bad("post_processor", {"type": "TemplateProcessing", "single": [
            {"Sequence": {"id": "A"}}, {"Sequence": {"id": "B"}}], "special_tokens": {}},
             UnsupportedError, r"post_processor.single\[1\] is"),
        _bad("post_processor", {"type": "TemplateProcessing", "single": [
            {"SpecialToken": {"id": "x"}}, {"Sequence": {"id": "A"}}], "special_tokens": {}},
             VocabularyError, "post_processor.special_tokens.x is missing"),
        _bad("post_processor", {"type": "BertProcessing", "cls": ["a"], "sep": ["a", 97]},
             VocabularyError, r'post_processor.cls is \["a"\]; expected a list of a text'),
        _bad("post_processor", {"type": "BertProcessing", "cls": ["a", -1], "sep": ["a", 97]},
             VocabularyError, r"post_processor.cls\[1\] is -1"),
        _bad("pre_tokenizer", {"type": "ByteLevl"}, UnsupportedError, "ByteLevl.* expected one of"),
        _bad("decoder", {"type": "Surprise"}, UnsupportedError, 'decoder is {"type": "Surprise"}'),
        _bad("decoder", {"type": "CTC"}, VocabularyError, "decoder.pad_token is missing"),
        _bad("decoder", {"type": "WordPiece"}, VocabularyError, "decoder.prefix is missing"),
        _bad("decoder", {"type": "Strip", "content": "ab"}, VocabularyError, "one character"),
        _bad("decoder", {"type": "Strip", "content": "a", "start": -1, "stop": 0},
             VocabularyError, "decoder.start is -1; expected a number from 0"),
    ],
)  # fmt: skip
def test_wrong_members_are_refused(
    tmp_path: Path, path: str, value: Any, error: type[Exception], message: str, changes: Any
) -> None:
    file = huggingface(**changes)
    *parents, last = path.split(".")
    place: Any = file
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    place[int(last) if isinstance(place, list) else last] = value
    saved = write(tmp_path / "tokenizer.json", file)
    with pytest.raises(error, match=message) as caught:
        bpe.load(saved)
    assert str(caught.value).startswith(f"{saved}: ")


@pytest.mark.parametrize("merge", [" a", "a ", ["", "a"]])
def test_merge_with_an_empty_token(tmp_path: Path, merge: Any) -> None:
    file = huggingface(added_tokens=[])
    file["model"]["vocab"][""] = 300
    file["model"]["merges"].append(merge)
    with pytest.raises(VocabularyError, match=r"merge \d+ is .*; expected the ids of two tokens"):
        bpe.load(write(tmp_path / "tokenizer.json", file))


class _Own:
    def offsets(self, text: str) -> Any:
        return [0, len(text)]


_NO_PATTERN = Preset("nameless", rules=(Run(LETTER),))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": _Own()}, "cannot hold a custom pre-tokenizer"),
        ({"preset": _NO_PATTERN}, "cannot hold preset 'nameless'"),
        ({"preset": Preset("other", rules=(Run(LETTER),), engine="tiktoken", pattern=r"\p{L}+$")},
         "cannot hold preset 'other'"),
        ({"preset": "llama3", "add_prefix_space": True}, "only the splits of 'gpt2' and 'whole'"),
        ({"preset": PreTokenizer(GPT2, "18.0")}, "splits by Unicode 18.0, but a tokenizer.json"),
        ({"vocabulary": Vocabulary({**made_vocabulary().token_bytes, 264: b"ab"},
                                   made_vocabulary().merges)},
         "tokens 256 and 264 are both b'ab'"),
        ({"vocabulary": Vocabulary({**made_vocabulary().token_bytes, 264: b"<|end|>"})},
         r"added token '<\|end\|>' has id 300, but the token of the same text has id 264"),
        ({"vocabulary": Vocabulary({**made_vocabulary().token_bytes, 299: b"  "}),
          "added_tokens": [AddedToken("  ", 299)]}, "needs unique ids"),
        ({"special": (("<a>", 300), ("<b>", 300))}, "needs unique ids"),
    ],
)  # fmt: skip
def test_tokenizers_that_the_format_cannot_hold(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(VocabularyError, match=message):
        made("python", **options).save(tmp_path / "tokenizer.json")
    assert list(tmp_path.iterdir()) == []

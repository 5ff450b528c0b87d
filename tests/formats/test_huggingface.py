"""tokenizer.json: read and written like Hugging Face's tokenizers; errors name the member."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import bpe
import pretok
from bpe import AddedToken, Template, UnsupportedError, Vocabulary, VocabularyError
from bpe.byte_level import to_bytes, to_text
from paths import shared
from pre_tokenizer_json import byte_level, sequence, split
from pretok import Preset, Run
from pretok.charsets import LETTER
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE, pattern_for
from pretok.pre_tokenizer import PreTokenizer
from pretok.presets import CL100K, GPT2, LLAMA3, O200K, QWEN2, R50K
from support import seeded
from text_models import metaspace
from vocabularies import installed_ranks
from vocabulary_files import (
    PAIRS,
    TEXTS,
    added,
    huggingface,
    made,
    made_vocabulary,
    write,
)  # fmt: skip


def _hf(path: Path) -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    return tokenizers.Tokenizer.from_file(str(path))


def _texts(count: int = 300) -> list[str]:
    rng = seeded(3)
    letters = "abcthe 12\r\n\t'sE\u00e9e\u0301\u4e2d\u00a0\u017f\U0001f600"
    parts = [*letters, "<|end|>", " <|a|> ", "<|b|>", "the", "abc", "  "]
    made_up = ["".join(rng.choices(parts, k=rng.randrange(1, 15))) for _ in range(count)]
    return [*TEXTS, *made_up]


def _same(ours: bpe.Tokenizer, path: Path, texts: list[str], template: bool = False) -> None:
    theirs = _hf(path)
    for text in texts:
        expected = theirs.encode(text, add_special_tokens=template).ids
        assert ours.encode(text, "allow", add_special_tokens=template) == expected, text


_CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "merges as texts": {"model_merges": [f"{to_text(a)} {to_text(b)}" for a, b in PAIRS]},
    "no type": {"model_type": ...},
    "ignore_merges": {"model_ignore_merges": True, "model_merges": []},
    "no effect": {"model_unk_token": "<|end|>", "model_fuse_unk": True, "model_dropout": 0.0,
                "model_byte_fallback": True, "model_continuing_subword_prefix": "",
                "model_end_of_word_suffix": ""},
    "NFC": {"normalizer": {"type": "NFC"}},
    "NFC in a sequence": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}},
    "prefix space": {"pre_tokenizer": byte_level(add_prefix_space=True)},
    "whole": {"pre_tokenizer": byte_level(use_regex=False)},
    "whole with prefix space": {
        "pre_tokenizer": byte_level(use_regex=False, add_prefix_space=True)},
    "llama3": {"pre_tokenizer": sequence(split(LLAMA3.pattern), byte_level(use_regex=False))},
    "nested": {"pre_tokenizer": sequence(
        sequence(split(LLAMA3.pattern)), sequence(sequence(byte_level(use_regex=False))))},
    "two stages": {"pre_tokenizer": sequence(
        {"type": "Digits", "individual_digits": True}, byte_level())},
    "three stages": {"pre_tokenizer": sequence(
        {**split("", behavior="MergedWithNext"), "pattern": {"String": "a"}},
        {"type": "Punctuation", "behavior": "Contiguous"}, split(QWEN2.pattern, invert=True),
        byte_level(use_regex=False))},
    "removed inverted": {"pre_tokenizer": sequence(
        split(LLAMA3.pattern, behavior="Removed", invert=True), byte_level(use_regex=False))},
    "literal line breaks": {"pre_tokenizer": sequence(
        split(QWEN2.pattern.replace(r"\r\n", "\r\n")), byte_level(use_regex=False))},
    "added tokens": {"added_tokens": [
        added(264, "<|end|>"), added(265, "<|a|>", lstrip=True, rstrip=True),
        added(266, "the", special=False, single_word=True), added(256, "ab", special=False),
        added(267, "\u4e2d\u00e9", special=False, normalized=True)], "normalizer": {"type": "NFC"}},
    "added tokens in the vocabulary": {
        "added_tokens": [added(300, "<|end|>"), added(400, "<|a|>"), added(266, "<|b|>")],
        "model_vocab": huggingface()["model"]["vocab"] | {"<|end|>": 300, "<|a|>": 400}},
    "entries that are not bytes": {
        "model_vocab": huggingface()["model"]["vocab"]
        | {"\u4e2d": 300, "a b": 301, " ": 302, "": 7777},
        "added_tokens": [added(268, "<|end|>")]},
    "template": {"post_processor": {"type": "Sequence", "processors": [byte_level(), {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}},
                   {"SpecialToken": {"id": "two", "type_id": 1}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            "<|end|>": {"id": "<|end|>", "ids": [264], "tokens": ["<|end|>"]},
            "two": {"id": "two", "ids": [97, 98], "tokens": ["a", "b"]}}}]}},
    "roberta": {"post_processor": {"type": "RobertaProcessing", "sep": ["b", 98], "cls": ["a", 97],
                                   "trim_offsets": True, "add_prefix_space": False}},
    "bert": {"post_processor": {"type": "BertProcessing", "sep": ["b", 98], "cls": ["a", 97]}},
}  # fmt: skip


@pytest.mark.parametrize("case", _CASES)
def test_files_are_read_like_hugging_face(tmp_path: Path, backend: BackendName, case: str) -> None:
    path = write(tmp_path / "tokenizer.json", huggingface(**_CASES[case]))
    ours = bpe.load(path, backend=backend)
    _same(ours, path, _texts())
    _same(ours, path, _texts(20), template=True)


@pytest.mark.parametrize("case", _CASES)
def test_files_are_saved_as_they_were_read(tmp_path: Path, case: str) -> None:
    path = write(tmp_path / "tokenizer.json", huggingface(**_CASES[case]))
    ours = bpe.load(path, backend="python")
    ours.save(tmp_path / "again.json")
    _same(ours, tmp_path / "again.json", _texts())
    _same(ours, tmp_path / "again.json", _texts(20), template=True)
    again = bpe.load(tmp_path / "again.json", backend="python")
    assert again == ours
    again.save(tmp_path / "third.json")
    assert (tmp_path / "third.json").read_bytes() == (tmp_path / "again.json").read_bytes()


@pytest.mark.parametrize("preset", [GPT2, R50K, CL100K, LLAMA3, QWEN2, O200K, WHOLE])
def test_presets_are_saved_and_loaded(tmp_path: Path, backend: BackendName, preset: Preset) -> None:
    ours = made(backend, preset=preset)
    ours.save(tmp_path / "tokenizer.json")
    assert bpe.load(tmp_path / "tokenizer.json", backend=backend) == ours
    _same(ours, tmp_path / "tokenizer.json", _texts())


def test_ranks_become_merges(tmp_path: Path, backend: BackendName) -> None:
    tokens = {**made_vocabulary().token_bytes, 290: b"xyz"}
    special = (("<|end|>", 300), ("<|a|>", 500), ("<|b|>", 499))
    ours = made(backend, Vocabulary(tokens), special=special)
    ours.save(tmp_path / "tokenizer.json")
    _same(ours, tmp_path / "tokenizer.json", [*_texts(), "xyz", " xyz x"])
    again = bpe.load(tmp_path / "tokenizer.json", backend=backend)
    assert again.vocabulary == Vocabulary(tokens, made_vocabulary().merges, ignore_merges=True)
    assert again.special_tokens == dict(sorted(special, key=lambda token: token[1]))


def test_real_ranks(tmp_path: Path) -> None:
    ranks = installed_ranks("o200k_base")
    vocabulary = Vocabulary({id: token for token, id in ranks.items()})
    special = (("<|endoftext|>", 199999), ("<|endofprompt|>", 200018))
    ours = made(vocabulary=vocabulary, preset="o200k", special=special)
    ours.save(tmp_path / "tokenizer.json")
    texts = [*_texts(), "Un été à la plage<|endoftext|> HTTPResponse\n\n\n  x", "ab" * 500]
    _same(ours, tmp_path / "tokenizer.json", texts)


@pytest.mark.parametrize("file", ["gpt2_tokenizer.json", "gpt_neox.json"])
def test_real_files(tmp_path: Path, backend: BackendName, file: str) -> None:
    path = shared("vocabs", "hf", file)
    ours = bpe.load(path, backend=backend)
    texts = [shared("texts", name).read_text("utf-8")[:20_000] for name in
             ("multilingual.txt", "code.txt", "emoji.txt", "whitespace.txt")]  # fmt: skip
    _same(ours, path, texts)
    ours.save(tmp_path / "again.json")
    _same(ours, tmp_path / "again.json", texts)
    assert bpe.load(tmp_path / "again.json", backend=backend) == ours


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
        _bad("model.dropout", 0.1, UnsupportedError, "model.dropout is 0.1, which is not"),
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
        _bad("added_tokens.0.id", 265, VocabularyError,
             r"is 265, but the tokenizers library gives '<\|end\|>' the id 264, the next"),
        _bad("added_tokens.0.id", None, VocabularyError, r"added_tokens\[0\].id is missing"),
        _bad("added_tokens.0.content", "a", VocabularyError, r"the id 97, its id in model.vocab"),
        _bad("added_tokens.0.content", "", VocabularyError, r"added_tokens\[0\].content is \"\""),
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


@pytest.mark.parametrize("right", [True, False])
def test_truncation_and_padding_are_kept_but_not_applied(tmp_path: Path, right: bool) -> None:
    direction = "right" if right else "left"
    path = write(tmp_path / "tokenizer.json", huggingface())
    live = _hf(path)
    live.enable_truncation(2, stride=right, strategy="longest_first" if right else "only_second",
                           direction=direction)  # fmt: skip
    live.enable_padding(direction=direction, pad_id=5, pad_type_id=2, pad_token="x",
                        length=7 if right else None, pad_to_multiple_of=8)  # fmt: skip
    live.save(str(path))
    ours = bpe.load(path)
    assert ours.truncation is not None
    assert ours.truncation._asdict() == live.truncation
    assert ours.padding is not None
    assert ours.padding._asdict() == live.padding
    assert len(ours.encode("abc the abc")) == len(bpe.load(path).tokens("abc the abc")) > 2
    ours.save(tmp_path / "again.json")
    assert bpe.load(tmp_path / "again.json") == ours == pickle.loads(pickle.dumps(ours))
    again = _hf(tmp_path / "again.json")
    assert (again.truncation, again.padding) == (live.truncation, live.padding)


@pytest.mark.parametrize("ids", [(264, 265, 266), (264, 266, 265), (300, 264, 301), (97, 264, 98)])
def test_ids_of_added_tokens_must_be_those_of_hugging_face(
    tmp_path: Path, ids: tuple[int, int, int]
) -> None:
    contents = ("a" if ids[0] == 97 else "<x>", "<y>", "b" if ids[2] == 98 else "<z>")
    file = huggingface(
        added_tokens=[added(id, content) for id, content in zip(ids, contents, strict=True)]
    )
    path = write(tmp_path / "tokenizer.json", file)
    theirs = [_hf(path).token_to_id(content) for content in contents]
    if theirs == list(ids):
        assert bpe.load(path).special_tokens == dict(zip(contents, ids, strict=True))
    else:
        with pytest.raises(VocabularyError, match="but the tokenizers library gives"):
            bpe.load(path)


@pytest.mark.parametrize("merge", [" a", "a ", ["", "a"]])
def test_merge_with_an_empty_token(tmp_path: Path, merge: Any) -> None:
    file = huggingface(added_tokens=[])
    file["model"]["vocab"][""] = 300
    file["model"]["merges"].append(merge)
    with pytest.raises(VocabularyError, match=r"merge \d+ is .*; expected the ids of two tokens"):
        bpe.load(write(tmp_path / "tokenizer.json", file))


def test_a_passed_preset_replaces_the_pre_tokenizer(tmp_path: Path) -> None:
    stages = sequence({"type": "Digits", "individual_digits": True}, byte_level())
    path = write(tmp_path / "tokenizer.json", huggingface(pre_tokenizer=stages))
    assert bpe.load(path, "qwen2", backend="python").preset == QWEN2


def test_registered_preset_is_recognised(tmp_path: Path, own_registry: None) -> None:
    mine = Preset("mine", rules=(Run(LETTER), Run(~LETTER)), pattern=r"(?>\p{L}+)|[^\p{L}]+")
    ours = made("python", preset=mine)
    ours.save(tmp_path / "tokenizer.json")
    with pytest.raises(UnsupportedError, match=r"pattern.Regex: no preset is equivalent"):
        bpe.load(tmp_path / "tokenizer.json")
    pretok.register(mine)
    assert bpe.load(tmp_path / "tokenizer.json", backend="python") == ours
    _same(ours, tmp_path / "tokenizer.json", _texts())


def test_special_tokens_can_be_passed_too(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.json", huggingface())
    given = {"<|end|>": 264, "<|more|>": 300}
    assert bpe.load(path, special_tokens=given, backend="python").special_tokens == given
    for wrong, message in (
        ({"<|end|>": 300}, "the file says 264"),
        ({"<|more|>": 97}, "has id 97, which is the id of b'a'"),
    ):
        with pytest.raises(VocabularyError, match=message):
            bpe.load(path, special_tokens=wrong, backend="python")


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


def test_templates_and_flags_are_saved_and_loaded(tmp_path: Path) -> None:
    tokens = [AddedToken("<s>", 400), AddedToken("\u00e9 x", 350, False, True, True, True, True)]
    ours = made(
        "python", preset="gpt2", added_tokens=tokens, normalizer="NFC", add_prefix_space=True,
        template=Template((400, 97), (400,))
    )  # fmt: skip
    ours.save(tmp_path / "tokenizer.json")
    assert bpe.load(tmp_path / "tokenizer.json", backend="python") == ours
    _same(ours, tmp_path / "tokenizer.json", _texts(), template=True)
    file = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    assert [token["id"] for token in file["added_tokens"]] == [350, 400]


def test_byte_characters() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    characters = [to_text(bytes([byte])) for byte in range(256)]
    assert sorted(characters) == sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    assert to_bytes("".join(characters)) == bytes(range(256))
    assert to_text("\u00e9 \n".encode()) == "\u00c3\u00a9\u0120\u010a"
    others = [char for char in map(chr, range(0x300)) if char not in characters]
    assert [to_bytes(char) for char in others] == [None] * len(others)


def test_the_pattern_of_a_preset_is_written_as_published() -> None:
    assert pattern_for(LLAMA3, "hf") == LLAMA3.pattern

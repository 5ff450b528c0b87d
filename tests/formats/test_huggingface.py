"""tokenizer.json: read and written like Hugging Face's tokenizers."""

from __future__ import annotations

import json
import pickle
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import bpe
import pretok
from bpe import (
    AddedToken,
    Template,
    UnsupportedError,
    Vocabulary,
    VocabularyError,
    VocabularyWarning,
)
from bpe.byte_level import to_bytes, to_text
from bpe.normalizers.chain import NFC
from paths import shared
from pre_tokenizer_json import byte_level, sequence, split
from pretok import Preset, Run
from pretok.charsets import LETTER
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE, pattern_for
from pretok.presets import CL100K, GPT2, LLAMA3, O200K, QWEN2, R50K
from support import seeded
from vocabularies import installed_ranks
from vocabulary_files import PAIRS, TEXTS, added, huggingface, made, made_vocabulary, write


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
    # Files of Cohere repeat the members of ByteLevel in their template.
    "members of ByteLevel": {
        "normalizer": {**byte_level(add_prefix_space=True), "type": "NFC"},
        "post_processor": {**byte_level(add_prefix_space=True), "type": "TemplateProcessing",
                           "single": [{"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                                    {"Sequence": {"id": "B", "type_id": 0}}],
                           "special_tokens": {}},
        "decoder": {"type": "Sequence", "decoders": [
            {**byte_level(), "type": "Fuse"}, byte_level()]}},
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
    texts = [shared("texts", name).read_text("utf-8")[:5_000] for name in
             ("multilingual.txt", "code.txt", "emoji.txt", "whitespace.txt")]  # fmt: skip
    _same(ours, path, texts)
    ours.save(tmp_path / "again.json")
    _same(ours, tmp_path / "again.json", texts)
    assert bpe.load(tmp_path / "again.json", backend=backend) == ours


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
def test_ids_of_added_tokens_are_those_of_hugging_face(
    tmp_path: Path, ids: tuple[int, int, int]
) -> None:
    contents = ("a" if ids[0] == 97 else "<x>", "<y>", "b" if ids[2] == 98 else "<z>")
    file = huggingface(
        added_tokens=[added(id, content) for id, content in zip(ids, contents, strict=True)]
    )
    path = write(tmp_path / "tokenizer.json", file)
    theirs = [_hf(path).token_to_id(content) for content in contents]
    is_other = theirs != list(ids)
    with pytest.warns(VocabularyWarning) if is_other else nullcontext():
        assert bpe.load(path).special_tokens == dict(zip(contents, theirs, strict=True))


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


def test_nfc_is_one_object_alone_and_in_a_sequence(tmp_path: Path) -> None:
    nfc = {"type": "NFC"}
    files = [nfc, {"type": "Sequence", "normalizers": [nfc]},
             {"type": "Sequence", "normalizers": [nfc, None, nfc]}]  # fmt: skip
    loaded = [
        bpe.load(write(tmp_path / f"{at}.json", huggingface(normalizer=file)), backend="python")
        for at, file in enumerate(files)
    ]
    plain = bpe.load(write(tmp_path / "plain.json", huggingface()), backend="python")
    for tok in loaded:
        assert tok.normalizer == NFC
        assert hash(tok.normalizer) == hash(NFC)
        assert tok == loaded[0] != plain
        tok.save(tmp_path / "saved.pretok")
        assert bpe.load(tmp_path / "saved.pretok", backend="python").normalizer == NFC
    made = bpe.Tokenizer(plain.vocabulary, plain.preset or "gpt2", normalizer="NFC")
    assert made.normalizer == NFC


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

"""A vocabulary file with a split of its own gives the rules and the pre-tokens of Python."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

import bpe
import pretok
from javascript import Calls, JsError, call, split_of, texts, tokenizer
from pretok import Preset
from pretok.pre_tokenizer import native_machine
from pretok.pre_tokenizers import ByteLevel, Punctuation
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal

PATTERN = r"\p{L}+|\d{1,3}|.|\s+"


def _staged() -> pretok.PreTokenizer:
    blocks = Punctuation(behavior="contiguous"), ByteLevel(add_prefix_space=False)
    return pretok.PreTokenizer(Preset("marks-then-words", stages=blocks))


@pytest.fixture(params=["pattern", "stages"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    split = pretok.from_pattern(PATTERN) if request.param == "pattern" else _staged()
    path = tmp_path / "own.pretok"
    bpe.train(["the cat, the hat 123"] * 3, vocab_size=262, preset=split).save(path)
    return path


def test_pre_tokens_and_rules_are_those_of_python(path: Path) -> None:
    split = bpe.load(path).pre_tokenizer
    assert isinstance(split, pretok.PreTokenizer)
    machine = native_machine(split)
    samples = texts(100)
    calls = Calls(samples)
    calls.add(split_of(path), "preset")
    calls.add(split_of(path), "unicode")
    calls.add(split_of(path), "rules")
    calls.each(split_of(path), "splitWithRules", "codepoint")
    preset, unicode, rules, answers = calls.answers()
    assert (preset["name"], preset["engine"]) == (split.preset.name, split.preset.engine)
    assert (preset["exactness"], preset["source"]) == (split.preset.exactness, split.preset.source)
    assert preset["dropsText"] is False
    assert unicode == split.unicode
    assert preset["stages"] == [
        {"pattern": stage.pattern, "behavior": stage.behavior, "invert": stage.invert}
        for stage in split.preset.stages
    ]
    assert [(rule["stage"], rule["pattern"]) for rule in rules] == [
        (i, str(rule)) for i, stage in enumerate(split.preset.stages) for rule in stage.rules
    ]
    for text, answer in zip(samples, answers, strict=True):
        starts, ends, numbers = machine.steps(text)
        expected = {"starts": [*starts], "ends": [*ends], "rules": [*numbers]}
        assert answer == expected, text


def test_explain_ends_with_the_rule_of_the_pre_token(path: Path) -> None:
    text = "the cats, 1234\n\n!"
    calls = Calls()
    for position in range(len(text)):
        calls.add(split_of(path), "explain", text, position)
    spans = call(split_of(path), "splitWithRules", text)
    for position, stages in enumerate(calls.answers()):
        i = next(i for i, end in enumerate(spans["ends"]) if position < end)
        rules = [stage["rule"] for stage in stages if stage["rule"] != -1]
        assert (rules or [-1])[-1] == spans["rules"][i]
        assert stages[-1]["partEnd"] == spans["ends"][i]


def test_another_preset_replaces_the_split_of_the_file(path: Path) -> None:
    calls = Calls()
    calls.add(split_of(path, preset="gpt2"), "preset")
    calls.add(split_of(path, unicode="15.0"), "unicode")
    preset, unicode = calls.answers()
    assert (preset["name"], unicode) == ("gpt2", "15.0")


def test_a_model_without_pre_tokens_has_no_split(tmp_path: Path) -> None:
    path = tmp_path / "small.model"
    path.write_bytes(model([UNKNOWN, *BYTES, *normal("\u2581a", "\u2581", "a")], BYTE_FALLBACK))
    assert call(tokenizer(path), "preTokenizer") is None


@pytest.mark.parametrize("damage", [b"{", b"[]", b"{}", b'{"stages":[]}', b'{"stages":[[1,2]]}'])
def test_a_damaged_description_is_an_error(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "own.pretok"
    bpe.train(["ab"], vocab_size=256, preset=pretok.from_pattern(PATTERN)).save(path)
    data = path.read_bytes()
    start = data.index(b'{"engine"')
    end = data.index(b"}", start) + 1
    padded = damage.ljust(end - start)
    contents = data[16:start] + padded + data[end:]
    path.write_bytes(data[:12] + zlib.crc32(contents).to_bytes(4, "little") + contents)
    error = call(tokenizer(path), "preTokenizer")
    assert isinstance(error, JsError)
    assert error.code == "MALFORMED"
    assert "save the tokenizer again" in error.message

"""`pretok identify`: files, names and patterns, and comparison with tokenizers and tiktoken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pretok
from bpe.cli.engine_diff import compare
from command_line import Call
from gguf_files import gguf
from paths import shared
from pre_tokenizer_json import BYTES, sequence, split
from pretok import Preset, Run
from pretok.charsets import LETTER, NUMBER
from pretok.fuzz.engines import EngineError
from pretok.fuzz.oracle import of_huggingface, of_pattern
from pretok.presets import CL100K, GPT2, LLAMA3, O200K, QWEN2, R50K

TEXT = "Hello  world, it's 12345 '\u017fx\n   DON'T camelCase \u4e2d\u6587 \u00bd1234 \u0301a\n  \n"


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def _file(folder: Path, pre_tokenizer: Any) -> str:
    path = folder / "tokenizer.json"
    file = {"version": "1.0", "model": {}, "pre_tokenizer": pre_tokenizer}
    path.write_text(json.dumps(file), encoding="utf-8")
    return str(path)


def test_a_name(call: Call) -> None:
    status, out, err = call("identify", "llama-bpe")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["the name 'llama-bpe' is", "  preset     llama3"]
    assert "  engine     hf (Hugging Face tokenizers)" in lines
    assert "  unicode    16.0" in lines
    assert "  exact      yes, tested against the engine" in lines
    assert f"  source     {LLAMA3.source}" in lines


def test_an_unknown_name(call: Call) -> None:
    status, out, err = call("identify", "lama3")
    assert (status, out) == (2, "")
    assert "unknown preset 'lama3'; did you mean 'llama3'" in err


@pytest.mark.parametrize("path", ["/nope", "./nope", "../nope", "tokeniser.json", "model.gguf"])
def test_a_path_without_a_file(call: Call, path: str) -> None:
    status, out, err = call("identify", path)
    assert (status, out) == (2, "")
    assert f"no file is called {path!r}; pass an existing file, or --engine if WHAT is" in err
    assert call("identify", path, "--engine", "hf")[0] != 2


def test_a_pattern(call: Call) -> None:
    spelt = QWEN2.pattern.replace(r"\p{L}+|", r"\p{L}++|")
    status, out, err = call("identify", spelt)
    assert (status, err) == (0, "")
    assert "the pattern, as Hugging Face tokenizers reads it, is\n  preset     qwen2\n" in out
    status, out, _ = call("identify", CL100K.pattern, "--engine", "tiktoken")
    assert status == 0
    assert "as tiktoken reads it, is\n  preset     cl100k\n" in out


def test_a_pattern_that_compiles(call: Call) -> None:
    status, out, err = call("identify", LLAMA3.pattern.replace("{1,3}", "{1,4}"))
    assert (status, err) == (0, "")
    assert "  preset     not a known one; equivalent stages:\n" in out
    assert "  source     compiled from its pattern\n" in out
    assert "  rule       \\p{N}{1,4}\n" in out
    status, out, _ = call("identify", CL100K.pattern, "--format", "json")
    record = json.loads(out)
    assert (status, record["known"], record["engine"]) == (0, False, "hf")
    assert record["preset"].startswith("pattern-")
    assert record["rules"][2] == "\\p{N}+"


def test_an_unknown_pattern_is_shown_with_the_nearest_preset(call: Call) -> None:
    unknown = LLAMA3.pattern.replace("{1,3}", "{1,4}x")
    status, out, err = call("identify", unknown)
    assert (status, err) == (1, "")
    assert "the nearest is 'llama3' (-), which differs from this pattern (+):\n" in out
    assert "\n- \\p{N}{1,3}\n+ \\p{N}{1,4}x\n          ^\n" in out
    status, out, _ = call("identify", unknown, "--format", "json")
    assert status == 1
    record = json.loads(out)
    assert (record["preset"], record["engine"], record["nearest"]) == (None, "hf", "llama3")
    assert (record["construct"], record["position"]) == ("x", unknown.index("x|"))
    assert "scan the rest of the run again" in record["reason"]
    status, out, err = call("identify", "(?x)", "--against", "nothing")
    assert (status, out) == (2, "")
    assert "so --against has nothing to compare" in err


def test_a_tokenizer_json(call: Call, tmp_path: Path, text: str) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    path = _file(tmp_path, sequence(split(LLAMA3.pattern), BYTES))
    for place in (path, str(tmp_path)):
        status, out, err = call("identify", place, "--against", text)
        assert (status, err) == (0, "")
        assert out.startswith(f"the pre_tokenizer of '{place}' is\n  preset     llama3\n")
        assert out.splitlines()[-1].endswith(" pre-tokens of the text")
        assert out.splitlines()[-1].startswith("tokenizers ")


def test_a_sequence_that_is_not_a_preset(call: Call, tmp_path: Path, text: str) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    digits = {"type": "FixedLength", "length": 3}
    path = _file(tmp_path, sequence(digits, split(QWEN2.pattern), BYTES))
    status, out, err = call("identify", path, "--against", text)
    assert (status, err) == (0, "")
    assert "  preset     not a known one; equivalent stages:\n" in out
    assert '  stage      {"type":"FixedLength","length":3}\n' in out
    assert f"  stage      {QWEN2.pattern}\n" in out
    assert " makes the same " in out


def test_add_prefix_space(call: Call, tmp_path: Path, text: str) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    path = _file(tmp_path, {**BYTES, "use_regex": True, "add_prefix_space": True})
    status, out, err = call("identify", path, "--against", text)
    assert (status, err) == (0, "")
    assert "  space      a space goes before a text without one\n" in out
    assert " makes the same " in out
    Path(text).write_text(" x y", encoding="utf-8")
    assert call("identify", path, "--against", text)[0] == 0


def test_a_file_with_an_unknown_pattern(call: Call, tmp_path: Path) -> None:
    path = _file(tmp_path, sequence(split(LLAMA3.pattern.replace("{1,3}", "{1,4}x")), BYTES))
    status, out, err = call("identify", path)
    assert (status, err) == (1, "")
    assert "- \\p{N}{1,3}\n+ \\p{N}{1,4}x\n" in out
    path = _file(tmp_path, sequence(split(LLAMA3.pattern.replace("{1,3}", "{1,4}")), BYTES))
    status, out, err = call("identify", path)
    assert (status, err) == (0, "")
    assert "with pre_tokenizer.pretokenizers[0].pattern.Regex compiled\n" in out
    assert "  rule       \\p{N}{1,4}\n" in out


@pytest.mark.parametrize(
    ("pre_tokenizer", "message"),
    [
        ({"type": "Other"}, "pre_tokenizer: unknown pre_tokenizer {'type': 'Other'}"),
        (sequence(BYTES, {"type": "WhitespaceSplit"}), "this part changes the text, and"),
    ],
)
def test_pre_tokenizers_that_are_not_supported(
    call: Call, tmp_path: Path, pre_tokenizer: Any, message: str
) -> None:
    status, out, err = call("identify", _file(tmp_path, pre_tokenizer))
    assert (status, out) == (2, "")
    assert err.startswith("pretok: error: '")
    assert message in err


def test_files_that_are_not_json_are_refused(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\x00\x01")
    status, out, err = call("identify", str(tmp_path / "x"))
    assert (status, out) == (2, "")
    assert "expected a tokenizer.json, got a file that is not valid JSON: " in err
    assert call("identify", "gpt2", "--against", str(tmp_path / "none"))[0] == 2


@pytest.mark.parametrize("preset", [GPT2, R50K, CL100K, LLAMA3, QWEN2, O200K], ids=lambda p: p.name)
def test_each_preset_against_its_engine(call: Call, text: str, preset: Preset) -> None:
    pytest.importorskip({"hf": "tokenizers"}.get(preset.engine, "tiktoken"))
    status, out, err = call("identify", preset.name, "--against", text, "--format", "json")
    assert (status, err) == (0, "")
    record = json.loads(out)
    assert record["preset"] == preset.name
    assert record["against"]["same"]
    assert record["against"]["pre_tokens"] == pretok.get(preset).count(TEXT)


def _wrong(preset: Preset, old: object, new: Run) -> Preset:
    """Return `preset` with a wrong rule, so that it does not split like its engine."""
    rules = tuple(new if rule == old else rule for rule in preset.rules)
    assert rules != preset.rules
    return Preset("wrong", rules, engine=preset.engine, pattern=preset.pattern)


@pytest.mark.parametrize("preset", [LLAMA3, CL100K], ids=lambda preset: preset.name)
def test_the_first_difference_is_shown(
    call: Call, text: str, preset: Preset, own_registry: None
) -> None:
    pytest.importorskip({"hf": "tokenizers"}.get(preset.engine, "tiktoken"))
    pretok.register(_wrong(preset, Run(NUMBER, at_most=3), Run(NUMBER, at_most=4)))
    status, out, err = call("identify", "wrong", "--against", text)
    assert (status, err) == (1, "")
    lines = out[out.index("--- ") :].splitlines()
    assert lines[0] == "--- wrong (Unicode 16.0)"
    assert lines[1].startswith(("+++ tokenizers ", "+++ tiktoken "))
    assert lines[2] == "@@ 19:24 @@"
    assert [line.split()[:2] for line in lines[3:]] == [
        ['"\'s"', lines[3].split()[1]],
        ['"', '"'],
        ["-", '"1234"'],
        ["-", '"5"'],
        ["+", '"123"'],
        ["+", '"45"'],
    ]
    assert r"\p{N}{1,4}" in lines[5]
    status, out, _ = call("identify", "wrong", "--against", text, "--format", "json")
    assert status == 1
    difference = json.loads(out)["against"]["first_difference"]
    assert difference["ours"][0] == {
        "start": 19, "end": 23, "text": "1234", "rule": r"\p{N}{1,4}",
    }  # fmt: skip
    assert difference["theirs"] == [
        {"start": 19, "end": 22, "text": "123"},
        {"start": 22, "end": 24, "text": "45"},
    ]


def test_a_difference_from_tiktoken_late_in_a_long_text() -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    wrong = pretok.get(_wrong(CL100K, Run(NUMBER, at_most=3), Run(NUMBER, at_most=2)))
    engine, ask = of_pattern(CL100K.pattern, "tiktoken", wrong)
    text = "So it goes. " * 5_000 + "x 123 y"
    found = compare(wrong, text, engine, ask)
    assert not found.same
    assert [step.text for step in found.ours] == ["12", "3"]
    assert found.theirs == [(60_002, 60_005, "123")]
    assert compare(pretok.get(CL100K), text, *of_pattern(CL100K.pattern, "tiktoken",
                                                         pretok.get(CL100K))).same  # fmt: skip


def test_text_that_tiktoken_drops() -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    words = pretok.get(Preset("words", (Run(LETTER),), engine="tiktoken", pattern=r"\p{L}+"))
    found = compare(words, "ab 12 cd", *of_pattern(r"\p{L}+", "tiktoken", words))
    assert [step.text for step in found.ours] == [" 12 ", "cd"]
    assert found.theirs == [(6, 8, "cd")]


def test_pre_tokenizers_and_patterns_that_the_engines_refuse() -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    with pytest.raises(EngineError, match=r"tokenizers .* rejects the pre_tokenizer"):
        of_huggingface({"type": "Nothing"})
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    with pytest.raises(EngineError, match=r"tiktoken .* failed"):
        of_pattern("(", "tiktoken", pretok.get("gpt2"))[1]("a")


def test_published_files(call: Call, text: str) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    for name in ("gpt2_tokenizer.json", "gpt_neox.json"):
        status, out, _ = call("identify", str(shared("vocabs", "hf", name)), "--against", text)
        assert status == 0
        assert "  preset     gpt2\n" in out
        assert " makes the same " in out


@pytest.mark.parametrize("preset", ["qwen2", "starcoder"])
def test_a_gguf_file(call: Call, tmp_path: Path, text: str, preset: str) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": preset}))
    status, out, err = call("identify", str(path), "--against", text)
    assert (status, err) == (0, "")
    assert out.startswith(f"the pre-tokenizer of '{path}' is\n  preset     {preset}\n")
    assert " makes the same " in out


def test_gguf_files_without_a_known_preset(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    for content, message in (
        (
            gguf({"tokenizer.ggml.pre": "lama3"}),
            "unknown preset 'lama3'",
        ),
        (gguf({"tokenizer.ggml.pre": "qwen2"})[:-3], "the file is truncated or damaged"),
        (b"GGUF", "the file is truncated or damaged"),
        (
            gguf({"tokenizer.ggml.model": "llama"}),
            "expected the name of a pre-tokenizer in tokenizer.ggml.pre, got None "
            "(tokenizer.ggml.model is 'llama')",
        ),
    ):
        path.write_bytes(content)
        status, out, err = call("identify", str(path))
        assert (status, out) == (2, "")
        assert message in err

"""`pretok hf-check` compares bpe with Hugging Face, with and without transformers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import huggingface_pairs as pairs
from command_line import Call

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")
WITHOUT = pytest.mark.parametrize("module", ["transformers", "not_a_module"])
"""Run a test without transformers, and with it if it is installed.

A test makes `module` impossible to import. For the second value, this has no effect.
"""


def _file(folder: Path, **parts: Any) -> str:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(pairs.base()), **parts}), encoding="utf-8")
    return str(path)


@WITHOUT
def test_a_tokenizer_that_bpe_serves(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    _file(tmp_path)
    status, out, _ = call("hf-check", str(tmp_path))
    # bpe leaves truncated calls to tokenizers 0.23.1, which computes no overflow. A line says so.
    lines = [line for line in out.splitlines() if "by tokenizers 0.23.1" not in line]
    assert (status, lines[0]) == (0, "served by bpe")
    assert lines[1].startswith("equal: all ")
    assert lines[1].endswith(" calls on 7 texts")
    assert [line.split()[0] for line in lines[3:]] == ["a", "a", "decode"]
    assert all(line.endswith("x") for line in lines[3:])


@WITHOUT
def test_a_tokenizer_that_falls_back(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    text = tmp_path / "text.txt"
    text.write_text("The fox\nÉ 🦙\n" + "a" * 5000, encoding="utf-8")
    path = _file(tmp_path, model=pairs.other_model("Unigram"))
    status, out, _ = call("hf-check", path, "--on", str(text))
    lines = out.splitlines()
    assert status == 0
    assert lines[0].startswith('served by tokenizers: model.type is "Unigram"')
    assert lines[1].endswith(" calls on 3 texts")
    assert lines[2].startswith("fell back in ")
    assert lines[2].endswith(lines[0].partition(": ")[2])


@WITHOUT
def test_a_different_result_exits_with_1(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    decoding = "bpe.compat.huggingface.decoding.Decoding"
    monkeypatch.setattr(f"{decoding}.short", lambda *arguments: "wrong")
    status, out, _ = call("hf-check", _file(tmp_path))
    assert status == 1
    assert out.splitlines()[1].startswith("different: decode([")


def test_errors(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = call("hf-check", str(tmp_path))
    assert (status, out) == (2, "")
    folder = f"in the folder {tmp_path}; found neither"
    assert f"expected a tokenizer.json or a tokenizer_config.json {folder}" in err
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    status, out, err = call("hf-check", str(tmp_path))
    assert (status, out) == (2, "")
    assert f"{tmp_path} is not a tokenizer: " in err
    monkeypatch.setitem(sys.modules, "bpe.compat.huggingface", None)
    status, out, err = call("hf-check", _file(tmp_path))
    assert (status, out) == (2, "")
    needs = "needs the package tokenizers; install it with `pip install tokenizers`"
    assert f"hf-check {needs}" in err


def test_folders_without_a_tokenizer_json(call: Call, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    model = json.loads(pairs.base())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    vocab = {"<|endoftext|>": len(model["vocab"]), **model["vocab"]}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    lines = "\n".join(["#version: 0.2", *merges])
    (tmp_path / "merges.txt").write_text(lines, encoding="utf-8")
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"tokenizer_class": "GPT2Tokenizer"}', encoding="utf-8")
    status, out, _ = call("hf-check", str(tmp_path))
    assert (status, out.splitlines()[0]) == (0, "served by bpe")
    config.write_text('{"tokenizer_class": "ByT5Tokenizer"}', encoding="utf-8")
    status, out, err = call("hf-check", str(tmp_path))
    assert (status, out) == (2, "")
    assert "expected a fast tokenizer" in err
    assert err.rstrip().endswith("transformers made a ByT5Tokenizer")

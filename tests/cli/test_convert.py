"""`pretok convert`: files, messages and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import bpe
from command_line import Call, error_of
from vocabulary_files import made


def saved(folder: Path) -> str:
    made(preset="gpt2").save(folder / "old.json")
    return str(folder / "old.json")


def test_files_and_parts(call: Call, tmp_path: Path) -> None:
    source, target = saved(tmp_path), str(tmp_path / "new.gguf")
    status, out, err = call("convert", source, target, "--texts", "20")
    assert (status, err) == (0, "")
    assert out.startswith(f"wrote {target} (gguf); ")
    assert out.endswith(" texts have equal ids\n")
    assert bpe.load(target).special_tokens == {"<|end|>": 300}


def test_json(call: Call, tmp_path: Path) -> None:
    source, target = saved(tmp_path), tmp_path / "new.tiktoken"
    status, out, _ = call("convert", source, str(target), "--lossy", "--json", "--texts", "9")
    assert status == 0
    record = json.loads(out)
    assert record["format"] == "tiktoken"
    assert record["paths"] == [str(target)]
    assert record["lost"] == ["1 added token ('<|end|>')"]
    assert record["omitted"] == ["the split, preset 'gpt2'"]


def test_errors(call: Call, tmp_path: Path) -> None:
    source, target = saved(tmp_path), str(tmp_path / "new.tiktoken")
    message = error_of(call, "convert", source, target)
    assert "cannot hold 1 added token" in message
    assert "pass --lossy" in message
    assert "--into is for GGUF files" in error_of(
        call, "convert", source, target, "--into", str(tmp_path / "model.gguf")
    )
    assert "suffix '.xyz'; expected .json" in error_of(call, "convert", source, "a.xyz")
    assert "--texts -1; expected an int of at least 0" in error_of(
        call, "convert", source, target, "--texts", "-1"
    )
    assert not Path(target).exists()

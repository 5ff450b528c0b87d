"""C++ reads every member of a tokenizer.json as Python does, and refuses JSON that is not exact."""

from __future__ import annotations

import json
import warnings
from io import BytesIO
from typing import Any

import pytest

import pretok
from bpe.formats.huggingface import read
from bpe.formats.json_value import parse
from native_models import ignored_ids, said_to_cpp, said_to_python
from pre_tokenizer_json import byte_level
from pretok.formats.huggingface import to_byte_level_json
from pretok.machine.backend import BackendName
from vocabulary_files import added, huggingface

TRUNCATION = {"direction": "Left", "max_length": 7, "strategy": "OnlyFirst", "stride": 2}
PADDING = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None,
           "pad_id": 3, "pad_type_id": 1, "pad_token": "{[<\"pad\u00e9"}  # fmt: skip
TRIMS = {
    "type": "Sequence",
    "processors": [
        byte_level(trim_offsets=True, add_prefix_space=False),
        byte_level(trim_offsets=False),
        {"type": "RobertaProcessing", "sep": ["b", 1], "cls": ["a", 0], "trim_offsets": True,
         "add_prefix_space": True},
    ],
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 0, 1, 9])
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"truncation": TRUNCATION},
        {"truncation": {**TRUNCATION, "direction": None}, "padding": PADDING},
        {"padding": {**PADDING, "strategy": "BatchLongest"}},
        {"post_processor": TRIMS},
        {"pre_tokenizer": to_byte_level_json(pretok.get("deepseek-v3").preset)},
        {"pre_tokenizer": to_byte_level_json(pretok.get("llama3").preset)},
    ],
    ids=lambda value: " ".join(value) or "nothing",
)
def test_members(
    changes: dict[str, Any], ascii_only: bool, indent: int | None, native: BackendName
) -> None:
    data = json.dumps(huggingface(**changes), indent=indent, ensure_ascii=ascii_only).encode()
    said = said_to_cpp(data)
    assert said.unsupported is None
    assert said == said_to_python(data)


def test_a_regex_with_line_feeds_in_place_of_escapes(native: BackendName) -> None:
    pre_tokenizer = to_byte_level_json(pretok.get("deepseek-v3").preset)
    regex = pre_tokenizer["pretokenizers"][2]["pattern"]
    regex["Regex"] = regex["Regex"].replace(r"\r\n", "\r\n", 1)
    data = json.dumps(huggingface(pre_tokenizer=pre_tokenizer)).encode()
    assert said_to_cpp(data).preset == "deepseek-v3"
    assert said_to_cpp(data) == said_to_python(data)


def test_ignored_ids(native: BackendName) -> None:
    tokens = [added(700, "<a>"), added(265, "<b>"), added(9, "<a>"), added(700, "<a>")]
    data = json.dumps(huggingface(added_tokens=tokens)).encode()
    assert ignored_ids(data) == [("<a>", 700), ("<a>", 9)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (note,) = read(parse(data)).notes
    assert "'<a>' has the id 264, not 700, '<a>' has the id 264, not 9" in note


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"version"', b'"model": 1, "version"'),
        (b'"dropout"', b'"type": "BPE", "dropout"'),
        (b'"content"', b'"special": true, "content"'),
        (b"<|end|>", rb"\ud800"),
        (b"<|end|>", b"\xff"),
        (b"<|end|>", b"\n"),
        (b"<|end|>", rb"\x41"),
        (b'"1.0"', b"01"),
        (b'"1.0"', b"NaN"),
        (b'"1.0"', b"1" * 1001),
        (b'"1.0"', b"[" * 65 + b"]" * 65),
        (b'"1.0"', b'"1.0",'),
        (b'"1.0"', b"'1.0'"),
        (b"{", b"\xef\xbb\xbf\xef\xbb\xbf{"),
    ],
)
def test_refused_json(old: bytes, new: bytes, native: BackendName) -> None:
    data = json.dumps(huggingface()).encode()
    assert said_to_cpp(data).unsupported is None
    assert said_to_cpp(data.replace(old, new, 1)).unsupported is False


def test_the_place_of_an_error(native: BackendName) -> None:
    data = json.dumps(huggingface(), indent=1).encode().replace(b"null", b"nul", 1)
    line = data[: data.index(b"nul,")].count(b"\n") + 1
    assert error_of_cpp(data).startswith(f"line {line}, byte ")
    path = "model.merges[1]"
    file = huggingface()
    file["model"]["merges"][1] = 7
    assert error_of_cpp(json.dumps(file).encode()).startswith(f"{path} is 7; expected")


def error_of_cpp(data: bytes) -> str:
    from pretok import _core

    with pytest.raises(ValueError, match=r"expected|valid") as error:
        _core.read_spec(BytesIO(data))
    return str(error.value)

"""GGUF files: their metadata, and the tokenizers made from it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import bpe
import pretok
from bpe import AddedToken, Template, UnknownTokenError, VocabularyError
from bpe.formats import gguf as format_gguf
from bpe.formats.files import MAX_BYTES
from command_line import Call
from gguf_files import Typed, gguf, loaded, metadata, parse_metadata
from pretok.machine.backend import BackendName
from support import TOO_MUCH, growth
from vocabulary_files import TEXTS, made, made_vocabulary, write


def with_tokens(*more: tuple[str, int], **changes: Any) -> dict[str, Any]:
    """Return `changes` with the tokens of the small file and `more`, pairs of text and GGUF type.

    The ids of `more` begin at 265. The types are 1 normal, 2 unknown, 3 control, 4 user-defined,
    5 unused and 6 byte.
    """
    small = metadata(**changes)
    tokens = [*small["tokenizer.ggml.tokens"], *(text for text, _ in more)]
    types = [*small["tokenizer.ggml.token_type"], *(kind for _, kind in more)]
    return {**changes, "tokens": tokens, "token_type": types}


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
@pytest.mark.parametrize("version", [2, 3])
def test_small_file(tmp_path: Path, version: int, order: str, backend: BackendName) -> None:
    path = write(tmp_path / "small", gguf(metadata(), version, order) + b"\0" * 100)
    tokenizer = bpe.load(path, backend=backend)
    expected = made(backend, preset="gpt2", special=(("<|end|>", 264),))
    assert tokenizer == expected
    for text in TEXTS:
        assert tokenizer.encode(text) == expected.encode(text)
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode("a<|end|>", "allow") == [97, 264]


def test_other_keys_do_not_matter(tmp_path: Path) -> None:
    values: dict[str, Any] = {"a.text": b"\xff", "a.list": ["a", "b"], "a.bytes": [b"\xff"]}
    values |= {"empty": Typed("array", [], "string"), "a.b\n": 1}
    for kind in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool",
                 "uint64", "int64", "float64"):  # fmt: skip
        values[kind] = Typed(kind, 1)
        values[f"{kind}s"] = Typed("array", [0, 1, 1], kind)
    data = gguf({**values, **metadata(), "last": 1})
    assert bpe.load(write(tmp_path / "a", data), backend="python") == loaded(tmp_path)
    found = parse_metadata(data, ["a.list", "last", "no key"])
    assert found == {"a.list": ["a", "b"], "last": 1}


@pytest.mark.parametrize("order", ["<", ">"])
def test_values_of_every_type(order: str) -> None:
    values = {
        "a": Typed("uint8", 200),
        "b": Typed("int8", -2),
        "c": Typed("uint16", 50000),
        "d": Typed("int16", -300),
        "e": Typed("uint32", 1 << 31),
        "f": Typed("int32", -1 << 31),
        "g": Typed("float32", 0.5),
        "h": Typed("bool", True),
        "i": Typed("string", "caf\u00e9"),
        "j": Typed("uint64", 1 << 63),
        "k": Typed("int64", -1 << 63),
        "l": Typed("float64", 0.1),
    }
    assert parse_metadata(gguf(values, order=order), values.keys()) == {
        key: typed.value for key, typed in values.items()
    }
    arrays = {key: Typed("array", [value, value], kind) for key, (kind, value, _) in values.items()}
    found = parse_metadata(gguf(arrays, order=order), arrays.keys())
    assert found == {key: typed.value for key, typed in arrays.items()}
    assert {type(found[key][0]) for key in "behj"} == {int, bool}


@pytest.mark.skipif(os.name != "posix", reason="needs sparse files of POSIX")
def test_weights_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "large.gguf", gguf(metadata(), tensors=1))
    os.truncate(path, 16 * MAX_BYTES)
    assert bpe.load(path).vocab_size == 265


def test_time_is_linear() -> None:
    def parse(size: int) -> None:
        tokens = [f"token{id}" for id in range(size)]
        values = {"tokens": tokens, "types": [1] * size}
        assert len(parse_metadata(gguf(values), values)["tokens"]) == size

    assert growth(parse, 2000) < TOO_MUCH


def test_a_file_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(tmp_path))
    write(tmp_path / "my-model.gguf", gguf(metadata()))
    assert bpe.load("my-model").vocab_size == 265


def test_command_line(tmp_path: Path, call: Call) -> None:
    path = write(tmp_path / "small.gguf", gguf(metadata()))
    status, output, errors = call("encode", "--vocab", str(path), "--text", "abc")
    assert (status, output, errors) == (0, "258\n", "")


def test_types_of_tokens(tmp_path: Path, backend: BackendName) -> None:
    changes = with_tokens(
        ("<unk>", 2), ("<|mine|>", 4), ("\u00f8", 4), ("  ", 4), ("[PAD9]", 5), ("the", 0), ("", 1)
    )
    # "\u00f8" is the character of byte 0xf8. As in DeepSeek's files, it is a user-defined token
    # instead, which stands for the character itself. So the byte has no token.
    changes["tokens"][0xF8], changes["token_type"][0xF8] = "[PAD8]", 5
    tokenizer = loaded(tmp_path, backend=backend, **changes)
    assert tokenizer.special_tokens == {"<|end|>": 264, "<unk>": 265}
    assert tokenizer.added_tokens == (
        AddedToken("<|end|>", 264),
        AddedToken("<unk>", 265),
        AddedToken("<|mine|>", 266, special=False),
        AddedToken("\u00f8", 267, special=False),
        AddedToken("  ", 268, special=False),
    )
    assert tokenizer.encode("ab<|mine|>  \u00f8") == [256, 266, 268, 267]
    assert tokenizer.decode([256, 266, 268, 267, 265]) == "ab<|mine|>  \u00f8<unk>"
    assert tokenizer.encode("a<unk>", "allow") == [97, 265]
    assert tokenizer.encode("<unk>", "text") == list(b"<unk>")
    assert tokenizer.token_bytes(270) == b"the"
    for id in (0xF8, 269, 271):
        with pytest.raises(UnknownTokenError):
            tokenizer.decode([id])


def test_merged_tokens_stay_in_the_vocabulary(tmp_path: Path, backend: BackendName) -> None:
    types = metadata()["tokenizer.ggml.token_type"]
    types[97] = types[256] = 4  # "a", "ab"
    types[258] = 3  # "abc"
    types[261] = 5  # "12"
    tokenizer = loaded(tmp_path, backend=backend, token_type=types)
    assert tokenizer.vocabulary == made_vocabulary()
    assert tokenizer.special_tokens == {"abc": 258, "<|end|>": 264}
    assert tokenizer.encode("abc", "text") == [258]
    assert tokenizer.encode("aab12") == [97, 256, 261]


def test_without_types_every_token_is_ordinary(tmp_path: Path, backend: BackendName) -> None:
    tokenizer = loaded(tmp_path, backend=backend, token_type=...)
    assert tokenizer.added_tokens == ()
    assert tokenizer.encode("<|end|>") == list(b"<|end|>")
    assert tokenizer.decode([264]) == "<|end|>"


def test_a_vocabulary_of_bytes_alone(tmp_path: Path, backend: BackendName) -> None:
    none = Typed("array", [], "string")
    tokens = metadata()["tokenizer.ggml.tokens"][:256]
    tokenizer = loaded(tmp_path, backend=backend, tokens=tokens, token_type=..., merges=none)
    assert tokenizer.encode("caf\u00e9") == [*"caf\u00e9".encode()]


@pytest.mark.parametrize(
    ("pre", "ids"), [("gpt-2", [*b"xyz"]), ("qwen2", [*b"xyz"]), ("llama-bpe", [265])]
)
def test_whole_pre_tokens(tmp_path: Path, backend: BackendName, pre: str, ids: list[int]) -> None:
    changes = with_tokens(("xyz", 1), ("<x>", 4), pre=pre, bos_token_id=0)
    tokenizer = loaded(tmp_path, backend=backend, **changes)
    assert tokenizer.vocabulary.ignore_merges == (ids == [265])
    assert tokenizer.encode("xyz") == ids
    assert tokenizer.encode("xyz<x>abc") == [*ids, 266, 258]
    assert tokenizer.preset == pretok.get(pre).preset


def test_pre_types_with_options_have_presets() -> None:
    whole, add_bos = format_gguf.IGNORE_MERGES, format_gguf.ADD_BOS
    assert {"llama-bpe", "tekken", "youtu", "minicpm5"} < whole
    assert add_bos - whole == {"chameleon"}
    assert format_gguf.NOT_BYTE_LEVEL.isdisjoint(whole | add_bos)
    for pre in whole | add_bos | format_gguf.LSTRIP.keys():
        assert pretok.from_gguf_pre(pre).preset


@pytest.mark.parametrize(
    ("changes", "template"),
    [
        ({}, Template((), ())),
        ({"add_bos_token": True, "bos_token_id": 5}, Template((5,), ())),
        ({"add_eos_token": True}, Template((), (264,))),
        ({"add_bos_token": ..., "bos_token_id": 5}, Template((), ())),
        ({"add_bos_token": ..., "bos_token_id": 5, "pre": "llama-bpe"}, Template((5,), ())),
        ({"add_bos_token": False, "bos_token_id": 5, "pre": "llama-bpe"}, Template((), ())),
        ({"eos_token_id": Typed("int32", -1)}, Template((), ())),
    ],
)
def test_template(tmp_path: Path, changes: dict[str, Any], template: Template) -> None:
    tokenizer = loaded(tmp_path, **changes)
    assert tokenizer.template == template
    ids = tokenizer.encode("ab", add_special_tokens=True)
    assert ids == [*template.before, 256, *template.after]


def test_prefix_space(tmp_path: Path, backend: BackendName) -> None:
    assert not loaded(tmp_path, add_space_prefix=False).add_prefix_space
    tokenizer = loaded(tmp_path, backend=backend, add_space_prefix=True)
    assert tokenizer.encode("the") == [260]


@pytest.mark.parametrize(("pre", "text"), [("jina-v2-de", "<mask>"), ("modern-bert", "[MASK]")])
def test_the_mask_token_strips_white_space_on_its_left(tmp_path: Path, pre: str, text: str) -> None:
    changes = with_tokens((text, 3), pre=pre)
    tokenizer = loaded(tmp_path, "gpt2", **changes)
    assert tokenizer.added_tokens[-1] == AddedToken(text, 265, lstrip=True)
    assert tokenizer.encode(f"a {text} a", "allow") == [97, 265, 32, 97]
    assert not loaded(tmp_path, **{**changes, "pre": "gpt-2"}).added_tokens[-1].lstrip


def test_special_tokens_can_be_added(tmp_path: Path) -> None:
    tokenizer = loaded(tmp_path, None, {"<x>": 300})
    assert tokenizer.special_tokens == {"<|end|>": 264, "<x>": 300}
    with pytest.raises(VocabularyError, match=r"'<\|end\|>' the id 9, but the file says 264"):
        loaded(tmp_path, None, {"<|end|>": 9})


def test_saved_as_tokenizer_json(tmp_path: Path) -> None:
    tokenizer = loaded(tmp_path, **with_tokens(("<|mine|>", 4), add_eos_token=True))
    tokenizer.save(tmp_path / "tokenizer.json")
    assert bpe.load(tmp_path / "tokenizer.json", backend="python") == tokenizer


def test_an_unknown_pre_name_needs_a_preset(tmp_path: Path) -> None:
    message = r"small.gguf: tokenizer.ggml.pre is 'new', but no preset has this name; pass preset="
    with pytest.raises(VocabularyError, match=message):
        loaded(tmp_path, pre="new")
    assert loaded(tmp_path, "gpt2", pre="new") == loaded(tmp_path)
    with pytest.raises(
        VocabularyError, match=r"no preset has this name \(similar names: .*'qwen2'"
    ):
        loaded(tmp_path, pre="qwen22")


@pytest.mark.parametrize("pre", [..., ""])
def test_a_preset_is_not_guessed_without_a_pre_name(tmp_path: Path, pre: Any) -> None:
    message = r"there is no tokenizer\.ggml\.pre, so .* pass preset="
    with pytest.raises(VocabularyError, match=message):
        loaded(tmp_path, pre=pre)
    assert loaded(tmp_path, "default", pre=pre).preset == pretok.get("default").preset

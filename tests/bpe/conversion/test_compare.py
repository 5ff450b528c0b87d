"""`compare` finds every part that differs, and a text with different ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, Padding, Template, TokenFacts, Truncation, Vocabulary
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Lowercase
from conversions import loaded
from pretok.machine.backend import BackendName
from vocabulary_files import PAIRS, made, made_vocabulary

SMALL = made_vocabulary()
CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "merges": ({"vocabulary": Vocabulary(SMALL.token_bytes, (SMALL.merges or ())[:-1])},
               "merges: 1 only in the first, 0 only in the second; the first difference is rank 7"),
    "tokens": ({"vocabulary": made_vocabulary(PAIRS[:-1])}, "tokens only in the first: 1 (b'\\r"),
    "ids": ({"vocabulary": made_vocabulary(PAIRS[1::-1] + PAIRS[2:])}, "tokens with other ids"),
    "added": ({"special": (("<|end|>", 301),)}, "added tokens that differ: 1 ('<|end|>' 300"),
    "new added": ({"special": (("<|end|>", 300), ("<x>", 301))}, "added tokens only in the second"),
    "no added": ({"special": ()}, "added tokens only in the first: 1"),
    "flags": ({"added_tokens": [AddedToken("<|end|>", 300, lstrip=True)]}, "(special,lstrip)"),
    "split": ({"preset": "gpt2"}, "pre-tokenizer: cl100k ("),
    "normalizer": ({"normalizer": NormalizerChain((Lowercase(),))}, "normalizer: None and Lower"),
    "prefix": ({"add_prefix_space": True}, "add_prefix_space: False and True"),
    "template": ({"template": Template((97,), ())}, "template: Template(before=()"),
    "truncation": ({"truncation": Truncation(8, 0, "longest_first", "right")}, "truncation: None"),
    "padding": ({"padding": Padding(None, "right", 0, "!", 0, None)}, "padding: None and Padding"),
    "trim": ({"trim_offsets": (True,)}, "trim_offsets: () and (True,)"),
    "roles": ({"facts": TokenFacts(roles={"bos": 97})}, "roles: {} and {'bos': 97}"),
    "ends": ({"facts": TokenFacts(ends=(97,))}, "end ids: "),
    "chat": ({"facts": TokenFacts(chat_template="a\nb")}, "chat template 'default', line 1: '' "),
}  # fmt: skip
WITHOUT_TEXT = {"template", "truncation", "padding", "trim", "roles", "ends", "chat"}
"""The changes that change no ids."""


@pytest.mark.parametrize("name", CHANGES)
def test_each_part(name: str) -> None:
    changes, expected = CHANGES[name]
    first, second = made("python"), made("python", **changes)
    found = bpe.compare(first, second, texts=200)
    assert found
    assert expected in str(found)
    assert (found.example is None) == (name in WITHOUT_TEXT), found.example
    if found.example is not None and found.example.decoded is None:
        text, special, ids, other_ids, *_ = found.example
        assert first.encode(text, special) == ids
        assert second.encode(text, special) == other_ids
    else:
        assert f"ids: equal for all {found.texts} compared texts" in str(found)
    record = json.loads(json.dumps(found.to_dict()))
    assert record["texts"] == found.texts
    assert bool(record["parts"]) == bool(found.parts)


def test_equal_tokenizers(backend: BackendName, tmp_path: Path) -> None:
    tok = made(backend)
    tok.save(tmp_path / "a.json")
    found = bpe.compare(tok, tmp_path / "a.json", texts=50)
    assert not found
    assert str(found) == f"no difference; {found.texts:,} texts have equal ids"


def test_names_and_presets(tmp_path: Path) -> None:
    for name, pairs in (("a", PAIRS), ("b", PAIRS[:-1])):
        tok = made("python", made_vocabulary(pairs), special=())
        tok.save(tmp_path / f"{name}.tiktoken")
    first, second = str(tmp_path / "a.tiktoken"), tmp_path / "b.tiktoken"
    found = bpe.compare(first, second, preset="cl100k", texts=20)
    assert found.names == (first, str(second))
    assert found.only_in_first == ((b"\r\n", 263),)
    assert found.merges is not None
    assert (found.merges.rank, found.merges.merge) == (7, (b"\r", b"\n"))
    assert found.merges.other_merge is None
    with pytest.raises(bpe.MissingPresetError):
        bpe.compare(first, second)


def test_a_moved_token() -> None:
    first = made("python", made_vocabulary(PAIRS[:2]), special=())
    second = made("python", made_vocabulary(PAIRS[1::-1]), special=())
    found = bpe.compare(first, second, texts=20)
    assert found.moved == ((b"ab", 256, 257), (b" t", 257, 256))
    assert found.example is not None
    assert len(found.example.text) == 2


def test_files_of_one_vocabulary(native: BackendName) -> None:
    """Two formats of Llama 2 have equal ids, but different steps."""
    found = bpe.compare(loaded("Llama 2 (JSON)"), loaded("Llama 2"), texts=300)
    assert found.example is None
    assert found.only_in_first == found.only_in_second == ()
    assert (len(found.moved), len(found.changed)) == (0, 0)
    parts = {part.part for part in found.parts}
    assert parts == {"model", "normalizer", "decoder", "template", "roles"}


def test_an_upgrade_with_a_wrong_id(tmp_path: Path) -> None:
    """A file whose added token has got another flag and whose two merges are swapped."""
    tok = made("python", preset="gpt2")
    tok.save(tmp_path / "old.json")
    file = json.loads((tmp_path / "old.json").read_text(encoding="utf-8"))
    file["added_tokens"][0]["rstrip"] = True
    file["model"]["merges"][1:3] = file["model"]["merges"][2:0:-1]
    (tmp_path / "new.json").write_text(json.dumps(file), encoding="utf-8")
    found = bpe.compare(tmp_path / "old.json", tmp_path / "new.json", texts=100)
    assert found.merges is not None
    assert (found.merges.only_in_first, found.merges.rank) == (0, 1)
    assert [(token.rstrip, other.rstrip) for token, other in found.changed] == [(False, True)]
    assert found.example is not None
    assert "<|end|>" in found.example.text

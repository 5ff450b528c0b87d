"""Damaged tokenizer.json and tekken.json files: errors, or ids as in the original engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import BpeError, Tokenizer
from support import sample, seeded
from tekken_files import listed, tekken
from text_models import CASES, file_of

# A damaged id of an added token causes a warning.
pytestmark = pytest.mark.filterwarnings("ignore::bpe.VocabularyWarning")

TEXTS = ["", "the quick  Hello<s> foo<sep> a b\n", "é①ﬁ日本\x00 1234 'S don't "]


def _changed(data: bytes, key: str) -> list[bytes]:
    """Return `data` with one bit changed, or truncated, at places that `sample` chooses."""
    random = seeded(key)
    places = sample(range(len(data)), 12)
    flips = [data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
             for at in places]  # fmt: skip
    return flips + [data[:at] for at in places[::4]]


def _loaded(path: Path, data: bytes) -> Tokenizer | None:
    """Return the tokenizer of a file, or None if it raises an error that names the file."""
    path.write_bytes(data)
    try:
        return bpe.load(path)
    except BpeError as error:
        return None if str(path) in str(error) else pytest.fail(str(error))


def _ids(tokenizers: Any, data: bytes) -> list[list[int]] | None:
    """Return the ids of TEXTS by Hugging Face's tokenizers, or None if it fails."""
    try:
        live = tokenizers.Tokenizer.from_buffer(data)
        return [live.encode(text, add_special_tokens=False).ids for text in TEXTS]
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic in Rust is not an Exception
        return None


@pytest.mark.parametrize("case", CASES)
def test_tokenizer_json(tmp_path: Path, case: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    file = file_of(**CASES[case])
    # Most of the file is its vocabulary, so also change the other parts alone.
    parts = json.dumps({**file, "model": {**file["model"], "vocab": None, "merges": None}})
    empty = '"vocab": null, "merges": null'
    entries = json.dumps({name: file["model"][name] for name in ("vocab", "merges")})[1:-1]
    assert empty in parts
    damaged = [
        part.replace(empty.encode(), entries.encode()) for part in _changed(parts.encode(), case)
    ]
    whole = json.dumps(file).encode()
    damaged += [whole, *_changed(whole, f"whole {case}")]
    compared = 0
    for data in damaged:
        ours = _loaded(tmp_path / "tokenizer.json", data)
        expected = None if ours is None else _ids(tokenizers, data)
        if ours is not None and expected is not None:
            assert [ours.encode(text, "allow") for text in TEXTS] == expected, data
            compared += 1
    assert compared


def test_tekken_json(tmp_path: Path) -> None:
    module: Any = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    special = listed("<unk>", "<s>", "</s>", "[A]")
    whole = json.dumps(tekken(special_tokens=special, version="v13")).encode()
    start, end = whole[:-1500], whole[-1500:]
    damaged = [whole, *_changed(whole, "tekken")]
    damaged += [start + changed for changed in _changed(end, "end of tekken")]
    compared = 0
    for data in damaged:
        ours = _loaded(tmp_path / "tekken.json", data)
        try:
            live = module.Tekkenizer.from_file(tmp_path / "tekken.json")
        except Exception:  # it also fails with errors of the JSON library
            continue
        for text in TEXTS if ours is not None else ():
            assert ours is not None
            expected = live.encode(text, bos=False, eos=False)
            assert ours.encode(text, "text") == expected, (data, text)
            compared += 1
    assert compared

"""Ids of golden cases, recorded from tiktoken, for real vocabularies."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any

import pytest

from bpe import SpecialTokenError, Tokenizer
from paths import shared
from pretok.machine.backend import BackendName
from support import sample
from vocabularies import SOURCES, qwen2_with_merges, specials, tokenizer, vocabulary

FILES = {  # the golden file of each vocabulary
    "r50k": "r50k",
    "p50k": "r50k",
    "cl100k": "cl100k",
    "o200k": "o200k",
    "llama3": "llama3",
    "qwen2": "qwen2",
}


@cache
def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in shared("golden", name).read_text().splitlines()]


@pytest.mark.parametrize(("name", "file"), FILES.items())
def test_ids_of_every_case(backend: BackendName, name: str, file: str) -> None:
    tok = tokenizer(name, backend)
    cases = [row for row in rows(f"golden_{file}.jsonl") if name in row["ids"]]
    assert len(cases) > 1000
    for row in cases:
        assert tok.encode(row["text"], "text") == row["ids"][name], row["id"]
    for row in sample(cases, 300):
        text, ids = row["text"], row["ids"][name]
        data = text.encode("utf-8", "replace")
        same = ids if data.decode() == text else tok.encode(data.decode(), "text")
        assert tok.encode(data, "text") == same
        assert tok.count(text, "text") == len(ids)
    texts = [row["text"] for row in cases]
    wanted = [row["ids"][name] for row in cases]
    assert tok.encode_batch(texts, "text", threads=2) == wanted
    for text, ids in zip(texts, wanted, strict=True):
        assert tok.decode(ids) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_ids_of_every_case_with_the_merges_of_qwen2(backend: BackendName) -> None:
    tok = qwen2_with_merges(backend)
    changed = {row["text"]: row["ids_with_NFC"] for row in rows("golden_qwen2_nfc.jsonl")}
    assert len(changed) > 10
    for text, ids in changed.items():
        assert tok.encode(text, "text") == ids
    cases = rows("golden_qwen2.jsonl")
    for row in cases:
        if row["text"] not in changed:
            assert tok.encode(row["text"], "text") == row["ids"]["qwen2"], row["id"]
    texts = [row["text"] for row in cases]
    wanted = [changed.get(row["text"], row["ids"]["qwen2"]) for row in cases]
    assert tok.encode_batch(texts, "text", threads=3) == wanted


def special_cases(name: str) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Return the special tokens of an encoding, and its cases."""
    found = [row for row in rows("golden_special.jsonl") if row["encoding"] == name]
    tokens: dict[str, int] = found[0]["special_tokens"]
    assert len(found) == 25
    return tokens, found


@pytest.mark.parametrize(
    "name", ["r50k", "p50k_edit", "cl100k", "o200k", "o200k_harmony", "llama3", "qwen2"]
)
def test_special_tokens(backend: BackendName, name: str) -> None:
    tokens, found = special_cases(name)
    source = SOURCES[name]
    tok = Tokenizer(
        vocabulary(source.file), source.preset, added_tokens=specials(tokens), backend=backend
    )
    first = next(iter(tokens))
    for row in found:
        text = row["text"]
        assert tok.encode(text, "allow") == row["ids_all_allowed"]
        assert tok.encode(text, set(tokens)) == row["ids_all_allowed"]
        assert tok.encode(text, "text") == tok.encode(text, set()) == row["ids_as_text"]
        assert tok.encode(text, {first}) == row["ids_only_first"]
        places = {text.find(token): token for token in tokens if token in text}
        if places:
            with pytest.raises(SpecialTokenError) as caught:
                tok.encode(text)
            assert caught.value.position == min(places)
            assert caught.value.token == places[min(places)]
        else:
            assert tok.encode(text) == row["ids_as_text"]
        assert tok.decode(tok.encode(text, "allow")) == text


@pytest.mark.parametrize("name", ["r50k", "cl100k", "o200k", "llama3"])
def test_bytes_that_are_not_utf8(backend: BackendName, name: str) -> None:
    """The ids decode to the bytes, and so do the ids that tiktoken gave.

    The ids may differ: tiktoken and bpe.compat.tiktoken merge the bytes after the last valid text
    as one pre-token.
    """
    tok = tokenizer(name, backend)
    found = [row for row in rows("golden_bytes.jsonl") if row["encoding"] == name]
    assert len(found) == 32
    for row in found:
        data = base64.b64decode(row["bytes_b64"])
        assert tok.decode_bytes(tok.encode(data, "text")) == data
        assert tok.decode_bytes(row["ids"]) == data


def test_ids_of_examples_in_tutorials(backend: BackendName) -> None:
    # These ids are from tiktoken. Some tutorials print other ids.
    r50k = tokenizer("r50k", backend)
    assert r50k.encode("    hello world!!!") == [220, 220, 220, 23748, 995, 10185]
    assert r50k.encode("\u3053\u3093\u306b\u3061\u306f") == [46036, 22174, 28618, 2515, 94, 31676]
    cl100k = tokenizer("cl100k", backend)
    assert cl100k.encode("    hello world!!!") == [262, 24748, 1917, 12340]
    assert [r50k.encode("DeepSeek"), cl100k.encode("DeepSeek")].count([29744, 4653, 988]) == 1

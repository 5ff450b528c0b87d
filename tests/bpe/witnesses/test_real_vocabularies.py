"""The tokens of published vocabularies by kind, and their witnesses in other engines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import bpe
import vocabularies
from bpe import Reachability, Tokenizer
from paths import shared
from support import FULL, seeded

Encode = Callable[[str], list[int]]
SAMPLE = 2000

COUNTS: dict[str, dict[str, int]] = {
    "cl100k": {"alone": 99483, "context": 760, "added": 5, "bytes": 13},
    "o200k": {"alone": 198424, "context": 1560, "added": 2, "bytes": 13, "split": 1},
    "llama3": {"alone": 126648, "context": 1338, "added": 5, "bytes": 13, "split": 1},
    "qwen2": {
        "alone": 148279, "context": 1432, "added": 3, "bytes": 17, "split": 1667, "normalizer": 248,
    },
    "deepseek": {"alone": 99414, "context": 566, "added": 2400, "hidden": 20},
    "gpt-neox": {"alone": 49547, "context": 483, "added": 25, "bytes": 1, "hidden": 221},
    "llama2": {
        "alone": 16408, "context": 15479, "added": 3, "bytes": 14, "normalizer": 1, "fallback": 95,
    },
    "llama2.model": {
        "alone": 16408, "context": 15479, "added": 3, "normalizer": 1, "fallback": 109,
    },
}  # fmt: skip

NAMES = [name for name in COUNTS if FULL or name not in ("o200k", "llama3")]


def made(name: str) -> Tokenizer:
    """Return a published tokenizer."""
    if name == "qwen2":
        return vocabularies.qwen2_with_merges("native")
    files = {
        "deepseek": ("gguf", "ggml-vocab-deepseek-llm.gguf"),
        "gpt-neox": ("hf", "gpt_neox.json"),
        "llama2": ("hf", "llama2.json"),
        "llama2.model": ("spm", "llama2.model"),
    }
    if name in files:
        return bpe.load(shared("vocabs", *files[name]))
    return vocabularies.tokenizer(name, "native")


@cache
def found_in(name: str) -> Reachability:
    """Return the reachability of a published vocabulary."""
    return bpe.reachability(made(name))


@pytest.mark.parametrize("name", NAMES)
def test_counts(name: str) -> None:
    counts = found_in(name).counts.items()
    assert {kind: size for kind, size in counts if size} == COUNTS[name]


def engine(name: str) -> Encode:
    """Return a function that encodes with the engine that publishes the vocabulary."""
    if name in ("cl100k", "o200k", "llama3"):
        live = vocabularies.live(name)
        return lambda text: live.encode(text, allowed_special="all")
    files = {"gpt-neox": "gpt_neox.json", "llama2": "llama2.json"}
    if name == "llama2.model":
        sentencepiece = pytest.importorskip("sentencepiece")
        processor = sentencepiece.SentencePieceProcessor(
            model_file=str(shared("vocabs", "spm", "llama2.model"))
        )
        return processor.encode  # type: ignore[no-any-return]
    live = vocabularies.live_qwen2() if name == "qwen2" else (
        vocabularies.live_huggingface(files[name])
    )  # fmt: skip

    def encode(text: str) -> list[int]:
        ids: list[int] = live.encode(text, add_special_tokens=False).ids
        return ids

    return encode


@pytest.mark.parametrize("name", [name for name in NAMES if name != "deepseek"])
def test_witnesses_in_the_engine(name: str) -> None:
    found = found_in(name)
    encode = engine(name)
    control = {"llama2.model": ("added",)}.get(name, ())  # sentencepiece never encodes them
    records = [
        record for record in found if isinstance(record.witness, str) and record.kind not in control
    ]
    rare = [record for record in records if record.kind != "alone"]
    if not FULL:
        random = seeded(name)
        records = random.sample(records, SAMPLE) + random.sample(rare, min(SAMPLE, len(rare)))
    for record in records:
        assert isinstance(record.witness, str)
        ids = encode(record.witness)
        assert record.id in ids, record
        assert (record.kind == "alone") <= (ids == [record.id]), record


@pytest.mark.parametrize("name", ["cl100k", "qwen2", "gpt-neox"])
def test_dead_tokens_in_a_text(name: str) -> None:
    """No text of the shared folder has a token that is proven unreachable."""
    dead = set(found_in(name).unreachable)
    tok = made(name)
    for text in ("multilingual", "udhr", "whitespace", "naughty_strings", "emoji"):
        ids = tok.encode(shared("texts", f"{text}.txt").read_text("utf-8"), "allow")
        assert dead.isdisjoint(ids)


def test_naive_test_misses_tokens() -> None:
    """Contexts reach tokens that encode(decode(id)) == [id] calls unreachable."""
    tok = made("cl100k")
    found = found_in("cl100k")
    missed = [
        record for record in found
        if isinstance(record.witness, str)
        and tok.encode(tok.decode([record.id]), "allow") != [record.id]
    ]  # fmt: skip
    assert len(missed) == 760
    assert {record.kind for record in missed} == {"context"}


def test_unknown_id_and_kind() -> None:
    found: Any = found_in("cl100k")
    with pytest.raises(bpe.UnknownTokenError, match="no token has the id 100256"):
        found.witness(100256)
    with pytest.raises(ValueError, match="expected one of alone, context"):
        found.of_kind("never")
    with pytest.raises(TypeError, match="expected a Tokenizer, got Vocabulary"):
        bpe.reachability(made("cl100k").vocabulary)  # type: ignore[arg-type]

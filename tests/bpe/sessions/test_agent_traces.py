"""Agents that work for many turns: after each turn, the ids of a new encode by another engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import bpe
import vocabularies
from bpe import Tokenizer
from bpe.types import Ids
from conversions import loaded
from paths import shared
from support import FULL, seeded

TURNS = 128 if FULL else 12
LARGEST = 4096 if FULL else 1000
TEXTS = ("english.txt", "code.txt", "json.txt", "cjk.txt", "logs.txt", "crlf.txt")
NAMES = (
    ["Qwen2", "Llama 3", "cl100k", "DeepSeek LLM (GGUF)", "Llama 2 (JSON)"]
    if FULL
    else ["cl100k", "Llama 2 (JSON)"]
)
Encode = Callable[[str], Ids]


def engines(name: str, folder: Path) -> tuple[Tokenizer, Encode]:
    """Return our tokenizer, and the function of tiktoken or tokenizers that gives its ids."""
    if name == "cl100k":
        encoding = vocabularies.live(name)
        ours = vocabularies.tokenizer(name, "native")
        return ours, lambda text: np.array(encoding.encode(text, allowed_special="all"), np.uint32)
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    ours = vocabularies.qwen2_with_merges("native") if name == "Qwen2" else loaded(name)
    if name == "Qwen2":
        live = vocabularies.live_qwen2()
    else:
        path = shared("vocabs", "hf", "llama2.json")
        if name != "Llama 2 (JSON)":
            path = folder / "tokenizer.json"
            if name.startswith("DeepSeek"):  # some added tokens of this file decode otherwise
                special = [token for token in ours.added_tokens if token.special]
                ours = Tokenizer(ours.vocabulary, "deepseek-llm", added_tokens=special)
            bpe.convert(ours, path, texts=0)
        live = tokenizers.Tokenizer.from_file(str(path))
    return ours, lambda text: np.array(live.encode(text, add_special_tokens=False).ids, np.uint32)


class Turn(NamedTuple):
    """One turn: all text up to the answer of the model, the answer, and the text after it."""

    prompt: str
    answer: str
    after: str


def trace(random: Random, end: str) -> Iterator[Turn]:
    """Yield the turns of an agent; each prompt begins with the last turn, with changes."""
    sources = [shared("texts", name).read_bytes().decode("utf-8", "replace") for name in TEXTS]

    def part(size: int) -> str:
        source = random.choice(sources)
        start = random.randrange(len(source) - size)
        return source[start : start + size]

    def few() -> str:
        return part(round(16 * (LARGEST / 16) ** random.random()))

    text = f"{end}system\nDate: Monday\n{part(2 * LARGEST)}{end}"
    for turn in range(TURNS):
        after = f"\nuser: {few()}" if turn % 4 == 0 else f"\ntool: {few()}"
        text += f"{after}{end}assistant\n"
        answer = f"Answer {few()}{end}"
        yield Turn(text, answer, f"\nresult: {few()}{end}")
        if random.random() < 0.3:  # the template rewrites its tail
            text = text[: -len("assistant\n")] + "<think>\n\n</think>\n"
        text += answer
        if random.random() < 0.1:  # a new date, and a summary in place of the middle
            text = text.replace("Monday", "Tuesday", 1)
            text = f"{text[: len(text) // 4]}\nSummary: {few()}\n{text[len(text) // 2 :]}"


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_those_of_a_new_encode(name: str, tmp_path: Path, native: Any) -> None:
    ours, encode = engines(name, tmp_path)
    end = next(token.content for token in ours.added_tokens if token.special)
    session = ours.session(special="allow")
    cache = bpe.PromptCache(ours, 4 << 20)
    kept: list[int] = []
    for turn in trace(seeded(f"agent {name}"), end):
        expected = encode(turn.prompt)
        session.update(turn.prompt).apply(kept)
        assert kept == expected.tolist()
        found = cache.encode(turn.prompt, "allow")
        assert np.array_equal(found.ids, expected)
        # The model says the ids that belong to its answer; then more text comes.
        whole = encode("".join(turn))
        sampled = ours.encode_array(turn.answer, "allow", continuation=True)
        spliced = ours.splice(expected, sampled, turn.after, special="allow")
        assert np.array_equal(spliced.ids, whole)
        # Llama 2 puts a space before text after an added token, so this text decodes with a space,
        # and encoding it would put one more.
        assert name.startswith("Llama 2") or spliced.drift is None
    assert cache.stats.ids_reused > 0.4 * cache.stats.ids

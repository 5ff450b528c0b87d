"""A program that drops a tokenizer frees all memory of bpe for it, after any calls."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import huggingface_pairs as pairs
import transformers_calls as calls
from support import max_examples, seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
classes = importlib.import_module("bpe.compat.huggingface.transformers_classes")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("one_thread", "no_logs"),
]


def living() -> Counter[str]:
    """Return the number of living objects of each class of bpe, pretok and the libraries."""
    gc.collect()
    kinds = (type(item) for item in gc.get_objects())
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
    return Counter(
        name
        for name in names
        if name.startswith(("bpe.", "pretok.", "tokenizers.", "transformers."))
    )


def serve(tok: Any, number: int) -> None:
    """Load, copy, change and call tokenizers, and drop them."""
    loaded = pickle.loads(pickle.dumps(tok))
    loaded.add_tokens([f"<x{number}>"])
    copied = copy.deepcopy(loaded)
    copied.add_special_tokens({"additional_special_tokens": [f"<y{number}>"]})
    for each in (loaded, copied):
        texts = f"the fox <x{number}>", f"<y{number}> the é"
        each(list(texts), padding=True, return_tensors="np")
        result = each(texts[0], return_offsets_mapping=True)
        result.encodings[0].tokens  # noqa: B018  # has the alignment computed
        each.decode(each.encode(texts[1]))
        each("the", "fox", truncation=True, max_length=2, stride=0)
    handle = copied._tokenizer.normalizer, copied._tokenizer.pre_tokenizer
    del handle
    copied("the")


def test_dropped_tokenizers_leave_nothing_behind(tok: Any) -> None:
    state = importlib.import_module("bpe.compat.huggingface.state")
    with hf.patched():
        for number in range(3):
            serve(tok, number)
        before = living()
        engines_before = len(state._engines)  # other tests may keep tokenizers
        for number in range(max_examples(30)):
            serve(tok, number)
        after = living()
        engines = len(state._engines)
    assert engines <= engines_before
    assert {
        name: count - before[name] for name, count in after.items() if count > before[name]
    } == {}


def test_random_calls_leave_nothing_behind(tmp_path: Path) -> None:
    def call(seed: int) -> None:
        random = seeded(f"memory {seed}")
        settings = calls.random_settings(random)
        tok = calls.make(pairs.random_tokenizer(random), settings, tmp_path)
        for _ in range(30):
            calls.outcome(tok, calls.random_call(random))

    with hf.patched():
        for seed in range(5):
            call(seed)
        before = living()
        for seed in range(max_examples(20)):
            call(seed)
        after = living()
    assert {
        name: count - before[name] for name, count in after.items() if count > before[name]
    } == {}


@pytest.mark.parametrize("refers", [True, False])
def test_dropped_classes_are_not_kept(tok: Any, refers: bool) -> None:
    def own() -> Any:
        class Own(type(tok)):  # type: ignore[misc]
            pass

        cached = copy.copy(tok)
        cached.__class__ = Own
        if refers:
            Own.example = cached
        assert cached("the")["input_ids"] == ids
        cached.clean_up_tokenization_spaces = True
        cached.decode([5])
        return weakref.ref(Own)

    ids = tok("the")["input_ids"]
    with hf.patched():
        dropped = [own() for _ in range(3 * classes.MAX_MADE)]
        gc.collect()
        living = sum(each() is not None for each in dropped)
        assert living <= (classes.MAX_MADE if refers else 0)
        assert tok("the")["input_ids"] == ids

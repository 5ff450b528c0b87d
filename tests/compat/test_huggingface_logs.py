"""A patched tokenizer of transformers logs and warns as the plain one."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import huggingface_pairs as pairs
import transformers_calls as calls
from support import max_examples, seeded

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
transformers_logging = importlib.import_module("transformers.utils.logging")
pytestmark = pytest.mark.usefixtures("one_thread")

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
LONG = "the quick brown fox " * 9
CALLS: tuple[Call, ...] = (
    ("decode", ([1.5],), {}),
    ("batch_decode", ([[5, 6], [7]],), {}),
    ("decode", ([5],), {}),
    ("decode", ([5],), {"clean_up_tokenization_spaces": True}),
    ("decode", (5,), {}),
    ("decode", (np.array([[5], [6]]),), {}),
    ("batch_decode", ([5, 6],), {}),
    ("batch_decode", ([],), {}),
    ("decode", ([10**9],), {"skip_special_tokens": True}),
    ("__call__", (LONG,), {}),
    ("__call__", (LONG,), {"return_offsets_mapping": True}),
    ("__call__", ([LONG, "a"],), {"padding": True, "return_tensors": "np"}),
    ("__call__", ([LONG, "a"],), {"padding": True, "max_length": 3}),
    ("__call__", ([LONG, "a"],), {"padding": True, "max_length": 3, "verbose": False}),
    ("__call__", (LONG,), {"max_length": 3}),
    ("__call__", (LONG,), {"truncation": True}),
    ("__call__", (LONG,), {"truncation": True, "max_length": 3, "stride": 1}),
    ("__call__", ("a", "b"), {"truncation": "only_second", "max_length": 1}),
    ("__call__", ("a",), {"padding": "max_length", "pad_to_max_length": True}),
    ("__call__", (["the", "fox"],), {"is_split_into_words": True, "unknown_option": 1}),
    ("encode", (LONG,), {}),
    ("encode", (LONG,), {"verbose": False}),
    ("encode", (LONG,), {"max_length": 4, "unknown_option": 1}),
    ("encode_plus", (LONG,), {}),
    ("batch_encode_plus", ([LONG],), {}),
    ("pad", ({"input_ids": [[5], [5, 6]]},), {"padding": True}),
    ("prepare_for_model", ([5, 6],), {}),
    ("convert_ids_to_tokens", ([5, 10**6],), {"skip_special_tokens": True}),
    ("convert_tokens_to_ids", (["zz"],), {}),
    ("tokenize", (LONG,), {}),
    ("add_tokens", (["<new>"],), {}),
    ("__call__", (LONG,), {}),
)
"""Calls for which transformers logs or warns, and some like them for which it does not."""


class Records(logging.Handler):
    """Collects what is logged, except by bpe."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[Any, ...]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Collect a record."""
        name = record.name
        if not name.startswith("bpe."):
            place = record.filename, record.lineno
            self.seen.append((name, record.levelname, record.getMessage(), place))


@pytest.fixture
def records() -> Iterator[Records]:
    """Return what transformers logs from here on, at each level."""
    handler = Records()
    logger = logging.getLogger("transformers")
    before = logger.level, logger.handlers[:], logger.propagate
    logger.setLevel(logging.DEBUG)
    logger.handlers[:], logger.propagate = [handler], False
    yield handler
    logger.level, logger.handlers[:], logger.propagate = before
    logger.setLevel(before[0])


def messages(
    tok: Any, all_calls: list[Call], records: Records, patched: Callable[[], Any]
) -> list[Any]:
    """Return what each call logs and warns."""
    for name in ("warning_once", "info_once"):
        if hasattr(transformers_logging, name):
            getattr(transformers_logging, name).cache_clear()
    found = []
    context: AbstractContextManager[Any] = patched()
    with context:
        for call in all_calls:
            records.seen.clear()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                calls.outcome(tok, call)
            warned = [
                (each.category, str(each.message), each.filename, each.lineno) for each in caught
            ]
            found.append((call, records.seen[:], warned))
    return found


@pytest.mark.parametrize("limit", [4, 512])
@pytest.mark.parametrize("cleans_up", [True, False])
def test_known_messages(limit: int, cleans_up: bool, records: Records, tmp_path: Path) -> None:
    settings = {
        "pad_token": "<pad>",
        "model_max_length": limit,
        "clean_up_tokenization_spaces": cleans_up,
    }
    serialized = pairs.base()
    for all_calls in (list(CALLS), list(reversed(CALLS)), [*CALLS[1:3], *CALLS[1:3]]):
        plain, ours = (calls.make(serialized, settings, tmp_path) for _ in range(2))
        expected = messages(plain, all_calls, records, nullcontext)
        assert messages(ours, all_calls, records, hf.patched) == expected
        if limit == 4 and len(all_calls) == len(CALLS):
            assert sum(len(logged) + len(warned) for _, logged, warned in expected) >= 3


@pytest.mark.parametrize("seed", range(max_examples(20)))
def test_random_calls_log_the_same(seed: int, records: Records, tmp_path: Path) -> None:
    random = seeded(f"logs {seed}")
    serialized, settings = pairs.random_tokenizer(random), calls.random_settings(random)
    plain, ours = (calls.make(serialized, settings, tmp_path) for _ in range(2))
    all_calls = [calls.random_call(random) for _ in range(20)]
    expected = messages(plain, all_calls, records, nullcontext)
    got = messages(ours, all_calls, records, hf.patched)
    for theirs, own in zip(expected, got, strict=True):
        assert own[1:] == theirs[1:], own[0]

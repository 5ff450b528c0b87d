"""Each use of a tokenizer by a server or data loader gives the same results with the patch."""

from __future__ import annotations

import copy
import importlib
import json
import os
import pickle
import queue
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import huggingface_pairs as pairs
import transformers_calls as calls
from huggingface_features import outcome, plain

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_logs")]

TEXT = "the é quick 🦙 fox 日本"
Behavior = Callable[[Any], Any]
BEHAVIORS: list[Behavior] = []


def behavior(function: Behavior) -> Behavior:
    """Register a function that uses a tokenizer as a program does, and returns its results.

    The result must not depend on the patch.
    """
    BEHAVIORS.append(function)
    return function


@pytest.mark.parametrize("run", BEHAVIORS, ids=lambda run: run.__name__)
def test_behavior(run: Behavior, tmp_path: Path) -> None:
    file = json.loads(pairs.base())
    size = len(file["model"]["vocab"])
    file["added_tokens"] = [
        {"id": id, **dict.fromkeys(pairs.FLAGS, False), **token}
        for id, token in enumerate(pairs.ADDED[:4], size)
    ]
    settings = {"pad_token": "<pad>", "eos_token": "</s>"}
    expected = run(calls.make(json.dumps(file), settings, tmp_path))
    with hf.patched():
        tok = calls.make(json.dumps(file), settings, tmp_path)
        assert run(tok) == expected
        assert hf.engine(tok).name == "bpe"


def _steps(stream: Any, backend: Any, ids: list[int]) -> list[Any]:
    """Return what the stream returns or raises for each id."""
    return [outcome(stream.step, backend, id) for id in ids]


@behavior
def vllm_detokenizes_step_by_step(tok: Any) -> Any:
    prompt, answer = tok(TEXT)["input_ids"], tok(" brown 🦙<s>")["input_ids"]
    # The patch replaces the class in its module, so look it up there in each run.
    stream = tokenizers.decoders.DecodeStream(ids=prompt, skip_special_tokens=True)
    # Embeddings have more rows than the vocabulary, so a model may generate these ids.
    beyond = [len(tok), len(tok) + 100]
    return _steps(stream, tok._tokenizer, [*answer, *beyond, -1, 1 << 32, *answer])


@behavior
def vllm_starts_a_stream_within_a_character(tok: Any) -> Any:
    ids = tok(TEXT)["input_ids"]
    return [
        _steps(
            tokenizers.decoders.DecodeStream(ids=ids[:cut], skip_special_tokens=skip),
            tok._tokenizer,
            ids[cut:],
        )
        for cut in range(len(ids))
        for skip in (True, False)
    ]


@behavior
def vllm_stores_an_attribute_on_the_backend(tok: Any) -> Any:
    added = {str(token): id for id, token in tok.added_tokens_decoder.items()}
    tok._tokenizer.added_token_ids = added
    return tok._tokenizer.added_token_ids, getattr(tok._tokenizer, "no_such_attribute", None)


@behavior
def vllm_caches_properties_by_a_class_of_its_own(tok: Any) -> Any:
    vocab, ids = tok.get_vocab(), tok.all_special_ids

    class CachedTokenizer(type(tok)):  # type: ignore[misc]
        @property
        def all_special_ids(self) -> list[int]:
            return ids  # type: ignore[no-any-return]

        def get_vocab(self) -> dict[str, int]:
            return vocab  # type: ignore[no-any-return]

        def __len__(self) -> int:
            return len(vocab)

    cached = copy.copy(tok)
    cached.__class__ = CachedTokenizer
    row = cached(TEXT)["input_ids"]
    return row, cached.decode(row, skip_special_tokens=True), len(cached), cached.encode("é")


@behavior
def vllm_borrows_tokenizers_from_a_pool(tok: Any) -> Any:
    pool: queue.Queue[Any] = queue.Queue()
    for _ in range(3):
        pool.put(copy.deepcopy(tok))

    def encode(max_length: int) -> Any:
        borrowed = pool.get()
        try:
            return borrowed(TEXT, truncation=True, max_length=max_length)["input_ids"]
        finally:
            pool.put(borrowed)

    with ThreadPoolExecutor(3) as threads:
        return list(threads.map(encode, range(1, 20)))


@behavior
def vllm_encodes_the_new_part_of_a_conversation(tok: Any) -> Any:
    backend = tok._tokenizer
    normalizer = backend.normalizer
    return [
        backend.pre_tokenizer.pre_tokenize_str(TEXT),
        None if normalizer is None else normalizer.normalize_str(TEXT),
        backend.encode(TEXT, add_special_tokens=False).offsets,
        tok(TEXT, return_offsets_mapping=True)["offset_mapping"],
    ]


@behavior
def sglang_repairs_components(tok: Any) -> Any:
    backend = tok._tokenizer
    file = json.loads(backend.to_str())
    raw = tokenizers.Tokenizer.from_str(backend.to_str())
    assert type(backend.pre_tokenizer).__name__ == file["pre_tokenizer"]["type"]
    backend.pre_tokenizer = raw.pre_tokenizer
    backend.decoder = raw.decoder
    added = tokenizers.AddedToken("<think>", special=True, normalized=False)
    number = tok.add_tokens([added], special_tokens=True)
    return number, backend.normalizer, tok.encode(TEXT + "<think>"), backend.to_str()


@behavior
def sglang_decodes_two_windows(tok: Any) -> Any:
    ids = tok(TEXT)["input_ids"]
    rows = [ids[start : start + 5] for start in range(len(ids))]
    return [
        tok.batch_decode(window, skip_special_tokens=skip, spaces_between_special_tokens=True)
        for window in (rows, [row[:2] for row in rows])
        for skip in (True, False)
    ]


@behavior
def sglang_encodes_a_batch_by_the_backend(tok: Any) -> Any:
    encodings = tok.backend_tokenizer.encode_batch([TEXT, "the"], add_special_tokens=True)
    return [encoding.ids for encoding in encodings], tok([TEXT, "the"])["input_ids"]


@behavior
def tensorrt_imports_the_stream_early(tok: Any) -> Any:
    module = sys.modules["an_early_importer"]
    stream = module.DecodeStream(skip_special_tokens=False)
    return _steps(stream, tok._tokenizer, tok(TEXT)["input_ids"])


@pytest.fixture(autouse=True)
def _early(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("an_early_importer")
    module.DecodeStream = tokenizers.decoders.DecodeStream  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)


@behavior
def xgrammar_reads_the_vocabulary(tok: Any) -> Any:
    again = tokenizers.Tokenizer.from_str(tok.backend_tokenizer.to_str())
    return (
        sorted(tok.get_vocab().items()),
        again.to_str() == tok.backend_tokenizer.to_str(),
        [tok.convert_ids_to_tokens(id) for id in range(len(tok) + 2)],
        tok.eos_token_id,
        isinstance(tok, importlib.import_module("transformers").PreTrainedTokenizerFast),
    )


@behavior
def vllm_converts_ids_one_by_one(tok: Any) -> Any:
    """The loop that decodes incrementally without a DecodeStream."""
    ids = [*tok.encode(TEXT + "<pad>"), 0, len(tok) - 1]
    wrong: list[Any] = [-1, [-1], ["a"], 1.5, None, [None], [[1]], 1 << 40, np.int64(3)]
    results: list[Any] = []
    for call in (
        *(partial(tok.convert_ids_to_tokens, ids, skip) for skip in (False, True)),
        *(partial(tok.convert_ids_to_tokens, each) for each in (5, True, np.array(ids), {3}, ())),
        *(partial(tok.convert_ids_to_tokens, each) for each in wrong),
        *(partial(tok.convert_tokens_to_ids, each) for each in ("a", "no token", ["a", "b"], [1])),
        partial(tok.convert_ids_to_tokens, (id for id in ids), skip_special_tokens=True),
        partial(len, tok),
    ):
        results.append(outcome(call))
    tok.add_tokens(["new"])
    return results, len(tok), tok.convert_tokens_to_ids("new"), tok.get_added_vocab()


@behavior
def llguidance_reads_bytes(tok: Any) -> Any:
    decoder = tok.backend_tokenizer.decoder
    return decoder.__class__.__name__, json.loads(decoder.__getstate__()), tok.decode([200])


@behavior
def datasets_hashes_a_function(tok: Any) -> Any:
    fresh = pickle.dumps(tok)
    tok(TEXT)
    after_a_call = pickle.dumps(tok)
    tok(TEXT, truncation=True, max_length=3)
    return fresh, after_a_call, pickle.dumps(tok)


@behavior
def datasets_maps_batches(tok: Any) -> Any:
    rows = {"text": [TEXT, "the", ""]}
    result = tok(rows["text"], truncation=True, max_length=4)
    return {**rows, **result}, list(result), plain(result)


@behavior
def a_worker_sends_a_batch(tok: Any) -> Any:
    batch = tok([TEXT, "the"], padding=True, return_tensors="np", return_offsets_mapping=True)
    again = pickle.loads(pickle.dumps(batch))
    assert [type(encoding) for encoding in again.encodings] == [tokenizers.Encoding] * 2
    return plain(again)


@behavior
def a_collator_pads_features(tok: Any) -> Any:
    features = [tok(TEXT), tok("the")]
    return plain(tok.pad(features, return_tensors="np")), features[0].word_ids()


@behavior
def generation_reads_special_tokens(tok: Any) -> Any:
    tok.add_special_tokens({"additional_special_tokens": ["<|im_end|>"]})
    ids = tok("the<|im_end|> fox")["input_ids"]
    return ids, tok.all_special_tokens, tok.decode(ids, skip_special_tokens=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_worker_sends_batches(tmp_path: Path) -> None:
    with hf.patched():
        tok = calls.make(pairs.base(), {"pad_token": "e"}, tmp_path)
        expected = tok([TEXT] * 8, padding=True, return_tensors="np")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                batch = tok([TEXT] * 8, padding=True, return_tensors="np")
                with os.fdopen(writer, "wb") as file:
                    pickle.dump(batch, file)
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as file:
            batch = pickle.load(file)
        os.waitpid(child, 0)
    assert plain(batch.data) == plain(expected.data)

"""Random transformers tokenizers and calls, to compare bpe.compat.huggingface with transformers."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import huggingface_pairs as pairs

_NAMES = ("convert_ids_to_tokens", "tokenize", "convert_tokens_to_ids", "__len__", "add_tokens",
          "add_special_tokens")  # fmt: skip


def make(serialized: str, settings: dict[str, Any], folder: Path) -> Any:
    """Return a PreTrainedTokenizerFast with this tokenizer.json."""
    from transformers import PreTrainedTokenizerFast

    path = folder / "tokenizer.json"
    path.write_text(serialized, encoding="utf-8")
    return PreTrainedTokenizerFast(tokenizer_file=str(path), **settings)


def random_settings(random: Random) -> dict[str, Any]:
    """Return random arguments of a PreTrainedTokenizerFast."""
    possible = {
        "pad_token": "<pad>",
        "bos_token": "<s>",
        "model_max_length": random.choice([4, 12, 512]),
        "padding_side": "left",
        "truncation_side": "left",
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": True,
        "split_special_tokens": True,
    }
    return {name: value for name, value in possible.items() if random.random() < 0.4}


def random_options(random: Random) -> dict[str, Any]:
    """Return random keyword arguments of `__call__`."""
    flag = random.choice([True, False])
    possible: dict[str, Any] = {
        "add_special_tokens": flag,
        "padding": random.choice([True, False, "longest", "max_length", "do_not_pad", "bogus"]),
        "truncation": random.choice([True, False, "only_first", "longest_first", "only_second"]),
        "max_length": random.choice([None, 0, 1, 2, 3, 5, 8, 16]),
        "padding_side": random.choice(["left", "right", None]),
        "pad_to_multiple_of": random.choice([None, 4, 8]),
        "return_tensors": random.choice(["np", "np", None, "xx"]),
        "return_attention_mask": flag,
        "return_token_type_ids": random.choice([True, False, None]),
        "return_offsets_mapping": True,
        "return_special_tokens_mask": True,
        "return_length": True,
        "split_special_tokens": flag,
        "verbose": flag,
    }
    rare = {"stride": 1, "return_overflowing_tokens": True, "is_split_into_words": True}
    options = {name: value for name, value in possible.items() if random.random() < 0.2}
    return options | {name: value for name, value in rare.items() if random.random() < 0.08}


def random_call(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the name of a method and its random arguments."""
    kind = random.randrange(12)
    if kind < 6:
        return "__call__", _texts(random), random_options(random)
    if kind < 8:
        return "encode", (pairs.random_text(random),), _few(random)
    ids: Any = [random.randrange(345) for _ in range(random.randrange(9))]
    options = {"skip_special_tokens": True} if random.random() < 0.4 else {}
    if random.random() < 0.3:
        options["clean_up_tokenization_spaces"] = random.random() < 0.5
    if kind < 10:
        shapes = [ids, tuple(ids), np.array(ids, np.int64), 5, [ids, ids[:2]], np.array([ids, ids])]
        return "decode", (random.choice(shapes),), options
    if kind == 10:
        return "batch_decode", ([ids, ids[1:]],), options
    arguments: dict[str, Any] = {
        "convert_ids_to_tokens": (ids,),
        "tokenize": (pairs.random_text(random),),
        "convert_tokens_to_ids": (["<s>", "zz"],),
        "__len__": (),
        "add_tokens": (["<a>", "  "],),
        "add_special_tokens": ({"additional_special_tokens": ["<x>", "<L>"]},),
    }
    name = random.choice(_NAMES)
    return name, arguments[name], {}


def _texts(random: Random) -> tuple[Any, ...]:
    text: Any = pairs.random_text(random)
    if random.random() < 0.5:
        text = [pairs.random_text(random) for _ in range(random.randrange(5))]
    if random.random() < 0.8:
        return (text,)
    return text, pairs.random_text(random) if isinstance(text, str) else list(text)


def _few(random: Random) -> dict[str, Any]:
    names = ("add_special_tokens", "padding", "truncation", "max_length", "return_tensors")
    options = random_options(random) if random.random() < 0.5 else {}
    return {name: value for name, value in options.items() if name in names}


def outcome(tok: Any, call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
    """Return what a call does: its result in plain values, or its exception."""
    name, args, kwargs = call
    return pairs.outcome(lambda tok: _plain(getattr(tok, name)(*args, **kwargs)), tok)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(_plain, value)]
    if hasattr(value, "encodings"):
        return {
            "data": [(name, _plain(item)) for name, item in value.data.items()],
            "n_sequences": value.n_sequences,
            "attributes": list(vars(value)),
            "encodings": [pairs.plain(encoding) for encoding in value.encodings],
        }
    return value if isinstance(value, (str, int, type(None))) else json.dumps(value)

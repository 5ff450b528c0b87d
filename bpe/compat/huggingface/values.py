"""Make the values of a BatchEncoding."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

RICH = ("return_offsets_mapping", "return_special_tokens_mask", "return_length")
"""The options for values besides ids, type ids and attention mask."""


def tensor_type(option: Any) -> str | None:
    """Return "np" or "pt" for `return_tensors`, "" for lists, and None for any other value.

    Returns "pt" only if torch is imported. A caller that uses tensors of PyTorch has imported it.
    """
    if option is None:
        return ""
    if option == "np":
        return "np"
    return "pt" if option == "pt" and hasattr(sys.modules.get("torch"), "from_numpy") else None


def wrapper(option: Any) -> Callable[[Any], Any]:
    """Return the function that converts an array to a tensor."""
    if tensor_type(option) == "pt":
        return sys.modules["torch"].from_numpy  # type: ignore[no-any-return]
    return lambda array: array


def lists(tok: Any, encodings: list[Any], options: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the values of a batch as lists, in the order of transformers."""
    get = options.get
    names = tok.model_input_names
    data: dict[str, list[Any]] = {"input_ids": [encoding.ids for encoding in encodings]}
    types, mask = get("return_token_type_ids"), get("return_attention_mask")
    if "token_type_ids" in names if types is None else types:
        data["token_type_ids"] = [encoding.type_ids for encoding in encodings]
    if "attention_mask" in names if mask is None else mask:
        data["attention_mask"] = [encoding.attention_mask for encoding in encodings]
    if get("return_special_tokens_mask", False):
        data["special_tokens_mask"] = [encoding.special_tokens_mask for encoding in encodings]
    if get("return_offsets_mapping", False):
        data["offset_mapping"] = [encoding.offsets for encoding in encodings]
    if get("return_length", False):
        data["length"] = [len(encoding) for encoding in encodings]
    return data


def tensors(data: dict[str, list[Any]], option: str) -> dict[str, Any] | None:
    """Return the values as tensors; None if rows differ in length, or are empty."""
    sizes = {len(ids) for ids in data["input_ids"]}
    if len(sizes) != 1 or 0 in sizes:
        return None
    wrap = wrapper(option)
    return {key: wrap(np.array(value, np.int64)) for key, value in data.items()}

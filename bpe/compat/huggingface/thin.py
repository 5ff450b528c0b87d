"""Short versions of the methods of transformers' tokenizers for their most frequent arguments.

Each passes every other call on to the method that it replaces. Truncation and padding of a call
reach bpe as arguments, so that threads do not change those of each other.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bpe.compat.huggingface import padded, settings
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.engine import Engine, pad
from bpe.compat.huggingface.errors import CallFallbackError
from bpe.compat.huggingface.state import State, state_of
from bpe.compat.huggingface.windows import Padding, Truncation
from bpe.types import Treatment

TESTED_VERSIONS = ("4.57.6", "5.23.0")
"""The versions of transformers whose methods these follow."""

_OPTIONS = frozenset(
    ("add_special_tokens", "padding", "truncation", "max_length", "padding_side",
     "pad_to_multiple_of", "return_tensors", "return_attention_mask", "return_token_type_ids",
     "return_offsets_mapping", "return_special_tokens_mask", "return_length",
     "split_special_tokens", "verbose")
)  # fmt: skip
_RICH = ("return_offsets_mapping", "return_special_tokens_mask", "return_length")
_CLEANS_BPE = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
_SHAPING = _OPTIONS - {"add_special_tokens", "verbose"}
_INNER = (
    "_encode_plus",
    "_decode",
    "_convert_encoding",
    "set_truncation_and_padding",
    "_get_padding_truncation_strategies",
    "_eventual_warn_about_too_long_sequence",
    "_switch_to_input_mode",
    # transformers 4
    "_call_one",
    "encode_plus",
    "batch_encode_plus",
    "_batch_encode_plus",
)
"""The methods that the short versions stand for; a class that replaces one keeps its own way."""


def methods(owner: Any) -> dict[str, Callable[..., Any]]:
    """Return the short methods for a class of transformers, by name."""
    version = importlib.import_module("transformers").__version__
    if version not in TESTED_VERSIONS:
        return {}
    names = ("__call__", "encode", "decode", "batch_decode")
    originals = {name: getattr(owner, name) for name in names}
    return _Thin(owner, originals, decodes_batches=not version.startswith("4.")).methods()


class _Thin:
    def __init__(
        self, owner: Any, originals: dict[str, Callable[..., Any]], decodes_batches: bool
    ) -> None:
        """Take the methods to replace; `decodes_batches` says whether decode takes batches."""
        base = importlib.import_module("transformers.tokenization_utils_base")
        self._batch_encoding = base.BatchEncoding
        self._no_padding = base.PaddingStrategy.DO_NOT_PAD
        self._max_length = base.PaddingStrategy.MAX_LENGTH
        self._no_truncation = base.TruncationStrategy.DO_NOT_TRUNCATE
        self._originals = originals
        self._decodes_batches = decodes_batches
        self._inner = {name: getattr(owner, name, None) for name in _INNER}
        self._plain: dict[type, bool] = {}
        self._warned: set[type] = set()

    def methods(self) -> dict[str, Callable[..., Any]]:
        """Return functions to set as methods of the class."""
        call_original, encode_original = self._originals["__call__"], self._originals["encode"]
        decode_original, batch_original = self._originals["decode"], self._originals["batch_decode"]
        decodes_batches = self._decodes_batches
        thin_call, thin_encode, thin_decode = self._call, self._encode, self._decode

        def __call__(self: Any, text: Any = None, *args: Any, **kwargs: Any) -> Any:
            result = None if args else thin_call(self, text, kwargs)
            return call_original(self, text, *args, **kwargs) if result is None else result

        def encode(self: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
            result = None if args else thin_encode(self, text, kwargs)
            return encode_original(self, text, *args, **kwargs) if result is None else result

        def decode(
            self: Any, token_ids: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any
        ) -> Any:
            result = None
            if not args:
                is_batch = None if decodes_batches else False
                result = thin_decode(self, token_ids, skip_special_tokens, kwargs, is_batch)
            if result is None:
                return decode_original(self, token_ids, skip_special_tokens, *args, **kwargs)
            return result

        def batch_decode(
            self: Any, sequences: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any
        ) -> Any:
            result = None
            if not args and type(self).decode is decode:
                result = thin_decode(self, sequences, skip_special_tokens, kwargs, True)
            if result is None:
                return batch_original(self, sequences, skip_special_tokens, *args, **kwargs)
            return result

        short: dict[str, Callable[..., Any]]
        short = {"__call__": __call__, "encode": encode, "decode": decode}
        short["batch_decode"] = batch_decode
        return short

    def _engine(self, tok: Any) -> tuple[Engine, State, Any] | None:
        """Return the engine of a tokenizer, its state and the real one; None if not served."""
        type_ = type(tok)
        is_plain = self._plain.get(type_)
        if is_plain is None:
            is_plain = self._plain[type_] = all(
                getattr(type_, name, None) is method for name, method in self._inner.items()
            )
        if not is_plain or settings.check:
            return None
        real = tok.__dict__.get("_tokenizer")
        if real is None:
            return None
        state = state_of(real)
        engine = state.engine(real)
        return None if engine is None else (engine, state, real)

    def _encode(self, tok: Any, text: Any, options: dict[str, Any]) -> list[int] | None:
        if options and not options.keys() <= _OPTIONS - {"return_tensors"}:
            return None
        if type(text) is not str:
            return None
        if not options.keys().isdisjoint(_SHAPING):
            result = self._call(tok, text, options)
            return None if result is None else result.data["input_ids"]
        served = self._engine(tok)
        if served is None:
            return None
        engine, state, real = served
        split = tok.split_special_tokens
        _settle(real, split)
        try:
            row = engine.row(text, "text" if split else "allow")
        except CallFallbackError:
            return None  # the original counts it
        ids = engine.with_template(row.ids) if options.get("add_special_tokens", True) else row.ids
        if ids is None:
            return None
        self._warn(tok, ids, None, options.get("verbose", True))
        state.served += 1
        return ids

    def _call(self, tok: Any, text: Any, options: dict[str, Any]) -> Any:
        if options and not options.keys() <= _OPTIONS:
            return None
        is_batch = type(text) is list
        if is_batch:
            if not text or not all(type(item) is str for item in text):
                return None
        elif type(text) is not str:
            return None
        get = options.get
        tensors = get("return_tensors")
        if tensors not in (None, "np"):
            return None
        served = self._engine(tok)
        if served is None:
            return None
        engine, state, real = served
        split = get("split_special_tokens", tok.split_special_tokens)
        if split is None:
            split = tok.split_special_tokens
        truncation: Truncation | None = None
        padding: Padding | None = None
        max_length = get("max_length")
        if "padding" in options or "truncation" in options or max_length is not None:
            truncation, padding, max_length = self._shape(tok, options)
        else:
            _settle(real, split)
        if real.encode_special_tokens != split:
            real.encode_special_tokens = split
        treatment: Treatment = "text" if split else "allow"
        if tensors is not None and is_batch:
            result = self._padded(tok, engine, text, treatment, truncation, padding, options)
            if result is not None:
                state.served += 1
                return result
        try:
            rows = engine.rows(text, treatment) if is_batch else [engine.row(text, treatment)]
            add_special_tokens = bool(get("add_special_tokens", True))
            encodings = [engine.encoding((row,), add_special_tokens, truncation) for row in rows]
        except CallFallbackError:
            return None
        if padding is not None:
            pad(encodings, padding)
        for encoding in encodings:
            self._warn(tok, encoding._ids, max_length, get("verbose", True))
        data = _data(tok, encodings, options)
        if tensors is not None:
            arrays = _arrays(data)
            if arrays is None:
                return None
            data = arrays
        elif not is_batch:
            # transformers keeps the list of a value that is not a list itself, the length.
            data = {key: value if key == "length" else value[0] for key, value in data.items()}
        state.served += 1
        return self._result(data, encodings, encodings[0].n_sequences)

    def _result(self, data: dict[str, Any], encodings: list[Encoding], sequences: int) -> Any:
        result = self._batch_encoding.__new__(self._batch_encoding)
        result.__dict__.update(data=data, _encodings=encodings, _n_sequences=sequences)
        return result

    def _padded(
        self,
        tok: Any,
        engine: Engine,
        texts: list[str],
        treatment: Treatment,
        truncation: Truncation | None,
        padding: Padding | None,
        options: dict[str, Any],
    ) -> Any:
        """Return the ids and the mask of a batch as arrays; None if more is wanted."""
        get = options.get
        names, mask_option = tok.model_input_names, get("return_attention_mask")
        types = get("return_token_type_ids")
        if ("token_type_ids" in names if types is None else types) or any(map(get, _RICH)):
            return None
        add_special_tokens = bool(get("add_special_tokens", True))
        try:
            encoded = padded.encode(
                engine, texts, treatment, add_special_tokens, truncation, padding
            )
        except CallFallbackError:
            return None
        if encoded is None or (truncation is None and encoded[1].shape[1] > tok.model_max_length):
            return None  # the general way warns of long texts
        encodings, ids, mask = encoded
        data: dict[str, Any] = {"input_ids": ids}
        if "attention_mask" in names if mask_option is None else mask_option:
            data["attention_mask"] = mask
        return self._result(data, encodings, 1)

    def _shape(
        self, tok: Any, options: dict[str, Any]
    ) -> tuple[Truncation | None, Padding | None, int | None]:
        """Return the truncation, padding and maximal length of a call, as transformers does."""
        names = ("padding", "truncation", "max_length", "pad_to_multiple_of", "verbose")
        given = {name: options[name] for name in names if name in options}
        strategies = tok._get_padding_truncation_strategies(**given)
        padding_strategy, truncation_strategy, max_length, _ = strategies
        multiple, side = options.get("pad_to_multiple_of"), options.get("padding_side")
        # The real tokenizer keeps the state that it would have, and checks the values.
        tok.set_truncation_and_padding(
            padding_strategy=padding_strategy,
            truncation_strategy=truncation_strategy,
            max_length=max_length,
            stride=0,
            pad_to_multiple_of=multiple,
            padding_side=side,
        )
        truncation = padding = None
        if truncation_strategy != self._no_truncation:
            truncation = Truncation(max_length, 0, truncation_strategy.value, tok.truncation_side)
        if padding_strategy != self._no_padding:
            padding = Padding(
                max_length if padding_strategy == self._max_length else None,
                side if side is not None else tok.padding_side,
                tok.pad_token_id,
                tok.pad_token,
                tok.pad_token_type_id,
                multiple,
            )
        return truncation, padding, max_length

    def _warn(self, tok: Any, ids: list[int], max_length: int | None, verbose: bool) -> None:
        if max_length is None and len(ids) > tok.model_max_length:
            tok._eventual_warn_about_too_long_sequence(ids, max_length, verbose)

    def _decode(
        self,
        tok: Any,
        ids: Any,
        skip_special_tokens: bool,
        options: dict[str, Any],
        is_batch: bool | None,
    ) -> Any:
        """Return the text, or the texts of a batch; if `is_batch` is None, `ids` says which."""
        served = self._engine(tok)
        if served is None:
            return None
        engine, state, _ = served
        if engine.no_decode_reason or not self._leaves_spaces(tok, options):
            return None
        if type(ids) is np.ndarray and ids.dtype.kind in "iu" and ids.ndim in (1, 2):
            ids = ids.tolist()
        elif type(ids) is int:
            ids = [ids]
        if type(ids) is not list:
            return None
        try:
            holds_lists = bool(ids) and type(ids[0]) is list
            if is_batch is not None and holds_lists != is_batch:
                return None
            if holds_lists:
                result: Any = [engine.decode(row, skip_special_tokens) for row in ids]
            else:
                result = engine.decode(ids, skip_special_tokens)
        except CallFallbackError:
            return None
        state.served += 1
        return result

    def _leaves_spaces(self, tok: Any, options: dict[str, Any]) -> bool:
        """Return whether decoding does not clean up spaces, and need not warn about this."""
        clean_up = options.get("clean_up_tokenization_spaces")
        if clean_up is None:
            clean_up = tok.clean_up_tokenization_spaces
        if not clean_up:
            return True
        if getattr(tok, _CLEANS_BPE, True):  # transformers 4 has no such setting
            return False
        # The original method warns once for each class.
        if type(tok) in self._warned:
            return True
        self._warned.add(type(tok))
        return False


def _settle(real: Any, split: bool) -> None:
    """Leave the real tokenizer in the state of a call without truncation and padding."""
    if real.truncation is not None:
        real.no_truncation()
    if real.padding is not None:
        real.no_padding()
    if real.encode_special_tokens != split:
        real.encode_special_tokens = split


def _data(tok: Any, encodings: list[Any], options: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the values of a BatchEncoding, in the order of transformers."""
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


def _arrays(data: dict[str, list[Any]]) -> dict[str, Any] | None:
    """Return the values as arrays; None if rows differ in length, or are empty."""
    sizes = {len(ids) for ids in data["input_ids"]}
    if len(sizes) != 1 or 0 in sizes:
        return None
    return {key: np.array(value, np.int64) for key, value in data.items()}

"""Define ShortCall: `__call__` and `encode` of transformers' tokenizers, for frequent arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import index
from typing import Any

from bpe.compat.huggingface import settings
from bpe.compat.huggingface.batch import Batch
from bpe.compat.huggingface.bpe_engine import BpeEngine
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.state import KEY
from bpe.compat.huggingface.transformers_classes import TransformersClasses
from bpe.compat.huggingface.windows import Padding, Truncation, checked
from bpe.types import Treatment
from pretok.machine.backend import choose_backend

_OPTIONS = frozenset(
    ("add_special_tokens", "padding", "truncation", "max_length", "padding_side",
     "pad_to_multiple_of", "return_tensors", "return_attention_mask", "return_token_type_ids",
     "return_offsets_mapping", "return_special_tokens_mask", "return_length",
     "split_special_tokens", "verbose")
)  # fmt: skip
_OF_PAIRS = frozenset(("add_special_tokens", "truncation", "max_length"))


class ShortCall:
    """Answers frequent calls. A method returns None if the original method must answer."""

    def __init__(self, classes: TransformersClasses) -> None:
        self._classes = classes

    def native(self) -> Callable[..., Any] | None:
        """Return a function in C++ that answers the most frequent calls; None without C++.

        It answers `call` as function(tok, text, return_offsets_mapping, add_special_tokens), and
        `encode` as function(tok, text, add_special_tokens). It returns None for other arguments
        than bool, and while `settings.check` is set.
        """
        if choose_backend() != "native":
            return None
        from pretok import _core

        classes = self._classes
        return _core.huggingface_call(
            KEY,
            classes.is_plain,
            classes.batch_encoding,
            Encoding,
            BpeEngine.text_window,
            vars(settings),
        )

    def encode(self, tok: Any, /, text: Any = None, *args: Any, **options: Any) -> list[int] | None:
        """Return tok.encode(text, **options)."""
        if args or type(text) is not str or "return_tensors" in options:
            return None
        result = self.call(tok, text, **options)
        return None if result is None else result.data["input_ids"]

    def tokenize(self, tok: Any, /, text: Any = None, *args: Any, **options: Any) -> Any:
        """Return tok.tokenize(text)."""
        if args or options or type(text) is not str:
            return None
        served = self._classes.engine(tok)
        if served is None:
            return None
        engine, state, real = served
        split = tok.split_special_tokens
        if type(split) is not bool or not engine.is_simple:
            return None
        treatment: Treatment = "text" if split else "allow"
        encoding = engine.text_encoding(text, treatment, False)
        tokens = None if encoding is None else encoding.tokens
        if tokens is None or len(tokens) > tok.model_max_length:  # transformers may warn
            return None
        # transformers leaves these settings.
        if real.encode_special_tokens != split:
            real.encode_special_tokens = split
        if real.truncation is not None:
            real.no_truncation()
        if real.padding is not None:
            real.no_padding()
        state.served += 1
        return tokens

    def call(self, tok: Any, /, text: Any = None, *args: Any, **options: Any) -> Any:
        """Return tok(text, **options)."""
        if type(text) is str and (args or "text_pair" in options):
            return self._pair(tok, text, *args, **options)
        is_batch = type(text) in (list, tuple)
        texts = [*text] if is_batch else [text]
        if args or set(map(type, texts)) != {str} or not options.keys() <= _OPTIONS:
            return None
        get = options.get
        tensors, adds_special_tokens = get("return_tensors"), get("add_special_tokens", True)
        # A caller that uses tensors of PyTorch has imported it.
        to_tensor: Any = getattr(sys.modules.get("torch"), "from_numpy", None)
        if not (tensors is None or tensors == "np" or (tensors == "pt" and to_tensor)):
            return None
        if type(adds_special_tokens) is not bool:
            return None
        served = self._classes.engine(tok)
        if served is None:
            return None
        engine, state, real = served
        split = get("split_special_tokens", tok.split_special_tokens)
        if type(split) is not bool or not engine.is_simple:
            return None
        try:
            truncation, padding, max_length = self._lengths(tok, real, options)
            if real.encode_special_tokens != split:
                real.encode_special_tokens = split
            treatment: Treatment = "text" if split else "allow"
            batch = Batch(engine, texts, treatment, adds_special_tokens, truncation, padding)
            view = batch.lists if tensors is None else batch.arrays
            data: Any = view(_keys(tok.model_input_names, options))
        except CallFallbackError:
            return None
        if data is None:
            return None
        if max_length is None:
            for ids in data["input_ids"]:
                if len(ids) > tok.model_max_length:
                    verbose = get("verbose", True)
                    tok._eventual_warn_about_too_long_sequence(ids, max_length, verbose)
        if tensors == "pt":
            data = {key: to_tensor(array) for key, array in data.items()}
        elif tensors is None and not is_batch:
            # For one text, transformers unpacks each list but that of "length".
            data = {key: value if key == "length" else value[0] for key, value in data.items()}
        state.served += 1
        encodings = [Encoding(batch.window, at) for at in range(len(texts))]
        return self._classes.result(data, encodings)

    def _pair(
        self, tok: Any, text: str, /, text_pair: Any = None, *args: Any, **options: Any
    ) -> Any:
        """Return tok(text, text_pair, **options) if nothing is truncated or padded."""
        if args or type(text_pair) is not str or not text_pair or not options.keys() <= _OF_PAIRS:
            return None
        served = self._classes.engine(tok)
        if served is None:
            return None
        engine, state, real = served
        adds_special_tokens = options.get("add_special_tokens", True)
        split = tok.split_special_tokens
        if type(split) is not bool or type(adds_special_tokens) is not bool:
            return None
        try:
            truncation, _, max_length = self._lengths(tok, real, options)
        except CallFallbackError:
            return None
        if real.encode_special_tokens != split:
            real.encode_special_tokens = split
        encoding = engine.pair_encoding(
            text, text_pair, "text" if split else "allow", adds_special_tokens,
            None if truncation is None else truncation.max_length,
        )  # fmt: skip
        if encoding is None:
            return None
        data: dict[str, Any] = {"input_ids": encoding.ids}
        if max_length is None and len(data["input_ids"]) > tok.model_max_length:
            return None  # transformers may warn
        names = tok.model_input_names
        if "token_type_ids" in names:
            data["token_type_ids"] = encoding.type_ids
        if "attention_mask" in names:
            data["attention_mask"] = [1] * len(data["input_ids"])
        state.served += 1
        result = self._classes.result(data, [encoding])
        result._n_sequences = encoding.n_sequences
        return result

    def _lengths(
        self, tok: Any, real: Any, options: dict[str, Any]
    ) -> tuple[Truncation | None, Padding | None, int | None]:
        """Return the truncation, padding and maximal length that transformers derives.

        Leaves the same settings in the real tokenizer, which also checks their values.
        """
        truncation = padding = max_length = None
        if "padding" in options or "truncation" in options or options.get("max_length") is not None:
            get, multiple = options.get, options.get("pad_to_multiple_of")
            strategies = tok._get_padding_truncation_strategies(
                padding=get("padding", False), truncation=get("truncation"),
                max_length=get("max_length"), pad_to_multiple_of=multiple,
                verbose=get("verbose", True),
            )  # fmt: skip
            padding_strategy, truncation_strategy, max_length, _ = strategies
            if truncation_strategy != self._classes.no_truncation:
                truncation = {
                    "max_length": max_length,
                    "stride": 0,
                    "strategy": truncation_strategy.value,
                    "direction": tok.truncation_side,
                }
            if padding_strategy != self._classes.no_padding:
                side, to_max = get("padding_side"), self._classes.to_max_length
                padding = {
                    "length": max_length if padding_strategy == to_max else None,
                    "direction": tok.padding_side if side is None else side,
                    "pad_id": tok.pad_token_id,
                    "pad_token": tok.pad_token,
                    "pad_type_id": tok.pad_token_type_id,
                    "pad_to_multiple_of": multiple,
                }
        if real.truncation != truncation:
            real.no_truncation() if truncation is None else real.enable_truncation(**truncation)
        if real.padding != padding:
            real.no_padding() if padding is None else real.enable_padding(**padding)
        return (
            None if truncation is None else checked(Truncation(**_with_ints(truncation))),
            None if padding is None else Padding(**_with_ints(padding)),
            max_length,
        )


def _with_ints(lengths: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with integers of NumPy converted to int."""
    return {
        name: value if value is None or isinstance(value, str) else index(value)
        for name, value in lengths.items()
    }


def _keys(names: list[str], options: dict[str, Any]) -> list[str]:
    """Return the keys of the values that a call returns, in the order of transformers."""
    get = options.get
    types, mask = get("return_token_type_ids"), get("return_attention_mask")
    keys = ["input_ids"]
    if "token_type_ids" in names if types is None else types:
        keys.append("token_type_ids")
    if "attention_mask" in names if mask is None else mask:
        keys.append("attention_mask")
    if get("return_special_tokens_mask"):
        keys.append("special_tokens_mask")
    if get("return_offsets_mapping"):
        keys.append("offset_mapping")
    if get("return_length"):
        keys.append("length")
    return keys

"""Define TransformersClasses, which tells the classes that have short versions of methods."""

from __future__ import annotations

import importlib
import sys
from typing import Any
from weakref import ref

from bpe.compat.huggingface import settings
from bpe.compat.huggingface.bpe_engine import BpeEngine
from bpe.compat.huggingface.state import KEY, State, state_of

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
"""Methods whose work the short versions do. They do not serve a class that overrides one."""
_SETTINGS = "split_special_tokens", "model_max_length", "model_input_names"
"""Attributes of a tokenizer that C++ reads from its `__dict__`."""
MAX_MADE = 8
"""The maximal number of made classes that a TransformersClasses remembers, and so keeps alive.

A made class is one that its module does not hold: vLLM makes a class for each tokenizer, and the
class holds the vocabulary. It is forgotten when the tokenizer is dropped, unless the class itself
refers to the tokenizer.
"""


class TransformersClasses:
    """The methods of a class of transformers before the patch, and the values that it uses."""

    def __init__(self, owner: Any) -> None:
        base = importlib.import_module("transformers.tokenization_utils_base")
        self.batch_encoding: Any = base.BatchEncoding
        self.no_padding: Any = base.PaddingStrategy.DO_NOT_PAD
        self.to_max_length: Any = base.PaddingStrategy.MAX_LENGTH
        self.no_truncation: Any = base.TruncationStrategy.DO_NOT_TRUNCATE
        self._inner = {name: getattr(owner, name, None) for name in _INNER}
        self.is_plain: dict[type, bool] = {}
        """For each subclass in memory: whether the short versions may serve it."""
        self._made: dict[type, ref[Any]] = {}
        """For each made class in `is_plain`, the oldest one first: a tokenizer of this class."""

    def engine(self, tok: Any) -> tuple[BpeEngine, State, Any] | None:
        """Return the engine, the state and the real tokenizer; None if bpe does not serve `tok`."""
        type_ = type(tok)
        is_plain = self.is_plain.get(type_)
        if is_plain is None:
            is_plain = self._remember(tok)
        real = tok.__dict__.get("_tokenizer")
        if not is_plain or real is None or (settings.check and settings.is_bypassed()):
            return None
        state = real.__dict__.get(KEY) or state_of(real)
        engine = state.engine(real)
        return None if engine is None else (engine, state, real)

    def _remember(self, tok: Any) -> bool:
        """Add the class of `tok` to `is_plain`, and return its value."""
        type_ = type(tok)
        is_plain = self.is_plain[type_] = self._is_plain(type_)
        module = sys.modules.get(type_.__module__)
        if getattr(module, type_.__qualname__, None) is not type_:
            self._made[type_] = ref(tok, lambda _: self._forget(type_))
            for oldest in list(self._made)[:-MAX_MADE]:
                self._forget(oldest)
        return is_plain

    def _forget(self, type_: type) -> None:
        self._made.pop(type_, None)
        self.is_plain.pop(type_, None)

    def _is_plain(self, type_: type) -> bool:
        """Return whether a class has the methods in _INNER, and no properties in _SETTINGS."""
        return all(
            getattr(type_, name, None) is method for name, method in self._inner.items()
        ) and not any(hasattr(getattr(type_, name, None), "__set__") for name in _SETTINGS)

    def result(self, data: dict[str, Any], encodings: list[Any]) -> Any:
        """Return a BatchEncoding with these attributes; each encoding has one sequence."""
        cls = self.batch_encoding
        result = cls.__new__(cls)
        result.data, result._encodings, result._n_sequences = data, encodings, 1
        return result

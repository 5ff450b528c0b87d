"""Define Tokenizer, which wraps a tokenizers.Tokenizer and stands in for it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any
from weakref import ref

from bpe.compat.huggingface import settings
from bpe.compat.huggingface.bpe_engine import BpeEngine
from bpe.compat.huggingface.encoding import Encoding, real_arguments
from bpe.compat.huggingface.real import VERSION, RealTokenizer
from bpe.compat.huggingface.rows import Row
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.snapshot import COMPONENTS
from bpe.compat.huggingface.state import (
    OURS,
    State,
    copy_with_engine,
    normalized_tokens,
    special_tokens,
    state_of,
)
from bpe.compat.huggingface.windows import Padding, Truncation, checked, pad
from bpe.types import Treatment

_ADDITIONS = ("add_tokens", "add_special_tokens")
_CHANGES = (*_ADDITIONS, "train", "train_from_iterator")


class _PassesFor(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        """Return whether `instance` is a real tokenizer or a stand-in, which passes for one."""
        return isinstance(instance, RealTokenizer)


class Tokenizer(metaclass=_PassesFor):
    """A tokenizers.Tokenizer that encodes and decodes with bpe if bpe gives the same results.

    All attributes and methods that are not defined here are those of the real tokenizer. For
    `isinstance`, this class and tokenizers.Tokenizer are the same. Pickles as the real tokenizer.
    """

    _real: Any
    _state: State

    def __init__(self, model: Any) -> None:
        """Wrap a new tokenizer with this model; `of` wraps an existing one."""
        _fill(self, RealTokenizer(model))

    @classmethod
    def of(cls, real: Any) -> Tokenizer:
        """Return the stand-in for a real tokenizer; `real` may also be a stand-in."""
        if type(real) is cls:
            return real
        state = state_of(real)
        self: Tokenizer | None = None if state.view is None else state.view()
        if self is None:
            self = cls.__new__(cls)
            _fill(self, real)
            state.view = ref(self)
        return self

    @classmethod
    def from_file(cls, path: str) -> Tokenizer:
        """Read a tokenizer.json."""
        return cls.of(RealTokenizer.from_file(path))

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Parse a tokenizer.json."""
        return cls.of(RealTokenizer.from_str(json))

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """Parse the bytes of a tokenizer.json."""
        return cls.of(RealTokenizer.from_buffer(buffer))

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Tokenizer:
        """Load a tokenizer as RealTokenizer.from_pretrained does."""
        return cls.of(RealTokenizer.from_pretrained(*args, **kwargs))

    @property
    def real(self) -> Any:
        """The real tokenizer."""
        return self._real

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class that this object stands in for."""
        return RealTokenizer

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Any:
        """Return the Encoding of a sequence, or of a pair."""

        def encode(engine: BpeEngine) -> Encoding:
            _check_flags(is_pretokenized, add_special_tokens)
            parts = (sequence,) if pair is None else (sequence, pair)
            rows = tuple(_rows(engine, self._real, parts, is_pretokenized))
            return _encodings(engine, self._real, [rows], add_special_tokens)[0]

        args = sequence, pair, is_pretokenized, add_special_tokens
        return self._answer(encode, "encode", *args)

    def encode_batch(
        self, input: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Any]:
        """Return the Encoding of each sequence or pair."""

        def encode(engine: BpeEngine) -> list[Encoding]:
            _check_flags(is_pretokenized, add_special_tokens)
            _check_batch(input)
            inputs = [_parts(item, is_pretokenized) for item in input]
            rows = iter(_rows(engine, self._real, list(chain(*inputs)), is_pretokenized))
            grouped = [tuple(islice(rows, len(parts))) for parts in inputs]
            return _encodings(engine, self._real, grouped, add_special_tokens)

        args = input, is_pretokenized, add_special_tokens
        return self._answer(encode, "encode_batch", *args)  # type: ignore[no-any-return]

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        """Return the text of `ids`."""

        def decode(engine: BpeEngine) -> str:
            _check_decoding(engine, skip_special_tokens)
            return engine.decoding.decode(ids, skip_special_tokens)

        return self._answer(decode, "decode", ids, skip_special_tokens)  # type: ignore[no-any-return]

    def decode_batch(self, sequences: Any, skip_special_tokens: bool = True) -> list[str]:
        """Return the text of each of `sequences`."""

        def decode(engine: BpeEngine) -> list[str]:
            _check_decoding(engine, skip_special_tokens)
            _check_batch(sequences)
            return [engine.decoding.decode(ids, skip_special_tokens) for ids in sequences]

        return self._answer(decode, "decode_batch", sequences, skip_special_tokens)  # type: ignore[no-any-return]

    def _answer(self, own: Callable[[BpeEngine], Any], method: str, *args: Any) -> Any:
        """Return the result of `own`; if bpe cannot serve the call, that of the real `method`."""
        state, real = self._state, self._real
        engine = state.engine(real)
        reason = state.reason
        if engine is not None:
            try:
                result = own(engine)
            except CallFallbackError as error:
                reason = str(error)
            else:
                state.served += 1
                if not settings.check:
                    return result
                return state.check(
                    result, lambda: _original(method)(real, *args), f"{method}{args!r}"
                )
        state.fall_back(reason)
        return _original(method)(real, *args)

    def post_process(self, encoding: Any, pair: Any = None, add_special_tokens: bool = True) -> Any:
        """Truncate, apply the template and pad, as the real tokenizer does."""
        return self._real.post_process(
            real_arguments(encoding), real_arguments(pair), add_special_tokens
        )

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        return changing(value, self._real, name in _ADDITIONS) if name in _CHANGES else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)
        if name in OURS:
            vars(self)[name] = value
        if name == "normalizer" and VERSION == "0.22.2" and normalized_tokens(self._real):
            self._state.block("tokenizers 0.22.2 does not apply a new normalizer to added tokens")
        if name in COMPONENTS or name in OURS:
            self._state.forget()

    def __delattr__(self, name: str) -> None:
        delattr(self._real, name)
        vars(self).pop(name, None)
        self._state.forget()

    def __dir__(self) -> list[str]:
        return dir(self._real)

    def __repr__(self) -> str:
        return repr(self._real)

    def __str__(self) -> str:
        return str(self._real)

    def __copy__(self) -> Tokenizer:
        return self._copied(copy.copy)

    def __deepcopy__(self, memo: Any) -> Tokenizer:
        return self._copied(partial(copy.deepcopy, memo=memo))

    def _copied(self, copied: Callable[[Any], Any]) -> Tokenizer:
        return Tokenizer.of(copy_with_engine(self._real, copied))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._real.__reduce_ex__(protocol)


def _original(method: str) -> Callable[..., Any]:
    """Return a method of the real class.

    A program may have replaced it on one tokenizer by a function that calls the stand-in's method.
    """
    return getattr(RealTokenizer, method)  # type: ignore[no-any-return]


def _fill(view: Tokenizer, real: Any) -> None:
    """Set the attributes of a stand-in; its `__setattr__` would set those of `real`.

    They include methods that a program replaced on `real`.
    """
    replaced = {name: value for name, value in vars(real).items() if name in OURS}
    vars(view).update(_real=real, _state=state_of(real), **replaced)


def changing(method: Any, real: Any, only_adds: bool = False) -> Any:
    """Return a function that calls `method`, which changes the tokenizer, and drops the engine.

    `only_adds` says that `method` changes only the added tokens.

    The real tokenizer remembers that an added token was special or normalized, but does not
    serialize this. So it serves all calls after an added token has lost one of these flags.
    """
    state = state_of(real)

    def call(*args: Any, **kwargs: Any) -> Any:
        special, normalized = special_tokens(real), normalized_tokens(real)
        state.forget(only_adds)
        try:
            return method(*args, **kwargs)
        finally:
            state.forget(only_adds)
            for content in special - special_tokens(real):
                state.block(f"added token {content!r} is no longer special")
            if real.normalizer is not None:
                for content in normalized - normalized_tokens(real):
                    state.block(f"added token {content!r} is no longer normalized")

    return call


def _check_flags(*flags: Any) -> None:
    """Raise CallFallbackError for a flag that is not a bool; tokenizers refuses most of them."""
    if any(type(flag) is not bool for flag in flags):
        raise CallFallbackError("an option that is not a bool")


def _check_decoding(engine: BpeEngine, skip_special_tokens: Any) -> None:
    """Raise CallFallbackError if bpe must not decode."""
    if engine.decoding.fallback_reason:
        raise CallFallbackError(engine.decoding.fallback_reason)
    _check_flags(skip_special_tokens)


def _check_batch(batch: Any) -> None:
    if type(batch) is not list:
        raise CallFallbackError("a batch that is not a list")


def _encodings(
    engine: BpeEngine, real: Any, inputs: list[tuple[Row, ...]], add_special_tokens: bool
) -> list[Encoding]:
    """Return the encoding of the rows of each input, with the settings of `real`."""
    truncation, padding = real.truncation, real.padding
    if truncation is None and padding is None:
        return [engine.encoding(rows, add_special_tokens) for rows in inputs]
    limit = None if truncation is None else checked(Truncation(**truncation))
    windows = [engine.window(rows, add_special_tokens, limit) for rows in inputs]
    if padding is not None:
        windows = pad(windows, Padding(**padding))
    return [Encoding.of(window) for window in windows]


def _parts(input: Any, is_pretokenized: bool) -> Sequence[Any]:
    """Return the sequences of an input of a batch: one or two."""
    if _is_words(input) if is_pretokenized else isinstance(input, str):
        return (input,)
    if type(input) not in (tuple, list) or len(input) != 2:
        raise CallFallbackError("an input that is neither a sequence nor a pair")
    return input  # type: ignore[no-any-return]


def _rows(engine: BpeEngine, real: Any, parts: Sequence[Any], is_pretokenized: bool) -> list[Row]:
    """Return the row of each sequence: a text, or a list of words.

    Special tokens in a text are ordinary text if `real` encodes special tokens.
    """
    treatment: Treatment = "text" if real.encode_special_tokens else "allow"
    if not is_pretokenized:
        one = len(parts) == 1
        return [engine.row(parts[0], treatment)] if one else engine.rows([*parts], treatment)
    if not all(map(_is_words, parts)):
        raise CallFallbackError("a pre-tokenized input that is not a list of str")
    return [engine.words_row(part, treatment) for part in parts]


def _is_words(part: Any) -> bool:
    return type(part) in (list, tuple) and all(isinstance(word, str) for word in part)

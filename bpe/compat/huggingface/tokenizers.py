"""Define Tokenizer, which wraps a tokenizers.Tokenizer and stands in for it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from operator import attrgetter
from typing import Any
from weakref import ref

from bpe import UnsupportedError
from bpe.compat.huggingface import inputs, settings
from bpe.compat.huggingface.async_calls import AsyncCalls, awaiting
from bpe.compat.huggingface.bpe_engine import BpeEngine
from bpe.compat.huggingface.encoding import Encoding, real_arguments
from bpe.compat.huggingface.real import VERSION, WHY_RECORD, RealTokenizer
from bpe.compat.huggingface.record import arguments
from bpe.compat.huggingface.rows import BareRow, Row
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
from bpe.types import Treatment

_ADDITIONS = ("add_tokens", "add_special_tokens")
_READERS = ("token_to_id", "id_to_token", "get_vocab", "get_vocab_size",
            "get_added_tokens_decoder", "num_special_tokens_to_add", "enable_truncation",
            "no_truncation", "enable_padding", "no_padding")  # fmt: skip
"""Methods of the real tokenizer that leave its ids unchanged; a stand-in holds them."""
_CHANGES = (*_ADDITIONS, "train", "train_from_iterator")


class _PassesFor(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        """Return whether `instance` is a real tokenizer or a stand-in, which passes for one."""
        return isinstance(instance, RealTokenizer)


class Tokenizer(AsyncCalls, metaclass=_PassesFor):
    """A tokenizers.Tokenizer that encodes and decodes with bpe if bpe gives the same results.

    All attributes and methods that are not defined here are those of the real tokenizer. For
    `isinstance`, this class and tokenizers.Tokenizer are the same. Pickles as the real tokenizer.

    This module is named tokenizers because programs look for this name in `str(type(tok))`.
    """

    _real: Any
    _state: State
    # These properties read the real tokenizer without a Python function. `__setattr__` sets them.
    truncation = property(attrgetter("_real.truncation"))
    padding = property(attrgetter("_real.padding"))
    encode_special_tokens = property(attrgetter("_real.encode_special_tokens"))
    model = property(attrgetter("_real.model"))
    normalizer = property(attrgetter("_real.normalizer"))
    pre_tokenizer = property(attrgetter("_real.pre_tokenizer"))
    post_processor = property(attrgetter("_real.post_processor"))
    decoder = property(attrgetter("_real.decoder"))

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
        return cls._loaded(RealTokenizer.from_file(path))

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Parse a tokenizer.json."""
        return cls._loaded(RealTokenizer.from_str(json))

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """Parse the bytes of a tokenizer.json."""
        return cls._loaded(RealTokenizer.from_buffer(buffer))

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Tokenizer:
        """Load a tokenizer as RealTokenizer.from_pretrained does."""
        return cls._loaded(RealTokenizer.from_pretrained(*args, **kwargs))

    @classmethod
    def _loaded(cls, real: Any) -> Tokenizer:
        """Return `of(real)`; raise UnsupportedError if no library can encode with it."""
        tokenizer = cls.of(real)
        if WHY_RECORD and tokenizer._state.engine(real) is None:
            raise UnsupportedError(f"{tokenizer._state.reason}; {WHY_RECORD}")
        return tokenizer

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
        if is_pretokenized is False:
            input = sequence if pair is None else (sequence, pair)
            encoding = self._encoding(input, add_special_tokens, is_pair=pair is not None)
            if encoding is not None:
                return encoding
        return self._encode("encode", sequence, pair, is_pretokenized, add_special_tokens)

    def _encode(
        self, method: str, sequence: Any, pair: Any, is_pretokenized: bool, add_special_tokens: bool
    ) -> Any:
        def encode(
            engine: BpeEngine, sequence: Any, pair: Any, is_pretokenized: bool, adds: bool
        ) -> Encoding:
            inputs.check_flags(is_pretokenized, adds)
            parts = (sequence,) if pair is None else (sequence, pair)
            rows = inputs.rows(engine, self._real, parts, is_pretokenized)
            if method == "async_encode":
                for row in rows:
                    row.counts_bytes = True
            return inputs.encodings(engine, self._real, [tuple(rows)], adds)[0]

        args = sequence, pair, is_pretokenized, add_special_tokens
        return self._answer(encode, method, *args)

    def encode_batch(
        self, input: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Any]:
        """Return the Encoding of each sequence or pair."""
        if is_pretokenized is False and type(input) is list and len(input) == 1:
            encoding = self._encoding(input[0], add_special_tokens)
            if encoding is not None:
                return [encoding]
        return self._encode_batch("encode_batch", input, is_pretokenized, add_special_tokens)

    def encode_batch_fast(
        self, input: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Any]:
        """Return the Encoding of each sequence or pair, without tokens, offsets and words."""
        if is_pretokenized is False and type(input) is list and len(input) == 1:
            encoding = self._encoding(input[0], add_special_tokens, is_bare=True)
            if encoding is not None:
                return [encoding]
        return self._encode_batch("encode_batch_fast", input, is_pretokenized, add_special_tokens)

    def _encoding(
        self, input: Any, add_special_tokens: Any, is_bare: bool = False, is_pair: bool = True
    ) -> Encoding | None:
        """Return the encoding of a text or a pair, in less time; None if it must be another way.

        If `is_bare`, return what `encode_batch_fast([input])` returns, without the list. A tuple or
        list may be a pair only if `is_pair`.
        """
        state, real = self._state, self._real
        engine = state.current
        if (
            engine is None
            or type(add_special_tokens) is not bool
            or settings.check
            or real.padding is not None
        ):
            return None
        treatment: Treatment = "text" if real.encode_special_tokens else "allow"
        truncation = real.truncation
        limit = None if truncation is None else truncation["max_length"]
        if type(input) is str:
            encoding = engine.text_encoding(input, treatment, add_special_tokens, limit, is_bare)
        elif is_pair and type(input) in (tuple, list) and [*map(type, input)] == [str, str]:
            text, pair = input
            encoding = engine.pair_encoding(
                text, pair, treatment, add_special_tokens, limit, is_bare
            )
        else:
            return None
        if encoding is not None:
            state.served += 1
        return encoding

    def _encode_batch(
        self, method: str, input: Any, is_pretokenized: bool, add_special_tokens: bool
    ) -> list[Any]:
        def encode(
            engine: BpeEngine, input: Any, is_pretokenized: bool, adds: bool
        ) -> list[Encoding]:
            inputs.check_flags(is_pretokenized, adds)
            batch = [inputs.parts(item, is_pretokenized) for item in inputs.items(input)]
            texts = inputs.rows(engine, self._real, list(chain(*batch)), is_pretokenized)
            is_bare = method.endswith("encode_batch_fast")
            rows: Iterator[Row] = map(BareRow, texts) if is_bare else iter(texts)
            grouped = [tuple(islice(rows, len(parts))) for parts in batch]
            return inputs.encodings(engine, self._real, grouped, adds)

        args = input, is_pretokenized, add_special_tokens
        return self._answer(encode, method, *args)  # type: ignore[no-any-return]

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        """Return the text of `ids`."""
        state = self._state
        short = state.short_decode
        if short is not None and type(skip_special_tokens) is bool and not settings.check:
            text = short(ids, skip_special_tokens)
            if text is not None:
                state.served += 1
                return text

        def decode(engine: BpeEngine, ids: Any, skip_special_tokens: bool) -> str:
            _check_decoding(engine, skip_special_tokens)
            return engine.decoding.decode(ids, skip_special_tokens)

        return self._answer(decode, "decode", ids, skip_special_tokens)  # type: ignore[no-any-return]

    def decode_batch(self, sequences: Any, skip_special_tokens: bool = True) -> list[str]:
        """Return the text of each of `sequences`."""
        return self._decode_batch("decode_batch", sequences, skip_special_tokens)

    def _decode_batch(self, method: str, sequences: Any, skip_special_tokens: bool) -> list[str]:
        def decode(engine: BpeEngine, sequences: Any, skip_special_tokens: bool) -> list[str]:
            _check_decoding(engine, skip_special_tokens)
            decode = engine.decoding.decode
            return [decode(ids, skip_special_tokens) for ids in inputs.items(sequences)]

        return self._answer(decode, method, sequences, skip_special_tokens)  # type: ignore[no-any-return]

    def _answer(self, own: Callable[..., Any], method: str, *args: Any) -> Any:
        """Return own(engine, *args); if bpe cannot serve the call, that of the real `method`."""
        state, real = self._state, self._real
        engine = state.engine(real)
        refusal = CallFallbackError(state.reason)
        if engine is not None:
            try:
                result = _served(own, engine, method, args)
            except CallFallbackError as error:
                refusal = error
            else:
                state.served += 1
                if not settings.check or WHY_RECORD:
                    return result
                return state.check(
                    result, lambda: _original(method)(real, *args), f"{method}{args!r}"
                )
        state.fall_back(str(refusal))
        if WHY_RECORD:
            raise _error(refusal)
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
        if name in OURS or name in _READERS:
            vars(self)[name] = value
        if name == "normalizer" and VERSION == "0.22.2" and normalized_tokens(self._real):
            self._state.block("tokenizers 0.22.2 does not apply a new normalizer to added tokens")
        if name in COMPONENTS or name in OURS:
            self._state.forget()

    def __delattr__(self, name: str) -> None:
        delattr(self._real, name)
        vars(self).pop(name, None)
        if name in _READERS:
            vars(self)[name] = getattr(self._real, name)
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
        if WHY_RECORD:
            return Tokenizer.from_str, (self._real.to_str(),)
        return self._real.__reduce_ex__(protocol)


def _served(own: Callable[..., Any], engine: BpeEngine, method: str, args: tuple[Any, ...]) -> Any:
    """Return own(engine, *args).

    If no real tokenizer can answer a call with unusual arguments, convert these. This raises the
    errors of tokenizers for arguments that it refuses.
    """
    try:
        return own(engine, *args)
    except CallFallbackError:
        if not WHY_RECORD:
            raise
    return own(engine, *arguments.usual(method, args))


def _error(refusal: CallFallbackError) -> Exception:
    """Return the error for a call that only the real tokenizer could answer."""
    if refusal.error:
        return Exception(refusal.error)
    return UnsupportedError(f"bpe does not serve this call: {refusal}; {WHY_RECORD}")


def _original(method: str) -> Callable[..., Any]:
    """Return a method of the real class, which waits for its result if it is a future.

    A program may have replaced it on one tokenizer by a function that calls the stand-in's method.
    """
    original: Callable[..., Any] = getattr(RealTokenizer, method)
    return awaiting(original) if method.startswith("async_") else original


def _fill(view: Tokenizer, real: Any) -> None:
    """Set the attributes of a stand-in; its `__setattr__` would set those of `real`.

    They include methods that a program replaced on `real`.
    """
    replaced = {name: value for name, value in vars(real).items() if name in OURS}
    vars(view).update(_real=real, _state=state_of(real), **replaced)
    vars(view).update({name: getattr(real, name) for name in _READERS})


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
            if not WHY_RECORD:
                for content in special - special_tokens(real):
                    state.block(f"added token {content!r} is no longer special")
                for content in (
                    normalized - normalized_tokens(real) if real.normalizer is not None else ()
                ):
                    state.block(f"added token {content!r} is no longer normalized")

    return call


def _check_decoding(engine: BpeEngine, skip_special_tokens: Any) -> None:
    """Raise CallFallbackError if bpe must not decode."""
    if engine.decoding.fallback_reason:
        raise CallFallbackError(engine.decoding.fallback_reason)
    inputs.check_flags(skip_special_tokens)

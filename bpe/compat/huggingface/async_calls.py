"""Define AsyncCalls, the methods of Tokenizer that return futures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from bpe.compat.huggingface import inputs
from bpe.compat.huggingface.bpe_engine import have_surrogates
from bpe.compat.huggingface.real import WHY_RECORD, RealTokenizer
from bpe.compat.huggingface.record import arguments
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.state import State

_MAX_ID = (1 << 32) - 1


class AsyncCalls:
    """Each method does the work of the method without `async_` in a thread, and returns a future.

    The real methods check their arguments at the call. They raise other errors than the methods
    without `async_`, and refuse some of the arguments of these. So the real tokenizer answers calls
    with unusual arguments. The offsets of the real async_encode count bytes.
    """

    _real: Any
    _state: State
    _encode: Callable[..., Any]
    _encode_batch: Callable[..., Any]
    _decode_batch: Callable[..., Any]

    def async_encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Any:
        """Return a future of the result of `encode`."""

        def check() -> None:
            inputs.check_flags(is_pretokenized, add_special_tokens)
            _check_texts((sequence,) if pair is None else (sequence, pair), is_pretokenized)

        args = sequence, pair, is_pretokenized, add_special_tokens
        return self._later(self._encode, "async_encode", check, *args)

    def async_encode_batch(
        self, input: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Any:
        """Return a future of the result of `encode_batch`."""
        return self._batch_later("async_encode_batch", input, is_pretokenized, add_special_tokens)

    def async_encode_batch_fast(
        self, input: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Any:
        """Return a future of the result of `encode_batch_fast`."""
        method = "async_encode_batch_fast"
        return self._batch_later(method, input, is_pretokenized, add_special_tokens)

    def async_decode_batch(self, sequences: Any, skip_special_tokens: bool = True) -> Any:
        """Return a future of the result of `decode_batch`."""
        batch = _copied(sequences)

        def check() -> None:
            inputs.check_flags(skip_special_tokens)
            for ids in inputs.items(batch):
                listed = ids.tolist() if isinstance(ids, np.ndarray) else inputs.items(ids)
                if any(type(id) is not int or not 0 <= id <= _MAX_ID for id in listed):
                    raise CallFallbackError("ids that are not whole numbers from 0 to 2**32 - 1")

        args = batch, skip_special_tokens
        return self._later(self._decode_batch, "async_decode_batch", check, *args)

    def _batch_later(
        self, method: str, input: Any, is_pretokenized: bool, add_special_tokens: bool
    ) -> Any:
        batch = _copied(input)

        def check() -> None:
            inputs.check_flags(is_pretokenized, add_special_tokens)
            items = inputs.items(batch)
            if not all(isinstance(item, (str, list, tuple)) for item in items):
                raise CallFallbackError("an input that is neither a str nor a list nor a tuple")
            listed = [inputs.parts(item, is_pretokenized) for item in items]
            if is_pretokenized and any(len(p) == 1 and len(p[0]) == 2 for p in listed):
                raise CallFallbackError("two words, which the real tokenizer takes for a pair")
            _check_texts(chain(*listed), is_pretokenized)

        args = batch, is_pretokenized, add_special_tokens
        return self._later(self._encode_batch, method, check, *args)

    def _later(
        self, own: Callable[..., Any], method: str, check: Callable[[], None], *args: Any
    ) -> Any:
        """Return a future of the result of `own(method, *args)`.

        If `check` raises CallFallbackError, return the result of the real `method`.
        """
        try:
            check()
        except CallFallbackError as error:
            if WHY_RECORD:
                args = arguments.usual(method, args)
                return asyncio.get_running_loop().run_in_executor(None, own, method, *args)
            self._state.fall_back(str(error))
            return getattr(RealTokenizer, method)(self._real, *args)
        return asyncio.get_running_loop().run_in_executor(None, own, method, *args)


def awaiting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns the result of the future of `method`.

    Call it in a thread without an event loop.
    """

    async def wait(*args: Any) -> Any:
        return await method(*args)

    return lambda *args: asyncio.run(wait(*args))


def _copied(batch: Any) -> Any:
    """Return a copy of a list, which the caller may change before the call has ended."""
    return batch.copy() if type(batch) is list else batch


def _check_texts(parts: Iterable[Any], is_pretokenized: bool) -> None:
    """Raise CallFallbackError unless all parts are texts, or lists of words."""
    texts: list[Any] = []
    for part in parts:
        words: Sequence[Any] = part if is_pretokenized else (part,)
        if not inputs.is_words(words):
            raise CallFallbackError("an input that is not a str")
        texts += words
    if have_surrogates()(texts):
        raise CallFallbackError("a text with lone surrogates")

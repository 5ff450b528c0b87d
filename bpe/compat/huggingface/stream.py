"""Define DecodeStream, which stands in for tokenizers.decoders.DecodeStream."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from operator import index
from typing import Any, TypeAlias

from bpe.compat.huggingface import settings, state
from bpe.compat.huggingface.decoding import Decoding
from bpe.compat.huggingface.real import EMPTY, RealDecodeStream, RealTokenizer
from bpe.compat.huggingface.tokenizers import Tokenizer

Decode: TypeAlias = Callable[[list[int], bool], str]

_INVALID = "\ufffd"
_MAX_ID = (1 << 32) - 1


class DecodeStream:
    """Decodes ids one after the other, with a stand-in or a real tokenizers.Tokenizer.

    A step returns the text that its id completes, or None. The rules are those of the real
    DecodeStream: a step decodes the ids whose text is not returned yet, together with the ids just
    before them. `_ids` has all these ids, of which the first `_index` have the text `_prefix`.
    """

    __slots__ = ("_ids", "_index", "_joining", "_prefix", "_real", "_skips")

    _real: Any

    def __init__(self, ids: Any = None, skip_special_tokens: bool = False) -> None:
        real = RealDecodeStream(ids, skip_special_tokens)  # raises the errors
        # An untested version may follow other rules, so its own stream does the work.
        self._real = None if state.is_tested() else real
        self._ids: list[int] = [] if ids is None else list(map(index, ids))
        self._skips = bool(skip_special_tokens)
        self._prefix = ""
        self._index = 0
        self._joining: Decoding | None = None
        """The Decoding, if it joins bytes or texts, and `_ids` have the text `_prefix`.

        The text consists of whole characters. `Decoding.later_texts` has the text that the next id
        adds.
        """

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class that this object stands in for."""
        return RealDecodeStream

    def step(self, tokenizer: Any, id: Any) -> str | None:
        """Return the text that an id, or a list of ids, completes."""
        joining = self._joining
        if joining is not None and type(tokenizer) is Tokenizer and not settings.check:
            served = tokenizer._state
            engine = served.current
            if engine is not None and engine.decoding is joining and type(id) is int:
                text = joining.later_texts(self._skips).get(id)
                if text and text[-1] != _INVALID:
                    served.served += 1
                    if not joining.joins_bytes:
                        return self._join(joining, id, text)
                    self._ids, self._prefix, self._index = [id], text, 1
                    return text
        return self._any_step(tokenizer, id)

    def _any_step(self, tokenizer: Any, id: Any) -> str | None:
        """Do the same as `step`, for all arguments."""
        real = tokenizer._real if type(tokenizer) is Tokenizer else tokenizer
        if type(real) is not RealTokenizer or self._real is not None:
            return (self._real or RealDecodeStream()).step(real, id)  # type: ignore[no-any-return]
        served = state.state_of(real)
        engine = served.engine(real)
        decoding = None if engine is None else engine.decoding
        is_id = type(id) is int and 0 <= id <= _MAX_ID
        if is_id and decoding is not None and decoding is self._joining and not settings.check:
            text = decoding.later_texts(self._skips)[id]
            if text:
                served.served += 1
                if text[-1] != _INVALID:
                    return self._join(decoding, id, text)
                self._ids = [*self._ids, id]
                self._joining = None
                return None
        return self._step(real, served, decoding, [id] if is_id else _ids(id))

    def _join(self, decoding: Decoding, id: int, text: str) -> str:
        """Return `text`, which the id adds to the text before, after a step with the id."""
        prefix = decoding.token_texts(self._skips)[id]
        self._ids, self._prefix, self._index = [id], prefix, 1
        if not prefix:
            self._joining = None
        return text

    def _step(
        self, real: Any, served: state.State, decoding: Decoding | None, ids: list[int]
    ) -> str | None:
        self._joining = None
        reason = served.reason if decoding is None else decoding.fallback_reason
        if decoding is None or reason:
            served.fall_back(reason)
            return self._advance(partial(_decode_really, real), ids)
        before = self._clone() if settings.check else None
        text = self._advance(decoding.decode_ids, ids)
        served.served += 1
        if before is not None:
            text = self._checked(text, before, real, served, ids)
        joins = decoding.joins_bytes or decoding.joins_texts
        if joins and self._prefix and len(self._ids) == self._index:
            self._joining = decoding if self._prefix[-1] != _INVALID else None
        return text

    def _advance(self, decode: Decode, ids: list[int]) -> str | None:
        """Return the text that `ids` complete."""
        skips = self._skips
        if not self._prefix and self._ids:
            prefix = decode(self._ids, skips)
            if not prefix.endswith(_INVALID):
                self._prefix, self._index = prefix, len(self._ids)
        self._ids = [*self._ids, *ids]
        text = decode(self._ids, skips)
        prefix = self._prefix
        if text.endswith(_INVALID):
            return None
        if not text.startswith(prefix):
            if len(text.encode()) <= len(prefix.encode()):
                return None
            raise Exception(
                f"Invalid prefix encountered while decoding stream. Token ID: {self._ids[-1]}, "
                f"Expected prefix: '{prefix}', Actual string: '{text}'"
            )
        if len(text) == len(prefix):
            return None
        self._ids = self._ids[self._index :]
        self._prefix = decode(self._ids, skips)
        self._index = len(self._ids)
        return text[len(prefix) :]

    def _checked(
        self, text: Any, before: DecodeStream, real: Any, served: state.State, ids: list[int]
    ) -> str | None:
        """Return `text`, or the text of the real tokenizer if it differs.

        `text` is the result of a step with `ids`; `before` is the stream before this step.
        """
        call = f"DecodeStream({before._ids}, {self._skips}).step(tokenizer, {ids})"
        step = partial(before._advance, partial(_decode_really, real), ids)
        expected: str | None = served.check(text, step, call)
        if expected != text:
            self._ids, self._prefix, self._index = before._ids, before._prefix, before._index
        return expected

    def _clone(self) -> DecodeStream:
        stream = DecodeStream.__new__(DecodeStream)
        for name in DecodeStream.__slots__:
            setattr(stream, name, getattr(self, name))
        return stream

    def __copy__(self) -> DecodeStream:
        real = copy.copy(self._real or RealDecodeStream())  # tokenizers 0.22.2 cannot copy streams
        stream = self._clone()
        stream._real = self._real and real
        return stream

    def __deepcopy__(self, memo: Any) -> DecodeStream:
        return copy.copy(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return RealDecodeStream().__reduce_ex__(protocol)


def _decode_really(real: Any, ids: list[int], skip_special_tokens: bool) -> str:
    """Return the text of `ids`, as the real stream decodes it.

    A program may have replaced the method `decode` of `real`; the real stream does not call it.
    """
    return RealTokenizer.decode(real, ids, skip_special_tokens)  # type: ignore[no-any-return]


def _ids(id: Any) -> list[int]:
    """Return the ids of the argument `id` of `step`; raise the error of the real `step`."""
    RealDecodeStream().step(EMPTY, id)
    try:
        return [index(id)]
    except TypeError:
        return list(map(index, id))

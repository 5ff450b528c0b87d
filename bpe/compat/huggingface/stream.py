"""Define DecodeStream, which stands in for tokenizers.decoders.DecodeStream."""

from __future__ import annotations

import copy
from typing import Any

from bpe.compat.huggingface.real import RealDecodeStream
from bpe.compat.huggingface.tokenizer import Tokenizer


class DecodeStream:
    """Decodes ids one after the other, with a stand-in or a real tokenizers.Tokenizer.

    The real DecodeStream does the work. So errors, state and unusual prefixes are exactly its own,
    and a step is not faster than without bpe.
    """

    __slots__ = ("_real",)

    def __init__(self, ids: Any = None, skip_special_tokens: bool = False) -> None:
        self._real = RealDecodeStream(ids, skip_special_tokens)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class that this object stands in for."""
        return RealDecodeStream

    def step(self, tokenizer: Any, id: Any) -> str | None:
        """Return the text that an id, or a list of ids, completes."""
        if type(tokenizer) is Tokenizer:
            tokenizer = tokenizer.real
        return self._real.step(tokenizer, id)  # type: ignore[no-any-return]

    def __copy__(self) -> DecodeStream:
        return _of(copy.copy(self._real))

    def __deepcopy__(self, memo: Any) -> DecodeStream:
        return _of(copy.deepcopy(self._real, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._real.__reduce_ex__(protocol)


def _of(real: Any) -> DecodeStream:
    stream = DecodeStream.__new__(DecodeStream)
    stream._real = real
    return stream

"""Define DecodeStream, which checks the arguments of streams."""

from __future__ import annotations

from typing import Any

from bpe.compat.huggingface.record import rust
from bpe.compat.huggingface.record.tokenizer import Tokenizer


class DecodeStream:
    """Raises the errors of tokenizers.decoders.DecodeStream; decodes nothing."""

    def __init__(self, ids: Any = None, skip_special_tokens: bool = False) -> None:
        if ids is not None:
            rust.ids(ids)
        rust.flag(skip_special_tokens)

    def step(self, tokenizer: Any, id: Any) -> None:
        """Check the arguments of a step."""
        rust.instances([tokenizer], Tokenizer, "Tokenizer")
        try:
            rust.id_number(id)
        except (TypeError, OverflowError):
            try:
                rust.ids(id)
            except (TypeError, OverflowError):
                raise TypeError(
                    "StreamInput must be either an integer or a list of integers"
                ) from None

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle 'tokenizers.decoders.DecodeStream' object")

    def __copy__(self) -> DecodeStream:
        return DecodeStream()

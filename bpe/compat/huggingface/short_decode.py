"""Define ShortDecode: `decode` and `batch_decode` of transformers' tokenizers."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

import numpy as np

from bpe.compat.huggingface import settings
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.transformers_classes import TransformersClasses

_CLEANS_BPE = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"


class ShortDecode:
    """Answers frequent calls. A method returns None if the original method must answer."""

    def __init__(self, classes: TransformersClasses, decodes_batches: bool) -> None:
        """`decodes_batches` is True if the method `decode` accepts batches."""
        self._classes = classes
        self._decodes_batches = decodes_batches
        self.method: Any = None
        """The method that replaces `decode` of transformers, and calls `decode` of this class."""
        self._warned: WeakSet[type] = WeakSet()
        """The classes for which `_warn` has been called."""

    def decode(self, tok: Any, ids: Any, skip_special_tokens: Any, options: dict[str, Any]) -> Any:
        """Return the text of `ids`, or the texts of a batch."""
        if type(ids) is np.ndarray and ids.dtype.kind in "iu" and ids.ndim in (1, 2):
            ids = ids.tolist()
        if type(ids) is int:
            ids = [ids]
        if type(ids) is not list:
            return None
        is_batch = bool(ids) and type(ids[0]) is list
        if is_batch and not self._decodes_batches:
            return None
        return self._decoded(tok, ids, is_batch, skip_special_tokens, options)

    def batch(
        self, tok: Any, /, sequences: Any = None, skip_special_tokens: Any = False, *args: Any,
        **options: Any,
    ) -> Any:  # fmt: skip
        """Return the text of each of `sequences`."""
        if type(sequences) is np.ndarray and sequences.dtype.kind in "iu" and sequences.ndim == 2:
            sequences = sequences.tolist()
        if args or type(sequences) is not list or not sequences:
            return None
        if type(tok).decode is not self.method:  # transformers calls the method of a subclass
            return None
        if any(type(row) is not list or (row and type(row[0]) is list) for row in sequences):
            return None
        return self._decoded(tok, sequences, True, skip_special_tokens, options)

    def _decoded(
        self, tok: Any, ids: list[Any], is_batch: bool, skip_special_tokens: Any,
        options: dict[str, Any],
    ) -> Any:  # fmt: skip
        """Return the text of `ids`, or the texts of a batch."""
        served = self._classes.engine(tok)
        if served is None or type(skip_special_tokens) is not bool:
            return None
        engine, state, real = served
        decoding = engine.decoding
        # transformers calls a method `decode` that a program put on the real tokenizer.
        if decoding.fallback_reason or "decode" in vars(real):
            return None
        clean_up = options.get("clean_up_tokenization_spaces") if options else None
        if clean_up is None:
            clean_up = tok.clean_up_tokenization_spaces
        # transformers 4 lacks the attribute _CLEANS_BPE, and always cleans up.
        if clean_up and getattr(tok, _CLEANS_BPE, True):
            return None
        result: Any
        try:
            if is_batch:
                result = [decoding.decode(row, skip_special_tokens) for row in ids]
            else:
                result = decoding.short(ids, skip_special_tokens)
                if result is None:
                    result = decoding.decode(ids, skip_special_tokens)
        except CallFallbackError:
            return None  # the original method counts this fallback
        if clean_up:
            self._warn(tok)
        state.served += 1
        return result

    def _warn(self, tok: Any) -> None:
        """Let transformers warn, once for each class, that it does not clean up spaces."""
        if type(tok) not in self._warned:
            with settings.bypassed():
                tok._decode([], clean_up_tokenization_spaces=True)
            self._warned.add(type(tok))

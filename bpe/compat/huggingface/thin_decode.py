"""Define ThinDecode: `decode` and `batch_decode` of transformers' tokenizers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe.compat.huggingface.classes import Classes
from bpe.compat.huggingface.decoding import Decoding
from bpe.compat.huggingface.errors import CallFallbackError
from bpe.compat.huggingface.state import State

_CLEANS_BPE = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"


class ThinDecode:
    """Answers frequent calls. A method returns None if the original method must answer."""

    def __init__(self, classes: Classes, decodes_batches: bool) -> None:
        """`decodes_batches` is True if the method `decode` accepts batches."""
        self._classes = classes
        self._decodes_batches = decodes_batches
        self._warned: set[type] = set()

    def decode(self, tok: Any, ids: Any, skip_special_tokens: Any, options: dict[str, Any]) -> Any:
        """Return the text of `ids`, or the texts of a batch."""
        served = self._served(tok, skip_special_tokens, options)
        if served is None:
            return None
        decoding, state = served
        result: Any
        try:
            if type(ids) is np.ndarray and ids.dtype.kind in "iu" and ids.ndim in (1, 2):
                ids = ids.tolist()
            if type(ids) is not list:
                if type(ids) is not int:
                    return None
                result = decoding.decode([ids], skip_special_tokens)
            elif ids and type(ids[0]) is list:
                if not self._decodes_batches:
                    return None
                result = [decoding.decode(row, skip_special_tokens) for row in ids]
            else:
                result = decoding.decode(ids, skip_special_tokens)
        except CallFallbackError:
            return None  # the original method counts this fallback
        state.served += 1
        return result

    def batch(
        self, tok: Any, sequences: Any, skip_special_tokens: Any, options: dict[str, Any]
    ) -> list[str] | None:
        """Return the text of each of `sequences`."""
        served = self._served(tok, skip_special_tokens, options)
        if served is None:
            return None
        decoding, state = served
        if type(sequences) is np.ndarray and sequences.dtype.kind in "iu" and sequences.ndim == 2:
            sequences = sequences.tolist()
        if type(sequences) is not list or not sequences:
            return None
        if any(type(row) is not list or (row and type(row[0]) is list) for row in sequences):
            return None
        try:
            result = [decoding.decode(row, skip_special_tokens) for row in sequences]
        except CallFallbackError:
            return None
        state.served += 1
        return result

    def _served(
        self, tok: Any, skip_special_tokens: Any, options: dict[str, Any]
    ) -> tuple[Decoding, State] | None:
        """Return the Decoding and the State of `tok`; None if the original method must answer."""
        served = self._classes.engine(tok)
        if served is None or type(skip_special_tokens) is not bool:
            return None
        engine, state, real = served
        if "decode" in vars(real):  # transformers calls the method that a program replaced
            return None
        if engine.decoding.fallback_reason or not self._leaves_spaces(tok, options):
            return None
        return engine.decoding, state

    def _leaves_spaces(self, tok: Any, options: dict[str, Any]) -> bool:
        """Return whether transformers would neither clean up spaces nor warn that it does not."""
        clean_up = options.get("clean_up_tokenization_spaces") if options else None
        if clean_up is None:
            clean_up = tok.clean_up_tokenization_spaces
        if not clean_up:
            return True
        if getattr(tok, _CLEANS_BPE, True):  # transformers 4 lacks it, and always cleans up
            return False
        # The original method warns once for each class, so let it answer the first call.
        if type(tok) in self._warned:
            return True
        self._warned.add(type(tok))
        return False

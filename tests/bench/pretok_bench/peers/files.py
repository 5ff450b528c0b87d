"""Files and buffers that several adapters use."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pretok_bench.answers import Arrays
from pretok_bench.peer import CannotError
from pretok_bench.subject import Subject


def json_file(subject: Subject) -> Path:
    """Return the tokenizer.json of `subject`; raises CannotError if it has none."""
    if subject.json_file is None:
        raise CannotError("no tokenizer.json can hold this vocabulary")
    return subject.json_file


def model_file(subject: Subject) -> Path:
    """Return the .model of SentencePiece of `subject`; raises CannotError if it has none."""
    if subject.model_file is None:
        raise CannotError("no .model of SentencePiece can hold this vocabulary")
    return subject.model_file


def pattern_of(subject: Subject) -> str:
    """Return the pattern that splits text for `subject`.

    Raises CannotError if one pattern cannot do the split, or if `subject` has a normalizer.
    """
    if subject.preset is None or not subject.preset.pattern or subject.tokenizer.normalizer:
        raise CannotError("this vocabulary has a normalizer, or a split that is not one pattern")
    return subject.preset.pattern


def arrays_of_buffers(buffers: tuple[bytes, bytes]) -> Arrays:
    """Return ids and offsets from their bytes: ids of 32 bits, offsets of 64 bits."""
    ids, offsets = buffers
    return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64).astype(np.int64)

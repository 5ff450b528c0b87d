"""Files and buffers that several peers share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bpe.bench.answers import Arrays
from bpe.bench.peer import CannotError
from bpe.bench.subject import Subject


def json_file(subject: Subject) -> Path:
    """Return the tokenizer.json of `subject`; raises CannotError if it has none."""
    if subject.json_file is None:
        raise CannotError("no tokenizer.json can hold this vocabulary")
    return subject.json_file


def pattern_of(subject: Subject) -> str:
    """Return the pattern that splits text for `subject`; raises CannotError if it has none."""
    if subject.preset is None or not subject.preset.pattern or subject.tokenizer.normalizer:
        raise CannotError("this vocabulary splits or normalizes otherwise than by a pattern")
    return subject.preset.pattern


def arrays_of_buffers(buffers: tuple[bytes, bytes]) -> Arrays:
    """Return ids and offsets of their bytes: unsigned 32-bit ids, 64-bit offsets."""
    ids, offsets = buffers
    return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64).astype(np.int64)

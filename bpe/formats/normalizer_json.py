"""Convert the normalizer of a tokenizer.json to a NormalizerChain and back."""

from __future__ import annotations

from typing import Any

from bpe.errors import UnsupportedError
from bpe.formats.json_value import Value
from bpe.formats.step_json import read_step, write_step
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.normalizers.growth import problem_of_growth
from bpe.normalizers.step import TextStep
from bpe.normalizers.steps import NORMALIZERS
from bpe.types import NormalizesText


def read(normalizer: Value) -> tuple[TextStep, ...]:
    """Return the steps of a normalizer.

    Raises UnsupportedError for a step that bpe does not have, or if the steps grow a text too much,
    and VocabularyError for a malformed step.
    """
    parts = [part for part in normalizer.parts("normalizers") if part.value is not None]
    listed = tuple(read_step(part, NORMALIZERS) for part in parts)
    if problem := problem_of_growth(listed):
        raise normalizer.unsupported(f"the normalizers {problem}")
    return listed


def for_byte_level(listed: tuple[TextStep, ...]) -> NormalizerChain | None:
    """Return the normalizer of a byte-level tokenizer, or None if there is no step."""
    if set(listed) == set(NFC.steps):  # listed twice, NFC has the same effect
        return NFC
    return NormalizerChain(listed) if listed else None


def write(normalizer: NormalizesText | None) -> dict[str, Any] | None:
    """Return the normalizer of a tokenizer.json, without Metaspace, which is a pre_tokenizer.

    Raises UnsupportedError for any other normalizer, such as that of SentencePiece.
    """
    if normalizer is None:
        return None
    if not isinstance(normalizer, NormalizerChain):
        raise UnsupportedError(
            f"a tokenizer.json cannot hold the normalizer {type(normalizer).__name__}"
        )
    listed = list(map(write_step, normalizer.steps))
    if len(listed) == 1:
        return listed[0]
    return {"type": "Sequence", "normalizers": listed} if listed else None

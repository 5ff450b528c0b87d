"""List the normalizers that files can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from bpe.normalizers import steps
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import Field, Step, TextStep
from bpe.normalizers.unicode_forms import FORMS, UnicodeForm

AnyStep = TypeVar("AnyStep", bound=Step)


class Registry(Generic[AnyStep]):
    """The steps that files can hold, by name. The code of a step in a .pretok file is its index."""

    def __init__(self, makers: Mapping[str, Callable[..., AnyStep]]) -> None:
        self.makers = makers
        self.names: Sequence[str] = tuple(makers)

    def fields(self, name: str) -> Mapping[str, Field]:
        """Return the fields of a step."""
        maker = self.makers[name]
        fields: Mapping[str, Field] = getattr(maker, "FIELDS", {})
        return fields

    def code(self, step: Any) -> int:
        """Return the code of a step, or -1 if it has none.

        A subclass of a listed step has none, because it may have any other effect.
        """
        maker = self.makers.get(step.name)
        kind = getattr(maker, "func", maker)
        return self.names.index(step.name) if kind is type(step) else -1


NORMALIZERS: Registry[TextStep] = Registry(
    {
        **{form: partial(UnicodeForm, form) for form in FORMS},
        "Lowercase": steps.Lowercase,
        "StripAccents": steps.StripAccents,
        "Nmt": steps.Nmt,
        "ByteLevel": steps.ByteLevel,
        "Strip": steps.Strip,
        "BertNormalizer": steps.BertNormalizer,
        "Prepend": steps.Prepend,
        "Replace": steps.Replace,
        "Precompiled": Precompiled,
    }
)
STORED_NORMALIZERS: Registry[Any] = Registry(
    {**NORMALIZERS.makers, "SentencePieceNormalizer": SentencePieceNormalizer}
)
"""The normalizers of .pretok files."""

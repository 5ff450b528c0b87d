"""Define Step, the base of normalizers and decoders, and Field, a field of a step in files.

A step is a frozen dataclass. Its FIELDS say how files spell it: the readers and writers
(bpe/formats/step_json.py and bpe/normalizers/stored.py) work for any step. To add a step, write
its class in bpe/normalizers/steps.py or bpe/decoders/steps.py, and list it at the end of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, ClassVar, Generic, Literal, TypeVar

from bpe.normalizers.aligned_text import AlignedText
from bpe.normalizers.growth import Growth

MAX_TEXT = 256
"""The maximal length of a prefix, pattern or replacement in a file, in characters.

A long replacement could multiply the size of a text.
"""
MAX_COUNT = 256
"""The maximal value of a Field.COUNT."""
SCHEMES: tuple[Literal["always", "first", "never"], ...] = ("always", "first", "never")
"""The values of a Field.SCHEME."""


class Field(Enum):
    """The type of a field of a step."""

    FLAG = auto()
    OPTIONAL_FLAG = auto()
    """True, false or None."""
    TEXT = auto()
    """A text of at most MAX_TEXT characters."""
    FILLED_TEXT = auto()
    """A TEXT that is not empty."""
    CHARACTER = auto()
    """A text of one character."""
    COUNT = auto()
    SCHEME = auto()
    """When Metaspace puts a mark before a text."""
    PATTERN = auto()
    """A literal or, if the field `is_regex` of the step is true, a regex."""
    CHARSMAP = auto()
    """The rules of SentencePiece (bpe.normalizers.charsmap)."""
    ANY_TEXT = auto()
    """A text of any length."""


class Step:
    """A normalizer or decoder."""

    FIELDS: ClassVar[Mapping[str, Field]] = {}
    """The fields of the step, in their order in a .pretok file."""

    @property
    def name(self) -> str:
        """The type of the step in a tokenizer.json."""
        return type(self).__name__

    @property
    def has_regex(self) -> bool:
        """True if the step searches for matches of a regex."""
        return False

    def grow(self, growth: Growth) -> None:
        """Add to `growth` how much the step grows a text.

        This default is for a step that replaces a character by at most as many bytes.
        """


class TextStep(Step):
    """A normalizer. In a text, a lone surrogate stands for an invalid byte."""

    def normalize(self, text: str) -> str:
        """Return `text` normalized."""
        raise NotImplementedError

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` normalized.

        Each character of the result has the span in the original text that Hugging Face's
        tokenizers give to it.
        """
        raise NotImplementedError


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

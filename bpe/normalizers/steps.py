"""Define normalizers of Hugging Face's tokenizers.

Each dataclass has the name and the fields of its JSON object in a tokenizer.json, except that
Replace has `is_regex`. The sets of characters (bpe/normalizers/characters.py) are those of
tokenizers 0.23.3: it was run on every code point to find them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, Literal

from bpe.encoding.utf8 import ESCAPE
from bpe.normalizers.aligned_text import AlignedText, Span
from bpe.normalizers.characters import (
    CHINESE,
    COMBINING_MARKS,
    CONTROLS,
    NMT_DROPPED,
    NMT_SPACES,
    NONSPACING_MARKS,
    is_in,
    lowercase,
)
from bpe.normalizers.growth import Growth, utf8_size
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import Field, Registry, TextStep
from bpe.normalizers.unicode_forms import CANONICAL_GROWTH, FORMS, UnicodeForm
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.errors import UnknownPatternError
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError, compile_stage
from pretok.patterns.lookup import find_stage
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

NOT_COMPILED = UnknownPatternError, UnreadablePatternError, NotCompiledError
"""The errors for a regex that bpe cannot apply."""
_LOWER_GROWTH = 2
WHITE_SPACE = "".join(map(chr, sorted(WHITE_SPACE_CODE_POINTS)))


def is_stable(text: str) -> bool:
    """Return whether no Unicode form, lower case or BertNormalizer grows a character of `text`."""
    form = UnicodeForm("NFKD")
    return text.isascii() or all(
        form.normalize(char) == char and lowercase(char) == char and not is_in(CHINESE, char)
        for char in text
        if char >= "\x80"
    )


@dataclass(frozen=True)
class Prepend(TextStep):
    """Puts `prepend` before a text that is not empty."""

    FIELDS: ClassVar = {"prepend": Field.TEXT}

    prepend: str

    def grow(self, growth: Growth) -> None:
        """Add the size of the prefix."""
        growth.add(utf8_size(self.prepend), is_stable(self.prepend))

    def normalize(self, text: str) -> str:
        """Return `text` with the prefix."""
        return self.prepend + text if text else text

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` with the prefix."""
        return text.prepended(self.prepend)


@dataclass(frozen=True)
class Replace(TextStep):
    """Replaces each match of `pattern` by `content`.

    `pattern` is a regex if `is_regex`, else a literal. It must not be empty.

    Raises UnknownPatternError for a regex that pretok cannot compile to its rules (pretok.rules).
    """

    FIELDS: ClassVar = {"pattern": Field.PATTERN, "content": Field.TEXT}

    pattern: str
    content: str
    is_regex: bool = False

    def __post_init__(self) -> None:
        if self.is_regex:
            self.isolated  # noqa: B018  # raises UnknownPatternError

    def normalize(self, text: str) -> str:
        """Return `text` with the matches replaced."""
        if not self.is_regex:
            return text.replace(self.pattern, self.content)
        parts = []
        done = 0
        for start, end in self.matches(text):
            parts += [text[done:start], self.content]
            done = end
        return "".join([*parts, text[done:]])

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` with the matches replaced."""
        return text.replaced(self.matches(text.text), self.content)

    @property
    def has_regex(self) -> bool:
        """True if `pattern` is a regex."""
        return self.is_regex

    def grow(self, growth: Growth) -> None:
        """Add the growth of a match."""
        growth.multiply(self.factor, is_stable(self.content))

    @property
    def factor(self) -> int:
        """The maximal number of bytes that one byte becomes, at least 1."""
        # A match of a regex has at least one byte.
        matched = 1 if self.is_regex else utf8_size(self.pattern)
        return max(1, -(-utf8_size(self.content) // matched))

    def matches(self, text: str) -> list[Span]:
        """Return the spans of the matches, in order."""
        if self.is_regex:
            # The pieces of an "isolated" split are matches and the text between matches; the pieces
            # of a "removed" split are only the text between matches. So the matches are the pieces
            # of the first split that the second split lacks.
            between = set(_splitter(self.pattern, "removed").spans(text))
            return [span for span in self.isolated.spans(text) if span not in between]
        spans = []
        at = text.find(self.pattern)
        while at >= 0:
            spans.append((at, at + len(self.pattern)))
            at = text.find(self.pattern, spans[-1][1])
        return spans

    @property
    def isolated(self) -> PreTokenizer:
        """A pre-tokenizer whose rules match what the regex matches."""
        return _splitter(self.pattern, "isolated")


@lru_cache(maxsize=64)
def _splitter(pattern: str, behavior: Literal["isolated", "removed"]) -> PreTokenizer:
    stage = find_stage(pattern, "hf", behavior, False)
    if stage is None:
        stage = compile_stage(pattern, "hf", behavior, False)
    return PreTokenizer(Preset("replace", stages=(stage,)))


@dataclass(frozen=True)
class Lowercase(TextStep):
    """Converts each character to lower case, whatever its neighbors are."""

    def grow(self, growth: Growth) -> None:
        """Add the growth of the longest lower case."""
        growth.spell(_LOWER_GROWTH)

    def normalize(self, text: str) -> str:
        """Return `text` in lower case."""
        return text.lower() if text.isascii() else "".join(map(lowercase, text))

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` in lower case."""
        return text.expanded(lowercase)


@dataclass(frozen=True)
class Strip(TextStep):
    """Removes white space at the ends of a text."""

    FIELDS: ClassVar = {"strip_left": Field.FLAG, "strip_right": Field.FLAG}

    strip_left: bool = True
    strip_right: bool = True

    def normalize(self, text: str) -> str:
        """Return `text` without the white space."""
        text = text.lstrip(WHITE_SPACE) if self.strip_left else text
        return text.rstrip(WHITE_SPACE) if self.strip_right else text

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` without the white space."""
        whole = text.text
        start = len(whole) - len(whole.lstrip(WHITE_SPACE)) if self.strip_left else 0
        end = len(whole.rstrip(WHITE_SPACE)) if self.strip_right else len(whole)
        return text.part(start, max(start, end))


@dataclass(frozen=True)
class StripAccents(TextStep):
    """Removes combining marks. Composed characters keep their marks unless NFD comes before."""

    def normalize(self, text: str) -> str:
        """Return `text` without marks."""
        if text.isascii():
            return text
        return "".join([char for char in text if not is_in(COMBINING_MARKS, char)])

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` without marks."""
        return text.filtered(lambda char: not is_in(COMBINING_MARKS, char))


@dataclass(frozen=True)
class Nmt(TextStep):
    """Removes control characters, and replaces unusual spaces by U+0020."""

    def normalize(self, text: str) -> str:
        """Return `text` cleaned."""
        return text.translate(_nmt())

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` cleaned."""
        return text.expanded(self.normalize)


@cache
def _nmt() -> dict[int, str]:
    return dict.fromkeys(NMT_SPACES, " ") | dict.fromkeys(NMT_DROPPED, "")


@dataclass(frozen=True)
class BertNormalizer(TextStep):
    """The normalizer of BERT. If `strip_accents` is None, it has the value of `lowercase`."""

    FIELDS: ClassVar = {
        "clean_text": Field.FLAG,
        "handle_chinese_chars": Field.FLAG,
        "strip_accents": Field.OPTIONAL_FLAG,
        "lowercase": Field.FLAG,
    }

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    def normalize(self, text: str) -> str:
        """Return `text` normalized."""
        if self.clean_text:
            text = "".join(map(_cleaned, text))
        if self.handle_chinese_chars and not text.isascii():
            text = "".join(map(_between_spaces, text))
        if self.strips_accents and not text.isascii():
            decomposed = UnicodeForm("NFD").normalize(text)
            text = "".join([char for char in decomposed if not is_in(NONSPACING_MARKS, char)])
        return Lowercase().normalize(text) if self.lowercase else text

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` normalized."""
        if self.clean_text:
            text = text.expanded(_cleaned)
        if self.handle_chinese_chars:
            text = text.expanded(_between_spaces)
        if self.strips_accents:
            text = UnicodeForm("NFD").align(text)
            text = text.filtered(lambda char: not is_in(NONSPACING_MARKS, char))
        return Lowercase().align(text) if self.lowercase else text

    def grow(self, growth: Growth) -> None:
        """Add the growth of each option."""
        if self.handle_chinese_chars:
            growth.space_chinese()
        if self.strips_accents:
            growth.spell(CANONICAL_GROWTH)
        if self.lowercase:
            growth.spell(_LOWER_GROWTH)

    @property
    def strips_accents(self) -> bool:
        """True if the text is changed to NFD, and then loses its combining marks."""
        return self.lowercase if self.strip_accents is None else self.strip_accents


def _cleaned(char: str) -> str:
    r"""Return "" for a control character, a space for white space, and `char` otherwise.

    "\v", "\f" and U+0085 are both. They count as control characters.
    """
    return " " if char in WHITE_SPACE and char not in "\v\f\x85" else _printable(char)


def _printable(char: str) -> str:
    return "" if is_in(CONTROLS, char) else char


def _between_spaces(char: str) -> str:
    return f" {char} " if is_in(CHINESE, char) else char


@dataclass(frozen=True)
class ByteLevel(TextStep):
    """Writes each byte of UTF-8 as one of GPT-2's characters."""

    def grow(self, growth: Growth) -> None:
        """Add the growth of a byte whose character has two bytes."""
        growth.multiply(2, False)

    def normalize(self, text: str) -> str:
        """Return `text` in these characters."""
        return text.encode("utf-8", ESCAPE).decode("latin-1").translate(BYTE_CHARACTERS)

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` in these characters."""
        return text.expanded(self.normalize)


NORMALIZERS: Registry[TextStep] = Registry(
    {
        **{form: partial(UnicodeForm, form) for form in FORMS},
        "Lowercase": Lowercase,
        "StripAccents": StripAccents,
        "Nmt": Nmt,
        "ByteLevel": ByteLevel,
        "Strip": Strip,
        "BertNormalizer": BertNormalizer,
        "Prepend": Prepend,
        "Replace": Replace,
        "Precompiled": Precompiled,
    }
)
STORED_NORMALIZERS: Registry[Any] = Registry(
    {**NORMALIZERS.makers, "SentencePieceNormalizer": SentencePieceNormalizer}
)
"""The normalizers of .pretok files."""

"""Define TokenStep, the base of decoders, and the decoders of Hugging Face's library tokenizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from bpe.decoders.flows import (
    BytesOfCharacters,
    Distinct,
    Each,
    FallbackBytes,
    FirstAndRest,
    Flow,
    Held,
    LastAndRest,
    StripParts,
)
from bpe.normalizers.growth import Growth
from bpe.normalizers.step import Field, Registry, Step
from bpe.normalizers.steps import Replace as ReplaceText


class TokenStep(Step):
    """A decoder."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow.

        `errors` is the error handler for invalid UTF-8. If `in_parts`, the flow takes the parts of
        a single token.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ByteLevel(TokenStep):
    """Decodes the bytes that GPT-2's characters stand for, and joins all tokens."""

    def grow(self, growth: Growth) -> None:
        """Add the growth of a byte that becomes U+FFFD."""
        growth.spell(2)  # a character of two bytes stands for a byte

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = BytesOfCharacters(errors)
        return Held(flow) if in_parts else flow


@dataclass(frozen=True)
class ByteFallback(TokenStep):
    """Joins adjacent tokens such as <0x0A>, which stand for bytes, into the text of their bytes."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = FallbackBytes(errors)
        return Held(flow) if in_parts else flow


@dataclass(frozen=True)
class Fuse(TokenStep):
    """Joins all tokens, so that a later decoder takes their text as one token."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        return Each(lambda token: token)


@dataclass(frozen=True)
class Strip(TokenStep):
    """Strips the character `content`, at most `start` times in front of a token and `stop` times at
    its end.
    """

    FIELDS: ClassVar = {"content": Field.CHARACTER, "start": Field.COUNT, "stop": Field.COUNT}

    content: str
    start: int
    stop: int

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        return StripParts(self.content, self.start, self.stop) if in_parts else Each(self.strip)

    def strip(self, token: str) -> str:
        """Return `token` stripped."""
        start = len(token) - len(token.lstrip(self.content))
        token = token[min(start, self.start) :]
        return token[: max(len(token.rstrip(self.content)), len(token) - self.stop)]


@dataclass(frozen=True)
class Replace(ReplaceText, TokenStep):
    """Replaces each match of `pattern` in a token."""

    def grow(self, growth: Growth) -> None:
        """Add the growth of a match."""
        # Only characters of two bytes stand for bytes.
        is_stable = not any("\x80" <= char <= "\u07ff" for char in self.content)
        growth.multiply(self.factor, is_stable)

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = Each(self.normalize)
        # A match of one character lies within one part. Any other match may cross parts.
        is_local = len(self.pattern) == 1 and not self.is_regex
        return Held(flow) if in_parts and not is_local else flow


@dataclass(frozen=True)
class Metaspace(TokenStep):
    """Replaces each `replacement` by a space.

    Removes each `replacement` in the first token if `prepend_scheme` is "always" or "first".
    """

    FIELDS: ClassVar = {"replacement": Field.CHARACTER, "prepend_scheme": Field.SCHEME}

    replacement: str
    prepend_scheme: Literal["always", "first", "never"]

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        first = self._spaced if self.prepend_scheme == "never" else self._unmarked
        return Each(first) if in_parts else FirstAndRest(first, self._spaced)

    def _spaced(self, token: str) -> str:
        return token.replace(self.replacement, " ")

    def _unmarked(self, token: str) -> str:
        return token.replace(self.replacement, "")


@dataclass(frozen=True)
class BPEDecoder(TokenStep):
    """Replaces each `suffix` by a space, but removes each `suffix` in the last token."""

    FIELDS: ClassVar = {"suffix": Field.FILLED_TEXT}

    suffix: str

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = LastAndRest(
            lambda token: token.replace(self.suffix, ""),
            lambda token: token.replace(self.suffix, " "),
        )
        return Held(flow) if in_parts else flow


# The replacements of the library's option `cleanup`, in order.
_CLEANUP = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"),
    (" 'm", "'m"), (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def _cleaned(token: str) -> str:
    for old, new in _CLEANUP:
        token = token.replace(old, new)
    return token


@dataclass(frozen=True)
class CTC(TokenStep):
    """Drops `pad_token`, repeated tokens and empty tokens, as for the output of CTC models.

    If `cleanup`, also makes the replacements of _CLEANUP, and replaces `word_delimiter_token` by a
    space.
    """

    FIELDS: ClassVar = {
        "pad_token": Field.TEXT,
        "word_delimiter_token": Field.TEXT,
        "cleanup": Field.FLAG,
    }

    pad_token: str
    word_delimiter_token: str
    cleanup: bool

    def grow(self, growth: Growth) -> None:
        """Add the growth of an empty delimiter, which puts a space around each character."""
        if self.cleanup and not self.word_delimiter_token:
            growth.multiply(2, True)
            growth.add(1, True)

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = Distinct(self._changed)
        return Held(flow) if in_parts else flow

    def _changed(self, token: str) -> str:
        token = token.replace(self.pad_token, "")
        return _cleaned(token).replace(self.word_delimiter_token, " ") if self.cleanup else token


@dataclass(frozen=True)
class WordPiece(TokenStep):
    """Removes `prefix` from each token that begins with it, and puts a space before all others.

    The first token gets no space, and keeps `prefix`. If `cleanup`, also makes the replacements of
    _CLEANUP: " ?" becomes "?".
    """

    FIELDS: ClassVar = {"prefix": Field.TEXT, "cleanup": Field.FLAG}

    prefix: str
    cleanup: bool

    def grow(self, growth: Growth) -> None:
        """Add the space before a token."""
        growth.add(1, True)

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = FirstAndRest(self._cleaned, self._later)
        return Held(flow) if in_parts else flow

    def _later(self, token: str) -> str:
        if token.startswith(self.prefix):
            return self._cleaned(token[len(self.prefix) :])
        return self._cleaned(f" {token}")

    def _cleaned(self, token: str) -> str:
        return _cleaned(token) if self.cleanup else token


@dataclass(frozen=True)
class Spaces(TokenStep):
    """Puts a space between tokens, as Hugging Face's tokenizers does without a decoder."""

    def grow(self, growth: Growth) -> None:
        """Add the space before a token."""
        growth.add(1, True)

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        return FirstAndRest(lambda token: token, lambda token: f" {token}")


@dataclass(frozen=True)
class SentencePieceDecoding(Step):
    """The rules by which SentencePiece decodes the ids of a model.

    "▁" in a piece becomes a space. If `strips_space`, a space at the start of the first piece is
    dropped. If `strips_spaces` is also true, this is repeated for the following pieces, until a
    piece has text left. A token of `invisible` becomes no text. The unknown token becomes
    `unknown_surface`. Adjacent fallback tokens, such as <0x0A>, each stand for a byte. They become
    the text of these bytes, with one U+FFFD for each invalid byte.
    """

    FIELDS: ClassVar = {
        "strips_space": Field.FLAG,
        "strips_spaces": Field.FLAG,
        "unknown_surface": Field.ANY_TEXT,
    }

    strips_space: bool = True
    strips_spaces: bool = True
    invisible: frozenset[int] = frozenset()
    unknown_surface: str = " \u2047 "


DECODERS: Registry[TokenStep] = Registry(
    {
        "ByteLevel": ByteLevel,
        "ByteFallback": ByteFallback,
        "Fuse": Fuse,
        "Strip": Strip,
        "Replace": Replace,
        "Metaspace": Metaspace,
        "BPEDecoder": BPEDecoder,
        "WordPiece": WordPiece,
        "CTC": CTC,
    }
)
STORED_DECODERS: Registry[Any] = Registry(
    {**DECODERS.makers, "Spaces": Spaces, "SentencePieceDecoding": SentencePieceDecoding}
)
"""The decoders of .pretok files. A tokenizer.json has null in place of Spaces."""

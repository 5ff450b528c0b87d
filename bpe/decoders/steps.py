"""Define the decoders of Hugging Face's library tokenizers.

Each class except Replace has the fields of its JSON object in a tokenizer.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

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
from bpe.normalizers.steps import Replace as ReplaceText


class Step(Protocol):
    """A decoder."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow.

        `errors` is the error handler for invalid UTF-8. If `in_parts`, the flow takes the parts of
        a single token.
        """


@dataclass(frozen=True)
class ByteLevel:
    """Decodes the bytes that GPT-2's characters stand for, and joins all tokens."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = BytesOfCharacters(errors)
        return Held(flow) if in_parts else flow


@dataclass(frozen=True)
class ByteFallback:
    """Joins adjacent tokens such as <0x0A>, which stand for bytes, into the text of their bytes."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = FallbackBytes(errors)
        return Held(flow) if in_parts else flow


@dataclass(frozen=True)
class Fuse:
    """Joins all tokens, so that a later decoder takes their text as one token."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        return Each(lambda token: token)


@dataclass(frozen=True)
class Strip:
    """Strips the character `content`, at most `start` times in front of a token and `stop` times at
    its end.
    """

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
class Replace:
    """Replaces each match of `pattern` in a token."""

    replace: ReplaceText

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = Each(self.replace.normalize)
        # A match of one character lies within one part. Any other match may cross parts.
        is_local = len(self.replace.pattern) == 1 and not self.replace.is_regex
        return Held(flow) if in_parts and not is_local else flow


@dataclass(frozen=True)
class Metaspace:
    """Replaces each `replacement` by a space.

    Removes each `replacement` in the first token if `prepend_scheme` is "always" or "first".
    """

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
class BPEDecoder:
    """Replaces each `suffix` by a space, but removes each `suffix` in the last token."""

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
class CTC:
    """Drops `pad_token`, repeated tokens and empty tokens, as for the output of CTC models.

    If `cleanup`, also makes the replacements of _CLEANUP, and replaces `word_delimiter_token` by a
    space.
    """

    pad_token: str
    word_delimiter_token: str
    cleanup: bool

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        flow = Distinct(self._changed)
        return Held(flow) if in_parts else flow

    def _changed(self, token: str) -> str:
        token = token.replace(self.pad_token, "")
        return _cleaned(token).replace(self.word_delimiter_token, " ") if self.cleanup else token


@dataclass(frozen=True)
class WordPiece:
    """Removes `prefix` from each token that begins with it, and puts a space before all others.

    The first token gets no space, and keeps `prefix`. If `cleanup`, also makes the replacements of
    _CLEANUP: " ?" becomes "?".
    """

    prefix: str
    cleanup: bool

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
class Spaces:
    """Puts a space between tokens, as Hugging Face's tokenizers does without a decoder."""

    def flow(self, errors: str, in_parts: bool) -> Flow:
        """Return a new flow."""
        return FirstAndRest(lambda token: token, lambda token: f" {token}")

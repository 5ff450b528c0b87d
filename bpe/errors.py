"""The errors of bpe. Messages say what was expected, what was passed, and what to do."""

from __future__ import annotations

from pretok.errors import PretokError, PretokWarning
from pretok.errors import shortened as shortened

__all__ = [
    "BpeError",
    "ConversionError",
    "CorpusError",
    "MissingPresetError",
    "PublishedMismatchError",
    "SpecialTokenError",
    "TextFileError",
    "UnknownTokenError",
    "UnknownVocabularyError",
    "UnsupportedError",
    "VocabularyError",
    "VocabularyWarning",
]


class BpeError(PretokError):
    """Base of bpe's own errors."""


class VocabularyError(BpeError, ValueError):
    """A vocabulary, or a file that should hold one, is malformed or incomplete."""


class VocabularyWarning(PretokWarning):
    """A vocabulary was loaded, but not exactly as the file or an argument says."""


class MissingPresetError(VocabularyError):
    """Neither the vocabulary file `path` nor the caller names a preset.

    `reason` says why the file names none.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}; pass preset= to choose the split that the model was trained with: "
            'a preset such as "gpt2" (pretok.presets() lists all), or an object with a method '
            "offsets(text)"
        )
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason)


class PublishedMismatchError(VocabularyError):
    """The file `path` has the name of the published vocabulary `name`, but not its content.

    `digests` has the sha256 of each published file with this name.
    """

    def __init__(self, path: str, name: str, digests: tuple[str, ...], advice: str) -> None:
        # The command line shows `problem` with advice of its own: its arguments have other names.
        self.problem = (
            f"{path}: expected the published vocabulary {name} (sha256 {' or '.join(digests)}), "
            f"got another or damaged file of this name; {advice}"
        )
        super().__init__(f"{self.problem}, or pass preset= and special_tokens= to load this file")
        self.path = path
        self.name = name
        self.digests = digests
        self.advice = advice

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.name, self.digests, self.advice)


class UnsupportedError(BpeError, ValueError):
    """A vocabulary file is well-formed, but needs a feature that bpe does not have."""


class ConversionError(BpeError, ValueError):
    """A conversion would change the ids or the decoded text of `text`."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.text)


class TextFileError(BpeError, ValueError):
    """A file of texts is damaged, malformed, or of an unknown type."""


class CorpusError(BpeError, ValueError):
    """A folder does not hold the corpus that is expected, or its files are damaged."""


class UnknownVocabularyError(BpeError, LookupError):
    """No vocabulary of this name is on this machine."""


class UnknownTokenError(BpeError, ValueError):
    """No token has this id or these bytes."""


class SpecialTokenError(BpeError, ValueError):
    """A text holds a special token that the call does not allow.

    `token` is the content of the token. `position` is the offset of the token: in code points if
    the text is a str, in bytes if it is bytes. `text_index` is the index of the text in a batch, or
    of the segment, or None for a single text. `texts_name` is what the message calls the batch.
    """

    def __init__(
        self, token: str, position: int, text_index: int | None = None, texts_name: str = "texts"
    ) -> None:
        place = "the text" if text_index is None else f"{texts_name}[{text_index}]"
        super().__init__(
            f"{place} holds the special token {shortened(token)} at offset {position}; pass "
            'special="text" to encode it as ordinary text, special="allow" to allow every special '
            "token, or a set of special tokens to allow"
        )
        self.token = token
        self.position = position
        self.text_index = text_index
        self.texts_name = texts_name

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.token, self.position, self.text_index, self.texts_name)


def named_error(error: Exception, name: str) -> Exception:
    """Return the error of an item that is called `name`, with the name in its message."""
    if isinstance(error, UnicodeEncodeError):
        error.reason += f" ({name})"
        return error
    is_plain = type(error) in (TypeError, ValueError, UnknownTokenError)
    return type(error)(f"{name}: {error}") if is_plain else error

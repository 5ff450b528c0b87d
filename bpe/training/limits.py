"""Limits on the memory of training."""

from __future__ import annotations

from typing import NamedTuple

from bpe.errors import TextFileError

MAX_PRE_TOKEN = 16 << 20
MAX_TEXT = 64 << 20


def check_positive(**arguments: int | None) -> None:
    """Raise ValueError unless each argument is None or an int of at least 1."""
    for name, value in arguments.items():
        if value is not None and (type(value) is not int or value < 1):
            raise ValueError(f"{name}={value!r:.40}; expected None or an int of at least 1")


class Limits(NamedTuple):
    """The maximum size in bytes of a pre-token, and of a text that must be in memory as a whole."""

    pre_token: int = MAX_PRE_TOKEN
    text: int = MAX_TEXT

    @classmethod
    def of(cls, max_pre_token: int | None, max_text: int | None) -> Limits:
        """Return limits with these values; None selects the default.

        Raises ValueError unless each value is None or an int of at least 1.
        """
        check_positive(max_pre_token=max_pre_token, max_text=max_text)
        return cls(max_pre_token or MAX_PRE_TOKEN, max_text or MAX_TEXT)


class TooLongError(ValueError):
    """A pre-token or a text is longer than its limit."""

    def at(self, name: str | None) -> ValueError:
        """Return the error for the caller; `name` is the file of the text, or None."""
        return TextFileError(f"{name}: {self}") if name is not None else ValueError(str(self))


def too_long_pre_token(limits: Limits) -> TooLongError:
    """Return the error for a pre-token that is too long."""
    return TooLongError(
        f"a pre-token has more than {limits.pre_token} bytes; choose a preset that splits this "
        "text, split it yourself, or pass a larger max_pre_token="
    )


def too_long_text(limits: Limits) -> TooLongError:
    """Return the error for a text that is too long."""
    return TooLongError(
        f"the pre-tokenizer needs the whole text, but it has more than {limits.text} bytes; "
        "split it, or pass a larger max_text="
    )

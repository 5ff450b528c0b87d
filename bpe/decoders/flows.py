"""Define Flow, the state of one decoder, and flows for several decoders.

A decoder of Hugging Face's tokenizers takes a list of tokens and returns a list. A flow takes the
tokens one by one, so that a stream of ids can be decoded. The decoder `Fuse` joins all tokens into
one token. A stream cannot wait for this whole token, so each flow after `Fuse` takes it in parts.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable

from bpe.encoding.utf8 import ESCAPE
from pretok.byte_characters import BYTE_CHARACTERS

_BYTES = {char: byte for byte, char in enumerate(BYTE_CHARACTERS)}


class Flow(ABC):
    """The state of one decoder while it decodes one stream of tokens."""

    @abstractmethod
    def feed(self, token: str) -> list[str]:
        """Return the tokens that `token` completes."""

    def finish(self) -> list[str]:
        """Return the last tokens."""
        return []

    @abstractmethod
    def middle(self, token: str) -> str:
        """Return what a token between other tokens becomes."""

    def whole(self, token: str) -> str:
        """Return what a token without other tokens becomes."""
        return self.middle(token)

    def skip_start(self) -> None:  # noqa: B027
        """Change a new flow as if other tokens had come before: later ones keep their space."""


class Each(Flow):
    """Changes each token independently of the other tokens."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change

    def middle(self, token: str) -> str:
        """Return the changed token."""
        return self._change(token)

    def feed(self, token: str) -> list[str]:
        """Return the changed token."""
        return [self._change(token)]


class Distinct(Each):
    """Drops each token that equals the previous token, changes all others, drops empty results."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__(change)
        self._previous: str | None = None

    def feed(self, token: str) -> list[str]:
        """Return the changed token, or nothing."""
        is_repeated = token == self._previous
        self._previous = token
        changed = "" if is_repeated else self._change(token)
        return [changed] if changed else []


class FirstAndRest(Flow):
    """Changes the first token in one way, and all other tokens in another."""

    def __init__(self, first: Callable[[str], str], rest: Callable[[str], str]) -> None:
        self._change = first
        self._rest = rest

    def middle(self, token: str) -> str:
        """Return the token, changed as one that is not the first."""
        return self._rest(token)

    def whole(self, token: str) -> str:
        """Return the token, changed as the first one."""
        return self._change(token)

    def skip_start(self) -> None:
        """Change no token as the first one."""
        self._change = self._rest

    def feed(self, token: str) -> list[str]:
        """Return the changed token."""
        changed = self._change(token)
        self._change = self._rest
        return [changed]


class LastAndRest(Flow):
    """Changes the last token in one way, and all other tokens in another."""

    def __init__(self, last: Callable[[str], str], rest: Callable[[str], str]) -> None:
        self._last = last
        self._rest = rest
        self._pending: list[str] = []

    def middle(self, token: str) -> str:
        """Return the token, changed as one that is not the last."""
        return self._rest(token)

    def whole(self, token: str) -> str:
        """Return the token, changed as the last one."""
        return self._last(token)

    def feed(self, token: str) -> list[str]:
        """Return the previous token, changed. Keep `token`, because it may be the last."""
        changed = [self._rest(pending) for pending in self._pending]
        self._pending = [token]
        return changed

    def finish(self) -> list[str]:
        """Return the changed last token."""
        return [self._last(pending) for pending in self._pending]


class Held(Flow):
    """Joins the parts of one token, and passes the token to another flow at the end."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._parts: list[str] = []

    def middle(self, token: str) -> str:
        """Return what the other flow makes of the token alone."""
        return self._flow.whole(token)

    def feed(self, token: str) -> list[str]:
        """Keep the part."""
        self._parts.append(token)
        return []

    def finish(self) -> list[str]:
        """Pass the joined token to the other flow, and return the tokens of that flow."""
        return self._flow.feed("".join(self._parts)) + self._flow.finish()


class StripParts(Flow):
    """Strips the ends of one token that comes in parts, as bpe.decoders.steps.Strip does.

    Text that is held back at the end is stripped.
    """

    def __init__(self, char: str, start: int, stop: int) -> None:
        self._char = char
        self._start = start
        self._stop = stop
        self._held = ""

    def middle(self, token: str) -> str:
        """Return the token, which is not at an end of the text."""
        return token

    def skip_start(self) -> None:
        """Strip nothing at the start."""
        self._start = 0

    def feed(self, token: str) -> list[str]:
        """Return the text that is kept; hold back the end that is stripped if no text follows."""
        while self._start and token:
            if token[0] != self._char:
                self._start = 0
                break
            token = token[1:]
            self._start -= 1
        text = self._held + token
        kept = text.rstrip(self._char)
        kept = text[: max(len(kept), len(text) - self._stop)]
        self._held = text[len(kept) :]
        return [kept]


def bytes_of_characters(token: str) -> bytes:
    """Return the bytes that GPT-2's characters stand for.

    A token with any other character stands for its own UTF-8.
    """
    try:
        return bytes([_BYTES[char] for char in token])
    except KeyError:
        return token.encode("utf-8", ESCAPE)


class BytesOfCharacters(Flow):
    """Decodes the bytes of tokens (`bytes_of_characters`) as UTF-8."""

    def __init__(self, errors: str) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

    def middle(self, token: str) -> str:
        """Return the bytes of the token, with escapes for invalid UTF-8."""
        return bytes_of_characters(token).decode("utf-8", ESCAPE)

    def feed(self, token: str) -> list[str]:
        """Return the characters that are complete after `token`; keep the bytes of the next one."""
        return [self._decoder.decode(bytes_of_characters(token))]

    def finish(self) -> list[str]:
        """Return the text of incomplete characters."""
        return [self._decoder.decode(b"", final=True)]


class FallbackBytes(Flow):
    """Decodes each run of adjacent tokens such as <0x0A> as UTF-8.

    If a run is invalid and `errors` is "replace", each byte of the run becomes U+FFFD.
    """

    def __init__(self, errors: str) -> None:
        self._errors = errors
        self._run = bytearray()

    def middle(self, token: str) -> str:
        """Return the byte of a fallback token, with an escape for invalid UTF-8."""
        byte = fallback_byte(token)
        return token if byte is None else bytes([byte]).decode("utf-8", ESCAPE)

    def feed(self, token: str) -> list[str]:
        """Keep the byte of a fallback token.

        For any other token, return the text of the kept bytes, and the token.
        """
        byte = fallback_byte(token)
        if byte is None:
            return [*self.finish(), token]
        self._run.append(byte)
        return []

    def finish(self) -> list[str]:
        """Return the text of the last bytes."""
        run = bytes(self._run)
        self._run.clear()
        if not run:
            return []
        try:
            return [run.decode()]
        except UnicodeDecodeError:
            if self._errors == "replace":
                return ["\ufffd"] * len(run)
            return [run.decode("utf-8", self._errors)]


def fallback_byte(token: str) -> int | None:
    """Return the byte of a token such as <0x0A>, or None.

    >>> fallback_byte("<0x0A>"), fallback_byte("<0x>")
    (10, None)
    """
    if len(token) != 6 or not token.isascii() or token[:3] != "<0x" or token[5] != ">":
        return None
    # The library parses the digits with Rust's from_str_radix, which allows a plus sign: <0x+A>.
    digits = token[4:5] if token[3] == "+" else token[3:5]
    if not all(digit in "0123456789abcdefABCDEF" for digit in digits):
        return None
    return int(digits, 16)

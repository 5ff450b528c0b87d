"""Define StopStrings, which finds strings that end a text that comes in parts."""

from __future__ import annotations

from collections.abc import Iterable

from pretok.errors import shortened

MAX_BYTES = 1 << 16
"""The maximal size of all stop strings together, in UTF-8."""


def as_stop_strings(stop: str | Iterable[str]) -> tuple[str, ...]:
    """Return the argument `stop` as a tuple; raise TypeError or ValueError if it is wrong."""
    strings = (stop,) if isinstance(stop, str) else tuple(stop)
    for text in strings:
        if not isinstance(text, str):
            raise TypeError(f"stop has a {type(text).__name__}; expected a str or several")
        if not text:
            raise ValueError("stop has an empty string, which would end every text; remove it")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"stop has {shortened(text)}; expected no lone surrogate") from None
    if sum(len(text.encode()) for text in strings) > MAX_BYTES:
        raise ValueError(f"stop has more than {MAX_BYTES} bytes; expected fewer or shorter strings")
    return strings


class StopStrings:
    """The state of the search for strings. cpp/core/decode/stop_strings.hpp has the same results.

    >>> search = StopStrings(("\\n\\n", "END"))
    >>> search.feed("a\\nE"), search.feed("N!"), search.feed("END."), search.stopped
    ('a\\n', 'EN!', '', 1)
    """

    def __init__(self, strings: tuple[str, ...]) -> None:
        self._strings = strings
        self._starts = {text[:size] for text in strings for size in range(1, len(text) + 1)}
        self._held = ""
        self.stopped: int | None = None
        """The index of the string that has ended the text, or None."""

    def feed(self, text: str) -> str:
        """Return the text that cannot begin a string; nothing after a string.

        The string that ends first counts; of several that end at the same character, the longest.
        """
        parts: list[str] = []
        for char in text if self.stopped is None else "":
            held = self._held + char
            start = next((at for at in range(len(held)) if held[at:] in self._starts), len(held))
            parts.append(held[:start])
            self._held = held[start:]
            ended = [string for string in self._strings if self._held.endswith(string)]
            if ended:
                longest = max(ended, key=len)
                self.stopped = self._strings.index(longest)
                parts.append(self._held.removesuffix(longest))
                self._held = ""
                break
        return "".join(parts)

    def finish(self) -> str:
        """Return the text that is held back."""
        held, self._held = self._held, ""
        return held

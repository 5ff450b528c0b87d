"""What Tokenizer gives besides ids: tokens with their spans, and what a template adds."""

from __future__ import annotations

from typing import NamedTuple


class Token(NamedTuple):
    """A token of a text: its id, its bytes, and the half-open span (start, end) it comes from.

    The span counts code points of a str, bytes of bytes. A token that has only some of the bytes
    of a code point has all of it in its span.
    """

    id: int
    bytes: bytes
    start: int
    end: int


class Template(NamedTuple):
    """The ids that `add_special_tokens` puts before and behind those of a text."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

"""Define SentencePieceNormalizer, which normalizes text as SentencePiece does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

from bpe.characters.marks import SPACE_MARK
from bpe.encoding.utf8 import ESCAPE, has_surrogates
from bpe.errors import UnsupportedError, shortened
from bpe.normalizers.charsmap import Charsmap
from bpe.normalizers.step import Field, Step
from bpe.once import once

MAX_SYMBOL = 256
"""The maximal length of a user-defined symbol, in characters.

Symbols are searched at each position of a text, so long symbols would make the search slow.
"""

_Trie: TypeAlias = "dict[str, Any]"
_END = ""


@dataclass(frozen=True)
class SentencePieceNormalizer(Step):
    """The normalizer_spec of a SentencePiece model. Takes linear time.

    At each position of a text, from left to right, the longest symbol of `user_defined` that
    matches is kept. If no symbol matches, the longest rule of `charsmap` that matches is applied.
    If no rule matches, the character is kept, and an invalid byte becomes U+FFFD.

    `remove_extra_whitespaces` drops spaces at both ends of the text, and leaves one space between
    words. `escape_whitespaces` replaces each space by "▁". `add_dummy_prefix` puts a space before
    the text; if `treat_whitespace_as_suffix`, the space is put after the text instead.

    If `continues`, the text continues a text that ends with a character other than a space. Then no
    space is put before the text, and a space at its start is kept.

    >>> SentencePieceNormalizer().normalize("  Hi  you ")
    '▁Hi▁you'
    """

    FIELDS: ClassVar = {
        "charsmap": Field.CHARSMAP,
        "add_dummy_prefix": Field.FLAG,
        "remove_extra_whitespaces": Field.FLAG,
        "escape_whitespaces": Field.FLAG,
        "treat_whitespace_as_suffix": Field.FLAG,
    }

    charsmap: bytes = field(default=b"", repr=False)
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    user_defined: tuple[str, ...] = field(default=(), repr=False)
    continues: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        for symbol in self.user_defined:
            if len(symbol) > MAX_SYMBOL:
                raise UnsupportedError(
                    f"user-defined symbol {shortened(symbol)} has {len(symbol)} characters; "
                    f"expected at most {MAX_SYMBOL}"
                )
        self._rules  # noqa: B018  # raises VocabularyError for a malformed charsmap

    @once
    def _rules(self) -> Charsmap | None:
        return Charsmap(self.charsmap) if self.charsmap else None

    @once
    def _symbols(self) -> _Trie:
        """The user-defined symbols, as a trie; a node with the key _END ends a symbol."""
        root: _Trie = {}
        for symbol in self.user_defined:
            node = root
            for char in symbol:
                node = node.setdefault(char, {})
            node[_END] = {}
        return root

    def normalize(self, text: str) -> str:
        """Return `text` normalized; a lone surrogate stands for an invalid byte."""
        if self.charsmap or self.user_defined or self.remove_extra_whitespaces or not text:
            return self.align(text)[0]
        before, after = self._spaces
        return self._escape(before + "".join(map(_valid, _runs(text))) + after)

    def align(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Return `text` normalized, and the span in `text` of each character of the result.

        A span ends where the next one begins, as in SentencePiece.
        """
        trims = self.remove_extra_whitespaces
        before, after = self._spaces
        space = self._escape(" ")
        chars: list[str] = []  # the result
        origins: list[int] = []  # the start of the span of each of `chars`
        consumed = 0  # the number of characters of `text` that are done
        has_begun, is_after_space = self.continues, trims and not self.continues
        for replacement, size in self._steps(text):
            if not has_begun:
                if trims and replacement == " ":
                    consumed += size
                    continue
                has_begun = True
                chars.extend(self._escape(before))
                origins.extend([consumed] * len(before))
            if is_after_space:
                replacement = replacement.lstrip(" ")
            if replacement:
                chars.extend(self._escape(replacement))
                origins.extend([consumed] * len(replacement))
                is_after_space = trims and replacement.endswith(" ")
            consumed += size
        if not has_begun:
            return "", []
        while trims and chars and chars[-1] == space:
            chars.pop()
            consumed = origins.pop()
        chars.extend(self._escape(after))
        origins.extend([consumed] * len(after))
        return "".join(chars), list(pairwise([*origins, consumed]))

    @property
    def _spaces(self) -> tuple[str, str]:
        """The spaces that are put before and after a text."""
        space = " " if self.add_dummy_prefix else ""
        if self.treat_whitespace_as_suffix:
            return "", space
        return "" if self.continues else space, ""

    def continuing(self) -> SentencePieceNormalizer:
        """Return the normalizer with `continues`."""
        return replace(self, continues=True)

    def _escape(self, text: str) -> str:
        return text.replace(" ", SPACE_MARK) if self.escape_whitespaces else text

    def _steps(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the replacement of each part of `text`, and the length of the part."""
        rules, symbols = self._rules, self._symbols
        utf8 = text.encode("utf-8", ESCAPE) if rules is not None else b""
        at = byte = 0
        while at < len(text):
            length = _longest(symbols, text, at) if text[at] in symbols else 0
            part = replacement = text[at : at + (length or 1)]
            if not length:
                size, by_rule = rules.longest(utf8, byte) if rules is not None else (0, "")
                if size:
                    replacement = by_rule
                    part = utf8[byte : byte + size].decode()
                else:
                    replacement = _valid(part)
            yield replacement, len(part)
            at += len(part)
            if rules is not None:
                byte += len(part.encode("utf-8", ESCAPE))


def _longest(symbols: _Trie, text: str, at: int) -> int:
    """Return the length of the longest of `symbols` at `at`, or 0."""
    node = symbols
    longest = 0
    for end in range(at, len(text)):
        below = node.get(text[end])
        if below is None:
            break
        node = below
        if _END in node:
            longest = end + 1 - at
    return longest


def _runs(text: str) -> Iterable[str]:
    """Return `text` in one part, or in single characters if it has invalid bytes."""
    return text if has_surrogates(text) else (text,)


def _valid(part: str) -> str:
    """Return U+FFFD for an invalid byte, else `part`."""
    return "\ufffd" if "\ud800" <= part <= "\udfff" and len(part) == 1 else part

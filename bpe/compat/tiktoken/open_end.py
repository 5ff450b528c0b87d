"""Encode text whose end is open: truncated bytes, and text with possible completions.

An id is unstable if more text after the end may change it. This module counts the ids of the last
pre-token as unstable. If the first of these ids is white space, the ids of white space before it
are unstable too. The rule is tiktoken's, and an approximation: more text may change other ids too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from bpe.encoding.added_tokens import AddedTokens, word_ranges
from bpe.merge import merge, merge_finder
from bpe.tokenizer import Tokenizer
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

_WHITE_SPACE = frozenset(map(chr, WHITE_SPACE_CODE_POINTS))


class OpenEnd:
    """Encodes text that may continue after its end, with one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, sorted_tokens: Sequence[bytes]) -> None:
        self._tokenizer = tokenizer
        self._tokens = tokenizer.vocabulary.token_bytes
        self._ids = tokenizer.vocabulary.ids
        self._sorted = sorted_tokens
        self._find = merge_finder(tokenizer.vocabulary)
        # `merge_whole` returns a single id for a pre-token that is a token; `_merge` does not.
        self.merge_whole = tokenizer.merge

    def encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes that may be invalid UTF-8.

        The text before the first invalid byte is encoded. Then the bytes of its unstable ids, and
        all later bytes of `data`, are merged as one pre-token.
        """
        try:
            return self._tokenizer.encode(data.decode(), "text")
        except UnicodeDecodeError as error:
            valid = error.start
        text = data[:valid].decode()
        ids = self._tokenizer.encode(text, "text")
        start = len(ids) - self._unstable_count(ids, self._last_count(text, frozenset()))
        return ids[:start] + self.merge_whole(self._bytes_of(ids[start:]) + data[valid:])

    def completions(self, text: str, allowed: frozenset[str]) -> tuple[list[int], list[list[int]]]:
        """Return the ids that do not depend on what follows `text`, and the sorted completions.

        `allowed` are special tokens. Raises UnicodeEncodeError for lone surrogates.
        """
        ids = self._tokenizer.encode(text, allowed or "text", errors="strict")
        start = len(ids) - self._unstable_count(ids, self._last_count(text, allowed))
        rest = self._bytes_of(ids[start:])  # the bytes of the unstable ids
        if not rest:
            return ids, []
        # There are three kinds of completions: one token that begins with `rest`; the ids of `rest`
        # with a longer token in place of its end; the ids of `rest` split in its white space.
        completions: set[tuple[int, ...]] = {
            (self._ids[token],) for token in self._starting_with(rest)
        }
        for cut in range(1, len(rest)):
            completions.update(self._straddling(rest, cut))
        completions.update(self._split_in_space(rest))
        return ids[:start], [list(completion) for completion in sorted(completions)]

    def _merge(self, data: bytes) -> tuple[int, ...]:
        """Return the ids of `data`, merged from single bytes even if `data` is a token."""
        if data not in self._ids:
            return tuple(self.merge_whole(data))
        symbols = [self._ids[data[at : at + 1]] for at in range(len(data))]
        return tuple(merge(symbols, self._find))

    def _last_count(self, text: str, allowed: frozenset[str]) -> int:
        """Return the number of ids of the last pre-token; 0 if an added token ends the text."""
        added = [
            token
            for token in self._tokenizer.added_tokens
            if token.content in allowed or not token.special
        ]
        words = word_ranges() if any(token.single_word for token in added) else ()
        data = text.encode()
        start = 0
        for segment in AddedTokens(added, words).split(data):
            start = segment.start if segment.token is None else segment.end
        if start == len(data):
            return 0
        end = data[start:].decode()
        last = int(self._tokenizer.pre_tokenizer.offsets(end)[-2])
        return len(self.merge_whole(end[last:].encode()))

    def _unstable_count(self, ids: list[int], count: int) -> int:
        """Return the number of unstable ids; `count` is the number of ids of the last pre-token.

        If the first id of the last pre-token is white space, the ids of white space before it are
        unstable too.
        """
        if count and self._is_space(ids[-count]):
            while count < len(ids) and self._is_space(ids[-count - 1]):
                count += 1
        return count

    def _is_space(self, id: int) -> bool:
        """Return whether the token has only spaces, newlines and tabs, and is not special."""
        return not self._tokens.get(id, b"special").strip(b" \n\t")

    def _bytes_of(self, ids: list[int]) -> bytes:
        return b"".join([self._tokens[id] for id in ids])

    def _starting_with(self, start: bytes) -> Iterator[bytes]:
        """Yield the tokens that begin with `start`, in ascending order."""
        for at in range(bisect_left(self._sorted, start), len(self._sorted)):
            if not self._sorted[at].startswith(start):
                return
            yield self._sorted[at]

    def _straddling(self, rest: bytes, cut: int) -> Iterator[tuple[int, ...]]:
        """Yield the ids of `rest[:cut] + token` for each token that begins with `rest[cut:]`.

        Valid UTF-8 is encoded as text; other bytes are merged as one pre-token. Ids that begin at
        or after the end of `rest` are dropped.
        """
        texts = []
        for token in self._starting_with(rest[cut:]):
            data = rest[:cut] + token
            try:
                texts.append(data.decode())
            except UnicodeDecodeError:
                yield self._covering(self._merge(data), len(rest))
        for ids in self._tokenizer.encode_batch(texts, "text"):
            yield self._covering(ids, len(rest))

    def _covering(self, ids: Sequence[int], size: int) -> tuple[int, ...]:
        """Return the shortest prefix of `ids` with at least `size` bytes."""
        for count, id in enumerate(ids, 1):
            size -= len(self._tokens[id])
            if size <= 0:
                return tuple(ids[:count])
        return tuple(ids)

    def _split_in_space(self, rest: bytes) -> Iterator[tuple[int, ...]]:
        r"""If `rest` ends with white space, yield its ids split before the last code point.

        More text can cause this split: in GPT-2's split, "\n\n" is one pre-token, but "\n\n0" is
        the three pre-tokens "\n", "\n" and "0".
        """
        last = rest.decode("utf-8", "replace")[-1]
        size = len(last.encode())
        if last in _WHITE_SPACE and size < len(rest):
            yield self._merge(rest[:-size]) + self._merge(rest[-size:])

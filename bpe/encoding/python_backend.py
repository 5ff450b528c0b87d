"""Define PythonBackend, which encodes text in pure Python, and Backend, this one or that in C++."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import index as as_int
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.added_tokens import GIVEN_TOKEN
from bpe.encoding.packed import PackedTexts
from bpe.encoding.ranged_tokens import AddedTokenSearch
from bpe.encoding.utf8 import StrOrBytes, decode_utf8, encode_utf8, has_surrogates
from bpe.errors import SpecialTokenError, UnknownTokenError
from bpe.normalizers.unicode_forms import is_normal
from bpe.types import Ids, Offsets

if TYPE_CHECKING:
    from pretok import _core

Calls = TypeVar("Calls")


def concatenate_ids(rows: Sequence[Sequence[int]]) -> tuple[Ids, Offsets]:
    """Return the ids of all `rows`, and n + 1 offsets: row i is ids[offsets[i]:offsets[i + 1]]."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.fromiter((id for row in rows for id in row), np.uint32, int(offsets[-1])), offsets


class PythonBackend:
    """The Backend in pure Python; also used for pre-tokenizers that are written in Python.

    It gives the results of _core.Tokenizer, which is the Backend in C++ and also normalizes text.
    In a str, a surrogate pair counts as the character that it encodes, and a lone surrogate as
    U+FFFD. `added` comes from `make_added`. The position of a SpecialTokenError is in bytes.
    `threads` bounds the number of threads; 0 lets the backend choose. If `continuation`, no prefix
    comes before the text.

    PythonBackend ignores `threads`, and has no caches of its own; `cache_bytes` ignores a cache
    that `merge` keeps. `split` splits UTF-8 into pre-tokens. `merge` returns the ids of one
    pre-token, and `merges` all merges of the vocabulary, one per row.
    """

    cache_bytes = 0
    normalizer = "none"
    """How the backend normalizes text: "none", "nfc", "sentencepiece" or "chain"."""
    takes_spaces = False
    """True if spaces of a text stand for "▁", so that the text needs no normalizer."""

    def __init__(
        self,
        split: Callable[[bytes], Iterable[bytes]],
        merge: Callable[[bytes], list[int]],
        merges: Callable[[], NDArray[np.uint32]],
        token_bytes: dict[int, bytes],
        add_prefix_space: bool,
        spans_in: Callable[[bytes], list[tuple[int, int]]] | None = None,
        spans: Callable[[bytes], Iterable[tuple[int, int]]] | None = None,
        trim_merger: Callable[[], None] | None = None,
    ) -> None:
        """Store the steps.

        If pre-tokens do not cover the text, `spans` replaces `split`, and returns the spans of
        pre-tokens. `spans_in` returns the span of each id of `merge` in the pre-token. Without
        `spans_in`, an id stands for the bytes of its token. `trim_merger` frees the cache of
        `merge`, if it has one.
        """
        self._split = split
        self.merge = merge
        self.merges = merges
        self._token_bytes = token_bytes
        self._spans_in = spans_in
        self._spans = spans
        self._trim_merger = trim_merger
        self._add_prefix_space = add_prefix_space

    def encode(
        self,
        text: StrOrBytes,
        added: AddedTokenSearch,
        threads: int = 0,
        continuation: bool = False,
    ) -> list[int]:
        """Return the ids of `text`."""
        pieces = self._pieces(encode_utf8(text), added, continuation)
        return [id for ids, *_ in pieces for id in ids]

    def encode_array(
        self,
        text: StrOrBytes,
        added: AddedTokenSearch,
        threads: int = 0,
        continuation: bool = False,
    ) -> Ids:
        """Return the ids of `text`: uint32, shape (n,)."""
        return np.array(self.encode(text, added, 0, continuation), np.uint32)

    def count(
        self,
        text: StrOrBytes,
        added: AddedTokenSearch,
        threads: int = 0,
        continuation: bool = False,
    ) -> int:
        """Return the number of ids of `text`."""
        return sum(len(ids) for ids, *_ in self._pieces(encode_utf8(text), added, continuation))

    def encode_batch(
        self, texts: Sequence[StrOrBytes], added: AddedTokenSearch, threads: int = 0
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        rows = []
        for index, text in enumerate(texts):
            try:
                rows.append(self.encode(text, added))
            except SpecialTokenError as error:
                raise SpecialTokenError(error.token, error.position, index) from None
        return rows

    def encode_batch_array(
        self, texts: Sequence[StrOrBytes], added: AddedTokenSearch, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts, and offsets: text i has ids[offsets[i]:offsets[i + 1]]."""
        return concatenate_ids(self.encode_batch(texts, added))

    def encode_packed(
        self, data: Any, offsets: Offsets, added: AddedTokenSearch, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Do the same as `encode_batch_array` for the texts of PackedTexts(data, offsets)."""
        return self.encode_batch_array(list(PackedTexts(data, offsets)), added)

    def spans(
        self,
        text: StrOrBytes,
        added: AddedTokenSearch,
        threads: int = 0,
        continuation: bool = False,
    ) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the half-open span of each id in bytes of UTF-8.

        A token of an added space alone gets the first byte after the space, as in Hugging Face's
        tokenizers.
        """
        ids, starts, ends = self._spans_of(encode_utf8(text), added, continuation)
        if self._add_prefix_space:
            # The added space is not in the text, so the span of a token of this space is empty.
            ends = np.where(starts == ends, ends + 1, ends)
        return ids, starts, ends

    def spans_of_normalized(
        self, text: bytes, added: AddedTokenSearch
    ) -> tuple[Ids, Offsets, Offsets]:
        """Do the same as `spans`, but a token of an added space alone gets an empty span."""
        return self._spans_of(text, added, continuation=False)

    def _spans_of(
        self, text: bytes, added: AddedTokenSearch, continuation: bool
    ) -> tuple[Ids, Offsets, Offsets]:
        all_ids: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for ids, pre_token, start, end in self._pieces(text, added, continuation):
            all_ids += ids
            if pre_token is None or (len(ids) == 1 and self._spans_in is None):
                starts.append(start)
                ends.append(end)
                continue
            if self._spans_in is None:
                sizes = (len(self._token_bytes[id]) for id in ids)
                spans = list(pairwise(accumulate(sizes, initial=0)))
            else:
                spans = self._spans_in(pre_token)
            # The prefix space is not in the text, so no span begins before `start`.
            origin = end - len(pre_token)
            for first, last in spans:
                starts.append(max(origin + first, start))
                ends.append(max(origin + last, start))
        return np.array(all_ids, np.uint32), np.array(starts, np.int64), np.array(ends, np.int64)

    def _pieces(
        self, data: bytes, added: AddedTokenSearch, continuation: bool
    ) -> Iterator[tuple[list[int], bytes | None, int, int]]:
        """Yield (ids, bytes, start, end) of each added token and each pre-token, in order.

        The bytes of an added token are None. If `continuation`, no prefix comes before `data`.
        """
        segments, refusal = added.segments(data)
        for start, end, id in segments:
            if id is not None:
                yield [id], None, start, end if start < end else GIVEN_TOKEN
                continue
            text = data[start:end]
            # The number of prefix bytes in the next pre-token: 0 or 1, and 0 after the first one.
            is_prefixed = self._add_prefix_space and not (continuation and start == 0)
            before = is_prefixed and text[0] != 0x20
            if before:
                text = b" " + text
            if self._spans is not None:
                origin = start - before
                for first, last in self._spans(text):
                    pre_token = text[first:last]
                    yield (
                        self.merge(pre_token),
                        pre_token,
                        max(start, origin + first),
                        origin + last,
                    )
                continue
            at = start
            for pre_token in self._split(text):
                next_ = at + len(pre_token) - before
                before = False
                yield self.merge(pre_token), pre_token, at, next_
                at = next_
        if refusal is not None:
            raise SpecialTokenError(*refusal)

    @staticmethod
    def encode_segments(segments: list[Any], searches: dict[str, Any], special: Any) -> None:
        """Return None: the caller joins the segments.

        C++ returns the ids of texts or pairs (text, policy) as one text, and their TokenPlaces.
        `searches` has the search for the added tokens of each policy; `special` is the policy of a
        text without one. It returns None too, if a policy refuses a token.
        """

    @staticmethod
    def all_take_fast_path(texts: list[Any], only_str: bool, only_ascii: bool) -> bool:
        """Return True only if `encode_batch` can take `texts` without checking them.

        The result is False if a text is neither str nor bytes. It is also False if `only_str` is
        true and a text is bytes, or if `only_ascii` is true and a text is not ASCII.
        """
        return False

    @staticmethod
    def fast_calls(make_added: Any, slow_calls: Calls, only_str: bool, only_ascii: bool) -> Calls:
        """Return replacements for `slow_calls`: encode, encode_array and count of Pipeline.

        A replacement of C++ may encode a short text itself, with the added tokens that `make_added`
        returns for the argument `special` of the call. It passes all other calls to the function
        that it replaces. `all_take_fast_path` explains the flags.
        """
        return slow_calls

    @staticmethod
    def decode_calls(slow_calls: Calls) -> Calls:
        """Return replacements for `slow_calls`: decode and decode_bytes of Decoder."""
        return slow_calls

    rendered = staticmethod(lambda: None)
    """Returns None: this backend does not decode. C++ returns the rendered bytes of all tokens,
    their offsets by id, and the sorted ids."""
    text_stream = staticmethod(lambda *_: None)
    """Returns None: this backend does not decode. C++ returns a _core.TextStream."""
    session = staticmethod(lambda *_: None)
    """Returns None: PythonText keeps a text that changes. C++ returns an empty KeptText."""

    def decode(self, ids: list[int]) -> bytes | None:
        """Return the bytes of `ids`, or None if an id has no token."""
        tokens = self._token_bytes
        try:
            return b"".join([tokens[as_int(id)] for id in ids])
        except (KeyError, TypeError):
            return None

    @staticmethod
    def is_normal(text: StrOrBytes) -> bool:
        """Return True only if `text` is in NFC; False may be returned for any text."""
        if isinstance(text, bytes):
            return is_normal(decode_utf8(text))
        # A surrogate pair may encode a character that composes with its neighbor. `is_normal` does
        # not see this, so text with surrogates counts as not normal.
        return is_normal(text) and not has_surrogates(text)

    def trim(self) -> None:
        """Free the cache of `merge`."""
        if self._trim_merger is not None:
            self._trim_merger()


Backend: TypeAlias = "PythonBackend | _core.Tokenizer"
"""A backend in Python or in C++, with the same results."""


def unknown_id(
    ids: Sequence[int] | NDArray[np.integer], tokens: Mapping[int, bytes]
) -> TypeError | UnknownTokenError:
    """Return the error for the first of `ids` that is not the id of a token."""
    for at, id in enumerate(ids):
        try:
            is_known = as_int(id) in tokens
        except TypeError:
            return not_an_int(at, id)
        if not is_known:
            return UnknownTokenError(
                f"ids[{at}] is {id}, which is not the id of a token; the largest id is "
                f"{max(tokens)}"
            )
    return TypeError(
        f"ids, of type {type(ids).__name__}, changed while they were decoded; pass ids that do not "
        "change during the call"
    )


def not_an_int(at: int, id: object) -> TypeError:
    """Return the error for an item of ids that is not an int."""
    advice = "; decode_batch takes several lists of ids" if isinstance(id, (list, tuple)) else ""
    return TypeError(f"ids[{at}] is {id!r}; expected an int{advice}")

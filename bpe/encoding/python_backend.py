"""The backends of Tokenizer: what they do, and the one in pure Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import index as as_int
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.added_tokens import AddedTokens
from bpe.encoding.normalize import is_normal, normalize
from bpe.errors import SpecialTokenError, UnknownTokenError, UnsupportedError

Data: TypeAlias = str | bytes
Ids: TypeAlias = NDArray[np.uint32]
Offsets: TypeAlias = NDArray[np.int64]

ESCAPE = "surrogateescape"


def check_keeps_all(pre_tokenizer: object) -> None:
    """Raise UnsupportedError if `pre_tokenizer` removes text, which ids could not give back."""
    preset = getattr(pre_tokenizer, "preset", None)
    if preset is not None and preset.drops_text:
        raise UnsupportedError(
            f"preset {preset.name!r} removes parts of the text, so that decoding could not give it "
            "back; bpe expects a split that keeps all"
        )


class Backend(Protocol):
    """What a backend does; Encoder (Python) and _core.Encoder (C++) give the same results.

    A text is a str, or bytes holding UTF-8. In a str a pair of surrogates is the character that it
    stands for, and a lone one U+FFFD. `added` is AddedTokens, or its twin in C++. Where it refuses
    a token SpecialTokenError has the offset in bytes. `threads` is how many there may be at work; 0
    is as many as the work is worth.
    """

    def encode(self, text: Data, added: AddedTokens, threads: int = 0) -> list[int]: ...
    def encode_array(self, text: Data, added: AddedTokens, threads: int = 0) -> Ids: ...
    def count(self, text: Data, added: AddedTokens, threads: int = 0) -> int: ...
    def encode_batch(
        self, texts: Sequence[Data], added: AddedTokens, threads: int = 0
    ) -> list[list[int]]: ...
    def encode_batch_array(
        self, texts: Sequence[Data], added: AddedTokens, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts, and n + 1 offsets: where those of each start and end."""

    def spans(
        self, text: Data, added: AddedTokens, threads: int = 0
    ) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the start and end of each in bytes of UTF-8."""

    def merge(self, pre_token: bytes) -> list[int]: ...
    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None:
        """Return the bytes of `ids`, or None if one of them is not an int or no token's."""

    def is_normal(self, text: Data) -> bool:
        """Return whether `text` is surely in NFC."""

    def normalized(self, data: bytes) -> bytes:
        """Return UTF-8 in NFC; bytes that are no UTF-8 stay, and nothing moves past them."""


class Encoder:
    """The pure Python backend; also for pre-tokenizers that C++ does not know.

    It has use for one thread only.
    """

    def __init__(
        self,
        split: Callable[[bytes], Iterable[bytes]],
        merge: Callable[[bytes], list[int]],
        token_bytes: dict[int, bytes],
        add_prefix_space: bool,
    ) -> None:
        self._split = split
        self.merge = merge
        self._token_bytes = token_bytes
        self._add_prefix_space = add_prefix_space

    def encode(self, text: Data, added: AddedTokens, threads: int = 0) -> list[int]:
        """Return the ids of `text`."""
        return [id for ids, _, _ in self._parts(utf8(text), added) for id in ids]

    def encode_array(self, text: Data, added: AddedTokens, threads: int = 0) -> Ids:
        """Return the ids of `text`: uint32, shape (n,)."""
        return np.array(self.encode(text, added), np.uint32)

    def count(self, text: Data, added: AddedTokens, threads: int = 0) -> int:
        """Return how many ids `text` has."""
        return sum(len(ids) for ids, _, _ in self._parts(utf8(text), added))

    def encode_batch(
        self, texts: Sequence[Data], added: AddedTokens, threads: int = 0
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        found = []
        for index, text in enumerate(texts):
            try:
                found.append(self.encode(text, added))
            except SpecialTokenError as error:
                raise SpecialTokenError(error.token, error.position, index) from None
        return found

    def encode_batch_array(
        self, texts: Sequence[Data], added: AddedTokens, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts, and where those of each start and end."""
        found = self.encode_batch(texts, added, threads)
        offsets = np.array([0, *accumulate(map(len, found))], np.int64)
        return np.array([id for ids in found for id in ids], np.uint32), offsets

    def spans(
        self, text: Data, added: AddedTokens, threads: int = 0
    ) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the start and end of each in bytes of UTF-8."""
        found: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for ids, start, end in self._parts(utf8(text), added):
            found += ids
            if len(ids) == 1:
                starts.append(start)
                ends.append(end)
                continue
            # A space that was put before the text is in no span.
            at = end - sum(len(self._token_bytes[id]) for id in ids)
            for id in ids:
                starts.append(max(at, start))
                at += len(self._token_bytes[id])
                ends.append(max(at, start))
        return np.array(found, np.uint32), np.array(starts, np.int64), np.array(ends, np.int64)

    def _parts(self, data: bytes, added: AddedTokens) -> Iterator[tuple[list[int], int, int]]:
        """Yield (ids, start, end) of each added token and each pre-token, in order."""
        for start, end, token in added.split(data):
            if token is not None:
                yield [token.id], start, end
                continue
            text = data[start:end]
            before = self._add_prefix_space and text[0] != 0x20
            at = start
            for pre_token in self._split(b" " + text if before else text):
                next_ = at + len(pre_token) - before
                before = False
                yield self.merge(pre_token), at, next_
                at = next_

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None:
        """Return the bytes of `ids`, or None if one of them is not an int or no token's."""
        tokens = self._token_bytes
        try:
            return b"".join([tokens[as_int(id)] for id in ids])
        except (KeyError, TypeError):
            return None

    @staticmethod
    def is_normal(text: Data) -> bool:
        """Return whether `text` is surely in NFC."""
        if isinstance(text, bytes):
            return is_normal(as_text(text))
        # What surrogates in pairs stand for may be composed.
        return is_normal(text) and not has_surrogates(text)

    @staticmethod
    def normalized(data: bytes) -> bytes:
        """Return UTF-8 in NFC; bytes that are no UTF-8 stay, and nothing moves past them."""
        return normalize(as_text(data)).encode("utf-8", ESCAPE)


def unknown_id(
    ids: Sequence[int] | NDArray[np.integer], tokens: Mapping[int, bytes]
) -> TypeError | UnknownTokenError:
    """Return the error that says which of `ids` is no token's, and where it stands."""
    for at, id in enumerate(ids):
        try:
            known = as_int(id) in tokens
        except TypeError:
            return TypeError(f"ids[{at}] is {id!r}; expected an int")
        if not known:
            return UnknownTokenError(
                f"ids[{at}] is {id}, which is no token's id; expected one of this vocabulary's, "
                f"the largest of which is {max(tokens)}"
            )
    return TypeError(f"ids are {type(ids).__name__}; expected one dimension of ints")


def utf8(text: Data) -> bytes:
    """Return `text` as UTF-8: surrogates in pairs are joined, and others are U+FFFD."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError:
        return join_surrogates(text).encode()


def as_text(data: bytes) -> str:
    """Return UTF-8 as a str, with each byte that is no UTF-8 as a lone surrogate."""
    return data.decode("utf-8", ESCAPE)


def has_surrogates(text: str) -> bool:
    """Return whether `text` holds surrogates, in pairs or alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def join_surrogates(text: str) -> str:
    """Return `text` with surrogates in pairs joined, and each other one replaced by U+FFFD.

    >>> join_surrogates("\\ud83d\\ude00 \\ud83d")
    '😀 �'
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

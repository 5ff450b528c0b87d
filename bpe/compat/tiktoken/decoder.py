"""Define Decoder, the methods of Encoding from ids to text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index

import numpy as np

from bpe.errors import UnknownTokenError
from bpe.tokenizer import Tokenizer

ID_LIMIT = 1 << 32
"""tiktoken's ids are from 0 to one less than this limit.

Any other int raises OverflowError. An unknown id within the limits raises KeyError.
"""

CONTINUATION = bytes(range(0x80, 0xC0))
"""The continuation bytes of UTF-8."""


class Decoder:
    """Decodes ids as tiktoken.Encoding does. Encoding sets its attributes."""

    max_token_value: int
    _tokenizer: Tokenizer
    _special_token_bytes: dict[int, bytes]
    _empty_id: int | None
    """The id of the empty token, which `_tokenizer` does not have; or None."""

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        """Return the bytes of the ids `tokens`.

        Raises KeyError or OverflowError for an id that no token has (see Encoding), and TypeError
        for an item that is not an int.
        """
        if not isinstance(tokens, (list, tuple, np.ndarray)):
            tokens = list(tokens)
        try:
            return self._tokenizer.decode_bytes(tokens)
        except UnknownTokenError as error:
            others = [id for id in tokens if id != self._empty_id]
            if len(others) < len(tokens):
                return self.decode_bytes(others)
            for id in tokens:
                _check_range(index(id))
            raise KeyError(str(error)) from None

    def decode(self, tokens: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids `tokens`; raises the errors of `decode_bytes`.

        `errors` is Python's error handler for invalid UTF-8.
        """
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of the token with this id; raises the errors of `decode_bytes`."""
        id = index(token)
        data = self._token_bytes.get(id) or self._special_token_bytes.get(id)
        if data is None and id == self._empty_id:
            return b""
        if data is None:
            _check_range(id)
            raise KeyError(f"no token has id {id}; the largest id is {self.max_token_value}")
        return data

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Return the bytes of each id of `tokens`; raises the errors of `decode_bytes`."""
        ids = list(map(index, tokens))
        token_bytes = self._token_bytes
        try:
            return [token_bytes[id] for id in ids]
        except KeyError:  # a special token, or an unknown id
            return list(map(self.decode_single_token_bytes, ids))

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text of the ids `tokens`, and the code point at which each token begins.

        A token that begins within a code point has the offset of this code point. Raises the errors
        of `decode_bytes`, and UnicodeDecodeError if the bytes are not valid UTF-8.

        >>> import bpe
        >>> from bpe.compat.tiktoken import Encoding
        >>> tok = bpe.train(["ab"], vocab_size=257)
        >>> Encoding.from_tokenizer(tok).decode_with_offsets([256, 0xC3, 0xA9, 256])
        ('abéab', [0, 2, 2, 3])
        """
        parts = self.decode_tokens_bytes(tokens)
        offsets = []
        code_points = 0  # the number of code points that begin before the current token
        for part in parts:
            is_within = part[0] in CONTINUATION
            offsets.append(max(code_points - is_within, 0))
            code_points += len(part.translate(None, CONTINUATION))
        return b"".join(parts).decode(), offsets

    def decode_batch(
        self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Return the text of each list of ids in `batch`; raises the errors of `decode`.

        `num_threads` is checked as in `encode_batch`, but has no other effect.
        """
        checked_threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Iterable[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Return the bytes of each list of ids in `batch`; raises the errors of `decode_bytes`.

        `num_threads` is checked as in `encode_batch`, but has no other effect.
        """
        checked_threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    @property
    def _token_bytes(self) -> dict[int, bytes]:
        return self._tokenizer.vocabulary.token_bytes


def _check_range(id: int) -> None:
    if not 0 <= id < ID_LIMIT:
        raise OverflowError(f"invalid id {id}; expected an int from 0 to {ID_LIMIT - 1}")


def checked_threads(num_threads: int | None) -> int | None:
    """Return the number of threads; None stands for the default number.

    A fraction is rounded down, but not below 1: tiktoken accepts 0.5, too.
    """
    if num_threads is None:
        return None
    if num_threads <= 0:
        raise ValueError(f"num_threads={num_threads!r}; expected at least 1")
    return max(1, int(num_threads))

"""Decode ids in C++ if decoding only joins the texts of their tokens, and strips spaces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from bpe.decoders.decode import Decode, DecodeBytes
from bpe.encoding.utf8 import ESCAPE


class JoinedTexts(NamedTuple):
    """The tokens that C++ joins: their bytes in the order of their ids, their lengths and ids.

    C++ strips at most `start` and `stop` spaces at the start and at the end of the joined text. If
    `spaced` is not None, it strips the start only if the first token with text is one of these ids.
    If `repeats`, and this token is only a space, the next token may lose its space too.
    """

    data: bytes
    lengths: list[int]
    ids: list[int]
    spaced: list[int] | None
    start: int
    stop: int
    repeats: bool

    @classmethod
    def of(
        cls,
        tokens: Mapping[int, bytes],
        start: int,
        stop: int,
        spaced: Iterable[int] | None = None,
        repeats: bool = False,
    ) -> JoinedTexts:
        """Return the JoinedTexts of `tokens`.

        `tokens` has, by id, the UTF-8 of each token, or the byte of a fallback token.
        """
        ids = sorted(tokens)
        data = [tokens[id] for id in ids]
        lengths = list(map(len, data))
        listed = None if spaced is None else list(spaced)
        return cls(b"".join(data), lengths, ids, listed, start, stop, repeats)


def native_calls(
    make_texts: Callable[[], JoinedTexts], special: Collection[int], slow: Decode
) -> tuple[Decode, DecodeBytes]:
    """Return `decode` and `decode_bytes`. They call `slow` for ids that C++ does not decode.

    `decode_bytes` decodes with the error handler "surrogateescape" and encodes the text again. So
    with this handler, `slow` must keep invalid bytes.
    """
    from pretok import _core

    decode: Decode = _core.text_decode_call(make_texts, list(special), slow)

    def decode_bytes(ids: Iterable[int], skip_special: bool) -> bytes:
        text = decode(ids, ESCAPE, skip_special)
        return text.encode("utf-8", ESCAPE)

    return decode, decode_bytes


def replace_in_all(texts: Sequence[str], old: str, new: str) -> list[str]:
    """Return `texts` with `old` replaced by `new` in each.

    >>> replace_in_all(["a", "ba"], "a", "c")
    ['c', 'bc']
    """
    # One call of str.replace for all texts is faster than one call for each text. It gives the same
    # result if neither `old`, `new` nor a text contains the separator.
    separator = "\x00"
    joined = separator.join(texts)
    if separator in old + new or joined.count(separator) != len(texts) - 1:
        return [text.replace(old, new) for text in texts]
    return joined.replace(old, new).split(separator)

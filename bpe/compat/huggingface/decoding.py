"""Define Decoding, which decodes ids with bpe to the text that a tokenizers.Tokenizer gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from bpe import Tokenizer
from bpe.byte_level import to_bytes
from bpe.compat.huggingface import internals
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.real import VERSION
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnknownTokenError
from bpe.once import lazy


class _Text(NamedTuple):
    """The bytes that an added token decodes to, and whether `skip_special_tokens` omits them."""

    data: bytes
    is_special: bool


class Decoding:
    """Decodes ids to text. Immutable."""

    def __init__(self, tokenizer: Tokenizer, parts: Parts) -> None:
        self._tokenizer = tokenizer
        self._decode = _decode(tokenizer)
        self._parts = parts
        self._special = {token.id for token in tokenizer.added_tokens if token.special}
        self.joins_bytes = _joins_bytes(tokenizer, parts.decoder)
        """True if the text of ids is decoded from the joined bytes of their tokens."""
        self._token_texts = _TokenTexts(self, False), _TokenTexts(self, True)
        self._later_texts = _LaterTexts(self, False), _LaterTexts(self, True)

    @lazy
    def fallback_reason(self) -> str:
        """Why bpe must not decode; empty if it may."""
        return _why_not(self._tokenizer, self._parts)

    @lazy
    def _texts(self) -> dict[int, _Text]:
        """By id: the text of each added token that bpe decodes to other bytes than tokenizers."""
        return _texts(self._tokenizer) if self.joins_bytes else {}

    @lazy
    def _known(self) -> Collection[int]:
        """The ids of all tokens."""
        return internals.known_ids(self._tokenizer)

    def decode(self, ids: Any, skip_special_tokens: bool) -> str:
        """Return the text of `ids`, without the ids that no token has."""
        is_array = isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "iu"
        if not is_array and type(ids) not in (list, tuple):
            raise CallFallbackError("ids that are neither a list nor an array")
        if not is_array and type(ids) is tuple:
            ids = list(ids)
        if not self._texts:
            try:
                return self._decode(ids, skip_special=skip_special_tokens)
            except (UnknownTokenError, TypeError, ValueError, OverflowError):
                pass
        listed = ids.tolist() if is_array else ids
        for id in listed:
            if type(id) is not int or not 0 <= id < 1 << 32:
                raise CallFallbackError("ids that are not whole numbers from 0 to 2**32 - 1")
        known = [id for id in listed if id in self._known]
        if self._texts.keys().isdisjoint(known):
            return self._decode(known, skip_special=skip_special_tokens)
        return self._join(known, skip_special_tokens)

    @lazy
    def _is_plain(self) -> bool:
        """True if the tokenizer of bpe decodes all ids that tokens have as tokenizers does."""
        return not (self.fallback_reason or self._texts)

    def short(self, ids: Any, skip_special_tokens: bool) -> str | None:
        """Return what `decode` returns, in less time; None if `decode` must answer."""
        if type(ids) is not list or not self._is_plain:
            return None
        try:
            if len(ids) == 1:
                [id] = ids
                return self._token_texts[skip_special_tokens][id] if type(id) is int else None
            return self._decode(ids, skip_special=skip_special_tokens)
        except (UnknownTokenError, TypeError, ValueError, OverflowError, CallFallbackError):
            return None

    def token_texts(self, skip_special_tokens: bool) -> Mapping[int, str]:
        """Return the text of each single id, by id; it is empty if no token has the id."""
        return self._token_texts[skip_special_tokens]

    def later_texts(self, skip_special_tokens: bool) -> Mapping[int, str]:
        """Return the text that each id adds to ids before it, by id.

        The ids before it have a text, which does not end within a character. The added text is
        empty if it is not known, or if the id is a byte within a character.
        """
        if self.joins_bytes:
            return self._token_texts[skip_special_tokens]
        return self._later_texts[skip_special_tokens]

    @lazy
    def joins_texts(self) -> bool:
        """True if the decoder joins the texts of tokens, apart from bytes within a character."""
        return self.first_id is not None and _joins_texts(self._parts.decoder)

    @lazy
    def first_id(self) -> int | None:
        """The id of a token that is a word; None if there is none."""
        vocab = self._parts.vocab.items()
        return next((id for text, id in vocab if text.isascii() and text.isalpha()), None)

    def has(self, id: int) -> bool:
        """Return whether a token has this id."""
        return id in self._known

    def decode_ids(self, ids: list[int], skip_special_tokens: bool) -> str:
        """Do the same as `decode`, faster, for ids from 0 to 2**32 - 1."""
        if len(ids) == 1:
            return self._token_texts[skip_special_tokens][ids[0]]
        if not self._texts:
            try:
                return self._decode(ids, skip_special=skip_special_tokens)
            except UnknownTokenError:
                pass
        return self.decode(ids, skip_special_tokens)

    def _join(self, ids: list[int], skip_special_tokens: bool) -> str:
        """Return the text of `ids`, some of which are keys of `_texts`."""
        texts = []
        for id in ids:
            text = self._texts.get(id)
            if text is None:
                text = _Text(self._tokenizer.token_bytes(id), id in self._special)
            if not (skip_special_tokens and text.is_special):
                texts.append(text.data)
        return b"".join(texts).decode("utf-8", "replace")


class _CachedTexts(dict[int, str]):
    """Texts by id, which are computed when they are first read."""

    def __init__(self, decoding: Decoding, skip_special_tokens: bool) -> None:
        super().__init__()
        self._decoding = ref(decoding)
        self._skip_special_tokens = skip_special_tokens


class _TokenTexts(_CachedTexts):
    """Caches the text of each single id. It has no more items than there are tokens."""

    def __missing__(self, id: int) -> str:
        decoding = self._decoding()
        assert decoding is not None
        text = decoding.decode([id], self._skip_special_tokens)
        if decoding.has(id):
            self[id] = text
        return text


class _LaterTexts(_CachedTexts):
    """Caches the text of each id after other ids. It has no more items than there are tokens."""

    def __missing__(self, id: int) -> str:
        decoding, skips = self._decoding(), self._skip_special_tokens
        assert decoding is not None
        first = decoding.first_id
        if first is None or not decoding.joins_texts or not decoding.has(id):
            return ""
        before, both = decoding.decode([first], skips), decoding.decode([first, id], skips)
        text = ""
        if before and both.startswith(before):
            text = both[len(before) :]
        self[id] = "" if text.endswith("\ufffd") else text
        return self[id]


def _joins_texts(decoder: Any) -> bool:
    """Return whether a decoder joins texts, of which only the first one may be stripped.

    The text of a token then follows the text of the tokens before it, unless that is empty.
    """
    if not isinstance(decoder, dict):
        return False
    is_sequence = decoder.get("type") == "Sequence"
    parts = decoder.get("decoders", ()) if is_sequence else (decoder,)
    types = [part.get("type") if isinstance(part, dict) else None for part in parts]
    fuse = types.index("Fuse") if "Fuse" in types else len(types)
    of_tokens = {"Replace", "ByteFallback", "Metaspace"}
    return of_tokens.issuperset(types[:fuse]) and {"Strip"}.issuperset(types[fuse + 1 :])


def _decode(tokenizer: Tokenizer) -> Callable[..., str]:
    """Return `tokenizer.decode`, or the same without a normalizer for tokenizers 0.22.2.

    bpe and tokenizers normalize added tokens before the decoder gets them; tokenizers 0.22.2 does
    not.
    """
    added, preset, decoder = tokenizer.added_tokens, tokenizer.preset, tokenizer.decoder
    if decoder is None or all(
        _decoded_content(tokenizer, token) == normalized_content(tokenizer, token)
        for token in added
    ):
        return tokenizer.decode
    assert preset is not None, "`build` has checked it"
    plain = Tokenizer(tokenizer.vocabulary, preset, added_tokens=added, decoder=decoder)
    return plain.decode


def _joins_bytes(tokenizer: Tokenizer, decoder: Any) -> bool:
    """Return whether the decoder is ByteLevel, which joins the bytes of tokens."""
    is_byte_level = isinstance(decoder, dict) and decoder.get("type") == "ByteLevel"
    return tokenizer.decoder is None and is_byte_level


def _texts(tokenizer: Tokenizer) -> dict[int, _Text]:
    """Return the text of each added token that ByteLevel decodes to other bytes than bpe."""
    special = {token.content for token in tokenizer.added_tokens if token.special}
    texts = {}
    for token in tokenizer.added_tokens:
        content = _decoded_content(tokenizer, token)
        data = to_bytes(content)
        text = _Text(content.encode() if data is None else data, content in special)
        if text != (tokenizer.token_bytes(token.id), token.special):
            texts[token.id] = text
    return texts


def _why_not(tokenizer: Tokenizer, parts: Parts) -> str:
    """Return why bpe may decode ids to other text than the real tokenizer, or "" if never."""
    decoder = parts.decoder
    joins_bytes = _joins_bytes(tokenizer, decoder)
    if tokenizer.decoder is None and not joins_bytes:
        return "the decoder has other parts than ByteLevel"
    if _strips_ends(decoder):
        return "the decoder strips the ends of tokens, which in tokenizers fails for short tokens"
    for id, name in _missing(tokenizer, parts).items():
        if not (joins_bytes and name == ""):
            return f"bpe's vocabulary has no token {id}"
    return ""


def _missing(tokenizer: Tokenizer, parts: Parts) -> dict[int, str]:
    """Return the text of each token of the model that `tokenizer` lacks, by its id."""
    known = frozenset(tokenizer.vocabulary.token_ids)  # all of them are ids of the model
    added = {
        token.id for token in tokenizer.added_tokens if parts.vocab.get(token.content) == token.id
    }
    if len(known | added) == len(parts.vocab):  # usual, and needs no texts
        return {}
    known |= {token.id for token in tokenizer.added_tokens}
    return {id: name for id, name in parts.names.items() if id not in known}


def _strips_ends(decoder: Any) -> bool:
    """Return whether a decoder has a part Strip that strips the end of each token."""
    if not isinstance(decoder, dict):
        return False
    if decoder.get("type") == "Sequence":
        return any(map(_strips_ends, decoder.get("decoders", ())))
    return decoder.get("type") == "Strip" and decoder.get("stop") != 0


def _decoded_content(tokenizer: Tokenizer, token: AddedToken) -> str:
    """Return the text of an added token that the real tokenizer passes to its decoder.

    It is the normalized content; in tokenizers 0.22.2 it is the content itself.
    """
    return token.content if VERSION == "0.22.2" else normalized_content(tokenizer, token)


def normalized_content(tokenizer: Tokenizer, token: AddedToken) -> str:
    """Return the text that an added token is found as, in normalized text if it is `normalized`."""
    normalizer = tokenizer.normalizer
    if not token.normalized or normalizer is None:
        return token.content
    return normalizer.normalize(token.content)

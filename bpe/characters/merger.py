"""Merge the characters of a text into tokens, in pure Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import accumulate, pairwise
from typing import TypeAlias

from bpe.characters.marks import cut_at_marks
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.merge import RankedMerge, merge
from bpe.vocabulary import ID_LIMIT
from pretok.byte_characters import BYTE_CHARACTERS

Sized: TypeAlias = tuple[int, int]
"""The id of a token, and the number of bytes that it stands for."""

MAX_CACHED = 1 << 16
"""The maximal number of parts that a PieceMerger keeps; a full cache is emptied."""
MAX_CACHED_CHARACTERS = 32
"""The maximal length of a part that a PieceMerger keeps; longer parts rarely repeat."""

_ID_BITS = 24
_ID_MASK = ID_LIMIT - 1


def make_merger(vocabulary: AnyCharacterVocabulary) -> PieceMerger:
    """Return a new merger."""
    if isinstance(vocabulary, TextVocabulary):
        return TextMerger(vocabulary)
    return CharacterMerger(vocabulary)


class PieceMerger(ABC):
    """Merges text with one vocabulary.

    Cuts the text into parts if the vocabulary allows it, and caches the tokens of each part.
    """

    def __init__(self, vocabulary: AnyCharacterVocabulary) -> None:
        self._vocabulary = vocabulary
        self._cache: dict[str, list[Sized]] = {}

    def merge(self, pre_token: bytes) -> list[int]:
        """Return the ids of the tokens of `pre_token`, bytes of UTF-8, in O(n log n) time."""
        return [id for id, _ in self.sized(pre_token)]

    def spans(self, pre_token: bytes) -> list[tuple[int, int]]:
        """Return the half-open span of each token in the bytes of `pre_token`."""
        sizes = (size for _, size in self.sized(pre_token))
        return list(pairwise(accumulate(sizes, initial=0)))

    def trim(self) -> None:
        """Empty the cache."""
        self._cache.clear()

    @abstractmethod
    def sized(self, pre_token: bytes) -> list[Sized]:
        """Return the id of each token of `pre_token`, and the number of bytes it stands for."""

    @abstractmethod
    def _find(self, left: int, right: int) -> RankedMerge | None:
        """Return the merge of two symbols."""

    def _merged(self, symbols: list[int]) -> list[int]:
        """Return the symbols that remain after all merges."""
        return merge(symbols, self._find)

    @abstractmethod
    def _merge_part(self, part: str) -> list[Sized]:
        """Return the tokens of a part of a text."""

    def _tokens(self, text: str) -> list[Sized]:
        """Return the tokens of `text`."""
        if not self._vocabulary.allows_cuts:
            return self._tokens_of_part(text) if text else []
        return [token for part in cut_at_marks(text) for token in self._tokens_of_part(part)]

    def _tokens_of_part(self, part: str) -> list[Sized]:
        tokens = self._cache.get(part)
        if tokens is None:
            tokens = self._merge_part(part)
            if len(part) <= MAX_CACHED_CHARACTERS:
                if len(self._cache) >= MAX_CACHED:
                    self._cache.clear()
                self._cache[part] = tokens
        return tokens


class CharacterMerger(PieceMerger):
    """Merges text with the pieces and scores of one CharacterVocabulary.

    >>> tokens = {0: b"<unk>", 1: b"a", 2: b"b", 3: b"ab"}
    >>> vocabulary = CharacterVocabulary(tokens, {1: -2.0, 2: -3.0, 3: -1.0}, unknown_id=0)
    >>> CharacterMerger(vocabulary).merge("abcca".encode())
    [3, 0, 1]
    """

    def __init__(self, vocabulary: CharacterVocabulary) -> None:
        super().__init__(vocabulary)
        self._pieces = vocabulary.pieces
        self._ranks = vocabulary.ranks
        self._unknown_id = vocabulary.unknown_id
        self._fallback = vocabulary.fallback_ids
        # Symbol `_first_character` + n is the character chr(n), which is not a piece.
        self._first_character = 1 + max(vocabulary.token_bytes)
        self._texts = {id: text for text, id in self._pieces.items()}

    def sized(self, pre_token: bytes) -> list[Sized]:
        """Return the id of each token of `pre_token`, and the number of bytes it stands for.

        A byte that is not UTF-8 is treated like a character that is not a piece.
        """
        return self._tokens(decode_utf8(pre_token))

    def _merge_part(self, part: str) -> list[Sized]:
        pieces, first = self._pieces, self._first_character
        symbols = [
            first + ord(char) if (piece := pieces.get(char)) is None else piece for char in part
        ]
        tokens: list[Sized] = []
        is_unknown = False
        # Adjacent unknown characters become one token. A cut cannot separate them: text is cut only
        # before a "▁", and only if "▁" is a piece, so it is never unknown.
        for symbol in self._merged(symbols):
            data = self._text(symbol).encode("utf-8", ESCAPE)
            was_unknown, is_unknown = is_unknown, symbol >= first and self._fallback is None
            if symbol < first:
                tokens.append((symbol, len(data)))
            elif self._fallback is not None:
                tokens += [(self._fallback[byte], 1) for byte in data]
            elif was_unknown:
                tokens[-1] = self._unknown_id, tokens[-1][1] + len(data)
            else:
                tokens.append((self._unknown_id, len(data)))
        return tokens

    def _find(self, left: int, right: int) -> RankedMerge | None:
        id = self._pieces.get(self._text(left) + self._text(right))
        return None if id is None else (self._ranks[id], id)

    def _text(self, symbol: int) -> str:
        if symbol < self._first_character:
            return self._texts[symbol]
        return chr(symbol - self._first_character)


class TextMerger(PieceMerger):
    """Merges pre-tokens with one TextVocabulary.

    >>> from bpe.characters.text_vocabulary import TextOptions
    >>> texts = {0: "<unk>", 1: "a", 2: "b", 3: "ab"}
    >>> vocabulary = TextVocabulary(texts, [(1, 2, 3)], TextOptions(unknown="<unk>"))
    >>> TextMerger(vocabulary).merge("abcca".encode())
    [3, 0, 0, 1]
    """

    def __init__(self, vocabulary: TextVocabulary) -> None:
        super().__init__(vocabulary)
        self._whole_id = vocabulary.whole_id
        self._options = vocabulary.options
        self._pieces = vocabulary.pieces
        self._fallback = vocabulary.byte_ids
        self._unknown_id = vocabulary.unknown_id
        # If a pair is listed twice, the later rank counts.
        self._ranks = {
            (left, right): (rank, result)
            for rank, (left, right, result) in enumerate(vocabulary.merges)
        }

    def spans(self, pre_token: bytes) -> list[tuple[int, int]]:
        """Return the half-open span of each token in the bytes of `pre_token`.

        As in Hugging Face's tokenizers, a dropped character (unknown, without an unknown token)
        takes no bytes, so the spans after it are shifted to the left.
        """
        spans = super().spans(pre_token)
        if not self._options.byte_level:
            return spans
        # The spans are in the UTF-8 of GPT-2's characters. `places` has, for each byte of this
        # UTF-8, the index of the byte of `pre_token` that it belongs to.
        places = [at for at, byte in enumerate(pre_token) for _ in BYTE_CHARACTERS[byte].encode()]
        return [(places[start], places[end - 1] + 1) for start, end in spans]

    def sized(self, pre_token: bytes) -> list[Sized]:
        """Return the id of each token, and the number of bytes of UTF-8 that it stands for.

        If `byte_level`, each byte of `pre_token` is a character of GPT-2's alphabet, and the number
        counts the bytes of the UTF-8 of these characters.
        """
        if not pre_token:
            return []
        text = self.text_of(pre_token)
        whole = self._whole_id(text)
        if whole is not None:
            return [(whole, len(text.encode("utf-8", ESCAPE)))]
        return self._tokens(text)

    def text_of(self, pre_token: bytes) -> str:
        """Return the characters that stand for `pre_token`."""
        if self._options.byte_level:
            return pre_token.decode("latin-1").translate(BYTE_CHARACTERS)
        return decode_utf8(pre_token)

    def _merge_part(self, part: str) -> list[Sized]:
        # The low bits of a symbol are an id. The high bits are the number of bytes that the symbol
        # stands for.
        symbols = self._merged(self._symbols(part))
        return [(symbol & _ID_MASK, symbol >> _ID_BITS) for symbol in symbols]

    def _find(self, left: int, right: int) -> RankedMerge | None:
        pair = self._ranks.get((left & _ID_MASK, right & _ID_MASK))
        if pair is None:
            return None
        size = (left >> _ID_BITS) + (right >> _ID_BITS)
        return pair[0], pair[1] | size << _ID_BITS

    def _symbols(self, text: str) -> list[int]:
        options, pieces = self._options, self._pieces
        symbols: list[int] = []
        unknown = 0  # the number of bytes of the pending unknown token
        last = len(text) - 1
        for at, char in enumerate(text):
            data = char.encode("utf-8", ESCAPE)
            size = len(data)
            name = f"{options.prefix if at else ''}{char}{options.suffix if at == last else ''}"
            id = pieces.get(name)
            if id is None and all(byte in self._fallback for byte in data):
                # As in Hugging Face's tokenizers, a pending unknown token comes after these tokens.
                symbols += [self._fallback[byte] | 1 << _ID_BITS for byte in data]
            elif id is not None:
                if unknown:
                    symbols.append(self._unknown_id | unknown << _ID_BITS)
                    unknown = 0
                symbols.append(id | size << _ID_BITS)
            elif options.unknown is not None:
                if unknown and not options.fuses_unknown:
                    symbols.append(self._unknown_id | unknown << _ID_BITS)
                    unknown = 0
                unknown += size
        if unknown:
            symbols.append(self._unknown_id | unknown << _ID_BITS)
        return symbols

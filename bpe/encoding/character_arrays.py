"""CharacterArrays: how the characters of a pre-token become its first symbols, for C++.

cpp/core/bpe/character_merge.hpp explains the fields. The symbols of most vocabularies with fallback
tokens are bytes in C++ (character_encoder.py); all other vocabularies of characters need these
arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.byte_level import to_bytes
from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextOptions, TextVocabulary
from bpe.vocabulary import Packed
from pretok.byte_characters import BYTE_CHARACTERS

_NO_ID = 0xFFFFFFFF
_FIRST, _LAST = 1, 2
"""The bits of CharacterPlace: the character is the first, or the last, of its pre-token."""


class CharacterArrays(NamedTuple):
    """The arguments of CharacterData in C++."""

    code_points: NDArray[np.uint32]
    places: NDArray[np.uint32]
    ids: NDArray[np.uint32]
    whole_bytes: bytes
    whole_lengths: NDArray[np.uint32]
    whole_ids: NDArray[np.uint32]
    unknown: int
    fuses_unknown: bool
    fallback: NDArray[np.uint32]
    byte_widths: bytes


def character_arrays(vocabulary: AnyCharacterVocabulary, has_spaces: bool) -> CharacterArrays:
    """Return the arrays of `vocabulary`.

    If `has_spaces`, texts have spaces in place of "▁".
    """
    options = _options(vocabulary)
    characters = list(_characters(vocabulary.pieces, options, has_spaces))
    columns = np.array(characters, np.uint32).reshape(-1, 3)
    code_points, places, ids = map(np.ascontiguousarray, columns.T)
    fallback = vocabulary.byte_ids
    return CharacterArrays(
        code_points,
        places,
        ids,
        *_whole(vocabulary),
        vocabulary.unknown_id if vocabulary.unknown_id >= 0 else _NO_ID,
        options.fuses_unknown,
        np.array([fallback.get(byte, _NO_ID) for byte in range(256) if fallback], np.uint32),
        bytes(len(char.encode()) for char in BYTE_CHARACTERS) if options.byte_level else b"",
    )


def _options(vocabulary: AnyCharacterVocabulary) -> TextOptions:
    if isinstance(vocabulary, TextVocabulary):
        return vocabulary.options
    return TextOptions(fuses_unknown=True)


def _characters(
    pieces: Mapping[str, int], options: TextOptions, has_spaces: bool
) -> Iterator[tuple[int, int, int]]:
    """Yield the code point, the place and the id of each token that is a character at a place.

    If `byte_level`, yield bytes in place of code points.
    """
    places = {
        place: ("" if place & _FIRST else options.prefix, options.suffix if place & _LAST else "")
        for place in range(4)
    }
    longest = 1 + len(options.prefix) + len(options.suffix)
    short = [(text, id) for text, id in pieces.items() if len(text) <= longest]
    for place, (prefix, suffix) in places.items():
        affixes = len(prefix) + len(suffix)
        for text, id in short:
            if len(text) != affixes + 1 or not text.startswith(prefix):
                continue
            if not text.endswith(suffix):
                continue
            char = text[len(prefix)]
            if options.byte_level:
                byte = to_bytes(char)
                if byte is not None:
                    yield byte[0], place, id
            elif not has_spaces:
                yield ord(char), place, id
            elif char != " ":
                yield ord(" " if char == SPACE_MARK else char), place, id


def _whole(vocabulary: AnyCharacterVocabulary) -> Packed:
    """Return the tokens that a whole pre-token becomes without merging."""
    if not isinstance(vocabulary, TextVocabulary) or not vocabulary.options.ignores_merges:
        return Packed.of({})
    is_byte_level = vocabulary.options.byte_level
    whole = {}
    for text, id in vocabulary.pieces.items():
        data = to_bytes(text) if is_byte_level else text.encode()
        if data is not None and vocabulary.is_whole(text) is not None:
            whole[id] = data
    return Packed.of(whole)

"""Make the C++ encoder of a CharacterVocabulary.

C++ has three ways to merge characters. If the vocabulary has fallback tokens, C++ merges bytes
(`merges_as_bytes`), else characters (`characters_encoder`). Pieces with equal scores, except runs
of one character that merge last (`TiedRuns` of bpe/characters/runs.py), have no list of merges that
gives the same ids: C++ looks up the text of each pair (`merges_by_scores`), which is slower.

A BPE over characters is a BPE over bytes that first merges the bytes of each character. So C++
needs no second merger. `byte_vocabulary` adds these merges, with the lowest ranks, and a symbol for
each beginning of a character, such as E2 96 of "▁". Each added merge joins bytes of one character,
so each character is complete before any pieces merge. Symbols that are not pieces have ids of
`first_symbol` or more. Such symbols may remain after merging. C++ replaces each of them by the
fallback tokens of its bytes.

Pieces with higher scores have lower ranks. If all scores differ, at most one pair of symbols ever
merges to a given piece. `recover_merges` of bpe/merge.py finds this pair: it merges the text of the
piece, but not to the piece itself, and the two symbols of the pair are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import AnyCharacterVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.encoding.character_arrays import CharacterArrays, character_arrays
from bpe.encoding.text_spaces import TextSpaces, keeps_whole
from bpe.vocabulary import Packed
from pretok.charsets.sets import code_points
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer, native_machine
from pretok.preset import Preset
from pretok.rules import Run

if TYPE_CHECKING:
    from pretok import _core


def cut_before(char: str, at_most: int | None = None) -> Preset:
    """Return a preset that cuts before each run of `char`, or before each `char` (`at_most` 1).

    C++ splits faster with these rules than with a stage of behavior merged_with_next.
    """
    marks = code_points(char)
    rules = Run(marks, tail=~marks, at_most=at_most), Run(~marks)
    return Preset("cut-before-marks", rules)


_NO_MERGES = np.zeros((0, 3), np.uint32)
_NO_STEP = 0xFFFFFFFF
"""The `first_step` of _core.Encoder that lets C++ return all ids unchanged.

C++ replaces each id that is not below `first_step` by the tokens of the bytes of its symbol.
"""


class ByteVocabulary(NamedTuple):
    """A CharacterVocabulary as bytes.

    A piece keeps its id. Any other symbol has an id of `first_symbol` or more.
    """

    tokens: Packed
    merges: NDArray[np.uint32]


class Symbols:
    """The ids of symbols, by the bytes of the symbols.

    The symbol of a piece has the id of the piece. The symbol of a single byte has the id of the
    fallback token of this byte. Every other symbol gets a new id. If `has_spaces`, a symbol has a
    space in place of each "▁", and a piece that contains a space gets no symbol.
    """

    def __init__(
        self, vocabulary: AnyCharacterVocabulary, first_symbol: int, has_spaces: bool
    ) -> None:
        self._first = first_symbol
        self._has_spaces = has_spaces
        fallback = vocabulary.fallback_ids or ()
        self.ids = {bytes([byte]): id for byte, id in enumerate(fallback)}

    def add_pieces(self, texts: Iterable[str], ids: Iterable[int]) -> None:
        """Add pieces. A piece of one byte replaces the id of the fallback token of this byte."""
        for text, id in zip(texts, ids, strict=True):
            spelled = self.spell(text)
            if spelled is not None:
                self.ids[spelled] = id

    def spell(self, text: str) -> bytes | None:
        """Return the bytes of the symbol of a piece.

        Return None if `has_spaces` and the piece contains a space: every space of a text stands for
        "▁", so the piece never matches.
        """
        if not self._has_spaces:
            return text.encode()
        return None if " " in text else text.replace(SPACE_MARK, " ").encode()

    def add_others(self, symbols: Iterable[bytes]) -> None:
        """Give each symbol without an id the next new id."""
        for symbol in symbols:
            if symbol not in self.ids:
                self.ids[symbol] = self._first
                self._first += 1


def byte_vocabulary(
    vocabulary: AnyCharacterVocabulary, first_symbol: int, has_spaces: bool = False
) -> ByteVocabulary:
    """Return `vocabulary` as a vocabulary of bytes.

    `backend_for` has checked that only the pieces of `tied_runs` have equal scores.
    If `has_spaces`, tokens have spaces in place of "▁".
    """
    native_rows = vocabulary.native_rows
    if native_rows is not None:
        from pretok import _core

        data, lengths, numbers, rows = _core.build_characters(
            *vocabulary.packed_pieces,
            native_rows,
            vocabulary.fallback_ids or (),
            first_symbol,
            has_spaces,
        )
        return ByteVocabulary(Packed(data, lengths, numbers), rows)
    # C++ has not found the merges, so build the tokens and the merges in Python. `in_order` has the
    # bytes of all symbols, lowest rank first:
    # single bytes, beginnings of characters, and pieces in the order of their scores.
    assert isinstance(vocabulary, CharacterVocabulary), "native_rows of others are not None"
    symbols = Symbols(vocabulary, first_symbol, has_spaces)
    ranks, pieces = vocabulary.ranks, vocabulary.pieces
    starts = _starts(set("".join(pieces)))
    run_merges = vocabulary.run_merges
    tied = {result for _, _, result in run_merges}
    kept = {text: id for text, id in pieces.items() if id not in tied}
    words = sorted((text for text in kept if len(text) > 1), key=lambda text: ranks[kept[text]])
    symbols.add_pieces(kept, kept.values())
    in_order = _BYTES + sorted(starts)
    symbols.add_others(in_order)
    in_order += [spelled for text in words if (spelled := symbols.spell(text)) is not None]
    renamed = np.array([symbols.ids[symbol] for symbol in in_order], np.uint32)
    by_rank = Packed.of(dict(enumerate(in_order)))
    # The ids of `by_rank` are ranks, from which an encoder recovers the merges. `renamed` replaces
    # these ids by the final ids.
    merges = _encoder(by_rank, len(in_order), None, _native(WHOLE), 0).merges()
    tokens = by_rank._replace(ids=renamed)
    runs = {id: spelled for text, id in pieces.items()
            if id in tied and (spelled := symbols.spell(text)) is not None}  # fmt: skip
    if not runs:
        return ByteVocabulary(tokens, renamed[merges])
    rows = np.array(run_merges, np.uint32)
    return ByteVocabulary(tokens.with_tokens(runs), np.concatenate([renamed[merges], rows]))


_BYTES = [bytes([byte]) for byte in range(256)]


def _starts(characters: Iterable[str]) -> set[bytes]:
    """Return the characters of several bytes, and their beginnings of at least two bytes."""
    return {
        data[:size]
        for char in characters
        for data in [char.encode()]
        for size in range(2, len(data) + 1)
    }


def _encoder(
    tokens: Packed,
    mergeable: int,
    merges: NDArray[np.uint32] | None,
    pre_tokenizer: PreTokenizer,
    cache_limit: int,
    first_step: int = _NO_STEP,
    spaces: TextSpaces | None = None,
    is_whole: bool = False,
    add_prefix_space: bool = False,
    characters: CharacterArrays | _core.PieceTable | None = None,
) -> _core.Encoder:
    from pretok import _core

    return _core.Encoder(
        cast(_core.Machine, native_machine(pre_tokenizer)),
        *tokens,
        mergeable,
        merges,
        merges is None,  # from_ranks
        False,  # ignore_merges
        add_prefix_space,
        cache_limit,
        first_step,
        spaces,
        is_whole,
        characters,
    )


def short_text_encoder(
    table: _core.PieceTable, cache_limit: int, spaces: TextSpaces
) -> _core.Encoder:
    """Return an encoder for short texts. It takes little time to make, and more time to encode.

    It gives the same results as the encoder of `character_encoder`, but does not decode.
    """
    no_ids = np.zeros(0, np.uint32)
    return _encoder(
        Packed(b"", no_ids, no_ids),
        0,
        _NO_MERGES,
        _native(WHOLE),
        cache_limit,
        spaces=spaces,
        characters=table,
    )


def character_encoder(
    vocabulary: AnyCharacterVocabulary,
    added: Mapping[int, bytes],
    pre_tokenizer: PreTokenizer,
    add_prefix_space: bool,
    cache_limit: int,
    spaces: TextSpaces | None = None,
) -> _core.Encoder:
    """Return the encoder of `vocabulary`, which also decodes the ids of `added`.

    If `spaces` is not None, the text is not normalized, and C++ treats its spaces as TextSpaces
    describes.
    """
    is_whole = _is_whole(pre_tokenizer.preset, spaces)
    mark = SPACE_MARK if spaces is None else " "
    if is_whole:
        pre_tokenizer = _native(cut_before(mark) if vocabulary.allows_cuts else WHOLE)
    elif spaces is not None:
        pre_tokenizer = _native(cut_before(mark, at_most=1))
    if isinstance(vocabulary, CharacterVocabulary) and vocabulary.merges_by_scores:
        return _encoder(
            Packed.of({**vocabulary.token_bytes, **added}),
            0,
            _NO_MERGES,
            pre_tokenizer,
            cache_limit,
            spaces=spaces,
            add_prefix_space=add_prefix_space,
            characters=vocabulary.score_table(),
        )
    if not vocabulary.merges_as_bytes:
        return characters_encoder(
            vocabulary, added, pre_tokenizer, add_prefix_space, cache_limit, spaces
        )
    first = first_symbol(vocabulary, added)
    tokens, merges = byte_vocabulary(vocabulary, first, spaces is not None)
    other_tokens: dict[int, bytes] = {}
    if spaces is None:  # with spaces, another object decodes ids (`make_decoder`)
        known = frozenset(tokens.ids.tolist())
        every = {**vocabulary.token_bytes, **added}
        other_tokens = {id: token for id, token in every.items() if id not in known}
    return _encoder(
        tokens.with_tokens(other_tokens),
        len(tokens.ids),
        merges,
        pre_tokenizer,
        cache_limit,
        first,
        spaces,
        is_whole,
        add_prefix_space,
    )


def characters_encoder(
    vocabulary: AnyCharacterVocabulary,
    added: Mapping[int, bytes],
    pre_tokenizer: PreTokenizer,
    add_prefix_space: bool,
    cache_limit: int,
    spaces: TextSpaces | None = None,
) -> _core.Encoder:
    """Like `character_encoder`, but return an encoder that merges characters, not their bytes.

    No merge may cross the boundaries that `pre_tokenizer` makes.
    """
    return _encoder(
        Packed.of({**vocabulary.token_bytes, **added}),
        0,
        vocabulary.character_rows(),
        pre_tokenizer,
        cache_limit,
        spaces=spaces,
        add_prefix_space=add_prefix_space,
        characters=character_arrays(vocabulary, spaces is not None),
    )


def _is_whole(preset: Preset, spaces: TextSpaces | None) -> bool:
    """Return whether the pre-tokenizer never splits the text that the encoder gets."""
    return preset == WHOLE or (spaces is not None and keeps_whole(preset))


def first_symbol(vocabulary: AnyCharacterVocabulary, added: Mapping[int, bytes]) -> int:
    """Return the first id above the ids of all tokens."""
    return max(vocabulary.size, 1 + max(added, default=0))


def _native(preset: Preset) -> PreTokenizer:
    return PreTokenizer(preset, backend="native")

"""Make the NextIds of a tokenizer, or say why its next ids cannot be decided exactly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bpe.budgets.cuts import Cuts
from bpe.budgets.proofs import CUT
from bpe.canonical.classes import Classes
from bpe.canonical.contents import is_firm, may_overlap
from bpe.canonical.next_ids import NextIds
from bpe.canonical.next_text_ids import NextTextIds, Segments
from bpe.canonical.open_ways import OpenWays
from bpe.canonical.pairs import MergeBytes, Pairs
from bpe.canonical.splits import Splits
from bpe.canonical.token_groups import MAX_CLASSES
from bpe.canonical.token_texts import TokenTexts
from bpe.canonical.tried_texts import Encode
from bpe.characters.marks import SPACE_MARK
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, shortened
from bpe.merge import RankedMerge, merge_finder
from bpe.types import Special
from bpe.vocabulary import Rows, Vocabulary
from pretok.pre_tokenizer import PreTokenizer
from pretok.rules import CasedWord, Contraction, Groups, Literal, Run, Spaces

DECIDED = (CasedWord, Contraction, Groups, Literal, Run, Spaces)
"""The kinds of rules for which all ways to split are found."""


def unsupported_feature(
    cuts: Cuts | None,
    split: object,
    added: Sequence[AddedToken],
    vocabulary: Vocabulary,
    has_decoder: bool,
    has_normalizer: bool,
) -> str | None:
    """Return the feature of a tokenizer that NextIds cannot decide, or None."""
    if not isinstance(split, PreTokenizer):
        return "a pre-tokenizer that is not a preset"
    is_text = cuts is not None and cuts.is_text
    for stage in () if is_text else split.preset.stages:
        if stage.behavior != "isolated" or stage.invert:
            return f"the behavior {stage.behavior!r} of a stage of preset {split.preset.name!r}"
        for rule in stage.rules:
            if not isinstance(rule, DECIDED):
                return f"the rule kind {type(rule).__name__} of preset {split.preset.name!r}"
    for token in added:
        if token.single_word:
            return f"the flag single_word of added token {shortened(token.content)}"
        if not is_text and vocabulary.bytes_of(token.id) not in (None, token.content.encode()):
            return f"added token {shortened(token.content)}, whose id is that of another token"
    if cuts is None:
        if has_normalizer:
            return "the normalizer"
        is_bytes = isinstance(vocabulary, TextVocabulary) and vocabulary.options.byte_level
        return "a byte-level vocabulary that merges text" if is_bytes else "the vocabulary"
    if cuts.is_text:
        return _unsupported_in_text(cuts, added, vocabulary)
    if has_decoder:
        return "the decoder"
    if cuts.puts_prefix:
        return "add_prefix_space"
    for token in added:
        if cuts.normalizes and token.normalized and not is_firm(token.content):
            return f"added token {shortened(token.content)}, whose edges NFC may change"
    return None


def unsupported_policy(
    special: Special, added: Sequence[AddedToken], searched: Sequence[AddedToken]
) -> str | None:
    """Return the feature of a policy that NextIds cannot decide, or None."""
    if special != "text":
        return None
    # A special token that is text hides the other tokens that overlap it.
    for token in searched:
        for hiding in added:
            if hiding.special and may_overlap(token.content, hiding.content):
                return (
                    f'special="text" with added token {shortened(token.content)}, which may '
                    f"overlap special token {shortened(hiding.content)}"
                )
    return None


def _unsupported_in_text(
    cuts: Cuts, added: Sequence[AddedToken], vocabulary: Vocabulary
) -> str | None:
    """Return the feature of a tokenizer that NextTextIds cannot decide, or None."""
    assert isinstance(vocabulary, AnyCharacterVocabulary), "cuts.is_text"
    if not vocabulary.has_mark:
        return "a vocabulary without a token for spaces"
    strips = any(token.lstrip or token.rstrip for token in added)
    has_space = any(" " in token.content for token in added)
    if len({token.id for token in added}) < len(added):
        return "added tokens that share an id"
    for token in added:
        if strips and token.content != token.content.strip():
            return (
                f"added token {shortened(token.content)}, which begins or ends with white space, "
                "beside lstrip or rstrip tokens"
            )
        if SPACE_MARK in token.content and (strips or has_space):
            return (
                f'added token {shortened(token.content)}, which has "{SPACE_MARK}", beside tokens '
                "that have or strip spaces"
            )
    if isinstance(vocabulary, TextVocabulary):
        return vocabulary.why_not_as_bytes or None
    if vocabulary.why_not_native:
        return vocabulary.why_not_native
    missing = set("".join(vocabulary.pieces)).difference(vocabulary.pieces)
    if missing:
        return f"the character {min(missing)!a}, which is no token but occurs in tokens"
    return None


def make_next_text_ids(
    added: Sequence[AddedToken],
    vocabulary: Vocabulary,
    encode: Encode,
    segments: Segments,
    size: int,
    merge_bytes: MergeBytes | None,
) -> NextTextIds:
    """Return the NextTextIds of a tokenizer without an unsupported feature.

    `merge_bytes` merges a pre-token; None stands for a slower function in Python.
    """
    assert isinstance(vocabulary, AnyCharacterVocabulary), "cuts.is_text"
    pieces, merges = vocabulary.pieces, vocabulary.merge_rows
    if isinstance(vocabulary, TextVocabulary):
        ranks = np.arange(len(merges))
    else:
        by_id = vocabulary.ranks
        ranks = np.array([by_id[id] for id in merges[:, 2].tolist()], np.int64)
    found = {
        (left, right): (rank, result)
        for (left, right, result), rank in zip(merges.tolist(), ranks.tolist(), strict=True)
    }

    def find(left: int, right: int) -> RankedMerge | None:
        return found.get((left, right))

    def symbols(data: bytes) -> list[int]:
        return [pieces.get(char, -1) for char in data.decode()]

    tokens, fallback = vocabulary.token_bytes, vocabulary.byte_ids
    base = [id for text, id in pieces.items() if len(text) == 1]
    pairs = Pairs(tokens, symbols, base, find, merges, ranks, None, size, merge_bytes)
    byte_ids = frozenset(fallback.values())
    tokens = {id: token for id, token in tokens.items() if id not in byte_ids}
    return NextTextIds(pairs, tokens, fallback, added, encode, segments, size)


class Parts(NamedTuple):
    """The parts of NextIds that do not depend on the added tokens that a policy searches."""

    pairs: Pairs
    classes: Classes
    splits: Splits
    texts: TokenTexts
    tokens: Mapping[int, bytes]
    whole: Mapping[bytes, int]
    ways: OpenWays
    is_single: bool
    """True if the preset has one stage. Later stages may split the end of a text in another way."""
    size: int

    def next_ids(
        self, added: Sequence[AddedToken], encode: Encode, stable_end: Callable[[bytes], int]
    ) -> NextIds:
        """Return the NextIds for the added tokens that a policy searches."""
        return NextIds(
            self.pairs, self.classes, self.splits, self.texts, self.tokens, self.whole, added,
            encode, self.ways, stable_end if self.is_single else None, self.size,
        )  # fmt: skip

    def made_by_text(self, ids: Collection[int]) -> list[int]:
        """Return those of `ids` that merging or the look-up of a pre-token may give."""
        whole = set(self.whole.values())
        return [id for id in ids if self.pairs.is_made[id] or id in whole]


def make_parts(
    cuts: Cuts,
    split: PreTokenizer,
    added: Sequence[AddedToken],
    vocabulary: Vocabulary,
    rows: Callable[[], Rows],
    size: int,
    merge_bytes: MergeBytes | None,
) -> Parts:
    """Return the parts of NextIds for a tokenizer without an unsupported feature.

    `merge_bytes` merges a pre-token; None stands for a slower function in Python.
    """
    classes = Classes(split, cuts.normalizes, vocabulary.missing_bytes)
    if classes.count > MAX_CLASSES:
        raise UnsupportedError(
            f"next_allowed: the rules of preset {split.preset.name!r} distinguish {classes.count} "
            f"classes of characters; expected at most {MAX_CLASSES}"
        )
    byte_ids, tokens = vocabulary.byte_ids, vocabulary.token_bytes

    def symbols(data: bytes) -> list[int]:
        return [byte_ids[byte] for byte in data]

    merges = rows()
    whole = vocabulary.ids if vocabulary.ignore_merges else {}
    is_ranked = vocabulary.from_ranks
    pairs = Pairs(
        tokens, symbols, byte_ids.values(), merge_finder(vocabulary), merges,
        merges[:, 2].astype(np.int64) if is_ranked else np.arange(len(merges)),
        vocabulary.ids if is_ranked else None, size,
        None if vocabulary.missing_bytes else merge_bytes, whole,
    )  # fmt: skip
    contents = {token.id for token in added}
    tokens = {id: token for id, token in tokens.items() if id not in contents}
    splits = Splits(split, classes)
    texts = TokenTexts(tokens, size, classes, pairs, cuts.normalizes)
    ways = OpenWays(
        classes, splits, texts, lambda before, after: cuts.between(before, after) == CUT, size
    )
    is_single = len(split.preset.stages) == 1
    return Parts(pairs, classes, splits, texts, tokens, whole, ways, is_single, size)

"""Add the tokens of another vocabulary one by one, for `merge_vocabularies`.

A token of a text model that has no merges but scores gets a score below all others. Then two
adjacent symbols merge if their joined text is a piece, whatever the two symbols are. Suppose that a
new token and a symbol make a piece of the first vocabulary. Both ends of this piece are ends of
symbols of the first vocabulary, because new tokens join such symbols. So no merge crossed them, and
the text of the piece merges as it does alone: to the piece itself, before any new token is made.
This is a contradiction unless nothing makes the piece. So no new token may be the beginning or the
end of a piece that nothing makes. A new token of one character changes no merge: the text of an
unknown character merges too.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from bpe.characters.merger import make_merger
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.editing.grow import grown, with_facts
from bpe.errors import UnsupportedError, VocabularyError, shortened
from bpe.merge import RankedMerge, merge
from bpe.token_facts import TokenFacts
from bpe.tokenizer import Tokenizer
from bpe.vocabulary import ID_LIMIT, Merge, Vocabulary


class Maker:
    """Adds tokens and merges to those of a tokenizer. A token is bytes or a str."""

    def __init__(self, tokenizer: Tokenizer, ids: dict[Any, int], merges: Iterable[Merge]) -> None:
        """Begin with the `ids` of the tokens that merging makes or starts with, and its merges."""
        self._tokenizer = tokenizer
        self._ids = ids
        self._new: dict[int, Any] = {}
        self._old = list(merges)
        # If a pair is listed twice, the later rank counts.
        self._ranks: dict[tuple[int, int], RankedMerge] = {
            (left, right): (rank, id) for rank, (left, right, id) in enumerate(self._old)
        }
        self._merges: list[Merge] = []
        self.size = tokenizer.vocab_size

    def next_id(self) -> int:
        """Return a new id."""
        if self.size >= ID_LIMIT:
            raise VocabularyError(f"the merged vocabulary has more than {ID_LIMIT:,} ids")
        self.size += 1
        return self.size - 1

    def add(self, token: Any) -> int | None:
        """Return the id of `token`, old or new; None if no merge of two tokens makes it."""
        known = self._ids.get(token)
        if known is not None:
            return known
        if not self._may_add(token):
            return None
        pair: list[int] = []
        if len(token) > 1:
            first = [self._ids.get(token[at : at + 1]) for at in range(len(token))]
            symbols = [id for id in first if id is not None]
            if len(symbols) < len(first):
                return None
            pair = merge(symbols, self._find)
            if len(pair) != 2:
                return None
        id = self._ids[token] = self.next_id()
        self._new[id] = token
        if pair:
            self._merges.append((pair[0], pair[1], id))
        self._added(token, id)
        return id

    def _find(self, left: int, right: int) -> RankedMerge | None:
        """Return the merge of two ids."""
        return self._ranks.get((left, right))

    def _may_add(self, token: Any) -> bool:
        return True

    def _added(self, token: Any, id: int) -> None:
        """Note a new token, whose merge, if it has one, is the last one."""
        if len(token) > 1:
            left, right, _ = self._merges[-1]
            self._ranks[left, right] = len(self._old) + len(self._merges), id

    def ids_of_symbols(self, other: Vocabulary) -> dict[int, int]:
        """Return the id for each token of `other` that is neither text nor bytes of a text."""
        return {}

    def result(self) -> tuple[Vocabulary, TokenFacts]:
        """Return the vocabulary of all tokens and merges, and the facts about them."""
        old = self._tokenizer.vocabulary
        tokens = {**old.token_bytes, **self._new}
        vocabulary = Vocabulary(tokens, [*self._old, *self._merges], old.ignore_merges)
        return vocabulary, self._tokenizer._spec.facts


class _TextMaker(Maker):
    """Adds tokens that are text, to a vocabulary with a list of merges."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        vocabulary = tokenizer.vocabulary
        assert isinstance(vocabulary, AnyCharacterVocabulary)
        self._vocabulary: AnyCharacterVocabulary = vocabulary
        symbols = {vocabulary.unknown_id, *vocabulary.byte_ids.values()}
        if isinstance(vocabulary, TextVocabulary):
            for id in symbols.intersection(chain.from_iterable(vocabulary.merges)):
                raise UnsupportedError(
                    f"a merge of the first vocabulary has the token "
                    f"{shortened(vocabulary.texts[id])}, which stands for bytes or unknown "
                    "characters; expected merges of text"
                )
        ids = {text: id for text, id in vocabulary.pieces.items() if id not in symbols}
        merges = vocabulary.merges if isinstance(vocabulary, TextVocabulary) else ()
        super().__init__(tokenizer, ids, merges)
        self._reserved = {text for text, id in vocabulary.pieces.items() if id in symbols}

    def _may_add(self, token: Any) -> bool:
        return token not in self._reserved

    def ids_of_symbols(self, other: Vocabulary) -> dict[int, int]:
        assert isinstance(other, AnyCharacterVocabulary)
        own = self._vocabulary
        if not other.byte_ids.keys() <= own.byte_ids.keys():
            raise VocabularyError(
                "only the second vocabulary has a fallback token for each byte; pass it first"
            )
        ids = {id: own.byte_ids[byte] for byte, id in other.byte_ids.items()}
        return ids | {other.unknown_id: own.unknown_id} if other.unknown_id >= 0 else ids

    def result(self) -> tuple[Vocabulary, TokenFacts]:
        vocabulary = grown(self._vocabulary, self._new, self._merges)
        return vocabulary, with_facts(self._tokenizer._spec.facts, vocabulary, self._new)


class _ScoreMaker(_TextMaker):
    """Adds pieces to those of a CharacterVocabulary, which has scores."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        vocabulary = tokenizer.vocabulary
        assert isinstance(vocabulary, CharacterVocabulary)
        self._piece_ranks = dict(vocabulary.ranks)
        self._texts = {id: text for text, id in self._ids.items()}
        self._next = 1 + max(self._piece_ranks.values(), default=0)
        merge_alone = make_merger(vocabulary).merge
        for text, id in vocabulary.pieces.items():
            if len(text) > 1 and merge_alone(text.encode()) != [id]:
                self._reserved.update(text[:at] for at in range(2, len(text)))
                self._reserved.update(text[at:] for at in range(1, len(text) - 1))

    def _find(self, left: int, right: int) -> RankedMerge | None:
        id = self._ids.get(self._texts[left] + self._texts[right])
        return None if id is None else (self._piece_ranks[id], id)

    def _added(self, token: Any, id: int) -> None:
        self._texts[id] = token
        self._piece_ranks[id] = self._next
        self._next += 1


def make_maker(tokenizer: Tokenizer) -> Maker:
    """Return the Maker for a tokenizer."""
    vocabulary = tokenizer.vocabulary
    if isinstance(vocabulary, CharacterVocabulary):
        return _ScoreMaker(tokenizer)
    if isinstance(vocabulary, TextVocabulary):
        _check_place(vocabulary)
        return _TextMaker(tokenizer)
    return Maker(tokenizer, dict(vocabulary.ids), tokenizer.merge_ids)


def listed_tokens(vocabulary: Vocabulary) -> Iterable[tuple[int, Any]]:
    """Return the id and the bytes or the text of each token that merging may make."""
    if isinstance(vocabulary, AnyCharacterVocabulary):
        if isinstance(vocabulary, TextVocabulary):
            _check_place(vocabulary)
        return ((id, text) for text, id in vocabulary.pieces.items())
    return vocabulary.token_bytes.items()


def _check_place(vocabulary: TextVocabulary) -> None:
    options = vocabulary.options
    if options.prefix or options.suffix or not vocabulary.concatenates:
        raise UnsupportedError(
            "tokens have a prefix or suffix by their place in a word (continuing_subword_prefix, "
            "end_of_word_suffix); expected vocabularies without"
        )

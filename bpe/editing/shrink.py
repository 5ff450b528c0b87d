"""Remove tokens from a tokenizer, and keep the ids of all texts without these tokens.

The kept tokens are closed: with a token, the two tokens are kept of which merges make it. Then a
text whose old tokens are all kept has the same tokens. Proof: all merges in this text make tokens
of which a kept token is made, so they are kept. The new vocabulary has no other merges than the old
one, in the same order. So at each step, the merge that came first before also comes first now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import index as as_int
from typing import TYPE_CHECKING

import numpy as np

from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.editing.derivations import Derivations
from bpe.editing.remap import Remapped, ids_of, remapped, vocabulary_with
from bpe.errors import UnknownTokenError, VocabularyError, shortened
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.types import Text

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer


def shrink(
    tokenizer: Tokenizer,
    keep: Iterable[int] | None,
    texts: Iterable[Text] | None,
    vocab_size: int | None,
    gaps: bool,
    keep_added: bool,
) -> Remapped:
    """Implement Tokenizer.shrink."""
    if keep is None and texts is None and vocab_size is None:
        raise TypeError("shrink needs keep=, texts= or vocab_size=, to say which tokens to keep")
    kept = _Kept(tokenizer, keep_added)
    if keep is not None:
        kept.add_wanted(keep)
    counts = None if texts is None else _counts(tokenizer, texts)
    if vocab_size is not None:
        kept.fill(vocab_size, counts)
    elif counts is not None:
        for id in np.flatnonzero(counts).tolist():
            kept.add(id)
    ids = sorted(kept.ids)
    new_ids = {id: id if gaps else at for at, id in enumerate(ids)}
    vocabulary = tokenizer.vocabulary
    has_list = not (vocabulary.from_ranks or isinstance(vocabulary, CharacterVocabulary))
    merges = kept.derivations.merges if has_list else None
    made = vocabulary_with(vocabulary, new_ids, merges)
    added = [token for token in tokenizer.added_tokens if token.id in new_ids]
    return remapped(tokenizer, made, new_ids, added)


def _counts(
    tokenizer: Tokenizer, texts: Iterable[Text]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return how often each id occurs in texts."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts is of type {type(texts).__name__}; expected several texts")
    counts = np.zeros(tokenizer.vocab_size, np.int64)
    batch: list[Text] = []
    for text in texts:
        batch.append(text)
        if len(batch) == 1024:
            ids, _ = tokenizer.encode_batch_array(batch, "allow")
            counts += np.bincount(ids, minlength=len(counts))
            batch = []
    ids, _ = tokenizer.encode_batch_array(batch, "allow")
    counts += np.bincount(ids, minlength=len(counts))
    return counts


class _Kept:
    """The ids of tokens to keep; closed under merges at all times.

    Begins with the tokens that each tokenizer needs: those of single bytes, fallback tokens, the
    unknown token, added tokens (if `keeps_added`), and tokens that other parts name.
    """

    def __init__(self, tokenizer: Tokenizer, keeps_added: bool) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary = tokenizer.vocabulary
        self._all = ids_of(tokenizer)
        self._added = {token.id for token in tokenizer.added_tokens}
        scores = isinstance(vocabulary, CharacterVocabulary)
        rows = np.zeros((0, 3), np.uint32) if scores else tokenizer._merge_rows()
        self.derivations = Derivations(vocabulary, rows)
        self.ids: set[int] = set()
        for id in (self._named(keeps_added) & self._all) | {*vocabulary.byte_ids.values()}:
            self.add(id)

    def _named(self, keeps_added: bool) -> set[int]:
        """Return the ids of added tokens, and the ids that other parts of the tokenizer name."""
        tokenizer, vocabulary = self._tokenizer, self._vocabulary
        facts, template, padding = tokenizer._spec.facts, tokenizer.template, tokenizer.padding
        ids = {*template.before, *template.after, *facts.roles.values(), *facts.ends}
        if padding is not None:
            ids.add(padding.pad_id)
        if isinstance(vocabulary, AnyCharacterVocabulary) and vocabulary.unknown_id >= 0:
            ids.add(vocabulary.unknown_id)
        symbols: Collection[str] = ()
        if isinstance(tokenizer.normalizer, SentencePieceNormalizer):
            symbols = tokenizer.normalizer.user_defined
        ids.update(
            token.id for token in tokenizer.added_tokens if keeps_added or token.content in symbols
        )
        if isinstance(vocabulary, CharacterVocabulary):
            ids.update(vocabulary.pieces[text] for text in symbols if text in vocabulary.pieces)
        return ids

    def add_wanted(self, keep: Iterable[int]) -> None:
        """Add tokens that the caller names; raise an error for one that no merge reaches."""
        wanted = set()
        for id in keep:
            try:
                wanted.add(as_int(id))
            except TypeError:
                raise TypeError(f"keep has {shortened(id)}; expected ids") from None
        unknown = wanted - self._all
        if unknown:
            raise UnknownTokenError(f"keep has the id {min(unknown)}, which no token has")
        dead = [id for id in sorted(wanted) if not self._is_reached(id)]
        if dead:
            token = self._vocabulary.bytes_of(dead[0])
            raise VocabularyError(
                f"no merges make token {dead[0]}, {shortened(token)}"
                f"{f', and {len(dead) - 1} other tokens of keep' if len(dead) > 1 else ''}; omit "
                "such tokens, which bpe.reachability lists as 'merges'"
            )
        for id in sorted(wanted):
            self.add(id)

    def _is_reached(self, id: int) -> bool:
        """Return whether text may become the token by merges, as an added token or by a lookup."""
        vocabulary = self._vocabulary
        if id in self._added or id in self.ids:
            return True
        is_looked_up = vocabulary.ignore_merges and not (
            isinstance(vocabulary, TextVocabulary) and id in vocabulary.not_whole
        )
        return is_looked_up or self.derivations.is_made(id)

    def add(self, id: int) -> None:
        """Add a token, and those of which it is made."""
        self.ids |= self._closure(id)

    def _parts(self, id: int) -> tuple[int, ...]:
        return self.derivations.of(id) if self._vocabulary.bytes_of(id) is not None else ()

    def _closure(self, id: int) -> set[int]:
        """Return the tokens that `add` would add."""
        found, stack = {id} - self.ids, [id]
        while stack:
            new = {*self._parts(stack.pop())} - found - self.ids
            found |= new
            stack += new
        return found

    def fill(self, size: int, counts: np.ndarray[tuple[int], np.dtype[np.int64]] | None) -> None:
        """Add tokens until there are `size`: the most frequent ones, or those that merge first."""
        if isinstance(size, bool) or not isinstance(size, int) or size < len(self.ids):
            raise ValueError(
                f"vocab_size={shortened(size)}; expected an int of at least {len(self.ids)}, the "
                "number of tokens that are kept in any case"
            )
        for id in self._candidates(counts):
            if len(self.ids) >= size:
                break
            if id not in self.ids:
                closure = self._closure(id)
                if len(self.ids) + len(closure) <= size:
                    self.ids |= closure

    def _candidates(self, counts: np.ndarray[tuple[int], np.dtype[np.int64]] | None) -> list[int]:
        if counts is not None:
            used = np.flatnonzero(counts)
            order = np.argsort(-counts[used], kind="stable")
            return [int(id) for id in used[order]]
        made = [id for id in self._all if self._is_reached(id)]
        return sorted(made, key=lambda id: (self._rank(id), id))

    def _rank(self, id: int) -> float:
        vocabulary = self._vocabulary
        if isinstance(vocabulary, CharacterVocabulary):
            # A character that is a piece needs no merge.
            text = vocabulary.token_bytes[id]
            is_character = len(text.decode("utf-8", "replace")) == 1
            return -1 if is_character else vocabulary.ranks.get(id, len(vocabulary.ranks))
        if isinstance(vocabulary, TextVocabulary) and len(vocabulary.texts.get(id, "")) == 1:
            return -1
        return self.derivations.rank(id)

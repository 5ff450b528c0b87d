"""Go on training with the vocabulary of a tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.editing.grow import free_ids, grown, with_tokens
from bpe.encoding.utf8 import decode_utf8
from bpe.errors import UnsupportedError
from bpe.tokenizer import Tokenizer
from bpe.training.bounded import MappedFile
from bpe.training.characters import AnyTrainer, covering
from bpe.training.counting import WORD_OVERHEAD, TextCounter, text_counter
from bpe.training.limits import Limits
from bpe.training.pre_tokens import PipelineCounter
from bpe.training.trainer import BYTE_ORDER, TieBreak, Trainer
from bpe.types import NewIds
from bpe.vocabulary import Merge, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer

if TYPE_CHECKING:
    from pretok import _core

BYTES_AT_ONCE = 1 << 23
"""The approximate size of the words that are encoded together."""
Numbers = NDArray[np.int64]


class Symbols(NamedTuple):
    """The tokens of a vocabulary that words may consist of, in the order of the trainer.

    Single units come first (bytes in the order of their characters in GPT-2, or characters by code
    point), then the tokens that merges make in the order of their ranks, then the others by id.
    """

    ids: list[int]
    texts: list[str]
    """The units of each token: characters, or for bytes the characters of these values."""
    reserved: dict[str, int]
    """The texts that no merge may make, and their ids: special tokens and the names of bytes."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, vocabulary: Vocabulary) -> Symbols:
        """Return the symbols of `vocabulary`, a vocabulary of `tokenizer`."""
        made = _made_by_rank(vocabulary)
        if isinstance(vocabulary, TextVocabulary):
            texts = vocabulary.texts
            barred = {*vocabulary.byte_ids.values(), vocabulary.unknown_id}
            singles = sorted((id for id in texts if len(texts[id]) == 1), key=texts.__getitem__)
        elif isinstance(vocabulary, CharacterVocabulary):
            texts = {id: text for text, id in vocabulary.pieces.items()}
            barred = {*vocabulary.token_bytes} - texts.keys()
            singles = sorted((id for id in texts if len(texts[id]) == 1), key=texts.__getitem__)
        else:
            tokens = vocabulary.token_bytes
            texts = {id: token.decode("latin-1") for id, token in tokens.items()}
            barred = {id for id in tokens if len(tokens[id]) == 1}
            by_byte = vocabulary.byte_ids
            singles = [by_byte[byte] for byte in BYTE_ORDER if byte in by_byte]
            barred -= {*singles}
        if vocabulary.from_ranks:
            barred |= {token.id for token in tokenizer.added_tokens if token.special}
        first = [id for id in dict.fromkeys([*singles, *made]) if id not in barred]
        barred |= {token.id for token in tokenizer.added_tokens} - {*first}
        rest = sorted(texts.keys() - {*first} - barred)
        ids = [*first, *rest]
        shown = {token.content: token.id for token in tokenizer.added_tokens}
        if not isinstance(vocabulary, AnyCharacterVocabulary):
            shown = {text.encode().decode("latin-1"): id for text, id in shown.items()}
        reserved = {texts[id]: id for id in barred if id in texts} | shown
        return cls(ids, [texts[id] for id in ids], reserved)


def _made_by_rank(vocabulary: Vocabulary) -> list[int]:
    """Return the ids that merges make, in the order of their lowest rank."""
    if isinstance(vocabulary, CharacterVocabulary):
        return sorted(vocabulary.scores, key=lambda id: (vocabulary.ranks[id], id))
    if vocabulary.merges is None:
        return sorted(vocabulary.token_ids)  # ids are ranks
    return list(dict.fromkeys(result for _, _, result in vocabulary.merges))


class Initial(NamedTuple):
    """The tokenizer with which training goes on, and the ids of new tokens."""

    tokenizer: Tokenizer
    new_ids: NewIds

    @classmethod
    def of(
        cls, tokenizer: Tokenizer, new_ids: NewIds, tie_break: TieBreak, vocab_size: int
    ) -> Initial:
        """Return the start of a training.

        Raises UnsupportedError if training cannot go on with `tokenizer`, ValueError if the other
        arguments do not fit it, and TypeError if it is not a Tokenizer.
        """
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(
                f"initial is of type {type(tokenizer).__name__}; expected a Tokenizer, such as the "
                "result of bpe.load"
            )
        initial = cls(tokenizer, new_ids)
        initial._check(tie_break)
        initial.room(vocab_size)
        return initial

    def _check(self, tie_break: TieBreak) -> None:
        vocabulary = self.tokenizer.vocabulary
        if isinstance(vocabulary, TextVocabulary) and vocabulary.options.prefix:
            raise UnsupportedError(
                "initial= has continuing_subword_prefix "
                f"{shortened(vocabulary.options.prefix)}, which merges remove; bpe.train goes on "
                "only with vocabularies whose merges concatenate their tokens"
            )
        if tie_break == "first-seen" and (
            vocabulary.from_ranks or isinstance(vocabulary, AnyCharacterVocabulary)
        ):
            raise ValueError(
                'tie_break="first-seen" may make a token twice, but each token of initial= has '
                "its own bytes or text; omit tie_break="
            )

    @property
    def takes_characters(self) -> bool:
        """True if characters that are no tokens may become tokens."""
        vocabulary = self.tokenizer.vocabulary
        if isinstance(vocabulary, TextVocabulary):
            options = vocabulary.options
            return not (options.byte_level or options.prefix or options.suffix)
        return isinstance(vocabulary, CharacterVocabulary)

    def counter(
        self,
        pre_tokenizer: object,
        backend: BackendName,
        threads: int | None,
        limits: Limits,
    ) -> TextCounter:
        """Return the counter of the pre-tokens that the tokenizer merges.

        `pre_tokenizer` replaces that of the tokenizer. Added tokens that are not special separate
        the text around them; special tokens are ordinary text.
        """
        tokenizer = self.tokenizer
        is_plain = (
            tokenizer.normalizer is None
            and not tokenizer.add_prefix_space
            and all(token.special for token in tokenizer.added_tokens)
            and not isinstance(tokenizer.vocabulary, AnyCharacterVocabulary)
        )
        if is_plain:
            return text_counter(cast(PreTokenizer, pre_tokenizer), backend, threads, limits)
        return PipelineCounter(self.tokenizer, pre_tokenizer, backend, limits)

    def ids(self, number: int) -> list[int]:
        """Return the ids of the next `number` new tokens."""
        return free_ids(self.tokenizer, self.new_ids, number)

    def room(self, vocab_size: int) -> int:
        """Return the number of new ids below `vocab_size`.

        Raises ValueError if the tokenizer has larger ids.
        """
        if vocab_size < self.tokenizer.vocab_size:
            raise ValueError(
                f"vocab_size={vocab_size}; expected at least {self.tokenizer.vocab_size}, the "
                "vocab_size of initial="
            )
        ids = self.ids(vocab_size)
        return sum(id < vocab_size for id in ids)


class InitialWords:
    """The words of the texts as rows of tokens.

    Before rows are added, `add_characters` may make characters tokens.
    """

    def __init__(
        self,
        initial: Initial,
        backend: BackendName,
        lists: MappedFile | None = None,
        are_distinct: bool = False,
    ) -> None:
        """Start without words.

        The C++ trainer keeps lists in `lists`; None stands for ordinary memory. `are_distinct` says
        that no word will be added twice.
        """
        self._initial = initial
        self._backend = backend
        self._lists = lists
        self._are_distinct = are_distinct
        self.characters: list[str] = []
        self._begin(initial.tokenizer.vocabulary)

    def _begin(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._symbols = Symbols.of(self._initial.tokenizer, vocabulary)
        self._rows = _Rows(
            vocabulary, self._symbols.ids, self._backend, self._are_distinct, self._lists
        )

    def add_characters(
        self, words: Iterable[tuple[bytes, int]], coverage: float, required: str
    ) -> None:
        """Make the characters of `words` tokens that are none yet, as `coverage` says."""
        vocabulary = self._vocabulary
        known = {*cast("TextVocabulary | CharacterVocabulary", vocabulary).pieces}
        chars = {char for char in covering(_texts(words), coverage) if char.isprintable()}
        self.characters = sorted({*required, *chars} - known)
        if self.characters:
            ids = self._initial.ids(len(self.characters))
            new = dict(zip(ids, self.characters, strict=True))
            self._begin(grown(vocabulary, new, ()))

    def add(self, words: list[tuple[bytes, int]]) -> None:
        """Add words and their counts, and empty the list, which may take much memory."""
        self._rows.add(words)

    def trainer(
        self,
        tie_break: TieBreak,
        min_frequency: int,
        max_token_length: int | None,
        max_words: int | None = None,
    ) -> AnyTrainer:
        """Return the trainer of the words that were added, and forget the words."""
        vocabulary, texts = self._vocabulary, self._symbols.texts
        joins = vocabulary.from_ranks or isinstance(vocabulary, CharacterVocabulary)
        limits = tie_break, min_frequency, max_token_length
        if self._rows.native is None:
            rows = [([texts[symbol] for symbol in row], n) for row, n in self._rows.python]
            return Trainer(rows, *limits, texts, joins, max_words)
        from pretok import _core

        units = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        lengths = np.fromiter(map(len, texts), np.uint32, len(texts))
        rest = joins, max_words, self._lists
        return _core.Trainer.of_tokens(units, lengths, self._rows.native, *limits, *rest)

    def tokenizer(
        self,
        trainer: AnyTrainer,
        backend: BackendName | None = None,
        cache_mb: float | None = None,
    ) -> Tokenizer:
        """Return the tokenizer with the tokens and merges that `trainer` has learned.

        Raises ValueError if a merge makes the text of a special token or of another token that
        merges must not make.
        """
        old = len(self._symbols.ids)
        texts = [*self._symbols.texts]
        for left, right, _ in trainer.first_merges().tolist():
            texts.append(texts[left] + texts[right])
            if texts[-1] in self._symbols.reserved:
                raise ValueError(
                    f"the texts make the token {shortened(texts[-1])}, which is token "
                    f"{self._symbols.reserved[texts[-1]]} of initial=, a special token or a token "
                    "that no merge makes; remove it from the texts"
                )
        new_texts = [*self.characters, *texts[old:]]
        new_ids = self._initial.ids(len(new_texts))
        ids = [*self._symbols.ids, *new_ids[len(self.characters) :]]
        merges: list[Merge] = [
            (ids[left], ids[right], ids[made]) for left, right, made in trainer.merges().tolist()
        ]
        tokens = dict(zip(new_ids, new_texts, strict=True))
        return with_tokens(self._initial.tokenizer, tokens, merges, backend, cache_mb)


class _Rows:
    """Words as rows of symbols, and their counts: in C++ in `native`, else in `python`.

    A symbol is an index in `ids`. A token that is not in `ids` cuts a word in two, because it never
    merges.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        ids: Sequence[int],
        backend: BackendName,
        are_distinct: bool,
        lists: MappedFile | None,
    ) -> None:
        self._whole = Tokenizer(vocabulary, WHOLE, backend=backend)
        self._symbol_of = np.full(max(vocabulary.size, self._whole.vocab_size), -1, np.int64)
        self._symbol_of[list(ids)] = np.arange(len(ids))
        self.native: _core.TokenRows | None = None
        self.python: list[tuple[list[int], int]] = []
        if backend == "native":
            from pretok import _core

            self.native = _core.TokenRows(are_distinct, lists)

    def add(self, words: list[tuple[bytes, int]]) -> None:
        """Encode `words`, and empty the list."""
        for some in _batches(words):
            symbols, sizes, counts = _rows_of(self._whole, self._symbol_of, some)
            if self.native is not None:
                self.native.add(symbols, sizes, counts)
                continue
            ends = [0, *np.cumsum(sizes).tolist()]
            rows = (symbols[start:end].tolist() for start, end in pairwise(ends))
            self.python += zip(rows, counts.tolist(), strict=True)


def _batches(words: list[tuple[bytes, int]]) -> Iterator[list[tuple[bytes, int]]]:
    """Yield the words in batches of about BYTES_AT_ONCE, and remove them from the list."""
    words.reverse()
    while words:
        some, size = [], 0
        while words and size < BYTES_AT_ONCE:
            some.append(words.pop())
            size += len(some[-1][0]) + WORD_OVERHEAD
        yield some


def _rows_of(
    whole: Tokenizer, symbol_of: Numbers, words: list[tuple[bytes, int]]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Numbers]:
    ids, offsets = whole.encode_batch_array([word for word, _ in words], "plain")
    symbols = symbol_of[ids]
    word_of = np.repeat(np.arange(len(words)), np.diff(offsets.astype(np.int64)))
    is_symbol = symbols >= 0
    # Both terms never decrease, so the sum changes where a word or a part of a word ends.
    row_of = (word_of + np.cumsum(~is_symbol))[is_symbol]
    starts = np.flatnonzero(np.diff(row_of, prepend=-1))
    counts = np.fromiter((number for _, number in words), np.int64, len(words))
    sizes = np.diff(starts, append=len(row_of))
    return (
        symbols[is_symbol].astype(np.uint32),
        sizes.astype(np.uint32),
        counts[word_of[is_symbol][starts]],
    )


def _texts(words: Iterable[tuple[bytes, int]]) -> Iterator[tuple[str, int]]:
    for word, number in words:
        yield decode_utf8(word), number

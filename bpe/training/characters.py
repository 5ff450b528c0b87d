"""Train a vocabulary whose first symbols are characters, as in SentencePiece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.characters.marks import BYTE_NAMES, SPACE_MARK
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.decoders import steps
from bpe.decoders.chain import DecoderChain
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.utf8 import decode_utf8, has_surrogates
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Prepend, Replace
from bpe.training.bounded import MappedFile
from bpe.training.trainer import TieBreak, Trainer
from pretok.charsets.sets import code_points
from pretok.errors import shortened
from pretok.machine.backend import BackendName
from pretok.preset import Preset
from pretok.rules import Run

NORMALIZER = NormalizerChain((Prepend(SPACE_MARK), Replace(" ", SPACE_MARK)))
"""Replaces each space by "▁", and puts one "▁" before a text, like the normalizer of Llama 2."""
WORDS_AT_ONCE = 1 << 17
"""The number of words that become symbols together."""
Batches: TypeAlias = Callable[[], Iterable[list[tuple[bytes, int]]]]
DECODER = DecoderChain(
    (
        steps.Replace(SPACE_MARK, " "),
        steps.ByteFallback(),
        steps.Fuse(),
        steps.Strip(" ", 1, 0),
    )
)
"""The decoder of Llama 2, which undoes NORMALIZER."""


class AnyTrainer(Protocol):
    """The methods of the trainers."""

    @property
    def tokens(self) -> int:
        """The number of learned tokens."""

    def step(self, tokens: int) -> bool:
        """Merge until there are `tokens` learned tokens; return False if no pair is left."""

    def merges(self) -> NDArray[np.uint32]:
        """Return the merges."""

    def first_merges(self) -> NDArray[np.uint32]:
        """Return the first merge of each token."""


class CharacterOptions(NamedTuple):
    """The arguments of `bpe.train` for an alphabet of characters."""

    byte_fallback: bool
    coverage: float
    required: str
    unknown: str

    def with_unknown(
        self, specials: Sequence[str] | Mapping[str, int]
    ) -> Sequence[str] | Mapping[str, int]:
        """Return `specials` with the unknown token, which comes first if the list does not have it.

        A str or bytes in place of a list is returned unchanged; the caller rejects it. Raises
        ValueError if the unknown token is not a non-empty str, or if `specials` is a mapping and
        has no id for it.
        """
        if not isinstance(self.unknown, str) or not self.unknown:
            raise ValueError(f"unknown_token={self.unknown!r}; expected a non-empty str")
        if self.unknown in specials:
            return specials
        if isinstance(specials, Mapping):
            raise ValueError(
                f"special_tokens has no id for {self.unknown!r}, the token for unknown text; add "
                "it to special_tokens"
            )
        return specials if isinstance(specials, (str, bytes)) else [self.unknown, *specials]

    def check(self, specials: Iterable[str]) -> None:
        """Raise ValueError if an option is invalid."""
        if not isinstance(self.coverage, (int, float)) or not 0 < self.coverage <= 1:
            raise ValueError(
                f"character_coverage={self.coverage!r}; expected a number above 0, and at most 1"
            )
        if not isinstance(self.required, str) or has_surrogates(self.required):
            raise ValueError(
                f"required_characters={self.required!r}; expected a str without surrogates"
            )
        for name in specials:
            if len(name) == 1 or name in BYTE_NAMES:
                raise ValueError(
                    f"special token {name!r} is a single character or the name of a byte; expected "
                    "another text, such as '<s>'"
                )


def words_preset() -> Preset:
    """Return a preset that splits like Metaspace: before each space and each "▁"."""
    marks = code_points(" ", SPACE_MARK)
    return Preset("metaspace-words", (Run(marks, tail=~marks, at_most=1), Run(~marks)))


class CharacterWords:
    """The distinct words (pre-tokens) of the texts, and the alphabet, the characters to merge.

    Each word begins with "▁". The alphabet has "▁", the required characters, and the most frequent
    characters, until these make up the share `coverage` of all characters. Among equally frequent
    characters, lower code points come first, as in SentencePiece.
    """

    def __init__(self, batches: Batches, options: CharacterOptions) -> None:
        """Find the alphabet. `batches` returns all words in batches, whenever it is called."""
        self.options = options
        self._batches = batches
        self.alphabet = sorted(
            {SPACE_MARK, *options.required, *covering(self._words(), options.coverage)}
        )

    def _words(self) -> Iterator[tuple[str, int]]:
        for words in self._batches():
            for word, number in words:
                yield _marked(decode_utf8(word)), number

    @property
    def size(self) -> int:
        """The number of tokens without special tokens, before any merge."""
        return len(self.alphabet) + len(BYTE_NAMES) * self.options.byte_fallback

    def trainer(
        self,
        backend: BackendName,
        min_frequency: int,
        max_token_length: int | None,
        lists: MappedFile | None,
    ) -> AnyTrainer:
        """Return the trainer of these words; in C++ it keeps lists in `lists`, if this is given."""
        tie_break: TieBreak = "huggingface"
        limits = tie_break, min_frequency, max_token_length
        if backend == "python":
            return Trainer(self._words(), *limits, self.alphabet)
        from pretok import _core

        rows = _core.TokenRows(True, lists)
        alphabet, words = _code_points("".join(self.alphabet)), self._words()
        while some := [*islice(words, WORDS_AT_ONCE)]:
            # As in `Trainer`, characters outside the alphabet are dropped.
            texts = [text for text, _ in some]
            symbols = np.searchsorted(alphabet, chars := _code_points("".join(texts)))
            is_known = alphabet[np.minimum(symbols, len(alphabet) - 1)] == chars
            ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
            known_before = np.concatenate([[0], np.cumsum(is_known)])
            sizes = np.diff(known_before[ends], prepend=0).astype(np.uint32)
            counts = np.fromiter((number for _, number in some), np.int64, len(some))
            rows.add(symbols[is_known].astype(np.uint32), sizes, counts)
        ones = np.ones(len(alphabet), np.uint32)
        return _core.Trainer.of_tokens(alphabet, ones, rows, *limits, False, None, lists)

    def vocabulary(
        self,
        first_merges: NDArray[np.uint32],
        merges: NDArray[np.uint32],
        specials: list[str],
        fixed: list[int] | None,
    ) -> tuple[TextVocabulary, list[AddedToken]]:
        """Return the vocabulary of the merges of a Trainer, and the special tokens.

        The ids from 0 on are: the special tokens, unless they have `fixed` ids; the bytes, with
        `byte_fallback`; the alphabet; the merged tokens. Raises ValueError if a merge makes the
        text of a special token or the name of a byte, such as <0x0A>.
        """
        tokens = [*(BYTE_NAMES if self.options.byte_fallback else ()), *self.alphabet]
        first = len(tokens) - len(self.alphabet)
        for left, right, _ in first_merges.tolist():
            tokens.append(tokens[first + left] + tokens[first + right])
        reserved = {*specials, *tokens[:first]}
        for text in tokens[first:]:
            if text in reserved:
                raise ValueError(
                    f"the texts make the token {shortened(text)}, which is a special token or "
                    "the name of a byte; remove it from the texts, or choose another special token"
                )
        taken = frozenset(fixed or ())
        free = (id for id in count() if id not in taken)
        special_ids = list(islice(free, len(specials))) if fixed is None else fixed
        ids = list(islice(free, len(tokens)))
        merge_ids = [
            (ids[first + left], ids[first + right], ids[first + made])
            for left, right, made in merges.tolist()
        ]
        texts = dict(zip([*special_ids, *ids], [*specials, *tokens], strict=True))
        options = TextOptions(
            self.options.unknown, fuses_unknown=True, has_fallback=self.options.byte_fallback
        )
        added = [AddedToken(text, id) for text, id in zip(specials, special_ids, strict=True)]
        return TextVocabulary(texts, merge_ids, options, special_ids), added


def covering(words: Iterable[tuple[str, int]], coverage: float) -> Iterator[str]:
    """Yield the most frequent characters of `words`, until they make up the share `coverage`."""
    counts: Counter[str] = Counter()
    for word, number in words:
        for char in word:
            counts[char] += number
    total, covered = sum(counts.values()), 0
    for char, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if covered / total >= coverage:
            return
        yield char
        covered += number


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _marked(word: str) -> str:
    """Return `word` with "▁" at its start, as Metaspace does; the "▁" replaces a space there.

    Surrogates in `word` stand for invalid bytes; each becomes U+FFFD.
    """
    word = "".join(["\ufffd" if "\ud800" <= char <= "\udfff" else char for char in word])
    if word.startswith(SPACE_MARK):
        return word
    return SPACE_MARK + word.removeprefix(" ")

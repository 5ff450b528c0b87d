"""Define Training, which counts pre-tokens and merges them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, nullcontext
from hashlib import sha256
from importlib.metadata import version
from itertools import chain, count, islice
from typing import Any, NamedTuple, Protocol, cast

from bpe.editing.grow import with_vocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.progress import progress_bar
from bpe.token_table import Packed
from bpe.tokenizer import Tokenizer
from bpe.training.arguments import Specials
from bpe.training.bounded import (
    IS_MEASURED,
    MIN_ROOM,
    Bound,
    Counting,
    MappedFile,
    RunWords,
    split_name,
)
from bpe.training.characters import (
    DECODER,
    NORMALIZER,
    AnyTrainer,
    Batches,
    CharacterOptions,
    CharacterWords,
)
from bpe.training.corpus import TrainingSource, expected_size, read_texts
from bpe.training.counting import Take, TextCounter, Words, text_counter
from bpe.training.initial import Initial, InitialWords
from bpe.training.limits import Limits
from bpe.training.stage2 import Stage2
from bpe.training.trainer import TieBreak, Trainer
from bpe.training.work_folder import WorkFolder
from bpe.types import SupportsOffsets
from bpe.vocabulary import Vocabulary
from pretok.machine.backend import BackendName, choose_backend
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer

BYTES = 256
UNLIMITED = 1 << 62
"""A number above any count and any length."""
MAX_WORDS = (1 << 32) - 1
"""No token has more words."""
IN_MEMORY: Mapping[BackendName, tuple[int, int, str]] = {
    "native": (48, 300, 'training with tie_break="first-seen"'),
    "python": (300, 500, "the Python backend"),
}
"""The estimated memory of training in memory, for each byte of a word and for each word."""

logger = logging.getLogger("bpe")


class TrainingEngine(Protocol):
    """Counts pre-tokens elsewhere than in this process; `bpe.distributed.ray` makes one."""

    def runs(
        self, training: Training, folder: WorkFolder, advance: Callable[[int], object]
    ) -> None:
        """Count the pre-tokens to `folder`."""
        ...


class Training(NamedTuple):
    """The checked arguments of `train`.

    `characters` is None for an alphabet of bytes, and `initial` to start with an empty vocabulary.
    """

    source: TrainingSource
    field: str
    include: str | Iterable[str]
    pre_tokenizer: PreTokenizer | SupportsOffsets
    limits: Limits
    threads: int | None
    backend: BackendName | None
    vocab_size: int
    specials: Specials
    characters: CharacterOptions | None
    initial: Initial | None
    tie_break: TieBreak
    min_frequency: int
    max_token_length: int | None
    max_words: int | None
    progress: bool | None
    cache_mb: float | None
    bound: Bound | None
    stage: str = "stage-1"

    def run(self, engine: TrainingEngine | None) -> Tokenizer:
        """Count the pre-tokens of the source, and return the Tokenizer that is trained on them."""
        if self.bound is not None or engine is not None:
            return self._run_bounded(self.bound or Bound(None, None), engine)
        rows = take = None
        if self.initial is not None:
            rows = InitialWords(self.initial, choose_backend(self.backend))
            # The characters of all words are counted before the words become rows.
            take = None if self.initial.takes_characters else rows.add
        with progress_bar("counting", "B", self.progress, self._expected_size) as bar:
            words = self.words(bar.update, take)
        return self._trained(words, rows)

    def _run_bounded(self, bound: Bound, engine: TrainingEngine | None) -> Tokenizer:
        """Do the work of `run`, with the words in a work folder."""
        backend = choose_backend(self.backend)
        with bound.work_folder(self.stage, self._identity) as folder:
            with progress_bar("counting", "B", self.progress, self._expected_size) as bar:
                if engine is not None:
                    engine.runs(self, folder, bar.update)
                else:
                    Counting(
                        self.source, self.field, self.include, self.limits.text, backend,
                        self.counter(), bound,
                    ).run(folder, bar.update)  # fmt: skip
            words = RunWords(folder)
            if backend == "python" or self.tie_break != "huggingface":
                words.check(bound, *IN_MEMORY[backend])
                return self._trained(words.words(backend))
            # The order of words has no effect, so they are read one after the other.
            lists = bound.lists(folder)
            with nullcontext() if lists is None else closing(lists):
                return self._trained_on_runs(words, lists)

    def _trained_on_runs(self, words: RunWords, lists: MappedFile | None) -> Tokenizer:
        """Return the Tokenizer of a C++ trainer that keeps lists of places in `lists`."""
        from pretok import _core

        if self.initial is not None:
            rows = InitialWords(self.initial, "native", lists, are_distinct=True)
            return self._of_rows(rows, words.batches)
        if self.characters is not None:
            return self._of_characters(CharacterWords(words.batches, self.characters), lists)
        limits = self.min_frequency, self.max_token_length
        return self._of_bytes(_core.Trainer.of_run(words.blocks(), *limits, lists))

    def _expected_size(self) -> int | None:
        return expected_size(self.source, self.include)

    def _identity(self) -> dict[str, object]:
        """Return the arguments on which the counts depend."""
        initial = None
        if self.initial is not None:
            from bpe.corpus.identity import tokenizer_file

            name, content = tokenizer_file(self.initial.tokenizer)
            initial = f"{name} {sha256(content).hexdigest()}"
        return {
            "pretok": version("pretok-bpe"),
            "preset": split_name(self.pre_tokenizer),
            "field": self.field,
            "initial": initial,
        }

    def second(
        self, first: Tokenizer, split: PreTokenizer | SupportsOffsets, stage: Stage2
    ) -> Training:
        """Return the training that goes on with the result of this one, as `stage` says."""
        start = with_vocabulary(first, first.vocabulary, pre_tokenizer=split)
        return self._replace(
            initial=Initial.of(start, "after", self.tie_break, stage.vocab_size),
            pre_tokenizer=split,
            vocab_size=stage.vocab_size,
            specials=Specials([], None),
            characters=CharacterOptions(False, 1.0, "", "<unk>"),
            max_words=None if stage.max_words is None else min(stage.max_words, MAX_WORDS),
            stage="stage-2",
        )

    def words(self, advance: Callable[[int], object], take: Take | None = None) -> Words:
        """Count the pre-tokens of the source; pass the size of each text to `advance`.

        If there are many, most are passed to `take`, so the result has only the rest.
        """
        chosen = choose_backend(self.backend)
        texts = read_texts(self.source, self.field, self.limits.text, self.include, chosen)
        counter = self.counter()
        counter.take = take
        return counter.count(texts, advance)

    def counter(self) -> TextCounter:
        """Return the counter of pre-tokens."""
        make = text_counter if self.initial is None else self.initial.counter
        return make(self.pre_tokenizer, choose_backend(self.backend), self.threads, self.limits)

    def _trained(self, words: Words, rows: InitialWords | None = None) -> Tokenizer:
        """Return the Tokenizer that is trained on `words`; `rows` are further words."""
        backend = choose_backend(self.backend)
        if self.initial is None and self.characters is None:
            limits = self.min_frequency, self.max_token_length
            return self._of_bytes(_trainer(words, backend, self.tie_break, *limits))
        taken = words.take()
        if self.initial is not None:
            return self._of_rows(rows or InitialWords(self.initial, backend), lambda: [taken])
        assert self.characters is not None
        return self._of_characters(CharacterWords(lambda: [taken], self.characters), None)

    def _of_characters(self, texts: CharacterWords, lists: MappedFile | None) -> Tokenizer:
        """Return the Tokenizer trained on `texts`; a C++ trainer keeps lists in `lists`."""
        limits = self.min_frequency, self.max_token_length
        trainer = texts.trainer(choose_backend(self.backend), *limits, lists)
        self._merge(trainer, texts.size + len(self.specials.names))
        text_vocabulary, added = texts.vocabulary(
            trainer.first_merges(), trainer.merges(), self.specials.names, self.specials.ids
        )
        return Tokenizer(
            text_vocabulary, WHOLE, added_tokens=added, normalizer=NORMALIZER, decoder=DECODER,
            backend=self.backend, cache_mb=self.cache_mb,
        )  # fmt: skip

    def _of_bytes(self, trainer: AnyTrainer) -> Tokenizer:
        """Return the Tokenizer of a trainer of bytes, after all merges."""
        self._merge(trainer, BYTES + len(self.specials.names))
        vocabulary, added = _numbered(trainer, self.specials)
        return Tokenizer(
            vocabulary, self.pre_tokenizer, added_tokens=added, backend=self.backend,
            cache_mb=self.cache_mb,
        )  # fmt: skip

    def _check_room(self, token_count: int) -> None:
        """Raise ValueError if training has taken more memory than the bound."""
        # Elsewhere a maximum is measured, to which blocks of files belong.
        if self.bound is not None and IS_MEASURED:
            why = f"the first {token_count} merges took more; training needs more than"
            self.bound.room(0, why)

    def _of_rows(self, rows: InitialWords, batches: Batches) -> Tokenizer:
        """Return the tokenizer that goes on with `initial`, trained on `rows` and `batches`."""
        initial, options = self.initial, self.characters
        assert initial is not None
        assert options is not None, "`train` sets it with `initial`"
        if initial.takes_characters:
            words = chain.from_iterable(batches())
            rows.add_characters(words, options.coverage, options.required)
        for some in batches():
            rows.add(some)
            if self.bound is not None:
                self.bound.room(
                    MIN_ROOM, "a part of the texts takes more; training needs more than"
                )
        # Before any merge, all ids below vocab_size but those of new tokens are taken.
        base_size = self.vocab_size - initial.room(self.vocab_size) + len(rows.characters)
        trainer = rows.trainer(
            self.tie_break, self.min_frequency, self.max_token_length, self.max_words
        )
        return rows.tokenizer(self._merge(trainer, base_size), self.backend, self.cache_mb)

    def _merge(self, trainer: AnyTrainer, base_size: int) -> AnyTrainer:
        """Return `trainer` after all merges.

        Before any merge, the vocabulary has `base_size` ids.
        """
        merge_count = self.vocab_size - base_size
        if merge_count < 0:
            special = len(self.specials.names)
            parts = (
                f"{base_size - special} for characters and bytes, {special} for special tokens"
                if self.initial is None
                else "the ids of initial= and of the characters that it does not know"
            )
            raise ValueError(
                f"vocab_size={self.vocab_size}; expected at least {base_size}: {parts}; a lower "
                "character_coverage= leaves out rare characters"
            )
        with progress_bar("merging", "token", self.progress, merge_count) as bar:
            while trainer.tokens < merge_count:
                token_count = trainer.tokens
                self._check_room(token_count)
                has_more = trainer.step(min(merge_count, token_count + merge_count // 100 + 1))
                bar.update(trainer.tokens - token_count)
                if not has_more:
                    break
        self._check_room(trainer.tokens)
        if trainer.tokens < merge_count:
            least = self.min_frequency
            logger.warning(
                "vocab_size=%d needs %d merged tokens, but the texts give only %d%s; the "
                "vocabulary has %d tokens; train on more text, or choose a smaller vocabulary",
                self.vocab_size,
                merge_count,
                trainer.tokens,
                f" with min_frequency={least}" if least > 1 else "",
                base_size + trainer.tokens,
            )
        return trainer


def _trainer(words: Words, backend: BackendName, tie_break: TieBreak, *limits: Any) -> AnyTrainer:
    """Return the trainer of `words`; `limits` are min_frequency and max_token_length."""
    if backend == "python":
        return Trainer(words, tie_break, *limits)
    from pretok import _core

    return _core.Trainer(cast(_core.WordCounts, words), tie_break, *limits)


def _numbered(trainer: AnyTrainer, specials: Specials) -> tuple[Vocabulary, list[AddedToken]]:
    """Return the vocabulary and the special tokens, with their final ids."""
    fixed = frozenset(specials.ids or ())
    size = BYTES + trainer.tokens
    ids = list(islice((id for id in count() if id not in fixed), size + len(specials.names)))
    tokens = [bytes([byte]) for byte in range(BYTES)]
    lefts, rights, _ = trainer.first_merges().T.tolist()
    for left, right in zip(lefts, rights, strict=True):
        tokens.append(tokens[left] + tokens[right])
    packed = Packed.of(dict(zip(ids, tokens, strict=False)))
    vocabulary = Vocabulary._of_packed(packed, packed.ids[trainer.merges()], False, False)
    added = zip(specials.names, ids[size:] if specials.ids is None else specials.ids, strict=False)
    return vocabulary, [AddedToken(name, id) for name, id in added]

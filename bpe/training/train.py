"""Train a Tokenizer with a new vocabulary."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count, islice
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, cast, get_args

from bpe.editing.grow import with_vocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.arguments import check_engine, resolve_pre_tokenizer
from bpe.encoding.foreign_arguments import TRAIN, explained
from bpe.progress import progress_bar
from bpe.token_table import Packed
from bpe.tokenizer import Tokenizer
from bpe.training.arguments import (
    Specials,
    check_no_character_options,
    check_numbers,
    check_only_initial,
)
from bpe.training.characters import (
    DECODER,
    NORMALIZER,
    AnyTrainer,
    CharacterOptions,
    CharacterWords,
    words_preset,
)
from bpe.training.corpus import TrainingSource, read_texts
from bpe.training.counting import Take, Words, text_counter
from bpe.training.initial import Initial, InitialWords
from bpe.training.limits import Limits
from bpe.training.stage2 import Stage2
from bpe.training.trainer import TieBreak, Trainer
from bpe.types import NewIds, PresetLike, SupportsOffsets
from bpe.vocabulary import Vocabulary
from pretok.errors import quoted
from pretok.machine.backend import BackendName, choose_backend
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer

Alphabet: TypeAlias = Literal["bytes", "characters"]
BYTES = 256
UNLIMITED = 1 << 62
"""A number above any count and any length."""

logger = logging.getLogger("bpe")


@explained(TRAIN)
def train(
    source: TrainingSource,
    vocab_size: int,
    *,
    preset: PresetLike | None = None,
    special_tokens: Sequence[str] | Mapping[str, int] = (),
    initial: Tokenizer | None = None,
    new_ids: NewIds = "after",
    stage2: Stage2 | None = None,
    alphabet: Alphabet = "bytes",
    byte_fallback: bool = False,
    character_coverage: float = 1.0,
    required_characters: str = "",
    unknown_token: str = "<unk>",
    min_frequency: int = 0,
    max_token_length: int | None = None,
    tie_break: TieBreak = "huggingface",
    field: str = "text",
    include: str | Iterable[str] = (),
    max_pre_token: int | None = None,
    max_text: int | None = None,
    progress: bool | None = None,
    threads: int | None = None,
    engine: TrainingEngine | None = None,
    backend: BackendName | None = None,
    cache_mb: float | None = None,
) -> Tokenizer:
    """Return a Tokenizer with a new vocabulary: 256 bytes, merged tokens and special tokens.

    `source` is an iterable of texts (str, or bytes that hold UTF-8), an iterable of paths, or one
    path: of a file, a folder or a glob pattern. It is read once, in blocks. Each line of a .jsonl
    file is an object with a text under `field`. Each row of a .parquet file has a text in the
    column `field`. Any other file is one text. Files that also end in .gz or .zst are unpacked. A
    folder gives its .txt, .jsonl and .parquet files, or with `include` the files whose names match
    one of these glob patterns; "*" gives every text file. A warning says how many files were left
    out. Memory grows with the distinct pre-tokens. Nothing is written.

    `preset` defines how to split texts: a name (default "cl100k"), a Preset, a PreTokenizer, or an
    object with `offsets`. `vocab_size` is the number of ids: 256 bytes, merged tokens, and special
    tokens. A list of `special_tokens` is numbered after all other tokens; a mapping gives the ids.
    Bytes and merged tokens, in this order, take the remaining ids from 0 on. Special tokens in the
    texts are ordinary text.

    The most frequent pair is merged first. If pairs are equally frequent, `tie_break` chooses: like
    Hugging Face's BpeTrainer or, with "first-seen", like minbpe. As in BpeTrainer, pairs with a
    count below `min_frequency` are not merged, and no merge makes a token of `max_token_length`
    bytes or more, except tokens of two bytes. If the texts give fewer merges than requested, a
    warning is logged to the logger "bpe".

    Two limits bound the memory; no usual text reaches them. `max_pre_token` is the maximal size of
    a pre-token (default 16 MB of 2^20 bytes). `max_text` (default 64 MB) is the maximal size of a
    line of a .jsonl file, and of a .txt file if a custom pre-tokenizer needs the whole text. Text
    over a limit raises an error. `cache_mb` is the cache limit of the returned Tokenizer.

    With alphabet="characters" the tokens are text, as in SentencePiece and Llama 2: spaces become
    "▁", texts are split before each space, and characters merge. The merges are those of
    BpeTrainer with the pre-tokenizer Metaspace. `max_token_length` counts characters. The first
    symbols are `required_characters`, and the most frequent characters, until these make up the
    share `character_coverage` of all characters. Any other character becomes `unknown_token` or,
    with `byte_fallback`, the tokens of its bytes. The ids from 0 on are: `special_tokens`
    (`unknown_token` comes first if the list does not have it), 256 bytes with `byte_fallback`,
    characters, merged tokens. `save` writes tokenizer.json, or a .model of SentencePiece.

    `initial` is a tokenizer to go on with. Its ids, merges and added tokens stay, and so do its
    split and all its other parts, so `preset`, `special_tokens`, `alphabet`, `byte_fallback` and
    `unknown_token` must be omitted. Each pre-token is first encoded with the merges of `initial`;
    then training goes on from these tokens, so new merges have the ranks after all old ones, or
    scores below all old ones. New tokens get the ids from `initial.vocab_size` on, below
    `vocab_size`. `new_ids="gaps"` gives them the lowest free ids, an int the free ids from this one
    on. If tokens are text, the printable characters of the texts that are no tokens become tokens
    first, as `character_coverage` says; other unknown characters take part in no merge. Added
    tokens that are not special separate the text around them.

    `stage2` adds a second stage, in which tokens may cross words; Stage2 explains it. `source` is
    then read twice.

    The result does not depend on `threads` (default: as many as are worthwhile) or `backend`.
    `engine` is None, or `bpe.distributed.ray()` to count the pre-tokens on a Ray cluster. A
    progress bar appears if standard error is a terminal, unless `progress=False`.

    Raises ValueError if `vocab_size` is too small, if special tokens are invalid, if a pre-token is
    too long, or if a str is the name of a file or a folder, or a glob pattern of files; TypeError
    if an item is neither a text nor a path; TextFileError if a file is damaged, malformed, or over
    a limit; OSError if a file cannot be read.

    >>> tok = train(["ab", "abc", "abcd"], vocab_size=300, special_tokens={"<PAD>": 0, "<UNK>": 1})
    >>> tok.encode("abcde"), tok.token_bytes(260)
    ([260, 103], b'abcd')
    """
    check_numbers(vocab_size, min_frequency, max_token_length)
    if tie_break not in get_args(TieBreak):
        raise ValueError(f"tie_break={tie_break!r}; expected one of {quoted(get_args(TieBreak))}")
    if alphabet not in get_args(Alphabet):
        raise ValueError(f"alphabet={alphabet!r}; expected one of {quoted(get_args(Alphabet))}")
    limits = Limits.of(max_pre_token, max_text)
    chosen = choose_backend(backend)
    if stage2 is not None:
        if alphabet != "bytes":
            raise ValueError('stage2= needs an alphabet of bytes; omit alphabet="characters"')
        stage2.check(vocab_size, source)
    characters = start = None
    pre_tokenizer: PreTokenizer | SupportsOffsets
    if initial is not None:
        check_only_initial(
            preset=(preset, None), special_tokens=([*special_tokens], []),
            alphabet=(alphabet, "bytes"), byte_fallback=(byte_fallback, False),
            unknown_token=(unknown_token, "<unk>"),
        )  # fmt: skip
        start = Initial.of(initial, new_ids, tie_break, vocab_size)
        characters = CharacterOptions(False, character_coverage, required_characters, "<unk>")
        characters.check(())
        if not start.takes_characters:
            check_no_character_options(False, character_coverage, required_characters)
        pre_tokenizer = resolve_pre_tokenizer(initial.pre_tokenizer, chosen, may_drop_text=True)
        specials = Specials([], None)
    else:
        if new_ids != "after":
            raise ValueError(f"new_ids={new_ids!r} needs initial=, the tokenizer to go on with")
        if alphabet == "characters":
            characters = CharacterOptions(
                byte_fallback, character_coverage, required_characters, unknown_token
            )
            if preset is not None or tie_break != "huggingface":
                raise ValueError(
                    'alphabet="characters" has its own split and tie-break; omit preset= and '
                    "tie_break="
                )
            preset = words_preset()
            special_tokens = characters.with_unknown(special_tokens)
        else:
            check_no_character_options(byte_fallback, character_coverage, required_characters)
        specials = Specials.of(special_tokens, vocab_size, 0 if characters else BYTES)
        if characters is not None:
            characters.check(specials.names)
        pre_tokenizer = resolve_pre_tokenizer("cl100k" if preset is None else preset, chosen)
    training = Training(
        source, field, include, pre_tokenizer, limits, threads, backend,
        vocab_size, specials, characters, start, tie_break, min(min_frequency, UNLIMITED),
        None if max_token_length is None else min(max_token_length, UNLIMITED), None, progress,
        cache_mb,
    )  # fmt: skip
    check_engine(threads, engine)
    tokenizer = training.run(engine)
    if stage2 is None:
        return tokenizer
    split = resolve_pre_tokenizer(stage2.preset, chosen)
    return training.second(tokenizer, split, stage2).run(engine)


class TrainingEngine(Protocol):
    """Counts pre-tokens elsewhere than in this process; `bpe.distributed.ray` makes one."""

    def words(self, training: Training, advance: Callable[[int], object]) -> Words:
        """Return the result of `training.words(advance)`."""
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

    def run(self, engine: TrainingEngine | None) -> Tokenizer:
        """Count the pre-tokens of the source, and return the Tokenizer that is trained on them."""
        rows = take = None
        if self.initial is not None:
            rows = InitialWords(self.initial, choose_backend(self.backend))
            # The characters of all words are counted before the words become rows.
            take = None if self.initial.takes_characters else rows.add
        with progress_bar("counting", "B", self.progress) as bar:
            if engine is None:
                words = self.words(bar.update, take)
            else:
                words = engine.words(self, bar.update)
        return self.tokenizer(words) if rows is None else self._grown(rows, words)

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
            max_words=stage.max_words,
        )

    def words(self, advance: Callable[[int], object], take: Take | None = None) -> Words:
        """Count the pre-tokens of the source; pass the size of each text to `advance`.

        If there are many, most are passed to `take`, so the result has only the rest.
        """
        chosen = choose_backend(self.backend)
        texts = read_texts(self.source, self.field, self.limits.text, self.include, chosen)
        make = text_counter if self.initial is None else self.initial.counter
        counter = make(self.pre_tokenizer, chosen, self.threads, self.limits)
        counter.take = take
        return counter.count(texts, advance)

    def tokenizer(self, words: Words) -> Tokenizer:
        """Return the Tokenizer that is trained on `words`."""
        limits = self.min_frequency, self.max_token_length
        backend = choose_backend(self.backend)
        if self.characters is None:
            trainer = _trainer(words, backend, self.tie_break, *limits)
            self._merge(trainer, BYTES + len(self.specials.names))
            vocabulary, added = _numbered(trainer, self.specials)
            return Tokenizer(
                vocabulary, self.pre_tokenizer, added_tokens=added, backend=self.backend,
                cache_mb=self.cache_mb,
            )  # fmt: skip
        texts = CharacterWords(words.take(), self.characters)
        trainer = texts.trainer(backend, *limits)
        self._merge(trainer, texts.size + len(self.specials.names))
        text_vocabulary, added = texts.vocabulary(
            trainer.first_merges(), trainer.merges(), self.specials.names, self.specials.ids
        )
        return Tokenizer(
            text_vocabulary, WHOLE, added_tokens=added, normalizer=NORMALIZER, decoder=DECODER,
            backend=self.backend, cache_mb=self.cache_mb,
        )  # fmt: skip

    def _grown(self, rows: InitialWords, words: Words) -> Tokenizer:
        """Return the tokenizer that goes on with `initial`, trained on `rows` and `words`."""
        initial, characters, rest = self.initial, self.characters, words.take()
        assert initial is not None
        assert characters is not None, "`train` sets it with `initial`"
        if initial.takes_characters:
            rows.add_characters(rest, characters.coverage, characters.required)
        rows.add(rest)
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
                has_more = trainer.step(min(merge_count, token_count + merge_count // 100 + 1))
                bar.update(trainer.tokens - token_count)
                if not has_more:
                    break
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

"""Train a Tokenizer with a new vocabulary."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from bpe.encoding.arguments import check_engine, resolve_pre_tokenizer
from bpe.encoding.foreign_arguments import TRAIN, explained
from bpe.tokenizer import Tokenizer
from bpe.training.arguments import (
    Specials,
    check_no_character_options,
    check_numbers,
    check_only_initial,
)
from bpe.training.bounded import Bound, split_name
from bpe.training.characters import (
    CharacterOptions,
    words_preset,
)
from bpe.training.corpus import TrainingSource
from bpe.training.initial import Initial
from bpe.training.limits import Limits
from bpe.training.stage2 import Stage2
from bpe.training.trainer import TieBreak
from bpe.training.training import BYTES, UNLIMITED, Training, TrainingEngine
from bpe.types import NewIds, PresetLike, SupportsOffsets
from pretok.errors import quoted
from pretok.machine.backend import BackendName, choose_backend
from pretok.pre_tokenizer import PreTokenizer

Alphabet: TypeAlias = Literal["bytes", "characters"]


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
    memory_mb: int | None = None,
    work_dir: str | os.PathLike[str] | None = None,
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
    out. Memory grows with the distinct pre-tokens. Only `memory_mb`, `work_dir` and `engine` write
    files.

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

    `memory_mb` bounds the memory of this process, in millions of bytes: counts go to disk in sorted
    runs, and so do the places of pairs while merging (on other systems than Linux, the system
    chooses how much of these stays in memory). `work_dir` is the folder for them, by default a
    temporary one. It keeps the counts: after an interruption or a kill, the same call goes on
    where the last run ended, and another `vocab_size` needs no counting. It takes the same inputs
    and arguments only. The result is the same. ValueError says how much memory is needed, if
    `memory_mb` is too small. Training with "first-seen" or in pure Python holds all distinct
    pre-tokens and places in memory.

    The result does not depend on `threads` (default: as many as are worthwhile) or `backend`.
    `engine` is None, or `bpe.distributed.ray()` to count the pre-tokens on a Ray cluster. A
    progress bar appears if standard error is a terminal, unless `progress=False`.

    Raises ValueError if `vocab_size` is too small, if special tokens are invalid, if a pre-token is
    too long, or if a str is the name of a file or a folder, or a glob pattern of files; TypeError
    if an item is neither a text nor a path; TextFileError if a file is damaged, malformed, or over
    a limit; CorpusError if `work_dir` belongs to other inputs or arguments, or is damaged; OSError
    if a file cannot be read or written.

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
        if not isinstance(stage2, Stage2):
            raise TypeError(
                f"stage2 is of type {type(stage2).__name__}; expected a bpe.Stage2, such as "
                "bpe.Stage2(vocab_size=40000)"
            )
        if alphabet != "bytes":
            raise ValueError('stage2= needs an alphabet of bytes; omit alphabet="characters"')
        stage2.check(vocab_size, source)
        second_split = resolve_pre_tokenizer(stage2.preset, chosen)
        if work_dir is not None:
            split_name(second_split)
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
        cache_mb, Bound.of(memory_mb, work_dir),
    )  # fmt: skip
    check_engine(threads, engine)
    tokenizer = training.run(engine)
    if stage2 is None:
        return tokenizer
    return training.second(tokenizer, second_split, stage2).run(engine)

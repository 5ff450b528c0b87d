"""Training: from texts to a Tokenizer with a vocabulary of its own."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice
from typing import NamedTuple, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.arguments import check_keeps_text, resolve_threads
from bpe.encoding.utf8 import StrOrBytes
from bpe.tokenizer import Tokenizer
from bpe.training.corpus import Source, read_texts
from bpe.training.counting import TextCounter, text_counter
from bpe.training.limits import Limits, TooLongError
from bpe.training.trainer import TieBreak, Trainer, Words
from bpe.types import SupportsOffsets
from bpe.vocabulary import ID_LIMIT, Packed, Vocabulary
from pretok.machine.backend import BackendName, choose_backend
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get

BYTES = 256
UNLIMITED = 1 << 62
DELAY = 0.5
"""Seconds after which progress is shown."""

logger = logging.getLogger("bpe")


def train(
    source: Source,
    *,
    vocab_size: int,
    preset: str | Preset | PreTokenizer | SupportsOffsets = "cl100k",
    special_tokens: Sequence[str] | Mapping[str, int] = (),
    min_frequency: int = 0,
    max_token_length: int | None = None,
    tie_break: TieBreak = "huggingface",
    field: str = "text",
    max_pre_token: int | None = None,
    max_text: int | None = None,
    progress: bool | None = None,
    threads: int | None = None,
    backend: BackendName | None = None,
    cache_mb: float | None = None,
) -> Tokenizer:
    """Return a Tokenizer with a new vocabulary: bytes, merges of what is frequent, special tokens.

    `source` is an iterable of texts, each a str or bytes that hold UTF-8, or of paths, or one path;
    it is read once, little by little. A .txt file is one text; each line of a .jsonl file is an
    object that has a text under `field`; .gz and .zst behind that are unpacked. What is kept is as
    large as the distinct pre-tokens. Nothing is written.

    `preset` says how texts are split: a name, a Preset, a PreTokenizer, or an object of your own
    with `offsets`. `vocab_size` is the number of ids: 256 bytes, merges, and special tokens. Those
    of a list get the ids behind the last token, those of a mapping the ids that it says, and
    bytes and merges, in this order, the other ids from 0 on. Where a special token stands in the
    texts it is ordinary text.

    The pair that is most frequent is merged first. Of equally frequent ones `tie_break` chooses,
    as Hugging Face's BpeTrainer does or, with "first-seen", as minbpe does. `min_frequency` and
    `max_token_length` mean what they do in BpeTrainer: a pair that is there less often is not
    merged, nor one that would make a token of `max_token_length` bytes or more (two bytes always
    may). If there are fewer merges to be had than asked for, a warning is logged to "bpe".

    Memory is bounded by limits that no usual text reaches. `max_pre_token` bytes (by default 16 MB
    of 2^20 bytes) are the most of a pre-token; `max_text` bytes (64 MB) the most of a line of a
    .jsonl file, and of a .txt file that a pre-tokenizer of your own must have whole. A longer one
    is an error. `cache_mb` is for the result, as Tokenizer says.

    The result depends on nothing else: not on `threads` (by default as many as the work is worth),
    nor on `backend`. `progress=False` turns the progress bar off, which is shown only where
    standard error is a terminal.

    Raises ValueError for a `vocab_size` that is too small, for special tokens that cannot be, for a
    pre-token that is too long, and for a str that is the name of a file; TypeError for what is no
    text and no path; TextFileError for a file that is damaged, malformed, or over a limit; OSError
    for one that cannot be read.

    >>> tok = train(["ab", "abc", "abcd"], vocab_size=300, special_tokens={"<PAD>": 0, "<UNK>": 1})
    >>> tok.encode("abcde"), tok.token_bytes(260)
    ([260, 103], b'abcd')
    """
    _check_numbers(vocab_size, min_frequency, max_token_length, threads)
    if tie_break not in get_args(TieBreak):
        raise ValueError(f"tie_break={tie_break!r}; expected one of {get_args(TieBreak)}")
    limits = Limits.of(max_pre_token, max_text)
    specials = _Specials.of(special_tokens, vocab_size)
    chosen = choose_backend(backend)
    pre_tokenizer = get(preset, backend=chosen) if isinstance(preset, (str, Preset)) else preset
    check_keeps_text(pre_tokenizer)
    wanted = vocab_size - BYTES - len(specials.names)

    counter = text_counter(pre_tokenizer, chosen, threads, limits)
    with _progress("counting", "B", progress) as advance:
        _count(read_texts(source, field, counter.collect_batch, limits.text), counter, advance)
    with _progress("merging", "token", progress, wanted) as advance:
        trainer = _trainer(counter.finish(), chosen, tie_break, min_frequency, max_token_length)
        while trainer.tokens < wanted:
            made = trainer.tokens
            may_go_on = trainer.step(min(wanted, made + wanted // 100 + 1))
            advance(trainer.tokens - made)
            if not may_go_on:
                break
    if trainer.tokens < wanted:
        logger.warning(
            "vocab_size=%d asks for %d merged tokens, but the texts give only %d%s; the "
            "vocabulary has %d tokens. Train on more text, or ask for less",
            vocab_size,
            wanted,
            trainer.tokens,
            f" with min_frequency={min_frequency}" if min_frequency > 1 else "",
            BYTES + trainer.tokens + len(specials.names),
        )
    vocabulary, added = _numbered(trainer, specials)
    return Tokenizer(
        vocabulary, pre_tokenizer, added_tokens=added, backend=backend, cache_mb=cache_mb
    )


class _Trainer(Protocol):
    """Trainer, or _core.Trainer."""

    @property
    def tokens(self) -> int: ...
    def step(self, tokens: int) -> bool: ...
    def merges(self) -> NDArray[np.uint32]: ...
    def origins(self) -> NDArray[np.uint32]: ...


def _trainer(
    words: Words,
    backend: BackendName,
    tie_break: TieBreak,
    min_frequency: int,
    max_token_length: int | None,
) -> _Trainer:
    least = min(min_frequency, UNLIMITED)
    longest = None if max_token_length is None else min(max_token_length, UNLIMITED)
    if backend == "python":
        return Trainer(words, tie_break, least, longest)
    from pretok import _core

    return _core.Trainer(cast(_core.WordCounts, words), tie_break, least, longest)


class _Specials(NamedTuple):
    """The special tokens, and their ids if those are fixed."""

    names: list[str]
    ids: list[int] | None

    @classmethod
    def of(cls, given: Sequence[str] | Mapping[str, int], vocab_size: int) -> _Specials:
        if isinstance(given, (str, bytes)):
            raise TypeError(f"special_tokens={given!r}; expected a list of str or a mapping to ids")
        names = list(given)
        for name in names:
            if not isinstance(name, str) or not name:
                raise ValueError(f"special token {name!r}; expected a str that is not empty")
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"special token {twice!r} is given twice")
        least = BYTES + len(names)
        if vocab_size < least:
            raise ValueError(
                f"vocab_size={vocab_size}; expected at least {least}: 256 for the bytes and "
                f"{len(names)} for the special tokens"
            )
        if not isinstance(given, Mapping):
            return cls(names, None)
        ids = [given[name] for name in names]
        for name, id in given.items():
            if type(id) is not int or not 0 <= id < vocab_size:
                raise ValueError(
                    f"special token {name!r} has id {id!r}; expected an int from 0 to "
                    f"{vocab_size - 1}, below vocab_size"
                )
            if ids.count(id) > 1:
                raise ValueError(
                    f"special token {name!r} has id {id}, as another one; give each its own"
                )
        return cls(names, ids)


def _check_numbers(
    vocab_size: int, min_frequency: int, max_token_length: int | None, threads: int | None
) -> None:
    if type(vocab_size) is not int or vocab_size > ID_LIMIT:
        raise ValueError(f"vocab_size={vocab_size!r}; expected an int of at most {ID_LIMIT}")
    if type(min_frequency) is not int or min_frequency < 0:
        raise ValueError(f"min_frequency={min_frequency!r}; expected an int of at least 0")
    if max_token_length is not None and (type(max_token_length) is not int or max_token_length < 2):
        raise ValueError(
            f"max_token_length={max_token_length!r}; expected None or an int of at least 2"
        )
    resolve_threads(threads)


def _count(
    texts: Iterable[list[StrOrBytes] | Iterator[bytes]],
    counter: TextCounter,
    advance: Callable[[int], object],
) -> None:
    name = None
    try:
        for item in texts:
            name = getattr(item, "name", None)
            if isinstance(item, list):
                advance(counter.add(item))
            else:
                counter.add_blocks(_noted(item, advance))
    except TooLongError as error:
        raise error.at(name) from None


def _noted(blocks: Iterable[bytes], advance: Callable[[int], object]) -> Iterator[bytes]:
    for block in blocks:
        yield block
        advance(len(block))


def _numbered(trainer: _Trainer, specials: _Specials) -> tuple[Vocabulary, list[AddedToken]]:
    """Return the vocabulary, and the special tokens, with the ids that they are to have."""
    fixed = frozenset(specials.ids or ())
    size = BYTES + trainer.tokens
    ids = list(islice((id for id in count() if id not in fixed), size + len(specials.names)))
    tokens = [bytes([byte]) for byte in range(BYTES)]
    lefts, rights, _ = trainer.origins().T.tolist()
    for left, right in zip(lefts, rights, strict=True):
        tokens.append(tokens[left] + tokens[right])
    packed = Packed.of(dict(zip(ids, tokens, strict=False)))
    vocabulary = Vocabulary.of_packed(packed, packed.ids[trainer.merges()], False, False)
    added = zip(specials.names, ids[size:] if specials.ids is None else specials.ids, strict=False)
    return vocabulary, [AddedToken(name, id) for name, id in added]


@contextmanager
def _progress(
    what: str, unit: str, wish: bool | None, total: int | None = None
) -> Iterator[Callable[[int], object]]:
    """Show a progress bar where it makes sense; yields what to call with each number done."""
    if wish is False or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    from tqdm import tqdm

    with tqdm(desc=what, unit=unit, unit_scale=True, total=total, delay=DELAY) as bar:
        yield bar.update

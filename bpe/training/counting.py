"""Count the distinct pre-tokens of texts, in C++ or in Python."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import TYPE_CHECKING, TypeAlias, cast

from bpe.encoding.backends import utf8_splitter
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, encode_utf8
from bpe.text_files import cut_parts
from bpe.training import corpus
from bpe.training.corpus import Texts
from bpe.training.limits import Limits, TooLongError, too_long_pre_token, too_long_text
from bpe.training.runs import RunSize, Write, write_words
from bpe.types import SupportsOffsets
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer, native_machine

if TYPE_CHECKING:
    from pretok import _core

BATCH = 1 << 22
"""The size of a batch in bytes. Counting a batch takes about ten milliseconds."""
WORD_MEMORY = 320
"""The estimated memory of a word in a Counter besides its bytes, with that for sorting."""
BATCH_SHARE = 400
"""A batch has this share of the memory that all words may take: it may have only new words."""
WORTH_A_THREAD = 1 << 19
"""The minimal number of bytes per thread; for fewer bytes, starting a thread saves no time."""


FULL = 1 << 25
"""The estimated size in bytes of the words that a counter holds before it passes them on."""
WORD_OVERHEAD = 64
"""The estimated memory of a word besides its bytes."""
Take: TypeAlias = Callable[[list[tuple[bytes, int]]], object]
"""A function that gets words and their counts."""


class WordCounts:
    """Distinct words (pre-tokens) and their counts, in the order of first appearance."""

    def __init__(self) -> None:
        self._counts: Counter[bytes] = Counter()
        self._longest = 0
        self.size = 0  # estimated, in bytes

    def add_words(self, words: Mapping[bytes, int]) -> None:
        """Add the counts of `words`."""
        self.size += sum(len(word) + WORD_OVERHEAD for word in words.keys() - self._counts.keys())
        self._counts.update(words)
        self._longest = max(self._longest, max(map(len, words), default=0))

    @property
    def longest(self) -> int:
        """The size of the longest word in bytes."""
        return self._longest

    @property
    def memory(self) -> int:
        """The estimated memory of the words in bytes."""
        return self.size + WORD_MEMORY * len(self._counts)

    def spill(self, write: Write) -> RunSize:
        """Pass the blocks of a run of all words to `write`, and remove all words."""
        words = enumerate(self.take())
        return write_words(sorted((word, count, at) for at, (word, count) in words), write)

    def take(self) -> list[tuple[bytes, int]]:
        """Return each word with its count, and remove all words. `longest` does not change."""
        counts, self._counts, self.size = self._counts, Counter(), 0
        return list(counts.items())


Words: TypeAlias = "WordCounts | _core.WordCounts"


def empty_words(backend: BackendName) -> Words:
    """Return an empty WordCounts of the backend."""
    if backend == "python":
        return WordCounts()
    from pretok import _core

    return _core.WordCounts()


def text_counter(
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    backend: BackendName,
    threads: int | None,
    limits: Limits | None = None,
) -> TextCounter:
    """Return a counter of pre-tokens; its result does not depend on `threads`.

    If `threads` is None, the C++ counter starts up to one thread per processor, but only as many as
    save time.
    """
    if backend == "native" and isinstance(pre_tokenizer, PreTokenizer):
        return NativeCounter(pre_tokenizer, threads, limits or Limits())
    return TextCounter(pre_tokenizer, empty_words(backend), limits or Limits())


def _advancing(blocks: Iterable[bytes], advance: Callable[[int], object]) -> Iterator[bytes]:
    """Yield `blocks`; pass the size of each block to `advance` after the caller has used it."""
    for block in blocks:
        yield block
        advance(len(block))


class TextCounter:
    """Splits texts with any pre-tokenizer, one after the other, and counts their pre-tokens.

    Raises TooLongError if a pre-token exceeds its limit, or if a text that must be split as a whole
    exceeds the limit of texts.
    """

    def __init__(
        self, pre_tokenizer: PreTokenizer | SupportsOffsets, words: Words, limits: Limits
    ) -> None:
        self._words = words
        self._limits = limits
        self.take: Take | None = None
        """Gets the words as soon as they take FULL bytes."""
        self._stream = None
        if isinstance(pre_tokenizer, PreTokenizer):
            self._split: Callable[[bytes], list[bytes]] = pre_tokenizer.split_bytes
            self._stream = pre_tokenizer.stream
        else:
            self._split = utf8_splitter(pre_tokenizer)

    def count(
        self, texts: Iterable[Texts], advance: Callable[[int], object] = lambda size: None
    ) -> Words:
        """Count the pre-tokens of `texts`, the result of read_texts; return all counts.

        Calls `advance` with the size of each list and of each block when it has been used. Raises
        ValueError for a pre-token or a text that is too long; TextFileError if it comes from a
        file.
        """
        name = None
        try:
            for name, item in texts:  # noqa: B007
                if isinstance(item, list):
                    advance(self.add(item))
                else:
                    self.add_blocks(_advancing(item, advance))
            return self.finish()
        except TooLongError as error:
            raise error.at(name) from None

    def add(self, texts: list[StrOrBytes]) -> int:
        """Count the pre-tokens of `texts`; return the sum of len(text)."""
        for is_long, some in groupby(texts, lambda text: len(text) > corpus.BLOCK):
            if is_long:
                for text in some:
                    self.add_blocks(corpus.blocks_of(text))
            else:
                split = map(self._split, map(encode_utf8, some))
                self._add_words(Counter(chain.from_iterable(split)))
        return sum(map(len, texts))

    def add_blocks(self, blocks: Iterable[bytes]) -> None:
        """Count the pre-tokens of one text that comes in blocks.

        A pre-tokenizer without `stream` gets the text as a whole.
        """
        for _ in self.parts(blocks):
            pass

    def parts(self, blocks: Iterable[bytes]) -> Iterator[tuple[int, bool]]:
        """Count the pre-tokens of one text that comes in blocks; yield (size, is_cut) of its parts.

        All text up to the end of the part has been added. If `is_cut`, the rest of the text can be
        counted alone.
        """
        if self._stream is None:
            text = self._joined(blocks)
            self._add_words(Counter(self._split(text)))
            yield len(text), False
            return
        stream = self._stream()
        held = 0
        for block in blocks:
            held += len(block) - self._add_pre_tokens(stream.feed(block))
            yield len(block), False
            # The stream holds a pre-token whose end is unknown, and the text after it that decides
            # where it ends. This later text is at most as long as the pre-token. So if the stream
            # holds more than twice the limit, the pre-token is longer than the limit.
            if held > 2 * self._limits.pre_token:
                raise too_long_pre_token(self._limits)
        self._add_pre_tokens(stream.finish())

    def _joined(self, blocks: Iterable[bytes]) -> bytes:
        """Return all blocks as one text; raise TooLongError if the text is too long."""
        held: list[bytes] = []
        size = 0
        for block in blocks:
            held.append(block)
            size += len(block)
            if size > self._limits.text:
                raise too_long_text(self._limits)
        return b"".join(held)

    def _add_pre_tokens(self, pre_tokens: list[str]) -> int:
        """Count pre-tokens; return the sum of their sizes in bytes."""
        counts = Counter(pre_tokens)
        words = {text.encode("utf-8", ESCAPE): counts[text] for text in counts}
        self._add_words(words)
        return sum(len(word) * count for word, count in words.items())

    def _add_words(self, words: Mapping[bytes, int]) -> None:
        self._words.add_words(words)
        self._check()

    def _check(self) -> None:
        """Raise TooLongError for a pre-token that is too long; pass on the words if they fill."""
        if self._words.longest > self._limits.pre_token:
            raise too_long_pre_token(self._limits)
        if self.take is not None and self._words.size >= FULL:
            self.take(self._words.take())

    def limit_batch(self, memory: int) -> None:
        """Choose a batch whose words take little of `memory` bytes, if there are batches."""

    @property
    def words(self) -> Words:
        """The counts, without those of the current batch."""
        return self._words

    def finish(self) -> Words:
        """Return the counts."""
        return self._words


class NativeCounter(TextCounter):
    """Counts in C++: batches of texts, on several threads."""

    def __init__(self, pre_tokenizer: PreTokenizer, threads: int | None, limits: Limits) -> None:
        from pretok import _core

        self._counts = _core.WordCounts()
        super().__init__(pre_tokenizer, self._counts, limits)
        self._machine = cast(_core.Machine, native_machine(pre_tokenizer))
        # `_safe_cut` finds an offset at which a text can be cut without changing its pre-tokens. It
        # finds none if the first stage of the preset drops its matches, or joins them to other
        # text: its behavior is not "isolated". For such a preset, the base class counts the texts
        # that come in blocks.
        self._safe_cut = _core.safe_cut
        self._has_safe_cuts = pre_tokenizer.preset.stages[0].behavior == "isolated"
        self._threads = threads or os.cpu_count() or 1
        self._min_thread_bytes = WORTH_A_THREAD if threads is None else 1
        # If a pre-token exceeds the limit, the error must name its file. So `add` must count the
        # text before it gets texts of the next file. For this, a batch has at most the size of the
        # smallest text that can exceed the limit. `add` measures a str in code points of up to 4
        # bytes, so this size is the limit in bytes divided by 4.
        self._batch_size = min(BATCH, limits.pre_token // 4)
        self._batch: list[StrOrBytes] = []
        self._size = 0

    def add(self, texts: list[StrOrBytes]) -> int:
        """Count the pre-tokens of `texts`; return the sum of len(text)."""
        size = sum(map(len, texts))
        self._batch += texts
        self._size += size
        if self._size >= self._batch_size:
            self._count_batch()
        return size

    def parts(self, blocks: Iterable[bytes]) -> Iterator[tuple[int, bool]]:
        """Count the pre-tokens of one text that comes in blocks; see TextCounter."""
        if not self._has_safe_cuts:
            self._count_batch()
            yield from super().parts(blocks)
            return
        # `cut_parts` raises the error if it finds no safe cut in `most` bytes. Not every end of a
        # pre-token is a safe cut, so these bytes may hold several pre-tokens, each below the limit.
        # The factor 2 leaves room for two of them. `add` checks the exact limit of each pre-token.
        parts = cut_parts(
            blocks,
            lambda text: self._safe_cut(self._machine, text),
            smallest=0,
            most=2 * self._limits.pre_token,
            too_long=lambda: too_long_pre_token(self._limits),
        )
        for part, _ in parts:
            self.add([part])
            yield len(part), True

    def limit_batch(self, memory: int) -> None:
        """Choose a batch whose words take little of `memory` bytes."""
        self._batch_size = max(1, min(self._batch_size, memory // BATCH_SHARE))

    def _count_batch(self) -> None:
        threads = max(1, min(self._threads, self._size // self._min_thread_bytes))
        self._counts.add(self._machine, tuple(self._batch), threads)
        self._batch, self._size = [], 0
        self._check()

    def finish(self) -> Words:
        """Return the counts."""
        self._count_batch()
        return self._words

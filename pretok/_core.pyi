"""Type stubs of the C++ extension.

pretok.machine.machine.Machine documents the methods of Machine.

Each function refuses wrong arguments with TypeError or ValueError. It cannot check what other
threads do: while a call runs, they must not change or resize an array or buffer that it got, nor
call methods of the same WordCounts or Trainer.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from pretok.machine.machine import Unit

def built_in_program(name: str) -> tuple[str, list[int]] | None:
    """Return the Unicode version and the program of a built-in preset.

    Returns None if C++ has no preset of this name. Only tests call this function.
    """

def kernels() -> list[str]:
    """Return the names of the sets of SIMD kernels that this processor can run. For tests."""

def use_kernels(name: str) -> bool:
    """Select a set of kernels, for tests. Return False if this processor has no set `name`."""

class Machine:
    def __init__(self, words: Sequence[int], version: str) -> None: ...
    def split(self, text: str) -> list[str]: ...
    def split_bytes(self, data: bytes) -> list[bytes]: ...
    def offsets(self, data: str | bytes, unit: Unit) -> NDArray[np.int64]: ...
    def count(self, data: str | bytes) -> int: ...
    def steps(
        self, text: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]: ...
    def split_batch(self, texts: Sequence[str], threads: int) -> list[list[str]]: ...
    def advance(
        self, chars: str, partial: bool, in_gap: bool, rule: int = -1
    ) -> tuple[list[int], list[int], int, bool, int, int, int, int]: ...
    def run_length(self, chars: str, mask: int) -> int: ...

class SplitFinder:
    """The C++ form of bpe.canonical.splits.Splits.

    `examples` has records (class, character, is_plain, is_counted). `find` returns the places and
    `begins` of each way, and the rows.
    """

    def __init__(
        self,
        machine: Machine,
        examples: Sequence[tuple[int, str, bool, bool]],
        suffix_size: int,
        has_texts: bool,
    ) -> None: ...
    def find(
        self, before: str, tokens: Sequence[str]
    ) -> tuple[list[tuple[tuple[int, ...], bool]], NDArray[np.int64]]: ...

_Calls = TypeVar("_Calls", bound=tuple[Callable[..., object], ...])

AddedRecord = tuple[str, int, bool, bool, bool, bool, bool]
"""The fields of bpe.encoding.added_tokens.AddedToken."""

class AddedTokens:
    """The C++ form of bpe.encoding.added_tokens.AddedTokens; Tokenizer takes it as `added`.

    `words` has the ranges of code points that are word characters, for tokens with `single_word`.
    """

    def __init__(self, tokens: Iterable[AddedRecord], words: Iterable[tuple[int, int]]) -> None: ...
    def treating(self, treatment: str) -> AddedTokens: ...
    def exact(self) -> AddedTokens: ...
    def normalized(self) -> AddedTokens: ...
    @staticmethod
    def of_ranges(rows: Iterable[tuple[int, AddedTokens, Sequence[int]]]) -> AddedTokens: ...
    def ends(self) -> list[int]: ...
    def of_part(self, start: int, end: int) -> AddedTokens: ...
    def moved(self, ends: Sequence[int]) -> AddedTokens: ...
    def segments(
        self, text: bytes
    ) -> tuple[list[tuple[int, int, int | None]], tuple[str, int] | None]: ...

class Spec:
    """The parts of a tokenizer, which C++ has read from a file, or got from Python. Immutable."""

    def __init__(
        self,
        tokens: bytes,
        lengths: NDArray[np.uint32],
        ids: NDArray[np.uint32],
        fields: dict[str, Any],
    ) -> None:
        """Store the parts of a tokenizer that Python has made.

        `tokens` has the bytes of all tokens, concatenated. `fields` may have these items of
        `fields()`: mergeable, from_ranks, ignore_merges, add_prefix_space, added and text. It may
        also have:

        - merges: an array with a row (left id, right id, id of the result) for each merge
        - scores: an array with the score of each mergeable token, or NaN
        - steps: a normalizer (bpe.formats.pretok_steps.stored_normalizer)
        - split_at_marks: "no" if the split keeps text without spaces whole, "yes" if it splits text
          only before each "▁", or "other"
        """

    def tokens(self) -> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the bytes of all tokens, their lengths, and their ids."""

    def merges(self) -> NDArray[np.uint32]:
        """Return a row for each merge: (left id, right id, id of the result).

        Raises ValueError if tokens have scores, and no list of merges gives the same ids.
        """

    def scores(self) -> NDArray[np.float32]:
        """Return the score of each token, or NaN if no merge makes it; empty without scores."""

    def fields(self) -> dict[str, Any]:
        """Return all other parts, by name."""

    @property
    def is_text(self) -> bool:
        """True if the tokens are text, not bytes."""

    @property
    def ignore_merges(self) -> bool: ...

def read_spec(file: bytes | BinaryIO) -> Spec:
    """Read a file as the C library does, in any format of it.

    Raises ValueError if the file is malformed, and NotImplementedError if C++ does not support it.
    """

class JsonFile:
    """A tokenizer.json in memory."""

    def file(self) -> bytes: ...
    def rest(self) -> bytes:
        """Return the file with {} and [] in place of `vocab` and `merges`."""

    def ids(self) -> dict[str, int]:
        """Return all texts of the vocabulary and their ids."""

    def __len__(self) -> int:
        """Return the number of texts in the vocabulary."""

    def find_all(self, texts: Sequence[str]) -> list[int | None]:
        """Return the id of each text in the vocabulary, or None."""

    def spec(self) -> Spec | None:
        """Return the whole tokenizer, or None if Python must read the file."""

    def model(self, added: Sequence[AddedRecord], ends_byte_level: bool) -> Spec | None:
        """Return only the vocabulary, or None if Python must read it.

        `added` replace the added tokens. `ends_byte_level` says whether the last part of the
        pre_tokenizer is ByteLevel.
        """

def open_json(file: bytes) -> JsonFile | None:
    """Return a tokenizer.json in memory, or None if Python must read the file."""

def set_first_size(size: int) -> None:
    """Set how many code units a new Tokenizer may encode before all tables are made. For tests.

    If the size is negative, all tables are made at once.
    """

def have_surrogates(texts: list[str]) -> bool:
    """Return whether any text has a surrogate."""

def pad_rows(
    ids: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    before: Sequence[int],
    after: Sequence[int],
    length: int,
    max_count: int,
    keeps_last: bool,
    pad_id: int,
    pads_left: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and the mask of bpe.encoding.padded.pad.

    Each row has `length` ids, of which a text has at most `max_count`. Raises ValueError if the ids
    of a text do not fit into its row.
    """

def huggingface_call(
    key: str,
    is_plain: dict[type, bool],
    batch_encoding: type,
    encoding: type,
    window: Callable[..., object],
    options: dict[str, Any],
) -> Callable[..., Any]:
    """Return a function that cpp/bindings/huggingface_call.hpp describes."""

class TextStream:
    """bpe.decoders.text_stream.PythonTextStream explains the methods."""

    def feed(self, ids: list[int]) -> str | None: ...
    def finish(self) -> str: ...
    def reset(self) -> None: ...
    def rewind(self, count: int) -> int: ...
    def clone(self) -> TextStream: ...
    def __len__(self) -> int: ...
    @property
    def ids(self) -> list[int]: ...
    @property
    def stopped(self) -> int | None: ...

def set_piece_size(size: int) -> None:
    """Set the number of bytes of a piece of a Session, for tests."""

class Session:
    """bpe.sessions.kept_text.KeptText explains the methods; a policy is an AddedTokens."""

    def append(
        self, text: str | bytes, added: AddedTokens
    ) -> tuple[int, NDArray[np.uint32], int]: ...
    def peek(
        self, text: str | bytes, added: AddedTokens
    ) -> tuple[int, NDArray[np.uint32], int]: ...
    def update(
        self, text: str | bytes, added: AddedTokens
    ) -> tuple[int, NDArray[np.uint32], int]: ...
    def replace(
        self, start: int, end: int, text: str | bytes, added: AddedTokens
    ) -> tuple[int, NDArray[np.uint32], int]: ...
    def extend(
        self,
        ids: NDArray[np.uint32],
        sizes: NDArray[np.uint32],
        text: bytes,
        added: AddedTokens,
    ) -> tuple[int, NDArray[np.uint32], int]: ...
    def clone(self) -> Session: ...
    def drop_text(self) -> None: ...
    def spans(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def text(self, start: int, end: int) -> bytes: ...
    def byte_of(self, character: int) -> int: ...
    def character_of(self, byte: int) -> int: ...
    def parts(self) -> list[tuple[int, AddedTokens, bool]]: ...
    def __len__(self) -> int: ...
    @property
    def ids(self) -> NDArray[np.uint32]: ...
    @property
    def size(self) -> int: ...
    @property
    def characters(self) -> int: ...
    @property
    def stable(self) -> int: ...
    @property
    def memory(self) -> int: ...

class PairProofs:
    """What is proven for two neighbors of a text; bpe.budgets.proofs explains it."""

    @staticmethod
    def of_kinds(
        kinds: NDArray[np.uint16], table: bytearray, find: Callable[[int, int], int]
    ) -> PairProofs:
        """Return the proofs by kinds of characters.

        `kinds` has the kind of each code point, and is read-only. The proof of kinds a and b is
        table[a * count + b] if it is not UNKNOWN, else find(a, b), which stores it. Others must not
        resize `table`.
        """

    @staticmethod
    def of_joined(pairs: NDArray[np.uint64], spaces: Sequence[int]) -> PairProofs:
        """Return the proofs of a text vocabulary.

        `pairs` are joined characters a << 21 | b. Nothing is proven beside the code points
        `spaces`.
        """

_Chunk = TypeVar("_Chunk", bound=tuple[Any, ...])

class Chunks:
    """bpe.budgets.search.Search for one text; only one thread may use it at a time.

    `data` is valid UTF-8, and `text` the str that it encodes, or None. `ends` are the ends of its
    ids in bytes. `blocked` and `allowed` have a flag for each place and the end: no cut is proven,
    and the text may be divided. `longest` is the maximal number of bytes of an id, or 0.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        added: AddedTokens,
        proofs: PairProofs,
        data: bytes,
        ends: NDArray[np.int32],
        puts_prefix: bool,
        blocked: object,
        allowed: object,
        is_normal: bool,
        longest: int,
        room: int,
        text: str | None,
    ) -> None: ...
    def add_borders(self, kind: str, places: NDArray[np.int64] | None) -> int:
        """Add a kind of borders, and return its index.

        The kind is "token", "pre-token", "spaces", "line", "character", or "places" with ascending
        places up to the end of the text.
        """

    def add_sentences(self, kinds: NDArray[np.uint8]) -> int:
        """Add the ends of sentences and lines, and return their index.

        `kinds` is bpe.budgets.borders.SENTENCE_KINDS.
        """

    def longest(self, start: int, borders: int, floor: int) -> tuple[int, int] | None:
        """Return the end and the number of ids of the longest part, or None."""

    def run(
        self, start: int, unit: int, limit: int, template_size: int, type: type[_Chunk]
    ) -> tuple[int, int, list[_Chunk]]:
        """Return the next parts to borders of the kinds so far, at most `limit`.

        Returns where the last part ends, in bytes and in the units of the text, and a `type` of
        text, start, end and number of ids for each part. Numbers include `template_size`. `unit` is
        the offset of `start` in the text. There are fewer parts if no border is near enough.
        """

def token_ends(
    ids: NDArray[np.uint32],
    sizes: NDArray[np.int32],
    data: bytes,
    may_have_prefix: bool,
    may_have_marks: bool,
) -> NDArray[np.int32] | None:
    """Do the same as bpe.budgets.token_ends.token_ends; None for a text of 1 GiB or more."""

def utf8_of(text: str) -> bytes | None:
    """Return a str as UTF-8, or None if it has surrogates."""

def chat_text_calls(
    type: type[str], slow: tuple[Callable[..., Any], ...]
) -> tuple[Callable[..., Any], ...]: ...
def chat_value_calls(
    types: tuple[type, ...],
    helpers: tuple[Callable[..., Any], ...],
    roles: dict[str, Any],
    shared_names: frozenset[str],
    aliases: frozenset[str],
    slow: tuple[Callable[..., Any], ...],
) -> tuple[Callable[..., Any], ...]: ...
def json_text(value: object, indent: int = -1) -> str | None:
    """Return json.dumps(value, ensure_ascii=False, indent=indent); a negative indent is None.

    Returns None for values that only Python knows.
    """

def field_call(
    type: type[dict[Any, Any]], name: str, nothing: Any, slow: Callable[[Any], Any]
) -> Callable[[Any], Any]: ...

class TokenPlaces:
    """The places of the tokens of several segments."""

    def find(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (ends, starts, stops).

        These are the number of ids that begin before the end of each segment, and the spans of the
        ids in bytes of all segments together.
        """

class Tokenizer:
    """The native backend of bpe; PythonBackend documents most methods.

    `added` is an AddedTokens.
    """

    def __init__(
        self,
        spec: Spec,
        machine: Machine | None,
        cache_limit: int = ...,
        is_deferred: bool = False,
        takes_normalized_text: bool = False,
        for_dropout: bool = False,
    ) -> None:
        """Make the tokenizer of `spec`.

        `machine` splits text; if it is None, `spec` says how to split. If `is_deferred`, the tables
        for fast merging are made when texts are worth it. If `takes_normalized_text`, no call
        normalizes text, and "▁" stands for spaces. `encode_some` and `encode_batch_some` need
        `for_dropout`, which makes all other calls slow. Raises the errors of `read_spec`.
        """

    def encode(
        self, text: str | bytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> list[int]: ...
    def encode_array(
        self, text: str | bytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> NDArray[np.uint32]: ...
    def count(
        self, text: str | bytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> int: ...
    def encode_batch(
        self, texts: Sequence[str | bytes], added: Any, threads: int = 0
    ) -> list[list[int]]: ...
    def encode_batch_array(
        self, texts: Sequence[str | bytes], added: Any, threads: int = 0
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
    def encode_some(
        self,
        text: str | bytes,
        added: Any,
        dropout: float,
        seed: int,
        continuation: bool = False,
    ) -> NDArray[np.uint32]:
        """Return ids with a dropout from 0 to 1, and a seed of 64 bits."""

    def encode_batch_some(
        self,
        texts: Sequence[str | bytes],
        added: Any,
        dropout: float,
        seed: int,
        threads: int = 0,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
    def encode_packed(
        self, data: object, offsets: NDArray[np.int64], added: Any, threads: int = 0
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode the texts data[offsets[i]:offsets[i + 1]], in UTF-8.

        `data` has the buffer protocol. Returns the ids and offsets of `encode_batch_array`. Raises
        ValueError if the offsets do not ascend within `data`.
        """

    @staticmethod
    def all_take_fast_path(texts: list[Any], only_str: bool, only_ascii: bool) -> bool:
        """Return True only if `encode_batch` can take `texts` unchecked.

        The result is False if a text is neither str nor bytes. If `only_str`, it is also False if a
        text is bytes. If `only_ascii`, it is also False if a text is not ASCII.
        """

    @staticmethod
    def is_normal(text: str | bytes) -> bool: ...
    def spans(
        self, text: str | bytes, added: Any, threads: int = 0, continuation: bool = False
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]: ...
    def spans_of_normalized(
        self, text: bytes, added: Any
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]: ...
    def encode_segments(
        self, segments: list[Any], searches: dict[str, Any], special: Any
    ) -> tuple[NDArray[np.uint32], TokenPlaces] | None: ...
    def session(self, all: Any, continuation: bool) -> Session: ...
    def safe_cut(self, text: bytes, added: Any) -> int: ...
    def merge(self, pre_token: bytes) -> list[int]: ...
    def decode(self, ids: list[int]) -> bytes | None: ...
    def fast_calls(
        self,
        make_added: Any,
        slow_calls: _Calls,
        only_str: bool,
        only_ascii: bool,
    ) -> _Calls: ...
    def decode_calls(self, slow_calls: _Calls) -> _Calls: ...
    def text_stream(
        self, skip_special: bool, continuation: bool, clean_up: bool, stop: Sequence[str]
    ) -> TextStream | None:
        """Return a stream that decodes ids, or None if Python decodes ids."""

    def rendered(
        self,
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint32]] | None:
        """Return the rendered bytes of all tokens, their offsets by id, and the sorted ids.

        Returns None if Python decodes ids. The first two arrays view memory of the tokenizer.
        """

    def span_call(
        self,
        added: Any,
        only_ascii: bool,
        spaces: tuple[bytes, bytes, bool] | None,
    ) -> Callable[[str], tuple[list[int], list[tuple[int, int]]] | None]:
        """Return a function that encodes a text with the span of each id, in code points.

        The function returns None for text that is not a str, has surrogates, or has a special token
        that `added` refuses, and for text that NFC changes if the tokenizer has it. If
        `only_ascii`, it also returns None for text that is not ASCII.

        If `spaces` is not None, spans exclude the spaces of tokens. `spaces` is (leading, trailing,
        keeps_first). `leading` and `trailing` have the number of spaces of each token, by id. For a
        token with the number 255, the function returns None. If `keeps_first` is true and the first
        token has one leading space, the span of this token includes the space.
        """

    def merges(self) -> NDArray[np.uint32]: ...
    @property
    def normalizer(self) -> str:
        """How calls normalize text: "none", "nfc", "sentencepiece" or "chain"."""

    @property
    def takes_spaces(self) -> bool:
        """Whether spaces stand for "▁"."""

    @property
    def missing_bytes(self) -> list[int]:
        """The bytes that have no token; none if the tokens are text."""

    @property
    def has_all_tables(self) -> bool:
        """Whether the tables for fast merging were made."""

    @property
    def cache_bytes(self) -> int:
        """The number of bytes in the caches of all threads."""

    def trim(self) -> None:
        """Free all caches that no call uses, and return the memory to the system."""

class PromptCache:
    """Encodes texts in chunks, and keeps the ids of chunks; bpe.PromptCache explains it."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        max_bytes: int,
        min_window: int = ...,
        max_window: int = ...,
        hash_mask: int = ...,
    ) -> None:
        """Make an empty cache of at most `max_bytes` bytes.

        Tests set the sizes of windows in bytes, and the bits of hashes that are used.
        """

    def encode(
        self,
        text: str | bytes,
        added: Any,
        all: Any,
        policy: bytes,
        salt: bytes,
        continuation: bool,
        before: Sequence[int],
        after: Sequence[int],
    ) -> tuple[NDArray[np.uint32], int, int]:
        """Return the ids of `before`, the text and `after`, and two numbers of ids of the text.

        These ids were in the cache: those at the start of the text, and all. `policy` is equal only
        for equal `added`, and `all` has the added tokens of all policies.
        """

    def encode_segments(
        self,
        segments: list[Any],
        searches: dict[str, Any],
        all: Any,
        special: Any,
        joined: bool,
        salt: bytes,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], int, int] | None:
        """Return the ids, the ends of segments, and two numbers of reused ids, as `encode` does.

        It is None if the segments cannot be encoded at once, or a policy refuses a token.
        """

    def clear(self) -> None: ...
    def statistics(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Return the fields of bpe.PromptCacheStatistics, in order."""

class FastCallMethod:
    """A method that answers some calls without Python code.

    bpe.encoding.fast_calls.fast_call says which calls.
    """

    def __init__(
        self,
        function: Callable[..., object],
        attribute: str | Callable[..., object],
        names: tuple[str, ...],
        defaults: tuple[object, ...],
        positional: int,
        explain: Callable[[tuple[str, ...]], TypeError | None] | None = None,
    ) -> None: ...

class Normalizer:
    """The normalizer of a tokenizer, without Metaspace, for UTF-8."""

    def __init__(self, stored: bytes, symbols: list[bytes]) -> None:
        """`stored` is the section `steps` of a .pretok file. `symbols` are those of SentencePiece.

        Raises ValueError if `stored` is malformed.
        """

    def normalized(self, text: bytes) -> bytes:
        """Return `text` normalized."""

    def align(self, text: bytes) -> tuple[bytes, NDArray[np.int64]] | None:
        """Return the result of `normalized`, and the span of each of its code points in `text`.

        A span is two elements of the array: the offsets of its start and end in code points.
        Returns None if a chain gets bytes that are not UTF-8.
        """

def check_charsmap(blob: bytes) -> tuple[str, int]:
    """Return what is wrong with the trie of a charsmap, or "", and its growth.

    See bpe.encoding.charsmap.
    """

class WordCounts:
    """The C++ form of bpe.training.counting.WordCounts. `add` counts the pre-tokens of `texts`."""

    def __init__(self) -> None: ...
    def add(self, machine: Machine, texts: tuple[str | bytes, ...], threads: int) -> None: ...
    def add_words(self, words: Mapping[bytes, int]) -> None: ...
    @property
    def longest(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def memory(self) -> int: ...
    def spill(self, write: Callable[[bytes], object]) -> tuple[int, int, int]: ...
    def take(self) -> list[tuple[bytes, int]]: ...

class TokenRows:
    """Rows of symbols and their counts, in the order of first appearance.

    Equal rows are added up, unless the caller says that there are none or few.
    """

    def __init__(self, are_distinct: bool, memory: object) -> None:
        """`memory` is that of Trainer.of_run."""
    def add(
        self, symbols: NDArray[np.uint32], sizes: NDArray[np.uint32], counts: NDArray[np.int64]
    ) -> None:
        """Add rows: the symbols of all rows, and the size and the count of each row."""

def merge_runs(
    runs: Sequence[tuple[Iterable[bytes], int]], write: Callable[[bytes], object]
) -> tuple[int, int, int]:
    """The C++ form of bpe.training.runs.merge_runs; both write equal blocks."""

class Trainer:
    """The C++ form of bpe.training.trainer.Trainer; both return equal results."""

    def __init__(
        self,
        counts: WordCounts,
        tie_break: str,
        min_frequency: int,
        max_token_length: int | None,
    ) -> None: ...
    @staticmethod
    def of_tokens(
        units: NDArray[np.uint32],
        lengths: NDArray[np.uint32],
        rows: TokenRows,
        tie_break: str,
        min_frequency: int,
        max_token_length: int | None,
        joins_known: bool,
        max_words: int | None,
        memory: object,
    ) -> Trainer:
        """Return a trainer of words that begin as tokens of a vocabulary, and empty `rows`.

        Token i has lengths[i] of the `units`, which are bytes or characters. The symbols of `rows`
        are tokens. `joins_known` and `max_words` are those of bpe.training.trainer.Trainer,
        and `memory` that of `of_run`.
        """
    @staticmethod
    def of_run(
        blocks: Iterable[bytes],
        min_frequency: int,
        max_token_length: int | None,
        memory: object,
    ) -> Trainer:
        """Return a trainer of the words of a run (bpe.training.runs).

        Lists that it reads rarely are in `memory`: block(size) returns a writable block of that
        size, and trim(have_moved) may remove blocks from memory until they are read again. If it
        returns True, the words move to `memory`, too; `have_moved` says that they have. None stands
        for ordinary memory.
        """
    @property
    def tokens(self) -> int: ...
    def step(self, tokens: int) -> bool: ...
    def merges(self) -> NDArray[np.uint32]: ...
    def first_merges(self) -> NDArray[np.uint32]: ...

def set_task_size(size: int) -> int:
    """Set the number of bytes of text in one task of a thread. Only tests call it.

    0 restores the default. Returns the previous number.
    """

def gather(
    iterator: Iterator[object],
    enough: int,
    per_text: int,
    last: str,
    check: Callable[[str], None],
) -> tuple[list[str | bytes], list[object], bool]:
    """The C++ form of bpe.training.corpus.collect_batch; both return equal results.

    `enough` and `per_text` are `max_size` and `text_overhead` of collect_batch.
    """

def check_utf8(data: bytes, state: int) -> int:
    """Return the state after `data`, which is `state` before.

    The state is 0 at the start and after a whole code point. It stays at one nonzero number after a
    byte that is not UTF-8. Other numbers are states within code points. So the text may come in
    blocks.
    """

def json_texts(
    data: bytes, field: bytes
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """Return the strings under `field` of the JSON objects on the n lines of `data`.

    Returns three arrays: the UTF-8 of all strings, n + 1 offsets in this UTF-8, and 1 or 0 for each
    line. 0 means that C++ did not read the line, and that its string is empty. Python must read
    such a line again. The line may be blank or damaged, or parsers may read it differently.
    """

def safe_cut(machine: Machine, text: bytes) -> int:
    """Return an offset at which cutting `text` does not change the pre-tokens.

    The offset is in bytes. Returns the last offset that C++ finds, or 0 if C++ finds no offset.
    """

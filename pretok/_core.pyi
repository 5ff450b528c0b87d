"""The C++ extension; the Protocols of pretok.machine.backend document the methods of Machine."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pretok.machine.machine import Unit

def built_in_program(name: str) -> tuple[str, list[int]] | None: ...
def kernels() -> list[str]: ...
def use_kernels(name: str) -> bool: ...

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

_Calls = TypeVar("_Calls", bound=tuple[Callable[..., object], ...])

AddedRecord = tuple[bytes, int, bool, bool, bool, bool, bool]
"""The content, id, normalized, lstrip, rstrip, single_word and special of an added token."""

class AddedTokens:
    """The C++ form of bpe.encoding.added_tokens.AddedTokens, for the methods of Encoder."""

    def __init__(
        self, tokens: Iterable[AddedRecord], words: Iterable[tuple[int, int]], nfc: bool
    ) -> None: ...
    def treating(self, treatment: str) -> AddedTokens: ...
    def exact(self) -> AddedTokens: ...
    def normalized(self) -> AddedTokens: ...
    def segments(
        self, text: bytes
    ) -> tuple[list[tuple[int, int, int | None]], tuple[str, int] | None]: ...

class JsonModel:
    """The members `vocab` and `merges` of the model of a tokenizer.json."""

    def __len__(self) -> int: ...
    def find(self, text: str) -> int | None:
        """Return the id of a text, or None."""

    def ids(self) -> dict[str, int]:
        """Return all texts and their ids."""

    def pairs(self) -> list[tuple[str, str]]:
        """Return the two texts of each merge, in order of rank."""

def read_json_model(file: bytes) -> tuple[bytes, JsonModel] | None:
    """Return the file with {} and [] in place of its `vocab` and `merges`, and these two members.

    Returns None for any file that cpp/bindings/json_model.hpp leaves to Python.
    """

def merge_rows(
    vocab: dict[str, int] | JsonModel, merges: list[Any]
) -> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]] | None:
    """Return the bytes, lengths and ids of the texts, and the rows of the merges.

    A row is (left id, right id, id of the result). Returns None if the data is invalid;
    bpe.formats.bpe_model then finds the error and raises it.
    """

def read_pieces(
    data: bytes,
) -> (
    tuple[
        tuple[bytes, NDArray[np.uint32], NDArray[np.uint32]],
        NDArray[np.float32],
        list[tuple[int, str, float, int]],
        tuple[bytes, bytes, bytes],
    ]
    | None
):
    """Return the parts of a .model; cpp/bindings/piece_loading.cpp describes them.

    Returns None for a file that bpe.formats.sentencepiece reads without C++, or refuses.
    """

def piece_merges(
    data: bytes,
    lengths: NDArray[np.uint32],
    ids: NDArray[np.uint32],
    scores: NDArray[np.float32],
) -> NDArray[np.uint32] | None:
    """Return the merges of pieces with these scores, in order of rank.

    Returns None if the scores need bpe.characters.CharacterMerger, or if pieces have characters
    that are no pieces.
    """

def build_characters(
    data: bytes,
    lengths: NDArray[np.uint32],
    ids: NDArray[np.uint32],
    merges: NDArray[np.uint32],
    fallback: Sequence[int],
    first_step: int,
    has_spaces: bool,
) -> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the tokens and the merges of bpe.encoding.character_backend.byte_vocabulary."""

def find_inner_marks(data: bytes, lengths: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the indices of the texts that have a "▁" after another character."""

def text_decode_call(make_texts: Any, special: Sequence[int], slow_call: Any) -> Any:
    """Return the function decode(ids, errors, skip) that cpp/bindings/decode_calls.hpp explains."""

class Encoder:
    """The native backend of bpe; bpe.encoding.backends.Backend documents each method."""

    def __init__(
        self,
        machine: Machine | None,
        token_bytes: bytes,
        lengths: NDArray[np.uint32],
        ids: NDArray[np.uint32],
        mergeable: int,
        merges: NDArray[np.uint32] | None,
        from_ranks: bool,
        ignore_merges: bool,
        add_prefix_space: bool,
        cache_limit: int = ...,
        first_step: int = ...,
        marked_spaces: tuple[str, bool, bool, bool, bool] | None = None,
        is_whole: bool = False,
    ) -> None: ...
    def encode(self, text: str | bytes, added: AddedTokens, threads: int = 0) -> list[int]: ...
    def encode_array(
        self, text: str | bytes, added: AddedTokens, threads: int = 0
    ) -> NDArray[np.uint32]: ...
    def count(self, text: str | bytes, added: AddedTokens, threads: int = 0) -> int: ...
    def encode_batch(
        self, texts: Sequence[str | bytes], added: AddedTokens, threads: int = 0
    ) -> list[list[int]]: ...
    def encode_batch_array(
        self, texts: Sequence[str | bytes], added: AddedTokens, threads: int = 0
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
    def encode_packed(
        self, data: object, offsets: NDArray[np.int64], added: AddedTokens, threads: int = 0
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode the texts data[offsets[i]:offsets[i + 1]], in UTF-8.

        `data` has the buffer protocol. Returns the ids and offsets of `encode_batch_array`. Raises
        ValueError if the offsets do not ascend within `data`.
        """

    @staticmethod
    def all_take_fast_path(
        texts: list[object], only_str: bool, only_ascii: bool, only_normal: bool
    ) -> bool:
        """Return True only if `encode_batch` can take `texts` unchecked.

        The result is True only if each text is a str or bytes. It is False for bytes if `only_str`,
        for text with a character that is not ASCII if `only_ascii`, and for text that is not in NFC
        if `only_normal`.
        """

    @staticmethod
    def is_normal(text: str | bytes) -> bool: ...
    @staticmethod
    def normalized(data: bytes) -> bytes: ...
    def spans(
        self, text: str | bytes, added: AddedTokens, threads: int = 0
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]: ...
    def safe_cut(self, text: bytes, added: AddedTokens, nfc: bool) -> int: ...
    def merge(self, pre_token: bytes) -> list[int]: ...
    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None: ...
    def fast_calls(
        self,
        make_added: Callable[[str], object],
        slow_calls: _Calls,
        only_str: bool,
        only_ascii: bool,
        only_normal: bool,
    ) -> _Calls: ...
    def decode_calls(self, special: Sequence[int], slow_calls: _Calls) -> _Calls: ...
    def span_call(
        self,
        added: AddedTokens,
        only_ascii: bool,
        only_normal: bool,
        spaces: tuple[bytes, bytes, bool] | None,
    ) -> Callable[[str], tuple[list[int], list[tuple[int, int]]] | None]:
        """Return a function that encodes a text with the span of each id, in code points.

        It returns None for text that is not a str or has surrogates, for text that is not ASCII if
        `only_ascii`, or not in NFC if `only_normal`. `spaces` excludes the spaces of tokens from
        spans: it has the numbers of leading and of trailing spaces by id, where 255 makes the
        function return None, and whether the first token keeps one leading space.
        """

    def merges(self) -> NDArray[np.uint32]: ...
    @property
    def cache_bytes(self) -> int:
        """The number of bytes in the caches of all threads."""

    def trim(self) -> None:
        """Free all caches that no call uses, and return the memory to the system."""

class FastCallMethod:
    """A method that answers some calls without Python code; bpe.encoding.fast_calls says which."""

    def __init__(
        self,
        function: Callable[..., object],
        attribute: str,
        names: tuple[str, ...],
        defaults: tuple[object, ...],
        positional: int,
    ) -> None: ...

def read_ranks(
    data: bytes,
) -> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32]] | None:
    """Return the bytes of all tokens of a rank file, the lengths of the tokens and their ranks.

    Returns None if C++ cannot read the file. The Python reader in bpe.formats.tiktoken then reads
    or rejects the file.
    """

def read_pretok_file_tokens(
    data: bytes, at: int, from_ranks: bool
) -> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the tokens of a .pretok file and the merges.

    The tokens start at offset `at` of `data`. The first three results are as in `read_ranks`.
    Raises ValueError if the file is malformed.
    """

def build_vocabulary(
    vocab: dict[str, int] | JsonModel,
    merges: list[Any],
    added: Sequence[tuple[str, int, bool]],
    ignore_merges: bool,
    loose: Set[int],
) -> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]] | None:
    """Return the tokens, as the three results of `read_ranks`, and the merges.

    Returns None if the data is invalid; bpe.formats.bpe_model then finds the error and raises it.
    """

def read_spec(data: bytes) -> dict[str, Any]:
    """Return all values that C++ reads from a tokenizer file. Only tests call it."""

class WordCounts:
    """The C++ form of bpe.training.counting.WordCounts; `add` counts pre-tokens of `texts`."""

    def __init__(self) -> None: ...
    def add(self, machine: Machine, texts: tuple[str | bytes, ...], threads: int) -> None: ...
    def add_words(self, words: Mapping[bytes, int]) -> None: ...
    @property
    def longest(self) -> int: ...
    def take(self) -> list[tuple[bytes, int]]: ...

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
    def of_characters(
        symbols: NDArray[np.uint32],
        sizes: NDArray[np.uint32],
        counts: NDArray[np.int64],
        alphabet: int,
        min_frequency: int,
        max_token_length: int | None,
    ) -> Trainer:
        """Return a trainer of words of characters; `symbols` are indices in the alphabet."""
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
    """The C++ form of bpe.training.corpus.collect_batch; both return equal results."""

def json_texts(
    data: bytes, field: bytes
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """Return the strings under `field` of the JSON objects on the lines of `data`.

    The result has the UTF-8 of all strings, n + 1 offsets in it, and for each line 1 or 0. A line
    with 0 has an empty string: bpe.text_files.text_of_line must read it, because it may be blank,
    damaged, or have something that parsers treat differently.
    """

def safe_cut(machine: Machine, text: bytes) -> int:
    """Return an offset where cutting `text` does not change the pre-tokens.

    Returns the last such offset that C++ finds, or 0 if C++ finds none.
    """

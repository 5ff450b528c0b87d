"""Define PromptCache, which encodes texts that have parts in common with earlier texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bpe.encoding.segments import listed_segments
from bpe.sessions.prompt_store import PromptStore
from bpe.tokenizer import Tokenizer
from bpe.types import Errors, Ids, Offsets, SegmentLike, Special, Text

DEFAULT_MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PromptIds:
    """The ids of a text from a PromptCache.

    `ids` is a new uint32 array of shape (n,). `ends` is None, or for the m segments of
    `encode_segments` an int64 array of shape (m,): ids[:ends[k]] begin before the end of segment k.
    `reused` is the number of ids of the text that were
    in the cache, and `reused_prefix` the number of ids before the first that was not. Ids of the
    template before a text count to the prefix if any id after them does.
    """

    ids: Ids
    reused_prefix: int
    reused: int
    ends: Offsets | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return (
            f"PromptIds({len(self)} ids, {self.reused} reused, {self.reused_prefix} at the start)"
        )


@dataclass(frozen=True, slots=True)
class PromptCacheStatistics:
    """The numbers of a PromptCache since it was made, and what it holds now.

    `calls`, `bytes` and `ids` count the texts of all calls that returned ids, `bytes` in UTF-8 and
    `ids` without those of templates. `bytes_reused` and `ids_reused` count the parts of them that
    were in the cache. `chunks` and `bytes_held` say what the cache holds now. `evicted` counts the
    chunks that were dropped to make room.
    """

    calls: int
    bytes: int
    bytes_reused: int
    ids: int
    ids_reused: int
    chunks: int
    bytes_held: int
    evicted: int


class PromptCache:
    """Encodes texts, and copies the ids of parts that it has seen before.

    The ids are always those of `tokenizer.encode_array`. It is for prompts that have parts in
    common: the same instructions, the turns of a chat, documents in any order. A text is divided
    into chunks of 2 to 4 KiB at places where a cut changes no id. The cache keeps the bytes and the
    ids of chunks, in at most `max_bytes` bytes. If it is full, it drops chunks that were not used
    lately. A chunk is found wherever it stands in a text. The end of a text, up to 4 KiB, is always
    encoded, since more text could change it.

    Looking up a chunk takes about as long as comparing its bytes and copying its ids. A call uses
    one thread. Texts with a normalizer other than NFC, and the backend "python", have no chunks:
    there the cache keeps whole texts.

    Safe to share between threads, which do not wait for each other while they encode. Survives fork
    and spawn. Pickles as its arguments: a copy is empty.

    The time of a call shows whether its parts were in the cache. Give a `salt` to texts that must
    not share parts, such as one for each tenant of a service.

    >>> import bpe
    >>> tok = bpe.train(["a prompt, a reply"], vocab_size=260)
    >>> cache = bpe.PromptCache(tok)
    >>> prompt = "\\n".join(f"{number} is a number." for number in range(1000))
    >>> found = cache.encode(prompt)
    >>> found.ids.tolist() == tok.encode(prompt)
    True
    >>> found
    PromptIds(16889 ids, 0 reused, 0 at the start)
    >>> cache.encode(prompt).reused > 10_000
    True
    """

    def __init__(self, tokenizer: Tokenizer, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"expected a bpe.Tokenizer, got {type(tokenizer).__name__}")
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int):
            raise TypeError(f"max_bytes={max_bytes!r}: expected an int")
        if not 0 <= max_bytes < 1 << 63:
            raise ValueError(f"max_bytes={max_bytes}: expected a number of bytes, 0 or more")
        self._tokenizer = tokenizer
        self._max_bytes = max_bytes
        self._pipeline = tokenizer._pipeline
        self._native = self._pipeline.new_prompt_cache(max_bytes)
        self._store = PromptStore(max_bytes)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer whose ids the cache keeps."""
        return self._tokenizer

    @property
    def max_bytes(self) -> int:
        """The maximal number of bytes that the cache holds."""
        return self._max_bytes

    def encode(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        continuation: bool = False,
        salt: str | bytes = b"",
    ) -> PromptIds:
        """Return the ids of `text`, as `Tokenizer.encode_array` with the same arguments.

        Texts share chunks only if their `salt` is equal; a str stands for its UTF-8. Raises the
        errors of `Tokenizer.encode_array`. A call that fails keeps no ids of the wrong part.
        """
        before, after = self._tokenizer.template if add_special_tokens else ((), ())
        key = _as_salt(salt)
        pipeline = self._pipeline
        if self._native is not None:
            ids, prefix, reused = pipeline.encode_prompt(
                self._native, text, special, errors, continuation, key, before, after
            )
        else:
            data, policy = pipeline.prompt_key(text, special, errors)

            def encode() -> Ids:
                return pipeline.encode_array(text, special, errors, 1, continuation)

            ids, prefix, reused = self._store.encode(
                data, policy, key, bool(continuation), before, after, encode
            )
        return PromptIds(ids, prefix + len(before) if prefix else 0, reused)

    def encode_segments(
        self,
        segments: Iterable[SegmentLike],
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        joined: bool = True,
        salt: str | bytes = b"",
    ) -> PromptIds:
        """Return the ids and the ends of `Tokenizer.encode_segments` with the same arguments.

        A chunk may hold ends of segments and given ids. It is reused where all of them are the
        same, and the policies too. Some calls are encoded without the cache: those with the Python
        backend, other `errors` than "replace", a set as a policy, ids that are not a list of int,
        and vocabularies without a token for some byte. Raises the errors of
        `Tokenizer.encode_segments`.

        >>> import bpe
        >>> tok = bpe.train(["a prompt, a reply"], vocab_size=260, special_tokens=["<end>"])
        >>> cache = bpe.PromptCache(tok)
        >>> found = cache.encode_segments([("a reply", "content"), ("<end>", "allow"), [7, 8]])
        >>> found.ids[found.ends[0]:].tolist() == [*tok.encode("<end>", "allow"), 7, 8]
        True
        """
        key = _as_salt(salt)
        listed = listed_segments(segments)
        if self._native is not None:
            found = self._pipeline.encode_prompt_segments(
                self._native, listed, special, errors, joined, key
            )
            if found is not None:
                ids, ends, prefix, reused = found
                return PromptIds(ids, prefix, reused, ends)
        result = self._tokenizer.encode_segments(listed, special, errors=errors, joined=joined)
        return PromptIds(result.ids, 0, 0, result.ends)

    def clear(self) -> None:
        """Drop all chunks. The counters of `stats` stay, but for `chunks` and `bytes_held`."""
        (self._native or self._store).clear()

    @property
    def stats(self) -> PromptCacheStatistics:
        """The numbers of this cache; while other threads encode, they may not be of one moment."""
        return PromptCacheStatistics(*(self._native or self._store).statistics())

    def __reduce__(self) -> tuple[type[PromptCache], tuple[Tokenizer, int]]:
        return type(self), (self._tokenizer, self._max_bytes)

    def __repr__(self) -> str:
        stats = self.stats
        return (
            f"PromptCache({self._tokenizer!r}, {stats.chunks:,} chunks in {stats.bytes_held:,} of "
            f"{self._max_bytes:,} bytes)"
        )


def _as_salt(salt: str | bytes) -> bytes:
    """Return the salt as bytes."""
    if isinstance(salt, str):
        return salt.encode("utf-8", "surrogatepass")
    if not isinstance(salt, bytes):
        raise TypeError(f"salt={salt!r:.80}: expected str or bytes, got {type(salt).__name__}")
    return salt

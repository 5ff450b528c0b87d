"""Define Encoding: the methods of tiktoken.Encoding, with a bpe.Tokenizer that does the work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe.compat.tiktoken.core_bpe import CoreBPE
from bpe.compat.tiktoken.decoder import Decoder, checked_threads
from bpe.compat.tiktoken.open_end import OpenEnd
from bpe.compat.tiktoken.special_tokens import NONE, Allowed, Disallowed, SpecialTokens, refuse
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.utf8 import ESCAPE
from bpe.once import once
from bpe.tokenizer import Tokenizer
from bpe.types import SupportsOffsets
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import find, pattern_for
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset

E = TypeVar("E", bound="Encoding")


class Encoding(Decoder):
    """A vocabulary with a pre-tokenizer and special tokens; a drop-in for tiktoken.Encoding.

    `pat_str` is the regular expression that splits text into pre-tokens. If pretok does not know
    it, pass `preset` too: a preset, its name, or an object with offsets(text). `mergeable_ranks`
    maps tokens to ids, which are also their ranks. `special_tokens` maps special tokens to ids.
    `explicit_n_vocab` is the expected number of ids. Raises ValueError (or its subclass
    VocabularyError) if the pattern is unknown or the vocabulary is invalid, and AssertionError if
    the number of ids is not `explicit_n_vocab`.

    `allowed_special` is the set of special tokens that a call encodes as ids, or "all".
    `disallowed_special` is a collection of str; the call raises ValueError if a text holds one of
    them. The default "all" stands for all special tokens that are not allowed. A special token that
    is neither allowed nor disallowed is ordinary text. Texts other than str raise TypeError. Ids
    are ints: an id outside 0 to 2**32 - 1 raises OverflowError, any other unknown id KeyError.
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
        explicit_n_vocab: int | None = None,
        preset: PreTokenizer | SupportsOffsets | Preset | str | None = None,
        backend: BackendName | None = None,
    ) -> None:
        tokens = {id: token for token, id in mergeable_ranks.items()}
        if len(tokens) != len(mergeable_ranks):
            raise ValueError("two tokens of mergeable_ranks have the same rank; give each its own")
        empty_id = mergeable_ranks.get(b"")  # openai-whisper has it; no text encodes to it
        if type(empty_id) is int and 0 <= empty_id < ID_LIMIT:
            del tokens[empty_id]
        vocabulary = Vocabulary(tokens)
        added = [AddedToken(content, id) for content, id in special_tokens.items()]
        split = _split_of(pat_str) if preset is None else preset
        tokenizer = Tokenizer(vocabulary, split, added_tokens=added, name=name, backend=backend)
        self._set(name, pat_str, tokenizer, empty_id)
        if explicit_n_vocab:
            assert len(mergeable_ranks) + len(special_tokens) == explicit_n_vocab, (
                f"got {len(mergeable_ranks)} tokens and {len(special_tokens)} special tokens; "
                f"expected explicit_n_vocab={explicit_n_vocab} in total"
            )
            assert self.n_vocab == explicit_n_vocab, (
                f"the largest id is {self.max_token_value}; expected {explicit_n_vocab - 1}, "
                "one less than explicit_n_vocab"
            )

    @classmethod
    def from_tokenizer(cls: type[E], tokenizer: Tokenizer, name: str | None = None) -> E:
        """Return an Encoding that uses `tokenizer`. The default `name` is that of the tokenizer.

        Added tokens that are not special always become their ids. Raises ValueError if the
        tokenizer normalizes text or adds a space to it: tiktoken's API does not support this.
        """
        if tokenizer.normalizer is not None or tokenizer.add_prefix_space:
            change = tokenizer.normalizer or "add_prefix_space"
            raise ValueError(
                f"{tokenizer!r} changes text ({change}) before it encodes it; expected a tokenizer "
                "without a normalizer and without add_prefix_space"
            )
        self = cls.__new__(cls)
        pattern = None if tokenizer.preset is None else pattern_for(tokenizer.preset, "tiktoken")
        self._set(name or tokenizer.name or "unnamed", pattern or "", tokenizer)
        return self

    def _set(
        self, name: str, pat_str: str, tokenizer: Tokenizer, empty_id: int | None = None
    ) -> None:
        self.name = name
        self._pat_str = pat_str
        self._tokenizer = tokenizer
        self._empty_id = empty_id
        self._special_tokens = dict(tokenizer.special_tokens)
        self._specials = SpecialTokens(self._special_tokens)
        # If several tokens share an id, the first one counts. A dict keeps the last value of a key,
        # so the order is reversed.
        self._special_token_bytes = {
            token.id: token.content.encode() for token in reversed(tokenizer.added_tokens)
        }
        self.max_token_value = max(tokenizer.vocab_size - 1, empty_id or 0)

    @property
    def tokenizer(self) -> Tokenizer:
        """The Tokenizer that does the work."""
        return self._tokenizer

    def encode(
        self, text: str, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all"
    ) -> list[int]:
        """Return the ids of `text`.

        A surrogate pair counts as its character, a lone surrogate as U+FFFD. Raises ValueError if
        `text` holds a disallowed special token, TypeError for an argument of a wrong type.
        """
        special = self._specials.policy_for(text, allowed_special, disallowed_special)
        return self._tokenizer.encode(text, special)

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens as ordinary text."""
        refuse(text, NONE)
        return self._tokenizer.encode(text, "text")

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all"
    ) -> NDArray[np.uint32]:
        """Return the ids of `text` as an array: uint32, shape (n,).

        Raises the errors of `encode`, and UnicodeEncodeError for any surrogate.
        """
        allowed = self._checked((text,), allowed_special, disallowed_special)
        return self._tokenizer.encode_array(text, self._specials.policy(allowed), errors="strict")

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Return the ids of each str of `text`, with special tokens as ordinary text."""
        return self.encode_batch(text, num_threads=num_threads, disallowed_special=())

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Return the ids of each str of `text`; raises the errors of `encode`.

        Uses up to `num_threads` threads. Raises ValueError if `num_threads` is less than 1.
        """
        threads = checked_threads(num_threads)
        texts = list(text)
        allowed = self._checked(texts, allowed_special, disallowed_special)
        return self._tokenizer.encode_batch(texts, self._specials.policy(allowed), threads=threads)

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that do not depend on what follows `text`, and the possible completions.

        A completion is a list of ids for the rest of `text`. Its last token may extend beyond the
        end of `text`. Completions are sorted. Raises the errors of `encode`, and
        UnicodeEncodeError for any surrogate. Takes quadratic time in the length of the last
        pre-token.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
        >>> Encoding.from_tokenizer(tok).encode_with_unstable("x ab")
        ([120], [[32, 256], [32, 257], [32, 258]])
        """
        allowed = self._checked((text,), allowed_special, disallowed_special)
        return self._open_end.completions(text, allowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token, special or not; raises KeyError for an unknown token."""
        token = _utf8(text_or_bytes)
        id = self._tokenizer.vocabulary.ids.get(token) if token else self._empty_id
        if id is None:
            id = self._special_tokens.get(token.decode("utf-8", ESCAPE))
        if id is None:
            raise KeyError(f"no token is {token!r}")
        return id

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of every token that is not special, in ascending order."""
        return sorted(self._mergeable_ranks)

    @property
    def eot_token(self) -> int:
        """The id of <|endoftext|>; raises KeyError if the encoding does not have it."""
        return self._special_tokens["<|endoftext|>"]

    @once
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether the id `token` belongs to a special token."""
        assert isinstance(token, int), f"expected an int, got {type(token).__name__}"
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return self.max_token_value + 1

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Return the ids of `text_or_bytes`, merged as one pre-token, without special tokens."""
        pre_token = _utf8(text_or_bytes)
        if not pre_token:
            raise ValueError("expected a pre-token of at least one byte, got an empty one")
        return self._open_end.merge_whole(pre_token)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Return the result of `encode_ordinary`; raise UnicodeEncodeError for any surrogate."""
        refuse(text, NONE)
        return self._tokenizer.encode(text, "text", errors="strict")

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Return the ids of bytes that may be invalid UTF-8.

        The last pre-token before the first invalid byte, and all bytes after this pre-token, are
        merged as one pre-token. If this pre-token begins with a token of white space, the white
        space before it is merged with it, too.
        """
        if not isinstance(text, bytes):
            raise TypeError(f"expected bytes, got {type(text).__name__}")
        return self._open_end.encode_bytes(text)

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        ids = self._tokenizer.vocabulary.ids
        return ids if self._empty_id is None else {**ids, b"": self._empty_id}

    @once
    def _core_bpe(self) -> CoreBPE:
        return CoreBPE(self)

    @once
    def _special_token_values(self) -> set[int]:
        return set(self._special_tokens.values())

    @once
    def _open_end(self) -> OpenEnd:
        return OpenEnd(self._tokenizer, sorted(self._tokenizer.vocabulary.ids))

    def _checked(
        self, texts: Iterable[str], allowed_special: Allowed, disallowed_special: Disallowed
    ) -> frozenset[str]:
        """Return the allowed special tokens; raises ValueError if a text holds a disallowed one."""
        allowed, refused = self._specials.resolve(allowed_special, disallowed_special)
        for text in texts:
            refuse(text, refused)
        return allowed

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __getstate__(self) -> object:
        from bpe.compat.tiktoken import encodings

        # Pickle a known encoding by name: another process loads the same vocabulary.
        if encodings.loaded(self.name) is self:
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "tokenizer": self._tokenizer,
            "empty_id": self._empty_id,
        }

    def __setstate__(self, state: Any) -> None:
        from bpe.compat.tiktoken import encodings

        if isinstance(state, str):
            self.__dict__.update(encodings.get_encoding(state).__dict__)
        else:
            self._set(**state)


def _split_of(pattern: str) -> Preset:
    """Return the preset that splits like tiktoken with `pattern`."""
    if not isinstance(pattern, str):
        raise TypeError(f"pat_str is of type {type(pattern).__name__}; expected str")
    preset = find(pattern, "tiktoken")
    if preset is None:
        raise ValueError(
            f"unknown pattern pat_str={shortened(pattern)}; pass preset= too: the name of a preset "
            "from pretok.presets() that splits text like this pattern, a pretok.Preset, or an "
            "object with offsets(text)"
        )
    return preset


def _utf8(text_or_bytes: str | bytes) -> bytes:
    if isinstance(text_or_bytes, str):
        return text_or_bytes.encode()
    if isinstance(text_or_bytes, bytes):
        return text_or_bytes
    raise TypeError(f"expected str or bytes, got {type(text_or_bytes).__name__}")

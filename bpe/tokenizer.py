"""Tokenizer: text to ids and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.arguments import added_bytes, cache_limit, made_pre_tokenizer, some_texts
from bpe.encoding.backends import SupportsOffsets, make_encoder
from bpe.encoding.decode import Decoder, DecodeStream
from bpe.encoding.fast_calls import direct
from bpe.encoding.pipeline import Errors, Normalizer, Pipeline, flat
from bpe.encoding.policies import Special
from bpe.encoding.python_backend import Data, Ids, Offsets, utf8
from bpe.errors import UnknownTokenError
from bpe.formats.spec import TokenizerSpec
from bpe.merge import no_token, recover_merges
from bpe.once import forget, once
from bpe.types import Template, Token
from bpe.vocabulary import Merge, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import BackendName, choose_backend
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset


class Tokenizer:
    """Encodes text as ids and decodes ids, with one vocabulary and one pre-tokenizer.

    Immutable; safe to share between threads; picklable; survives fork and spawn. Get one with
    `bpe.load` or `bpe.train`. A text is a str, or bytes that hold UTF-8; a byte that is not UTF-8
    is kept. Encoding takes O(n log n) time at worst, and linear time on text with pre-tokens of
    limited length.

    `special` says, for each call, what a special token in the text becomes: with "raise" a
    SpecialTokenError, with "text" ordinary text, with "allow" its id; with a set of some, those
    become their ids and others are ordinary text. Added tokens that are not special always become
    their ids. `errors` says what becomes of a lone surrogate in a str: with "replace" U+FFFD (a
    pair is the character it stands for), with "strict" a UnicodeEncodeError, with
    "surrogateescape" the byte that Python's handler of that name has put there.
    `add_special_tokens` adds what the vocabulary's file says comes before and behind a text.
    `threads` is how many threads the native backend may take, for one long text as for many texts;
    by default one, or for more than a megabyte as many as there are processors. The result does not
    depend on it. Long work stops when it is interrupted.

    The native backend keeps caches between calls. `cache_mb` bounds the caches of all threads
    together, in MB of 2^20 bytes; 0 keeps no cache between calls. A call that runs may use another
    0.25 MB. `trim` frees the caches.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        pre_tokenizer: PreTokenizer | SupportsOffsets | Preset | str,
        *,
        added_tokens: Sequence[AddedToken] = (),
        normalizer: Normalizer | None = None,
        add_prefix_space: bool = False,
        template: Template | None = None,
        name: str | None = None,
        backend: BackendName | None = None,
        cache_mb: float | None = None,
    ) -> None:
        if normalizer not in (None, "NFC"):
            raise ValueError(f"normalizer {shortened(normalizer)}; expected None or 'NFC'")
        self._vocabulary = vocabulary
        self._asked = backend
        self._backend_name = choose_backend(backend)
        self._pre_tokenizer = made_pre_tokenizer(pre_tokenizer, self._backend_name)
        self._added_tokens = tuple(added_tokens)
        self._normalizer = normalizer
        self._add_prefix_space = add_prefix_space
        self._template = template or Template()
        self._name = name
        self._cache_limit = cache_limit(cache_mb)
        self._by_content = {token.content: token for token in self._added_tokens}
        self._added_bytes = added_bytes(self._added_tokens, vocabulary)
        encoder = make_encoder(
            vocabulary,
            self._added_bytes,
            self._pre_tokenizer,
            add_prefix_space,
            self._backend_name,
            self._cache_limit,
        )
        self._pipeline = Pipeline(encoder, self._added_tokens, normalizer, vocabulary.missing_bytes)
        self._encode, self._encode_array, self._count = self._pipeline.calls()
        special = {token.id for token in self._added_tokens if token.special}
        decoder = Decoder(encoder, partial(_all_tokens, vocabulary, self._added_bytes), special)
        self._decode, self._decode_bytes = decoder.calls()

    @once
    def _decoder(self) -> dict[int, bytes]:
        return _all_tokens(self._vocabulary, self._added_bytes)

    @direct("_encode")
    def encode(
        self,
        text: Data,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[int]:
        """Return the ids of `text`.

        Raises SpecialTokenError (see `special`), TypeError if `text` is neither str nor bytes,
        UnicodeEncodeError (see `errors`), ValueError for other values of these or of
        `threads`.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
        >>> tok.encode("abcde")
        [258, 101]
        """
        if threads is None:
            ids = self._encode(text, special, errors)
        else:
            ids = self._pipeline.encode(text, special, errors, threads)
        if add_special_tokens:
            return [*self._template.before, *ids, *self._template.after]
        return ids

    @direct("_encode_array")
    def encode_array(
        self,
        text: Data,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Ids:
        """Return the ids of `text`: uint32, shape (n,). Otherwise as `encode`."""
        if threads is None:
            ids = self._encode_array(text, special, errors)
        else:
            ids = self._pipeline.encode_array(text, special, errors, threads)
        if add_special_tokens:
            before, after = (np.array(ids, np.uint32) for ids in self._template)
            return np.concatenate([before, ids, after])
        return ids

    @direct("_count")
    def count(
        self,
        text: Data,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> int:
        """Return how many ids `text` has, without making them. Otherwise as `encode`."""
        if threads is None:
            found = self._count(text, special, errors)
        else:
            found = self._pipeline.count(text, special, errors, threads)
        return found + sum(map(len, self._template)) if add_special_tokens else found

    def encode_batch(
        self,
        texts: Iterable[Data],
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[list[int]]:
        """Return the ids of each of `texts`.

        Raises what `encode` does.
        """
        given = some_texts(texts)
        found = self._pipeline.encode_batch(given, special, errors, threads)
        if add_special_tokens:
            before, after = self._template
            return [[*before, *ids, *after] for ids in found]
        return found

    def encode_batch_array(
        self,
        texts: Iterable[Data],
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all of `texts`, one behind the other, and where those of each are.

        The ids are uint32, shape (m,); the offsets int64, shape (n + 1,): text i has
        ids[offsets[i]:offsets[i + 1]]. Otherwise as `encode_batch`.
        """
        given = some_texts(texts)
        if add_special_tokens:
            return flat(
                self.encode_batch(
                    given, special, errors=errors, add_special_tokens=True, threads=threads
                )
            )
        return self._pipeline.encode_batch_array(given, special, errors, threads)

    def tokens(
        self,
        text: Data,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        threads: int | None = None,
    ) -> list[Token]:
        """Return the tokens of `text`, each with its bytes and its span in `text`.

        Where text is normalized, a token's span is that of the text it was made from. Raises what
        `encode` does.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).tokens("abé")[:2]
        [Token(id=256, bytes=b'ab', start=0, end=2), Token(id=195, bytes=b'\\xc3', start=2, end=3)]
        """
        ids, starts, ends = self._pipeline.spans(text, special, errors, threads)
        return [
            Token(id, self._decoder[id], start, end)
            for id, start, end in zip(ids.tolist(), starts.tolist(), ends.tolist(), strict=True)
        ]

    def merge(self, pre_token: bytes) -> list[int]:
        """Return the ids of bytes that are one pre-token, whatever the pre-tokenizer would say.

        Raises UnknownTokenError for a byte that has no token.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).merge(b"ab ab")
        [256, 32, 256]
        """
        for byte in self._vocabulary.missing_bytes:
            if byte in pre_token:
                raise no_token(byte)
        return self._pipeline.encoder.merge(pre_token)

    def decode(
        self, ids: Iterable[int], errors: str = "replace", skip_special: bool = False
    ) -> str:
        """Return the text of `ids`, a list, an array or any iterable of ints.

        `errors` is Python's error handler for bytes that are not UTF-8. `skip_special` leaves
        special tokens out. Raises UnknownTokenError for an id that no token has.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).decode([256, 33])
        'ab!'
        """
        return self._decode(ids, errors, bool(skip_special))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of `ids`, a list, an array or any iterable of ints.

        Raises UnknownTokenError for an id that no token has.
        """
        return self._decode_bytes(ids, False)

    def decode_stream(self, errors: str = "replace", skip_special: bool = False) -> DecodeStream:
        """Return a new DecodeStream, which decodes ids that come one by one."""
        return DecodeStream(lambda ids: self._decode_bytes(ids, bool(skip_special)), errors)

    def token_bytes(self, id: int) -> bytes:
        """Return the bytes of the token with this id; raises UnknownTokenError."""
        return self.decode_bytes((id,))

    def token_id(self, token: bytes | str) -> int:
        """Return the id of a token: an added one by its text, any other by its bytes or text.

        Raises UnknownTokenError if there is none.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).token_id(b"ab")
        256
        """
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"expected str or bytes, got {type(token).__name__}")
        if isinstance(token, str) and token in self._by_content:
            return self._by_content[token].id
        id = self._vocabulary.ids.get(utf8(token))
        if id is None:
            raise UnknownTokenError(
                f"no token is {shortened(token)}; encode() may make several of it"
            )
        return id

    @once
    def vocab_size(self) -> int:
        """One more than the largest id, special tokens included."""
        return max(self._vocabulary.size, 1 + max(self._added_bytes, default=0))

    @once
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids; not to be changed."""
        return {token.content: token.id for token in self._added_tokens if token.special}

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The tokens that are found before a text is split, special ones and others."""
        return self._added_tokens

    @once
    def merges(self) -> tuple[tuple[bytes, bytes], ...]:
        """The pairs of tokens that merge, in order of rank; recovered where ranks are all there is.

        Takes seconds for a large vocabulary of ranks without the native backend.
        """
        tokens = self._vocabulary.token_bytes
        return tuple((tokens[left], tokens[right]) for left, right, _ in self.merge_ids)

    @once
    def merge_ids(self) -> tuple[Merge, ...]:
        """As `merges`: (left id, right id, id of the result)."""
        recover = getattr(self._pipeline.encoder, "merges", None)
        if self._vocabulary.merges is None and recover is not None:
            return tuple(map(tuple, recover().tolist()))
        return tuple(recover_merges(self._vocabulary))

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens and their merges."""
        return self._vocabulary

    @property
    def pre_tokenizer(self) -> PreTokenizer | SupportsOffsets:
        """What splits a text before it is merged."""
        return self._pre_tokenizer

    @property
    def preset(self) -> Preset | None:
        """The preset of the pre-tokenizer; None for one of your own kind."""
        return getattr(self._pre_tokenizer, "preset", None)

    @property
    def normalizer(self) -> Normalizer | None:
        """How text is normalized before it is encoded; None for not at all."""
        return self._normalizer

    @property
    def add_prefix_space(self) -> bool:
        """Whether text that does not begin with a space is encoded as if it did."""
        return self._add_prefix_space

    @property
    def template(self) -> Template:
        """The ids that `add_special_tokens` puts before and behind a text."""
        return self._template

    @property
    def name(self) -> str | None:
        """The name that the vocabulary was loaded by, if it has one."""
        return self._name

    @property
    def backend(self) -> BackendName:
        """What does the work: "native" or "python"."""
        return self._backend_name

    @property
    def cache_mb(self) -> float:
        """How many MB the caches of all threads may hold together; `save` does not keep it."""
        limit = self._cache_limit
        return limit / (1 << 20) if limit % (1 << 20) else limit >> 20

    @property
    def cache_bytes(self) -> int:
        """How many bytes the caches hold now."""
        return getattr(self._pipeline.encoder, "cache_bytes", 0)

    def trim(self) -> None:
        """Free all memory that is only kept to make later calls faster, but for that in use.

        Gives it back to the system where malloc can. Results do not change: later calls fill the
        caches again.
        """
        forget(self, "_decoder", "merges", "merge_ids")
        self._vocabulary.trim()
        self._pipeline.trim()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer to `path`, in the format of its suffix, whole or not at all.

        ".pretok" keeps everything but the name, in little space, for this library and its C API;
        ".json" is a tokenizer.json of Hugging Face and keeps everything too; ".tiktoken" has the
        tokens and their ranks only, ".model" (minbpe) has no normalizer. Raises VocabularyError if
        the format cannot hold this vocabulary, ValueError for another suffix.
        """
        from bpe.formats.registry import save

        save(self.to_spec(), path)

    def to_spec(self) -> TokenizerSpec:
        """Return the parts of the tokenizer that files hold: all but name, backend and caches."""
        split = self._pre_tokenizer
        preset, unicode, why_no_preset = None, None, ""
        if isinstance(split, PreTokenizer):
            preset, unicode = split.preset, split.unicode
        else:
            why_no_preset = f"the tokenizer splits with {type(split).__name__}"
        return TokenizerSpec(
            self._vocabulary,
            preset,
            why_no_preset,
            self._added_tokens,
            self._normalizer,
            self._add_prefix_space,
            self._template,
            unicode,
            lambda: self.merge_ids,
        )

    def __repr__(self) -> str:
        named = f"{self._name!r}, " if self._name else ""
        preset = self.preset
        split = repr(preset.name) if preset is not None else type(self._pre_tokenizer).__name__
        return f"<Tokenizer {named}{self.vocab_size} ids, split {split}, {self._backend_name}>"

    def _key(self) -> tuple[object, ...]:
        return (
            self._vocabulary,
            self._pre_tokenizer,
            frozenset(self._added_tokens),
            self._normalizer,
            self._add_prefix_space,
            self._template,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self._vocabulary, self._normalizer, self._template))

    def __reduce__(self) -> tuple[object, ...]:
        arguments = (
            self._vocabulary,
            self._pre_tokenizer,
            self._added_tokens,
            self._normalizer,
            self._add_prefix_space,
            self._template,
            self._name,
            self._asked,
            self._cache_limit / (1 << 20),
        )
        return _rebuild, arguments


def _all_tokens(vocabulary: Vocabulary, added: dict[int, bytes]) -> dict[int, bytes]:
    return {**vocabulary.token_bytes, **added}


def _rebuild(
    vocabulary: Vocabulary,
    pre_tokenizer: PreTokenizer | SupportsOffsets,
    added_tokens: tuple[AddedToken, ...],
    normalizer: Normalizer | None,
    add_prefix_space: bool,
    template: Template,
    name: str | None,
    backend: BackendName | None,
    cache_mb: float | None = None,
) -> Tokenizer:
    return Tokenizer(
        vocabulary,
        pre_tokenizer,
        added_tokens=added_tokens,
        normalizer=normalizer,
        add_prefix_space=add_prefix_space,
        template=template,
        name=name,
        backend=backend,
        cache_mb=cache_mb,
    )

"""Define Tokenizer, which encodes text as ids and decodes ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.characters.merger import make_merger
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.decoders.decode import IdStream, Unknown
from bpe.decoders.piece_decoder import Decoding, make_decoder
from bpe.decoders.stop_strings import as_stop_strings
from bpe.decoders.text_stream import DecodeStream, PythonTextStream, TextStream
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.arguments import (
    as_bytes,
    backend_for,
    cache_limit,
    check_types,
    resolve_normalizer,
    resolve_pre_tokenizer,
    resolve_template,
)
from bpe.encoding.backends import make_backend, make_spec, native_backend, python_backend
from bpe.encoding.dropout import PythonSampler, Sampler, check_dropout
from bpe.encoding.fast_calls import fast_call
from bpe.encoding.foreign_arguments import DECODE, ENCODE, TOKENIZER, explained
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.policies import normalized
from bpe.encoding.python_backend import Backend
from bpe.encoding.token_list import AddedTokenList
from bpe.formats.file_spec import FileSpec
from bpe.formats.pretok_steps import native_steps
from bpe.formats.spec import TokenizerSpec
from bpe.merge import missing_byte_error
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.once import once
from bpe.token_facts import TokenFacts
from bpe.tokenizer_canonical import TokenizerCanonical
from bpe.tokenizer_editing import TokenizerEditing
from bpe.tokenizer_sessions import TokenizerSessions
from bpe.types import (
    Errors,
    Ids,
    Normalizer,
    Padding,
    PresetLike,
    Special,
    Template,
    Text,
    Truncation,
)
from bpe.vocabulary import Vocabulary
from pretok.machine.backend import BackendName, choose_backend
from pretok.pre_tokenizer import PreTokenizer

_SPEC_ARGUMENTS = ("vocabulary", "added_tokens", "normalizer", "add_prefix_space", "template",
                   "decoder", "truncation", "padding", "trim_offsets", "facts")  # fmt: skip
"""The arguments of Tokenizer that are fields of a TokenizerSpec."""


class Tokenizer(TokenizerSessions, TokenizerCanonical, TokenizerEditing):
    """Encodes text as ids and decodes ids, with one vocabulary and one pre-tokenizer.

    Immutable, so a copy is the tokenizer itself; safe to share between threads; picklable; survives
    fork and spawn. Get one with `bpe.load` or `bpe.train`. A text is a str, or bytes that hold
    UTF-8: bytes, bytearray or memoryview. Bytes that are not valid UTF-8 are kept. Encoding takes
    O(n log n) time at worst, and linear time if the length of pre-tokens is limited.

    `special` says what to do with a special token in the text. "raise" raises SpecialTokenError,
    "text" encodes the token as ordinary text, and "allow" encodes it as its id. If `special` is a
    set of special tokens, the tokens in the set are encoded as their ids, all other special tokens
    as ordinary text. Added tokens that are not special are then encoded as their ids. "plain"
    encodes all added tokens as ordinary text. "content" does so too, but for tokens of white space
    that are not special: for text in which users may write anything.
    In text, a user-defined symbol of one character is this character, so it keeps its id. Merges
    of a SentencePiece model make no longer symbol.

    `errors` is a codec error handler, as in `str.encode` and `bytes.decode`. A call that encodes
    applies it to lone surrogates in a str: "replace" makes U+FFFD (surrogate pairs are joined),
    "strict" raises UnicodeEncodeError, "surrogateescape" restores the byte that Python's handler of
    this name escaped. A call that decodes applies it to invalid UTF-8, and accepts any handler that
    Python knows.

    `add_special_tokens` adds the ids that the vocabulary's file puts before and after a text.
    `threads` is the maximal number of threads of the native backend, for one long text or many
    texts. The default is one thread, or the number of processors for more than a megabyte of text.
    The result does not depend on `threads`. An interrupt stops a long call.

    If `continuation`, the text continues another text. Models that put a space before a text, such
    as Llama 2, then put none before this text, so its ids can follow those of the other text.

    `backend` is "native" (C++) or "python"; None chooses $PRETOK_BACKEND, else "native" if it was
    built. The native backend keeps caches between calls. `cache_mb` bounds the caches of all
    threads together, in MB of 2^20 bytes; 0 keeps no cache between calls. A running call may use
    0.25 MB more. `trim` frees the caches. The properties explain the other arguments.
    """

    # C++ reads slots faster than `__dict__`. These are the attributes that `fast_call` names.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_count",
        "_decode",
        "_decode_bytes",
        "_encode",
        "_encode_array",
    )

    @explained(TOKENIZER)
    def __init__(
        self,
        vocabulary: Vocabulary,
        preset: PresetLike,
        *,
        added_tokens: Sequence[AddedToken] = (),
        normalizer: Normalizer | None = None,
        add_prefix_space: bool = False,
        template: Template | None = None,
        decoder: Decoding | None = None,
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        trim_offsets: Sequence[bool] = (),
        facts: TokenFacts | None = None,
        name: str | None = None,
        backend: BackendName | None = None,
        cache_mb: float | None = None,
    ) -> None:
        added = AddedTokenList.of(added_tokens)
        check_types(vocabulary, added)
        self._requested_backend = backend
        self._backend_name = backend_for(vocabulary, preset, backend)
        self._split = split = resolve_pre_tokenizer(
            preset, self._backend_name, isinstance(vocabulary, TextVocabulary)
        )
        self._spec = TokenizerSpec(
            vocabulary,
            split.preset if isinstance(split, PreTokenizer) else None,
            added_tokens=added,
            normalizer=resolve_normalizer(normalizer),
            add_prefix_space=add_prefix_space,
            template=resolve_template(template),
            unicode=split.unicode if isinstance(split, PreTokenizer) else None,
            decoder=decoder,
            truncation=truncation,
            padding=padding,
            trim_offsets=tuple(map(bool, trim_offsets)),
            facts=TokenFacts() if facts is None else facts,
        )
        self._name = name
        self._cache_limit = cache_limit(cache_mb)
        self._native_spec = None
        new_bytes = self._added_bytes  # checks the added tokens
        if isinstance(normalizer, NormalizerChain):
            normalizer.check_contents(token.content for token in added.normalized)
            for token in added.normalized:
                normalized(token, normalizer.normalize)  # checks it
        if self._backend_name == "native":
            steps, decodes = native_steps(self._spec)
            invisible = getattr(decoder, "invisible", ())
            self._native_spec = make_spec(
                vocabulary, added, split, add_prefix_space, steps, decodes, invisible
            )
        made = make_backend(
            vocabulary, new_bytes, split, add_prefix_space, self._native_spec, self._cache_limit
        )
        self._start(made, vocabulary.missing_bytes)
        self._start_decoder()

    @classmethod
    def _of_spec(
        cls, spec: TokenizerSpec | FileSpec, preset: PresetLike, **changes: Any
    ) -> Tokenizer:
        """Return a tokenizer of the parts of `spec`; `changes` replace arguments."""
        arguments = {name: getattr(spec, name) for name in _SPEC_ARGUMENTS}
        return cls(preset=preset, **(arguments | changes))

    @classmethod
    def _of_file(
        cls, spec: FileSpec, name: str | None, backend: BackendName | None, cache_mb: float | None
    ) -> Tokenizer | None:
        """Return the tokenizer of a file; None if C++ cannot make it."""
        tokenizer = cls.__new__(cls)
        tokenizer._requested_backend = backend
        tokenizer._backend_name = choose_backend(backend)
        tokenizer._cache_limit = cache_limit(cache_mb)
        if tokenizer._backend_name != "native":
            return None
        try:
            native = native_backend(spec.native, None, tokenizer._cache_limit, is_deferred=True)
        except (ValueError, NotImplementedError):
            return None
        tokenizer._spec, tokenizer._native_spec, tokenizer._split = spec, spec.native, None
        tokenizer._name = name
        tokenizer._start(native, tuple(native.missing_bytes))
        return tokenizer

    def _start(self, backend: Backend, missing_bytes: tuple[int, ...]) -> None:
        """Set the attributes for encoding, which the methods that `fast_call` decorates call."""
        self._missing_bytes = missing_bytes
        self._pipeline = self._make_pipeline(backend)
        self._segments_pipeline = None
        self._encode, self._encode_array, self._count = self._pipeline.calls()

    def _start_decoder(self) -> None:
        """Set the attributes for decoding."""
        self._ids_to_text = make_decoder(
            self.decoder,
            self._pipeline.backend,
            self.vocabulary,
            self._added_bytes,
            self._added,
            self.normalizer,
        )
        self._decode, self._decode_bytes = self._ids_to_text.calls()

    if not TYPE_CHECKING:  # mypy would accept any attribute

        def __getattr__(self, name: str) -> Any:
            """Return an attribute that a tokenizer of a file lacks until it decodes."""
            if name not in ("_ids_to_text", "_decode", "_decode_bytes"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._start_decoder()
            return getattr(self, name)

    @fast_call(ENCODE, "_encode", 2, special="raise", errors="replace")
    def encode(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
        continuation: bool = False,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[int]:
        """Return the ids of `text`.

        With `dropout`, each merge is left out at random with this probability (BPE dropout, as in
        Hugging Face's tokenizers). 1 leaves out all merges. The ids depend on `seed`, an int; None
        draws a new one. It takes several times as long, since no cache helps.

        Raises SpecialTokenError (see `special`), UnicodeEncodeError (see `errors`), TypeError for
        a `text` of another type, and ValueError for an unknown value of another argument.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
        >>> tok.encode("abcde")
        [258, 101]
        >>> tok.encode("abcde", dropout=0.5, seed=1), tok.encode("abcde", dropout=1)
        ([97, 98, 99, 100, 101], [97, 98, 99, 100, 101])
        """
        ids = (
            self._encode(text, special, errors, threads, continuation)
            if dropout is None and seed is None
            else self._sample(text, special, errors, continuation, dropout, seed).tolist()
        )
        if add_special_tokens:
            return [*self.template.before, *ids, *self.template.after]
        return ids

    @fast_call(ENCODE, "_encode_array", 2, special="raise", errors="replace")
    def encode_array(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
        continuation: bool = False,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> Ids:
        """Return the ids of `text`: uint32, shape (n,). Otherwise like `encode`."""
        if dropout is None and seed is None:
            ids = self._encode_array(text, special, errors, threads, continuation)
        else:
            ids = self._sample(text, special, errors, continuation, dropout, seed)
        if add_special_tokens:
            before, after = (np.array(ids, np.uint32) for ids in self.template)
            return np.concatenate([before, ids, after])
        return ids

    @fast_call(ENCODE, "_count", 2, special="raise", errors="replace")
    def count(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
        continuation: bool = False,
    ) -> int:
        """Return the number of ids of `text`, without storing them. Otherwise like `encode`."""
        size = self._count(text, special, errors, threads, continuation)
        return size + sum(map(len, self.template)) if add_special_tokens else size

    def merge(self, pre_token: bytes | bytearray | memoryview) -> list[int]:
        """Return the ids of the bytes `pre_token`, merged as one pre-token without a split.

        Raises UnknownTokenError for a byte that has no token.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).merge(b"ab ab")
        [256, 32, 256]
        """
        data = as_bytes(pre_token)
        for byte in self._missing_bytes:
            if byte in data:
                raise missing_byte_error(byte)
        return self._merge(data)

    def _make_pipeline(self, backend: Backend, takes_normalized_text: bool = False) -> Pipeline:
        """Return a Pipeline, with a normalizer unless spaces stand for "▁" in the backend."""
        kind = backend.normalizer
        is_done = backend.takes_spaces or isinstance(self._spec, FileSpec)
        if kind == "none" and is_done and not takes_normalized_text:
            normalizer = None
        else:
            normalizer = NFC if kind == "nfc" else self.normalizer
        return Pipeline(
            backend,
            self._added,
            normalizer,
            self._missing_bytes,
            # C++ normalizes even if it cannot merge with the vocabulary.
            choose_backend(self._requested_backend) == "native",
            normalizes=kind != "none",
        )

    def _pipeline_of_segments(self) -> Pipeline:
        """Return a Pipeline whose backend takes normalized text.

        bpe.compat.huggingface passes text to this backend that it has normalized itself, because it
        needs the span of each normalized character in the original text.
        """
        if not self._pipeline.backend.takes_spaces:
            return self._pipeline
        if self._segments_pipeline is None:
            assert self._native_spec is not None, "only C++ takes spaces"
            backend = native_backend(
                self._native_spec, None, self._cache_limit, takes_normalized_text=True
            )
            self._segments_pipeline = self._make_pipeline(backend, takes_normalized_text=True)
        return self._segments_pipeline

    def _sample(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        continuation: bool,
        dropout: float | None,
        seed: int | None,
    ) -> Ids:
        """Return ids with dropout."""
        probability, seed = check_dropout(dropout, seed)
        if not probability:
            return self._encode_array(text, special, errors, 1, continuation)
        return self._sampler.encode_some(text, special, errors, continuation, probability, seed)

    @once
    def _sampler(self) -> Sampler:
        """Python samples if it splits or normalizes texts."""
        native = self._native_spec
        if native is not None and self._pipeline.is_all_native:
            split = self._split if isinstance(self._split, PreTokenizer) else None
            backend = native_backend(native, split, self._cache_limit, for_dropout=True)
            return self._make_pipeline(backend)

        def make(merge: Callable[[bytes], list[int]]) -> Pipeline:
            split, rows = self.pre_tokenizer, lambda: np.zeros((0, 3), np.uint32)
            return Pipeline(
                python_backend(split, self.add_prefix_space, merge, rows, {}),
                self._added,
                self.normalizer,
                self._missing_bytes,
                choose_backend(self._requested_backend) == "native",
            )

        return PythonSampler(self.vocabulary, lambda: self.merge_ids, make)

    @once
    def _merge(self) -> Callable[[bytes], list[int]]:
        if isinstance(self.vocabulary, AnyCharacterVocabulary):
            return make_merger(self.vocabulary).merge
        return self._pipeline.backend.merge

    @fast_call(DECODE, "_decode", 1, errors="replace", skip_special=False)
    def decode(
        self,
        ids: Iterable[int],
        *,
        errors: str = "replace",
        skip_special: bool = False,
        unknown: Unknown = "raise",
    ) -> str:
        """Return the text of `ids`, a list, an array or any iterable of ints.

        `errors` is Python's error handler for invalid UTF-8. `skip_special` omits special tokens.
        Raises UnknownTokenError for an id that no token has; `unknown="skip"` omits such ids.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).decode([256, 33])
        'ab!'
        """
        return self._decode(self._known(ids, unknown), errors, bool(skip_special))

    @fast_call(DECODE, "_decode_bytes", 1, skip_special=False)
    def decode_bytes(
        self, ids: Iterable[int], *, skip_special: bool = False, unknown: Unknown = "raise"
    ) -> bytes:
        """Return the bytes of `ids`. Otherwise like `decode`."""
        return self._decode_bytes(self._known(ids, unknown), bool(skip_special))

    @fast_call(DECODE)
    def decode_stream(
        self,
        *,
        errors: str = "replace",
        skip_special: bool = False,
        unknown: Unknown = "raise",
        continuation: bool = False,
        clean_up: bool = False,
        stop: str | Iterable[str] = (),
    ) -> DecodeStream:
        """Return a new DecodeStream, which decodes ids as they come. Otherwise like `decode`.

        `continuation` says that the ids continue an earlier text, such as a prompt: the first space
        stays. `clean_up` removes spaces before punctuation, as transformers does if
        clean_up_tokenization_spaces is true. Any string of `stop` ends the text before the string,
        which may span tokens; the stream holds back text that may begin one.
        """
        self._known((), unknown)  # raises the error for another value
        decoder, decode_bytes = self._ids_to_text, self._decode_bytes
        options = bool(skip_special), bool(continuation)
        strings = as_stop_strings(stop)

        def new_stream() -> IdStream:
            return decoder.stream(decode_bytes, errors, *options)

        stream: TextStream | None = None
        if errors == "replace":
            stream = self._pipeline.backend.text_stream(*options, bool(clean_up), strings)
        if stream is None:
            stream = PythonTextStream(new_stream, bool(clean_up), strings)
        known = None if unknown == "raise" else self._known_ids
        return DecodeStream(stream, new_stream, strings, known)

    def token_bytes(self, id: int) -> bytes:
        """Return the bytes of the token with this id; raises UnknownTokenError if there is none."""
        if self.decoder is not None and id in self._token_bytes_by_id:
            return self._token_bytes_by_id[id]
        return self.decode_bytes((id,))

    def _with(self, **changes: Any) -> Tokenizer:
        """Return a tokenizer without a name, with `changes` in place of arguments of this one."""
        return Tokenizer(**(self._arguments() | {"name": None} | changes))

    def __reduce__(self) -> tuple[object, ...]:
        arguments = self._arguments()
        first = arguments.pop("vocabulary"), arguments.pop("preset")
        return partial(Tokenizer, **arguments), first

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of __init__ that make an equal tokenizer."""
        return {name: getattr(self._spec, name) for name in _SPEC_ARGUMENTS} | {
            "preset": self.pre_tokenizer,
            "added_tokens": self.added_tokens,
            "name": self._name,
            "backend": self._requested_backend,
            "cache_mb": self._cache_limit / (1 << 20),
        }

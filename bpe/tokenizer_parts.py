"""Define TokenizerParts, the base class of Tokenizer: all but encoding and decoding."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from bpe.decoders.piece_decoder import Decoding, all_tokens
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.arguments import new_token_bytes
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.token_list import AddedTokenList
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import UnknownTokenError
from bpe.formats.file_spec import FileSpec
from bpe.formats.spec import TokenizerSpec
from bpe.once import forget, once
from bpe.types import NormalizesText, Padding, SupportsOffsets, Template, Text, Truncation
from bpe.vocabulary import Merge, Rows, Vocabulary
from pretok.errors import shortened
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get

if TYPE_CHECKING:
    from pretok import _core

Self = TypeVar("Self", bound="TokenizerParts")


class TokenizerParts:
    """The parts of a Tokenizer as properties; its tokens, merges and caches; equality and saving.

    Tokenizer.__init__ sets the attributes.
    """

    __slots__ = ()

    _spec: TokenizerSpec | FileSpec
    _native_spec: _core.Spec | None
    """The same parts for C++; None if the backend is "python"."""
    _split: PreTokenizer | SupportsOffsets | None
    """The pre-tokenizer, or None for that of `_spec`."""
    _name: str | None
    _requested_backend: BackendName | None
    _backend_name: BackendName
    _cache_limit: int
    _pipeline: Pipeline
    _segments_pipeline: Pipeline | None

    @property
    def _added(self) -> AddedTokenList:
        return AddedTokenList.of(self._spec.added_tokens)

    @once
    def _added_bytes(self) -> dict[int, bytes]:
        """The bytes of the added tokens whose ids the vocabulary lacks."""
        return new_token_bytes(self._added, self.vocabulary)

    @once
    def vocab_size(self) -> int:
        """One more than the largest id, special tokens included."""
        return max(self.vocabulary.size, 1 + max(self._added_bytes, default=0))

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, in a new dict."""
        return {token.content: token.id for token in self._added.tokens if token.special}

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The tokens that are matched before a text is split, special or not."""
        return self._added.tokens

    @once
    def merges(self) -> tuple[tuple[bytes, bytes], ...]:
        """The pairs of tokens that merge, in order of rank; recovered from ranks if necessary.

        In the Python backend the recovery takes seconds for a large vocabulary.
        """
        tokens = self.vocabulary.token_bytes
        return tuple((tokens[left], tokens[right]) for left, right, _ in self.merge_ids)

    @once
    def merge_ids(self) -> tuple[Merge, ...]:
        """The ids of `merges`: (left id, right id, id of the result)."""
        merges = self.vocabulary.merges
        if merges is None:
            merges = tuple(map(tuple, self._pipeline.backend.merges().tolist()))
        return merges

    def _merge_rows(self) -> Rows:
        """Return `merge_ids` as an array."""
        vocabulary = self.vocabulary
        rows = None if vocabulary.from_ranks else vocabulary.merge_rows
        return self._pipeline.backend.merges() if rows is None else rows

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens and their merges."""
        return self._spec.vocabulary

    @property
    def pre_tokenizer(self) -> PreTokenizer | SupportsOffsets:
        """The pre-tokenizer, which splits a text into pre-tokens."""
        return self._pre_tokenizer if self._split is None else self._split

    @once
    def _pre_tokenizer(self) -> PreTokenizer:
        spec = self._spec
        assert spec.preset is not None, "C++ has made the tokenizer, so it knows the split"
        return get(spec.preset, spec.unicode, self._backend_name)

    @property
    def preset(self) -> Preset | None:
        """The preset of the pre-tokenizer; None for an object with `offsets`."""
        return self._spec.preset

    @property
    def normalizer(self) -> NormalizesText | None:
        """The normalizer that text passes through, or None.

        "NFC" as an argument gives the same object as a tokenizer.json with NFC alone.
        """
        return self._spec.normalizer

    @property
    def decoder(self) -> Decoding | None:
        """The rules by which ids become text; None joins the bytes of their tokens."""
        return self._spec.decoder

    @property
    def add_prefix_space(self) -> bool:
        """True if a text without a leading space is encoded as if it had one."""
        return self._spec.add_prefix_space

    @once
    def template(self) -> Template:
        """The ids that `add_special_tokens` puts before and after a text."""
        return self._spec.template

    @property
    def truncation(self) -> Truncation | None:
        """The truncation of a tokenizer.json. `save` writes it back, but no call applies it."""
        return self._spec.truncation

    @property
    def padding(self) -> Padding | None:
        """The padding of a tokenizer.json. `save` writes it back; `encode_padded` uses its id."""
        return self._spec.padding

    @property
    def trim_offsets(self) -> tuple[bool, ...]:
        """Says whether spans exclude white space: an item for each post-processor that does so.

        The item is True if a single space at the start of a text stays, which the tokenizer may
        have put there. Usually there is one such post-processor, or none.
        """
        return self._spec.trim_offsets

    @property
    def name(self) -> str | None:
        """The name of the published vocabulary that `bpe.load` has loaded, or None."""
        return self._name

    @property
    def backend(self) -> BackendName:
        """The backend in use: "native" or "python"."""
        return self._backend_name

    @property
    def cache_mb(self) -> float:
        """The limit of the caches of all threads together, in MB; files do not store it."""
        limit = self._cache_limit
        return limit / (1 << 20) if limit % (1 << 20) else limit >> 20

    def token_id(self, token: Text) -> int:
        """Return the id of `token`.

        `token` is the text of an added token, or the bytes or the text of any other token. Raises
        UnknownTokenError if there is no such token.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).token_id(b"ab")
        256
        """
        if isinstance(token, (bytearray, memoryview)):
            token = bytes(token)
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"expected str or bytes, got {type(token).__name__}")
        if isinstance(token, str) and token in self._added.by_content:
            return self._added.by_content[token].id
        id = self.vocabulary.ids.get(encode_utf8(token))
        if id is None:
            raise UnknownTokenError(
                f"{shortened(token)} is not a token; encode() may split it into several"
            )
        return id

    @once
    def _token_bytes_by_id(self) -> dict[int, bytes]:
        return all_tokens(self.vocabulary, self._added_bytes)

    def save(self, path: str | os.PathLike[str], *, lossy: bool = False) -> None:
        """Write the tokenizer to `path` atomically, in the format of its suffix.

        No file has the name. ".json" is a tokenizer.json of Hugging Face, which holds all other
        parts. ".pretok" is compact, for this library and its C API, and has no `truncation` and
        `padding`. ".tiktoken" has only the tokens and their ranks; `load` needs the preset.
        ".model" is a file of SentencePiece if tokens are text. Otherwise it is a file of minbpe,
        which has special tokens, but not their flags, and no normalizer, template or decoder.

        `lossy` omits the parts of the tokenizer that the format cannot hold, such as the added
        tokens in a .tiktoken file. Otherwise, if there are such parts, raises VocabularyError,
        which names them. Raises VocabularyError or UnsupportedError if the format cannot hold the
        vocabulary or the split, and ValueError for any other suffix.
        """
        from bpe.formats.registry import save

        save(self.to_spec(), path, lossy)

    def to_spec(self) -> TokenizerSpec:
        """Return the parts of the tokenizer that files hold: not the name, backend and caches."""
        spec = self._spec
        why_no_preset = ""
        if spec.preset is None:
            why_no_preset = f"the tokenizer splits with {type(self.pre_tokenizer).__name__}"
        return TokenizerSpec(
            spec.vocabulary,
            spec.preset,
            why_no_preset,
            self.added_tokens,
            spec.normalizer,
            spec.add_prefix_space,
            self.template,
            spec.unicode or (None if spec.preset is None else spec.preset.unicode),
            spec.decoder,
            lambda: self.merge_ids,
            self._merge_rows,
            spec.truncation,
            spec.padding,
            spec.trim_offsets,
            spec.facts,
        )

    @property
    def cache_bytes(self) -> int:
        """The number of bytes that the caches hold now."""
        return sum(pipeline.backend.cache_bytes for pipeline in self._pipelines)

    def trim(self) -> None:
        """Free the caches and other memory that only makes later calls faster.

        Running calls keep the memory that they use. The freed memory goes back to the system if
        malloc can return it. Results do not change; later calls fill the caches again.
        """
        forget(self, "_token_bytes_by_id", "_token_spaces", "_merge", "merges", "merge_ids")
        self.vocabulary.trim()
        for pipeline in self._pipelines:
            pipeline.trim()

    @property
    def _pipelines(self) -> list[Pipeline]:
        pipelines = [self._pipeline, self._segments_pipeline]
        return [pipeline for pipeline in pipelines if pipeline is not None]

    def __copy__(self: Self) -> Self:
        """Return the tokenizer itself, because nothing can change it."""
        return self

    def __deepcopy__(self: Self, memo: object) -> Self:
        """Return the tokenizer itself, because nothing can change it."""
        return self

    def __repr__(self) -> str:
        name = f"{self._name!r}, " if self._name else ""
        preset = self.preset
        split = repr(preset.name) if preset is not None else type(self.pre_tokenizer).__name__
        return f"<Tokenizer {name}{self.vocab_size} ids, split {split}, {self._backend_name}>"

    def _key(self) -> tuple[object, ...]:
        """Return the parts that are equal in equal tokenizers."""
        spec = self._spec
        return (
            spec.vocabulary,
            self.pre_tokenizer,
            frozenset(self.added_tokens),
            spec.normalizer,
            spec.add_prefix_space,
            self.template,
            spec.decoder,
            spec.truncation,
            spec.padding,
            spec.trim_offsets,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenizerParts):
            return NotImplemented
        return self is other or self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.vocabulary, self.template))

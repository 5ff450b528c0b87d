"""Define TokenizerBatches, a base class of Tokenizer: the methods for many texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bpe.decoders.decode import Decode, Unknown, decode_batch, keep_known
from bpe.encoding.arguments import check_batch, check_errors
from bpe.encoding.columns import encode_column
from bpe.encoding.dropout import Sampler, check_dropout
from bpe.encoding.fast_calls import fast_call
from bpe.encoding.foreign_arguments import DECODE, ENCODE, explained
from bpe.encoding.packed import PackedTexts
from bpe.encoding.padded import Layout, PaddedIds, Side, add_template, check_layout, pad, row_length
from bpe.once import lazy, once
from bpe.tokenizer_spans import TokenizerSpans
from bpe.types import Errors, Ids, Offsets, Special, Template, Text

if TYPE_CHECKING:
    from bpe.chat.encoding import Chat


class TokenizerBatches(TokenizerSpans):
    """Encodes and decodes batches; Tokenizer explains the arguments."""

    __slots__ = ()

    _decode: Decode
    _sampler: Sampler

    @fast_call(ENCODE)
    def encode_batch(
        self,
        texts: Iterable[Text],
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[list[int]]:
        """Return the ids of each of `texts`. Raises the errors of `encode`.

        With `dropout`, the ids of a text depend on `seed` and on the index of the text.
        """
        if dropout is None and seed is None:
            rows = self._pipeline.encode_batch(check_batch(texts), special, errors, threads)
        else:
            ids, offsets = self._sample_batch(texts, special, errors, threads, dropout, seed)
            rows = [ids[start:end].tolist() for start, end in pairwise(offsets.tolist())]
        if add_special_tokens:
            before, after = self.template
            return [[*before, *ids, *after] for ids in rows]
        return rows

    @fast_call(ENCODE)
    def encode_batch_array(
        self,
        texts: Iterable[Text],
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all `texts` in one array, and the offsets of each text in it.

        The ids are uint32, shape (m,); the offsets int64, shape (n + 1,): text i has
        ids[offsets[i]:offsets[i + 1]]. Otherwise like `encode_batch`.
        """
        if dropout is None and seed is None:
            ids, offsets = self._pipeline.encode_batch_array(
                check_batch(texts), special, errors, threads
            )
        else:
            ids, offsets = self._sample_batch(texts, special, errors, threads, dropout, seed)
        return add_template(ids, offsets, self.template) if add_special_tokens else (ids, offsets)

    def _sample_batch(
        self,
        texts: Iterable[Text],
        special: Special,
        errors: Errors,
        threads: int | None,
        dropout: float | None,
        seed: int | None,
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts with dropout, and offsets."""
        probability, seed = check_dropout(dropout, seed)
        batch = check_batch(texts)
        if not probability:
            return self._pipeline.encode_batch_array(batch, special, errors, threads)
        return self._sampler.encode_batch_some(batch, special, errors, threads, probability, seed)

    @fast_call(ENCODE)
    def encode_packed(
        self,
        data: bytes | bytearray | memoryview,
        offsets: Offsets,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> tuple[Ids, Offsets]:
        """Do the same as `encode_batch_array` for texts in one buffer.

        Text i is data[offsets[i]:offsets[i + 1]], in UTF-8. So n texts have n + 1 offsets, which
        ascend. There is no Python object for each text; `encode_column` takes columns of tables. As
        in all calls, bytes that are not UTF-8 are kept, so `errors` has no effect here. Raises
        ValueError for other offsets, and the errors of `encode`.
        """
        check_errors(errors)
        texts = PackedTexts(data, offsets)
        ids, bounds = self._pipeline.encode_packed(texts, special, threads)
        return add_template(ids, bounds, self.template) if add_special_tokens else (ids, bounds)

    @explained(ENCODE)
    def encode_column(
        self,
        column: Any,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Return the ids of each text of a column of a table, as lists of uint32.

        `column` is an Array or a ChunkedArray of pyarrow, a Series of Polars or pandas, a column of
        a Dataset of Hugging Face, or another object with the Arrow C stream interface. The result
        is a column of the same library, else an array of pyarrow. A Series of pandas keeps its
        index, and its lists are of Arrow. The lists for large and view types have 64-bit offsets.
        The texts are read in place, except in chunks with nulls, for view types, and for objects in
        pandas, which pyarrow copies first. A null stays null. `errors` has no effect, as in
        `encode_packed`.

        Raises TypeError unless the column holds strings or bytes, or only nulls,
        ModuleNotFoundError without pyarrow, and the errors of `encode`. `text_index` of a
        SpecialTokenError is the row.
        """

        def encode(texts: PackedTexts) -> tuple[Ids, Offsets]:
            return self.encode_packed(
                texts.data, texts.offsets, special, errors=errors,
                add_special_tokens=add_special_tokens, threads=threads,
            )  # fmt: skip

        return encode_column(encode, column)

    @fast_call(ENCODE)
    def encode_padded(
        self,
        texts: Iterable[Text],
        special: Special = "raise",
        *,
        pad_id: int | None = None,
        side: Side = "right",
        max_length: int | None = None,
        multiple_of: int = 1,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> PaddedIds:
        """Return the ids of all `texts` in one array of int64, shape (n, length), and its mask.

        `pad_id` fills each row on the `side`, up to the length of the longest row, rounded up to a
        multiple of `multiple_of`. By default, it is the id of the `padding` of the vocabulary's
        file. `max_length` keeps the first ids of a longer text; with `add_special_tokens`, the ids
        before and after the text count too. The mask is 1 for ids, and 0 for padding. Raises
        ValueError if no padding is known, and the errors of `encode_batch`.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).encode_padded(["ab", "abc!"], pad_id=0)
        PaddedIds(ids=array([[256,   0,   0],
               [256,  99,  33]]), mask=array([[1, 0, 0],
               [1, 1, 1]]))
        """
        if pad_id is None:
            if self.padding is None:
                raise ValueError("the vocabulary has no padding; pass the id of a token as pad_id=")
            pad_id = self.padding.pad_id
        template = self.template if add_special_tokens else Template()
        layout = check_layout(Layout(pad_id, side, max_length, multiple_of), template)
        ids, offsets = self.encode_batch_array(texts, special, errors=errors, threads=threads)
        length = row_length(offsets, template, layout)
        return pad(ids, offsets, template, layout, length, self._pipeline.is_native)

    def encode_chat(self, messages: Sequence[Mapping[str, Any]], **kwargs: Any) -> Chat:
        """Return the ids of a chat, rendered with a chat template; see `bpe.chat.encode`.

        No text of a message, a tool or a document becomes an added token. Needs jinja2.
        """
        return self._encode_chat(self, messages, **kwargs)

    @lazy
    def _encode_chat(self) -> Callable[..., Chat]:
        """The function bpe.chat.encode. Importing it in each call would take half a microsecond."""
        from bpe.chat.encoding import encode

        return encode

    @fast_call(DECODE)
    def decode_batch(
        self,
        ids_batch: Iterable[Iterable[int]],
        *,
        errors: str = "replace",
        skip_special: bool = False,
        unknown: Unknown = "raise",
    ) -> list[str]:
        """Return the text of each of `ids_batch`. Otherwise like `decode`.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).decode_batch([[256, 33], []])
        ['ab!', '']
        """
        if unknown != "raise":
            ids_batch = [self._known(ids, unknown) for ids in ids_batch]
        return decode_batch(self._decode, ids_batch, errors, bool(skip_special))

    def _known(self, ids: Iterable[int], unknown: Unknown) -> Iterable[int]:
        """Return `ids`; if `unknown` is "skip", only those that a token has."""
        if unknown == "raise":
            return ids
        return keep_known(ids, self._known_ids, unknown)

    @once
    def _known_ids(self) -> frozenset[int]:
        """The ids of all tokens, with added tokens."""
        return frozenset(self.vocabulary.token_ids) | {token.id for token in self.added_tokens}

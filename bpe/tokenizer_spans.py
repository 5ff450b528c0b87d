"""Define TokenizerSpans, a base class of Tokenizer: the methods that return spans."""

from __future__ import annotations

from bpe.encoding.fast_calls import fast_call
from bpe.encoding.foreign_arguments import ENCODE
from bpe.encoding.piece_decoder import added_contents
from bpe.encoding.trim import TokenSpaces
from bpe.once import once
from bpe.tokenizer_parts import TokenizerParts
from bpe.types import Errors, Ids, Offsets, Special, Text, Token


class TokenizerSpans(TokenizerParts):
    """Encodes text with the span of each token; Tokenizer explains the arguments."""

    __slots__ = ()

    @fast_call(ENCODE)
    def tokens(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        threads: int | None = None,
        trim_offsets: bool | None = None,
    ) -> list[Token]:
        """Return the tokens of `text`, each with its bytes and its span in `text`.

        Spans refer to the text before normalization. If `trim_offsets`, they exclude the white
        space at both ends of each token. By default, they do so if the file of the tokenizer says
        so, as those of RoBERTa and GPT-NeoX do, and are then equal to the offsets of Hugging Face's
        tokenizers. Raises the errors of `encode`.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).tokens("abé")[:2]
        [Token(id=256, bytes=b'ab', start=0, end=2), Token(id=195, bytes=b'\\xc3', start=2, end=3)]
        """
        ids, starts, ends = self.token_spans(
            text, special, errors=errors, threads=threads, trim_offsets=trim_offsets
        )
        return [
            Token(id, self._token_bytes_by_id[id], start, end)
            for id, start, end in zip(ids.tolist(), starts.tolist(), ends.tolist(), strict=True)
        ]

    @fast_call(ENCODE)
    def token_spans(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        threads: int | None = None,
        trim_offsets: bool | None = None,
    ) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, starts and ends of `tokens` as arrays, which need less memory.

        >>> import bpe
        >>> ids, starts, ends = bpe.train(["ab"], vocab_size=257).token_spans("ab!")
        >>> ids.tolist(), starts.tolist(), ends.tolist()
        ([256, 33], [0, 2], [2, 3])
        """
        spans = self._pipeline.spans(text, special, errors, threads)
        trims = self._trim_offsets
        if trim_offsets is not None:
            trims = (trims or (self._add_prefix_space,)) if trim_offsets else ()
        return self._token_spaces.trim(text, errors, spans, trims) if trims else spans

    @once
    def _token_spaces(self) -> TokenSpaces:
        contents = added_contents(self._added, self._normalizer)
        return TokenSpaces(self._vocabulary, self._added, contents)

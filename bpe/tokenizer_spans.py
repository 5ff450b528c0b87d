"""Define TokenizerSpans, a base class of Tokenizer: the methods that return spans."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bpe.decoders.piece_decoder import added_contents
from bpe.encoding.arguments import validate_text
from bpe.encoding.fast_calls import fast_call
from bpe.encoding.foreign_arguments import ENCODE
from bpe.encoding.offsets import UnitOffsets
from bpe.encoding.python_backend import unknown_id
from bpe.encoding.segments import Segmented, encode_segments
from bpe.encoding.trim import TokenSpaces
from bpe.encoding.utf8 import encode_utf8
from bpe.once import once
from bpe.tokenizer_facts import TokenizerFacts
from bpe.types import Errors, SegmentLike, Spans, Special, Text, Token, Unit


class TokenizerSpans(TokenizerFacts):
    """Encodes text with the span of each token; Tokenizer explains the arguments."""

    __slots__ = ()

    @fast_call(ENCODE)
    def tokens(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
        trim_offsets: bool | None = None,
        continuation: bool = False,
        unit: Unit | None = None,
    ) -> list[Token]:
        """Return the tokens of `text`, each with its bytes and its span in `text`.

        `unit` is the unit of the spans: "char" (code points), "byte" (bytes of UTF-8), "utf16"
        (code units of UTF-16, as in JavaScript) or "grapheme". The default is the unit that indexes
        `text`: "char" for a str, "byte" for bytes. Unless the unit is "byte", a span covers each
        code point, or each grapheme, of which the token has a byte. Raises ValueError for another
        unit.

        Spans refer to the text before normalization. If `trim_offsets`, they exclude the white
        space at both ends of each token. By default, they do so if the file of the tokenizer says
        so, as those of RoBERTa and GPT-NeoX do, and are then equal to the offsets of Hugging Face's
        tokenizers. The tokens that `add_special_tokens` puts before the text have the empty span
        at its start, and those after it the empty span at its end. Raises the errors of `encode`.

        >>> import bpe
        >>> bpe.train(["ab"], vocab_size=257).tokens("abé")[:2]
        [Token(id=256, bytes=b'ab', start=0, end=2), Token(id=195, bytes=b'\\xc3', start=2, end=3)]
        """
        ids, starts, ends = self.token_spans(
            text,
            special,
            errors=errors,
            add_special_tokens=add_special_tokens,
            threads=threads,
            trim_offsets=trim_offsets,
            continuation=continuation,
            unit=unit,
        )
        tokens = self._token_bytes_by_id
        try:
            return [
                Token(id, tokens[id], start, end)
                for id, start, end in zip(ids.tolist(), starts.tolist(), ends.tolist(), strict=True)
            ]
        except KeyError:  # an id of the template, since the vocabulary has all ids of the text
            raise unknown_id(ids.tolist(), tokens) from None

    @fast_call(ENCODE)
    def token_spans(
        self,
        text: Text,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        threads: int | None = None,
        trim_offsets: bool | None = None,
        continuation: bool = False,
        unit: Unit | None = None,
    ) -> Spans:
        """Return the ids, starts and ends of `tokens` as arrays, which need less memory.

        >>> import bpe
        >>> ids, starts, ends = bpe.train(["ab"], vocab_size=257).token_spans("ab!")
        >>> ids.tolist(), starts.tolist(), ends.tolist()
        ([256, 33], [0, 2], [2, 3])
        """
        spans = self._pipeline.spans(text, special, errors, threads, continuation)
        offsets = UnitOffsets(text, errors, unit)
        trims = self.trim_offsets
        if trim_offsets is not None:
            trims = (trims or (self.add_prefix_space,)) if trim_offsets else ()
        if trims:
            data = encode_utf8(validate_text(text, errors))
            spans = self._token_spaces.trim(data, spans, trims)
        ids, starts, ends = spans
        starts, ends = offsets.spans(starts, ends)
        if not add_special_tokens:
            return ids, starts, ends
        before, after = (np.array(ids, np.uint32) for ids in self.template)
        first = np.zeros(len(before), np.int64)
        last = np.full(len(after), offsets.size, np.int64)
        starts, ends = (np.concatenate([first, row, last]) for row in (starts, ends))
        return np.concatenate([before, ids, after]), starts, ends

    def encode_segments(
        self,
        segments: Iterable[SegmentLike],
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        joined: bool = True,
        unit: Unit | None = None,
    ) -> Segmented:
        """Return the ids of a text that consists of segments, each with its own policy.

        A segment is a pair (text, special), a text, for which the argument `special` counts, or
        ids. An added token is found only within one segment, and only if the policy of the segment
        allows it: "plain" finds none, so text of a user cannot make a special token, alone or
        together with its neighbors. Ids are put in as they are, like added tokens: no token crosses
        them.

        If `joined`, all segments are one text: pre-tokens cross from one segment to the next, and
        flags of an added token, such as `rstrip`, look into the neighbor. The ids are then those of
        `encode` for the whole text, unless the text of a segment contains an added token that its
        policy does not find. Otherwise each segment is encoded by itself. `tokens` explains `unit`.
        Each str becomes UTF-8 by itself: a surrogate pair over two segments is two lone surrogates.

        Raises the errors of `encode`, which name the segment; `text_index` of a SpecialTokenError
        is its index. Raises TypeError or ValueError for a wrong segment. Takes linear time.

        >>> import bpe
        >>> tok = bpe.train(["ab"], vocab_size=257, special_tokens=["<end>"])
        >>> user = "ab<end>"
        >>> done = tok.encode_segments([("ab", "allow"), (user, "plain"), ("<end>", "allow")])
        >>> tok.decode(done.ids[:done.ends[1]]), done.ids[done.ends[1]:].tolist()
        ('abab<end>', [256])
        """
        return encode_segments(self._pipeline, segments, special, errors, joined, unit)

    @once
    def _token_spaces(self) -> TokenSpaces:
        contents = added_contents(self._added, self.normalizer)
        return TokenSpaces(self.vocabulary, self._added, contents)

"""Define TokenizerBudgets, a base class of Tokenizer: texts within a number of ids."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import Literal, SupportsIndex, TypeAlias, get_args

from bpe.budgets.borders import BorderFinder, ChunkKind
from bpe.budgets.chunking import Chunk, Chunker
from bpe.budgets.cuts import Cuts, find_cuts
from bpe.budgets.reader import Reader
from bpe.budgets.texts import Utf8
from bpe.budgets.truncation import Truncator, joined, middle
from bpe.encoding.arguments import as_bytes, validate_text
from bpe.encoding.fast_calls import fast_call
from bpe.encoding.foreign_arguments import BUDGETS
from bpe.encoding.pipeline import Call
from bpe.encoding.utf8 import MAX_CHAR
from bpe.errors import shortened
from bpe.once import once
from bpe.tokenizer_editing import TokenizerEditing
from bpe.types import Errors, Ids, Special, Text

TruncatedSide: TypeAlias = Literal["right", "left", "middle"]
"""The side of a text that `truncate` cuts off."""
_MOST = 1 << 40
"""More ids than a text has, but few enough for C++."""


class TokenizerBudgets(TokenizerEditing):
    """Truncates, divides and counts texts by a number of ids; Tokenizer explains the arguments."""

    __slots__ = ()

    _count: Call[int]

    @fast_call(BUDGETS)
    def truncate(
        self,
        text: Text,
        n: int,
        side: TruncatedSide = "right",
        *,
        ellipsis: Text = "",
        special: Special = "raise",
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        grapheme: bool = False,
    ) -> str | bytes:
        """Return the longest part of `text` that has at most `n` ids, as a str or as bytes.

        `side` is the side that is cut off, as `truncation_side` in transformers: "right" keeps the
        start of the text, "left" keeps the end, and "middle" keeps both, with `ellipsis` between
        them. The text is cut between two characters, or two graphemes if `grapheme`, and never in
        an added token. "Longest" is over all such places: each longer start of the text has more
        than `n` ids, although a longer text may have fewer ids than a shorter one. Only in a part
        of more than 1,024 bytes without a place at which a cut provably keeps the ids, as in
        base64, "longest" means that one more character is too much. Without such places, as with
        most normalizers, the whole text is this part.

        `n` includes the ids of the template if `add_special_tokens`, and those of `ellipsis`. For
        "middle", the start has at most half of the other ids, rounded up, and the end is the
        longest one that fits after the start and `ellipsis`. A text that fits is returned whole.
        Reads only as much of the text as has about `n` ids.

        Raises ValueError if `n` is less than the number of ids of the template and `ellipsis`, and
        the errors of `encode` for the part of the text that it reads.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
        >>> tok.truncate("abcdeé", 3), tok.encode("abcde")
        ('abcde', [258, 101])
        >>> tok.truncate("abcdefghi", 5, "middle", ellipsis="…")
        'abcd…i'
        """
        room = self._room(n, add_special_tokens)
        if side not in get_args(TruncatedSide):
            raise ValueError(f"side={shortened(side)}; expected 'right', 'left' or 'middle'")
        if ellipsis and side != "middle":
            raise ValueError('ellipsis= needs side="middle"')
        sliced, reader = _sliced(text, errors), self._reader(special)
        starts = Utf8(sliced, errors).graphemes() if grapheme else None
        if side == "right":
            return sliced[: Truncator(reader, sliced, errors, starts).head(room)]
        if side == "left":
            return sliced[Truncator(reader, sliced, errors, starts).tail(room) :]
        between = _sliced(ellipsis or sliced[:0], errors)
        if type(between) is not type(sliced):
            raise TypeError(
                f"ellipsis is of type {type(ellipsis).__name__}; expected the type of the text"
            )
        head, tail = middle(reader, sliced, errors, starts, room, between)
        if head == len(sliced):
            return sliced
        return joined(sliced[:head], between, sliced[tail:])

    @fast_call(BUDGETS)
    def chunks(
        self,
        text: Text,
        n: int,
        overlap: int = 0,
        on: ChunkKind | BorderFinder = "token",
        *,
        special: Special = "raise",
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        grapheme: bool = False,
    ) -> Iterator[Chunk]:
        r"""Return an iterator over the chunks of `text`, each of at most `n` ids.

        Each chunk is the longest one that starts at the end of the chunk before it, ends at a
        border of the kind `on`, and has at most `n` ids when it is encoded by itself. `n` includes
        the ids of the template if `add_special_tokens`. The spans of the chunks cover the text, and
        repeat nothing. No border lies in a character, in a grapheme if `grapheme`, or in an added
        token.

        - "token": between two tokens of the text
        - "pre-token": between two pre-tokens; before a space if the model has no pre-tokens
        - "sentence": after ".", "!", "?" or "…" before white space, after "。", "！" or "？", with
          closing quotes and brackets, and after a line
        - "line": after a line break
        - a function that takes the text, and returns borders in the units of the spans

        If no border is near enough, a chunk ends at the next finer kind, in the order line,
        sentence, pre-token, token, character. After a function, pre-tokens are next. `truncate`
        says what "longest" means in long words.

        With `overlap`, each next chunk starts at a border at which the text up to the end of the
        chunk has at most `overlap` ids, encoded by itself. There is no overlap if it would leave no
        room for a longer chunk.

        Encodes the text when called. Raises ValueError if `overlap` is not less than `n`, or if one
        character has more than `n` ids, and the errors of `encode`.

        >>> import bpe
        >>> tok = bpe.train(["ab"], vocab_size=257)
        >>> [chunk.text for chunk in tok.chunks("abab\nab.ab", 3, on="line")]
        ['abab\n', 'ab.ab']
        >>> next(tok.chunks("ababab", 2))
        Chunk(text='abab', start=0, end=4, size=2)
        """
        room = self._room(n, add_special_tokens)
        if not hasattr(overlap, "__index__") or not 0 <= index(overlap) < max(room, 1):
            raise ValueError(
                f"overlap={shortened(overlap)}; expected an int from 0 to less than the {room} ids "
                "of a chunk"
            )
        if not callable(on) and on not in get_args(ChunkKind):
            raise ValueError(
                f"on={shortened(on)}; expected 'token', 'pre-token', 'sentence', 'line' or a "
                "function"
            )
        core = self._pipeline.core
        read = Utf8(_sliced(text, errors), errors, core and core.utf8_of)
        added = self._template_size(add_special_tokens)
        starts = read.graphemes() if grapheme else None
        room, most = min(room, _MOST), min(index(overlap), _MOST - 1)
        return iter(Chunker(self._reader(special), read, on, room, most, added, starts))

    @fast_call(BUDGETS)
    def count_up_to(
        self,
        text: Text,
        n: int,
        *,
        special: Special = "raise",
        errors: Errors = "replace",
        add_special_tokens: bool = False,
    ) -> int:
        """Return the number of ids of `text` if it is at most `n`, else `n` + 1.

        So `tok.count_up_to(text, n) <= n` says whether the text fits. A long text takes as much
        time as a text of about `n` ids. Raises the errors of `encode` for the part that it reads.

        >>> import bpe
        >>> tok = bpe.train(["ab"], vocab_size=257)
        >>> tok.count_up_to("ababab", 5), tok.count_up_to("ab" * 1_000_000, 5)
        (3, 6)
        """
        n = check_number(n)
        added = self._template_size(add_special_tokens)
        if added > n:
            return n + 1
        sliced = _sliced(text, errors)
        return added + Truncator(self._reader(special), sliced, errors).count_up_to(n - added)

    def _room(self, n: int, add_special_tokens: bool) -> int:
        """Return the number of ids that the template leaves."""
        most = check_number(n)
        added = self._template_size(add_special_tokens)
        if most < added:
            raise ValueError(f"n={n}; expected at least the {added} ids of the template")
        return most - added

    def _template_size(self, add_special_tokens: bool) -> int:
        """Return the number of ids that the template adds to a text."""
        return sum(map(len, self.template)) if add_special_tokens else 0

    def _safe_cut(self, text: bytes, special: Special = "raise") -> int:
        """Return a byte offset at which a cut of `text` does not change the ids, or 0 if none.

        The ids of text[:cut], followed by those of text[cut:], both encoded by `_encode_part`, are
        the ids of `text`. This stays true if other text is appended to `text`, so a long text can
        be encoded in parts. Returns the last such offset that C++, or else `_proven_cut`, finds.
        """
        data = as_bytes(text)
        cut = self._pipeline.safe_cut(data, special)
        return self._proven_cut(data, special) if cut is None else cut

    def _encode_part(self, text: bytes, special: Special = "raise", *, is_first: bool) -> Ids:
        """Return the ids of a part of a long text; `is_first` says whether the text begins with it.

        The ids of all parts, one after the other, are the ids of the text, if `_safe_cut` finds
        each cut in the text after the previous cut. Raises the errors of `encode`.
        """
        return self._pipeline.encode_part(text, special, is_first)

    def _proven_cut(self, data: bytes, special: Special) -> int:
        """Return a byte offset at which Cuts proves a cut of `data` and all text after it, or 0.

        Raises SpecialTokenError if `special` refuses a token of `data`.
        """
        cuts = self._cuts
        if cuts is None:
            return 0
        # An added token that is not complete yet may begin after `end` only, and hide tokens there.
        end = len(data) - 2 * cuts.longest_added - MAX_CHAR
        if end <= 0:
            return 0
        source = self._reader(special).source(Utf8(data, "replace"), only_ascii=cuts.normalizes)
        return source.stretch(end)[0]

    def _reader(self, special: Special) -> Reader:
        return Reader(self._pipeline, self._count, self._cuts, self.pre_tokenizer, special)

    @once
    def _cuts(self) -> Cuts | None:
        return find_cuts(
            self.vocabulary,
            self.pre_tokenizer,
            self.normalizer,
            self.add_prefix_space,
            self.added_tokens,
        )


def check_number(n: SupportsIndex) -> int:
    """Return `n` as an int; raises ValueError unless it is an int of at least 0."""
    if not hasattr(n, "__index__") or index(n) < 0:
        raise ValueError(f"n={shortened(n)}; expected an int of at least 0")
    return index(n)


def _sliced(text: Text, errors: Errors) -> str | bytes:
    """Return `text` as a str or bytes; raises TypeError for another type."""
    validate_text(text, errors)
    return text if isinstance(text, str) else as_bytes(text)

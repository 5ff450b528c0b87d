"""Define Encoding, which stands in for tokenizers.Encoding.

The template of the post-processor puts special tokens around one or two sequences. Truncation may
cut a sequence into several windows: the first one is the encoding, the other windows are its
overflow. A word is a pre-token or an added token.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable
from functools import cached_property
from itertools import groupby
from typing import Any

from bpe.compat.huggingface.positions import MAX_WORD, Positions
from bpe.compat.huggingface.real import RealEncoding
from bpe.compat.huggingface.rows import Alignment, Row, Span
from bpe.compat.huggingface.windows import Fixed, Slice, Window

_COUNTS = {
    "token_to_sequence": (1,),
    "token_to_word": (1,),
    "token_to_chars": (1,),
    "word_to_tokens": (1, 2),
    "word_to_chars": (1, 2),
    "char_to_token": (1, 2),
    "char_to_word": (1, 2),
}
"""The numbers of arguments of the methods of Positions."""


class Encoding:
    """The ids of one input; everything else is computed on first access.

    Passes for a tokenizers.Encoding in `isinstance`, and pickles as one. `to_real` converts it for
    functions in Rust.
    """

    def __init__(self, source: Callable[..., Window], *arguments: Any) -> None:
        """`source(*arguments)` returns the window, on first access."""
        self._source = source, *arguments

    @classmethod
    def of(cls, window: Window) -> Encoding:
        """Return the encoding with the values of `window`."""
        self = cls.__new__(cls)
        self._window = window
        return self

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class that this object stands in for."""
        return RealEncoding

    @cached_property
    def _window(self) -> Window:
        source, *arguments = self._source
        window: Window = source(*arguments)
        return window

    @cached_property
    def _ids(self) -> list[int]:
        return self._window.ids()

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self._window)

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self._ids.copy()

    @property
    def attention_mask(self) -> list[int]:
        """0 for each id of padding, 1 for any other id."""
        mask: list[int] = []
        for part in self._window.parts:
            mask += [part.attention if isinstance(part, Fixed) else 1] * part.size
        return mask

    @property
    def type_ids(self) -> list[int]:
        """The type id of each id; the template determines it."""
        types: list[int] = []
        for part in self._window.parts:
            types += [part.type_id] * part.size
        return types

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for ids of the template and of padding, else 0."""
        mask: list[int] = []
        for part in self._window.parts:
            mask += [int(isinstance(part, Fixed))] * part.size
        return mask

    @property
    def tokens(self) -> list[str]:
        """The tokens; for an added token, the text that it matched."""
        tokens: list[str] = []
        for part in self._window.parts:
            if isinstance(part, Fixed):
                tokens += part.tokens
            else:
                tokens += part.row.tokens[part.start : part.stop]
        return tokens

    @property
    def offsets(self) -> list[Span]:
        """The span of each token in its text, in code points."""
        return self._positions.spans.copy()

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the word of each token; None for tokens of the template and of padding."""
        return self._positions.words.copy()

    @property
    def words(self) -> list[int | None]:
        """The old name of `word_ids`."""
        warnings.warn(
            "Deprecated in 0.9.4: Encoding.words is deprecated, please use Encoding.word_ids "
            "instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.word_ids

    @property
    def n_sequences(self) -> int:
        """The number of sequences, 1 or 2."""
        return len(self._window.ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """The number of the sequence of each token; None for tokens of the template."""
        ids: list[int | None] = [None] * len(self._ids)
        for sequence in range(self.n_sequences):
            start, stop = self._window.sequence_range(sequence)
            ids[start:stop] = [sequence] * (stop - start)
        return ids

    @property
    def overflowing(self) -> list[Encoding]:
        """The other windows of a truncated input."""
        return list(map(Encoding.of, self._window.overflowing))

    def to_real(self) -> Any:
        """Return an equal tokenizers.Encoding."""
        real = RealEncoding()
        real.__setstate__(json.dumps(self._state(), ensure_ascii=False).encode())
        return real

    def _state(self) -> dict[str, Any]:
        return {
            "ids": self._ids,
            "type_ids": self.type_ids,
            "tokens": self.tokens,
            "words": self.word_ids,
            "offsets": self.offsets,
            "special_tokens_mask": self.special_tokens_mask,
            "attention_mask": self.attention_mask,
            "overflowing": [other._state() for other in self.overflowing],
            "sequence_ranges": {
                str(sequence): {"start": start, "end": stop}
                for sequence, (start, stop) in self._window.ranges.items()
            },
        }

    @cached_property
    def _real(self) -> Any:
        return self.to_real()

    def token_to_sequence(self, *args: Any, **kwargs: Any) -> int | None:
        """Return the number of the sequence of a token."""
        return self._find("token_to_sequence", args, kwargs)  # type: ignore[no-any-return]

    def token_to_word(self, *args: Any, **kwargs: Any) -> int | None:
        """Return the number of the word of a token."""
        return self._find("token_to_word", args, kwargs)  # type: ignore[no-any-return]

    def token_to_chars(self, *args: Any, **kwargs: Any) -> Span | None:
        """Return the span of a token in its text, in code points."""
        return self._find("token_to_chars", args, kwargs)  # type: ignore[no-any-return]

    def word_to_tokens(self, *args: Any, **kwargs: Any) -> Span | None:
        """Return the half-open range of the tokens of a word."""
        return self._find("word_to_tokens", args, kwargs)  # type: ignore[no-any-return]

    def word_to_chars(self, *args: Any, **kwargs: Any) -> Span | None:
        """Return the span of a word in its text, in code points."""
        return self._find("word_to_chars", args, kwargs)  # type: ignore[no-any-return]

    def char_to_token(self, *args: Any, **kwargs: Any) -> int | None:
        """Return the index of the token at an offset, in code points of the text of a sequence."""
        return self._find("char_to_token", args, kwargs)  # type: ignore[no-any-return]

    def char_to_word(self, *args: Any, **kwargs: Any) -> int | None:
        """Return the number of the word at an offset."""
        return self._find("char_to_word", args, kwargs)  # type: ignore[no-any-return]

    def _find(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a method of Positions.

        The real encoding answers calls with unusual arguments, and all calls if it exists.
        """
        if kwargs or len(args) not in _COUNTS[method] or "_real" in self.__dict__:
            return getattr(self._real, method)(*args, **kwargs)
        for arg in args:
            if type(arg) is not int or not 0 <= arg <= MAX_WORD:
                return getattr(self._real, method)(*args)
        return getattr(self._positions, method)(*args)

    def pad(self, *args: Any, **kwargs: Any) -> None:
        """Pad in place, as tokenizers.Encoding does."""
        self._change("pad", args, kwargs)

    def truncate(self, *args: Any, **kwargs: Any) -> None:
        """Truncate in place, as tokenizers.Encoding does."""
        self._change("truncate", args, kwargs)

    def set_sequence_id(self, *args: Any, **kwargs: Any) -> None:
        """Make the whole encoding the range of a sequence."""
        self._change("set_sequence_id", args, kwargs)

    def _change(self, method: str, args: Any, kwargs: Any) -> None:
        """Call `method` of an equal real encoding, and take over the result."""
        real = self.to_real()
        getattr(real, method)(*args, **kwargs)
        self._restore(json.loads(real.__getstate__()))

    def _restore(self, state: dict[str, Any]) -> None:
        """Take every value from the state of a real encoding."""
        self.__dict__.clear()
        self._window = _window_of(state)

    @staticmethod
    def merge(encodings: list[Any], growing_offsets: bool = True) -> Any:
        """Return a tokenizers.Encoding of `encodings`, one after the other."""
        return RealEncoding.merge(real_arguments(encodings), growing_offsets)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'tokenizers.Encoding' object has no attribute {name!r}")

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return (
            f"Encoding(num_tokens={len(self._ids)}, attributes=[ids, type_ids, tokens, offsets, "
            "attention_mask, special_tokens_mask, overflowing])"
        )

    def __getstate__(self) -> bytes:
        return self._real.__getstate__()  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._real.__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return copy.copy(self._real)

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.deepcopy(self._real, memo)


def real_arguments(value: Any) -> Any:
    """Return `value` with each Encoding replaced by a tokenizers.Encoding, also inside lists."""
    if type(value) is Encoding:
        return value.to_real()
    if isinstance(value, (list, tuple)):
        return type(value)(map(real_arguments, value))
    return value


def _window_of(state: dict[str, Any]) -> Window:
    """Return the window with the values of a real encoding."""
    ids, tokens = state["ids"], state["tokens"]
    alignment = Alignment(tokens, list(map(tuple, state["offsets"])), lambda: state["words"])
    row = Row(ids, lambda: alignment)
    kinds = list(
        zip(state["type_ids"], state["special_tokens_mask"], state["attention_mask"], strict=True)
    )
    parts: list[Fixed | Slice] = []
    for (type_id, is_fixed, attention), run in groupby(range(len(ids)), key=kinds.__getitem__):
        start, *rest = run
        stop = start + 1 + len(rest)
        parts.append(
            Fixed(tuple(ids[start:stop]), tuple(tokens[start:stop]), type_id, attention)
            if is_fixed
            else Slice(row, start, stop, type_id)
        )
    ranges = {
        int(sequence): (range["start"], range["end"])
        for sequence, range in state["sequence_ranges"].items()
    }
    return Window(tuple(parts), ranges, map(_window_of, state["overflowing"]))

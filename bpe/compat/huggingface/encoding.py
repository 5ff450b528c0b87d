"""Define Encoding, which stands in for tokenizers.Encoding.

The template of the post-processor puts special tokens around one or two sequences. Truncation may
cut a sequence into several windows: the first one is the encoding, the other windows are its
overflow. A word is a pre-token or an added token.
"""

from __future__ import annotations

import copy
import json
import warnings
from bisect import bisect_right
from collections.abc import Callable
from functools import wraps
from operator import itemgetter
from typing import Any

from bpe.compat.huggingface import window_changes
from bpe.compat.huggingface.align import Span
from bpe.compat.huggingface.real import RealEncoding
from bpe.compat.huggingface.record import rust
from bpe.compat.huggingface.windows import Window, merge
from bpe.once import lazy

MAX_WORD = (1 << 32) - 1
"""The largest number of a word in tokenizers."""


def _usual(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that calls `method` with plain numbers from 0 to MAX_WORD.

    The real encoding answers calls with unusual arguments, and all calls if it exists. Without the
    class of real encodings, convert the arguments.
    """
    names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
    most = len(names)
    least = most - len(method.__defaults__ or ())

    @wraps(method)
    def call(self: Encoding, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and least <= len(args) <= most and "_real" not in self.__dict__:
            for arg in args:
                if type(arg) is not int or not 0 <= arg <= MAX_WORD:
                    break
            else:
                return method(self, *args)
        if RealEncoding is not None:
            return getattr(self._real, method.__name__)(*args, **kwargs)
        kwargs = {name: _number(name, arg) for name, arg in kwargs.items()}
        return method(self, *map(_number, names, args), **kwargs)

    return call


def _number(name: str, value: Any) -> int:
    return rust.id_number(value) if name == "word_index" else rust.size(value)


class Encoding:
    """The ids of one input; everything else is computed on first access.

    Passes for a tokenizers.Encoding in `isinstance`, and pickles as one. `to_real` converts it for
    functions in Rust; `patch` makes them convert it.
    """

    _engine: Any = None
    """The BpeEngine of an encoding that `BpeEngine.text_encoding` made, else None."""

    def __init__(self, source: Callable[..., Window] = Window, *arguments: Any) -> None:
        """`source(*arguments)` returns the window, on first access; it is empty by default."""
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
        return RealEncoding or Encoding

    @lazy
    def _window(self) -> Window:
        source, *arguments = self._source
        window: Window = source(*arguments)
        return window

    @lazy
    def _ids(self) -> list[int]:
        return self._window.of_each_id("ids")

    @lazy
    def _spans(self) -> list[Span]:
        if self._engine is not None:
            spans: list[Span] | None = self._engine.text_spans(*self._source[1:])
            if spans is not None:
                return spans
        return self._window.of_each_id("spans")

    @lazy
    def _words(self) -> list[int | None]:
        return self._window.of_each_id("words")

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self._ids.copy()

    @property
    def attention_mask(self) -> list[int]:
        """0 for each id of padding, 1 for any other id."""
        return self._window.of_each_part("attention")

    @property
    def type_ids(self) -> list[int]:
        """The type id of each id; the template determines it."""
        return self._window.of_each_part("type_id")

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for ids of the template and of padding, else 0."""
        return self._window.of_each_part("is_special")

    @property
    def tokens(self) -> list[str]:
        """The tokens; for an added token, the text that it matched."""
        if self._engine is not None:
            tokens: list[str] | None = self._engine.text_tokens(*self._source[1:])
            if tokens is not None:
                return tokens
        return self._window.of_each_id("tokens")

    @property
    def offsets(self) -> list[Span]:
        """The span of each token in its text, in code points."""
        return self._spans.copy()

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the word of each token; None for tokens of the template and of padding."""
        return self._words.copy()

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
        if RealEncoding is None:
            raise AttributeError("Encoding.to_real needs tokenizers 0.22 or 0.23")
        real = RealEncoding()
        real.__setstate__(json.dumps(self._state(), ensure_ascii=False).encode())
        return real

    def _state(self) -> dict[str, Any]:
        return {
            "ids": self._ids,
            "type_ids": self.type_ids,
            "tokens": self.tokens,
            "words": self._words,
            "offsets": self._spans,
            "special_tokens_mask": self.special_tokens_mask,
            "attention_mask": self.attention_mask,
            "overflowing": [other._state() for other in self.overflowing],
            "sequence_ranges": {
                str(sequence): {"start": start, "end": stop}
                for sequence, (start, stop) in self._window.ranges.items()
            },
        }

    @lazy
    def _real(self) -> Any:
        return self.to_real()

    @_usual
    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the number of the sequence of a token.

        If a token is in several sequences, the library tokenizers returns any of them.
        """
        ranges = self._window.ranges
        if token_index > len(self._window):
            return None
        if not ranges:
            return 0
        return next(
            (number for number, (start, stop) in ranges.items() if start <= token_index < stop),
            None,
        )

    @_usual
    def token_to_word(self, token_index: int) -> int | None:
        """Return the number of the word of a token."""
        is_known = (
            token_index < len(self._words) and self.token_to_sequence(token_index) is not None
        )
        return self._words[token_index] if is_known else None

    @_usual
    def token_to_chars(self, token_index: int) -> Span | None:
        """Return the span of a token in its text, in code points."""
        is_known = (
            token_index < len(self._spans) and self.token_to_sequence(token_index) is not None
        )
        return self._spans[token_index] if is_known else None

    @_usual
    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return the half-open range of the tokens of a word."""
        start, last = self._window.sequence_range(sequence_index)
        words = self._words
        if sequence_index in self._ascending_words:
            try:
                start = words.index(word_index, start, last)
            except ValueError:
                return None
        found: list[int] = []
        for index in range(start, last):
            other = words[index]
            if other is None:
                continue
            if other > word_index:
                break
            if other == word_index:
                found.append(index)
        return (found[0], found[-1] + 1) if found else None

    @_usual
    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return the span of a word in its text, in code points."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        start, stop = tokens
        return self._spans[start][0], self._spans[stop - 1][1]

    @_usual
    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of the first token at an offset, in code points of a sequence."""
        first, last = self._window.sequence_range(sequence_index)
        spans, ends = self._spans, self._searched.get(sequence_index)
        if sequence_index not in self._searched:  # for only one call, a table would not pay
            self._searched[sequence_index] = None
        elif ends is None:
            ends = self._searched[sequence_index] = _ascending_ends(spans[first:last])
        if not ends:
            found = (i for i in range(first, last) if spans[i][0] <= char_pos < spans[i][1])
            return next(found, None)
        index = first + bisect_right(ends, char_pos)
        return index if index < last and spans[index][0] <= char_pos else None

    @_usual
    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the number of the word at an offset."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    @lazy
    def _searched(self) -> dict[int, list[int] | None]:
        """The sequences with a call of `char_to_token`.

        The value is None after one call, and the result of `_ascending_ends` after further calls.
        """
        return {}

    @lazy
    def _ascending_words(self) -> set[int]:
        """The sequences whose words ascend, apart from None."""
        ascending = set()
        for sequence in (0, 1):
            first, last = self._window.sequence_range(sequence)
            words = [word for word in self._words[first:last] if word is not None]
            if words == sorted(words):
                ascending.add(sequence)
        return ascending

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
        """Change the window as `method` of an equal real encoding does."""
        if RealEncoding is None:
            window = window_changes.window_of(self._state())
            window = getattr(window_changes, method)(window, *args, **kwargs)
        else:
            real = self.to_real()
            getattr(real, method)(*args, **kwargs)
            window = window_changes.window_of(json.loads(real.__getstate__()))
        self.__dict__.clear()
        self._window = window

    @staticmethod
    def merge(encodings: list[Any], growing_offsets: bool = True) -> Any:
        """Return an encoding of `encodings`, of bpe or real ones, one after the other.

        It is a tokenizers.Encoding, if there is this class. Before `patch`, its function `merge`
        takes only real ones.
        """
        if RealEncoding is not None:
            return RealEncoding.merge(real_arguments(encodings), growing_offsets)
        listed = rust.instances(rust.items(encodings), Encoding, "Encoding")
        windows = (encoding._window for encoding in listed)
        return Encoding.of(merge(windows, rust.flag(growing_offsets)))

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
        if RealEncoding is None:
            return json.dumps(self._state(), ensure_ascii=False).encode()
        return self._real.__getstate__()  # type: ignore[no-any-return]

    def __setstate__(self, state: bytes) -> None:
        self._window = window_changes.window_of(json.loads(state))

    def __reduce_ex__(self, protocol: Any) -> Any:
        if RealEncoding is None:
            return Encoding, (), self.__getstate__()
        return self._real.__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return copy.copy(self._real) if RealEncoding else Encoding.of(self._window)

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.deepcopy(self._real, memo) if RealEncoding else Encoding.of(self._window)


def _ascending_ends(spans: list[Span]) -> list[int]:
    """Return the ends of `spans`; [] if their starts or their ends do not ascend."""
    starts, ends = (list(map(itemgetter(side), spans)) for side in (0, 1))
    return ends if starts == sorted(starts) and ends == sorted(ends) else []


def real_arguments(value: Any) -> Any:
    """Return `value` with each Encoding replaced by a tokenizers.Encoding, also inside lists."""
    if type(value) is Encoding:
        return value.to_real()
    if isinstance(value, (list, tuple)):
        return type(value)(map(real_arguments, value))
    return value

"""Define PreTokenizer, which splits text with the native or the pure Python backend."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from pretok.errors import quoted, shortened
from pretok.machine.backend import (
    BackendName,
    Splitter,
    choose_backend,
    make_backend,
    stage_backend,
)
from pretok.machine.machine import GAP, Unit, widths_of
from pretok.machine.stream import Step, Stream
from pretok.preset import Preset
from pretok.rules import Rule
from pretok.text import ESCAPE, Text, as_str, as_str_or_bytes, code_points_of
from pretok.unicode import check_version


class PreTokenizer:
    """Splits text into pre-tokens with one preset and one Unicode version.

    Immutable; safe to share between threads; picklable. `pretok.get` returns a PreTokenizer. Each
    method takes time linear in the length of the text, and raises TypeError if a text is not a
    `Text`.

    A text is a str, or bytes that hold UTF-8: bytes, bytearray or memoryview. A lone surrogate in a
    str is kept and has general category C. A byte that is not valid UTF-8 counts as one code point
    of general category C. In a str result, this byte is the lone surrogate U+DC00 + byte, as with
    Python's error handler "surrogateescape".

    The pre-tokens cover the whole text, unless a stage of the preset drops parts of the text
    (`preset.drops_text`).
    """

    __slots__ = ("_backend", "_backend_name", "_preset", "_requested_backend", "_rules", "_unicode")

    def __init__(
        self, preset: Preset, unicode: str | None = None, backend: BackendName | None = None
    ) -> None:
        if not isinstance(preset, Preset):
            raise TypeError(f"expected a Preset, got {type(preset).__name__}; see pretok.get")
        self._preset = preset
        self._rules = preset.rules
        self._unicode = check_version(preset.unicode if unicode is None else unicode)
        self._requested_backend = backend
        self._backend_name = choose_backend(backend)
        self._backend = make_backend(preset.stages, self._unicode, self._backend_name)

    @property
    def preset(self) -> Preset:
        """The preset that defines the split."""
        return self._preset

    @property
    def unicode(self) -> str:
        """The Unicode version, such as "16.0"."""
        return self._unicode

    @property
    def backend(self) -> BackendName:
        """The backend in use: "native" or "python"."""
        return self._backend_name

    def split(self, text: Text) -> list[str]:
        """Return the pre-tokens of `text`. Joined, they equal `text`, unless the preset drops text.

        >>> import pretok
        >>> pretok.get("gpt2").split("I'm 25")
        ['I', "'m", ' 25']
        """
        return self._backend.split(as_str(text))

    def split_bytes(self, text: Text) -> list[bytes]:
        """Return the pre-tokens of `text` in UTF-8. A lone surrogate in a str has three bytes.

        >>> import pretok
        >>> pretok.get("gpt2").split_bytes("né".encode() + bytes([0xFF]))
        [b'n\\xc3\\xa9', b'\\xff']
        """
        data = as_str_or_bytes(text)
        if isinstance(data, str):
            return [part.encode("utf-8", "surrogatepass") for part in self._backend.split(data)]
        return self._backend.split_bytes(data)

    def offsets(self, text: Text, unit: Unit | None = None) -> NDArray[np.int64]:
        """Return the boundaries of the n pre-tokens of `text`: int64, shape (n + 1,).

        The first boundary is 0, and the last one is the length of `text`. `unit` is "char" (code
        points), "byte" (UTF-8 bytes) or "utf16" (UTF-16 code units). The default is the unit that
        indexes `text`: "char" for a str, "byte" for bytes. A lone surrogate in a str counts as 3
        bytes and as 1 code unit. A byte that is not valid UTF-8 counts as 1 in each unit. Raises
        ValueError for an unknown unit, or if the preset drops text; use `spans` for such a preset.

        >>> import pretok
        >>> pretok.get("gpt2").offsets("né 1").tolist()
        [0, 2, 4]
        >>> pretok.get("gpt2").offsets("né 1", unit="byte").tolist()
        [0, 3, 5]
        """
        data = as_str_or_bytes(text)
        if unit is None:
            unit = _unit_of(data)
        elif unit not in get_args(Unit):
            units = quoted(get_args(Unit))
            raise ValueError(f"unknown unit {shortened(unit)}; expected one of {units}")
        if self._preset.drops_text:
            raise ValueError(
                f"preset {self._preset.name!r} drops parts of the text, so its offsets have gaps; "
                "use spans() or explain()"
            )
        return self._backend.offsets(data, unit)

    def spans(self, text: Text) -> Iterator[tuple[int, int]]:
        """Yield the half-open span (start, end) of each pre-token, in order.

        Spans count code points if `text` is a str, else bytes. The spans cover `text` without gaps
        or overlap, unless the preset drops parts of `text`.

        >>> import pretok
        >>> list(pretok.get("gpt2").spans("I'm 25"))
        [(0, 1), (1, 3), (3, 6)]
        """
        data = as_str_or_bytes(text)
        if self._preset.drops_text:
            starts, ends, _ = self._steps(data)
            return zip(starts, ends, strict=True)
        bounds = self._backend.offsets(data, _unit_of(data)).tolist()
        return iter(pairwise(cast("list[int]", bounds)))

    def count(self, text: Text) -> int:
        """Return the number of pre-tokens of `text`, without storing them.

        >>> import pretok
        >>> pretok.get("gpt2").count("I'm 25")
        3
        """
        return self._backend.count(as_str_or_bytes(text))

    def split_batch(self, texts: Iterable[Text], *, threads: int | None = None) -> list[list[str]]:
        """Return the pre-tokens of each of `texts`, as `split` does.

        The native backend finds the boundaries with up to `threads` threads; the Python backend
        uses one thread. The default is one thread for each 2**20 code points of all texts together,
        but at least one thread, and not more than the number of processors. The result does not
        depend on `threads`. Raises TypeError if `texts` is one text, and ValueError if
        `threads` is less than 1.

        >>> import pretok
        >>> pretok.get("gpt2").split_batch(["a b", ""])
        [['a', ' b'], []]
        """
        if isinstance(texts, get_args(Text)):
            raise TypeError(
                f"expected an iterable of texts, got one {type(texts).__name__}; pass [text]"
            )
        if not isinstance(texts, Iterable):
            raise TypeError(f"expected an iterable of texts, got {type(texts).__name__}")
        batch = []
        for index, text in enumerate(texts):
            try:
                batch.append(as_str(text))
            except TypeError as error:
                raise TypeError(f"texts[{index}]: {error}") from None
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads={shortened(threads)}; expected None or an int of at least 1")
        return self._backend.split_batch(batch, _threads(batch) if threads is None else threads)

    def explain(self, text: Text) -> list[Step]:
        """Return each pre-token of `text` with its span, as in `spans`, and its rule.

        >>> import pretok
        >>> for step in pretok.get("gpt2").explain("I'm 25"):
        ...     print(step.start, step.end, repr(step.text), step.rule)
        0 1 'I'  ?\\p{L}+
        1 3 "'m" 's|'t|'re|'ve|'m|'ll|'d
        3 6 ' 25'  ?\\p{N}+
        """
        data = as_str_or_bytes(text)
        steps = zip(*self._steps(data), strict=True)
        if isinstance(data, str):
            return [Step(start, end, data[start:end], self._rule(i)) for start, end, i in steps]
        return [
            Step(start, end, data[start:end].decode("utf-8", ESCAPE), self._rule(i))
            for start, end, i in steps
        ]

    def _steps(self, data: str | bytes) -> tuple[list[int], list[int], list[int]]:
        """Return starts, ends and rule indices of the pre-tokens; starts and ends index `data`."""
        text = as_str(data)
        starts, ends, rules = self._backend.steps(text)
        if isinstance(data, bytes):
            widths = widths_of(code_points_of(text), "byte", from_str=False)
            byte_offsets = np.append(0, np.cumsum(widths))
            starts, ends = byte_offsets[starts], byte_offsets[ends]
        return starts.tolist(), ends.tolist(), rules.tolist()

    def _rule(self, index: int) -> Rule | None:
        """Return the rule at `index`; None if `index` is GAP."""
        return None if index == GAP else self._rules[index]

    def stream(self) -> Stream:
        """Return a new Stream, which splits a text that comes in chunks."""
        stages = self._preset.stages
        return Stream(
            [stage_backend(stage, self._unicode, self._backend_name) for stage in stages], stages
        )

    def __repr__(self) -> str:
        return (
            f"<PreTokenizer {self._preset.name!r}, Unicode {self._unicode}, {self._backend_name}>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PreTokenizer):
            return NotImplemented
        return (self._preset, self._unicode) == (other._preset, other._unicode)

    def __hash__(self) -> int:
        return hash((self._preset.name, self._unicode))

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle the requested backend (None by default) and not the backend in use. The process
        # that unpickles this object may not have the native backend.
        return PreTokenizer, (self._preset, self._unicode, self._requested_backend)


def native_machine(pre_tokenizer: PreTokenizer) -> Splitter:
    """Return the native backend for the preset and the Unicode version of `pre_tokenizer`.

    `pre_tokenizer` itself may use the Python backend.
    """
    return make_backend(pre_tokenizer.preset.stages, pre_tokenizer.unicode, "native")


def _threads(texts: Sequence[str]) -> int:
    # One thread for each 2**20 code points: to split them takes about 100 times as long as to start
    # a thread, which takes 20 us.
    return max(1, min(os.cpu_count() or 1, sum(map(len, texts)) >> 20))


def _unit_of(data: str | bytes) -> Unit:
    """Return the unit of an index into `data`: "char" for a str, "byte" for bytes."""
    return "char" if isinstance(data, str) else "byte"

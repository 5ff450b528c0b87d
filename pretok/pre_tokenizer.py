"""PreTokenizer: the public splitter, over the native or the pure Python backend."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from pretok.errors import shortened
from pretok.machine.backend import (
    BackendName,
    Splitter,
    choose_backend,
    make_backend,
    stage_backend,
)
from pretok.machine.machine import GAP, Unit
from pretok.machine.stream import Data, Stream
from pretok.preset import Preset
from pretok.rules import Rule
from pretok.unicode import check_version


class Step(NamedTuple):
    """One pre-token: `text`, from code point `start` to `end`, and the rule that matched it.

    `rule` is None if no rule of the preset matched.
    """

    start: int
    end: int
    text: str
    rule: Rule | None


class PreTokenizer:
    """Splitter text into pre-tokens as one preset says, in one Unicode version.

    Immutable; safe to share between threads; picklable. Get one with `pretok.get`. Every method
    takes time linear in the text. A str may hold lone surrogates; they are
    kept unchanged, like all code points of general category C. The pre-tokens cover the whole text,
    unless a stage of the preset drops parts (`preset.drops_text`).
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

    def split(self, text: str) -> list[str]:
        """Return the pre-tokens of `text`; joined, they are `text` again, if none is removed.

        Raises TypeError if `text` is not a str.

        >>> import pretok
        >>> pretok.get("gpt2").split("I'm 25")
        ['I', "'m", ' 25']
        """
        return self._backend.split(_require_str(text, "split_bytes"))

    def split_bytes(self, data: bytes | bytearray | memoryview) -> list[bytes]:
        """Return the pre-tokens of `data`, which holds UTF-8, as `split` does those of a str.

        Each byte that is not part of a well-formed UTF-8 sequence counts as one code point of
        general category C. Raises TypeError if `data` is not bytes, bytearray or memoryview.

        >>> import pretok
        >>> pretok.get("gpt2").split_bytes("né".encode() + bytes([0xFF]))
        [b'n\\xc3\\xa9', b'\\xff']
        """
        if isinstance(data, str):
            raise TypeError("expected bytes, got str; use split for a str")
        return self._backend.split_bytes(cast(bytes, _data(data)))

    def offsets(self, text: Data, unit: Unit | None = None) -> NDArray[np.int64]:
        """Return the boundaries of the n pre-tokens of `text`: int64, shape (n + 1,).

        The first is 0, the last the length of `text`. They count code points ("char"), UTF-8 bytes
        ("byte") or UTF-16 code units ("utf16"); by default what indexes `text` itself, "char" for
        a str and "byte" for bytes. A lone surrogate in a str is 3 bytes and 1 code unit; a byte
        that is not UTF-8 is 1 of each. Raises ValueError for another unit, and if the preset
        removes text, for which see `spans`; TypeError for another type of text.

        >>> import pretok
        >>> pretok.get("gpt2").offsets("né 1").tolist()
        [0, 2, 4]
        >>> pretok.get("gpt2").offsets("né 1", unit="byte").tolist()
        [0, 3, 5]
        """
        data = _data(text)
        if unit is None:
            unit = "char" if isinstance(data, str) else "byte"
        elif unit not in get_args(Unit):
            raise ValueError(f"unknown unit {shortened(unit)}; expected one of {get_args(Unit)}")
        if self._preset.drops_text:
            raise ValueError(
                f"preset {self._preset.name!r} removes parts of the text, so that its pre-tokens "
                "do not border on each other; use spans() or explain()"
            )
        return self._backend.offsets(data, unit)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the half-open span (start, end) of each pre-token, in code points, in order.

        Spans cover all of `text`, without gaps or overlap, unless the preset removes parts of it.

        >>> import pretok
        >>> list(pretok.get("gpt2").spans("I'm 25"))
        [(0, 1), (1, 3), (3, 6)]
        """
        _require_str(text, "offsets")
        if self._preset.drops_text:
            starts, ends, _ = self._backend.steps(text)
            return zip(starts.tolist(), ends.tolist(), strict=True)
        bounds = self._backend.offsets(text, "char").tolist()
        return iter(pairwise(cast("list[int]", bounds)))

    def count(self, text: Data) -> int:
        """Return the number of pre-tokens of `text`, a str or bytes that hold UTF-8.

        >>> import pretok
        >>> pretok.get("gpt2").count("I'm 25")
        3
        """
        return self._backend.count(_data(text))

    def split_batch(self, texts: Sequence[str], threads: int | None = None) -> list[list[str]]:
        """Return the pre-tokens of each of `texts`.

        The native backend finds the boundaries with up to `threads` threads, by default as many as
        the work is worth; the result does not depend on it. Raises TypeError if `texts` is a str
        or holds anything else than str, ValueError if `threads` is less than 1.

        >>> import pretok
        >>> pretok.get("gpt2").split_batch(["a b", ""])
        [['a', ' b'], []]
        """
        if isinstance(texts, (str, bytes)):
            raise TypeError(f"expected a sequence of str, got one {type(texts).__name__}")
        checked = [_require_str(text, "split_bytes") for text in texts]
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads={shortened(threads)}; expected None or an int of at least 1")
        return self._backend.split_batch(checked, _threads(checked) if threads is None else threads)

    def explain(self, text: str) -> list[Step]:
        """Return each pre-token of `text` with its span in code points and its rule.

        >>> import pretok
        >>> for step in pretok.get("gpt2").explain("I'm 25"):
        ...     print(step.start, step.end, repr(step.text), step.rule)
        0 1 'I'  ?\\p{L}+
        1 3 "'m" 's|'t|'re|'ve|'m|'ll|'d
        3 6 ' 25'  ?\\p{N}+
        """
        starts, ends, rules = self._backend.steps(_require_str(text, "split_bytes"))
        return [
            Step(start, end, text[start:end], self.rule(index))
            for start, end, index in zip(
                starts.tolist(), ends.tolist(), rules.tolist(), strict=True
            )
        ]

    def rule(self, index: int) -> Rule | None:
        """Return the preset's rule of this index, None for -1 (no rule matched)."""
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
        # The native backend may be missing at unpickling, so pickle the requested backend.
        return PreTokenizer, (self._preset, self._unicode, self._requested_backend)


def native_machine(pre_tokenizer: PreTokenizer) -> Splitter:
    """Return the C++ machine of `pre_tokenizer`, independent of its own backend."""
    return make_backend(pre_tokenizer.preset.stages, pre_tokenizer.unicode, "native")


def _threads(texts: Sequence[str]) -> int:
    # A thread costs some 20 us to start, the time of 10 kB of text; 1 MB each is well worth it.
    return max(1, min(os.cpu_count() or 1, sum(map(len, texts)) >> 20))


def _require_str(text: object, bytes_method: str) -> str:
    if not isinstance(text, str):
        hint = f"; use {bytes_method} for bytes" if isinstance(text, (bytes, bytearray)) else ""
        raise TypeError(f"expected str, got {type(text).__name__}{hint}")
    return text


def _data(text: object) -> str | bytes:
    if isinstance(text, (str, bytes)):
        return text
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"expected str or bytes, got {type(text).__name__}")

"""Splitting a text that comes in chunks."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from pretok.behaviors import apply_behavior
from pretok.machine.backend import Backend
from pretok.machine.machine import GAP
from pretok.stage import Stage
from pretok.text import ESCAPE, Text, as_str_or_bytes

_Part: TypeAlias = tuple[str, int, int, bool]
"""Some of a pre-token: text, first code point, rule, and whether it is the last of the pre-token.

Only of a gap is there more than one. A plain tuple, as a stream makes one for each pre-token.
"""


class Stream:
    """Splits a text that comes in chunks, for any chunking exactly as the whole text would be.

    `feed` returns the pre-tokens that no later text could change and holds back the rest, of which
    there is at most the last pre-token and what may follow it; `finish` returns what was held
    back. (A gap, which no rule matched, comes out together with the match behind it.) Chunks are
    all str or all bytes. Bytes are UTF-8, and may be cut inside a sequence; a byte that is not
    UTF-8 comes out as the lone surrogate U+DC00 + byte, as Python's error handler
    "surrogateescape" has it, so nothing is lost. Linear time, whatever the size of the chunks. Not
    to be shared between threads.

    >>> import pretok
    >>> stream = pretok.get("llama3").stream()
    >>> stream.feed("Hello wor"), stream.feed("ld!"), stream.finish()
    (['Hello'], [' world'], ['!'])
    """

    def __init__(self, backends: Sequence[Backend], stages: Sequence[Stage]) -> None:
        """`backends` has for each of `stages` one that splits as it alone does."""
        self._stages: list[_StageStream] = []
        before = 0
        for backend, stage in zip(backends, stages, strict=True):
            self._stages.append(_StageStream(backend, stage, before))
            before += len(stage.rules)
        self._decoder: codecs.IncrementalDecoder | None = None
        self._kind: type[str] | type[bytes] | None = None
        self._read = 0  # code points so far
        self._begun: list[str] = []  # of a pre-token that is not done
        self._finished = False

    def feed(self, chunk: Text) -> list[str]:
        """Return the pre-tokens that `chunk` completes.

        Raises TypeError if `chunk` is not of the type of the chunks before, and ValueError after
        `finish`.
        """
        return [text for text, _ in self.feed_steps(chunk)]

    def finish(self) -> list[str]:
        """Return the pre-tokens that were held back, and close the stream."""
        return [text for text, _ in self.finish_steps()]

    def feed_steps(self, chunk: Text) -> list[tuple[str, int]]:
        """As `feed`, each pre-token with the index of its rule, -1 where none matched."""
        return [(text, rule) for _, text, rule in self.feed_spans(chunk)]

    def finish_steps(self) -> list[tuple[str, int]]:
        """As `finish`, each pre-token with the index of its rule, -1 where none matched."""
        return [(text, rule) for _, text, rule in self.finish_spans()]

    def feed_spans(self, chunk: Text) -> list[tuple[int, str, int]]:
        """As `feed_steps`, before each the code point of the whole text that it starts at."""
        return self._steps(self._chars(chunk), last=False)

    def finish_spans(self) -> list[tuple[int, str, int]]:
        """As `finish_steps`, before each the code point of the whole text that it starts at."""
        self._check_open()
        rest = self._decoder.decode(b"", True) if self._decoder else ""
        self._finished = True
        return self._steps(rest, last=True)

    def _check_open(self) -> None:
        if self._finished:
            raise ValueError("the stream is finished; make a new one with stream()")

    def _chars(self, chunk: Text) -> str:
        self._check_open()
        chunk = as_str_or_bytes(chunk)
        kind = str if isinstance(chunk, str) else bytes
        if self._kind is None:
            self._kind = kind
        elif kind is not self._kind:
            raise TypeError(
                f"expected a chunk of {self._kind.__name__} like those before, got {kind.__name__}"
            )
        if isinstance(chunk, str):
            return chunk
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder("utf-8")(ESCAPE)
        return self._decoder.decode(chunk)

    def _steps(self, chars: str, last: bool) -> list[tuple[int, str, int]]:
        parts: Iterable[_Part] = [(chars, self._read, GAP, last)]
        self._read += len(chars)
        for stage in self._stages:
            parts = [found for part in parts for found in stage.cut(part)]
        steps: list[tuple[int, str, int]] = []
        for text, start, rule, done in parts:
            if done and text and not self._begun:
                steps.append((start, text, rule))
                continue
            self._begun.append(text)
            if done:
                whole = "".join(self._begun)
                self._begun = []
                if whole:
                    steps.append((start + len(text) - len(whole), whole, rule))
        return steps


class _StageStream:
    """One stage: cuts what the stage before gives, part by part."""

    def __init__(self, backend: Backend, stage: Stage, before: int) -> None:
        self._backend = backend
        self._stage = stage
        self._before = before  # rules of the stages before
        self._whole = stage.behavior == "isolated"
        self._pending: list[_Pending] = []
        self._begun: list[str] = []  # of a gap, if it is not given on before it is done
        self._start()

    def _start(self) -> None:
        self._in_gap = False
        self._matched: list[str] = []  # the start of an undecided match of the rule
        self._rule = GAP
        self._held: list[str] = []  # text of which nothing is decided
        self._open = 0  # while what follows is of these classes, and
        self._room = 0  # fewer than so many code points, nothing will be

    def cut(self, part: _Part) -> list[_Part]:
        """Return what is decided of the piece that `part` belongs to, and was not before."""
        piece, begin, outer, last = part
        if self._open and not last:
            inside = self._backend.run_length(piece, self._open)
            if inside == len(piece) < self._room:
                self._held.append(piece)
                self._room -= inside
                return []
        found = self._advance(piece, begin, last)
        if not self._whole:
            found = self._settled(found, last)
        if last:
            self._start()
        if outer == GAP and not self._before:
            return found
        return [
            (text, start, outer if rule == GAP else self._before + rule, done)
            for text, start, rule, done in found
        ]

    def _advance(self, piece: str, begin: int, last: bool) -> list[_Part]:
        text = "".join([*self._held, piece])
        before = begin + len(piece) - len(text)  # a piece has no gap in it
        matched, matched_by = self._matched, self._rule
        ends, rules, resume, in_gap, undecided, restart, self._room, self._open = (
            self._backend.advance(text, not last, self._in_gap, matched_by)
        )
        parts: list[_Part] = []
        start = 0
        for end, rule in zip(ends, rules, strict=True):
            part, at = text[start:end], before + start
            if matched:
                size = sum(map(len, matched))
                at -= size
                if rule == matched_by:
                    part, matched = "".join([*matched, part]), []
            parts.append((part, at, rule, True))
            start = end
        if in_gap and start < resume:
            parts.append((text[start:resume], before + start, GAP, False))
        self._in_gap = in_gap
        # Text before `restart` is not read again, or else one word at a time would take quadratic
        # time.
        self._rule = matched_by if matched else undecided
        self._matched = matched
        if resume < restart:
            self._matched.append(text[resume:restart])
        self._held = [text[restart:]] if restart < len(text) else []
        return parts

    def _settled(self, parts: list[_Part], last: bool) -> list[_Part]:
        """Return what the stage's behavior makes of `parts` and of what is pending."""
        for text, start, rule, done in parts:
            self._begun.append(text)
            if done:
                size = sum(map(len, self._begun))
                self._pending.append(_Pending(self._begun, start + len(text) - size, size, rule))
                self._begun = []
        spans = [
            (pending.start, pending.start + pending.size, pending.rule != GAP)
            for pending in self._pending
        ]
        kept = list(apply_behavior(spans, self._stage.behavior, self._stage.invert))
        # What comes next may be joined to the last part.
        settled = kept if last or self._stage.drops_text else kept[:-1]
        found, at = [], 0
        for start, end, _ in settled:
            while spans[at][0] < start:
                at += 1
            first = at
            while at < len(spans) and spans[at][1] <= end:
                at += 1
            found.append(_joined(self._pending[first:at]))
        self._pending = [] if last or self._stage.drops_text else self._pending[at:]
        if len(self._pending) > 1 and self._stage.behavior == "contiguous":
            one, *others = self._pending
            for other in others:
                one.texts.extend(other.texts)
            size = sum(pending.size for pending in self._pending)
            self._pending = [_Pending(one.texts, one.start, size, one.rule)]
        return found


class _Pending(NamedTuple):
    """A match or a gap that may be joined to another."""

    texts: list[str]
    start: int
    size: int
    rule: int


def _joined(pending: Sequence[_Pending]) -> _Part:
    text = "".join(text for each in pending for text in each.texts)
    rule = next((each.rule for each in pending if each.rule != GAP), GAP)
    return text, pending[0].start, rule, True

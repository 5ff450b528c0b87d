"""Split a text that comes in chunks."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from pretok.behaviors import apply_behavior
from pretok.machine.machine import GAP, Backend
from pretok.rules import Rule
from pretok.stage import Stage
from pretok.text import ESCAPE, Text, as_str_or_bytes

_Part: TypeAlias = tuple[str, int, int, bool]
"""A part of a pre-token: (text, start, rule, True for the last part of the pre-token).

`start` is in code points of the whole text. Only a gap can have several parts. A plain tuple is
faster than a NamedTuple.
"""
IndexedPreToken: TypeAlias = tuple[int, str, int]
"""A pre-token: (start in code points of the whole text, text, index of its rule or GAP)."""


class Step(NamedTuple):
    """One pre-token: its half-open span, its text, and the rule that matched it.

    `start` and `end` count code points if the text is a str, else bytes; in a stream, always code
    points. `rule` is None if no rule of the preset matched.
    """

    start: int
    end: int
    text: str
    rule: Rule | None


class Stream:
    """Splits a text that comes in chunks into the pre-tokens of the whole text.

    `feed` returns the pre-tokens that no later text can change, and holds back the rest of the
    text: at most the last pre-token and a look-ahead after it. `finish` returns the pre-tokens of
    the text held back. A gap (text that no rule matched) is returned by the same call as the match
    after it, or by `finish`.

    Chunks are all str or all bytes. Bytes hold UTF-8, and a chunk may end inside a sequence. An
    invalid byte becomes the lone surrogate U+DC00 + byte, as with Python's error handler
    "surrogateescape". The total time is linear in the length of the text, even for tiny chunks. A
    stream is not safe to share between threads.

    >>> import pretok
    >>> stream = pretok.get("llama3").stream()
    >>> stream.feed("Hello wor"), stream.feed("ld!"), stream.finish()
    (['Hello'], [' world'], ['!'])
    """

    def __init__(self, backends: Sequence[Backend], stages: Sequence[Stage]) -> None:
        """Combine the stages; `backends[i]` splits by the rules of `stages[i]` only.

        The stream itself applies the behavior of each stage.
        """
        self._rules = [rule for stage in stages for rule in stage.rules]
        self._stages: list[_StageStream] = []
        before = 0
        for backend, stage in zip(backends, stages, strict=True):
            self._stages.append(_StageStream(backend, stage, before))
            before += len(stage.rules)
        self._decoder: codecs.IncrementalDecoder | None = None
        self._chunk_type: type[str] | type[bytes] | None = None
        self._size = 0  # number of code points in all chunks so far
        self._unfinished: list[str] = []  # the parts so far of an incomplete pre-token
        self._is_finished = False

    def feed(self, chunk: Text) -> list[str]:
        """Return the pre-tokens that `chunk` completes.

        Raises TypeError if `chunk` has another type than earlier chunks, and ValueError if the
        stream is finished.
        """
        return [text for _, text, _ in self._pre_tokens(self._chars(chunk), last=False)]

    def finish(self) -> list[str]:
        """Return the remaining pre-tokens, and close the stream."""
        return [text for _, text, _ in self._rest()]

    def feed_steps(self, chunk: Text) -> list[Step]:
        """Return the pre-tokens that `chunk` completes, each with its span and its rule.

        Together with `finish_steps`, these are the steps of `explain`. Spans always count code
        points of the whole text. Raises the errors of `feed`.
        """
        return self._steps(self._pre_tokens(self._chars(chunk), last=False))

    def finish_steps(self) -> list[Step]:
        """Return the remaining pre-tokens as `feed_steps` does, and close the stream."""
        return self._steps(self._rest())

    def __reduce__(self) -> str:
        raise TypeError("cannot copy or pickle a Stream; feed its text to another stream")

    def _steps(self, pre_tokens: list[IndexedPreToken]) -> list[Step]:
        return [
            Step(start, start + len(text), text, None if rule == GAP else self._rules[rule])
            for start, text, rule in pre_tokens
        ]

    def _rest(self) -> list[IndexedPreToken]:
        """Return the remaining pre-tokens, and close the stream."""
        self._check_open()
        rest = self._decoder.decode(b"", True) if self._decoder else ""
        self._is_finished = True
        return self._pre_tokens(rest, last=True)

    def _check_open(self) -> None:
        if self._is_finished:
            raise ValueError("the stream is finished; get another with stream()")

    def _chars(self, chunk: Text) -> str:
        """Return `chunk` as a str, but keep an incomplete UTF-8 sequence at the end for later."""
        self._check_open()
        chunk = as_str_or_bytes(chunk)
        chunk_type = str if isinstance(chunk, str) else bytes
        if self._chunk_type is None:
            self._chunk_type = chunk_type
        elif chunk_type is not self._chunk_type:
            raise TypeError(
                f"expected a chunk of type {self._chunk_type.__name__} like the first chunk, got "
                f"{chunk_type.__name__}"
            )
        if isinstance(chunk, str):
            return chunk
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder("utf-8")(ESCAPE)
        return self._decoder.decode(chunk)

    def _pre_tokens(self, chars: str, last: bool) -> list[IndexedPreToken]:
        """Return the pre-tokens that `chars` completes; `last` is true if the text ends there."""
        parts: Iterable[_Part] = [(chars, self._size, GAP, last)]
        self._size += len(chars)
        for stage in self._stages:
            parts = [inner for part in parts for inner in stage.cut(part)]
        pre_tokens: list[IndexedPreToken] = []
        for text, start, rule, is_last in parts:
            if is_last and text and not self._unfinished:
                pre_tokens.append((start, text, rule))
                continue
            self._unfinished.append(text)
            if is_last:
                whole = "".join(self._unfinished)
                self._unfinished = []
                if whole:
                    pre_tokens.append((start + len(text) - len(whole), whole, rule))
        return pre_tokens


class _StageStream:
    """One stage of a stream. It gets each piece of the previous stage as one or more parts."""

    def __init__(self, backend: Backend, stage: Stage, before: int) -> None:
        self._backend = backend
        self._stage = stage
        self._rules_before = before  # the number of rules of earlier stages
        self._is_isolated = stage.behavior == "isolated"
        self._pending: list[_Pending] = []
        self._unfinished: list[str] = []  # parts of a gap that may continue
        self._begin_piece()

    def _begin_piece(self) -> None:
        # Fields of the last result of Backend.advance (`Advance` of machine.py) for this piece, and
        # the undecided text of the piece.
        self._in_gap = False
        self._matched: list[str] = []  # the text of an undecided match up to `restart`
        self._rule = GAP  # the rule of the undecided match
        self._held: list[str] = []  # undecided text from `restart` on
        self._pending_mask = 0
        self._pending_limit = 0

    def cut(self, part: _Part) -> list[_Part]:
        """Take the next part of a piece; return the parts of pre-tokens that are now decided."""
        text, start, outer, last = part
        if self._pending_mask and not last:
            inside = self._backend.run_length(text, self._pending_mask)
            # Fewer than `_pending_limit` code points, all with classes in `_pending_mask`, decide
            # nothing. So hold them without trying the rules again.
            if inside == len(text) < self._pending_limit:
                self._held.append(text)
                self._pending_limit -= inside
                return []
        parts = self._advance(text, start, last)
        if not self._is_isolated:
            parts = self._apply_behavior(parts, last)
        if last:
            self._begin_piece()
        if outer == GAP and not self._rules_before:
            return parts
        return [
            (text, start, outer if rule == GAP else self._rules_before + rule, is_last)
            for text, start, rule, is_last in parts
        ]

    def _advance(self, new_text: str, new_start: int, last: bool) -> list[_Part]:
        """Return the matches and gaps in the held text and `new_text` that are now decided."""
        text = "".join([*self._held, new_text])
        text_start = new_start + len(new_text) - len(text)
        matched, matched_by = self._matched, self._rule
        ends, rules, resume, in_gap, undecided, restart, limit, mask = self._backend.advance(
            text, not last, self._in_gap, matched_by
        )
        self._pending_limit, self._pending_mask = limit, mask
        parts: list[_Part] = []
        start = 0
        for end, rule in zip(ends, rules, strict=True):
            part, at = text[start:end], text_start + start
            # If the undecided match follows a gap, the first part is empty and ends this gap.
            if matched:
                size = sum(map(len, matched))
                at -= size
                if rule == matched_by:
                    part, matched = "".join([*matched, part]), []
            parts.append((part, at, rule, True))
            start = end
        if in_gap and start < resume:
            parts.append((text[start:resume], text_start + start, GAP, False))
        self._in_gap = in_gap
        # Never scan text before `restart` again: otherwise small chunks would take quadratic time.
        self._rule = matched_by if matched else undecided
        self._matched = matched
        if resume < restart:
            self._matched.append(text[resume:restart])
        self._held = [text[restart:]] if restart < len(text) else []
        return parts

    def _apply_behavior(self, parts: list[_Part], last: bool) -> list[_Part]:
        """Apply the behavior of the stage to the pending spans and to `parts`.

        Return the results that no later part can change. `parts` are matches and gaps.
        """
        for text, start, rule, is_last in parts:
            self._unfinished.append(text)
            if is_last:
                size = sum(map(len, self._unfinished))
                whole_start = start + len(text) - size
                self._pending.append(_Pending(self._unfinished, whole_start, size, rule))
                self._unfinished = []
        spans = [
            (pending.start, pending.start + pending.size, pending.rule != GAP)
            for pending in self._pending
        ]
        kept = list(apply_behavior(spans, self._stage.behavior, self._stage.invert))
        # Hold the last result back, because the next match or gap may join it. If the behavior is
        # "removed", nothing is joined.
        decided = kept if last or self._stage.drops_text else kept[:-1]
        results, at = [], 0
        for start, end, _ in decided:
            while spans[at][0] < start:
                at += 1
            first = at
            while at < len(spans) and spans[at][1] <= end:
                at += 1
            results.append(_joined(self._pending[first:at]))
        self._pending = [] if last or self._stage.drops_text else self._pending[at:]
        # Join adjacent matches, or adjacent gaps, at once. Otherwise a long run of matches or of
        # gaps would take quadratic time.
        if len(self._pending) > 1 and self._stage.behavior == "contiguous":
            first_pending, *rest = self._pending
            for pending in rest:
                first_pending.texts.extend(pending.texts)
            size = sum(pending.size for pending in self._pending)
            joined = _Pending(first_pending.texts, first_pending.start, size, first_pending.rule)
            self._pending = [joined]
        return results


class _Pending(NamedTuple):
    """A match or a gap that the next match or gap may join."""

    texts: list[str]
    start: int
    size: int
    rule: int


def _joined(pending: Sequence[_Pending]) -> _Part:
    text = "".join(text for item in pending for text in item.texts)
    rule = next((item.rule for item in pending if item.rule != GAP), GAP)
    return text, pending[0].start, rule, True

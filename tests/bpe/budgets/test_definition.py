"""Truncated texts and chunks agree with their definition, which tries each place of the text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from bpe.budgets.chunking import Chunk
from budgets import Case, cases
from support import seeded

LIMITS = [0, 1, 2, 3, 4, 6, 10, 15]


def test_truncated_texts_are_the_longest(tmp_path: Path) -> None:
    random, tried = seeded("limits"), 0
    for case in cases("truncated", tmp_path, 15):
        text, n = case.text, random.choice(LIMITS)
        borders = case.borders()
        end = max((place for place in borders if case.ids(text[:place]) <= n), default=0)
        start = min(place for place in borders if case.ids(text[place:]) <= n or not text[place:])
        for tok in case.tokenizers:
            assert tok.truncate(text, n, special=case.special) == text[:end], (case, n)
            assert tok.truncate(text, n, "left", special=case.special) == text[start:], (case, n)
            count = tok.count_up_to(text, n, special=case.special)
            assert count == min(case.ids(text), n + 1), (case, n)
        tried += 1
    assert tried > 20


def test_the_middle_is_cut_out(tmp_path: Path) -> None:
    random, shortened = seeded("middle"), 0
    for case in cases("middle", tmp_path, 12):
        text, n = case.text, random.choice(LIMITS)
        ellipsis: Any = "…" if isinstance(text, str) else b".."
        results: list[Any] = []
        for tok in case.tokenizers:
            try:
                result = tok.truncate(text, n, "middle", ellipsis=ellipsis, special=case.special)
            except ValueError:
                results.append(None)
                assert case.ids(ellipsis) > n
                continue
            results.append(result)
            if result == text:
                assert case.ids(text) <= n
                continue
            # The end is the longest one after the start.
            head, tail = _parts(case, tok, result, ellipsis, n)
            assert case.ids(result) <= n, (case, n, result)
            later = [at for at in case.borders() if len(head) <= at < len(text) - len(tail)]
            longer = [at for at in later if case.ids(head + ellipsis + text[at:]) <= n]
            assert not longer, (case, n, result)
            shortened += 1
        assert results.count(results[0]) == len(results)
    assert shortened > 8


def _parts(case: Case, tok: Any, result: Any, ellipsis: Any, n: int) -> tuple[Any, Any]:
    """Return the parts of a result around `ellipsis`."""
    for half in range((n + 1) // 2, -1, -1):
        head = tok.truncate(case.text, half, special=case.special)
        rest = result[len(head) + len(ellipsis) :]
        if result == head + ellipsis + rest and case.text.endswith(rest):
            return head, rest
    raise AssertionError(result)


def test_chunks_are_the_longest(tmp_path: Path) -> None:
    random, tried = seeded("chunk limits"), 0
    for case in cases("chunks", tmp_path, 12):
        n = random.choice(LIMITS[1:])
        for on, kind in (("token", case.token_borders()), ("line", case.line_borders())):
            results = [_chunks(tok, case, n, 0, on) for tok in case.tokenizers]
            assert results.count(results[0]) == len(results), (case, n, on)
            chunks = results[0]
            if chunks is None:
                borders = case.borders()
                parts = pairwise(borders)
                assert any(case.ids(case.text[start:end]) > n for start, end in parts)
                continue
            _check(case, chunks, n, 0)
            for chunk in chunks:
                for borders in (kind, *([case.borders()] if on == "token" else [])):
                    fitting = [
                        place for place in borders
                        if place > chunk.start and case.ids(case.text[chunk.start:place]) <= n
                    ]  # fmt: skip
                    if fitting:
                        assert chunk.end == max(fitting), (case, n, on, chunk)
                        break
            tried += 1
    assert tried > 30


def _chunks(tok: Any, case: Case, n: int, overlap: int, on: Any) -> list[Chunk] | None:
    """Return the chunks; None if a character has too many ids."""
    try:
        return list(tok.chunks(case.text, n, overlap, on, special=case.special))
    except ValueError as error:
        if "pass a larger n" not in str(error):
            raise
        return None


def _check(case: Case, chunks: list[Chunk], n: int, overlap: int) -> None:
    """Check that the chunks cover the text, fit, and overlap by at most `overlap` ids."""
    text, borders = case.text, set(case.borders())
    end, last_start = 0, -1
    for chunk in chunks:
        assert last_start < chunk.start <= end < chunk.end, (case, chunks)
        assert {chunk.start, chunk.end} <= borders, (case, chunk)
        assert text[chunk.start : chunk.end] == chunk.text, (case, chunk)
        assert case.ids(chunk.text) == chunk.size <= n, (case, n, chunk)
        if chunk.start < end:
            assert case.ids(text[chunk.start : end]) <= overlap, (case, chunk)
        end, last_start = chunk.end, chunk.start
    assert end == len(text)


def test_overlaps_and_all_kinds(tmp_path: Path) -> None:
    random, overlaps = seeded("overlaps"), 0
    kinds = ["token", "pre-token", "sentence", "line", lambda text: range(0, len(text), 3)]
    for case in cases("overlaps", tmp_path, 12):
        on, n = random.choice(kinds), random.choice(LIMITS[2:])
        overlap = random.randrange(n)
        results = [_chunks(tok, case, n, overlap, on) for tok in case.tokenizers]
        assert results.count(results[0]) == len(results), (case, n, overlap)
        if results[0] is not None:
            _check(case, results[0], n, overlap)
            ends = [0, *(chunk.end for chunk in results[0])]
            overlaps += any(chunk.start < end for chunk, end in zip(results[0], ends, strict=False))
    assert overlaps > 5

"""Variations of the published patterns. Each variation changes one number, class or quantifier."""

from __future__ import annotations

from collections.abc import Iterator

import regex

import pretok
from pretok.preset import ENGINES, Engine

# A regex that matches part of a published pattern, and texts that might replace this part.
CHANGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\{1,3\}\+", ("{1,2}+", "{2,3}+", "+", "{3}")),
    (r"\{1,3\}(?!\+)", ("{1,2}", "{1,4}", "{2,3}", "{3}", "{2,}", "", "+", "*", "{1,3}+")),
    (r"\{\d+\}", ("{2}", "{5}", "{1,4}")),
    (r"(?<=[}\]LNMs])\+(?![+?])", ("++", "+?", "*", "{2,}", "{1,5}", "")),
    (r"(?<=[}\]LNMs])\+\+", ("+", "{2,}", "*+")),
    (r"(?<=\])\?(?![+?])", ("?+", "??", "", "*", "{0,2}")),
    (r"(?<= )\?", ("?+", "??", "", "*")),
    (r"(?<=\])\*(?![+?])", ("*+", "*?", "?", "+", "{0,3}")),
    (r"\\s\*", (r"\s+", r"\s*+", r"\s?", r"[ \t]*")),
    (r"\(\?!\\S\)", (r"(?=\s|\z)", r"(?!\p{L})", r"(?=\s)", r"(?!\S+)", r"\z", "$")),
    (r"\\s\+(?=\()", (r"\s++", r"\s+?", r"\s{1,4}", r"\s{2}", "[ ]+")),
    (r"\[\\r\\n\]", (r"\n", r"[\n\r/]", r"[^\S ]", r"(?:\r|\n)")),
    (r"\[\\r\\n/\]", (r"[\r\n]", "/", r"[/\s]")),
    (r"(?<!\^)\\p\{L\}(?=[+\]])", (r"[\p{L}\p{M}]", r"\p{Lu}", "[a-zA-Z]", r"\w", r"[\p{L}']")),
    (r"\\p\{N\}(?=[{+|])", (r"\d", "[0-9]", r"[\p{N}_]", r"[\p{N}&&[^0-9]]", r"\p{Nd}")),
    (r"\[\^\\s\\p\{L\}\\p\{N\}\]", (r"[^\s\p{L}]", r"[\p{P}\p{S}]", r"[^\s\w]", r"[^ \p{L}\p{N}]")),
    (r"\[\^\\r\\n\\p\{L\}\\p\{N\}\]", (r"[^\n\p{L}]", r"[^\s\w]", " ", ".", r"\W", r"[\s\p{P}]")),
    (r"\(\?i:", ("(?:",)),
    (r"'re\|", ("'re|'em|", "'r|'re|", "", "n't|")),
    (r"\\p\{Ll\}\\p\{Lm\}", (r"\p{Ll}", r"\p{Ll}\p{Nd}\p{Lm}")),
    (r"\|\\s\+$", ("", r"|\s", "|.")),
    (r"^", (r"\p{Han}+|", "<[a-z]+>|", r"\d{1,3}(?=(?:\d{3})*(?!\d))|", r"[A-Z][a-z]*|", "[ab]c|")),
)


def variations() -> Iterator[tuple[str, Engine]]:
    """Yield each distinct variation of patterns of up to 400 characters, with one of two engines.

    The engines alternate.
    """
    seen: set[str] = set()
    for preset in pretok.presets():
        for stage in preset.stages:
            if not stage.pattern or len(stage.pattern) > 400:
                continue
            for varied in _varied(stage.pattern):
                if varied not in seen:
                    seen.add(varied)
                    yield varied, ENGINES[len(seen) % 2]


def _varied(pattern: str) -> Iterator[str]:
    for found, changes in CHANGES:
        for match in regex.finditer(found, pattern):
            for change in changes:
                yield pattern[: match.start()] + change + pattern[match.end() :]

"""Write sets as the presets write them, and shorten them for errors."""

from __future__ import annotations

from dataclasses import fields, replace

from pretok.charsets.notation import set_regex
from pretok.charsets.sets import ALL_ATOMS, CharSet
from pretok.rules import Rule
from pretok.unicode.atoms import Atom

_NEWLINE, _SPACE = 1 << Atom.NEWLINE, 1 << Atom.SPACE


def spelt(rule: Rule) -> Rule:
    r"""Return `rule` with its sets spelt as the presets spell them.

    >>> from pretok.charsets.sets import code_points
    >>> from pretok.rules import Run
    >>> spelt(Run(code_points("\r", "\n")))
    Run(NEWLINE)
    """
    sets = {each.name: getattr(rule, each.name) for each in fields(rule)}
    changes = {name: _spelt(value) for name, value in sets.items() if isinstance(value, CharSet)}
    return replace(rule, **changes) if changes else rule


def _spelt(chars: CharSet) -> CharSet:
    """Return `chars` with line breaks and U+0020 as atoms instead of ASCII code points."""
    fixed = _SPACE
    if chars.mask_at(0x0A) & _NEWLINE == chars.mask_at(0x0D) & _NEWLINE:
        fixed |= _NEWLINE
    known = (chars.mask_at(0x20) & _SPACE | chars.mask_at(0x0A) & _NEWLINE) & fixed
    kept: list[tuple[int, int]] = []
    for first, mask in chars.segments:
        if mask != ALL_ATOMS:
            mask = mask & ~fixed | known
        if not kept or kept[-1][1] != mask:
            kept.append((first, mask))
    return CharSet(tuple(kept))


def short_regex(chars: CharSet) -> str:
    """Return the regex of `chars`, cut after 40 characters; without a regex, its first member."""
    text = set_regex(chars)
    if "CharSet(" in text:
        first = next(start for start, mask in chars.segments if mask)
        return f"a set from U+{first:04X} on"
    return text if len(text) <= 40 else f"{text[:40]}..."

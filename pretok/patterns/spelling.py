"""Rewrite sets in the form that presets use, and shorten sets for error messages.

pretok.charsets.sets explains the atoms and masks of a set.
"""

from __future__ import annotations

from dataclasses import fields, replace

from pretok.charsets.notation import set_regex
from pretok.charsets.sets import ALL_ATOMS, CharSet
from pretok.rules import Rule
from pretok.unicode.atoms import Atom

_NEWLINE, _SPACE = 1 << Atom.NEWLINE, 1 << Atom.SPACE


def spelt(rule: Rule) -> Rule:
    r"""Return `rule` with every set in the form that presets use.

    >>> from pretok.charsets.sets import code_points
    >>> from pretok.rules import Run
    >>> spelt(Run(code_points("\r", "\n")))
    Run(NEWLINE)
    """
    sets = {each.name: getattr(rule, each.name) for each in fields(rule)}
    changes = {name: _spelt(value) for name, value in sets.items() if isinstance(value, CharSet)}
    return replace(rule, **changes) if changes else rule


def _spelt(chars: CharSet) -> CharSet:
    """Return `chars` with the atoms SPACE and NEWLINE either in all masks or in none.

    The result has the same code points: only U+0020 has the atom SPACE, and only U+000A and U+000D
    have the atom NEWLINE. NEWLINE stays if only one of these two is in `chars`. A mask with all
    atoms stays too, because it stands for a range outside ASCII.
    """
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
    """Return the regex of `chars`, cut after 40 characters.

    If `chars` has no regex, return a phrase with the start of the first range of `chars`.
    """
    text = set_regex(chars)
    if "CharSet(" in text:
        first = next(start for start, mask in chars.segments if mask)
        return f"a set from U+{first:04X} on"
    return text if len(text) <= 40 else f"{text[:40]}..."

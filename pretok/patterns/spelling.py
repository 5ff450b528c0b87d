r"""Rewrite sets in the form that presets use, and shorten sets for error messages.

Presets use NEWLINE instead of code_points("\r", "\n"), and SPACE instead of code_points(" ").
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
    have the atom NEWLINE. If `chars` has only one of U+000A and U+000D, no mask gains or loses
    NEWLINE. A mask with all atoms does not change, because it belongs to a range outside ASCII.
    """
    uniform = _SPACE  # atoms that all masks of the result have, or none
    if chars.mask_at(0x0A) & _NEWLINE == chars.mask_at(0x0D) & _NEWLINE:
        uniform |= _NEWLINE
    included = (chars.mask_at(0x20) & _SPACE | chars.mask_at(0x0A) & _NEWLINE) & uniform
    kept: list[tuple[int, int]] = []
    for first, mask in chars.segments:
        if mask != ALL_ATOMS:
            mask = mask & ~uniform | included
        if not kept or kept[-1][1] != mask:
            kept.append((first, mask))
    return CharSet(tuple(kept))


def short_regex(chars: CharSet) -> str:
    """Return the regex of `chars`, cut after 40 characters.

    If `chars` has no regex, return a phrase with the start of the first range of `chars`.
    """
    # For a set with neither a regex nor a name, `text` contains the segments: "CharSet(...)".
    text = set_regex(chars)
    if "CharSet(" in text:
        first = next(start for start, mask in chars.segments if mask)
        return f"a set from U+{first:04X} on"
    return text if len(text) <= 40 else f"{text[:40]}..."

"""Write character sets in Python and in regex notation, for people: repr, explain, errors."""

from __future__ import annotations

from functools import reduce
from operator import or_

from pretok import classes
from pretok.classes import ALL_ATOMS, LIMIT, CharSet

# Larger sets first: the first that fits inside a set is named.
REGEX = {
    "ANY": r"\s\S",
    "LETTER": r"\p{L}",
    "NUMBER": r"\p{N}",
    "WHITE_SPACE": r"\s",
    "MARK": r"\p{M}",
    "PUNCTUATION": r"\p{P}",
    "SYMBOL": r"\p{S}",
    "CONTROL": r"\p{C}",
    "HAN": r"\p{Han}",
    "CASELESS": r"\p{Lm}\p{Lo}",
    "UPPER": r"\p{Lu}\p{Lt}",
    "LOWER": r"\p{Ll}",
    "DIGIT": r"\p{Nd}",
    "NEWLINE": r"\r\n",
    "SPACE": " ",
}
BARE = frozenset(REGEX) - {"ANY", "CASELESS", "UPPER", "NEWLINE"}


def set_name(chars: CharSet) -> str:
    """Return a Python expression of pretok's names that makes `chars`.

    >>> set_name(~(classes.NEWLINE | classes.LETTER | classes.NUMBER))
    '~(LETTER | NUMBER | NEWLINE)'
    """
    if chars == classes.OTHER:
        return "OTHER"
    names = _union(chars)
    if names is not None:
        return " | ".join(names) or "NOTHING"
    names = _union(~chars)
    if names is not None:
        return f"~({' | '.join(names)})" if len(names) > 1 else f"~{names[0]}"
    ranges = _ranges(chars)
    if ranges is None:
        return f"CharSet({chars.segments!r})"
    given = ", ".join(
        f"({first:#x}, {last:#x})" if first != last else repr(chr(first)) for first, last in ranges
    )
    return f"code_points({given})"


def set_regex(chars: CharSet) -> str:
    r"""Return a regex character class for `chars`, for people to read.

    >>> set_regex(classes.OTHER)
    '[^\\s\\p{L}\\p{N}]'
    """
    if len(chars.segments) == 1:
        bare = _union(chars)
        if bare is not None and len(bare) == 1 and bare[0] in BARE:
            return REGEX[bare[0]]
        written = [_class("[", bare), _class("[^", _union(~chars))]
        return min((text for text in written if text), key=len, default=f"[{set_name(chars)}]")
    ranges = _ranges(chars)
    if ranges is None:
        return f"[{set_name(chars)}]"
    items = [_char(a) if a == b else f"{_char(a)}-{_char(b)}" for a, b in ranges]
    return items[0] if len(items) == 1 and "-" not in items[0] else f"[{''.join(items)}]"


def _class(opening: str, names: list[str] | None) -> str:
    if names is None:
        return ""
    first_white_space = sorted(names, key=lambda name: name not in ("NEWLINE", "WHITE_SPACE"))
    return f"{opening}{''.join(REGEX[name] for name in first_white_space)}]"


def _union(chars: CharSet) -> list[str] | None:
    """Return the named sets whose union is `chars`, or None if there are no such."""
    left, names = chars, []
    for name in REGEX:
        named: CharSet = getattr(classes, name)
        if named & left == named and left:
            names.append(name)
            left = left - named
    return None if left else names


def _ranges(chars: CharSet) -> list[tuple[int, int]] | None:
    """Return the code point ranges that are `chars`, or None if atoms matter as well."""
    full = reduce(or_, (classes.code_points((c, c)) for c in range(0x80)))
    found: list[tuple[int, int]] = []
    bounds = [*(first for first, _ in chars.segments), LIMIT]
    for (first, mask), end in zip(chars.segments, bounds[1:], strict=True):
        if not mask:
            continue
        if any(mask & _whole(c, full) != _whole(c, full) for c in (first, end - 1)):
            return None
        if found and found[-1][1] + 1 == first:
            found[-1] = (found[-1][0], end - 1)
        else:
            found.append((first, end - 1))
    return found


def _whole(code_point: int, ascii_atoms: CharSet) -> int:
    return ascii_atoms.mask_at(code_point) if code_point < 0x80 else ALL_ATOMS


def _char(code_point: int) -> str:
    char = chr(code_point)
    if char.isascii() and char.isprintable():
        return f"\\{char}" if char in r"\[]^-" else char
    return f"\\x{{{code_point:X}}}"

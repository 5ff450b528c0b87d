"""Write character sets as Python expressions and as regexes, for repr, explain and errors."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import NamedTuple

from pretok.charsets import sets
from pretok.charsets.sets import LIMIT, CharSet, union

# Maps the name of a set to the regex of the set. A set precedes its subsets, because _plain_parts
# tries the names in this order.
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
# Maps the names of further sets to their regexes, or to "" if a set has no regex. These sets were
# measured: sets.py lists what the engines match. They contain only some code points of an
# atom (defined in sets.py), so they are not unions of the sets in REGEX.
MEASURED = {"WORD": r"\w", "ONIGURUMA_WORD": "", "HF_PUNCTUATION": ""}
UNBRACKETED = frozenset(
    {r"\p{L}", r"\p{N}", r"\s", r"\p{M}", r"\p{P}", r"\p{S}", r"\p{Han}", r"\p{Ll}", r"\p{Nd}"}
    | {MEASURED["WORD"]}
)
"""Regexes that are complete without the brackets of a character class."""


def set_name(chars: CharSet) -> str:
    """Return a Python expression for `chars`, made of names in pretok.charsets.

    >>> set_name(~(sets.NEWLINE | sets.LETTER | sets.NUMBER))
    '~(LETTER | NUMBER | NEWLINE)'
    """
    if chars == sets.OTHER:
        return "OTHER"
    parts = _parts(chars)
    if parts is not None:
        return " | ".join(_expressions(parts)) or "NOTHING"
    parts = _parts(~chars)
    if parts is not None:
        names = _expressions(parts)
        return f"~({' | '.join(names)})" if len(names) > 1 else f"~{names[0]}"
    parts = _parts_with_han(chars)
    if parts is not None:
        names = _expressions(parts)
        return f"({' | '.join(names)}) - HAN" if len(names) > 1 else f"{names[0]} - HAN"
    return f"CharSet({chars.segments!r})"


def set_regex(chars: CharSet) -> str:
    r"""Return a regex for one code point of `chars`, for display.

    >>> print(set_regex(sets.OTHER))
    [^\s\p{L}\p{N}]
    """
    regexes = [_positive(_regex_parts(chars)), _negative(_regex_parts(~chars))]
    with_han = _parts_with_han(chars)
    if with_han is not None and "CONTROL" not in with_han.names and not any(regexes):
        regexes = [f"[{''.join(_items(with_han))}&&[^\\p{{Han}}]]"]
    return min((regex for regex in regexes if regex), key=len, default=f"[{set_name(chars)}]")


def literal_regex(text: str) -> str:
    r"""Return a regex that matches `text` literally, for display.

    >>> print(literal_regex("a.b"))
    a\.b
    """
    return "".join(map(_literal_char, text))


class _Parts(NamedTuple):
    """A set, as the union of named sets and of ranges of code points."""

    names: list[str]
    ranges: list[tuple[int, int]]


def _expressions(parts: _Parts) -> list[str]:
    """Return Python expressions whose union is the set of `parts`."""
    arguments = ", ".join(repr(chr(a)) if a == b else f"({a:#x}, {b:#x})" for a, b in parts.ranges)
    return [*parts.names, f"code_points({arguments})"] if arguments else parts.names


def _positive(parts: _Parts | None) -> str:
    """Return a regex for one code point of `parts`; "" if `parts` is None or empty."""
    if parts is None or parts == ([], []):
        return ""
    names = parts.names
    if "CONTROL" in names and "WHITE_SPACE" not in names:
        # \p{C} includes some white space, which CONTROL lacks, so a look-ahead excludes it.
        rest = _positive(_Parts([name for name in names if name != "CONTROL"], parts.ranges))
        return f"(?:(?!\\s)\\p{{C}}|{rest})" if rest else r"(?!\s)\p{C}"
    items = _items(parts)
    is_one = len(items) == 1 and (items[0] in UNBRACKETED or len(items[0]) == 1)
    return items[0] if is_one else f"[{''.join(items)}]"


def _negative(parts: _Parts | None) -> str:
    """Return a regex for one code point outside `parts`.

    Returns "" if `parts` is None or empty, or if no bracketed class can express the set.
    """
    if parts is None or parts == ([], []):
        return ""
    if "CONTROL" in parts.names and "WHITE_SPACE" not in parts.names:
        return ""  # brackets cannot exclude white space from \p{C} (see `_positive`)
    return f"[^{''.join(_items(parts))}]"


def _items(parts: _Parts) -> list[str]:
    """Return the regexes of the names and ranges of `parts`, for use inside brackets."""
    white_space_first = sorted(parts.names, key=lambda name: name not in ("NEWLINE", "WHITE_SPACE"))
    ranges = [_char(a) if a == b else f"{_char(a)}-{_char(b)}" for a, b in parts.ranges]
    return [*((REGEX | MEASURED)[name] for name in white_space_first), *ranges]


def _regex_parts(chars: CharSet) -> _Parts | None:
    """Return the parts of `chars`; None if a part has no regex."""
    parts = _parts(chars)
    # A name outside MEASURED always has a regex; the default "yes" stands for it.
    has_regex = parts is not None and all(MEASURED.get(name, "yes") for name in parts.names)
    return parts if has_regex else None


def _parts(chars: CharSet) -> _Parts | None:
    """Return the parts of `chars`; None if `chars` is not a union of named sets and ranges."""
    parts = _plain_parts(chars)
    for name in MEASURED:
        named: CharSet = getattr(sets, name)
        if parts is None and not named - chars:
            rest = _plain_parts(chars - named)
            parts = rest and _Parts([name, *rest.names], rest.ranges)
    return parts


def _parts_with_han(chars: CharSet) -> _Parts | None:
    """Return parts whose union without HAN is `chars`; None if there are no such parts."""
    if chars & sets.HAN:
        return None
    named: list[CharSet] = [getattr(sets, name) for name in REGEX if name != "HAN"]
    return _plain_parts(union([chars, *(each for each in named if not each - sets.HAN - chars)]))


def _plain_parts(chars: CharSet) -> _Parts | None:
    """Return the parts of `chars`; None if `chars` is not a union of sets in REGEX and of ranges.

    The parts are the sets in REGEX that lie in every segment of `chars`, and the remaining ranges.
    """
    common = reduce(and_, (mask for _, mask in chars.segments))
    remaining, names = common, []
    for name in REGEX:
        mask = getattr(sets, name).mask_at(0)
        if remaining and mask & remaining == mask:
            names.append(name)
            remaining &= ~mask
    ranges: list[tuple[int, int]] = []
    bounds = [*(first for first, _ in chars.segments), LIMIT]
    for (first, mask), end in zip(chars.segments, bounds[1:], strict=True):
        if mask == common:
            continue
        # A segment is a range of the set if its mask has every atom that its code points may have.
        # Code points from 0x80 on may have any atom, so one sample stands for all of them.
        samples = (*range(first, min(end, 0x80)), end - 1)
        if any(mask != common | _atoms_of(code_point) for code_point in samples):
            return None
        if ranges and ranges[-1][1] + 1 == first:
            first = ranges.pop()[0]
        ranges.append((first, end - 1))
    return None if remaining else _Parts(names, ranges)


def _atoms_of(code_point: int) -> int:
    """Return the mask of all atoms that `code_point` may have in any Unicode version."""
    return sets.code_points((code_point, code_point)).mask_at(code_point)


def _char(code_point: int) -> str:
    char = chr(code_point)
    if char in "\t\n\r":
        return repr(char)[1:-1]
    if char.isascii() and char.isprintable():
        return f"\\{char}" if char in r"\[]^-" else char
    return f"\\x{{{code_point:X}}}"


def _literal_char(char: str) -> str:
    special = char in r"\.^$*+?{}[]()|"
    return f"\\{char}" if special else char if char == "-" else _char(ord(char))

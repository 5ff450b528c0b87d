"""Cut the text of a pattern at its alternatives, and escape parts of it for messages."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=16)
def alternatives_of(pattern: str) -> tuple[str, ...]:
    """Split `pattern` at its top-level "|".

    Parsing each part returns the same alternatives as parsing `pattern`. The parser rejects
    `pattern` if and only if it rejects a part.

    >>> alternatives_of("a|(?:b|c)|[|]")
    ('a', '(?:b|c)', '[|]')
    """
    parts: list[str] = []
    depth = classes = start = 0
    is_escaped = False
    for at, char in enumerate(pattern):
        if char not in "\\|[]()":
            is_escaped = False
        elif is_escaped or char == "\\":
            is_escaped = not is_escaped
        elif char == "|":
            if not depth and not classes:
                parts.append(pattern[start:at])
                start = at + 1
        elif char == "[":
            classes += 1
        elif classes:
            classes -= char == "]"
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
    return (*parts, pattern[start:])


def printable(text: str) -> str:
    r"""Return `text`, part of a pattern, with unprintable characters escaped.

    >>> print(printable("[\n\ud800é]"))
    [\n\x{D800}é]
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return repr(char)[1:-1] if char in "\r\n\t" else f"\\x{{{ord(char):X}}}"

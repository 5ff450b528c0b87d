"""Detect constructs of a pattern that the engines read differently."""

from __future__ import annotations

from collections.abc import Iterator

ENGINE_SPECIFIC = frozenset(
    {"a counted possessive quantifier", "a line or text anchor", "a word boundary", "a word class"}
)
"""Constructs that fancy-regex (tiktoken) and Oniguruma (hf) read differently."""
CLASS_ALGEBRA = frozenset({"a class within a class", "&& in a class"})
"""Constructs that `regex` reads as literal characters in its default mode, VERSION0."""

_WITH_BRACES = frozenset("pPxuUN")
"""The escapes that braces may follow, as in `\\p{L}`. After others, braces are a quantifier."""


def constructs(pattern: str) -> set[str]:
    """Return the constructs of ENGINE_SPECIFIC and CLASS_ALGEBRA in `pattern`.

    >>> constructs(r"\\p{L}+|\\p{N}{1,3}+")
    {'a counted possessive quantifier'}
    """
    names = set()
    for index, token, depth in _tokens(pattern):
        if token in "^$" and not depth:
            names.add("a line or text anchor")
        elif token in (r"\b", r"\B") and not depth:
            names.add("a word boundary")
        elif token in (r"\w", r"\W"):
            names.add("a word class")
        elif token == "}" and not depth and pattern[index + 1 : index + 2] == "+":
            names.add("a counted possessive quantifier")
        elif token[0] == "[" and depth:
            names.add("a class within a class")
        elif token == "&" and depth and pattern[index + 1 : index + 2] == "&":
            names.add("&& in a class")
    return names


def with_text_anchors(pattern: str) -> str:
    """Replace `$` by `\\Z`, because `$` in `regex` also matches before a final line break."""
    return "".join(
        r"\Z" if token == "$" and not depth else token for _, token, depth in _tokens(pattern)
    )


def _tokens(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Yield (index, token, nesting depth of classes); an escape is one token."""
    index = depth = 0
    while index < len(pattern):
        end = index + 1
        if pattern[index] == "\\":
            end += 1
            if pattern[index + 1 : end] in _WITH_BRACES and pattern[end : end + 1] == "{":
                end = pattern.find("}", end) + 1 or len(pattern)
        elif pattern.startswith("[^", index):
            end += 1
        token = pattern[index:end]
        yield index, token, depth
        depth += (token[0] == "[") - (token == "]" and depth > 0)
        index = end

"""The arguments allowed_special and disallowed_special of tiktoken's API."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from functools import lru_cache
from os.path import commonprefix
from typing import Literal, TypeAlias

from bpe.types import Special

Allowed: TypeAlias = Literal["all"] | AbstractSet[str]
Disallowed: TypeAlias = Literal["all"] | Collection[str]

NONE: frozenset[str] = frozenset()
"""No special token; the default of `allowed_special`."""


class SpecialTokens:
    """The special tokens of one encoding; resolves `allowed_special` and `disallowed_special`."""

    def __init__(self, names: Collection[str]) -> None:
        self.all = frozenset(names)
        # Every special token begins with this text.
        self._start = commonprefix([*names])  # noqa: RUF071

    def resolve(
        self, allowed: Allowed, disallowed: Disallowed
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the allowed special tokens, and the strings that a text must not hold.

        A str in `allowed` that is not a special token has no effect. Raises TypeError if `allowed`
        is neither "all" nor a set of str, or `disallowed` neither "all" nor a collection of str.
        """
        names = self._allowed(allowed)
        if isinstance(disallowed, str) and disallowed == "all":
            return names, _difference(self.all, names) if names else self.all
        if not disallowed:
            return names, NONE
        refused = frozenset(disallowed)
        _check_names("disallowed_special", refused)
        return names, refused

    def policy_for(self, text: str, allowed: Allowed, disallowed: Disallowed) -> Special:
        """Return the argument `special` of Tokenizer for one text.

        Raises the errors of `resolve` and `refuse`.
        """
        names, refused = self.resolve(allowed, disallowed)
        if isinstance(text, str) and self._start not in text and refused <= self.all:
            return "text"  # without special tokens, all policies give the same ids
        refuse(text, refused)
        return self.policy(names)

    def policy(self, allowed: frozenset[str]) -> Special:
        """Return the argument `special` of Tokenizer that allows these special tokens."""
        if not allowed:
            return "text"
        return "allow" if len(allowed) == len(self.all) else allowed

    def _allowed(self, allowed: Allowed) -> frozenset[str]:
        if isinstance(allowed, str) and allowed == "all":
            return self.all
        if not isinstance(allowed, (frozenset, set, AbstractSet)):  # the first two fast
            raise TypeError(
                f"allowed_special is of type {type(allowed).__name__}; expected 'all' or a set "
                "of str"
            )
        if not allowed:
            return NONE
        names = self.all.intersection(allowed)
        if len(names) < len(allowed):
            _check_names("allowed_special", allowed)
        return names


def refuse(text: str, disallowed: frozenset[str]) -> None:
    """Raise ValueError if `text` holds a string of `disallowed`, TypeError if it is not a str.

    For a fixed set of strings, the time is linear in the length of the text.
    """
    if not isinstance(text, str):
        raise TypeError(f"expected a str, got {type(text).__name__}")
    if not disallowed:
        return
    found = _first_of(text, disallowed)
    if found is not None:
        at, token = found
        raise ValueError(
            f"Encountered text corresponding to disallowed special token {token!r} at offset "
            f"{at}.\n"
            f"Pass allowed_special={{{token!r}}} to encode it as its id, "
            f"disallowed_special=enc.special_tokens_set - {{{token!r}}} to encode it as ordinary "
            "text, or disallowed_special=() to encode every special token as ordinary text."
        )


def _first_of(text: str, tokens: frozenset[str]) -> tuple[int, str] | None:
    """Return the offset of the first token in `text`, and the longest token at this offset.

    Return None if no token occurs.
    """
    if "" in tokens:
        return 0, ""
    found: tuple[int, str] | None = None
    for start, lengths in _groups(tokens):
        # Search only for tokens that begin before the one found so far.
        end = len(text) if found is None else found[0] + len(start) - 1
        at = text.find(start, 0, end)
        while at >= 0:
            for length in lengths:
                if (token := text[at : at + length]) in tokens:
                    found, at = (at, token), -1
                    break
            else:
                at = text.find(start, at + 1, end)
    return found


@lru_cache(maxsize=128)
def _difference(names: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    return names - others


@lru_cache(maxsize=128)
def _groups(tokens: frozenset[str]) -> list[tuple[str, list[int]]]:
    """Group tokens by first code point; return (prefix, lengths) for each group.

    `prefix` is the longest common prefix of the tokens, and `lengths` has their lengths in
    descending order.
    """
    groups: dict[str, list[str]] = {}
    for token in tokens:
        groups.setdefault(token[0], []).append(token)
    return [
        (commonprefix(group), sorted({len(token) for token in group}, reverse=True))  # noqa: RUF071
        for group in groups.values()
    ]


def _check_names(argument: str, names: Collection[object]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{argument} holds {name!r}; expected str")

"""Prove that a text never occurs in normalized text, or that added tokens always break it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpe.encoding.added_tokens import AddedToken
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import TextStep
from bpe.normalizers.steps import BertNormalizer, Lowercase, Prepend, Replace, StripAccents
from bpe.normalizers.unicode_forms import UnicodeForm
from bpe.types import NormalizesText
from pretok.rules import ALL, Run, Spaces

MAX_PART = 8
"""The maximal number of characters of a part of a text for which proofs are sought."""

_COMPOSED = frozenset("K`;")
"""The ASCII characters to which NFC turns other characters."""


def is_absent(normalizer: NormalizesText | None, text: str) -> bool:
    r"""Return True if no normalized text has `text` as a part; False if that is not proven.

    >>> is_absent(NFC, "e\u0301"), is_absent(NFC, "\xe9")
    (True, False)
    """
    if isinstance(normalizer, SentencePieceNormalizer):
        return normalizer.escape_whitespaces and " " in text
    if not isinstance(normalizer, NormalizerChain):
        return False
    marks = normalizer.metaspace
    if marks is not None and " " in text and marks.replacement != " ":
        return True
    ends = range(1, len(text) + 1)
    parts = {text[at:end] for end in ends for at in range(max(0, end - MAX_PART), end)}
    return any(
        _is_absent_after(normalizer.steps, part)
        for part in {text, *parts}
        if marks is None or marks.replacement not in part
    )


def _is_absent_after(steps: Sequence[TextStep], text: str) -> bool:
    """Return True if no result of `steps` has `text` as a part."""
    for step in reversed(steps):
        if _never_makes(step, text):
            return True
        if not _keeps_apart(step, text):
            return False
    return False


def _never_makes(step: TextStep, text: str) -> bool:
    """Return True if no result of `step` has `text` as a part."""
    if isinstance(step, UnicodeForm):
        # Each part of a text in a normal form is in this form (UAX #15).
        return step.normalize(text) != text
    if isinstance(step, (Lowercase, StripAccents)):
        # These steps change each character by itself, and keep the characters of their results.
        return any(step.normalize(char) != char for char in text)
    if isinstance(step, BertNormalizer):
        # The same holds, but for spaces that it puts around Chinese characters.
        return any(char not in step.normalize(char) for char in text)
    if isinstance(step, Replace):
        if step.is_regex:
            return any(_always_replaces(step, char) and char not in step.content for char in text)
        return step.pattern in text and not _may_remake(step)
    return False


def _always_replaces(step: Replace, char: str) -> bool:
    """Return True if the regex is a run of a set of characters, such as `a+`, and has `char`."""
    rule, *others = step.isolated.preset.stages[0].rules
    is_run = (
        rule.lead is None and rule.at_least == 1
        if isinstance(rule, Run)
        else isinstance(rule, Spaces) and rule.through is ALL
    )
    return is_run and not others and step.matches(char) == [(0, 1)]


def _may_remake(step: Replace) -> bool:
    """Return False if no result of a literal `step` has its pattern.

    Between the contents that it inserts, no match is left. So a match has a part of such a content.
    """
    pattern, content = step.pattern, step.content
    return (
        not content
        or content in pattern
        or pattern in content
        or any(
            content.endswith(pattern[:size]) or content.startswith(pattern[-size:])
            for size in range(1, len(pattern))
        )
    )


def _keeps_apart(step: TextStep, text: str) -> bool:
    """Return True if `text` is in a result of `step` only where it is in the step's input."""
    if isinstance(step, Prepend):
        added = step.prepend
    elif isinstance(step, Replace) and step.content:
        added = step.content
    else:
        return False
    return not set(added) & set(text)


def breaking_token(
    added: Iterable[AddedToken], normalizer: NormalizesText | None, text: str
) -> AddedToken | None:
    """Return an added token whose match always breaks `text`, or None.

    Matching is leftmost-longest. So if a text has the content of an added token, a match has the
    first character of this content, or begins at it. No ordinary token then has this character.
    """
    if normalizer is not None and normalizer != NFC:
        return None
    for token in added:
        content = token.content
        if normalizer is not None and token.normalized:
            content = NFC.normalize(content)
        elif normalizer is not None and not (content.isascii() and _COMPOSED.isdisjoint(content)):
            continue  # NFC keeps other ASCII characters, and makes none of them.
        if content in text and not token.single_word:
            return token
    return None

"""Prove that a text never occurs in normalized text, or that added tokens always break it."""

from __future__ import annotations

from collections.abc import Iterable

from bpe.characters.marks import SPACE_MARK
from bpe.encoding.added_tokens import AddedToken
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import TextStep
from bpe.normalizers.steps import Lowercase, Prepend, Replace, StripAccents
from bpe.normalizers.unicode_forms import UnicodeForm
from bpe.types import NormalizesText

_COMPOSED = frozenset("K`;")
"""The ASCII characters to which NFC turns other characters."""


def is_absent(normalizer: NormalizesText | None, text: str) -> bool:
    r"""Return True if no normalized text has `text` as a part; False if that is not proven.

    >>> is_absent(NFC, "e\u0301"), is_absent(NFC, "\xe9")
    (True, False)
    """
    if isinstance(normalizer, SentencePieceNormalizer):
        if not normalizer.escape_whitespaces or normalizer.user_defined:
            return False
        return " " in text or (normalizer.remove_extra_whitespaces and SPACE_MARK * 2 in text)
    if not isinstance(normalizer, NormalizerChain):
        return False
    marks = normalizer.metaspace
    if marks is not None:
        if " " in text and marks.replacement != " ":
            return True
        if marks.replacement in text:
            return False
    for step in reversed(normalizer.steps):
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
    if isinstance(step, Replace):
        is_character = len(step.pattern) == 1 and not step.is_regex
        return is_character and step.pattern in text and step.pattern not in step.content
    return False


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

"""Define TextSpaces: how C++ treats the spaces of a text if tokens have "▁" in place of spaces.

Before SentencePiece merges, it puts a space before the text, and replaces each space by "▁". C++
avoids this copy of the text: it gets the vocabulary with a space in place of each "▁", and encodes
the original text. The ids are equal, because the normalized text has no spaces: in C++, a space can
stand for "▁". If the original text has a "▁", which is rare, C++ replaces it by a space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bpe.characters.marks import SPACE_MARK
from bpe.encoding.added_tokens import AddedToken
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.steps import Prepend, Replace
from bpe.types import NormalizesText
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizers import Metaspace
from pretok.preset import Preset
from pretok.rules import Literal as LiteralRule


class TextSpaces(NamedTuple):
    """Describes a normalizer that replaces each space by "▁", and may put a space before a text.

    `prefix` says whether a space is put before a text between added tokens. With "unless_space", a
    text that begins with a space or "▁" gets no other space. If `only_first`, a text after an added
    token gets no space.
    """

    prefix: Literal["never", "unless_space", "always"]
    only_first: bool = False
    replaces_invalid: bool = False
    """True if a byte that is not UTF-8 becomes U+FFFD."""
    prefix_has_span: bool = False
    """True if a token that is only the prefix has the span of the first character of the text.

    If false, the span of this token is empty.
    """
    precedes_tokens: bool = False
    """True if the prefix is put before the search for `normalized` added tokens.

    A prefix directly before such a token is then encoded by itself, and the text after the token
    gets no prefix. If false, each text between added tokens gets a prefix.
    """


def spaces_of(
    normalizer: NormalizesText | None, added_tokens: Sequence[AddedToken]
) -> TextSpaces | None:
    """Return the TextSpaces that have the same effect as `normalizer`, or None if none have."""
    normalized = [token for token in added_tokens if token.normalized]
    if isinstance(normalizer, SentencePieceNormalizer):
        spaces = _of_sentencepiece(normalizer)
    elif not isinstance(normalizer, NormalizerChain):
        return None
    elif normalizer.metaspace is not None:
        step = normalizer.metaspace
        if normalizer.steps or step.before or step.replacement != SPACE_MARK:
            return None
        if step.prepend_scheme == "never":
            return TextSpaces("never")
        return TextSpaces("unless_space", step.prepend_scheme == "first", prefix_has_span=True)
    else:
        spaces = _of_steps(normalizer)
    # The normalizer changes text before the search for normalized tokens. C++ searches the original
    # text, so these tokens must match at the same places in both texts. C++ must also put the
    # prefix before this search, as the normalizer does, not before each text between tokens.
    if spaces is None or not normalized:
        return spaces
    has_place = spaces.prefix == "never" or spaces.precedes_tokens
    return spaces if has_place and all(map(_is_plain, normalized)) else None


def splits_alike(preset: Preset | None) -> bool:
    """Return whether C++ can split text with spaces as `preset` splits the text with "▁".

    `preset` is None for a pre-tokenizer without a preset.
    """
    if preset is None:
        return False
    return keeps_whole(preset) or preset.stages == Metaspace(SPACE_MARK, "never").stages()


def keeps_whole(preset: Preset) -> bool:
    """Return whether `preset` never splits a text without spaces."""
    return preset == WHOLE or all(
        stage.rules == (LiteralRule(" "),) and not stage.invert for stage in preset.stages
    )


def _of_sentencepiece(normalizer: SentencePieceNormalizer) -> TextSpaces | None:
    if (
        normalizer.charsmap
        or normalizer.remove_extra_whitespaces
        or not normalizer.escape_whitespaces
        or (normalizer.add_dummy_prefix and normalizer.treat_whitespace_as_suffix)
    ):
        return None
    prefix: Literal["never", "always"] = "always" if normalizer.add_dummy_prefix else "never"
    return TextSpaces(prefix, replaces_invalid=True, precedes_tokens=True)


def _of_steps(chain: NormalizerChain) -> TextSpaces | None:
    # `prefix` and `space` are what the steps so far make of the start of a text, and of a space.
    prefix, space = "", " "
    for step in chain.steps:
        if isinstance(step, Prepend):
            prefix = step.prepend + prefix
        elif isinstance(step, Replace) and step.pattern == " " and not step.is_regex:
            prefix, space = (text.replace(" ", step.content) for text in (prefix, space))
        else:
            return None
    if space != SPACE_MARK or prefix not in ("", SPACE_MARK):
        return None
    return TextSpaces("always" if prefix else "never", prefix_has_span=True)


def _is_plain(token: AddedToken) -> bool:
    """Return whether `token` matches at the same places before and after spaces become "▁"."""
    return not (
        token.lstrip
        or token.rstrip
        or token.single_word
        or any(char in token.content for char in (" ", SPACE_MARK, "\ufffd"))
    )

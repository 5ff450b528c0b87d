"""Define TextSpaces: how C++ treats the spaces of a text for tokens that have "▁" for spaces.

SentencePiece puts a space before a text, and writes each space as "▁" before it merges. C++ gets
such a vocabulary with spaces in place of "▁", and encodes text as it is, without a normalized copy.
The ids are equal: the normalized text has no spaces, so in C++ a space can stand for each "▁".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bpe.characters import SPACE_MARK
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Prepend, Replace
from bpe.types import Normalizer
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizers import Metaspace
from pretok.preset import Preset
from pretok.rules import Literal as LiteralRule


class TextSpaces(NamedTuple):
    """The spaces that a normalizer puts before a text; it writes every space as "▁".

    `prefix` says whether a space comes before a text between added tokens; "unless_space" puts none
    before a space. If `only_first`, a text after an added token gets no space.
    """

    prefix: Literal["never", "unless_space", "always"]
    only_first: bool = False
    replaces_invalid: bool = False
    """True if a byte that is not UTF-8 becomes U+FFFD."""
    prefix_has_span: bool = False
    """True if a token of only the prefix has the span of the first character, not an empty span."""
    precedes_tokens: bool = False
    """True if a text begins at the start or after an added token that is not `normalized`.

    A prefix that meets a `normalized` token is encoded by itself.
    """


def spaces_of(
    normalizer: Normalizer | None, added_tokens: Sequence[AddedToken]
) -> TextSpaces | None:
    """Return the TextSpaces with the effect of `normalizer`, or None if no TextSpaces have it."""
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
    # The normalizer changes text before the search for normalized tokens. C++ searches the text as
    # it is.
    if spaces is None or not normalized:
        return spaces
    has_place = spaces.prefix == "never" or spaces.precedes_tokens
    return spaces if has_place and all(map(_is_plain, normalized)) else None


def splits_alike(preset: Preset | None) -> bool:
    """Return whether a preset treats a space like "▁"; None stands for another pre-tokenizer."""
    if preset is None:
        return False
    return keeps_whole(preset) or preset.stages == Metaspace(SPACE_MARK, "never").stages()


def keeps_whole(preset: Preset) -> bool:
    """Return whether a preset does not split text in which every space is "▁"."""
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
    """Return whether `token` is found at the same places before and after these normalizers."""
    return not (
        token.lstrip
        or token.rstrip
        or token.single_word
        or any(char in token.content for char in (" ", SPACE_MARK, "\ufffd"))
    )

"""Find out whether "▁" is written only for the spaces of a text.

Before SentencePiece merges, it puts a space before the text, and replaces each space by "▁". C++
avoids this copy of the text (cpp/core/encode/text_spaces.hpp): a space stands for "▁".
"""

from __future__ import annotations

from collections.abc import Sequence

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


def only_writes_marks(
    normalizer: NormalizesText | None, added_tokens: Sequence[AddedToken]
) -> bool:
    """Return whether `normalizer` only replaces spaces by "▁", and may put one before a text.

    The normalizer changes text before the search for `normalized` tokens. These tokens must match
    at the same places in the original text, and a space before the text must not hide them.
    """
    prefix = prefix_of(normalizer)
    if prefix is None:
        return False
    if isinstance(normalizer, NormalizerChain):
        if normalizer.metaspace is not None:
            return True
        if prefix:
            return not any(token.normalized for token in added_tokens)
    return all(_is_plain(token) for token in added_tokens if token.normalized)


def prefix_of(normalizer: NormalizesText | None) -> str | None:
    """Return the text that `normalizer` may put before a text: "" or "▁".

    Return None if it does more than that and replacing spaces by "▁".
    """
    if isinstance(normalizer, SentencePieceNormalizer):
        return _prefix_of_sentencepiece(normalizer)
    if not isinstance(normalizer, NormalizerChain):
        return None
    step = normalizer.metaspace
    if step is None:
        return _prefix_of_steps(normalizer)
    if normalizer.steps or step.before is not None or step.replacement != SPACE_MARK:
        return None
    return "" if step.prepend_scheme == "never" else SPACE_MARK


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


def _prefix_of_sentencepiece(normalizer: SentencePieceNormalizer) -> str | None:
    """Return the text before each text, or None if the normalizer changes more than spaces."""
    if (
        normalizer.charsmap
        or normalizer.remove_extra_whitespaces
        or not normalizer.escape_whitespaces
        or (normalizer.add_dummy_prefix and normalizer.treat_whitespace_as_suffix)
    ):
        return None
    return SPACE_MARK if normalizer.add_dummy_prefix else ""


def _prefix_of_steps(chain: NormalizerChain) -> str | None:
    """Do the same for steps."""
    # `prefix` and `space` are what the steps so far make of the start of a text, and of a space.
    prefix, space = "", " "
    for step in chain.steps:
        if isinstance(step, Prepend):
            prefix = step.prepend + prefix
        elif isinstance(step, Replace) and step.pattern == " " and not step.is_regex:
            prefix, space = (text.replace(" ", step.content) for text in (prefix, space))
        else:
            return None
    return prefix if space == SPACE_MARK and prefix in ("", SPACE_MARK) else None


def _is_plain(token: AddedToken) -> bool:
    """Return whether `token` matches at the same places before and after spaces become "▁"."""
    return not (
        token.lstrip
        or token.rstrip
        or token.single_word
        or any(char in token.content for char in (" ", SPACE_MARK, "\ufffd"))
    )

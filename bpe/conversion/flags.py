"""Drop the flags of added tokens that have no effect in a tokenizer."""

from __future__ import annotations

from dataclasses import replace

from bpe.canonical.contents import may_overlap
from bpe.encoding.added_tokens import AddedToken
from bpe.formats.spec import TokenizerSpec

_MAX_PAIRS = 1 << 18
FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


def without_idle_flags(spec: TokenizerSpec) -> TokenizerSpec:
    """Return `spec` without the flag `normalized` of added tokens, if it has no effect.

    The flag says that a token is found in the normalized text, after all tokens without the flag.
    So it has no effect if there is no normalizer, and if no token with the flag can overlap a token
    without it in a text.
    """
    later = {token.content for token in spec.added_tokens if token.normalized}
    first = {token.content for token in spec.added_tokens if not token.normalized}
    if not later or spec.normalizer is not None or len(later) * len(first) > _MAX_PAIRS:
        return spec
    if any(may_overlap(left, right) for left in later for right in first):
        return spec
    plain = [replace(token, normalized=False) for token in spec.added_tokens]
    return replace(spec, added_tokens=tuple(plain))


def flags_of(token: AddedToken) -> dict[str, bool]:
    """Return the flags of an added token by their names."""
    return {name: getattr(token, name) for name in FLAGS}

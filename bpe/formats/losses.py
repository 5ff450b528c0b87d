"""Find the parts of a tokenizer that a file format cannot hold, and remove them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.chain import NormalizerChain
from bpe.types import Template
from pretok.errors import shortened

_MAX_NAMES = 3
"""The maximal number of added tokens that an error names."""

PARTS = frozenset({"added_tokens", "flags", "normalizer", "add_prefix_space", "template",
                   "trim_offsets", "decoder", "truncation", "padding", "dropout"})  # fmt: skip
"""The parts of a tokenizer that some format cannot hold; the flags are those of added tokens.

A format without the flags may hold one of them, "special".
"""


class _Part(NamedTuple):
    name: str
    description: str
    """The name of the part in an error; "" if the spec does not have the part."""
    removal: dict[str, Any]
    """The fields of a TokenizerSpec without the part."""


def check(spec: TokenizerSpec, format: str, holds: frozenset[str], lossy: bool) -> TokenizerSpec:
    """Return `spec` without the parts that are not in `holds`, the parts that `format` can hold.

    Raises VocabularyError, which names the parts, unless `lossy` or `spec` has no such part.
    """
    lost = _lost(spec, holds)
    if not lost:
        return spec
    if not lossy:
        described = " and ".join(
            filter(None, [", ".join(part.description for part in lost[:-1]), lost[-1].description])
        )
        raise VocabularyError(
            f"the format {format} cannot hold {described}; save the tokenizer as .json, which can, "
            "or pass lossy=True to save it without them"
        )
    for part in lost:
        spec = replace(spec, **part.removal)
    return spec


def names(spec: TokenizerSpec, holds: frozenset[str]) -> tuple[str, ...]:
    """Return a description of each part of `spec` that is not in `holds`."""
    return tuple(part.description for part in _lost(spec, holds))


def _lost(spec: TokenizerSpec, holds: frozenset[str]) -> list[_Part]:
    lost = [
        part
        for part in _parts(spec, "special" in holds)
        if part.description and part.name not in holds
    ]
    if "added_tokens" not in holds:  # their flags are lost with them
        lost = [part for part in lost if part.name != "flags"]
    return lost


def _parts(spec: TokenizerSpec, keeps_special: bool) -> Iterator[_Part]:
    """Yield the parts of `spec` that some format cannot hold, in the order of an error.

    If `keeps_special`, the format has the flag `special` of added tokens.
    """
    added = spec.added_tokens
    yield _Part("added_tokens", _names(added), {"added_tokens": ()})
    plain = tuple(
        AddedToken(token.content, token.id, special=token.special or not keeps_special)
        for token in added
    )
    flagged = [token for token, kept in zip(added, plain, strict=True) if token != kept]
    flags = f"the flags of {_names(flagged)}" * bool(flagged)
    yield _Part("flags", flags, {"added_tokens": plain})
    normalizer = spec.normalizer
    is_chain = isinstance(normalizer, NormalizerChain)
    shown = str(normalizer) if is_chain else type(normalizer).__name__
    yield _Part("normalizer", f"the normalizer {shown}" * bool(normalizer), {"normalizer": None})
    space = "add_prefix_space" * spec.add_prefix_space
    yield _Part("add_prefix_space", space, {"add_prefix_space": False})
    template = "the template (add_special_tokens)" * (spec.template != Template())
    yield _Part("template", template, {"template": Template()})
    yield _Part("trim_offsets", "trim_offsets" * bool(spec.trim_offsets), {"trim_offsets": ()})
    yield _Part("decoder", "the decoder" * (spec.decoder is not None), {"decoder": None})
    yield _Part("truncation", "truncation" * (spec.truncation is not None), {"truncation": None})
    dropout = f"dropout={spec.facts.dropout}" * bool(spec.facts.dropout)
    yield _Part("dropout", dropout, {"facts": replace(spec.facts, dropout=0.0)})
    yield _Part("padding", "padding" * (spec.padding is not None), {"padding": None})


def _names(tokens: Sequence[AddedToken]) -> str:
    """Return the number and the first names of added tokens; "" for no tokens."""
    if not tokens:
        return ""
    names = ", ".join(shortened(token.content) for token in tokens[:_MAX_NAMES])
    rest = ", …" * (len(tokens) > _MAX_NAMES)
    plural = "s" * (len(tokens) != 1)
    return f"{len(tokens)} added token{plural} ({names}{rest})"

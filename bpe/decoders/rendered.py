"""Render tokens: the bytes that each token adds in the middle of a decoded text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bpe.characters.text_vocabulary import AnyCharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.piece_decoder import (
    Decoding,
    PieceDecoder,
    added_contents,
    all_tokens,
    token_texts,
)
from bpe.encoding.python_backend import Backend
from bpe.encoding.token_list import AddedTokenList
from bpe.encoding.utf8 import ESCAPE
from bpe.types import NormalizesText
from bpe.vocabulary import Vocabulary


def rendered_tokens(
    decoding: Decoding | None,
    backend: Backend,
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    added_tokens: AddedTokenList,
    normalizer: NormalizesText | None,
) -> dict[int, bytes]:
    """Return the rendered bytes of each token. The arguments are those of `make_decoder`.

    Decoder::rendered_texts in cpp/core/decode/decoder.cpp does the same.
    """
    if decoding is None:
        return all_tokens(vocabulary, added)
    if isinstance(decoding, DecoderChain):
        texts = token_texts(vocabulary, added_contents(added_tokens, normalizer))
        return {id: _render(decoding, text) for id, text in texts.items()}
    assert isinstance(vocabulary, AnyCharacterVocabulary)
    special: Collection[int] = added_tokens.special_ids
    pieces = PieceDecoder(decoding, vocabulary, added, backend, special)
    surfaces = {id: text.encode() for id, text in pieces.surfaces.items()}
    return surfaces | {id: bytes([byte]) for id, byte in pieces.fallback.items()}


def _render(chain: DecoderChain, text: str) -> bytes:
    """Return the text of a token after each step, as for a token between other tokens.

    After the tokens are joined, a step treats all text as one token; its ends are then elsewhere.
    """
    for flow in chain.all_flows(ESCAPE):
        text = flow.middle(text)
    return text.encode("utf-8", ESCAPE)

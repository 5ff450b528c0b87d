"""Define PieceDecoder, which decodes ids to text as SentencePiece does."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from operator import index
from typing import SupportsIndex, TypeAlias

from bpe.characters.marks import BYTE_NAMES, SPACE_MARK
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import ChainDecoder, DecoderChain
from bpe.decoders.decode import Decoder, IdStream, list_ids, no_bytes, one_or_several
from bpe.decoders.steps import SentencePieceDecoding
from bpe.decoders.text_decoder import TextDecoder
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.python_backend import Backend, unknown_id
from bpe.encoding.token_list import AddedTokenList
from bpe.errors import shortened
from bpe.normalizers.chain import NormalizerChain
from bpe.once import once
from bpe.types import NormalizesText
from bpe.vocabulary import Vocabulary
from pretok.byte_characters import BYTE_CHARACTERS

REPLACE_EACH = "bpe.replace_each_byte"
"""The codec error handler that makes one U+FFFD of each invalid byte."""


def _replace_each(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(REPLACE_EACH, _replace_each)


Decoding: TypeAlias = SentencePieceDecoding | DecoderChain
"""The rules by which ids become text, other than joining the bytes of their tokens."""


def make_decoder(
    decoding: Decoding | None,
    backend: Backend,
    vocabulary: Vocabulary,
    added: Mapping[int, bytes],
    added_tokens: AddedTokenList,
    normalizer: NormalizesText | None,
) -> Decoder | PieceDecoder | ChainDecoder:
    """Return the object that decodes ids for a Tokenizer."""
    special: Collection[int] = added_tokens.special_ids
    if isinstance(decoding, DecoderChain):
        contents = added_contents(added_tokens, normalizer)
        # As in Hugging Face's tokenizers, a special token is not skipped if the normalizer changes
        # its text.
        specials = added_tokens.special_contents
        special = {id for id, content in contents.items() if content in specials}
        texts = lru_cache(1)(partial(token_texts, vocabulary, contents))
        return ChainDecoder(decoding, texts, backend, special)
    if decoding is None:
        return Decoder(backend, partial(all_tokens, vocabulary, added), special)
    if not isinstance(vocabulary, AnyCharacterVocabulary):
        raise ValueError(
            f"decoder={shortened(decoding)} with a {type(vocabulary).__name__}; expected a "
            "CharacterVocabulary"
        )
    return PieceDecoder(decoding, vocabulary, added, backend, special)


def added_contents(
    added_tokens: Sequence[AddedToken], normalizer: NormalizesText | None
) -> dict[int, str]:
    """Return the text of each added token as in Hugging Face's tokenizers.

    The text of a `normalized` token is normalized.
    """
    normalize = normalizer.normalize if isinstance(normalizer, NormalizerChain) else str
    return {
        token.id: normalize(token.content) if token.normalized else token.content
        for token in added_tokens
    }


def token_texts(vocabulary: Vocabulary, added: Mapping[int, str]) -> dict[int, str]:
    """Return the text of each token as in Hugging Face's tokenizers.

    In a byte-level vocabulary, one of GPT-2's characters stands for each byte.
    """
    if isinstance(vocabulary, TextVocabulary):
        texts = vocabulary.texts
    elif isinstance(vocabulary, CharacterVocabulary):
        texts = {
            id: token.decode()
            for id, token in vocabulary.token_bytes.items()
            if id not in vocabulary.byte_ids.values()
        }
        texts |= {id: BYTE_NAMES[byte] for byte, id in vocabulary.byte_ids.items()}
    else:
        texts = {
            id: token.decode("latin-1").translate(BYTE_CHARACTERS)
            for id, token in vocabulary.token_bytes.items()
        }
    return {**texts, **added}


def all_tokens(vocabulary: Vocabulary, added: Mapping[int, bytes]) -> dict[int, bytes]:
    """Return the bytes of all tokens by id."""
    return {**vocabulary.token_bytes, **added}


class PieceDecoder(TextDecoder):
    """Decodes the ids of one CharacterVocabulary, and of added tokens that it does not have."""

    def __init__(
        self,
        decoding: SentencePieceDecoding,
        vocabulary: AnyCharacterVocabulary,
        added: Mapping[int, bytes],
        backend: Backend,
        special: Collection[int],
    ) -> None:
        super().__init__(backend, special)
        self.decoding = decoding
        self.fallback = {id: byte for byte, id in vocabulary.byte_ids.items()}
        self._vocabulary = vocabulary
        self._added = added

    @once
    def with_space(self) -> frozenset[int]:
        """The ids of the tokens whose text begins with a space that stands for "▁"."""
        mark, tokens = SPACE_MARK.encode(), self._vocabulary.token_bytes
        excluded = {*self.fallback, *self.decoding.invisible, self._vocabulary.unknown_id}
        return frozenset(
            id for id, token in tokens.items() if token.startswith(mark) and id not in excluded
        )

    @once
    def surfaces(self) -> dict[int, str]:
        """The text of each token that is not a fallback token."""
        surfaces = {
            id: token.decode().replace(SPACE_MARK, " ")
            for id, token in self._vocabulary.token_bytes.items()
            if id not in self.fallback
        }
        surfaces |= {id: token.decode() for id, token in self._added.items()}
        surfaces |= dict.fromkeys(self.decoding.invisible, "")
        surfaces[self._vocabulary.unknown_id] = self.decoding.unknown_surface
        return surfaces

    @once
    def _tokens(self) -> dict[int, bytes]:
        return all_tokens(self._vocabulary, self._added)

    def _stream(self, errors: str, skip_special: bool, continuation: bool) -> PieceDecodeStream:
        return PieceDecodeStream(self, errors, skip_special, continuation)

    def rendered(self) -> dict[int, bytes]:
        """Return the surface of each token, and the byte of each fallback token."""
        surfaces = {id: text.encode() for id, text in self.surfaces.items()}
        return surfaces | {id: bytes([byte]) for id, byte in self.fallback.items()}

    def checked(self, ids: Iterable[int], skip_special: bool) -> list[int]:
        """Return `ids` as a list, without special tokens if `skip_special`.

        Raises UnknownTokenError for an id that no token has, and TypeError for an item that is not
        an int.
        """
        sequence = list_ids(ids)
        try:
            values = [index(id) for id in sequence]
            if all(id in self._tokens for id in values):
                return [id for id in values if not (skip_special and id in self._special)]
        except TypeError:
            pass
        raise unknown_id(sequence, self._tokens)


class PieceDecodeStream(IdStream):
    """Decodes ids as they come, and holds back only incomplete characters of fallback tokens."""

    def __init__(
        self, decoder: PieceDecoder, errors: str, skip_special: bool, continuation: bool
    ) -> None:
        super().__init__(no_bytes, REPLACE_EACH if errors == "replace" else errors)
        self._pieces = decoder
        self._skip_special = skip_special
        # True if the stream drops the next space.
        self._at_start = decoder.decoding.strips_space and not continuation

    def feed(self, ids: SupportsIndex | Iterable[int]) -> str:
        """Return the text that `ids`, one id or several, complete.

        Raises UnknownTokenError for an id that no token has, and then leaves the stream unchanged.
        """
        parts: list[str] = []
        for id in self._pieces.checked(one_or_several(ids), self._skip_special):
            byte = self._pieces.fallback.get(id)
            if byte is None:
                parts += self._decoder.decode(b"", final=True), self._surface(id)
            else:
                self._at_start = False
                parts.append(self._decoder.decode(bytes([byte])))
        return "".join(parts)

    def _surface(self, id: int) -> str:
        """Return the text of the next token, which is not a fallback token."""
        surface = self._pieces.surfaces[id]
        if not self._at_start:
            return surface
        if id in self._pieces.with_space:
            surface = surface[1:]
            self._at_start = self._pieces.decoding.strips_spaces
        if surface:
            self._at_start = False
        return surface

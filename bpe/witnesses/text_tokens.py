"""Find witnesses and proofs for the tokens of a vocabulary whose tokens are text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from bpe.characters.marks import BYTE_NAMES, SPACE_MARK
from bpe.characters.merger import PieceMerger, make_merger
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.once import once
from bpe.tokenizer import Tokenizer
from bpe.vocabulary import NOT_IN_UTF8
from bpe.witnesses.chains import Chains
from bpe.witnesses.proofs import UNPROVEN, Proofs, Verdict, merges_verdict
from bpe.witnesses.search import Search, context_pairs
from bpe.witnesses.utf8_parts import parts_of
from pretok.byte_characters import BYTE_CHARACTERS

TRIED_CHARACTERS = 64
"""The number of characters to try for a fallback token or the unknown token."""
TRIED_CHAINS = 32
"""The number of chains to try for a token that begins or ends within a character."""
MAX_CHAINS = 1 << 12
"""The number of chains among which these are sought."""


class TextTokens:
    """Searches for the tokens in `wanted`, the ids of a text vocabulary, and proves the rest dead.

    `vocabulary` is that of `tokenizer`.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        vocabulary: AnyCharacterVocabulary,
        wanted: Mapping[int, bytes],
        search: Search,
    ) -> None:
        self._tokenizer, self._vocabulary, self._search = tokenizer, vocabulary, search
        self._proofs = Proofs(tokenizer)
        self._wanted = wanted
        self._fallback = {id: byte for byte, id in vocabulary.byte_ids.items() if id in wanted}
        self._texts = {
            id: text
            for id in wanted
            if id not in self._fallback and (text := _text_of(vocabulary, id)) is not None
        }

    def search(self) -> None:
        """Search for a str that becomes each token, then for bytes."""
        search, vocabulary = self._search, self._vocabulary
        candidates = {id: _spellings(text) for id, text in self._texts.items()}
        for index in range(3):
            search.add([texts[index] for texts in candidates.values() if index < len(texts)])
        for id, byte in self._fallback.items():
            if id in search.left:
                search.add(self._tries(_characters_with(byte)))
        if vocabulary.unknown_id in search.left:
            search.add(self._tries(map(chr, range(0xE000, 0xF900))))
        if not search.left.isdisjoint(self._texts):
            search.add(_SOME_CHARACTERS)
        for id in sorted(search.left & self._bytes.keys()):
            candidates[id] = self._completed(id)
            search.add(candidates[id])
        for id in sorted(search.left & self._ambiguous & self._texts.keys()):
            candidates[id] += self._with_unknown(self._texts[id])
            search.add(candidates[id])
        rest = {
            id: texts
            for id, texts in candidates.items()
            if id in search.left and self.verdict(id) == UNPROVEN
        }
        search.add_in_contexts(rest, context_pairs(self._tokenizer))
        search.add([bytes([byte]) for id, byte in self._fallback.items() if id in search.left])
        search.add([self._bytes[id] for id in sorted(search.left & self._bytes.keys())])

    def _tries(self, chars: Iterator[str]) -> list[str]:
        """Return texts with some of the characters that are not tokens."""
        pieces = self._vocabulary.pieces
        unknown = list(islice((char for char in chars if char not in pieces), TRIED_CHARACTERS))
        return [*unknown, *(f"\n{char}" for char in unknown)]

    def _with_unknown(self, text: str) -> list[str]:
        """Return `text` with unknown characters in place of symbols that stand for others."""
        vocabulary = self._vocabulary
        assert isinstance(vocabulary, TextVocabulary), "only its symbols stand for others"
        texts = [_without_names(text)] if vocabulary.byte_ids else []
        unknown = vocabulary.options.unknown
        if unknown is not None:
            texts += [
                text.replace(unknown, char) for char in self._tries(iter("\ue000\u4e00x"))[:3]
            ]
        return [each for each in dict.fromkeys(texts) if each != text]

    def verdict(self, id: int) -> Verdict:
        """Return the proof that no str becomes the token, or UNPROVEN."""
        if id in self._fallback:
            return self._verdict_of_byte(self._fallback[id])
        if id in self._ambiguous:
            return UNPROVEN
        if self._is_byte_level and self._has_plain_symbols:
            return self._verdict_of_bytes(id)
        text = self._texts.get(id)
        if text is None:
            return UNPROVEN
        if self._has_plain_merges:
            ids = self._merger.merge(text.encode())
            if ids != [id]:
                return merges_verdict(ids)
        return self._proof_of(text)

    def _proof_of(self, text: str) -> Verdict:
        """Return the proof that no token has the symbols of `text`, or UNPROVEN.

        If characters are dropped, the symbols of `text` may be those of characters that are apart.
        """
        parts = text if self._drops_characters else [text]
        verdicts = (self._proofs.of_text(part) for part in parts)
        return next((verdict for verdict in verdicts if verdict != UNPROVEN), UNPROVEN)

    def _verdict_of_bytes(self, id: int) -> Verdict:
        """Return the verdict about a token whose characters stand for bytes."""
        data = self._bytes.get(id)
        if data is None:
            if self._has_plain_merges:
                return "merges", "a character of its text stands for no byte"
            return UNPROVEN
        if self._has_plain_merges:
            ids = self._merger.merge(data)
            if ids != [id]:
                return merges_verdict(ids)
        parts = parts_of(data)
        if not parts.is_valid:
            if self._drops_characters:
                return UNPROVEN
            return "bytes", "its bytes are never part of valid UTF-8"
        return self._proof_of(parts.text) if parts.text else UNPROVEN

    def verdict_of_bytes(self, id: int) -> Verdict:
        """Return the proof that no bytes become the token either, or UNPROVEN."""
        kind, reason = self.verdict(id)
        # Invalid bytes may become a fallback token, but not an ASCII character.
        is_known = self._fallback.get(id, 0) < 0x80 or isinstance(
            self._tokenizer.normalizer,
            SentencePieceNormalizer,  # replaces invalid bytes
        )
        if self._is_byte_level:  # each byte of any text is a character
            is_whole = id in self._bytes and parts_of(self._bytes[id]).is_whole
            is_known = id in self._fallback or kind == "merges" or is_whole
        return (kind, reason) if is_known else UNPROVEN

    def _verdict_of_byte(self, byte: int) -> Verdict:
        """Return the verdict about the fallback token of a byte."""
        if not self._has_plain_symbols:
            return UNPROVEN
        pieces, is_absent = self._vocabulary.pieces, self._proofs.is_absent
        if self._is_byte_level:
            chars = [char for char in BYTE_CHARACTERS if byte in char.encode()]
            if not all(char in pieces for char in chars):
                return UNPROVEN
            return "fallback", f"each character of a byte that has byte 0x{byte:02x} is a token"
        absent = False
        for char in _characters_with(byte):
            if char not in pieces:
                if not is_absent(char):
                    return UNPROVEN
                absent = True
        if absent:
            return "normalizer", f"the normalizer leaves no character that has byte 0x{byte:02x}"
        if byte in NOT_IN_UTF8:
            return "fallback", f"no character has byte 0x{byte:02x}"
        return "fallback", f"each character that has byte 0x{byte:02x} is a token itself"

    @once
    def _drops_characters(self) -> bool:
        """True if a character without a token may become nothing."""
        vocabulary = self._vocabulary
        if not isinstance(vocabulary, TextVocabulary) or vocabulary.fallback_ids is not None:
            return False
        is_whole = self._is_byte_level and vocabulary.pieces.keys() >= _BYTES.keys()
        return vocabulary.options.unknown is None and not is_whole

    @once
    def _chains(self) -> Chains:
        return Chains(self._bytes, self._merger.merge)

    def _completed(self, id: int) -> list[str]:
        """Return some texts that merge to tokens with this one, which may end in a character."""
        data, found = self._bytes[id], []
        text = parts_of(data).text
        for chain in islice(self._chains.of(id), MAX_CHAINS):
            if self._proofs.may_hold(chain.first + text + chain.last):
                found.append((chain.before + data + chain.after).decode())
            if len(found) == TRIED_CHAINS:
                break
        return found

    @once
    def _has_plain_symbols(self) -> bool:
        """True if the first symbol of a character does not depend on its neighbors."""
        vocabulary = self._vocabulary
        if not isinstance(vocabulary, TextVocabulary):
            return True
        options = vocabulary.options
        return not (options.prefix or options.suffix)

    @once
    def _is_byte_level(self) -> bool:
        """True if the characters of tokens stand for bytes."""
        vocabulary = self._vocabulary
        return isinstance(vocabulary, TextVocabulary) and vocabulary.options.byte_level

    @once
    def _bytes(self) -> dict[int, bytes]:
        """The bytes that the characters of each token stand for, if they do."""
        vocabulary = self._vocabulary
        if not isinstance(vocabulary, TextVocabulary) or not self._is_byte_level:
            return {}
        texts = ((id, vocabulary.texts[id]) for id in self._wanted if id not in self._fallback)
        return {
            id: bytes(_BYTES[char] for char in text)
            for id, text in texts
            if not _BYTES.keys().isdisjoint(text) and all(char in _BYTES for char in text)
        }

    @once
    def _ambiguous(self) -> set[int]:
        """The tokens that may stand for other characters than those of their texts.

        These are the unknown token, and what merges make of it and of fallback tokens.
        """
        vocabulary = self._vocabulary
        sources = set(vocabulary.byte_ids.values())
        if not vocabulary.covers_characters:
            sources.add(vocabulary.unknown_id)
        found = sources - set(vocabulary.byte_ids.values())
        if not isinstance(vocabulary, TextVocabulary):
            return found
        size = -1
        while size < len(found):
            size = len(found)
            found.update(
                id for left, right, id in vocabulary.merges if {left, right} & (sources | found)
            )
        return found

    @once
    def _has_plain_merges(self) -> bool:
        """True if a token that merges make has the characters of its text, wherever it is.

        This does not hold for the tokens of `_ambiguous`.
        """
        vocabulary = self._vocabulary
        if not isinstance(vocabulary, TextVocabulary):
            return True
        is_merged = self._has_plain_symbols and not vocabulary.ignore_merges
        return is_merged and vocabulary.concatenates

    @once
    def _merger(self) -> PieceMerger:
        return make_merger(self._vocabulary)


def _text_of(vocabulary: AnyCharacterVocabulary, id: int) -> str | None:
    """Return the text that a token has in normalized text; None if it has none."""
    if not isinstance(vocabulary, TextVocabulary):
        return vocabulary.token_bytes[id].decode("utf-8", "replace")
    options, text = vocabulary.options, vocabulary.texts[id]
    if options.byte_level:
        try:
            return bytes(map(_BYTES.__getitem__, text)).decode()
        except (KeyError, UnicodeDecodeError):
            return None
    return text.removeprefix(options.prefix).removesuffix(options.suffix)


def _spellings(text: str) -> list[str]:
    """Return the texts to which a normalizer may put marks for spaces to get `text`."""
    spaced = text.replace(SPACE_MARK, " ")
    spellings = [spaced.removeprefix(" "), spaced, text]
    return [spelling for spelling in dict.fromkeys(spellings) if spelling]


def _characters_with(byte: int) -> Iterator[str]:
    """Yield all characters whose UTF-8 has a byte.

    >>> "".join(_characters_with(0xC3))[:3]
    'ÀÁÂ'
    """
    if byte < 0x80:
        yield chr(byte)
        return
    if byte in NOT_IN_UTF8:
        return
    points: Iterable[int] = range(0x80, 0x110000)
    if byte >= 0xC0:
        size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        shift = 6 * (size - 1)
        first = (byte & (0x7F >> size)) << shift
        points = range(first, min(first + (1 << shift), 0x110000))
    for point in points:
        if not 0xD800 <= point < 0xE000 and byte in chr(point).encode():
            yield chr(point)


def _without_names(text: str) -> str:
    """Return `text` with ASCII characters in place of the names of fallback tokens."""
    for byte in range(0x80):
        text = text.replace(BYTE_NAMES[byte], chr(byte))
    return text


_SOME_CHARACTERS = tuple(map(chr, range(0x3000)))
"""Characters that a normalizer may change to tokens, as ByteLevel does."""
_BYTES = {char: byte for byte, char in enumerate(BYTE_CHARACTERS)}

"""Define TokenizerFacts: what samplers, grammar engines and chat servers ask of a vocabulary."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.characters.text_vocabulary import AnyCharacterVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.decode import Decoder
from bpe.decoders.steps import SentencePieceDecoding
from bpe.decoders.text_decoder import TextDecoder
from bpe.encoding.python_backend import unknown_id
from bpe.once import once
from bpe.token_facts import (
    FIRST_BYTES,
    MAX_NAME_BYTES,
    Scores,
    TokenType,
    Types,
    end_ids,
    known_names,
    roles_of_names,
)
from bpe.tokenizer_parts import TokenizerParts
from bpe.types import Ids

ModelKind: TypeAlias = Literal["bytes", "sentencepiece", "text"]


class VocabularyBuffer(NamedTuple):
    """All tokens of a tokenizer as arrays, without a Python object for each token.

    Token `id` is data[offsets[id] : offsets[id + 1]]; an id without a token has no bytes.
    """

    data: NDArray[np.uint8]
    """The rendered bytes of all tokens."""
    offsets: NDArray[np.uint32]
    """The start of each token by its id, and the end of the last one."""
    types: NDArray[np.uint8]
    """The TokenType of each id."""
    sorted_ids: Ids
    """The ids of all tokens in the order of their bytes; equal bytes in the order of ids."""


class TokenizerFacts(TokenizerParts):
    """The facts about tokens as properties and methods of a Tokenizer.

    The facts come from the file. A fact that the file does not state is absent, or follows from the
    tokens as described. No fact changes ids or texts.
    """

    __slots__ = ()

    _ids_to_text: Decoder | TextDecoder

    @property
    def model_kind(self) -> ModelKind:
        """The kind of the model.

        "bytes" if tokens are bytes, as in byte-level BPE. Otherwise tokens are text: it is
        "sentencepiece" if they are decoded as SentencePiece does, or else "text".
        """
        if not isinstance(self.vocabulary, AnyCharacterVocabulary):
            return "bytes"
        is_pieces = isinstance(self.decoder, SentencePieceDecoding)
        return "sentencepiece" if is_pieces else "text"

    def token_type(self, id: int) -> TokenType:
        """Return the type of the token with this id; raises UnknownTokenError if there is none.

        If the file has no types, a special token is CONTROL, another added token USER_DEFINED, a
        fallback token BYTE, the unknown token UNKNOWN, and any other token NORMAL.
        """
        self._check_token(id)
        return TokenType(self._types[id])

    def rendered_bytes(self, id: int) -> bytes:
        """Return the bytes that a token adds in the middle of a decoded text.

        In models of SentencePiece, a space stands for "▁". A fallback token such as <0x0A> is one
        byte. `token_bytes` returns the bytes that the file stores. Raises UnknownTokenError if no
        token has this id.
        """
        self._check_token(id)
        data, offsets, _ = self._rendered
        return data[offsets[id] : offsets[id + 1]].tobytes()

    def token_score(self, id: int) -> float:
        """Return the score of a token; raises UnknownTokenError if no token has this id.

        If the file lists merges and no scores, this is minus the rank of the first merge that makes
        the token. The score of any other token is 0.
        """
        self._check_token(id)
        return float(self._scores[id])

    @property
    def dropout(self) -> float:
        """The `dropout` of the file, or 0. A call that encodes uses it only if it is passed."""
        return self._spec.facts.dropout

    @once
    def role_ids(self) -> dict[str, int]:
        """The ids of tokens by role: "bos", "eos", "unk", "pad", "sep", "mask", "eot", "eom",
        "fim_prefix", "fim_suffix", "fim_middle", "fim_pad", "fim_repo" and "fim_sep".

        The file states the roles. Published texts such as <|im_end|> and <|fim_prefix|> also give
        those from "eot" on. A role is absent if the file states none, or an id without a token.
        """
        unknown = self._unknown_id
        known = {} if unknown is None else {"unk": unknown}
        stated = {role: id for role, id in self._spec.facts.roles.items() if self._is_token(id)}
        return {**roles_of_names(self._named_ids), **known, **stated}

    @property
    def _unknown_id(self) -> int | None:
        """The id of the unknown token of the model; None if text never becomes this token."""
        unknown = getattr(self.vocabulary, "unknown_id", None)
        if unknown is None or unknown < 0 or unknown in self.vocabulary.byte_ids.values():
            return None
        return int(unknown)

    @property
    def add_bos(self) -> bool:
        """True if `add_special_tokens` puts the token with the role "bos" before a text."""
        return self.role_ids.get("bos") in self.template.before

    @property
    def add_eos(self) -> bool:
        """True if `add_special_tokens` puts the token with the role "eos" after a text."""
        return self.role_ids.get("eos") in self.template.after

    @once
    def end_ids(self) -> tuple[int, ...]:
        """The ids that end a generation, ascending.

        They are the ids that the file lists (generation_config.json), the ids with the roles "eos",
        "eot", "eom", "fim_pad", "fim_repo" and "fim_sep", and tokens with published texts such as
        <|im_end|>, as in llama.cpp. Listed ids that no token has are omitted.
        """
        listed = filter(self._is_token, self._spec.facts.ends)
        return end_ids(listed, self.role_ids, self._named_ids)

    @property
    def chat_template(self) -> str | None:
        """The chat template of the file, or None."""
        return self._spec.facts.chat_template

    @property
    def chat_templates(self) -> dict[str, str]:
        """All chat templates of the files by name; `chat_template` has the name "default"."""
        facts = self._spec.facts
        default = {} if facts.chat_template is None else {"default": facts.chat_template}
        return {**default, **facts.named_templates}

    @once
    def special_token_variables(self) -> dict[str, str]:
        """The variables of chat templates for special tokens, such as bos_token, and their texts.

        They are those of the roles "bos", "eos", "unk", "pad", "sep" and "mask".
        """
        texts = {token.id: token.content for token in self.added_tokens}
        return {
            f"{role}_token": texts[self.role_ids[role]]
            for role in ("bos", "eos", "unk", "pad", "sep", "mask")
            if self.role_ids.get(role) in texts
        }

    @once
    def max_token_bytes(self) -> int:
        """The size of the longest token in rendered bytes."""
        return int(np.diff(self._rendered[1]).max(initial=0))

    def vocabulary_buffer(self) -> VocabularyBuffer:
        """Return all tokens at once, as arrays that must not be changed.

        Grammar engines build their tries of such arrays. The native backend makes no Python object
        for each token.
        """
        data, offsets, sorted_ids = self._rendered
        return VocabularyBuffer(data, offsets, self._types, sorted_ids)

    def _check_token(self, id: int) -> None:
        if not self._is_token(id):
            raise unknown_id([id], self._token_bytes_by_id)

    def _is_token(self, id: int) -> bool:
        return 0 <= id < self.vocab_size and bool(self._has_token[id])

    @once
    def _has_token(self) -> NDArray[np.bool_]:
        has_token = np.zeros(self.vocab_size, bool)
        has_token[list(self._added_bytes)] = True
        has_token[self.vocabulary.packed.ids] = True
        return has_token

    @once
    def _named_ids(self) -> dict[str, int]:
        """The ids of the texts that `bpe.token_facts` knows."""
        packed = self.vocabulary.packed
        ends = np.cumsum(packed.lengths, dtype=np.int64)
        starts = ends - packed.lengths
        data = np.frombuffer(packed.data, np.uint8)
        may_match = (packed.lengths > 0) & (packed.lengths <= MAX_NAME_BYTES)
        firsts = np.zeros(len(starts), np.uint8)
        firsts[may_match] = data[starts[may_match]]
        may_match &= np.isin(firsts, list(FIRST_BYTES))
        tokens: list[tuple[int, str | bytes]] = [
            (int(packed.ids[place]), packed.data[starts[place] : ends[place]])
            for place in np.flatnonzero(may_match).tolist()
        ]
        tokens += [(token.id, token.content) for token in self.added_tokens]
        return known_names(tokens)

    @once
    def _types(self) -> Types:
        facts, vocabulary = self._spec.facts, self.vocabulary
        types = np.where(self._has_token, TokenType.NORMAL, TokenType.UNDEFINED).astype(np.uint8)
        if isinstance(vocabulary, AnyCharacterVocabulary):
            types[list(vocabulary.byte_ids.values())] = TokenType.BYTE
        for special, kind in ((False, TokenType.USER_DEFINED), (True, TokenType.CONTROL)):
            types[[token.id for token in self.added_tokens if token.special == special]] = kind
        types[[id for id in (self._unknown_id, self.role_ids.get("unk")) if id is not None]] = (
            TokenType.UNKNOWN
        )
        size = min(len(types), len(facts.types))
        types[:size] = facts.types[:size]
        types.flags.writeable = False
        return types

    @once
    def _scores(self) -> Scores:
        listed = self._spec.facts.scores[: self.vocab_size]
        scores = np.zeros(self.vocab_size, np.float32)
        scores[: len(listed)] = listed
        if not len(listed) and not isinstance(self.vocabulary, CharacterVocabulary):
            rows = self._merge_rows()[::-1]  # the first merge of a token is assigned last
            scores[rows[:, 2]] = -np.arange(len(rows), dtype=np.float32)[::-1]
        return scores

    @once
    def _rendered(self) -> tuple[NDArray[np.uint8], NDArray[np.uint32], Ids]:
        """The rendered bytes of all tokens, their offsets by id, and the sorted ids."""
        native = self._pipeline.backend.rendered()
        if native is not None:
            return native
        tokens = self._ids_to_text.rendered()
        by_id = [tokens.get(id, b"") for id in range(self.vocab_size)]
        data = np.frombuffer(b"".join(by_id), np.uint8)
        offsets = np.zeros(len(by_id) + 1, np.uint32)
        offsets[1:] = np.cumsum([len(token) for token in by_id])
        order = sorted(tokens, key=lambda id: (tokens[id], id))
        return data, offsets, np.array(order, np.uint32)

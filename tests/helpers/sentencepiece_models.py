"""SentencePiece models for tests: written field by field, or trained by sentencepiece."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe import Tokenizer
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.formats.protobuf import fields
from bpe.token_facts import TokenType

Field = tuple[int, int | float | bytes]
Row = tuple[str, float, TokenType]

UNKNOWN: Row = ("<unk>", 0.0, TokenType.UNKNOWN)
BYTES: tuple[Row, ...] = tuple((f"<0x{byte:02X}>", 0.0, TokenType.BYTE) for byte in range(256))
# Options of a trainer_spec: model_type=BPE, and byte_fallback=true.
BPE: tuple[Field, ...] = ((3, 2),)
BYTE_FALLBACK: tuple[Field, ...] = (*BPE, (35, 1))
NO_CHANGES: tuple[Field, ...] = ((3, 0), (4, 0))
"""Options of a normalizer_spec that only replaces spaces by "▁": no prefix, no removed spaces."""


def varint(number: int) -> bytes:
    """Return `number` as a varint."""
    data = bytearray()
    while number >= 0x80:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


def message(listed: Iterable[Field]) -> bytes:
    """Return the protobuf message of these fields; a float becomes a word of 32 bits."""
    data = b""
    for number, value in listed:
        if isinstance(value, int):
            data += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            data += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            data += varint(number << 3 | 2) + varint(len(value)) + value
    return data


def piece(text: str, score: float, kind: int) -> bytes:
    """Return a piece. As in published files, the type NORMAL is omitted."""
    kinds: list[Field] = [] if kind == TokenType.NORMAL else [(3, int(kind))]
    return message([(1, text.encode()), (2, float(score)), *kinds])


def model(
    rows: Sequence[Row],
    trainer: Sequence[Field] = BPE,
    normalizer: Sequence[Field] = NO_CHANGES,
    more: Sequence[Field] = (),
) -> bytes:
    """Return the .model with these pieces and options."""
    return message(
        [
            *((1, piece(*row)) for row in rows),
            (2, message(trainer)),
            (3, message(normalizer)),
            *more,
        ]
    )


def normal(*texts: str) -> list[Row]:
    """Return normal pieces, the first with the highest score."""
    return [(text, -float(index), TokenType.NORMAL) for index, text in enumerate(texts)]


def trained(sentences: Iterable[str], **options: Any) -> bytes:
    """Return the BPE model that sentencepiece trains."""
    import sentencepiece

    data = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=data,
        minloglevel=5,
        hard_vocab_limit=False,
        **{"model_type": "bpe", "num_threads": 1, **options},
    )
    return data.getvalue()


def live_spans(processor: Any, text: str) -> list[tuple[int, int, int]]:
    """Return the id, start and end of each token, in code points, as sentencepiece gives them."""
    at = 0
    char_at = {0: 0}
    for index, char in enumerate(text):
        at += len(char.encode())
        char_at[at] = index + 1
    spans = []
    for number, value in fields(processor.encode(text, return_type="serialized_proto"), "text"):
        if number == 2 and isinstance(value, bytes):
            parts = {name: part for name, part in fields(value, "token") if isinstance(part, int)}
            spans.append((parts[2], char_at[parts.get(4, 0)], char_at[parts.get(5, 0)]))
    return spans


def assert_equal(tokenizers: Sequence[Tokenizer], live: Any, text: str, random: Random) -> None:
    """Compare tokenizers of the same model, one for each backend, with sentencepiece."""
    tokenizer = tokenizers[0]
    ids = tokenizer.encode(text, "text")
    for each in tokenizers:
        assert each.encode(text, "text") == live.encode(text), text
        assert each.count(text, "text") == len(ids)
        assert each.tokens(text, "text") == tokenizer.tokens(text, "text")
        assert each.encode_batch([text, "", text], "text") == [ids, [], ids]
    size = live.get_piece_size()
    for some in (ids, [random.randrange(size) for _ in range(random.randrange(10))]):
        expected = live.decode(some)
        for each in tokenizers:
            assert each.decode(some) == expected, some
            stream = each.decode_stream()
            parts = [stream.feed(id) for id in some]
            assert "".join(parts) + stream.finish() == expected, some
    spans = [(token.id, token.start, token.end) for token in tokenizer.tokens(text, "text")]
    # bpe gives each fallback token the span of its whole character, so compare only other tokens.
    fallback = set(tokenizer.vocabulary.byte_ids.values())
    assert [span for span in spans if span[0] not in fallback] == [
        span for span in live_spans(live, text) if span[0] not in fallback
    ], text


def merges_of(vocabulary: CharacterVocabulary) -> NDArray[np.uint32] | None:
    """Return the merges that C++ finds; None if no list of merges gives the same ids."""
    from pretok import _core

    packed, fields = vocabulary.for_spec()
    try:
        return _core.Spec(*packed, fields).merges()
    except (ValueError, NotImplementedError):
        return None

"""Convert the decoder of a tokenizer.json to a DecoderChain and back."""

from __future__ import annotations

from typing import Any

from bpe.decoders import steps
from bpe.decoders.chain import DecoderChain
from bpe.decoders.piece_decoder import Decoding
from bpe.decoders.steps import DECODERS, TokenStep
from bpe.errors import UnsupportedError
from bpe.formats.json_value import Value
from bpe.formats.step_json import read_step, write_step
from bpe.normalizers.growth import find_excess
from pretok.errors import DefinitionError
from pretok.pre_tokenizers import Metaspace, from_dict


def read(decoder: Value) -> DecoderChain:
    """Return the decoder of a tokenizer.json.

    A decoder that is null joins tokens with spaces, so it becomes steps.Spaces.

    Raises UnsupportedError for a decoder that bpe does not have, or if the decoders grow a token
    too much, and VocabularyError for a malformed decoder.
    """
    listed = tuple(map(_read, decoder.parts("decoders")))
    if problem := find_excess(listed, "token")[1]:
        raise decoder.unsupported(f"the decoders {problem}")
    return DecoderChain(listed)


def joins_bytes(decoder: Value) -> bool:
    """Return whether a decoder only joins the bytes of byte-level tokens.

    Call it only for a vocabulary of byte-level tokens. For such a vocabulary, bpe joins the bytes
    even if the decoder is null. For any other vocabulary, null joins tokens with spaces (`read`).
    An empty Sequence joins the characters that stand for the bytes, as in tokenizers.
    """
    parts = list(decoder.parts("decoders"))
    return bool(parts) and all(part.value is None or part.kind() == "ByteLevel" for part in parts)


def write(chain: Decoding | None) -> dict[str, Any] | None:
    """Return the JSON of a decoder in a tokenizer.json; None stands for null.

    If `chain` is None, the decoder joins the bytes of byte-level tokens. Raises UnsupportedError
    for the decoder of a SentencePiece model.
    """
    if chain is None:
        return dict(BYTE_LEVEL)
    if not isinstance(chain, DecoderChain):
        raise UnsupportedError("a tokenizer.json cannot hold the decoder of SentencePiece")
    if chain.steps == (steps.Spaces(),):
        return None
    listed = [_to_json(step) for step in chain.steps]
    return listed[0] if len(listed) == 1 else {"type": "Sequence", "decoders": listed}


# The options have no effect on decoding.
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
              "use_regex": True}  # fmt: skip


def _read(part: Value) -> TokenStep:
    if part.value is None:
        return steps.Spaces()
    if part.kind() == "ByteLevel":
        return steps.ByteLevel()
    if part.kind() == "Metaspace":
        block = metaspace(part)
        return steps.Metaspace(block.replacement, block.prepend_scheme)
    return read_step(part, DECODERS)


def metaspace(part: Value) -> Metaspace:
    """Read a Metaspace, which may be a pre_tokenizer or a decoder of a tokenizer.json.

    Raises VocabularyError if it is malformed.
    """
    try:
        block = from_dict(part.object())
    except DefinitionError as error:
        raise part.malformed(f"a valid Metaspace: {error}") from None
    assert isinstance(block, Metaspace), "the caller has checked the type"
    return block


def _to_json(step: TokenStep) -> dict[str, Any]:
    if isinstance(step, steps.ByteLevel):
        return dict(BYTE_LEVEL)
    extra = {"split": True} if isinstance(step, steps.Metaspace) else {}
    return write_step(step) | extra

"""Convert the decoder of a tokenizer.json to a DecoderChain and back."""

from __future__ import annotations

from typing import Any

from bpe.decoders import steps
from bpe.decoders.chain import DecoderChain
from bpe.decoders.growth import problem_of_growth
from bpe.decoders.steps import Step
from bpe.encoding.piece_decoder import Decoding
from bpe.errors import UnsupportedError
from bpe.formats.json_value import Value
from bpe.formats.normalizer_json import pattern_of, replace_json, short_text
from pretok.errors import DefinitionError
from pretok.pre_tokenizers import Metaspace, from_dict

_MAX_STRIPPED = 256


def read(decoder: Value) -> DecoderChain:
    """Return the decoder of a tokenizer.json.

    A decoder that is null joins tokens with spaces, so it becomes steps.Spaces.

    Raises UnsupportedError for a decoder that bpe does not have, or if the decoders grow a token
    too much, and VocabularyError for a malformed decoder.
    """
    listed = [
        steps.Spaces() if part.value is None else _read(part) for part in decoder.parts("decoders")
    ]
    if problem := problem_of_growth(listed):
        raise decoder.unsupported(f"the decoders {problem}")
    return DecoderChain(tuple(listed))


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


def _read(part: Value) -> Step:
    kind = part.kind()
    if kind == "ByteLevel":
        return steps.ByteLevel()
    if kind in ("ByteFallback", "Fuse"):
        part.only("type")
        return steps.Fuse() if kind == "Fuse" else steps.ByteFallback()
    if kind == "Strip":
        part.only("type", "content", "start", "stop")
        content = part["content"].text()
        if len(content) != 1:
            raise part["content"].malformed("one character")
        return steps.Strip(content, _count(part["start"]), _count(part["stop"]))
    if kind == "Replace":
        return steps.Replace(pattern_of(part))
    if kind == "Metaspace":
        block = metaspace(part)
        return steps.Metaspace(block.replacement, block.prepend_scheme)
    if kind == "BPEDecoder":
        part.only("type", "suffix")
        return steps.BPEDecoder(short_text(part["suffix"]))
    if kind == "WordPiece":
        part.only("type", "prefix", "cleanup")
        return steps.WordPiece(short_text(part["prefix"], may_be_empty=True),
                               part["cleanup"].flag())  # fmt: skip
    if kind == "CTC":
        part.only("type", "pad_token", "word_delimiter_token", "cleanup")
        pad, delimiter = part["pad_token"], part["word_delimiter_token"]
        return steps.CTC(short_text(pad, may_be_empty=True),
                         short_text(delimiter, may_be_empty=True),
                         part["cleanup"].flag())  # fmt: skip
    raise part.unsupported(
        "expected one of ByteLevel, ByteFallback, Fuse, Strip, Replace, Metaspace, BPEDecoder, "
        "WordPiece, CTC, Sequence or null"
    )


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


def _count(value: Value) -> int:
    if not 0 <= value.number() <= _MAX_STRIPPED:
        raise value.malformed(f"a number from 0 to {_MAX_STRIPPED}")
    return value.number()


def _to_json(step: Step) -> dict[str, Any]:
    if isinstance(step, steps.ByteLevel):
        return dict(BYTE_LEVEL)
    if isinstance(step, steps.Replace):
        return replace_json(step.replace)
    if isinstance(step, steps.Metaspace):
        return {"type": "Metaspace", "replacement": step.replacement,
                "prepend_scheme": step.prepend_scheme, "split": True}  # fmt: skip
    return {"type": type(step).__name__, **vars(step)}

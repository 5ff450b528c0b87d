"""Detect files that are not vocabularies, and name their format in the error."""

from __future__ import annotations

from bpe.errors import BpeError, UnsupportedError, VocabularyError
from bpe.formats.json_value import Value
from pretok.errors import shortened

_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive, such as a checkpoint of a model"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"),
    (b"version https://git-lfs", "only the pointer of Git LFS; get the file with `git lfs pull`"),
    (b"<!DOCTYPE", "a web page; download the file itself"),
    (b"<!doctype", "a web page; download the file itself"),
    (b"<html", "a web page; download the file itself"),
)
_CONFIGS = {
    "added_tokens_decoder": "a tokenizer_config.json; the vocabulary is in the same folder",
    "tokenizer_class": "a tokenizer_config.json; the vocabulary is in the same folder",
    "architectures": "the config.json of a model",
    "weight_map": "the index of a model's weights",
}


def check_signature(head: bytes) -> None:
    """Raise UnsupportedError if a file with these first bytes is of a known foreign format."""
    for signature, description in _SIGNATURES:
        if head.startswith(signature):
            raise UnsupportedError(f"this is {description}")
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise UnsupportedError("this is a pickle; bpe never runs code from a file")


def unknown_json(json: Value) -> BpeError:
    """Return the error for a JSON object that is not a vocabulary."""
    members = json.object()
    for key, description in _CONFIGS.items():
        if key in members:
            return VocabularyError(f"expected a vocabulary, got {description}")
    names = ", ".join(shortened(name, show=ascii) for name in list(members)[:5])
    shown = f"the members {names}" if names else "no members"
    return VocabularyError(
        f'the JSON object has {shown}; expected a tokenizer.json (with a member "model") or a '
        "vocab.json (which maps texts to ids)"
    )


def unknown_data(data: bytes) -> BpeError:
    """Return the error for a file that no format detects."""
    if not data or data.isspace():
        return VocabularyError("the file is empty; expected a vocabulary")
    return VocabularyError(
        f"the file begins with {data[:24]!r}, not like a vocabulary that bpe reads; expected "
        "a tokenizer.json, a rank file of tiktoken, a vocab.json or merges.txt, a tekken.json, a "
        ".model of SentencePiece or minbpe, a GGUF or a .pretok file"
    )

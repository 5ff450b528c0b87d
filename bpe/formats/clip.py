"""Read bpe_simple_vocab_16e6.txt.gz, the vocabulary of CLIP, as OpenAI and open_clip ship it.

The file has only merges, and more merges than the model uses. The ids and the decoder are those of
CLIP's tokenizer.json, so `read` builds such a tokenizer.json. But text is encoded as OpenAI's
SimpleTokenizer does (simple_tokenizer.py), which differs from the tokenizer.json in rare texts.

SimpleTokenizer first repairs a text with ftfy.fix_text, and twice with html.unescape. bpe does not.
It gives the ids of SimpleTokenizer for every text that needs no repair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bpe.errors import VocabularyError
from bpe.formats import huggingface
from bpe.formats.files import named, utf8_text
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.json_value import Value
from bpe.formats.simple_tokenizer import SimpleTokenizerText
from bpe.formats.spec import TokenizerSpec
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.errors import shortened

FIRST_LINE = '"bpe_simple_vocab_16e6.txt#version'
MERGES = 49152 - 256 - 2
"""The number of merges that CLIP uses: the first ones of the file."""
END_OF_WORD = "</w>"
START, END = "<|startoftext|>", "<|endoftext|>"
PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


class ClipFormat(Format):
    """The merges of CLIP, packed with gzip or not."""

    name = "bpe_simple_vocab_16e6.txt"

    def detects(self, source: Source) -> bool:
        return source.head.startswith(FIRST_LINE.encode())

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        with named(source.path):
            names = {token.id: token.content for token in options.added_tokens or ()}
            return read(source.data, options.needs_preset, names)


def read(
    data: bytes, needs_preset: bool = True, names: Mapping[int, str] | None = None
) -> TokenizerSpec:
    """Return the tokenizer; raises VocabularyError if the file is malformed.

    `names` has the names of the special tokens by id, if they differ from the names of OpenAI.
    open_clip 3 calls the tokens <start_of_text> and <end_of_text>.
    """
    merges = _merges(utf8_text(data))
    characters = sorted(BYTE_CHARACTERS)
    texts = [*characters, *(char + END_OF_WORD for char in characters)]
    texts += [left + right for left, right in merges]
    # If two merges make the same token, CLIP uses the later id.
    vocab = {text: id for id, text in enumerate(texts)}
    special = [(names or {}).get(len(texts), START), (names or {}).get(len(texts) + 1, END)]
    for id, name in enumerate(special, len(texts)):
        if vocab.setdefault(name, id) != id:
            raise VocabularyError(
                f"special token {shortened(name)} is also token {vocab[name]}; give it another "
                "name, or remove the merge that makes this token"
            )
    spec = huggingface.read(Value(_tokenizer_json(vocab, merges, *special), ""), needs_preset)
    normalizer = SimpleTokenizerText(*special)
    return replace(spec, normalizer=normalizer, preset=normalizer.preset if needs_preset else None)


def _merges(text: str) -> list[list[str]]:
    """Return the merges that CLIP uses; the first line of the file is a header."""
    lines = text.split("\n")[: MERGES + 1]
    if lines[-1] == "":
        lines.pop()
    merges = [line.split(" ") for line in lines[1:]]
    for number, merge in enumerate(merges, 2):
        if len(merge) != 2 or not all(merge):
            raise VocabularyError(
                f"line {number} is {shortened(lines[number - 1])}; expected two tokens with a "
                "space between"
            )
    return merges


def _tokenizer_json(
    vocab: dict[str, int], merges: list[list[str]], start: str, end: str
) -> dict[str, Any]:
    """Return the tokenizer.json of CLIP with this vocabulary."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "special": True}
    split = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Removed", "invert": True}
    words = {"type": "Replace", "pattern": {"String": END_OF_WORD}, "content": " "}
    byte_level = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "added_tokens": [
            {"id": vocab[start], "content": start, "normalized": True, **flags},
            {"id": vocab[end], "content": end, "normalized": True, **flags},
        ],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [split, {"type": "ByteLevel", **byte_level}],
        },
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": [end, vocab[end]],
            "cls": [start, vocab[start]],
            "trim_offsets": False,
            "add_prefix_space": False,
        },
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel", **byte_level}, words]},
        "model": {
            "type": "BPE",
            "unk_token": end,
            "end_of_word_suffix": END_OF_WORD,
            "vocab": vocab,
            "merges": merges,
        },
    }

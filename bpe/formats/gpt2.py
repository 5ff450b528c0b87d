"""vocab.json and merges.txt, the two files that GPT-2 came in."""

from __future__ import annotations

from pathlib import Path

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats import json_value
from bpe.formats.bpe_model import ListedMerges, build
from bpe.formats.contents import Contents
from bpe.formats.files import named, read, utf8_text
from bpe.formats.huggingface import added_token
from pretok.errors import short_path

VOCAB, MERGES, CONFIG = "vocab.json", "merges.txt", "tokenizer_config.json"


def pair_of(path: Path, is_vocab: bool) -> tuple[Path, Path]:
    """Return the vocab.json and the merges.txt that `path`, one of the two, belongs to.

    What stands before that in one name, "qwen2_" say, stands before it in the other. Raises
    VocabularyError if the other file is not there.
    """
    mine, other = (VOCAB, MERGES) if is_vocab else (MERGES, VOCAB)
    asked = f"pass bpe.load((vocab_path, merges_path)) if {path.name} has a partner elsewhere"
    if not path.name.endswith(mine):
        raise VocabularyError(
            f"{short_path(path)}: this is one of the two files of a vocabulary, {mine} by its "
            "content, and its "
            f"name does not say what the other, {other}, is called; {asked}"
        )
    partner = path.with_name(path.name.removesuffix(mine) + other)
    if not partner.is_file():
        raise VocabularyError(
            f"{short_path(path)}: the other file of this vocabulary, {partner.name}, is not beside "
            f"it; {asked}"
        )
    return (path, partner) if is_vocab else (partner, path)


def load(
    vocab_path: Path, merges_path: Path, added: tuple[AddedToken, ...] | None = None
) -> Contents:
    """Return the contents of a vocab.json and its merges.txt.

    Added tokens are those given, else those of a tokenizer_config.json beside the files. Raises
    VocabularyError, UnsupportedError, OSError.
    """
    add_prefix_space = False
    config = vocab_path.with_name(vocab_path.name.removesuffix(VOCAB) + CONFIG)
    if vocab_path.name.endswith(VOCAB) and config.is_file():
        with named(config):
            listed, add_prefix_space = _config(read(config))
            added = listed if added is None else added
    with named(vocab_path):
        vocab = json_value.parse(read(vocab_path))
        vocab.object()
    with named(merges_path):
        pairs, lines = parse_merges(read(merges_path))
        if not pairs and len(vocab.value) > 256 + len(added or ()):
            raise VocabularyError(
                f"the file has no merges, but {vocab_path.name} has {len(vocab.value)} tokens; it "
                "is cut off, or does not belong to it"
            )
    with named(vocab_path):
        merges = ListedMerges(
            pairs, lambda: pairs, lambda index: f"{short_path(merges_path)} line {lines[index]}"
        )
        vocabulary = build(vocab, merges, added=added or ())
    return Contents(
        vocabulary,
        why_no_preset=f"{VOCAB} and {MERGES} do not say how to split text",
        added_tokens=added or (),
        add_prefix_space=add_prefix_space,
    )


def parse_merges(data: bytes) -> tuple[list[tuple[str, str]], list[int]]:
    """Return the merges of a merges.txt and the line that each stands in."""
    pairs: list[tuple[str, str]] = []
    numbers: list[int] = []
    lines = utf8_text(data).split("\n")
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if not line or line.startswith("#version"):
            continue
        left, space, right = line.partition(" ")
        if not (left and space and right) or " " in right:
            raise VocabularyError(
                f"line {number} is {line[:80]!r}; expected two tokens with a space between"
            )
        pairs.append((left, right))
        numbers.append(number)
    # A last line that was cut off may well be another merge, one that is already there.
    if lines[-1] and pairs and "".join(pairs[-1]) in {left + right for left, right in pairs[:-1]}:
        raise VocabularyError(
            f"line {numbers[-1]} makes a token that a line before it makes too, and has no end: "
            "the file is cut off"
        )
    return pairs, numbers


def _config(data: bytes) -> tuple[tuple[AddedToken, ...] | None, bool]:
    """Return the added tokens of a tokenizer_config.json, if it has any, and its prefix space."""
    config = json_value.parse(data)
    add_prefix_space = config["add_prefix_space"].flag(default=False)
    listed = config["added_tokens_decoder"]
    if listed.value is None:
        return None, add_prefix_space
    found = []
    for key in listed.object():
        if not (key.isascii() and key.isdecimal()) or len(key) > 9:
            raise listed[key].malformed("an id as its name")
        found.append(added_token(listed[key], int(key)))
    return tuple(found), add_prefix_space

"""Read a vocab.json and its merges.txt, the format of GPT-2."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats import json_value
from bpe.formats.bpe_model import ListedMerges, ListedModel
from bpe.formats.files import named, read, utf8_text
from bpe.formats.format import BYTE_ORDER_MARK, Format, ReadOptions, Source
from bpe.formats.json_value import Value
from bpe.formats.native_readers import native_vocabulary, open_native
from bpe.formats.spec import TokenizerSpec
from bpe.formats.text_model import byte_level_model
from bpe.formats.tokenizer_config import FILE_NAME as CONFIG
from bpe.formats.tokenizer_config import config_tokens, join, named_tokens
from bpe.normalizers.chain import NFC
from bpe.types import NormalizesText
from bpe.vocabulary import Vocabulary
from pretok.errors import short_path
from pretok.preset import Preset
from pretok.presets.cl100k import QWEN2
from pretok.presets.gpt2 import GPT2

VOCAB, MERGES = "vocab.json", "merges.txt"
NAMES = {VOCAB: MERGES, "encoder.json": "vocab.bpe"}
"""Maps the name of the file of ids to the name of its merges file.

The first pair is of Hugging Face, the second of OpenAI.
"""


class _Class(NamedTuple):
    """A class of transformers; each of `roles` that a config lacks is _DEFAULT_TOKEN."""

    preset: Preset
    normalizer: NormalizesText | None
    roles: tuple[str, ...]


_CLASSES = {
    "GPT2Tokenizer": _Class(GPT2, None, ("unk", "bos", "eos")),
    "Qwen2Tokenizer": _Class(QWEN2, NFC, ("unk", "eos", "pad")),
}
"""Maps the names of known classes, without "Fast" at the end, to what they say."""
_DEFAULT_TOKEN = "<|endoftext|>"


class Gpt2Format(Format):
    """A vocab.json and its merges.txt.

    A tokenizer_config.json next to them has added tokens. It may name a class of transformers that
    says how to split text.
    """

    name = "vocab.json and merges.txt"
    says_split = False

    def detects(self, source: Source) -> bool:
        return _is_vocab(source) or _is_merges(source)

    def complete(self, source: Source) -> Source:
        if len(source.paths) == 2:
            return source
        return Source(*pair_of(source.path, is_vocab=source.json is not None))

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec:
        vocab_path, merges_path = source.paths
        vocab_data, merges_data = source.contents
        config = _read_config(vocab_path)
        added, add_prefix_space = config.added_tokens, config.add_prefix_space
        if options.added_tokens is not None:
            added = options.added_tokens
        with named(vocab_path):
            vocab = json_value.parse(vocab_data)
            ids = vocab.object()
        if config.named and options.added_tokens is None:
            added = join((), added, config.named, ids)
        with named(merges_path):
            pairs, line_numbers = parse_merges(merges_data)
            if not pairs and len(vocab.value) > 256 + len(added):
                raise VocabularyError(
                    f"the file has no merges, but {vocab_path.name} has {len(vocab.value)} tokens; "
                    "it is truncated, or belongs to another vocabulary"
                )
        with named(vocab_path):
            merges = ListedMerges(
                lambda: pairs, lambda index: f"{short_path(merges_path)} line {line_numbers[index]}"
            )
            model = ListedModel(vocab, merges, added=added)
            vocabulary, decoder = byte_level_model(model, _native(vocab_data, pairs, added))
        return TokenizerSpec(
            vocabulary,
            config.preset,
            f"{VOCAB} and {MERGES} do not say how to split text",
            added_tokens=added,
            normalizer=config.normalizer,
            add_prefix_space=add_prefix_space,
            decoder=decoder,
        )


def _native(
    vocab: bytes, pairs: list[tuple[str, str]], added: Sequence[AddedToken]
) -> Vocabulary | None:
    """Return the vocabulary, or None if Python must make it."""
    merges = json.dumps(pairs, ensure_ascii=False).encode()
    vocab = vocab.removeprefix(BYTE_ORDER_MARK)
    native = open_native(b'{"model": {"vocab": %b, "merges": %b}}' % (vocab, merges))
    return None if native is None else native_vocabulary(native, added, ends_byte_level=True)


def pair_of(path: Path, is_vocab: bool) -> tuple[Path, Path]:
    """Return the vocab.json and the merges.txt of the vocabulary that `path` belongs to.

    Both names may begin with the same prefix, such as "qwen2_". OpenAI calls the two files
    encoder.json and vocab.bpe. `is_vocab` is true if `path` is the vocab.json. Raises
    VocabularyError if the other file does not exist.
    """
    names = NAMES if is_vocab else {merges: vocab for vocab, merges in NAMES.items()}
    advice = "name both files: bpe.load((vocab_path, merges_path))"
    ending = next((name for name in names if path.name.endswith(name)), None)
    if ending is None:
        name, other = next(iter(names.items()))
        raise VocabularyError(
            f"{short_path(path)}: the content is that of a {name}, but the name of the file does "
            f"not end with {name}, so the name of its {other} is unknown; {advice}"
        )
    partner = path.with_name(path.name.removesuffix(ending) + names[ending])
    if not partner.is_file():
        raise VocabularyError(
            f"{short_path(path)}: the other file of this vocabulary, {partner.name}, is not in the "
            f"same folder; put it there, or {advice}"
        )
    return (path, partner) if is_vocab else (partner, path)


def _is_vocab(source: Source) -> bool:
    if source.json is None:
        return False
    ids = source.json.object().values()
    return bool(ids) and all(type(id) is int for id in ids)


def _is_merges(source: Source) -> bool:
    lines = source.first_lines
    is_text = bool(lines) and all(byte >= 0x20 for line in lines for byte in line)
    return is_text and (
        lines[0].startswith(b"#version") or all(line.count(b" ") == 1 for line in lines)
    )


def parse_merges(data: bytes) -> tuple[list[tuple[str, str]], list[int]]:
    """Return the merges of a merges.txt and the line number of each."""
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
    # In a truncated last line the right token is shorter, so the merge may make the same token as
    # an earlier line. So the file is truncated if its last line makes such a token, and has no line
    # break.
    if lines[-1] and pairs and "".join(pairs[-1]) in {left + right for left, right in pairs[:-1]}:
        raise VocabularyError(
            f"line {numbers[-1]} makes the same token as an earlier line, and ends without a line "
            "break; the file is truncated"
        )
    return pairs, numbers


class _Config(NamedTuple):
    """The content of a tokenizer_config.json; `named` are special tokens without an id."""

    added_tokens: tuple[AddedToken, ...] = ()
    add_prefix_space: bool = False
    preset: Preset | None = None
    normalizer: NormalizesText | None = None
    named: tuple[str, ...] = ()


def _read_config(vocab_path: Path) -> _Config:
    """Return the content of the tokenizer_config.json, if one exists."""
    config_path = vocab_path.with_name(vocab_path.name.removesuffix(VOCAB) + CONFIG)
    if not vocab_path.name.endswith(VOCAB) or not config_path.is_file():
        return _Config()
    with named(config_path):
        return _parse_config(json_value.parse(read(config_path)))


def _parse_config(config: Value) -> _Config:
    add_prefix_space = config["add_prefix_space"].flag(default=False)
    found = _Config(config_tokens(config), add_prefix_space)
    kind = config["tokenizer_class"].value
    name = kind.removesuffix("Fast") if isinstance(kind, str) else ""
    adds_ids = any(config[flag].value for flag in ("add_bos_token", "add_eos_token"))
    known = _CLASSES.get(name)
    if known is None or adds_ids:
        return found
    is_default = any(f"{role}_token" not in config.object() for role in known.roles)
    tokens = (*named_tokens(config), *([_DEFAULT_TOKEN] if is_default else []))
    return found._replace(preset=known.preset, normalizer=known.normalizer, named=tokens)

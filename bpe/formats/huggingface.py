"""Read the tokenizer.json of Hugging Face's tokenizers, for BPE.

huggingface_writer.py writes it. cpp/formats/tokenizer_json.hpp is the C++ reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

from bpe.byte_level import to_bytes
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.decoders.piece_decoder import Decoding
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import (
    byte_digits,
    decoder_json,
    lengths_json,
    normalizer_json,
    post_processor,
    pre_tokenizers,
    text_model,
)
from bpe.formats.bpe_model import ListedMerges, ListedModel, assigned_ids, build_if_bytes
from bpe.formats.file_spec import FileSpec
from bpe.formats.files import named
from bpe.formats.files import read as read_file
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.huggingface_writer import dump
from bpe.formats.json_value import Value, parse
from bpe.formats.losses import PARTS
from bpe.formats.native_readers import native_vocabulary
from bpe.formats.spec import TokenizerSpec
from bpe.formats.step_json import short_text
from bpe.formats.tokenizer_config import FILE_NAME as CONFIG
from bpe.formats.tokenizer_config import added_token, config_tokens, join, named_tokens, other_ids
from bpe.text_ids import TextIds
from bpe.token_facts import TokenFacts
from bpe.vocabulary import Vocabulary
from pretok.errors import shortened

if TYPE_CHECKING:
    from pretok import _core

_PARTS = ("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
          "post_processor", "decoder", "model")  # fmt: skip
_OPTIONS = ("type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix",
            "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges")  # fmt: skip


class HuggingFaceFormat(Format):
    """A tokenizer.json; holds every part of a tokenizer."""

    name = "tokenizer.json"
    suffix = ".json"
    kinds = (Vocabulary, TextVocabulary)
    holds = PARTS

    def detects(self, source: Source) -> bool:
        if source.native is not None:
            return True
        return source.json is not None and type(source.json["model"].value) is dict

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec | FileSpec:
        native = source.native
        parts = None if native is None or source.config is not None else native.spec()
        if native is not None and parts is not None:
            others = partial(_read_others, native.rest(), source.path, options.needs_preset)
            spec = FileSpec(parts, others)
            if not spec.fields["ignored_ids"]:
                if not (parts.is_text or spec.fields["preset"]):
                    return spec.read_all()
                if spec.fields["truncation"] or spec.fields["padding"]:
                    spec.read_all()  # C++ does not check them
                return spec
        assert source.json is not None, "`detects` has checked it"
        listed: tuple[AddedToken, ...] = ()
        special: tuple[str, ...] = ()
        if source.config is not None:
            with named(source.config):
                config = parse(read_file(source.config))
                listed, special = config_tokens(config), named_tokens(config)
        with named(source.path):
            return read(source.json, options.needs_preset, listed, special, native=native)

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


def read(
    file: Value,
    needs_preset: bool = True,
    in_config: Sequence[AddedToken] = (),
    named_in_config: Sequence[str] = (),
    *,
    trusts_ids: bool = False,
    native: _core.JsonFile | None = None,
) -> TokenizerSpec:
    """Return the tokenizer in a tokenizer.json, with the added tokens of its tokenizer_config.json.

    `in_config` and `named_in_config` are the results of `config_tokens` and `named_tokens` for the
    tokenizer_config.json. Raises UnsupportedError for a part that bpe does not support, and
    VocabularyError for a malformed part; both messages name the path of the part. If `needs_preset`
    is false, the pre_tokenizer is not looked up and `preset` is None. Added tokens get the ids that
    the library tokenizers gives them; if `trusts_ids`, they have the ids in the file. `native` has
    the vocabulary and merges, which `file` then lacks.
    """
    file.only(*_PARTS)
    pre_tokenizer = byte_digits.reordered(file["pre_tokenizer"])
    model = file["model"]
    check_model(model)
    added = added_tokens(file["added_tokens"])
    listed_added = added
    vocab: Mapping[str, int] = TextIds(native) if native is not None else model["vocab"].object()
    if not trusts_ids:
        added = _with_assigned_ids(file["added_tokens"], added, vocab)
    added = join(added, in_config, named_in_config, vocab)
    ids = {token.content: token.id for token in added}
    vocabulary = None
    options = text_model.options(model, pre_tokenizer)
    if native is not None:
        vocabulary = native_vocabulary(native, added, options.byte_level)
    if vocabulary is None:
        model = model if native is None else parse(native.file())["model"]
        vocabulary = _vocabulary(model, options, added)
    notes = (*other_ids("tokenizer.json", listed_added, ids), *other_ids(CONFIG, in_config, ids))
    parts = _with_vocabulary(file, vocabulary, added, needs_preset)
    unknown = file["model"]["unk_token"].value
    id = (vocab.get(unknown) if unknown in vocab else ids.get(unknown)) if unknown else None
    dropout = float(file["model"]["dropout"].value or 0.0)
    if dropout:
        notes += (_dropout_note(dropout),)
    facts = TokenFacts(roles={} if id is None else {"unk": id}, dropout=dropout)
    return replace(parts, notes=notes, facts=facts)


def _dropout_note(dropout: float) -> str:
    return (
        f"tokenizer.json: model.dropout is {dropout}, with which tokenizers leaves out merges at "
        f"random; bpe does so only in calls with dropout={dropout}"
    )


def _read_others(data: bytes, path: Path, needs_preset: bool, spec: FileSpec) -> TokenizerSpec:
    """Return the tokenizer of a file; C++ has read the vocabulary and added tokens of `spec`."""
    with named(path):
        return _with_vocabulary(
            parse(data), spec.vocabulary, spec.added_tokens.tokens, needs_preset
        )


def _with_vocabulary(
    file: Value, vocabulary: Vocabulary, added: tuple[AddedToken, ...], needs_preset: bool
) -> TokenizerSpec:
    """Return the tokenizer of a file, whose vocabulary and added tokens were read."""
    digits = byte_digits.digits_of(file["pre_tokenizer"])
    pre_tokenizer = byte_digits.reordered(file["pre_tokenizer"])
    file = Value({**file.object(), "pre_tokenizer": pre_tokenizer.value}, file.path)
    read_parts = _text if isinstance(vocabulary, TextVocabulary) else _byte_level
    parts = read_parts(file, vocabulary, added, needs_preset)
    if digits is not None and needs_preset:
        digits.check(vocabulary)
    return replace(
        parts,
        truncation=lengths_json.read_truncation(file["truncation"]),
        padding=lengths_json.read_padding(file["padding"]),
        trim_offsets=post_processor.read_trims(file["post_processor"]),
    )


def _vocabulary(
    model: Value, options: TextOptions, added: Sequence[AddedToken]
) -> Vocabulary | TextVocabulary:
    """Return the vocabulary of a file, from Python; or raise the error."""
    merges = model["merges"]
    merges.values()
    listed = ListedMerges(lambda: _pairs(merges), lambda index: f"model.merges[{index}]")
    vocabulary = None
    if options.byte_level and not (options.prefix or options.suffix):
        vocabulary = build_if_bytes(
            ListedModel(model["vocab"], listed, options.ignores_merges, added)
        )
    return vocabulary or text_model.vocabulary(model["vocab"], listed, options, added)


def _byte_level(
    file: Value, vocabulary: Vocabulary, added: tuple[AddedToken, ...], needs_preset: bool
) -> TokenizerSpec:
    """Return the tokenizer of a file whose tokens are bytes."""
    preset, why, add_prefix_space = None, "its pre_tokenizer was not looked up", False
    if needs_preset:
        preset, add_prefix_space = pre_tokenizers.read(file["pre_tokenizer"])
    else:
        try:
            add_prefix_space = pre_tokenizers.puts_space(file["pre_tokenizer"])
        except UnsupportedError as error:
            why = str(error)
    return TokenizerSpec(
        vocabulary,
        preset,
        why,
        added,
        normalizer_json.for_byte_level(normalizer_json.read(file["normalizer"])),
        add_prefix_space,
        post_processor.read(file["post_processor"]),
        decoder=_decoder(file["decoder"], added),
    )


def _decoder(decoder: Value, added: Sequence[AddedToken]) -> Decoding | None:
    """Return the decoder of a byte-level model; None if it joins the bytes of all tokens.

    ByteLevel decodes an added token like any other: "é" stands for the byte 0xE9.
    """
    is_byte_level = any(part.value is not None for part in decoder.parts("decoders"))
    changes_added = is_byte_level and any(
        not token.content.isascii() and to_bytes(token.content) is not None for token in added
    )
    if decoder_json.joins_bytes(decoder) and not changes_added:
        return None
    return decoder_json.read(decoder)


def _text(
    file: Value, vocabulary: Vocabulary, added: tuple[AddedToken, ...], needs_preset: bool
) -> TokenizerSpec:
    """Return the tokenizer of a file whose tokens are text."""
    split = text_model.split(file["pre_tokenizer"], needs_preset)
    return TokenizerSpec(
        vocabulary,
        split.preset,
        split.why_no_preset,
        added,
        text_model.normalizer(file["normalizer"], split.metaspace),
        split.add_prefix_space,
        post_processor.read(file["post_processor"]),
        decoder=decoder_json.read(file["decoder"]),
    )


def added_tokens(listed: Value) -> tuple[AddedToken, ...]:
    """Return the added tokens of a tokenizer.json, in its order."""
    if listed.value is None:
        return ()
    tokens = (added_token(item, item["id"].number(), "id") for item in listed.items())
    return tuple(token for token in tokens if token.content)  # the library ignores empty tokens


def check_model(model: Value) -> None:
    """Raise UnsupportedError for a model that bpe does not support, VocabularyError for others."""
    kind = model["type"]
    if kind.value is not None and kind.text() != "BPE":
        raise kind.unsupported("bpe reads only BPE models")
    model.only(*_OPTIONS)
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model[name].value is not None:
            short_text(model[name], may_be_empty=True)
    dropout = model["dropout"]
    if type(dropout.value) not in (type(None), int, float):
        raise dropout.malformed("null or a number")
    if dropout.value is not None and not 0 <= dropout.value <= 1:
        raise dropout.malformed("null or a number from 0 to 1")
    # unk_token has no effect on byte-level BPE: each byte is a token, which Vocabulary checks. So
    # only the type of unk_token is checked here. `_text` reads it for other models.
    if model["unk_token"].value is not None:
        model["unk_token"].text()
    for name in ("fuse_unk", "byte_fallback"):
        model[name].flag(default=False)


def _pairs(merges: Value) -> list[tuple[str, str]]:
    listed = merges.values()
    kinds = set(map(type, listed))
    if kinds == {str} and set(map(methodcaller("count", " "), listed)) == {1}:
        texts = iter(" ".join(listed).split(" "))
        return list(zip(texts, texts, strict=True))
    if kinds == {list} and set(map(len, listed)) == {2}:
        pairs = list(map(tuple, listed))
        if set(map(type, chain.from_iterable(pairs))) == {str}:
            return pairs
    return [_pair(merges, index) for index in range(len(listed))]


def _pair(merges: Value, index: int) -> tuple[str, str]:
    merge = merges.value[index]
    parts = merge.split(" ") if type(merge) is str else merge
    if type(parts) is not list or list(map(type, parts)) != [str, str]:
        raise Value(merge, f"model.merges[{index}]").malformed('two tokens, as "a b" or ["a", "b"]')
    return parts[0], parts[1]


def _with_assigned_ids(
    listed: Value, added: Sequence[AddedToken], vocab: Mapping[str, int]
) -> tuple[AddedToken, ...]:
    """Return `added` with the ids that the library tokenizers gives them.

    A token that is listed again with the same flags counts once. Raises UnsupportedError if a token
    is listed with different flags, and VocabularyError if two tokens get one id, because the ids of
    `vocab` have gaps.
    """
    tokens: dict[str, AddedToken] = {}
    ids = assigned_ids([token.content for token in added], vocab)
    for token, id in zip(added, ids, strict=True):
        with_id = replace(token, id=id)
        if tokens.setdefault(token.content, with_id) != with_id:
            raise UnsupportedError(
                f"{listed.path} has {shortened(token.content)} twice, with different flags; list "
                "it once"
            )
    owners: dict[int, str] = {}
    for content, token in tokens.items():
        if (owner := owners.setdefault(token.id, content)) != content:
            raise VocabularyError(
                f"added token {shortened(content)} has id {token.id}, which is the id of "
                f"{shortened(owner)}; give each token its own id"
            )
    return tuple(tokens.values())

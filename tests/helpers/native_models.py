"""Read tokenizer files by C++ and by Python, and return comparable models."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from bpe import BpeError, Tokenizer, UnsupportedError
from bpe.byte_level import to_bytes
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.encoding.piece_decoder import SentencePieceDecoding
from bpe.encoding.sentencepiece_normalizer import SentencePieceNormalizer
from bpe.encoding.text_spaces import TextSpaces, keeps_whole, spaces_of
from bpe.formats import (
    bpe_model,
    gguf,
    huggingface,
    pretok_file,
    pretok_steps,
    pretok_text,
    pretok_tokens,
    sentencepiece,
    tiktoken,
)
from bpe.formats.format import Source
from bpe.formats.huggingface import HuggingFaceFormat
from bpe.formats.json_value import Value
from bpe.formats.lengths_json import read_padding, read_truncation
from bpe.formats.pretok_file import PretokFormat
from bpe.formats.pretok_models import OTHER_MODEL, stripped
from bpe.formats.registry import detect
from bpe.formats.sentencepiece import SentencePieceFormat, begins_with_piece
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tiktoken import TiktokenFormat
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.types import Padding, Truncation
from bpe.vocabulary import Merge, Packed
from pretok.formats.gguf_metadata import MAGIC
from pretok.machine.program import serialize_stages
from pretok.presets import BUILT_IN, GPT2


class Said(NamedTuple):
    """The contents of a tokenizer file, as one reader reports them.

    `unsupported` is None if the file is valid. Otherwise it tells unsupported files (True) from
    malformed files (False), and the other fields are empty.
    """

    unsupported: bool | None = None
    tokens: dict[int, bytes] | None = None
    merges: tuple[Merge, ...] | None = None
    ignore_merges: bool = False
    added: tuple[Any, ...] = ()
    preset: str = ""
    program: tuple[int, ...] = ()
    unicode: str = ""
    nfc: bool = False
    add_prefix_space: bool = False
    template: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    text: tuple[Any, ...] | None = None
    """The options of a model whose tokens are text."""
    steps: tuple[Any, ...] = ([], False, None)
    """The kinds of the steps of the normalizer, whether there is a Metaspace, and the kinds of the
    steps of the decoder."""
    lengths: tuple[Truncation | None, Padding | None] = (None, None)
    trims: tuple[bool, ...] = ()


def said_to_cpp(data: bytes) -> Said:
    """Return the model that C++ reads from a file."""
    from pretok import _core

    found = _core.read_spec(data)
    if "error" in found:
        assert 10 < len(found["error"]) < 1000
        return Said(found["unsupported"])
    names_split = bool(found["preset"] or found["program"])
    assert found["text"] or bool(found["why_no_preset"]) != names_split
    return Said(
        None,
        Packed(*found["packed"]).unpacked(),
        None if found["from_ranks"] else tuple(map(tuple, found["merges"].tolist())),
        found["ignore_merges"],
        tuple(found["added"]),
        found["preset"],
        tuple(found["program"]),
        found["unicode"],
        found["nfc"],
        found["add_prefix_space"],
        (tuple(found["before"]), tuple(found["after"])),
        found["text"],
        found["steps"],
        (read_truncation(_json(found["truncation"])), read_padding(_json(found["padding"]))),
        tuple(found["trims"]),
    )


def _json(text: str) -> Value:
    return Value(json.loads(text) if text else None, "")


def ignored_ids(data: bytes) -> list[tuple[str, int]]:
    """Return the added tokens of a file that C++ gives another id, and their ids in the file."""
    from pretok import _core

    ignored: list[tuple[str, int]] = _core.read_spec(data)["ignored_ids"]
    return ignored


def said_to_python(data: bytes) -> Said:
    """Return the model that Python reads from a file.

    Returns Said(True) for tokenizer.json files whose tokens are text, or with a normalizer other
    than NFC or a decoder other than ByteLevel: the tests in tests/capi compare the ids of these.
    """
    try:
        contents = read(data)
        is_model = begins_with_piece(data) or (
            data.startswith(MAGIC) and type(contents.vocabulary) is CharacterVocabulary
        )
        if is_model:  # C++ supports the models that .pretok files hold
            contents = pretok_file.parse(pretok_file.dump(contents))
        is_text = isinstance(contents.vocabulary, AnyCharacterVocabulary)
        if is_text and not is_model and not data.startswith(pretok_file.MAGIC):
            return Said(True)
        is_plain = contents.normalizer in (None, NFC) and contents.decoder is None
        if not is_text and not is_plain and not data.startswith(pretok_file.MAGIC):
            return Said(True)
        # The constructor checks the added tokens.
        Tokenizer(contents.vocabulary, GPT2, added_tokens=contents.added_tokens, backend="python")
    except BpeError as error:
        return Said(isinstance(error, UnsupportedError))
    preset = contents.preset
    is_own = preset is not None and preset not in BUILT_IN
    tokens = contents.vocabulary.token_bytes
    if isinstance(contents.vocabulary, TextVocabulary):
        texts = contents.vocabulary.texts
        tokens = {id: text.encode() for id, text in texts.items()}
        if contents.vocabulary.options.byte_level and not _is_other(contents):
            known = {id: to_bytes(text) for id, text in texts.items()}
            tokens |= {id: data for id, data in known.items() if data is not None}
    return Said(
        None,
        tokens,
        contents.vocabulary.merges,
        contents.vocabulary.ignore_merges,
        tuple(map(astuple, contents.added_tokens)),
        "" if preset is None or is_own else preset.name,
        tuple(serialize_stages(preset.stages))
        if preset is not None and is_own and not is_model
        else (),
        "" if is_model else contents.unicode or "",
        _has_flag_of_nfc(contents),
        contents.add_prefix_space,
        contents.template,
        _text_options(contents) if is_text else None,
        _steps(contents),
        (contents.truncation, contents.padding),
        () if data.startswith(pretok_file.MAGIC) else contents.trim_offsets,
    )


def _is_other(contents: TokenizerSpec) -> bool:
    """Return whether only version 3 of .pretok files can hold a model whose tokens are text."""
    return pretok_text.dump_text(contents).section[0] == OTHER_MODEL


def _has_flag_of_nfc(contents: TokenizerSpec) -> bool:
    """Return whether a file says with a flag, and not with a step, that text becomes NFC."""
    is_text = isinstance(contents.vocabulary, AnyCharacterVocabulary)
    return contents.normalizer == NFC and not (is_text and _is_other(contents))


def _steps(contents: TokenizerSpec) -> tuple[Any, ...]:
    is_text = isinstance(contents.vocabulary, AnyCharacterVocabulary)
    if is_text and not pretok_text.dump_text(contents).steps:
        return [], False, None
    chain = contents.normalizer if isinstance(contents.normalizer, NormalizerChain) else None
    if chain is None or _has_flag_of_nfc(contents) or (is_text and not _is_other(contents)):
        chain = NormalizerChain()
    decoder = contents.decoder
    kinds = (
        [pretok_steps.encode_decoder(step)[0] for step in decoder.steps]
        if isinstance(decoder, DecoderChain)
        else None
    )
    listed = [pretok_steps.encode_step(step)[0] for step in chain.steps]
    return listed, chain.metaspace is not None, kinds


def _text_options(contents: TokenizerSpec) -> tuple[Any, ...]:
    vocabulary, decoder, preset = contents.vocabulary, contents.decoder, contents.preset
    assert isinstance(vocabulary, TextVocabulary)
    if _is_other(contents):
        unknown, options = vocabulary.unknown_id, vocabulary.options
        return (
            None if unknown < 0 else unknown,
            options.fuses_unknown,
            options.has_fallback,
            options.byte_level,
            options.prefix,
            options.suffix,
        )
    if vocabulary.options.byte_level:
        unknown = vocabulary.unknown_id
        inert = [to_bytes(text) is None for text in vocabulary.texts.values()]
        return None if unknown < 0 else unknown, vocabulary.options.fuses_unknown, inert
    assert preset is not None
    spaces = spaces_of(contents.normalizer, contents.added_tokens)
    normalizer = contents.normalizer
    normalized: tuple[Any, ...] | None = None
    if isinstance(normalizer, SentencePieceNormalizer) and (
        spaces is None or normalizer.treat_whitespace_as_suffix
    ):
        normalized = astuple(replace(normalizer, user_defined=()))[:-1]
        spaces = TextSpaces("never")
    assert spaces is not None
    unknown = vocabulary.unknown_id
    decoding: tuple[Any, ...]
    if isinstance(decoder, SentencePieceDecoding):
        decoding = (True, int(decoder.strips_space), decoder.strips_spaces, decoder.unknown_surface)
    else:
        assert isinstance(decoder, DecoderChain)
        decoding = (False, stripped(decoder) or 0, False, "")
    split = not keeps_whole(preset)
    options = vocabulary.options
    return (
        *spaces[:3],
        split,
        None if unknown < 0 else unknown,
        *decoding,
        options.has_fallback,
        options.fuses_unknown,
        normalized,
    )


def read(data: bytes) -> TokenizerSpec:
    """Return the contents of a file, as `bpe.load` reads them without C++."""
    with (
        patch.object(bpe_model, "backend", lambda: "python"),
        patch.object(pretok_tokens, "backend", lambda: "python"),
        patch.object(tiktoken, "backend", lambda: "python"),
    ):
        return _read(data)


def _read(data: bytes) -> TokenizerSpec:
    if data.startswith(MAGIC):
        return gguf.parse(data)
    source = _InMemory(data)
    match detect(source):
        case HuggingFaceFormat():
            assert source.json is not None
            try:
                return huggingface.read(source.json)
            except UnsupportedError:  # the pre_tokenizer may be the only unsupported part
                return huggingface.read(source.json, needs_preset=False)
        case TiktokenFormat():
            return tiktoken.parse(data)
        case PretokFormat():
            return pretok_file.parse(data)
        case SentencePieceFormat():
            return sentencepiece.parse(data)
        case format:  # a format that only Python reads
            raise UnsupportedError(f"a file of format {format.name}")


class _InMemory(Source):
    """A source with its data in memory instead of a file."""

    def __init__(self, data: bytes) -> None:
        super().__init__(Path("memory"))
        self.head = data[:512]
        self.contents = (data,)

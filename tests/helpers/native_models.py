"""Read tokenizer files by C++ and by Python, and return comparable models."""

from __future__ import annotations

import json
from dataclasses import astuple
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from bpe import BpeError, Tokenizer, UnsupportedError
from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import SentencePieceDecoding
from bpe.formats import (
    huggingface,
    native_readers,
    pretok_file,
    sentencepiece,
    tiktoken,
)
from bpe.formats.format import Source
from bpe.formats.huggingface import HuggingFaceFormat
from bpe.formats.json_value import Value
from bpe.formats.lengths_json import read_padding, read_truncation
from bpe.formats.pretok_file import PretokFormat
from bpe.formats.registry import detect
from bpe.formats.sentencepiece import SentencePieceFormat, begins_with_piece
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tiktoken import TiktokenFormat
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.token_table import Packed
from bpe.types import Padding, Truncation
from bpe.vocabulary import Merge
from gguf_files import parse
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
    """Options of a model whose tokens are text; tests/capi compares the ids of such models."""
    steps: tuple[Any, ...] = ()
    """The kinds of the steps of the normalizer, whether there is a Metaspace, and the kinds of the
    steps of the decoder; of a model whose tokens are bytes."""
    lengths: tuple[Truncation | None, Padding | None] = (None, None)
    trims: tuple[bool, ...] = ()


def said_to_cpp(data: bytes) -> Said:
    """Return the model that C++ reads from a file."""
    from pretok import _core

    try:
        spec = _core.read_spec(BytesIO(data))
        merges = spec.merges()
    except (ValueError, NotImplementedError) as error:
        is_plain = 10 < len(str(error)) < 1000
        return Said(isinstance(error, NotImplementedError) if is_plain else None)
    found = spec.fields()
    names_split = bool(found["preset"] or found["program"])
    assert found["text"] or bool(found["why_no_preset"]) != names_split
    return Said(
        None,
        Packed(*spec.tokens()).unpacked(),
        None if found["from_ranks"] else tuple(map(tuple, merges.tolist())),
        spec.ignore_merges,
        tuple(found["added"]),
        found["preset"],
        tuple(found["program"]),
        found["unicode"],
        found["nfc"],
        found["add_prefix_space"],
        (tuple(found["before"]), tuple(found["after"])),
        _text_of_cpp(found),
        () if found["text"] else found["steps"],
        (read_truncation(_json(found["truncation"])), read_padding(_json(found["padding"]))),
        tuple(found["trims"]),
    )


def _json(text: str) -> Value:
    return Value(json.loads(text) if text else None, "")


def ignored_ids(data: bytes) -> list[tuple[str, int]]:
    """Return the added tokens of a file that C++ gives another id, and their ids in the file."""
    from pretok import _core

    ignored: list[tuple[str, int]] = _core.read_spec(BytesIO(data)).fields()["ignored_ids"]
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
        contents.trim_offsets,
    )


def _has_flag_of_nfc(contents: TokenizerSpec) -> bool:
    """Return whether C++ checks quickly if text is in NFC, and has no step for it."""
    return contents.normalizer == NFC and not isinstance(
        contents.vocabulary, AnyCharacterVocabulary
    )


def _steps(contents: TokenizerSpec) -> tuple[Any, ...]:
    if isinstance(contents.vocabulary, AnyCharacterVocabulary):
        return ()
    chain, decoder = contents.normalizer, contents.decoder
    if not isinstance(chain, NormalizerChain) or _has_flag_of_nfc(contents):
        chain = NormalizerChain()
    decoders = [step.name for step in decoder.steps] if isinstance(decoder, DecoderChain) else None
    return [step.name for step in chain.steps], chain.metaspace is not None, decoders


def _text_options(contents: TokenizerSpec) -> tuple[Any, ...]:
    vocabulary, decoder = contents.vocabulary, contents.decoder
    assert isinstance(vocabulary, TextVocabulary)
    decoding = None
    if isinstance(decoder, SentencePieceDecoding):
        flags = decoder.strips_space, decoder.strips_spaces
        decoding = (*flags, decoder.invisible, decoder.unknown_surface)
    options, unknown = vocabulary.options, vocabulary.unknown_id
    return None if unknown < 0 else unknown, options.fuses_unknown, options.has_fallback, decoding


def _text_of_cpp(fields: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return what `_text_options` returns, from the fields of C++."""
    text, decoding = fields["text"], fields["decoding"]
    if text is None:
        return None
    if decoding is not None:
        *flags, invisible, surface = decoding
        decoding = (*flags, frozenset(invisible), surface)
    return (*text[:3], decoding)


def read(data: bytes) -> TokenizerSpec:
    """Return the contents of a file, as `bpe.load` reads them without C++."""
    with patch.object(native_readers, "backend", lambda: "python"):
        return _read(data)


def _read(data: bytes) -> TokenizerSpec:
    if data.startswith(MAGIC):
        return parse(data)
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

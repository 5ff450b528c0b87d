"""Read and write the section `steps` of .pretok files: the normalizer and the decoder.

    normalizer    a list of steps of STORED_NORMALIZERS
    Metaspace     0, or one plus the scheme, the replacement, and 0, or 1 and a built-in preset, or
                  2 and another preset (the split before it); a preset is stored as in the section
                  `preset`
    decoder       0: decoding joins the bytes of tokens; or one more than the number of steps of
                  STORED_DECODERS, and the steps

bpe/normalizers/stored.py describes lists of steps.

cpp/formats/pretok_file_steps.cpp is the C++ reader.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from bpe.decoders.chain import DecoderChain
from bpe.decoders.piece_decoder import Decoding
from bpe.decoders.steps import STORED_DECODERS, SentencePieceDecoding
from bpe.errors import UnsupportedError
from bpe.formats.pretok_numbers import Reader, encode_number
from bpe.formats.pretok_preset import dump_preset, is_own, read_preset
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import SCHEMES, Field
from bpe.normalizers.steps import STORED_NORMALIZERS
from bpe.normalizers.stored import (
    MAX_STEPS,
    dump_field,
    dump_list,
    read_field,
    read_list,
    read_number,
    unknown_step,
)
from bpe.types import NormalizesText


def dump_steps(spec: TokenizerSpec) -> bytes:
    """Return the section.

    Raises UnsupportedError for a step that it cannot hold. The user-defined symbols of
    SentencePiece's normalizer and its invisible tokens follow from the added tokens of the file.
    """
    normalizer, decoder = spec.normalizer, spec.decoder
    steps: list[Any] = [normalizer]
    metaspace = None
    if isinstance(normalizer, NormalizerChain | None):
        chain = normalizer or NormalizerChain()
        steps, metaspace = [*chain.steps], chain.metaspace
    listed: list[Any] = [*decoder.steps] if isinstance(decoder, DecoderChain) else [decoder]
    parts = [
        dump_list(steps, STORED_NORMALIZERS, "normalizer"),
        _dump_metaspace(metaspace),
        encode_number(0) if decoder is None else dump_list(listed, STORED_DECODERS, "decoder", 1),
    ]
    return b"".join(parts)


def native_steps(spec: TokenizerSpec) -> tuple[bytes, bool]:
    """Return the section with what C++ applies of `spec`, and whether it decodes ids.

    If C++ cannot apply the normalizer, or cannot decode ids, Python does.
    """
    normalizer = spec.normalizer if _is_native(spec) else None
    for decoder in (spec.decoder, None):
        with suppress(UnsupportedError, UnicodeEncodeError):
            section = dump_steps(replace(spec, normalizer=normalizer, decoder=decoder))
            # A DecoderChain decodes the normalized content of added tokens.
            needs_normalizer = isinstance(spec.normalizer, NormalizerChain) and any(
                token.normalized for token in spec.added_tokens
            )
            is_same = normalizer is spec.normalizer or not needs_normalizer
            return section, decoder is spec.decoder and is_same
    return b"", spec.decoder is None


def _is_native(spec: TokenizerSpec) -> bool:
    """Return whether C++ may apply the normalizer.

    C++ does not tell the place of a special token that it refuses in the text of SentencePiece's
    normalizer.
    """
    normalizer = spec.normalizer
    if type(normalizer) is not SentencePieceNormalizer:
        return type(normalizer) is NormalizerChain
    symbols = [token for token in spec.added_tokens if token.normalized]
    return normalizer.user_defined == tuple(token.content for token in symbols) and not any(
        token.special for token in symbols
    )


def read_steps(reader: Reader) -> tuple[NormalizesText | None, Decoding | None]:
    """Return the normalizer and the decoder."""
    steps = read_list(
        reader, STORED_NORMALIZERS, read_number(reader, MAX_STEPS), "normalizers", "text"
    )
    metaspace = _read_metaspace(reader)
    normalizer: NormalizesText | None = None
    if steps or metaspace is not None:
        normalizer = _only(steps, SentencePieceNormalizer, reader)
        if normalizer is None:
            normalizer = NormalizerChain(steps, metaspace)
        elif metaspace is not None:
            raise unknown_step(reader)
    count = read_number(reader, MAX_STEPS + 1)
    if count == 0:
        return normalizer, None
    listed = read_list(reader, STORED_DECODERS, count - 1, "decoders", "token")
    decoding = _only(listed, SentencePieceDecoding, reader)
    return normalizer, decoding or DecoderChain(listed)


def _only(steps: tuple[Any, ...], kind: type, reader: Reader) -> Any:
    """Return the only step if it is a `kind`, else None; `kind` stands alone."""
    if not any(isinstance(step, kind) for step in steps):
        return None
    if len(steps) != 1:
        raise unknown_step(reader)
    return steps[0]


def _dump_metaspace(step: MetaspaceStep | None) -> bytes:
    if step is None:
        return encode_number(0)
    scheme = encode_number(1 + SCHEMES.index(step.prepend_scheme))
    texts = scheme + dump_field(step.replacement, Field.CHARACTER)
    if step.before is None:
        return texts + encode_number(0)
    # The split before Metaspace uses the Unicode version of the preset.
    preset = dump_preset(step.before, step.before.unicode)
    return texts + encode_number(1 + is_own(step.before)) + preset


def _read_metaspace(reader: Reader) -> MetaspaceStep | None:
    scheme = read_number(reader, len(SCHEMES))
    if scheme == 0:
        return None
    replacement, form = read_field(reader, Field.CHARACTER), read_number(reader, 2)
    before = None
    if form:
        before, why, unicode = read_preset(reader, form == 2)
        if before is None or unicode != before.unicode:
            raise UnsupportedError(why or f"the file uses Unicode {unicode} for a preset")
    return MetaspaceStep(replacement, SCHEMES[scheme - 1], before)

r"""Read and write .pretok files: a whole tokenizer in a compact file.

cpp/formats/pretok_file.hpp is the C++ reader. pretok_tokens.py reads and writes the last three
sections.

The header has 16 bytes: b"\x89PRETOK\n", the version, and the CRC-32 of all bytes after the header.
The version is 4; versions 1 to 3 were never released. The sections follow in this order:

    flags         1: from ranks (the rank of a merge is the id of its result, as in tiktoken);
                  2: ignore_merges (always set with 1); 4: the file has the section `steps`;
                  8: add_prefix_space; 16: the preset is not built in; 32: the tokens are text;
                  64: spans exclude white space; 128 (only with 64): but not a single space at the
                  start of a text; 256: the file has the section `facts`
    preset        text: the name; text: the Unicode version; with flag 16 also its program, a list
                  of numbers (pretok.machine.program.serialize_stages): their count, then the
                  numbers; text: its description (bpe.formats.pretok_preset)
    template      the number of ids before a text, and the ids; the number of ids after a text, and
                  the ids
    added tokens  the number of added tokens; for each its text, id and flags: 1 special,
                  2 normalized, 4 lstrip, 8 rstrip, 16 single_word
    text          with flag 32: the options of a model with tokens of text (pretok_text.py)
    steps         with flag 4: the normalizer and the decoder (pretok_steps.py)
    facts         with flag 256: types, roles and other facts about tokens (pretok_facts.py)
    literals      the number of tokens with stored bytes, in order of ids; the length of each; the
                  bytes of all
    merges        the number of merges; the list of merges that make an existing token (a literal,
                  or the token of an earlier merge); the indexes of the left and the right token of
                  each merge. The list has its length, then for each listed merge the number of
                  merges between the previous listed merge and this one, and the index of the
                  existing token. An index has 1, 2 or 3 bytes, the fewest that fit all tokens.
    ids           the number of runs of consecutive ids; for each its first id and its length

Numbers of fixed width are little-endian, all other numbers are LEB128. A text is its size in bytes,
then its UTF-8. The index of a token counts literals first, then the tokens that merges make, in
order of rank. A merge refers only to tokens with lower indexes.

Limits keep a small file from filling memory. A token that a merge makes has at most 255 bytes. All
these tokens together have at most 16 MiB, or 32 bytes for each token of the file if that is more.
Tokens over a limit are literals.

In a file with flag 1, merges only shorten the file: each merge makes one token, and encoding
depends only on the ids.

Equal tokenizers with the same facts give equal files, and readers reject any other encoding of the
same tokenizer.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np

from bpe.characters.text_vocabulary import AnyCharacterVocabulary, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.piece_decoder import Decoding
from bpe.decoders.steps import SentencePieceDecoding
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.file_spec import FileSpec
from bpe.formats.files import named
from bpe.formats.format import Format, ReadOptions, Source
from bpe.formats.losses import PARTS
from bpe.formats.native_readers import read_native
from bpe.formats.pretok_facts import dump_facts, read_facts
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.formats.pretok_preset import dump_preset, is_own, read_preset
from bpe.formats.pretok_steps import dump_steps, read_steps
from bpe.formats.pretok_text import TextSection, dump_text
from bpe.formats.pretok_tokens import encode_tokens, read_tokens, read_vocabulary
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.token_facts import TokenFacts
from bpe.token_table import Packed
from bpe.types import MAX_TEMPLATE_IDS, NormalizesText, Template
from bpe.vocabulary import Vocabulary

MAGIC = b"\x89PRETOK\n"
VERSION = 4
_HEADER_BYTES = len(MAGIC) + 8

(_FROM_RANKS, _IGNORE_MERGES, _STEPS, _ADD_PREFIX_SPACE, _OWN_PRESET, _TEXT, _TRIM, _KEEP,
 _FACTS) = (1 << bit for bit in range(9))  # fmt: skip
_TOKEN_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


class PretokFormat(Format):
    """A .pretok file; holds every part of a tokenizer that changes ids or texts."""

    name = "pretok"
    suffix = ".pretok"
    kinds = (Vocabulary, CharacterVocabulary, TextVocabulary)
    holds = PARTS - {"truncation", "padding", "dropout"}

    def detects(self, source: Source) -> bool:
        return source.data.startswith(MAGIC)

    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec | FileSpec:
        with named(source.path):
            native = read_native(source.data)
            if native is not None:
                spec: TokenizerSpec | FileSpec = FileSpec(
                    native, lambda file: parse(source.data, file.vocabulary)
                )
                is_text = native.is_text
            else:
                spec = parse(source.data)
                is_text = isinstance(spec.vocabulary, TextVocabulary)
            if is_text and not options.needs_preset:
                raise UnsupportedError(
                    "the file says how to split text for this model; load it without preset="
                )
            return spec

    def dump(self, spec: TokenizerSpec) -> bytes:
        return dump(spec)


def parse(data: bytes, vocabulary: Vocabulary | None = None) -> TokenizerSpec:
    """Return the tokenizer in a .pretok file; `vocabulary` is its vocabulary, if C++ has read it.

    Raises VocabularyError for a damaged or malformed file; UnsupportedError for another version of
    the format or of Unicode.
    """
    _check_header(data)
    reader = Reader(data, _HEADER_BYTES)
    flags = reader.number()
    if flags >> 9:
        raise reader.error("has unknown flags")
    if flags & _KEEP and not flags & _TRIM:
        raise reader.error(f"has flag {_KEEP} without flag {_TRIM}")
    trim_offsets = (bool(flags & _KEEP),) if flags & _TRIM else ()
    if flags & _FROM_RANKS and not flags & _IGNORE_MERGES:
        raise reader.error("has flag 1 (ranks) without flag 2 (ignore_merges)")
    if flags & _FROM_RANKS and flags & _TEXT:
        raise reader.error("has flag 1 (ranks) with flag 32 (text)")
    preset, why_no_preset, unicode = read_preset(reader, bool(flags & _OWN_PRESET))
    template = Template(reader.ids(), reader.ids())
    added_ids = len(template.before) + len(template.after)
    if added_ids > MAX_TEMPLATE_IDS:
        raise reader.error(
            f"has a template of {added_ids} ids, more than the maximum of {MAX_TEMPLATE_IDS}"
        )
    added = tuple(_added_token(reader) for _ in range(reader.count(3)))
    section = TextSection(reader) if flags & _TEXT else None
    normalizer, decoder = read_steps(reader) if flags & _STEPS else (None, None)
    if flags & _STEPS and normalizer is None and decoder is None:
        raise reader.error("has an empty section of steps")
    facts = read_facts(reader) if flags & _FACTS else TokenFacts()
    if section is None and not _fits_bytes(normalizer, decoder):
        raise reader.error("has steps of SentencePiece, which need flag 32 (text)")
    ignores_merges = bool(flags & _IGNORE_MERGES)
    if section is not None and vocabulary is None:
        tokens = read_tokens(reader, section.has_any_results)
        vocabulary = section.vocabulary(reader, *tokens, added, ignores_merges)
    elif vocabulary is None:
        vocabulary = read_vocabulary(reader, bool(flags & _FROM_RANKS), ignores_merges)
    spec = TokenizerSpec(
        vocabulary,
        preset,
        why_no_preset,
        added,
        normalizer=normalizer,
        add_prefix_space=bool(flags & _ADD_PREFIX_SPACE),
        template=template,
        unicode=unicode,
        decoder=decoder,
        trim_offsets=trim_offsets,
        facts=facts,
    )
    return spec if section is None else section.complete(reader, spec)


def dump(spec: TokenizerSpec) -> bytes:
    """Return the .pretok file of a tokenizer.

    Raises VocabularyError if the tokenizer has no preset, and UnsupportedError for a model or a
    step that a file cannot hold.
    """
    vocabulary, preset = spec.vocabulary, spec.preset
    if preset is None:
        raise VocabularyError(
            f"a .pretok file needs a preset, but {spec.why_no_preset}; use a preset, or pickle "
            "the tokenizer"
        )
    if len(spec.trim_offsets) > 1:
        raise UnsupportedError(
            f"a .pretok file cannot hold {len(spec.trim_offsets)} post-processors that trim "
            "offsets; save the tokenizer as .json"
        )
    flags = _OWN_PRESET * is_own(preset) | _ADD_PREFIX_SPACE * spec.add_prefix_space
    section = b""
    if isinstance(vocabulary, AnyCharacterVocabulary):
        section, texts, has_any_results = dump_text(spec)
        flags |= _TEXT | _IGNORE_MERGES * texts.options.ignores_merges
        packed = Packed.of({id: text.encode() for id, text in texts.texts.items()})
        rows = np.array(texts.merges, np.uint32)
        tokens = encode_tokens(packed, rows, has_any_results=has_any_results)
    else:
        from_ranks = vocabulary.from_ranks
        flags |= _FROM_RANKS * from_ranks | _IGNORE_MERGES * vocabulary.ignore_merges
        tokens = encode_tokens(vocabulary.packed, spec.merge_rows(), from_ranks)
    steps = _dump_steps(spec)
    facts = dump_facts(spec.facts)
    flags |= _STEPS * bool(steps) | _FACTS * bool(facts)
    flags |= _TRIM * len(spec.trim_offsets) | _KEEP * any(spec.trim_offsets)
    parts = [encode_number(flags), dump_preset(preset, spec.unicode or preset.unicode)]
    for ids in spec.template:
        parts += [encode_number(len(ids)), *map(encode_number, ids)]
    parts.append(encode_number(len(spec.added_tokens)))
    for token in spec.added_tokens:
        token_flags = sum(getattr(token, name) << bit for bit, name in enumerate(_TOKEN_FLAGS))
        parts += [encode_text(token.content), encode_number(token.id), encode_number(token_flags)]
    parts += [section, steps, facts, tokens]
    body = b"".join(parts)
    return MAGIC + VERSION.to_bytes(4, "little") + crc32(body).to_bytes(4, "little") + body


def _dump_steps(spec: TokenizerSpec) -> bytes:
    """Return the section `steps`, or b"" if the file needs none."""
    if spec.normalizer is None and spec.decoder is None:
        return b""
    try:
        if not isinstance(spec.vocabulary, AnyCharacterVocabulary) and not _fits_bytes(
            spec.normalizer, spec.decoder
        ):
            raise UnsupportedError("steps of SentencePiece with this model")
        return dump_steps(spec)
    except UnsupportedError as error:
        raise UnsupportedError(
            f"a .pretok file cannot hold {error}; save the tokenizer as .json"
        ) from None


def _fits_bytes(normalizer: NormalizesText | None, decoder: Decoding | None) -> bool:
    """Return whether a model whose tokens are bytes may have these steps."""
    return not isinstance(normalizer, SentencePieceNormalizer) and not isinstance(
        decoder, SentencePieceDecoding
    )


def _check_header(data: bytes) -> None:
    if len(data) < _HEADER_BYTES:
        raise VocabularyError(
            f"the file has {len(data)} bytes, but its header takes {_HEADER_BYTES}; "
            "the file is truncated"
        )
    version = int.from_bytes(data[8:12], "little")
    if 0 < version < VERSION:
        raise UnsupportedError(
            "this is a .pretok file of an unreleased version; save it again with this version"
        )
    if version != VERSION:
        raise UnsupportedError(
            f"expected version {VERSION} of the .pretok format, got {version}; save the tokenizer "
            "again with this version of pretok"
        )
    if crc32(data[_HEADER_BYTES:]) != int.from_bytes(data[12:16], "little"):
        raise VocabularyError(
            "the CRC-32 of the file does not match its header; the file is damaged or truncated, "
            "so get it again"
        )


def _added_token(reader: Reader) -> AddedToken:
    content, id, flags = reader.text(), reader.id(), reader.number()
    if flags >> len(_TOKEN_FLAGS):
        raise reader.error("has an added token with unknown flags")
    named = {name: bool(flags >> bit & 1) for bit, name in enumerate(_TOKEN_FLAGS)}
    return AddedToken(content, id, **named)

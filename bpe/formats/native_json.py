"""Make vocabularies of a tokenizer.json with C++, which returns None for each file with an error.

The reader in Python then finds the error, so both backends raise the same errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats.json_value import Value, parse
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers.chain import NFC
from bpe.text_ids import TextIds
from bpe.token_table import Packed
from bpe.types import Template
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok import json_text
from pretok.machine.backend import backend
from pretok.registry import find

if TYPE_CHECKING:
    from pretok import _core


def open_native(data: bytes) -> _core.JsonFile | None:
    """Return a tokenizer.json in memory, or None if Python must read the file."""
    if backend() != "native" or len(data) > json_text.MAX_BYTES:
        return None
    from pretok import _core

    return _core.open_json(data)


def parse_rest(data: bytes, file: _core.JsonFile | None) -> Value:
    """Return the JSON of a file, without the vocabulary and merges if `file` has them.

    Raises the errors of `parse`.
    """
    if file is not None:
        with suppress(VocabularyError):  # the rest may have too many lists for its size
            return parse(file.rest())
    return parse(data)


def read_whole(spec: _core.Spec, needs_preset: bool) -> TokenizerSpec | None:
    """Return the tokenizer, or None if Python must read some part of the file.

    C++ has read each part of `spec` if its tokens are bytes, and its split is that of a preset.
    """
    fields = spec.fields()
    steps, has_metaspace, decoder = fields["steps"]
    has_steps = steps or has_metaspace or decoder is not None
    is_usual = not (spec.is_text or has_steps or fields["ignored_ids"])
    if not is_usual or not fields["preset"] or fields["truncation"] or fields["padding"]:
        return None
    return TokenizerSpec(
        bytes_of(spec),
        find(fields["preset"]) if needs_preset else None,
        added_tokens=tuple(AddedToken(*token) for token in fields["added"]),
        normalizer=NFC if fields["nfc"] else None,
        add_prefix_space=fields["add_prefix_space"],
        template=Template(tuple(fields["before"]), tuple(fields["after"])),
        trim_offsets=tuple(fields["trims"]),
    )


def bytes_of(spec: _core.Spec) -> Vocabulary:
    """Return the vocabulary of a tokenizer whose tokens are bytes."""
    return Vocabulary._of_packed(Packed(*spec.tokens()), spec.merges(), False, spec.ignore_merges)


def native_vocabulary(
    file: _core.JsonFile,
    added: Sequence[AddedToken],
    options: TextOptions,
    ends_byte_level: bool,
) -> Vocabulary | TextVocabulary | None:
    """Return the vocabulary of a tokenizer.json, or None if Python must make it.

    `added` are the added tokens with the ids that they get. `options` are for a TextVocabulary.
    """
    records = [token._record() for token in added if 0 <= token.id < ID_LIMIT]
    spec = file.model(records, ends_byte_level)
    return None if spec is None else vocabulary_of(spec, file, added, options)


def vocabulary_of(
    spec: _core.Spec, file: _core.JsonFile, added: Sequence[AddedToken], options: TextOptions
) -> Vocabulary | TextVocabulary | None:
    """Return the vocabulary of `spec`, which is read from `file`. Otherwise the same."""
    if not spec.is_text:
        return bytes_of(spec)
    pieces = TextIds(file)
    if "" in pieces:
        return None
    special = [token.id for token in added if token.special]
    return TextVocabulary.of_checked(
        pieces, Packed(*spec.tokens()), spec.merges(), options, special
    )

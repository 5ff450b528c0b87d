"""The pre_tokenizer of a tokenizer.json to a preset and back, for byte-level vocabularies."""

from __future__ import annotations

from typing import Any

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.json_value import Value
from pretok.errors import DefinitionError, UnsupportedPreTokenizerError
from pretok.formats import huggingface
from pretok.preset import Preset


def read(pre_tokenizer: Value) -> tuple[Preset, bool]:
    """Return the preset that a pre_tokenizer is, and whether it puts a space before the text.

    Raises UnsupportedError for one that no stages split like, or that is not of a byte-level
    vocabulary.
    """
    _byte_level_parts(pre_tokenizer)
    try:
        found = huggingface.read(pre_tokenizer.value, pre_tokenizer.path)
        preset = huggingface.preset_of(found)
    except UnsupportedPreTokenizerError as error:
        raise UnsupportedError(
            f"{error}; pass preset= to say how to split instead, with a preset of your own or any "
            "object with offsets(text)"
        ) from None
    if preset.drops_text:
        raise pre_tokenizer.unsupported(
            "it drops parts of the text, and bpe gives ids for all of it; pass preset= to say how "
            "to split instead"
        )
    return preset, bool(found.prefix_space_path)


def puts_space(pre_tokenizer: Value) -> bool:
    """Return whether a pre_tokenizer puts a space before the text, without reading its patterns.

    Raises UnsupportedError for one that is not of a byte-level vocabulary.
    """
    parts = _byte_level_parts(pre_tokenizer)
    if len(parts) > 1:  # Only a ByteLevel that stands alone puts a space before the text.
        return False
    try:
        return bool(huggingface.read(parts[0].value, parts[0].path).prefix_space_path)
    except UnsupportedPreTokenizerError as error:
        raise UnsupportedError(str(error)) from None


def _byte_level_parts(pre_tokenizer: Value) -> list[Value]:
    parts = list(pre_tokenizer.parts("pretokenizers"))
    if not parts or parts[-1].value is None or parts[-1].kind() != "ByteLevel":
        raise pre_tokenizer.unsupported(
            "bpe takes byte-level vocabularies, for which a ByteLevel comes last"
        )
    return parts


def write(preset: Preset | None, add_prefix_space: bool) -> dict[str, Any]:
    """Return the pre_tokenizer that tokenizers splits with as `preset` does.

    Raises VocabularyError if there is none.
    """
    if preset is None:
        raise VocabularyError(
            "a pre-tokenizer of your own has no pattern, so a tokenizer.json cannot hold it; use a "
            "preset with a pattern, or pickle the tokenizer"
        )
    try:
        return huggingface.to_byte_level_json(preset, add_prefix_space)
    except DefinitionError as error:
        raise VocabularyError(f"{error}, or pickle the tokenizer") from None

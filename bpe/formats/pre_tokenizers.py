"""Convert the pre_tokenizer of a byte-level tokenizer.json to a preset and back."""

from __future__ import annotations

from typing import Any

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.json_value import Value
from pretok.errors import DefinitionError, UnsupportedPreTokenizerError
from pretok.formats import huggingface
from pretok.preset import Preset


def read(pre_tokenizer: Value) -> tuple[Preset, bool]:
    """Return the preset of a pre_tokenizer, and whether it puts a space before the text.

    Raises UnsupportedError if no preset splits like the pre_tokenizer, if the pre_tokenizer drops
    parts of the text, or if its last part is not ByteLevel.
    """
    _byte_level_parts(pre_tokenizer)
    try:
        parsed = huggingface.read(pre_tokenizer.value, pre_tokenizer.path)
        preset = huggingface.preset_of(parsed)
    except UnsupportedPreTokenizerError as error:
        raise UnsupportedError(
            f"{error}; pass preset= to choose the split: a preset or any object with offsets(text)"
        ) from None
    if preset.drops_text:
        raise pre_tokenizer.unsupported(
            "it drops parts of the text, but bpe encodes all of it; pass preset= to choose the "
            "split"
        )
    return preset, bool(parsed.prefix_space_path)


def puts_space(pre_tokenizer: Value) -> bool:
    """Return whether a pre_tokenizer puts a space before the text, without reading its patterns.

    Raises UnsupportedError if the last part is not ByteLevel, or if the only part is malformed.
    """
    parts = _byte_level_parts(pre_tokenizer)
    # Only a ByteLevel without other parts puts a space before the text. After other parts, it would
    # put a space before every piece of the text, which `read` refuses.
    if len(parts) > 1:
        return False
    try:
        return bool(huggingface.read(parts[0].value, parts[0].path).prefix_space_path)
    except UnsupportedPreTokenizerError as error:
        raise UnsupportedError(str(error)) from None


def _byte_level_parts(pre_tokenizer: Value) -> list[Value]:
    """Return the parts of a pre_tokenizer; raise UnsupportedError if the last is not ByteLevel."""
    parts = list(pre_tokenizer.parts("pretokenizers"))
    if not parts or parts[-1].value is None or parts[-1].kind() != "ByteLevel":
        raise pre_tokenizer.unsupported("expected ByteLevel as its last part")
    return parts


def write(preset: Preset | None, add_prefix_space: bool) -> dict[str, Any]:
    """Return a pre_tokenizer with which Hugging Face's library splits text like `preset`.

    Raises VocabularyError if there is no such pre_tokenizer.
    """
    if preset is None:
        raise VocabularyError(
            "a tokenizer.json cannot hold a custom pre-tokenizer; use a preset with a pattern, or "
            "pickle the tokenizer"
        )
    try:
        return huggingface.to_byte_level_json(preset, add_prefix_space)
    except DefinitionError as error:
        raise VocabularyError(f"{error}; pickle the tokenizer to keep its pre-tokenizer") from None

"""The pre_tokenizer of a tokenizer.json to a preset and back, by its structure."""

from __future__ import annotations

from typing import Any

from bpe.errors import VocabularyError
from bpe.formats.json_value import Value
from pretok.patterns import WHOLE, find, pattern_for
from pretok.preset import Preset
from pretok.presets import GPT2
from pretok.registry import find as find_preset

STACKS: dict[tuple[str, ...], str] = {}
"""Stages that split one behind the other, and the preset that stands for them all.

A stage is the preset that it alone would be, or as `_stage` names it, such as "digits-isolated".
"""


def read(pre_tokenizer: Value) -> tuple[Preset, bool]:
    """Return the preset that a pre_tokenizer is, and whether it puts a space before the text.

    Raises UnsupportedError for one that no preset splits like, VocabularyError for a malformed one.
    """
    stages = list(pre_tokenizer.parts("pretokenizers"))
    if not stages or stages[-1].value is None or stages[-1].kind() != "ByteLevel":
        raise pre_tokenizer.unsupported(
            "bpe takes byte-level vocabularies, for which a ByteLevel comes last"
        )
    byte_level = stages.pop()
    byte_level.only("type", "add_prefix_space", "trim_offsets", "use_regex")
    add_prefix_space = byte_level["add_prefix_space"].flag()
    if add_prefix_space and stages:
        raise byte_level["add_prefix_space"].unsupported(
            "behind another stage it puts a space before every part of the text"
        )
    presets = [_stage(stage) for stage in stages]
    if byte_level["use_regex"].flag(default=True):
        presets.append(GPT2)
    names = tuple(preset if isinstance(preset, str) else preset.name for preset in presets)
    if names in STACKS:
        return find_preset(STACKS[names]), add_prefix_space
    if not presets:
        return WHOLE, add_prefix_space
    if len(presets) > 1 or isinstance(presets[0], str):
        raise pre_tokenizer.unsupported(
            f"no preset splits like {' and then '.join(names)}; pass preset= with one of your own, "
            "or any object with offsets(text)"
        )
    return presets[0], add_prefix_space


def write(preset: Preset | None, add_prefix_space: bool) -> dict[str, Any]:
    """Return the pre_tokenizer that tokenizers splits with as `preset` does.

    Raises VocabularyError if there is none.
    """
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": preset == GPT2,
    }
    if preset in (GPT2, WHOLE):
        return byte_level
    pattern = pattern_for(preset, "hf") if preset is not None else None
    if preset is None or pattern is None:
        raise VocabularyError(
            f"{f'preset {preset.name!r}' if preset else 'a pre-tokenizer of your own'} has no "
            "pattern that Hugging Face's engine is known to read as the same split, so a "
            "tokenizer.json cannot hold it; use a preset with a pattern, or pickle the tokenizer"
        )
    if add_prefix_space:
        raise VocabularyError(
            "a tokenizer.json can put a space before the text only where it splits as 'gpt2' or "
            f"'whole' do, not as {preset.name!r}"
        )
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    return {"type": "Sequence", "pretokenizers": [split, byte_level]}


def _stage(stage: Value) -> Preset | str:
    """Return the preset that one stage splits as, or a name for what none does."""
    kind = stage.kind()
    if kind == "Split":
        return _split(stage)
    if kind == "Digits":
        stage.only("type", "individual_digits")
        return "digits-isolated" if stage["individual_digits"].flag() else "digits"
    if kind == "Punctuation":
        stage.only("type", "behavior")
        behavior = stage["behavior"].value
        return f"punctuation-{'isolated' if behavior is None else str(behavior).lower()}"
    raise stage.unsupported("pass preset= to say how to split instead")


def _split(stage: Value) -> Preset:
    stage.only("type", "pattern", "behavior", "invert")
    if stage["behavior"].text() != "Isolated":
        raise stage["behavior"].unsupported("bpe knows 'Isolated', which keeps all of the text")
    if stage["invert"].flag():
        raise stage["invert"].unsupported("bpe knows false")
    stage["pattern"].only("Regex", "String")
    if stage["pattern"]["String"].value is not None:
        raise stage["pattern"]["String"].unsupported(
            'it is a text to find literally; for a regular expression write {"Regex": ...}, or '
            "pass preset= to say how to split"
        )
    regex = stage["pattern"]["Regex"]
    preset = find(regex.text(), "hf")
    if preset is None:
        raise regex.unsupported(
            "it is the pattern of no preset, as Hugging Face's engine reads it; pass preset= to "
            "say how to split, or register a Preset that has it"
        )
    return preset

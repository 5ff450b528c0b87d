"""Read and write the preset of a .pretok file.

The file has the name of a preset. If the preset is not built in, the file also has its program (the
serialized stages) and a description. The description is a JSON object with the fields of Preset
that the program does not have: "engine", "exactness", "source" and "stages". "stages" is a list of
the pattern, the pre_tokenizer in JSON, and the rules of each stage. Each rule is the alternative of
a regex, for readers that cannot write it from the program, such as the page of pretok.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.json_value import Value
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from pretok.errors import DefinitionError, UnknownPresetError, UnsupportedPreTokenizerError
from pretok.formats.huggingface import read as read_pre_tokenizer
from pretok.json_text import parse as parse_json
from pretok.machine.program import serialize_stages
from pretok.machine.stored import restore_stages
from pretok.patterns.lookup import WHOLE
from pretok.preset import Engine, Exactness, Preset
from pretok.presets import BUILT_IN
from pretok.registry import find, presets
from pretok.stage import Stage
from pretok.unicode import VERSIONS


def is_own(preset: Preset) -> bool:
    """Return whether a file holds the program of `preset`, because it is not built in."""
    return preset not in BUILT_IN


def dump_preset(preset: Preset, unicode: str) -> bytes:
    """Return the bytes of `preset` and its Unicode version in a .pretok file."""
    parts = [encode_text(preset.name), encode_text(unicode)]
    if is_own(preset):
        words = serialize_stages(preset.stages)
        parts += [encode_number(len(words)), *map(encode_number, words)]
        parts.append(encode_text(_description(preset)))
    return b"".join(parts)


def _description(preset: Preset) -> str:
    # The program may have smaller character sets than `preset.stages`. A loaded preset has the
    # sets of the program. So describe the rules of the program: then saving the loaded preset gives
    # the same description.
    restored = restore_stages(serialize_stages(preset.stages))
    stages = [
        [stage.pattern, stage.huggingface, [str(rule) for rule in rules.rules]]
        for stage, rules in zip(preset.stages, restored, strict=True)
    ]
    fields = {
        "engine": preset.engine,
        "exactness": preset.exactness,
        "source": preset.source,
        "stages": stages,
    }
    return json.dumps(fields, separators=(",", ":"))


def read_preset(reader: Reader, is_own: bool) -> tuple[Preset | None, str, str]:
    """Return the preset or None, the reason if it is None, and the Unicode version.

    `is_own` is true if the file has a program.
    """
    name, unicode = reader.text(), reader.text()
    if unicode not in VERSIONS:
        raise UnsupportedError(
            f"expected Unicode {' or '.join(VERSIONS)}, got {unicode[:80]!a}; save the tokenizer "
            "again with one of these versions"
        )
    shown = f"the file uses preset {name[:80]!a}"
    if not is_own:
        built_in = next((preset for preset in BUILT_IN if preset.name == name), None)
        why = "" if built_in else f"{shown}, which this version of pretok does not have"
        return built_in, why, unicode
    return _own_preset(reader, name, unicode), "", unicode


def _own_preset(reader: Reader, name: str, unicode: str) -> Preset:
    """Return the preset of the program and description that `reader` has next.

    If a preset of pretok has this program, return it. Raises VocabularyError if the program or the
    description is malformed.
    """
    words = [reader.number() for _ in range(reader.count(1))]
    description = reader.text()
    for preset in _candidates(name):
        if serialize_stages(preset.stages) == words:
            return preset
    try:
        preset = _described(Value(parse_json(description.encode()), ""), name, unicode, words)
        if _description(preset) == description:
            return preset
    except (DefinitionError, VocabularyError, ValueError) as error:
        raise reader.error(f"has a wrong program or description: {error}") from None
    raise reader.error("has a description that is not the one that pretok writes")


def _described(fields: Value, name: str, unicode: str, words: Sequence[int]) -> Preset:
    """Return the preset of the program `words` with the description `fields`."""
    stages = []
    for stage, texts in zip(restore_stages(words), fields["stages"].items(), strict=True):
        # The comparison in _own_preset checks the alternatives.
        pattern, block = (text.text() for text in list(texts.items())[:2])
        if block and not _makes(block, stage):
            raise texts.malformed("a pattern, and the pre_tokenizer of the stage")
        stages.append(replace(stage, pattern=pattern, huggingface=block))
    return Preset(
        name,
        stages=stages,
        engine=cast(Engine, fields["engine"].text()),
        source=fields["source"].text(),
        unicode=unicode,
        exactness=cast(Exactness, fields["exactness"].text()),
    )


def _makes(block: str, stage: Stage) -> bool:
    """Return whether `block`, a pre_tokenizer in JSON, has the program of `stage`."""
    try:
        stages = read_pre_tokenizer(parse_json(block.encode()), "pre_tokenizer").stages
    except (ValueError, UnsupportedPreTokenizerError):
        return False
    return len(stages) == 1 and serialize_stages(stages) == serialize_stages([stage])


def _candidates(name: str) -> Iterator[Preset]:
    """Yield presets that may have the program: the preset `name` first, then all presets."""
    if name == WHOLE.name:
        yield WHOLE  # presets() lacks it
    with suppress(UnknownPresetError):
        yield find(name)
    yield from (*presets(), WHOLE)

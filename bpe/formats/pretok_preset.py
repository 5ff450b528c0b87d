"""The preset in a .pretok file: the name of a built-in one, or the whole program of another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from bpe.errors import UnsupportedError
from bpe.formats.pretok_values import Reader, encode_number, encode_text
from pretok.errors import DefinitionError, UnknownPresetError, UnsupportedPreTokenizerError
from pretok.formats.huggingface import read as read_pre_tokenizer
from pretok.json_text import parse as parse_json
from pretok.machine.program import serialize_stages
from pretok.machine.stored import restore_stages
from pretok.patterns.lookup import WHOLE
from pretok.preset import ENGINES, EXACTNESSES, Preset
from pretok.presets import BUILT_IN
from pretok.registry import find, presets
from pretok.stage import MAX_STAGES, Stage
from pretok.unicode import VERSIONS


def is_own(preset: Preset) -> bool:
    """Return whether a file holds the program of `preset`, because it is not built in."""
    return preset not in BUILT_IN


def dump_preset(preset: Preset, unicode: str) -> bytes:
    """Return `preset` and its Unicode version as a file holds them."""
    parts = [encode_text(preset.name), encode_text(unicode)]
    if is_own(preset):
        words = serialize_stages(preset.stages)
        parts += [encode_number(len(words)), *map(encode_number, words)]
        parts.append(encode_number(ENGINES.index(preset.engine)))
        parts.append(encode_number(EXACTNESSES.index(preset.exactness)))
        parts.append(encode_text(preset.source))
        for stage in preset.stages:
            parts += [encode_text(stage.pattern), encode_text(stage.huggingface)]
    return b"".join(parts)


def read_preset(reader: Reader, is_own: bool) -> tuple[Preset | None, str, str]:
    """Return the preset, the reason if it is None, and the Unicode version."""
    name, unicode = reader.text(), reader.text()
    if unicode not in VERSIONS:
        raise UnsupportedError(
            f"expected Unicode {' or '.join(VERSIONS)}, got {unicode[:80]!a}; save the tokenizer "
            "with a known version"
        )
    shown = f"the file uses preset {name[:80]!a}"
    if not is_own:
        built_in = next((preset for preset in BUILT_IN if preset.name == name), None)
        why = "" if built_in else f"{shown}, which this version of pretok does not have"
        return built_in, why, unicode
    return _own_preset(reader, name, unicode), "", unicode


def _own_preset(reader: Reader, name: str, unicode: str) -> Preset:
    """Return the preset of a program; raises VocabularyError."""
    words = [reader.number() for _ in range(reader.count(1))]
    engine, exactness, source = reader.number(), reader.number(), reader.text()
    if engine >= len(ENGINES) or exactness >= len(EXACTNESSES):
        raise reader.error("has a preset of unknown engine or exactness")
    stage_count = words[1] if len(words) > 1 else 0
    if stage_count > MAX_STAGES:
        raise reader.error(f"has a preset of more than {MAX_STAGES} stages")
    texts = [(reader.text(), reader.text()) for _ in range(stage_count)]
    for preset in _candidates(name):
        if serialize_stages(preset.stages) == words:
            return preset
    try:
        stages = [
            replace(stage, pattern=pattern, huggingface=json if _makes(json, stage) else "")
            for stage, (pattern, json) in zip(restore_stages(words), texts, strict=True)
        ]
        return Preset(
            name,
            stages=stages,
            engine=ENGINES[engine],
            source=source,
            unicode=unicode,
            exactness=EXACTNESSES[exactness],
        )
    except DefinitionError as error:
        raise reader.error(f"has a wrong program: {error}") from None


def _makes(json: str, stage: Stage) -> bool:
    """Return whether the pre_tokenizer in `json` is `stage`."""
    try:
        stages = read_pre_tokenizer(parse_json(json.encode()), "pre_tokenizer").stages
    except (ValueError, UnsupportedPreTokenizerError):
        return False
    return len(stages) == 1 and serialize_stages(stages) == serialize_stages([stage])


def _candidates(name: str) -> Iterator[Preset]:
    """Yield the preset with this name first, then all presets."""
    with suppress(UnknownPresetError):
        yield find(name)
    yield from (*presets(), WHOLE)

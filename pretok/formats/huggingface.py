"""Convert the pre_tokenizer of a tokenizer.json to stages and back.

The parts of a pre_tokenizer are the items of its Sequence and of nested Sequences. A pre_tokenizer
of another type is its own only part.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pretok import json_text
from pretok.behaviors import JSON_NAMES
from pretok.errors import (
    DefinitionError,
    UnknownPatternError,
    UnreadableFileError,
    UnsupportedPreTokenizerError,
    short_path,
)
from pretok.files import naming
from pretok.files import read as read_file
from pretok.machine.backend import BackendName
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError, compile_stage, name_of
from pretok.patterns.differences import unknown_pattern
from pretok.patterns.lookup import WHOLE, find_stage, same_split, stage_pattern_for, stages_of_json
from pretok.pre_tokenizer import PreTokenizer
from pretok.pre_tokenizers import Block, ByteLevel, from_dict
from pretok.preset import Preset
from pretok.presets import GPT2
from pretok.stage import MAX_STAGES, Stage

MAX_DEPTH = 100
"""Maximum nesting of Sequences."""
MAX_PARTS = 256
"""Maximum parts of a pre_tokenizer, including nested parts; published ones have at most ten."""


def from_huggingface(
    source: str | os.PathLike[str] | Mapping[str, Any],
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    r"""Return the pre-tokenizer that splits as the pre_tokenizer of a tokenizer.json does.

    `source` is the path of the file or of its folder, the parsed JSON object of the file, or only
    the pre_tokenizer in this object. Accepts any combination of blocks of `pretok.pre_tokenizers`,
    and of Splits by a pattern that `pretok.from_pattern` accepts. If a preset is known to have the
    same split, the result has this preset. Otherwise the result has a new preset. `unicode` and
    `backend` are as in `pretok.get`.

    Raises UnsupportedPreTokenizerError with the JSON path of a part that is malformed, prepends a
    space, changes the text before another part, or has a pattern that does not compile. Raises
    OSError if the system cannot open or read the file.

    >>> from_huggingface({"type": "Sequence", "pretokenizers": [
    ...     {"type": "Digits", "individual_digits": True},
    ...     {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}]}).split("a 12")
    ['a', ' ', '1', '2']
    """
    value, path = pre_tokenizer_in(source)
    parsed = read(value, path)
    if parsed.prefix_space_path:
        raise UnsupportedPreTokenizerError(
            parsed.prefix_space_path,
            "it puts a space before a text that does not begin with a space; add the space "
            "yourself, and set add_prefix_space to false",
        )
    return PreTokenizer(preset_of(parsed), unicode, backend)


class ParsedPreTokenizer(NamedTuple):
    """The stages of a pre_tokenizer, and the types of its parts.

    `prefix_space_path` is the JSON path of the option that prepends a space; "" if no option does.
    `compiled` has the JSON paths of the patterns that were compiled, because no preset has them.
    """

    stages: tuple[Stage, ...]
    prefix_space_path: str
    part_types: tuple[str, ...]
    compiled: tuple[str, ...] = ()


def read(value: object, path: str) -> ParsedPreTokenizer:
    """Parse the pre_tokenizer `value`; `path` is the JSON path of `value`, for errors.

    Raises UnsupportedPreTokenizerError for a part that is malformed, or that no stages can express.
    """
    stages: list[Stage] = []
    compiled: list[str] = []
    prefix_space_path = ""
    parts = _parts(value, path)
    number = -1
    while (number := number + 1) < len(parts):
        part, at = parts[number]
        if part.get("type") == "Split" and "Regex" in _object(part.get("pattern")):
            known = _known_at(parts, number)
            if known is None:
                stages.append(_split(part, at, compiled))
            else:
                stages.append(known[0])
                number += known[1] - 1
            continue
        block = _block(part, at)
        if block.changes_text and number + 1 < len(parts):
            raise UnsupportedPreTokenizerError(
                at,
                f"this part changes the text, and {parts[number + 1][1]} would split the changed "
                "text; expected such a part to come last",
            )
        if isinstance(block, ByteLevel) and block.add_prefix_space:
            prefix_space_path = f"{at}.add_prefix_space"
            if number:
                raise UnsupportedPreTokenizerError(
                    prefix_space_path,
                    "after another part it puts a space before every piece of the text; set "
                    "add_prefix_space to false",
                )
            block = ByteLevel(False, block.trim_offsets, block.use_regex)
        stages += block.stages()
    return ParsedPreTokenizer(
        tuple(stages),
        prefix_space_path,
        tuple(str(part["type"]) for part, _ in parts),
        tuple(compiled),
    )


def preset_of(parsed: ParsedPreTokenizer) -> Preset:
    """Return a preset that is known to split as the stages of `parsed`, or else a new preset.

    Raises UnsupportedPreTokenizerError if the stages exceed a limit of presets.
    """
    stages = parsed.stages or WHOLE.stages
    if len(stages) > MAX_STAGES:
        raise UnsupportedPreTokenizerError(
            "pre_tokenizer", f"expected at most {MAX_STAGES} stages, got {len(stages)}"
        )
    known = same_split(stages)
    if known is not None:
        return known
    try:
        name, source = "+".join(parsed.part_types), "a tokenizer.json"
        if parsed.compiled:
            name = name_of(stages[0].pattern, "hf") if len(stages) == 1 else name
            source += f", with {', '.join(parsed.compiled)} compiled"
        return Preset(name, stages=stages, source=source)
    except DefinitionError as error:
        raise UnsupportedPreTokenizerError("pre_tokenizer", str(error)) from None


def to_byte_level_json(preset: Preset, add_prefix_space: bool = False) -> dict[str, Any]:
    """Return the pre_tokenizer of a byte-level tokenizer.json that splits as `preset` does.

    Raises DefinitionError if a stage has no JSON of its own (`Stage.huggingface`), and no known
    pattern gives the same split in Hugging Face's engine. Also raises it for `add_prefix_space`
    with a preset that neither splits as GPT-2 nor keeps the text whole.
    """
    stages = list(preset.stages)
    # If the last stage is the split of GPT-2, ByteLevel itself does this split (use_regex).
    use_regex = stages[-1] == GPT2.stages[0]
    if use_regex or tuple(stages) == WHOLE.stages:
        stages.pop()
    if add_prefix_space and stages:
        raise DefinitionError(
            "in a tokenizer.json, only the splits of 'gpt2' and 'whole' allow add_prefix_space; "
            f"the preset is {preset.name!r}"
        )
    byte_level = ByteLevel(add_prefix_space, use_regex=use_regex).to_dict()
    if not stages:
        return byte_level
    parts = [_stage_json(preset, stage) for stage in stages]
    return {"type": "Sequence", "pretokenizers": [*parts, byte_level]}


def to_json(preset: Preset) -> dict[str, Any]:
    """Return a pre_tokenizer that splits as `preset` does, without a ByteLevel part.

    Raises DefinitionError as `to_byte_level_json` does.
    """
    parts = [_stage_json(preset, stage) for stage in preset.stages]
    return {"type": "Sequence", "pretokenizers": parts}


def _stage_json(preset: Preset, stage: Stage) -> dict[str, Any]:
    pattern = stage_pattern_for(stage, preset.engine, "hf")
    if pattern is None and not stage.huggingface:
        raise DefinitionError(
            f"a tokenizer.json cannot hold preset {preset.name!r}: no known pattern gives the same "
            "split in Hugging Face's engine; use a preset with a pattern"
        )
    return stage_block(stage, pattern or "")


def stage_block(stage: Stage, pattern: str) -> dict[str, Any]:
    """Return the pre_tokenizer of `stage`: its stored JSON, or a Split by `pattern`."""
    if stage.huggingface:
        own: dict[str, Any] = json.loads(stage.huggingface)
        return own
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": JSON_NAMES[stage.behavior],
        "invert": stage.invert,
    }


def pre_tokenizer_in(source: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[object, str]:
    """Return the pre_tokenizer in `source`, and its JSON path.

    Raises UnsupportedPreTokenizerError if `source` has none or is a file without valid JSON, and
    OSError if the system cannot open or read the file.
    """
    value = dict(source) if isinstance(source, Mapping) else _json_of(source)
    members = _object(value)
    if "pre_tokenizer" in members:
        return members["pre_tokenizer"], "pre_tokenizer"
    if "type" in members:
        return members, "pre_tokenizer"
    raise UnsupportedPreTokenizerError(
        "pre_tokenizer", "missing; expected the object of a tokenizer.json, or its pre_tokenizer"
    )


def _json_of(source: str | os.PathLike[str]) -> object:
    """Return the JSON value of the file `source`, or of the tokenizer.json in that folder."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected a path or a mapping, got {type(source).__name__}")
    file = Path(source)
    with naming(file):
        file = file / "tokenizer.json" if file.is_dir() else file
    try:
        data = read_file(file, json_text.MAX_BYTES)
    except UnreadableFileError as error:
        raise UnsupportedPreTokenizerError(short_path(file), str(error)) from None
    try:
        return json_text.parse(data)
    except ValueError as error:
        problem = f"expected a tokenizer.json, got a file that is not valid JSON: {error}"
        raise UnsupportedPreTokenizerError(short_path(file), problem) from None


def _parts(value: object, path: str) -> list[tuple[dict[str, Any], str]]:
    """Return the parts of a possibly nested Sequence, with their JSON paths."""
    if value is None:
        return []
    parts: list[tuple[dict[str, Any], str]] = []
    pending = [(value, path, 0)]
    while pending:
        value, path, depth = pending.pop()
        part = _object(value)
        if not isinstance(part.get("type"), str):
            raise UnsupportedPreTokenizerError(path, 'expected an object that has a "type"')
        if part["type"] != "Sequence":
            parts.append((part, path))
            continue
        inner = part.get("pretokenizers")
        if not isinstance(inner, list) or part.keys() != {"type", "pretokenizers"}:
            raise UnsupportedPreTokenizerError(
                path, 'expected a Sequence with a list "pretokenizers"'
            )
        if depth == MAX_DEPTH:
            raise UnsupportedPreTokenizerError(
                path, f"expected at most {MAX_DEPTH} nested Sequences"
            )
        if len(parts) + len(pending) + len(inner) > MAX_PARTS:
            raise UnsupportedPreTokenizerError(
                path, f"expected at most {MAX_PARTS} parts, got {len(inner):,} here"
            )
        places = ((each, f"{path}.pretokenizers[{n}]", depth + 1) for n, each in enumerate(inner))
        pending += reversed(list(places))
    return parts


def _known_at(parts: list[tuple[dict[str, Any], str]], at: int) -> tuple[Stage, int] | None:
    """Find a stage of a preset whose JSON has the parts that begin at index `at` of `parts`.

    Return (stage, number of its parts), or None if there is no such stage.
    """
    for stage in stages_of_json():
        known = _parts_of(stage.huggingface)
        if known == [part for part, _ in parts[at : at + len(known)]]:
            return stage, len(known)
    return None


@lru_cache(maxsize=256)
def _parts_of(text: str) -> list[dict[str, Any]]:
    return [part for part, _ in _parts(json.loads(text), "")]


def _block(part: dict[str, Any], path: str) -> Block:
    try:
        return from_dict(part)
    except DefinitionError as error:
        raise UnsupportedPreTokenizerError(path, str(error)) from None


def _split(part: dict[str, Any], path: str, compiled: list[str]) -> Stage:
    """Return the stage of a Split by a regex; add the path of a compiled regex to `compiled`."""
    # Parse the Split with a literal in place of the regex, to validate the other fields.
    literal = _block({**part, "pattern": {"String": "x"}}, path).stages()[0]
    pattern = part["pattern"]
    if list(pattern) != ["Regex"] or not isinstance(pattern["Regex"], str):
        raise UnsupportedPreTokenizerError(f"{path}.pattern", 'expected {"Regex": text}')
    try:
        stage = find_stage(pattern["Regex"], "hf", literal.behavior, literal.invert)
        if stage is None:
            stage = _compiled(pattern["Regex"], literal)
            compiled.append(f"{path}.pattern.Regex")
    except UnknownPatternError as error:
        raise UnsupportedPreTokenizerError(f"{path}.pattern.Regex", str(error)) from error
    return stage


def _compiled(pattern: str, literal: Stage) -> Stage:
    """Return the stage of `pattern` with the behavior of `literal`."""
    try:
        return compile_stage(pattern, "hf", literal.behavior, literal.invert)
    except (NotCompiledError, UnreadablePatternError):
        raise unknown_pattern(pattern, "hf") from None


def _object(value: object) -> dict[str, Any]:
    """Return `value` if it is a dict, else an empty dict."""
    return value if isinstance(value, dict) else {}

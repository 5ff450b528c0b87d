"""The command `pretok identify`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from bpe.cli.engine_diff import EngineComparison, compare
from bpe.errors import VocabularyError
from bpe.formats.format import Source
from bpe.formats.tekken import FILE_NAME, is_tekken, pattern_of
from pretok.cli.input import read_text, shown_path
from pretok.cli.options import ESCAPES, color_option, format_option, options_of
from pretok.cli.output import EXACTNESS, is_colored, one_line, origin_of, stage_text, write
from pretok.errors import UnknownPatternError, UnsupportedPreTokenizerError, short_path
from pretok.formats.gguf import from_gguf, is_gguf
from pretok.formats.huggingface import pre_tokenizer_in, preset_of, read, to_json
from pretok.fuzz.oracle import Ask, of_huggingface, of_pattern
from pretok.patterns.differences import ENGINE_NAMES
from pretok.patterns.lookup import same_split
from pretok.patterns.recognize import from_pattern
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Engine, Preset
from pretok.registry import find as find_preset
from pretok.stage import Stage

SAME, DIFFERENT = 0, 1
"""Exit statuses."""
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@")

PATH_STARTS = ("/", "./", "../")
PATH_ENDS = (".json", ".gguf")
"""An argument that begins or ends so is a path, even if the file does not exist."""


class Identified(NamedTuple):
    """The preset of the argument WHAT.

    `description` names WHAT in the output, such as "the name 'gpt2'". If no rules match the pattern
    of WHAT exactly, `preset` is None, and `error` says why.
    """

    description: str
    preset: Preset | None
    error: UnknownPatternError | None = None
    pattern: str = ""
    engine: Engine = "hf"
    json: object = None
    """The pre_tokenizer of a tokenizer.json."""
    adds_prefix_space: bool = False


@click.command("identify", epilog=ESCAPES, short_help="Say which preset something is.")
@click.argument("what")
@options_of(
    {
        "--engine": "WHAT is a pattern, as this engine reads it.  [default for a pattern: hf]",
        "--against FILE": "Compare with the real engine on this text.",
    }
)
@format_option("text", "json")
@color_option
def identify_command(
    what: str, engine: Engine | None, against: str | None, output_format: str, color: bool | None
) -> int:
    """Say which preset WHAT is: a tokenizer.json, tekken.json, GGUF file, name, or pattern.

    A name is the name of a preset, or a value of tokenizer.ggml.pre in GGUF files. If no preset has
    the pattern, the command compiles the pattern to rules, which the output shows. If no rules
    match exactly, the output says why, and shows the nearest preset (-) and the difference (+).
    With --against, the real engine splits the text too, and the output shows the first difference.
    The exit status is 0 if a known preset or compiled rules have the same split. It is 1 if neither
    has, or if the engine splits the text differently. It is 2 on errors.
    """
    identified = _identify(what, engine)
    comparison = None
    if against is not None:
        if identified.preset is None:
            raise click.ClickException(
                f"{identified.description} is not a known preset, so --against has nothing to "
                "compare; omit --against"
            )
        text = read_text(against, may_be_empty=False)
        tokenizer = PreTokenizer(identified.preset)
        comparison = compare(
            tokenizer, text, *_engine_for(identified, tokenizer), identified.adds_prefix_space
        )
    if output_format == "json":
        write([json.dumps(_record(identified, comparison), indent=2) + "\n"])
    else:
        write(_lines(identified, comparison, is_colored(color)))
    has_same_split = identified.preset is not None and (comparison is None or comparison.same)
    return SAME if has_same_split else DIFFERENT


def _identify(what: str, engine: Engine | None) -> Identified:
    """Identify `what`. If `engine` is not None, `what` is a pattern.

    Otherwise `what` is a file if the file exists, a name if it has only NAME_CHARACTERS, and else a
    pattern. Raises ClickException if `what` looks like a path, but no file exists.
    """
    if engine is None and os.path.exists(what):
        return _identify_file(Path(what))
    if engine is None and (what.startswith(PATH_STARTS) or what.endswith(PATH_ENDS)):
        raise click.ClickException(
            f"no file is called {shown_path(what)}; pass an existing file, or --engine if WHAT is "
            "a pattern"
        )
    if engine is None and set(what) <= NAME_CHARACTERS:
        preset = find_preset(what)
        description = f"the name {what!r}"
        return Identified(description, preset, pattern=preset.pattern, engine=preset.engine)
    engine = engine or "hf"
    return _identify_pattern(what, engine, f"the pattern, as {ENGINE_NAMES[engine]} reads it,")


def _identify_pattern(pattern: str, engine: Engine, description: str) -> Identified:
    try:
        preset = from_pattern(pattern, engine).preset
    except UnknownPatternError as error:
        return Identified(description, None, error, pattern, engine)
    return Identified(description, preset, None, pattern, engine)


def _tekken_pattern(path: Path) -> str | None:
    """Return the pattern if `path` is a tekken.json, or a folder with one; else None."""
    if path.is_dir() and not (path / "tokenizer.json").exists():
        path /= FILE_NAME
    source = Source(path)
    try:
        if b'"token_bytes"' not in source.data or source.json is None:
            return None
        return pattern_of(source.json) if is_tekken(source.json) else None
    except (VocabularyError, OSError):  # `pre_tokenizer_in` raises this error again
        return None


def _identify_file(path: Path) -> Identified:
    shown = shown_path(str(path))
    tekken = _tekken_pattern(path)
    if tekken is not None:
        return _identify_pattern(tekken, "tiktoken", f"the pattern of {shown}")
    if is_gguf(path):
        preset = from_gguf(path).preset
        description = f"the pre-tokenizer of {shown}"
        return Identified(description, preset, pattern=preset.pattern, engine=preset.engine)
    try:
        value, json_path = pre_tokenizer_in(path)
        parsed = read(value, json_path)
    except UnsupportedPreTokenizerError as error:
        cause = error.__cause__
        if isinstance(cause, UnknownPatternError):
            return Identified(f"{error.path} of {shown}", None, cause, cause.pattern)
        # `error.path` is a place in the JSON. In an error about the whole file, it is the path of
        # the file, which the message then has already.
        has_path = error.path.startswith(short_path(path))
        raise click.ClickException(str(error) if has_path else f"{shown}: {error}") from None
    return Identified(
        f"the pre_tokenizer of {shown}",
        preset_of(parsed),
        json=value,
        adds_prefix_space=bool(parsed.prefix_space_path),
    )


def _engine_for(identified: Identified, tokenizer: PreTokenizer) -> tuple[str, Ask]:
    """Return the name of the real engine, and the function that splits a text with it."""
    if identified.pattern:
        return of_pattern(identified.pattern, identified.engine, tokenizer)
    return of_huggingface(
        identified.json if identified.json is not None else to_json(tokenizer.preset)
    )


def _lines(
    identified: Identified, comparison: EngineComparison | None, colored: bool
) -> Iterator[str]:
    """Yield the lines of the output."""
    if identified.preset is None:
        yield f"{identified.error}\n"
        return
    preset = identified.preset
    several = len(preset.stages) > 1 or not _is_known(preset)
    rows = [
        ("preset", preset.name if _is_known(preset) else "not a known one; equivalent stages:"),
        ("aliases", ", ".join(preset.aliases)),
        ("engine", f"{preset.engine} ({ENGINE_NAMES[preset.engine]})"),
        ("unicode", preset.unicode),
        ("exact", EXACTNESS[preset.exactness]),
        ("source", preset.source),
        *(row for stage in preset.stages if several for row in _stage_rows(stage, preset)),
        ("space", "a space goes before a text without one" * identified.adds_prefix_space),
    ]
    yield f"{identified.description} is\n"
    yield "".join(f"  {label:9}  {one_line(value)}\n" for label, value in rows if value)
    if comparison is None:
        return
    if comparison.same:
        yield f"{comparison.engine} makes the same {comparison.pre_tokens} pre-tokens of the text\n"
        return
    yield from comparison.lines(PreTokenizer(preset), colored)


def _stage_rows(stage: Stage, preset: Preset) -> list[tuple[str, str]]:
    """Return the rows of `stage`, and of its rules if no known preset splits as `preset` does."""
    rules = [] if _is_known(preset) else [("rule", str(rule)) for rule in stage.rules]
    return [("stage", stage_text(stage)), *rules]


def _is_known(preset: Preset) -> bool:
    """Return whether a known preset (pretok/patterns/lookup.py) has the same split."""
    return same_split(preset.stages) is not None


def _record(identified: Identified, comparison: EngineComparison | None) -> dict[str, Any]:
    """Return the output as a JSON object."""
    record: dict[str, Any] = {"given": identified.description, "preset": None}
    if identified.preset is not None:
        preset = identified.preset
        record |= {
            "preset": preset.name,
            "known": _is_known(preset),
            **origin_of(preset),
            "patterns": preset.patterns,
            "rules": [str(rule) for rule in preset.rules],
            "space_before_text": identified.adds_prefix_space,
        }
    if identified.error is not None:
        record |= {
            "engine": identified.error.engine,
            "nearest": identified.error.nearest or None,
            "difference": identified.error.difference,
            "construct": identified.error.construct or None,
            "position": identified.error.position if identified.error.construct else None,
            "reason": identified.error.reason or None,
        }
    if comparison is not None:
        record["against"] = comparison.record()
    return record

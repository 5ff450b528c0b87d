"""The command `pretok identify`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from bpe.cli.engine_diff import Comparison, compare
from pretok.cli.input import open_text, shown_path
from pretok.cli.options import ESCAPES, color_option, format_option
from pretok.cli.output import EXACTNESS, is_colored, one_line, stage_text, write
from pretok.errors import (
    UnknownPatternError,
    UnsupportedPreTokenizerError,
    short_path,
    shortened,
)
from pretok.formats.huggingface import pre_tokenizer_in, preset_of, read, to_json
from pretok.fuzz.oracle import Ask, of_huggingface, of_pattern
from pretok.patterns.lookup import same_split
from pretok.patterns.recognize import ENGINE_NAMES, from_pattern
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import ENGINES, Engine, Preset
from pretok.registry import find as find_preset

SAME, DIFFERENT = 0, 1
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@")


class Given(NamedTuple):
    """What is to be identified: what it `was`, and either the preset it is, or why it is none."""

    was: str
    preset: Preset | None
    unknown: UnknownPatternError | None = None
    pattern: str = ""
    engine: Engine = "hf"
    is_json: bool = False
    json: object = None
    space: bool = False


@click.command("identify", epilog=ESCAPES, short_help="Say which preset something is.")
@click.argument("what")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="WHAT is a pattern, as this engine reads it.  [default for a pattern: hf]",
)
@click.option("--against", metavar="FILE", help="Compare with the real engine on this text.")
@format_option("text", "json")
@color_option
def identify_command(
    what: str,
    engine: Engine | None,
    against: str | None,
    output_format: str,
    color: bool | None,
) -> int:
    """Say which preset WHAT is: a tokenizer.json, a GGUF file, a name, or a pattern.

    A name is that of a preset, or what GGUF files have as tokenizer.ggml.pre. For what is no
    preset the nearest is shown, with a minus, and what differs, with a plus. With --against the
    text is split by the real engine too, and the first difference is shown. The exit status is 0
    if there is a preset that is the same, 1 if not, or if the engine splits the text differently,
    2 in trouble.
    """
    given = _given(what, engine)
    found = None
    if against is not None:
        if given.preset is None:
            raise click.ClickException(f"{given.was} is no preset, so there is nothing to compare")
        with open_text(against, None, False) as chunks:
            text = "".join(chunks)
        tokenizer = PreTokenizer(given.preset)
        found = compare(tokenizer, text, *_engine_for(given, tokenizer), given.space)
    if output_format == "json":
        write([json.dumps(_record(given, found), indent=2) + "\n"])
    else:
        write(_lines(given, found, is_colored(color)))
    return SAME if given.preset is not None and (found is None or found.same) else DIFFERENT


def _given(what: str, engine: Engine | None) -> Given:
    if engine is None and os.path.exists(what):
        return _of_file(Path(what))
    if engine is None and set(what) <= NAME_CHARACTERS:
        preset = find_preset(what)
        was = f"the name {what!r}"
        return Given(was, preset, pattern=preset.pattern, engine=preset.engine)
    engine = engine or "hf"
    was = f"the pattern, as {ENGINE_NAMES[engine]} reads it,"
    try:
        preset = from_pattern(what, engine).preset
    except UnknownPatternError as error:
        return Given(was, None, error, what, engine)
    return Given(was, preset, None, what, engine)


def _of_file(path: Path) -> Given:
    shown = shown_path(str(path))
    from bpe.formats import gguf_metadata

    try:
        if gguf_metadata.is_gguf(path):
            return _of_gguf(path, shown)
        value, place = pre_tokenizer_in(path)
        found = read(value, place)
    except UnsupportedPreTokenizerError as error:
        cause = error.__cause__
        if isinstance(cause, UnknownPatternError):
            return Given(f"{error.path} of {shown}", None, cause, cause.pattern)
        # `path` of an error about the file as a whole is that of the file.
        named = error.path.startswith(short_path(path))
        raise click.ClickException(str(error) if named else f"{shown}: {error}") from None
    was = f"the pre_tokenizer of {shown}"
    return Given(
        was, preset_of(found), is_json=True, json=value, space=bool(found.prefix_space_path)
    )


def _of_gguf(path: Path, shown: str) -> Given:
    from bpe.errors import BpeError
    from bpe.formats.gguf import split_in

    try:
        pre, preset, why_no_preset = split_in(path)
    except BpeError as error:
        raise click.ClickException(f"{shown}: {error}") from None
    if preset is None:
        raise click.ClickException(f"{shown}: {why_no_preset}")
    was = f"tokenizer.ggml.pre = {shortened(pre)} of {shown}"
    return Given(was, preset, pattern=preset.pattern, engine=preset.engine)


def _engine_for(given: Given, tokenizer: PreTokenizer) -> tuple[str, Ask]:
    if given.pattern:
        return of_pattern(given.pattern, given.engine, tokenizer)
    return of_huggingface(given.json if given.is_json else to_json(tokenizer.preset))


def _lines(given: Given, found: Comparison | None, colored: bool) -> Iterator[str]:
    if given.preset is None:
        yield f"{given.unknown}\n"
        return
    preset = given.preset
    several = len(preset.stages) > 1 or not _is_known(preset)
    rows = [
        ("preset", preset.name if _is_known(preset) else "none of those known, but exactly this:"),
        ("aliases", ", ".join(preset.aliases)),
        ("engine", f"{preset.engine} ({ENGINE_NAMES[preset.engine]})"),
        ("unicode", preset.unicode),
        ("exact", EXACTNESS[preset.exactness]),
        ("source", preset.source),
        *[("stage", stage_text(stage)) for stage in preset.stages if several],
        ("space", "a space goes before a text that does not begin with one" * given.space),
    ]
    yield f"{given.was} is\n"
    yield "".join(f"  {label:9}  {one_line(value)}\n" for label, value in rows if value)
    if found is None:
        return
    if found.same:
        yield f"{found.engine} makes the same {found.pre_tokens} pre-tokens of the text\n"
        return
    yield from found.lines(PreTokenizer(preset), colored)


def _is_known(preset: Preset) -> bool:
    return same_split(preset.stages) is not None


def _record(given: Given, found: Comparison | None) -> dict[str, Any]:
    record: dict[str, Any] = {"given": given.was, "preset": None}
    if given.preset is not None:
        preset = given.preset
        record |= {
            "preset": preset.name,
            "known": _is_known(preset),
            "aliases": preset.aliases,
            "engine": preset.engine,
            "unicode": preset.unicode,
            "exactness": preset.exactness,
            "source": preset.source,
            "patterns": preset.patterns,
            "space_before_text": given.space,
        }
    if given.unknown is not None:
        record |= {
            "engine": given.unknown.engine,
            "nearest": given.unknown.nearest or None,
            "difference": given.unknown.difference,
        }
    if found is not None:
        record["against"] = found.record()
    return record

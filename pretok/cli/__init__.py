"""The command line: `pretok split`, `explain`, `presets`, `identify`, `diff`, `program`, `fuzz` and
`bench`; and, over vocabularies, `encode`, `decode`, `count`, `train`, `inspect` and `fetch`.

Every error is one line on standard error and exit status 2, whatever raised it; `main` sees to it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

import click

from pretok.cli.diff import diff_command
from pretok.cli.input import shown_path
from pretok.cli.output import abandon_output, one_line
from pretok.cli.presets import presets_command
from pretok.cli.split import explain_command, split_command
from pretok.errors import PresetWarning, PretokError, UnknownPresetError, shortened
from pretok.pretokenizer import choose_backend

TROUBLE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
"""128 and the number of the signal, as a shell has it."""
OUT_OF_MEMORY = "there is not enough memory; give smaller inputs, or fewer threads"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings():
        warnings.showwarning = _showing(warnings.showwarning)
        return _run(given)


def _showing(others: Callable[..., None]) -> Callable[..., None]:
    """Return what shows a PresetWarning in one line, and `others` for other warnings."""

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if not issubclass(category, PresetWarning):
            others(message, category, *place)
        elif sys.stderr is not None:
            click.echo(f"pretok: warning: {one_line(str(message))}", err=True)

    return show


def _run(given: list[str]) -> int:
    try:
        with commands.make_context("pretok", given or ["--help"]) as context:
            return commands.invoke(context) or 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:
        abandon_output()
        return INTERRUPTED
    except BrokenPipeError:
        abandon_output()
        return BROKEN_PIPE
    except MemoryError:
        abandon_output()
        if sys.stderr is not None:
            click.echo(f"pretok: error: {OUT_OF_MEMORY}", err=True)
        return TROUBLE
    except (click.ClickException, PretokError, OSError, UnicodeError) as error:
        if isinstance(error, OSError):
            abandon_output()
        if sys.stderr is not None:
            click.echo(f"pretok: error: {one_line(_message(error))}", err=True)
        return TROUBLE


def _message(error: Exception) -> str:
    if isinstance(error, click.UsageError):
        message = error.format_message().rstrip(".")
        message = message[:1].lower() + message[1:]
        if error.ctx is not None:
            message += " " if message.endswith("?") else "; "
            message += f"see '{error.ctx.command_path} --help'"
        return message
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, UnknownPresetError):
        near = f"did you mean {', '.join(map(repr, error.near))}? " if error.near else ""
        return f"unknown preset {shortened(error.name)}; {near}'pretok presets' lists them all"
    if isinstance(error, OSError) and error.strerror is not None and error.filename is not None:
        return f"{shown_path(os.fsdecode(error.filename))}: {error.strerror}"
    return str(error)


class Later(click.Command):
    """A command that is imported when it is run, so that the others start faster."""

    def __init__(self, name: str, where: str, short_help: str) -> None:
        super().__init__(name, short_help=short_help)
        self._where = where

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return a context of the command itself."""
        module, _, attribute = self._where.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command.make_context(info_name, args, parent, **extra)


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"pretok {version('pretok')} ({choose_backend()} backend)")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the backend, and exit.",
)
def commands() -> None:
    """Split text into pre-tokens, and encode it as tokens, exactly as LLM tokenizers do."""


for _command in (
    split_command,
    explain_command,
    presets_command,
    diff_command,
    Later("encode", "pretok.cli.encode:encode_command", "Encode a text as the ids of tokens."),
    Later("decode", "pretok.cli.decode:decode_command", "Decode ids to text."),
    Later("count", "pretok.cli.encode:count_command", "Count the tokens of texts."),
    Later("train", "pretok.cli.train:train_command", "Train a vocabulary on texts."),
    Later("inspect", "pretok.cli.inspect:inspect_command", "Show what is in a vocabulary."),
    Later("fetch", "pretok.cli.fetch:fetch_command", "Download a vocabulary, and check it."),
    Later("identify", "pretok.cli.identify:identify_command", "Say which preset something is."),
    Later("program", "pretok.cli.program:program_command", "Write a preset for the C library."),
    Later("fuzz", "pretok.cli.fuzz:fuzz_command", "Split hard texts, and compare with an engine."),
    Later("bench", "pretok.cli.bench:bench_command", "Measure speed against that of peers."),
):
    commands.add_command(_command)

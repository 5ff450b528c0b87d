"""Run a group of commands, and report errors.

`run` prints a known error as one line on standard error, and returns exit status 2. An interrupt
and a broken pipe have their own exit statuses.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

import click

from pretok.cli.input import shown_path
from pretok.cli.output import abandon_output, one_line
from pretok.errors import PretokError, PretokWarning, UnknownPresetError, shortened
from pretok.machine.backend import choose_backend

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
"""EXIT_INTERRUPTED and EXIT_BROKEN_PIPE are 128 plus the number of the signal, as in shells."""
COMPLETE = "_PRETOK_COMPLETE"
"""The variable by which a shell asks for completions."""
ADVICE = {
    errno.ENOENT: "; check the path",
    errno.EACCES: "; change its permissions, run the command as its owner, or choose another path",
    errno.EPERM: "; change its permissions, run the command as its owner, or choose another path",
    errno.EROFS: "; choose a path on a file system that is not read-only",
}
"""The advice for errors of the system, by their numbers."""
OUT_OF_MEMORY = "out of memory; pass smaller inputs, or use fewer threads"


def run(
    commands: click.Group, arguments: Sequence[str] | None = None, program: str = "pretok"
) -> int:
    """Run the command line `arguments` (by default that of the process); return the exit status.

    Help and errors call the command `program`.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings():
        warnings.showwarning = _warning_printer(warnings.showwarning)
        return _run(commands, words, program)


def _warning_printer(default: Callable[..., None]) -> Callable[..., None]:
    """Return a function that prints a PretokWarning in one line, and calls `default` otherwise."""

    def show(message: Warning | str, category: type[Warning], *location: Any) -> None:
        if not issubclass(category, PretokWarning):
            default(message, category, *location)
        elif sys.stderr is not None:
            click.echo(f"pretok: warning: {one_line(str(message))}", err=True)

    return show


def _run(commands: click.Group, arguments: list[str], program: str) -> int:
    try:
        if COMPLETE in os.environ:
            from pretok.cli.completion import complete

            return complete(commands)
        with commands.make_context(program, arguments or ["--help"]) as context:
            return commands.invoke(context) or 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, BrokenPipeError) as error:
        abandon_output()
        return EXIT_BROKEN_PIPE if isinstance(error, BrokenPipeError) else EXIT_INTERRUPTED
    except MemoryError:
        abandon_output()
        if sys.stderr is not None:
            click.echo(f"pretok: error: {OUT_OF_MEMORY}", err=True)
        return EXIT_ERROR
    except (click.ClickException, PretokError, OSError, UnicodeError) as error:
        if isinstance(error, OSError):
            abandon_output()
        if sys.stderr is not None:
            click.echo(f"pretok: error: {one_line(_message(error))}", err=True)
        return EXIT_ERROR


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
        # A message that is not the system's has its own advice.
        is_plain = error.errno is not None and error.strerror == os.strerror(error.errno)
        advice = ADVICE.get(error.errno or 0, "") if is_plain else ""
        return f"{shown_path(os.fsdecode(error.filename))}: {error.strerror}{advice}"
    return str(error)


class LazyCommand(click.Command):
    """A command that is imported from `module` only when it runs.

    So the imports of the command do not slow down other commands. The command called "name" is the
    function `name_command` of the module.
    """

    def __init__(self, name: str, module: str, short_help: str) -> None:
        super().__init__(name, short_help=short_help)
        self._module = module

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> click.Context:
        """Return a context of the imported command."""
        attribute = f"{self.name}_command".replace("-", "_")
        command: click.Command = getattr(import_module(self._module), attribute)
        return command.make_context(info_name, args, parent, **extra)


def _show_version(context: click.Context, _: click.Parameter, is_set: bool) -> None:
    if is_set:
        click.echo(f"pretok {version('pretok-bpe')} ({choose_backend()} backend)")
        context.exit()


version_option = click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the backend, and exit.",
)


def group(commands: Sequence[click.Command], text: str) -> click.Group:
    """Return the group of `commands`, whose help is `text`."""
    settings = {"help_option_names": ["-h", "--help"]}
    made = click.Group(commands=commands, context_settings=settings, help=text)
    return version_option(made)

"""Complete command lines in a shell, by the functions of click.

A shell sets $_PRETOK_COMPLETE. `bash_source` prints the code to load into bash; that code calls
`pretok` with `bash_complete` for each Tab. zsh and fish work alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from pretok.cli.run import COMPLETE

SHELLS = ("bash", "fish", "zsh")


def complete(commands: click.Group) -> int:
    """Do what $_PRETOK_COMPLETE asks for; return the exit status."""
    instruction = os.environ[COMPLETE]
    shell, _, request = instruction.partition("_")
    known = get_completion_class(shell) if shell in SHELLS else None
    if known is None or request not in ("source", "complete"):
        kinds = ", ".join(f"{shell}_source" for shell in SHELLS)
        raise click.ClickException(f"expected {kinds} in {COMPLETE}, got {instruction!r}")
    completer: Any = type(known.__name__, (_WithFiles, known), {})(commands, {}, "pretok", COMPLETE)
    # As bytes, because Windows would write CRLF, which no shell expects.
    if request == "source":
        click.echo(completer.source().encode(), nl=False)
    else:
        click.echo(completer.complete().encode())
    return 0


class _WithFiles:
    """Complete the names of files where click knows nothing: most arguments are files."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Return the completions of the word `incomplete` after the words `args`."""
        completions: Any = super()
        found: list[CompletionItem[str]] = completions.get_completions(args, incomplete)
        return found or [CompletionItem(incomplete, type="file")]


def starting_with(names: Iterable[str], incomplete: str) -> list[CompletionItem[str]]:
    """Return those of `names` that start with `incomplete`, as completions."""
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]

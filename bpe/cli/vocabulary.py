"""Shared parts of the commands with a vocabulary: options, loading, and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

import bpe
from bpe.corpus.options import listed_special_tokens
from bpe.errors import MissingPresetError, PublishedMismatchError
from bpe.types import Special, Treatment
from pretok.cli.options import options, options_of
from pretok.errors import UnknownPresetError
from pretok.machine.backend import BackendName
from pretok.preset import Preset


def complete_vocabulary(ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
    """Return the names of known vocabularies that start with `incomplete`, for a shell."""
    from bpe.hub.locate import known_names
    from pretok.cli.completion import starting_with

    return starting_with(known_names(), incomplete)


vocabulary_option = click.option(
    "--vocab",
    "-v",
    required=True,
    metavar="VOCAB",
    shell_complete=complete_vocabulary,
    help="A vocabulary file, or the name of a vocabulary on this machine; see 'pretok fetch'.",
)
SPLIT = {"--preset -p NAME": "The split, if VOCAB does not name one; see 'pretok presets'."}
ON_BINARY = {"--binary": "Accept any bytes in --on, not only UTF-8 text."}


def special_options(default: str) -> Callable[[Any], Any]:
    """Return the options for special tokens; `default` is the default of --special."""
    helps = {
        "--special": "Special tokens in the text: an error, ordinary text, or their ids.  "
        f"[default: {default}]",
        "--allow TOKEN": "Encode only this special token as its id. Repeat for more.",
    }
    return options(
        options_of(helps, special_argument),
        click.option(
            "--add-special-tokens",
            is_flag=True,
            help="Add the tokens that VOCAB puts before and after a text.",
        ),
    )


def load(vocab: str, preset: Preset | None, backend: BackendName | None) -> bpe.Tokenizer:
    """Return the tokenizer of the vocabulary `vocab`.

    Raises click.ClickException if bpe cannot load it, and UnknownPresetError for an unknown preset.
    """
    with errors_shown():
        return bpe.load(vocab, preset=preset, backend=backend)


vocabulary_options = options(vocabulary_option, options_of(SPLIT, load))


@contextmanager
def errors_shown() -> Iterator[None]:
    """Convert errors of bpe to errors of click, whose messages name options, not parameters."""
    try:
        yield
    except (UnknownPresetError, BrokenPipeError):
        raise
    except (bpe.BpeError, ValueError, ImportError, ConnectionError) as error:
        raise click.ClickException(as_cli_message(error)) from None


def as_cli_message(message: object) -> str:
    """Return the text of `message`, an error or warning of bpe.

    The text names the options of the current command instead of the parameters of bpe.
    """
    if isinstance(message, MissingPresetError):
        return (
            f"{message.path}: {message.reason}; pass --preset NAME; 'pretok presets' lists them all"
        )
    if isinstance(message, PublishedMismatchError):
        return f"{message.problem}, or pass --preset to load this file"
    text = str(message)
    context = click.get_current_context(silent=True)
    for option in context.command.params if context else ():
        # name=True and name= become the option alone; name=3 becomes the option and a value.
        for before, after in (("True", ""), (";", ";"), (",", ","), (" ", " "), ("", " ")):
            text = text.replace(f"{option.name}={before}", f"{option.opts[0]}{after}")
    return text.rstrip()


def special_argument(
    tokenizer: bpe.Tokenizer, special: Treatment | None, allow: tuple[str, ...]
) -> Special:
    """Return the argument `special` of bpe for the options --special and --allow."""
    if not allow:
        return special or "raise"
    if special is not None:
        raise click.UsageError("pass --special or --allow, not both")
    names = tokenizer.special_tokens
    for token in allow:
        if token not in names:
            raise click.ClickException(
                f"--allow {token!r} is not a special token of this vocabulary; "
                f"{listed_special_tokens(tokenizer)}"
            )
    return frozenset(allow)

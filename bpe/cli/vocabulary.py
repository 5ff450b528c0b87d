"""Shared parts of the commands with a vocabulary: options, loading, and encoding of inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypedDict, cast

import click
import numpy as np
from numpy.typing import NDArray

import bpe
from bpe.encoding.utf8 import ESCAPE
from bpe.errors import MissingPresetError, PublishedMismatchError
from bpe.types import Errors, Special
from pretok.cli.input import Input, decoded, lines_of
from pretok.cli.options import PRESET, options
from pretok.errors import UnknownPresetError
from pretok.machine.backend import BackendName
from pretok.preset import Preset

Ids = NDArray[np.uint32]

PARAMETERS = ("vocab_size", "min_frequency", "max_token_length", "max_pre_token", "max_text",
              "field", "threads", "preset", "alphabet", "byte_fallback", "character_coverage",
              "tie_break", "lossy")  # fmt: skip
"""The parameters of bpe.train that are options of `pretok train`."""
MAX_SHOWN = 8
"""The maximum number of special tokens that a message lists."""


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
split_option = click.option(
    "--preset",
    "-p",
    type=PRESET,
    metavar="NAME",
    help="The split, if VOCAB does not name one; see 'pretok presets'.",
)
special_options = options(
    click.option(
        "--special",
        type=click.Choice(["raise", "text", "allow"]),
        help="Special tokens in the text: an error, ordinary text, or their ids.  [default: raise]",
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="TOKEN",
        help="Encode only this special token as its id. Repeat for more.",
    ),
    click.option(
        "--add-special-tokens",
        is_flag=True,
        help="Add the tokens that VOCAB puts before and after a text.",
    ),
)
lines_option = click.option(
    "--lines", is_flag=True, help="Encode each line, without its LF or CRLF, as a separate text."
)


def load(vocab: str, preset: Preset | None, backend: BackendName | None) -> bpe.Tokenizer:
    """Return the tokenizer of the vocabulary `vocab`.

    Raises click.ClickException if bpe cannot load it, and UnknownPresetError for an unknown preset.
    """
    try:
        return bpe.load(vocab, preset=preset, backend=backend)
    except UnknownPresetError:
        raise
    except (bpe.BpeError, ValueError) as error:
        raise click.ClickException(as_cli_message(error)) from None


def as_cli_message(message: object, parameters: Sequence[str] = PARAMETERS) -> str:
    """Return the text of `message`, an error or warning of bpe.

    The text names command line options instead of the `parameters` of bpe.
    """
    if isinstance(message, MissingPresetError):
        return (
            f"{message.path}: {message.reason}; pass --preset NAME; 'pretok presets' lists them all"
        )
    if isinstance(message, PublishedMismatchError):
        return f"{message.problem}, or pass --preset to load this file"
    text = str(message)
    for name in parameters:
        option = f"--{name.replace('_', '-')}"
        # name=True and name= become the option alone; name=3 becomes the option and a value.
        for before, after in (("True", ""), (";", ";"), (" ", " "), ("", " ")):
            text = text.replace(f"{name}={before}", f"{option}{after}")
    return text.rstrip()


class _Options(TypedDict):
    special: Special
    errors: Errors
    add_special_tokens: bool


class InputEncoder:
    """Encodes inputs with the options of a command; errors name the place in the input.

    `special` and `allow` are the values of --special (None if absent) and of --allow. If `binary`,
    the input may have bytes that are not UTF-8.
    """

    def __init__(
        self,
        tokenizer: bpe.Tokenizer,
        special: str | None,
        allow: Sequence[str],
        add_special_tokens: bool,
        binary: bool,
    ) -> None:
        self.tokenizer = tokenizer
        self._options: _Options = {
            "special": special_argument(tokenizer, special, allow),
            "errors": ESCAPE,
            "add_special_tokens": add_special_tokens,
        }
        self._binary = binary

    def ids(self, source: Input) -> Ids:
        """Return the ids of `source` as one text."""
        text = self._whole(source)
        with _located(source.name, [text]):
            return self.tokenizer.encode_array(text, **self._options)

    def count(self, source: Input) -> int:
        """Return the number of ids of `source` as one text."""
        text = self._whole(source)
        with _located(source.name, [text]):
            return self.tokenizer.count(text, **self._options)

    def tokens(self, source: Input) -> list[bpe.Token]:
        """Return the tokens of `source` as one text."""
        text = self._whole(source)
        special = self._options["special"]
        with _located(source.name, [text]):
            return self.tokenizer.tokens(text, special, errors=ESCAPE)

    def rows(self, source: Input) -> Iterator[tuple[Ids, NDArray[np.int64]]]:
        """Yield (ids, offsets) for each block of lines.

        Line i of the block has ids[offsets[i]:offsets[i + 1]].
        """
        done = 0
        for lines in lines_of(decoded(source, self._binary, may_be_empty=True)):
            with _located(source.name, lines, done + 1):
                yield self.tokenizer.encode_batch_array(lines, **self._options)
            done += len(lines)

    def _whole(self, source: Input) -> str:
        """Return the text of the whole input."""
        return "".join(decoded(source, self._binary, may_be_empty=True))


def special_argument(
    tokenizer: bpe.Tokenizer, special: str | None, allow: Sequence[str]
) -> Special:
    """Return the argument `special` of bpe for the options --special and --allow."""
    if not allow:
        return cast("Special", special or "raise")
    if special is not None:
        raise click.UsageError("pass --special or --allow, not both")
    names = tokenizer.special_tokens
    for token in allow:
        if token not in names:
            listed = "it has no special tokens"
            if names:
                listed = f"its special tokens are {', '.join(map(repr, [*names][:MAX_SHOWN]))}"
            more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
            raise click.ClickException(
                f"--allow {token!r} is not a special token of this vocabulary; {listed}{more}"
            )
    return frozenset(allow)


@contextmanager
def _located(name: str, texts: Sequence[str], first_line: int | None = None) -> Iterator[None]:
    """Add the place in the input to the error for a special token that is not allowed.

    `texts` are texts of the input `name`. If the texts are lines, `first_line` is the number of the
    first line, counted from 1. If the only text is the whole input, `first_line` is None.
    """
    try:
        yield
    except bpe.SpecialTokenError as error:
        index = error.text_index or 0
        at = len(texts[index][: error.position].encode("utf-8", ESCAPE))
        line = "" if first_line is None else f", line {first_line + index}"
        raise click.ClickException(
            f"{name}{line}, byte {at}: the text has the special token {error.token!r}; pass "
            "--special text to encode it as ordinary text, --special allow to encode special "
            "tokens as their ids, or --allow TOKEN to allow only that token"
        ) from None

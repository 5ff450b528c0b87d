"""Shared parts of the commands with a vocabulary: options, loading, and encoding of inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypedDict, TypeVar, cast

import click
import numpy as np
from numpy.typing import NDArray

import bpe
from bpe.corpus.options import listed_special_tokens
from bpe.encoding.utf8 import ESCAPE
from bpe.errors import MissingPresetError, PublishedMismatchError
from bpe.training.corpus import texts_of_file
from bpe.types import Errors, Special
from pretok.cli.input import Input, decoded, lines_of, shown_path
from pretok.cli.options import PRESET, options
from pretok.errors import UnknownPresetError
from pretok.machine.backend import BackendName
from pretok.preset import Preset

Ids = NDArray[np.uint32]

PARAMETERS = ("vocab_size", "min_frequency", "max_token_length", "max_pre_token", "max_text",
              "field", "threads", "preset", "alphabet", "byte_fallback", "character_coverage",
              "tie_break", "include", "lossy")  # fmt: skip
"""The parameters of bpe.train that are options of `pretok train`."""


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


def special_options(default: str) -> Callable[[Any], Any]:
    """Return the options for special tokens; `default` is that of --special."""
    return options(
        click.option(
            "--special",
            type=click.Choice(["raise", "text", "allow"]),
            help="Special tokens in the text: an error, ordinary text, or their ids.  "
            f"[default: {default}]",
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


T = TypeVar("T")


class _Options(TypedDict):
    errors: Errors
    add_special_tokens: bool


class InputEncoder:
    """Encodes inputs with the options of a command; errors name the place in the input.

    `special` and `allow` are the values of --special (None if absent) and of --allow. If `binary`,
    the input may have bytes that are not UTF-8. If `counts_as_text`, and neither --special nor
    --allow was passed, special tokens in a text are ordinary text, and `mention` says where the
    first one is.
    """

    def __init__(
        self,
        tokenizer: bpe.Tokenizer,
        special: str | None,
        allow: Sequence[str],
        add_special_tokens: bool,
        binary: bool,
        counts_as_text: bool = False,
    ) -> None:
        self.tokenizer = tokenizer
        self.mention = ""
        self._special = special_argument(tokenizer, special, allow)
        self._options: _Options = {"errors": ESCAPE, "add_special_tokens": add_special_tokens}
        self._binary = binary
        self._counts_as_text = counts_as_text and special is None and not allow

    def ids(self, source: Input) -> Ids:
        """Return the ids of `source` as one text."""
        text = self._whole(source)
        return self._located(
            source.name,
            [text],
            lambda special: self.tokenizer.encode_array(text, special, **self._options),
        )

    def count(self, source: Input) -> int:
        """Return the number of ids of `source` as one text."""
        text = self._whole(source)
        return self._located(
            source.name,
            [text],
            lambda special: self.tokenizer.count(text, special, **self._options),
        )

    def tokens(self, source: Input) -> list[bpe.Token]:
        """Return the tokens of `source` as one text."""
        text = self._whole(source)
        return self._located(
            source.name,
            [text],
            lambda special: self.tokenizer.tokens(text, special, errors=ESCAPE),
        )

    def rows(self, source: Input) -> Iterator[tuple[Ids, NDArray[np.int64]]]:
        """Yield (ids, offsets) for each block of lines.

        Line i of the block has ids[offsets[i]:offsets[i + 1]].
        """
        done = 0
        for lines in lines_of(decoded(source, self._binary, may_be_empty=True)):
            yield self._batch(source.name, lines, f"line {done + 1}")
            done += len(lines)

    def document_rows(self, file: str, field: str) -> Iterator[tuple[Ids, NDArray[np.int64]]]:
        """Yield (ids, offsets), as `rows` does, for the documents of a .jsonl or .parquet file."""
        done = 0
        for texts in texts_of_file(file, field):
            yield self._batch(shown_path(file), list(texts), f"document {done + 1}")
            done += len(texts) if isinstance(texts, list) else 1

    def _batch(
        self, name: str, texts: Sequence[str | bytes], first: str
    ) -> tuple[Ids, NDArray[np.int64]]:
        return self._located(
            name,
            texts,
            lambda special: self.tokenizer.encode_batch_array(texts, special, **self._options),
            first,
        )

    def _whole(self, source: Input) -> str:
        """Return the text of the whole input."""
        return "".join(decoded(source, self._binary, may_be_empty=True))

    def _located(
        self,
        name: str,
        texts: Sequence[str | bytes],
        encode: Callable[[Special], T],
        first: str = "",
    ) -> T:
        """Return encode(special); the error for a special token names its place in the input.

        `texts` are texts of the input `name`. `first` is the place of the first one, such as
        "line 1", or "" if the only text is the whole input.
        """
        try:
            return encode(self._special)
        except bpe.SpecialTokenError as error:
            index = error.text_index or 0
            head = texts[index][: error.position]
            at = len(head if isinstance(head, bytes) else head.encode("utf-8", ESCAPE))
            unit, _, number = first.partition(" ")
            within = f", {unit} {int(number) + index}" if first else ""
            place = f"{name}{within}, byte {at}"
            if not self._counts_as_text:
                raise click.ClickException(
                    f"{place}: the text has the special token {error.token!r}; pass --special text "
                    "to encode it as ordinary text, --special allow to encode special tokens as "
                    "their ids, or --allow TOKEN to allow only that token"
                ) from None
            self.mention = self.mention or f"the first is {error.token!r} in {place}"
        return encode("text")


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
            raise click.ClickException(
                f"--allow {token!r} is not a special token of this vocabulary; "
                f"{listed_special_tokens(tokenizer)}"
            )
    return frozenset(allow)

"""What the commands that take a vocabulary share: options, loading, encoding their input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypedDict, cast

import click
import numpy as np
from numpy.typing import NDArray

import bpe
from bpe.encoding.pipeline import Errors
from bpe.encoding.policies import Special
from pretok.cli.input import Input, decoded, lines_of
from pretok.cli.options import PRESET, options
from pretok.errors import UnknownPresetError
from pretok.machine.backend import BackendName
from pretok.preset import Preset

Ids = NDArray[np.uint32]

PARAMETERS = ("vocab_size", "min_frequency", "max_token_length", "max_pre_token", "max_text",
              "field", "threads")  # fmt: skip
ASKS_FOR_PRESET = "; pass preset= with the split"
ESCAPE: Errors = "surrogateescape"
"""How texts hold bytes that are not UTF-8."""
SHOWN = 8
"""How many special tokens a message lists."""

vocabulary_option = click.option(
    "--vocab",
    "-v",
    required=True,
    metavar="VOCAB",
    help="Vocabulary: a file, or the name of one on this machine; see 'pretok fetch'.",
)
split_option = click.option(
    "--preset",
    "-p",
    type=PRESET,
    metavar="NAME",
    help="How to split, if VOCAB does not say; see 'pretok presets'.",
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
        help="Take this special token as its id, and others as text. Repeat for more.",
    ),
    click.option(
        "--add-special-tokens",
        is_flag=True,
        help="Add the tokens that VOCAB puts before and behind a text.",
    ),
)
lines_option = click.option(
    "--lines", is_flag=True, help="Take each line, without its LF or CRLF, as a text of its own."
)


def load(vocab: str, preset: Preset | None, backend: BackendName | None) -> bpe.Tokenizer:
    """Return the tokenizer of a vocabulary; raises click.ClickException."""
    try:
        return bpe.load(vocab, preset=preset, backend=backend)
    except UnknownPresetError:
        raise
    except (bpe.BpeError, ValueError) as error:
        raise click.ClickException(in_options(error)) from None


def in_options(message: object) -> str:
    """Return `message` with options instead of parameters of bpe."""
    text = str(message)
    before, ask, _ = text.partition(ASKS_FOR_PRESET)
    if ask:
        return f"{before}; pass --preset NAME; 'pretok presets' lists them all"
    text = text.replace("preset= and special_tokens=", "--preset")
    for name in PARAMETERS:
        text = text.replace(f"{name}=", f"--{name.replace('_', '-')} ")
    return text.rstrip()


class _Options(TypedDict):
    special: Special
    errors: Errors
    add_special_tokens: bool


class InputEncoder:
    """Encodes inputs as the options of a command say; errors name the place in the input."""

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
            "special": _special(tokenizer, special, allow),
            "errors": ESCAPE,
            "add_special_tokens": add_special_tokens,
        }
        self._binary = binary

    def ids(self, given: Input) -> Ids:
        """Return the ids of all of `given`, as one text."""
        text = self._whole(given)
        with _located(given.name, [text]):
            return self.tokenizer.encode_array(text, **self._options)

    def count(self, given: Input) -> int:
        """Return how many ids all of `given` has, as one text."""
        text = self._whole(given)
        with _located(given.name, [text]):
            return self.tokenizer.count(text, **self._options)

    def tokens(self, given: Input) -> list[bpe.Token]:
        """Return the tokens of all of `given`, as one text."""
        text = self._whole(given)
        special = self._options["special"]
        with _located(given.name, [text]):
            return self.tokenizer.tokens(text, special, errors=ESCAPE)

    def rows(self, given: Input) -> Iterator[tuple[Ids, NDArray[np.int64]]]:
        """Yield the ids of some lines, and where those of each start and end, as they are read."""
        done = 0
        for lines in lines_of(decoded(given, self._binary, may_be_empty=True)):
            with _located(given.name, lines, done + 1):
                yield self.tokenizer.encode_batch_array(lines, **self._options)
            done += len(lines)

    def _whole(self, given: Input) -> str:
        return "".join(decoded(given, self._binary, may_be_empty=True))


def _special(tokenizer: bpe.Tokenizer, special: str | None, allow: Sequence[str]) -> Special:
    if not allow:
        return cast("Special", special or "raise")
    if special is not None:
        raise click.UsageError("both --special and --allow are given; give one of them")
    known = tokenizer.special_tokens
    for token in allow:
        if token not in known:
            shown = ", ".join(map(repr, [*known][:SHOWN])) or "none"
            more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
            raise click.ClickException(
                f"--allow {token!r}: no special token of this vocabulary; it has {shown}{more}"
            )
    return frozenset(allow)


@contextmanager
def _located(name: str, texts: Sequence[str], first_line: int | None = None) -> Iterator[None]:
    """Say of a special token that the call does not allow where it is, and what to do."""
    try:
        yield
    except bpe.SpecialTokenError as error:
        index = error.text_index or 0
        at = len(texts[index][: error.position].encode("utf-8", ESCAPE))
        line = "" if first_line is None else f", line {first_line + index}"
        raise click.ClickException(
            f"{name}{line}, byte {at}: the special token {error.token!r}; pass --special text to "
            "take it as ordinary text, --special allow to take special tokens as their ids, or "
            "--allow TOKEN to take only some so"
        ) from None

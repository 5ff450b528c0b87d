"""Define InputEncoder, which encodes the inputs of `pretok encode` and `pretok count`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import click

import bpe
from bpe.cli.text_options import field_option, include_option, input_files, is_text, open_file
from bpe.cli.vocabulary import load, special_argument, vocabulary_options
from bpe.encoding.utf8 import ESCAPE
from bpe.once import lazy
from bpe.training.corpus import texts_of_file
from bpe.types import Ids, Offsets, Treatment
from pretok.cli.input import decoded, lines_of, shown_path
from pretok.cli.options import TEXT, options, options_of
from pretok.machine.backend import BackendName
from pretok.preset import Preset

T = TypeVar("T")
LINES = {"--lines": "Encode each line, without its LF or CRLF, as a separate text."}
Rows: TypeAlias = Iterator[tuple[Ids, Offsets]]
"""(ids, offsets) for each block of texts: text i has ids[offsets[i]:offsets[i + 1]]."""


@dataclass
class InputEncoder:
    """Encodes the inputs that the options of a command name; errors name the place in the input.

    If `counts_as_text`, and neither --special nor --allow was passed, special tokens in a text are
    ordinary text, and `mention` says where the first one is.
    """

    vocab: str
    preset: Preset | None
    special: Treatment | None
    allow: tuple[str, ...]
    add_special_tokens: bool
    lines: bool
    files: tuple[str, ...]
    include: tuple[str, ...]
    text: str | None
    binary: bool
    backend: BackendName | None
    field: str = "text"
    counts_as_text: bool = False
    mention: str = ""

    def __post_init__(self) -> None:
        if self.files and self.text is not None:
            raise click.UsageError("got both FILE and --text; pass only one of them")
        self.counts_as_text &= self.special is None and not self.allow

    @lazy
    def tokenizer(self) -> bpe.Tokenizer:
        """The tokenizer of VOCAB."""
        return load(self.vocab, self.preset, self.backend)

    @lazy
    def names(self) -> list[str | None]:
        """The files to read. None is --text or, without this option, standard input."""
        return [*input_files(self.files, self.include, self.binary)] if self.files else [None]

    def whole(self, name: str | None, encode: Callable[..., T]) -> T:
        """Return the result of `encode`, a method of the tokenizer, for a file as one text."""
        with open_file(name, self.text) as source:
            text = "".join(decoded(source, self.binary, may_be_empty=True))
        return self._encoded(source.name, encode, text)

    def rows(self, name: str | None) -> Rows:
        """Yield the ids of each line of a text, or of each document of another file."""
        if name is not None and not is_text(name):
            documents = (list(texts) for _, texts in texts_of_file(name, self.field))
            yield from self._rows(shown_path(name), "document", documents)
            return
        with open_file(name, self.text) as source:
            lines = lines_of(decoded(source, self.binary, may_be_empty=True))
            yield from self._rows(source.name, "line", lines)

    def _rows(self, name: str, unit: str, batches: Iterable[list[Any]]) -> Rows:
        done = 0
        for texts in batches:
            yield self._encoded(name, self.tokenizer.encode_batch_array, texts, unit, done + 1)
            done += len(texts)

    def _encoded(
        self, name: str, encode: Callable[..., T], texts: Any, unit: str = "", first: int = 0
    ) -> T:
        """Return the result of `encode`; the error for a special token names its place.

        `texts` are texts of the input `name`, the first of which has the number `first`. Without
        `unit`, `texts` is the whole input as one text.
        """
        special = special_argument(self.tokenizer, self.special, self.allow)
        encode = partial(encode, errors=ESCAPE, add_special_tokens=self.add_special_tokens)
        try:
            return encode(texts, special)
        except bpe.SpecialTokenError as error:
            index = error.text_index or 0
            head = (texts[index] if unit else texts)[: error.position]
            at = len(head if isinstance(head, bytes) else head.encode("utf-8", ESCAPE))
            within = f", {unit} {first + index}" if unit else ""
            place = f"{name}{within}, byte {at}"
            if not self.counts_as_text:
                raise click.ClickException(
                    f"{place}: the text has the special token {error.token!r}; pass --special text "
                    "to encode it as ordinary text, --special allow to encode special tokens as "
                    "their ids, or --allow TOKEN to allow only that token"
                ) from None
            self.mention = self.mention or f"the first is {error.token!r} in {place}"
        return encode(texts, "text")


encoder_options = options(
    vocabulary_options,
    click.argument("files", nargs=-1, metavar="[FILE]..."),
    options_of(LINES, InputEncoder),
    include_option,
    field_option,
    options_of(TEXT, InputEncoder),
)
"""The options that are members of InputEncoder, except those of `special_options`."""

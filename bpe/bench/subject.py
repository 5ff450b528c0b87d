"""The vocabulary that is measured, and the files of it that each peer reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import bpe
from bpe.bench.text import generated_texts
from pretok.machine.backend import BackendName
from pretok.preset import Preset

MADE_UP_SIZE = 8192
"""How many ids the vocabulary has that is trained where none is given."""
MADE_UP_TEXT = 300_000
"""Of how many code points each of the texts has that it is trained on."""
MADE_UP = "made-up"


class Subject:
    """A vocabulary, with and without its added tokens, and files of it that are made if needed.

    Texts are measured with `bare`, which has no added tokens: what looks like one is ordinary text
    for all. With `keeps_added` they are measured with the vocabulary as it is, and special tokens
    in a text are heeded. `given` is the file or name it was loaded from, if it was, and `asked` the
    preset that had to be named for that. `published` is the name by which others know it, if they
    do. Peers may put files into `folder`.
    """

    def __init__(
        self,
        name: str,
        tokenizer: bpe.Tokenizer,
        folder: Path,
        given: str | None = None,
        asked: str | None = None,
        published: str | None = None,
        keeps_added: bool = False,
    ) -> None:
        self.name = name
        self.published = published or tokenizer.name
        self.given = given
        self.asked = asked
        self.tokenizer = tokenizer
        self.folder = folder
        self._keeps_added = keeps_added
        self.bare = self._new(())

    def fresh(self) -> bpe.Tokenizer:
        """Return a new tokenizer to measure with, which has seen no text yet."""
        return self._new(self.tokenizer.added_tokens if self._keeps_added else ())

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens that texts are measured with."""
        return self.tokenizer.special_tokens if self._keeps_added else {}

    @property
    def preset(self) -> Preset | None:
        """How it splits, if a preset says so."""
        return self.tokenizer.preset

    @cached_property
    def ranks(self) -> dict[bytes, int]:
        """The id of each token, as tiktoken takes them."""
        return {token: id for id, token in self.tokenizer.vocabulary.token_bytes.items()}

    @cached_property
    def rank_file(self) -> Path | None:
        """A .tiktoken file, which has no special tokens; None if no such file can hold the rest."""
        added = self.tokenizer.added_tokens if self._keeps_added else ()
        if not all(token.special for token in added):
            return None
        if self._keeps_added and self.given is not None and self.given.endswith(".tiktoken"):
            return Path(self.given)
        return self._saved(".tiktoken", self.bare)

    @cached_property
    def json_file(self) -> Path | None:
        """A tokenizer.json; None if no such file can hold the vocabulary."""
        if not self._keeps_added:
            return self._saved(".json", self.bare)
        if self.given is not None and self.given.endswith(".json") and Path(self.given).is_file():
            return Path(self.given)
        return self._saved(".json", self.tokenizer)

    def _saved(self, suffix: str, tokenizer: bpe.Tokenizer) -> Path | None:
        path = self.folder / f"{self.name}{suffix}"
        try:
            tokenizer.save(path)
        except bpe.BpeError:
            return None
        return path

    def _new(self, added_tokens: tuple[bpe.AddedToken, ...]) -> bpe.Tokenizer:
        whole = self.tokenizer
        return bpe.Tokenizer(
            whole.vocabulary,
            whole.pre_tokenizer,
            added_tokens=added_tokens,
            normalizer=whole.normalizer,
            add_prefix_space=whole.add_prefix_space,
            backend=whole.backend,
        )


@contextmanager
def subjects(
    names: tuple[str, ...], preset: str | None, backend: BackendName | None
) -> Iterator[list[Subject]]:
    """Yield the vocabularies of these files or names; without any, one trained on the spot.

    The files that are made of them are gone at the end.
    """
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as folder:
        found = []
        for number, name in enumerate(names):
            place = Path(folder, str(number))
            place.mkdir()
            tokenizer = bpe.load(name, preset=preset, backend=backend)
            found.append(Subject(tokenizer.name or Path(name).stem, tokenizer, place, name, preset))
        yield found or [made_up(Path(folder), preset or "cl100k", backend)]


def made_up(folder: Path, preset: str, backend: BackendName | None) -> Subject:
    """Return a vocabulary trained on the made-up texts."""
    tokenizer = bpe.train(
        generated_texts(MADE_UP_TEXT).values(),
        vocab_size=MADE_UP_SIZE,
        preset=preset,
        progress=False,
        backend=backend,
    )
    return Subject(MADE_UP, tokenizer, folder)

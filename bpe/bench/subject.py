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
    for all. `given` is the file or name it was loaded from, if it was, and `asked` the preset that
    had to be named for that. `published` is the name by which others know it, if they do.
    """

    def __init__(
        self,
        name: str,
        tokenizer: bpe.Tokenizer,
        folder: Path,
        given: str | None = None,
        asked: str | None = None,
        published: str | None = None,
    ) -> None:
        self.name = name
        self.published = published or tokenizer.name
        self.given = given
        self.asked = asked
        self.tokenizer = tokenizer
        self.bare = self._without_added_tokens()
        self._folder = folder

    def fresh(self) -> bpe.Tokenizer:
        """Return a new tokenizer without added tokens, which has seen no text yet."""
        return self._without_added_tokens()

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
        """A .tiktoken file without added tokens; None if no such file can hold it."""
        return self._saved(".tiktoken")

    @cached_property
    def json_file(self) -> Path | None:
        """A tokenizer.json without added tokens; None if no such file can hold it."""
        return self._saved(".json")

    def _saved(self, suffix: str) -> Path | None:
        path = self._folder / f"{self.name}{suffix}"
        try:
            self.bare.save(path)
        except bpe.BpeError:
            return None
        return path

    def _without_added_tokens(self) -> bpe.Tokenizer:
        whole = self.tokenizer
        return bpe.Tokenizer(
            whole.vocabulary,
            whole.pre_tokenizer,
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

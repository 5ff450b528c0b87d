"""Define Subject, the vocabulary to measure with, and its files for peers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import bpe
from pretok.machine.backend import BackendName
from pretok.preset import Preset
from pretok_bench.text import generated_texts

MADE_UP_SIZE = 8192
"""The number of ids of the vocabulary that is trained if no vocabulary is named."""
MADE_UP_TEXT = 300_000
"""The number of code points of each generated text for this training."""
MADE_UP = "made-up"


class Subject:
    """A vocabulary to measure with, and files that hold it. The first use of a file writes it.

    By default contenders use `bare`, the vocabulary without added tokens, so special tokens in a
    text are ordinary text. If `keeps_added`, contenders use the whole vocabulary and allow special
    tokens. `source` is the file or name that bpe.load took, or None; `source_preset` is the preset
    that bpe.load needed for it, or None. `published` is the name of the vocabulary in other
    packages; None means the name of `tokenizer`. `model` is a SentencePiece .model of the same
    vocabulary, or None. Peers may write files to `folder`.
    """

    def __init__(
        self,
        name: str,
        tokenizer: bpe.Tokenizer,
        folder: Path,
        source: str | None = None,
        source_preset: str | None = None,
        published: str | None = None,
        keeps_added: bool = False,
        model: Path | None = None,
    ) -> None:
        self.name = name
        self.published = published or tokenizer.name
        self.source = source
        self.source_preset = source_preset
        self.tokenizer = tokenizer
        self.folder = folder
        self._model = model
        self._keeps_added = keeps_added
        self.bare = self._new(())

    def fresh(self) -> bpe.Tokenizer:
        """Return a new tokenizer for a measurement, with empty caches."""
        return self._new(self.tokenizer.added_tokens if self._keeps_added else ())

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens that contenders allow."""
        return self.tokenizer.special_tokens if self._keeps_added else {}

    @property
    def preset(self) -> Preset | None:
        """The preset of the split, or None for a custom pre-tokenizer."""
        return self.tokenizer.preset

    @cached_property
    def ranks(self) -> dict[bytes, int]:
        """The id of each token by the bytes of the token: the `mergeable_ranks` of tiktoken."""
        return {token: id for id, token in self.tokenizer.vocabulary.token_bytes.items()}

    @cached_property
    def rank_file(self) -> Path | None:
        """A .tiktoken file of the tokens that are not special; None if no file can hold them."""
        added = self.tokenizer.added_tokens if self._keeps_added else ()
        if not all(token.special for token in added):
            return None
        if self._keeps_added and self.source is not None and self.source.endswith(".tiktoken"):
            return Path(self.source)
        return self._saved(".tiktoken", self.bare)

    @cached_property
    def json_file(self) -> Path | None:
        """A tokenizer.json; None if no tokenizer.json can hold the vocabulary."""
        if not self._keeps_added:
            return self._saved(".json", self.bare)
        source = self.source
        if source is not None and source.endswith(".json") and Path(source).is_file():
            return Path(source)
        return self._saved(".json", self.tokenizer)

    @cached_property
    def model_file(self) -> Path | None:
        """A .model of SentencePiece; None if there is none."""
        source = self.source
        if self._model is None and source is not None and source.endswith(".model"):
            return Path(source)
        return self._model

    def _saved(self, suffix: str, tokenizer: bpe.Tokenizer) -> Path | None:
        """Save `tokenizer` in the format of `suffix`; return the path.

        Return None if the format cannot hold the tokenizer.
        """
        path = self.folder / f"{self.name}{suffix}"
        try:
            # A rank file holds only tokens; each contender has its own split and normalizer.
            tokenizer.save(path, lossy=suffix == ".tiktoken")
        except bpe.BpeError:
            return None
        return path

    def _new(self, added_tokens: tuple[bpe.AddedToken, ...]) -> bpe.Tokenizer:
        """Return a new tokenizer for the vocabulary, with only these added tokens."""
        whole = self.tokenizer
        return bpe.Tokenizer(
            whole.vocabulary,
            whole.pre_tokenizer,
            added_tokens=added_tokens,
            normalizer=whole.normalizer,
            decoder=whole.decoder,
            add_prefix_space=whole.add_prefix_space,
            backend=whole.backend,
        )


@contextmanager
def subjects(
    names: tuple[str, ...], preset: str | None, backend: BackendName | None
) -> Iterator[list[Subject]]:
    """Yield the vocabularies of `names`, each a file or a name for bpe.load.

    If `names` is empty, yield a newly trained vocabulary. `preset` is the preset for files that do
    not name one. At the end, delete the files that the subjects and the peers have written.
    """
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as folder:
        loaded = []
        for number, name in enumerate(names):
            place = Path(folder, str(number))
            place.mkdir()
            tokenizer = bpe.load(name, preset=preset, backend=backend)
            label = tokenizer.name or Path(name).stem
            loaded.append(Subject(label, tokenizer, place, name, preset))
        yield loaded or [made_up(Path(folder), preset or "cl100k", backend)]


def made_up(folder: Path, preset: str, backend: BackendName | None) -> Subject:
    """Return a vocabulary trained on the generated texts."""
    tokenizer = bpe.train(
        generated_texts(MADE_UP_TEXT).values(),
        vocab_size=MADE_UP_SIZE,
        preset=preset,
        progress=False,
        backend=backend,
    )
    return Subject(MADE_UP, tokenizer, folder)

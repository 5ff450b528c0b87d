"""Adapter for tokenizers 1.0, which is installed in an environment of its own."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bpe.encoding.python_backend import concatenate_ids
from pretok_bench import venvs
from pretok_bench.answers import Arrays
from pretok_bench.peer import Calls, CannotError, Message, guarded
from pretok_bench.peers.files import json_file
from pretok_bench.peers.tokenizers import Tokenizers
from pretok_bench.subject import Subject

REQUIREMENT = "tokenizers==1.0.0rc3"
MODULE = "tokenizers_1"


class Tokenizers1(Tokenizers):
    """tokenizers 1.0: has no regex engine, and its encodings have ids, but no offsets.

    transformers and other peers need an older version, so `missing` makes a virtual environment.
    """

    name = "tokenizers-1"
    sets_threads = False
    needs_venv = True

    def version(self) -> str | None:
        """Return the version in the environment; None before `missing` was called."""
        module = sys.modules.get(MODULE)
        return None if module is None else str(module.__version__)

    def missing(self) -> str:
        """Make the environment and import the package; return why it cannot be used, or ""."""
        try:
            with guarded(self.name):
                self._package()
        except CannotError as error:
            return str(error)
        return ""

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a Tokenizer read from a tokenizer.json."""
        tokenizer = self._load(json_file(subject))
        encode_batch = tokenizer.encode_batch

        def arrays(texts: list[str], threads: int) -> list[Any]:
            encodings = encode_batch(texts, add_special_tokens=False)
            return [encoding.ids_array for encoding in encodings]

        def lists(texts: list[str], threads: int) -> list[list[int]]:
            return [encoding.ids for encoding in encode_batch(texts, add_special_tokens=False)]

        return Calls(
            arrays=arrays,
            as_arrays=_joined,
            lists=lists,
            text=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)),
        )

    def message(self, subject: Subject) -> Message:
        """Return the calls of `encode` that read a list and an array of the Encoding."""
        encode = self._load(json_file(subject)).encode
        return Message(
            lambda text: encode(text, add_special_tokens=False).ids,
            lambda text: encode(text, add_special_tokens=False).ids_array,
        )

    def _package(self) -> Any:
        """Import the package; its own name belongs to another version."""
        if MODULE not in sys.modules:
            site = venvs.site_packages(REQUIREMENT, self.name)
            venvs.import_as(MODULE, site / "tokenizers")
        return sys.modules[MODULE]

    def _load(self, path: object) -> Any:
        return self._package().Tokenizer.from_file(str(path))


def _joined(rows: list[Any]) -> Arrays:
    """Return the ids and the offsets of the array of each text."""
    ids, offsets = concatenate_ids([[]] * len(rows))
    offsets[1:] = np.cumsum([len(row) for row in rows])
    return np.concatenate([ids, *rows]), offsets

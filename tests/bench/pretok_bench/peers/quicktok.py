"""Adapter for quicktok."""

from __future__ import annotations

import warnings
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from pretok_bench.answers import Arrays
from pretok_bench.peer import Calls, CannotError, Message, Peer, in_one_line
from pretok_bench.peers.files import json_file
from pretok_bench.subject import Subject

BUNDLED = {"cl100k_base", "o200k_base", "o200k_harmony"}
"""The published vocabularies in the package, under the same names."""
IMPORTED = "imported"
"""The name of every imported vocabulary. Each imported vocabulary has its own folder."""


class Quicktok(Peer):
    """quicktok, from the distribution quicktok-v1.

    quicktok must import a vocabulary that is not BUNDLED from a tokenizer.json to a folder. This
    class imports each vocabulary once.
    """

    name = "quicktok-v1"
    module = "quicktok"
    sets_threads = False

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a new Tokenizer, bundled or imported from a tokenizer.json."""
        tokenizer = self._load(subject)
        # `encode_batch` returns arrays. To get lists, encode one text after the other.
        heeds_special = bool(subject.special_tokens)
        encode = tokenizer.encode_with_special if heeds_special else tokenizer.encode_ordinary

        def arrays(texts: list[str], threads: int) -> Arrays:
            ids, offsets = tokenizer.encode_batch(texts, threads, heeds_special)
            return ids, offsets

        return Calls(
            arrays=arrays,
            lists=lambda texts, threads: [encode(text) for text in texts],
            counts=lambda texts, threads: [tokenizer.count(text) for text in texts],
            text=tokenizer.decode,
            data=tokenizer.decode_bytes,
        )

    def message(self, subject: Subject) -> Message:
        """Return `encode`, which refuses special tokens as pretok does."""
        return Message(self._load(subject).encode)

    def _load(self, subject: Subject) -> Any:
        import quicktok

        if subject.published in BUNDLED:
            return quicktok.Tokenizer(subject.published, str(quicktok.__path__[0]) + "/data")
        folder = subject.folder / "quicktok"
        refusal = folder / "refusal"  # holds the error if the import failed
        if not folder.is_dir():
            folder.mkdir()
            try:
                with redirect_stdout(StringIO()), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # quicktok leaves files open (ResourceWarning)
                    quicktok.import_tokenizer(str(json_file(subject)), IMPORTED, str(folder))
            except Exception as error:
                refusal.write_text(str(error), encoding="utf-8")
        if refusal.exists():
            why = in_one_line(refusal.read_text(encoding="utf-8"))
            raise CannotError(f"it does not import this vocabulary: {why}")
        return quicktok.Tokenizer(IMPORTED, str(folder))

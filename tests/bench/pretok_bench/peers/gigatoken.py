"""Adapter for gigatoken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bpe.encoding.python_backend import concatenate_ids
from pretok_bench.answers import Arrays
from pretok_bench.peer import Calls, CannotError, Message, Peer, guarded
from pretok_bench.peers.files import model_file
from pretok_bench.subject import Subject

GIGATOKEN_SCHEMES = {
    "gpt2": "gpt2",
    "r50k": "r50k",
    "cl100k": "cl100k",
    "llama3": "cl100k",
    "qwen2": "qwen2",
    "o200k": "o200k",
}
"""The name of the split in gigatoken, by the name of the preset."""


class Gigatoken(Peer):
    """gigatoken: reads a rank file, a tokenizer.json or a .model of SentencePiece."""

    name = module = "gigatoken"

    def __init__(self) -> None:
        self._refused: set[Path] = set()  # the rank files that gigatoken fails to read

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a Tokenizer."""
        tokenizer = self._tokenizer(subject, subject.special_tokens)
        return Calls(
            array=tokenizer.encode,
            arrays=lambda texts, threads: tokenizer.encode_batch(texts, parallel=threads != 1),
            as_arrays=_of_awkward,
            lists=lambda texts, threads: tokenizer.encode_batch_list(texts, parallel=threads != 1),
            data=tokenizer.decode,
        )

    def files(
        self, subject: Subject, path: Path
    ) -> tuple[Callable[[int], Any], Callable[[Any], Arrays]]:
        """Return a call of `encode_files`, and a function that converts its result to Arrays.

        The argument of the call is the number of threads. A .txt file is one document; any other
        file has JSON lines.
        """
        import gigatoken

        is_text = path.suffix == ".txt"
        make = gigatoken.TextFileSource if is_text else gigatoken.JsonlFileSource
        source = make([str(path)])
        tokenizer = self._tokenizer(subject, subject.special_tokens)

        def call(threads: int) -> Any:
            return tokenizer.encode_files(source, parallel=threads != 1)

        return call, _of_awkward

    def message(self, subject: Subject) -> Message:
        """Return the calls that encode a message: both are `encode`, which returns an array."""
        tokenizer = self._tokenizer(subject, subject.tokenizer.special_tokens)
        return Message(tokenizer.encode, tokenizer.encode)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader of a .tiktoken file, a tokenizer.json or a .model of SentencePiece."""
        import gigatoken

        if path.endswith((".json", ".model")):

            def load() -> Callable[[str], Any]:
                tokenizer = gigatoken.Tokenizer(path)
                return lambda text: tokenizer.encode(text).tolist()

            return load
        scheme = self._scheme(subject)

        def load_ranks() -> Callable[[str], Any]:
            tokenizer = gigatoken.Tokenizer.from_tiktoken(path, scheme, {})
            return lambda text: tokenizer.encode(text).tolist()

        return load_ranks

    def _tokenizer(self, subject: Subject, special_tokens: dict[str, int]) -> Any:
        """Return a Tokenizer of the first file that gigatoken can read.

        The files are the rank file, the tokenizer.json and the .model of SentencePiece.
        """
        import gigatoken

        name = "" if subject.preset is None else subject.preset.name
        scheme = GIGATOKEN_SCHEMES.get(name)
        ranks = subject.rank_file
        if scheme and ranks and ranks not in self._refused and not subject.tokenizer.normalizer:
            try:
                with guarded(self.name):
                    return gigatoken.Tokenizer.from_tiktoken(ranks, scheme, special_tokens)
            except CannotError:
                # gigatoken panics if a rank file has a token that no merge makes. It accepts such a
                # token in a tokenizer.json.
                self._refused.add(ranks)
        return gigatoken.Tokenizer(subject.json_file or model_file(subject))

    def _scheme(self, subject: Subject) -> str:
        name = "" if subject.preset is None else subject.preset.name
        if name not in GIGATOKEN_SCHEMES:
            raise CannotError(
                f"it has no split of preset {name!r}" if name else "the tokenizer has no preset"
            )
        return GIGATOKEN_SCHEMES[name]


def _of_awkward(rows: Any) -> Arrays:
    """Convert an awkward.Array, with a row of ids for each text, to Arrays."""
    import awkward

    if not len(rows):
        return concatenate_ids([])
    counts: Sequence[int] = awkward.num(rows).to_list()
    flat = awkward.to_numpy(awkward.flatten(rows))
    # `concatenate_ids` gives `ids` and `offsets` their types. From empty rows it makes one offset
    # for each text and one more, all of them 0. The counts replace all offsets but the first.
    ids, offsets = concatenate_ids([[]] * len(counts))
    offsets[1:] = counts
    offsets = offsets.cumsum()
    return flat.astype(ids.dtype), offsets

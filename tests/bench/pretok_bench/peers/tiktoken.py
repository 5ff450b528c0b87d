"""Adapter for OpenAI's tiktoken."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.peers.files import pattern_of
from pretok_bench.subject import Subject
from pretok_bench.timing import core_count


class Tiktoken(Peer):
    """OpenAI's tiktoken: reads a rank file."""

    name = module = "tiktoken"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls; they allow special tokens if the subject has any."""
        encoding = _encoding(subject, subject.special_tokens)

        def lists(texts: list[str], threads: int) -> list[list[int]]:
            count = threads or core_count()
            rows: list[list[int]] = (
                encoding.encode_batch(texts, num_threads=count, allowed_special="all")
                if subject.special_tokens
                else encoding.encode_ordinary_batch(texts, num_threads=count)
            )
            return rows

        return Calls(
            lists=lists,
            text=encoding.decode,
            data=encoding.decode_bytes,
        )

    def message(self, subject: Subject) -> Message:
        """Return `encode`, which refuses special tokens as pretok does."""
        # `encode` searches the text for special tokens. Pass all of them, so that the measured time
        # includes this search.
        encoding = _encoding(subject, subject.tokenizer.special_tokens)
        return Message(encoding.encode)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader of a .tiktoken file: it reads the ranks and makes an Encoding."""
        _encoding(subject, {})  # raises CannotError if no .tiktoken file can hold the vocabulary
        if not path.endswith(".tiktoken"):
            raise CannotError("it reads only .tiktoken files")
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        pattern = pattern_of(subject)

        def load() -> Callable[[str], Any]:
            os.environ["TIKTOKEN_CACHE_DIR"] = ""  # read the file itself, not a cached copy
            ranks = load_tiktoken_bpe(path)
            encoding = tiktoken.Encoding(
                "pretok-bench", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
            )
            return lambda text: encoding.encode_ordinary(text)

        return load


def _encoding(subject: Subject, special_tokens: dict[str, int]) -> Any:
    import tiktoken

    if subject.rank_file is None:
        raise CannotError("no .tiktoken file can hold this vocabulary")
    return tiktoken.Encoding(
        "pretok-bench",
        pat_str=pattern_of(subject),
        mergeable_ranks=subject.ranks,
        special_tokens=special_tokens,
    )

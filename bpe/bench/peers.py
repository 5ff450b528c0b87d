"""Ours and the peers, each asked in the way that suits it best."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import bpe
from bpe.bench.answers import Arrays, flattened
from bpe.bench.peer import Calls, CannotError, Message, Peer, guarded
from bpe.bench.subject import Subject
from bpe.bench.timing import OURS, core_count
from pretok.preset import Preset

GIGATOKEN_SCHEMES = {
    "gpt2": "gpt2",
    "r50k": "r50k",
    "cl100k": "cl100k",
    "llama3": "cl100k",
    "qwen2": "qwen2",
    "o200k": "o200k",
}
"""What gigatoken calls the split of each preset."""


class Ours(Peer):
    """pretok itself."""

    name = OURS
    module = "pretok"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a new tokenizer."""
        tokenizer = subject.fresh()
        return Calls(
            array=tokenizer.encode_array,
            arrays=lambda texts, threads: tokenizer.encode_batch_array(
                texts, threads=threads or None
            ),
            lists=lambda texts, threads: tokenizer.encode_batch(texts, threads=threads or None),
            text=tokenizer.decode,
            data=tokenizer.decode_bytes,
        )

    def message(self, subject: Subject) -> Message:
        """Return encode and encode_array as they are."""
        return Message(subject.tokenizer.encode, subject.tokenizer.encode_array)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return what loads with bpe.load, and encodes with special tokens as text."""
        backend = subject.tokenizer.backend
        preset: Preset | str | None = subject.asked
        if path != subject.given and path.endswith(".tiktoken"):
            preset = subject.preset

        def load() -> Callable[[str], Any]:
            loaded = bpe.load(path, preset=preset, backend=backend)
            return lambda text: loaded.encode(text, "text")

        return load


class Tiktoken(Peer):
    """OpenAI's tiktoken."""

    name = module = "tiktoken"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls that heed no special tokens, where there are such."""
        encoding = _tiktoken_encoding(subject, {})
        return Calls(
            lists=lambda texts, threads: encoding.encode_ordinary_batch(
                texts, num_threads=threads or core_count()
            ),
            text=encoding.decode,
            data=encoding.decode_bytes,
        )

    def message(self, subject: Subject) -> Message:
        """Return encode, which refuses special tokens as ours does."""
        encoding = _tiktoken_encoding(subject, subject.tokenizer.special_tokens)
        return Message(encoding.encode)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return what reads a .tiktoken file as tiktoken's own constructors do."""
        _tiktoken_encoding(subject, {})
        if not path.endswith(".tiktoken"):
            raise CannotError("it reads only .tiktoken files")
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        assert subject.preset is not None
        pattern = subject.preset.pattern

        def load() -> Callable[[str], Any]:
            os.environ["TIKTOKEN_CACHE_DIR"] = ""  # from the file itself, and no copy of it
            ranks = load_tiktoken_bpe(path)
            encoding = tiktoken.Encoding(
                "pretok-bench", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
            )
            return lambda text: encoding.encode_ordinary(text)

        return load


def _tiktoken_encoding(subject: Subject, special_tokens: dict[str, int]) -> Any:
    import tiktoken

    if subject.rank_file is None:
        raise CannotError("no .tiktoken file can hold this vocabulary")
    if subject.preset is None or not subject.preset.pattern or subject.tokenizer.normalizer:
        raise CannotError("this vocabulary splits or normalizes otherwise than by a pattern")
    return tiktoken.Encoding(
        "pretok-bench",
        pat_str=subject.preset.pattern,
        mergeable_ranks=subject.ranks,
        special_tokens=special_tokens,
    )


class Tokenizers(Peer):
    """Hugging Face tokenizers."""

    name = module = "tokenizers"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a Tokenizer read from a tokenizer.json."""
        tokenizer = self._load(_json_file(subject))

        def lists(texts: list[str], threads: int) -> list[list[int]]:
            os.environ["TOKENIZERS_PARALLELISM"] = "false" if threads == 1 else "true"
            found = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
            return [one.ids for one in found]

        return Calls(
            lists=lists,
            text=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)),
        )

    def message(self, subject: Subject) -> Message:
        """Return encode, its ids taken out."""
        tokenizer = self._load(_json_file(subject))
        return Message(lambda text: tokenizer.encode(text, add_special_tokens=False).ids)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return what reads a tokenizer.json."""
        if not path.endswith(".json"):
            raise CannotError("it reads only tokenizer.json")

        def load() -> Callable[[str], Any]:
            tokenizer = self._load(path)
            return lambda text: tokenizer.encode(text, add_special_tokens=False).ids

        return load

    def _load(self, path: object) -> Any:
        import tokenizers

        return tokenizers.Tokenizer.from_file(str(path))


class Gigatoken(Peer):
    """gigatoken."""

    name = module = "gigatoken"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a Tokenizer read from a .tiktoken file, or a tokenizer.json."""
        tokenizer = self._tokenizer(subject, {})
        return Calls(
            array=tokenizer.encode,
            arrays=lambda texts, threads: tokenizer.encode_batch(texts, parallel=threads != 1),
            as_arrays=_of_awkward,
            lists=lambda texts, threads: tokenizer.encode_batch_list(texts, parallel=threads != 1),
            data=tokenizer.decode,
        )

    def message(self, subject: Subject) -> Message:
        """Return encode, which makes an array."""
        tokenizer = self._tokenizer(subject, subject.tokenizer.special_tokens)
        return Message(tokenizer.encode, tokenizer.encode)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return what reads a .tiktoken file or a tokenizer.json."""
        import gigatoken

        if path.endswith(".json"):

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
        import gigatoken

        if subject.rank_file is not None and not subject.tokenizer.normalizer:
            scheme = self._scheme(subject)
            return gigatoken.Tokenizer.from_tiktoken(subject.rank_file, scheme, special_tokens)
        return gigatoken.Tokenizer(_json_file(subject))

    def _scheme(self, subject: Subject) -> str:
        name = "" if subject.preset is None else subject.preset.name
        if name not in GIGATOKEN_SCHEMES:
            raise CannotError(f"it has no preset {name!r}")
        return GIGATOKEN_SCHEMES[name]


class BpeOpenai(Peer):
    """bpe-openai, which has the vocabularies of OpenAI built in, and each object only once."""

    name = "bpe-openai"
    module = "bpe_openai"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of the vocabulary of this name."""
        encoding = self._encoding(subject)
        return Calls(
            lists=lambda texts, threads: encoding.encode_ordinary_batch(
                texts, num_threads=threads or core_count()
            ),
            text=encoding.decode,
            data=encoding.decode_bytes,
            has_cold_start=False,
        )

    def message(self, subject: Subject) -> Message:
        """Return encode, which refuses special tokens as ours does."""
        return Message(self._encoding(subject).encode)

    def _encoding(self, subject: Subject) -> Any:
        import bpe_openai

        if subject.published not in bpe_openai.list_encoding_names():
            raise CannotError("it has only vocabularies of OpenAI")
        return bpe_openai.get_encoding(subject.published)


class ForTraining(Peer):
    """A peer that takes part in training alone."""

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("it encodes only with what it has trained itself")

    def message(self, subject: Subject) -> Message:
        """Raise CannotError."""
        raise CannotError("it encodes only with what it has trained itself")


class Rustbpe(ForTraining):
    """rustbpe, a trainer."""

    name = module = "rustbpe"


class Regex(ForTraining):
    """regex, which splits."""

    name = module = "regex"

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("it only splits")


class Sentencepiece(ForTraining):
    """sentencepiece: its models split and merge otherwise, so that no answers can be compared."""

    name = module = "sentencepiece"

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("its models split otherwise, so there is nothing equal to compare")


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Gigatoken(),
        Tiktoken(),
        Tokenizers(),
        BpeOpenai(),
        Rustbpe(),
        Regex(),
        Sentencepiece(),
    )
}


def installed(chosen: Iterable[str] = ()) -> tuple[list[Peer], dict[str, str]]:
    """Return those of the peers chosen (by default all) that are here, and which are missing."""
    peers = [PEERS[name] for name in list(chosen) or PEERS]
    missing = {peer.name: peer.missing() for peer in peers}
    present = [peer for peer in peers if not missing[peer.name]]
    return present, {name: why for name, why in missing.items() if why}


def able(
    subject: Subject,
    peers: Iterable[Peer],
    call: Callable[[Calls], object],
    what: str,
) -> tuple[dict[str, Callable[[], Calls]], dict[str, str]]:
    """Return what makes a new tokenizer of each contender, ours first, that has the `call`.

    Of the others returns why they cannot.
    """
    found: dict[str, Callable[[], Calls]] = {}
    absent: dict[str, str] = {}
    for peer in (Ours(), *peers):
        try:
            with guarded(peer.name):
                if call(peer.calls(subject)) is None:
                    raise CannotError(f"it has no call for {what}")
        except CannotError as error:
            absent[peer.name] = str(error)
        else:
            found[peer.name] = partial(peer.calls, subject)
    return found, absent


def versions() -> dict[str, str | None]:
    """Return the release of each peer, None for one that is not installed."""
    return {name: peer.version() for name, peer in PEERS.items()}


def _json_file(subject: Subject) -> Any:
    if subject.json_file is None:
        raise CannotError("no tokenizer.json can hold this vocabulary")
    return subject.json_file


def _of_awkward(found: Any) -> Arrays:
    import awkward

    if not len(found):
        return flattened([])
    counts: Sequence[int] = awkward.num(found).to_list()
    flat = awkward.to_numpy(awkward.flatten(found))
    ids, offsets = flattened([[]] * len(counts))
    offsets[1:] = counts
    offsets = offsets.cumsum()
    return flat.astype(ids.dtype), offsets

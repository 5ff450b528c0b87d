"""Training a vocabulary, with all cores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import bpe
from bpe.bench.answers import same_items
from bpe.bench.inputs import documents
from bpe.bench.peer import CannotError, Peer, guarded, quiet
from bpe.bench.split import GIGATOKEN_PRESET
from bpe.bench.timing import OURS, Result, Settings, Watcher, measure
from bpe.formats.byte_level import to_bytes
from pretok.machine.backend import BackendName
from pretok.preset import Preset

GROUP = "train"
LEAST_COMMON = 0.95
"""Which part of its tokens a peer must have in common with ours, if it breaks ties otherwise."""


class _Trainer(NamedTuple):
    """A trainer: what trains, and what takes the tokens out of what it made, in order."""

    train: Callable[[], Any]
    tokens: Callable[[Any], list[bytes]]
    is_exact: bool
    """Whether all tokens, in order, are to be ours."""


def bench_train(
    name: str,
    text: str,
    preset: Preset,
    vocab_size: int,
    backend: BackendName | None,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield the figures of training `vocab_size` ids on `text`, as one text and as documents.

    Each peer gets what it is made for: gigatoken one text, the others a list of documents. Results
    are compared first: all merges with those of Hugging Face; of trainers that merge equally
    frequent pairs in another order, how many tokens are ours, at least LEAST_COMMON.
    """
    chosen = {peer.name for peer in peers}
    texts = documents(text)
    for what, given, names in (
        ("one text", [text.encode()], ("gigatoken",)),
        ("documents", texts, ("tokenizers", "rustbpe")),
    ):
        trainers = {OURS: _ours(given, preset, vocab_size, backend)}
        absent: dict[str, str] = {}
        for peer in names:
            if peer not in chosen:
                continue
            try:
                trainers[peer] = TRAINERS[peer](given, preset, vocab_size)
            except CannotError as error:
                absent[peer] = str(error)
        with quiet():
            notes = _compare(f"{name}, preset {preset.name!r}", trainers, absent)
            todo = {peer: trainer.train for peer, trainer in trainers.items()}
            runs = measure(todo, settings, watch, pinned=False)
        work = dict.fromkeys(runs, 1.0)
        what = f"{vocab_size:,} ids, {what}"
        yield Result(GROUP, what, name, preset.name, "call", runs, work, absent, notes)


def _compare(where: str, trainers: dict[str, _Trainer], absent: dict[str, str]) -> dict[str, str]:
    """Raise WrongAnswerError if trainers disagree; return how far those agree that may differ.

    Those of them that agree too little are taken out of `trainers`, and put into `absent`.
    """
    notes: dict[str, str] = {}
    ours: list[bytes] = []
    for name, trainer in list(trainers.items()):
        try:
            with guarded(name):
                found = trainer.tokens(trainer.train())
        except CannotError as error:
            absent[name] = str(error)
            del trainers[name]
            continue
        if name == OURS:
            ours = found
        elif trainer.is_exact:
            same_items(where, "merged token", name, ours, found)
        else:
            common = len(set(ours) & set(found)) / max(len(set(ours)), len(set(found)), 1)
            if common >= LEAST_COMMON:
                notes[name] = f"{common:.2%} of the merged tokens are the same"
            else:
                absent[name] = (
                    f"only {common:.1%} of the merged tokens are the same, {len(found)} of it and "
                    f"{len(ours)} of ours; of text with fewer ties more would be"
                )
                del trainers[name]
    return notes


def _ours(
    texts: Sequence[str | bytes], preset: Preset, vocab_size: int, backend: BackendName | None
) -> _Trainer:
    return _Trainer(
        lambda: bpe.train(
            texts, vocab_size=vocab_size, preset=preset, progress=False, backend=backend
        ),
        lambda tokenizer: [left + right for left, right in tokenizer.merges],
        True,
    )


def _gigatoken(texts: Sequence[Any], preset: Preset, vocab_size: int) -> _Trainer:
    if preset.name != GIGATOKEN_PRESET:
        raise CannotError(f"it trains with the split of {GIGATOKEN_PRESET} only")
    import gigatoken

    return _Trainer(
        lambda: gigatoken.train_bpe(texts[0], vocab_size, []),
        lambda made: [left + right for left, right in made[1]],
        False,
    )


def _tokenizers(texts: Sequence[Any], preset: Preset, vocab_size: int) -> _Trainer:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(preset.pattern), "isolated")

    def train() -> Any:
        os.environ["TOKENIZERS_PARALLELISM"] = "true"
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        tokenizer.train_from_iterator(texts, trainer)
        return tokenizer

    return _Trainer(train, _merged, True)


def _merged(tokenizer: Any) -> list[bytes]:
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in merges]
    return [to_bytes(left + right) or (left + right).encode() for left, right in pairs]


def _rustbpe(texts: Sequence[Any], preset: Preset, vocab_size: int) -> _Trainer:
    import rustbpe

    def train() -> Any:
        tokenizer = rustbpe.Tokenizer()
        tokenizer.train_from_iterator(iter(texts), vocab_size, pattern=preset.pattern)
        return tokenizer

    return _Trainer(
        train,
        lambda made: [bytes(token) for token, rank in made.get_mergeable_ranks() if rank >= 256],
        False,
    )


TRAINERS = {"gigatoken": _gigatoken, "tokenizers": _tokenizers, "rustbpe": _rustbpe}

"""Measure training a vocabulary on all cores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import bpe
from bpe.byte_level import to_bytes
from pretok.machine.backend import BackendName
from pretok.preset import Preset
from pretok_bench.answers import same_items
from pretok_bench.inputs import documents
from pretok_bench.peer import CannotError, Peer, guarded, quiet
from pretok_bench.split import GIGATOKEN_PRESET
from pretok_bench.timing import OURS, Result, Settings, Watcher, measure

GROUP = "train"
MIN_COMMON = 0.95
"""The minimum share of equal tokens for a peer that orders equally frequent pairs differently."""


class _Trainer(NamedTuple):
    """The functions of a trainer: `tokens` extracts the merged tokens from the result of `train`.

    If `is_exact`, these tokens must equal the merged tokens of pretok, in the same order.
    """

    train: Callable[[], Any]
    tokens: Callable[[Any], list[bytes]]
    is_exact: bool


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
    """Yield the results of training `vocab_size` ids on `text`, as one text and as documents.

    Each peer gets its preferred input: gigatoken one text, all other peers a list of documents.
    The results are compared before the measurement. Hugging Face's tokenizers must make the same
    tokens as pretok. gigatoken and rustbpe merge equally frequent pairs in another order than
    pretok, so only a share of MIN_COMMON of their tokens must be equal.
    """
    chosen = {peer.name for peer in peers}
    texts = documents(text)
    for what, batch, names in (
        ("one text", [text.encode()], ("gigatoken",)),
        ("documents", texts, ("tokenizers", "rustbpe")),
    ):
        trainers = {OURS: _ours(batch, preset, vocab_size, backend)}
        absent: dict[str, str] = {}
        for peer in names:
            if peer not in chosen:
                continue
            try:
                with guarded(peer):
                    trainers[peer] = TRAINERS[peer](batch, preset, vocab_size)
            except CannotError as error:
                absent[peer] = str(error)
        with quiet():
            notes = _compare(f"{name}, preset {preset.name!r}", trainers, absent)
            calls = {peer: trainer.train for peer, trainer in trainers.items()}
            runs = measure(calls, settings, watch, pinned=False)
        work = dict.fromkeys(runs, 1.0)
        what = f"{vocab_size:,} ids, {what}"
        yield Result(GROUP, what, name, preset.name, "call", runs, work, absent, notes)


def _compare(where: str, trainers: dict[str, _Trainer], absent: dict[str, str]) -> dict[str, str]:
    """Compare the tokens of all trainers; return the share of equal tokens of inexact trainers.

    A trainer is exact if its `is_exact` is True. Moves a trainer that fails, or an inexact trainer
    with too few equal tokens, from `trainers` to `absent`. Raises WrongAnswerError if the tokens of
    an exact trainer differ from the tokens of pretok.
    """
    notes: dict[str, str] = {}
    ours: list[bytes] = []
    for name, trainer in list(trainers.items()):
        try:
            with guarded(name):
                tokens = trainer.tokens(trainer.train())
        except CannotError as error:
            absent[name] = str(error)
            del trainers[name]
            continue
        if name == OURS:
            ours = tokens
        elif trainer.is_exact:
            same_items(where, "merged token", name, ours, tokens)
        else:
            common = len(set(ours) & set(tokens)) / max(len(set(ours)), len(set(tokens)), 1)
            if common >= MIN_COMMON:
                notes[name] = f"{common:.2%} of the merged tokens are equal"
            else:
                absent[name] = (
                    f"only {common:.1%} of the merged tokens are equal ({len(tokens)} of the peer, "
                    f"{len(ours)} of pretok); a longer text has fewer ties"
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
        lambda result: [left + right for left, right in result[1]],
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
    """Return the merged tokens of a tokenizers.Tokenizer, in the order of the merges."""
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
        _rustbpe_tokens,
        False,
    )


def _rustbpe_tokens(tokenizer: Any) -> list[bytes]:
    """Return all tokens except the 256 bytes, which have the first ranks."""
    return [bytes(token) for token, rank in tokenizer.get_mergeable_ranks() if rank >= 256]


TRAINERS = {"gigatoken": _gigatoken, "tokenizers": _tokenizers, "rustbpe": _rustbpe}
"""The functions that make the trainers of peers, from texts, a preset and a number of ids."""

"""Define Search, which encodes many texts to find one for each token."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from bpe.encoding.utf8 import encode_utf8
from bpe.tokenizer import Tokenizer
from pretok.charsets.classified_text import Classifier
from pretok.machine.program import compile_rules
from pretok.pre_tokenizer import PreTokenizer
from pretok.rules import CasedWord, Contraction, Literal

BATCH = 1 << 15
"""The number of texts to encode at once."""
MAX_IN_CONTEXTS = 1 << 17
"""The number of texts after which a search in contexts stops."""

_COMMON = ["a", "A", "1", ".", "'", "あ", "é", "\n", "\r", "\t", " "]
"""Characters that most pre-tokenizers tell apart."""


class Search:
    """Keeps the first text that becomes each token of `wanted`."""

    def __init__(self, tokenizer: Tokenizer, wanted: Iterable[int]) -> None:
        self.tokenizer = tokenizer
        self.left = set(wanted)
        self.witnesses: dict[int, str | bytes] = {}
        self.alone: set[int] = set()
        """The tokens whose witness has only this id."""
        self._missing = tokenizer.vocabulary.missing_bytes

    def add(self, texts: Sequence[str | bytes]) -> None:
        """Encode `texts`, and keep those that become tokens without a witness."""
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            if self._missing:
                batch = [text for text in batch if self._is_encodable(text)]
            if batch and self.left:
                self._add_batch(batch)

    def _is_encodable(self, text: str | bytes) -> bool:
        return not any(byte in self._missing for byte in encode_utf8(text))

    def _add_batch(self, texts: Sequence[str | bytes]) -> None:
        ids, offsets = self.tokenizer.encode_batch_array(list(texts), "allow")
        sizes = np.diff(offsets)
        single = np.flatnonzero(sizes == 1)
        places = offsets[single]
        for rows, kept, is_alone in ((single, ids[places], True), (None, ids, False)):
            found, first = np.unique(kept, return_index=True)
            where = np.searchsorted(offsets, first, "right") - 1 if rows is None else rows[first]
            for id, row in zip(found.tolist(), where.tolist(), strict=True):
                if id in self.left:
                    self.left.discard(id)
                    self.witnesses[id] = texts[row]
                    if is_alone:
                        self.alone.add(id)

    def add_in_contexts(
        self, parts: Mapping[int, Sequence[str]], contexts: Iterable[tuple[str, str]]
    ) -> None:
        """Encode the texts of each token that is left, in each context (before, after).

        Stops after MAX_IN_CONTEXTS texts.
        """
        done = 0
        batch: list[str] = []
        for before, after in contexts:
            batch += [
                before + text + after for id in parts if id in self.left for text in parts[id]
            ]
            if len(batch) >= BATCH:
                self.add(batch)
                done += len(batch)
                batch = []
            if done >= MAX_IN_CONTEXTS:
                return
        self.add(batch)


def context_pairs(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """Return pairs (text before, text after), the simplest ones first."""
    texts = neighbors(tokenizer)
    one_side = [pair for text in texts for pair in ((text, ""), ("", text))]
    return one_side + [(before, after) for before in texts for after in texts]


def neighbors(tokenizer: Tokenizer) -> list[str]:
    """Return characters of each class that the pre-tokenizer tells apart, and endings of words."""
    pre_tokenizer = tokenizer.pre_tokenizer
    texts: list[str] = list(_COMMON)
    if isinstance(pre_tokenizer, PreTokenizer):
        for stage in pre_tokenizer.preset.stages:
            alphabet = compile_rules(stage.rules).alphabet
            classes = Classifier(alphabet, pre_tokenizer.unicode).classes
            for class_ in range(alphabet.size):
                texts += _examples(np.flatnonzero(classes == class_))
            for rule in stage.rules:
                texts += _endings(rule)
    return list(dict.fromkeys(texts))


def _examples(points: Collection[int]) -> list[str]:
    """Return some characters of a class, given its code points in ascending order."""
    array = np.asarray(points)
    array = array[(array < 0xD800) | (array >= 0xE000)]
    ascii_, other = array[array < 128], array[array >= 128]
    visible = ascii_[ascii_ > 32]
    ascii_ = visible if len(visible) else ascii_
    return [chr(point) for point in (*ascii_[:3], *ascii_[-2:], *other[:2])]


def _endings(rule: object) -> list[str]:
    """Return the rest of each text of a rule after each of its characters, in both cases."""
    if isinstance(rule, CasedWord):
        return [] if rule.suffix is None else _endings(rule.suffix)
    texts: Sequence[str] = ()
    if isinstance(rule, Contraction):
        texts = [f"'{suffix}" for suffix in rule.suffixes]
        texts = [*texts, *map(str.upper, texts)] if rule.ignore_case else texts
    elif isinstance(rule, Literal):
        texts = [text for text in rule.texts if len(text) <= 8]
    return [text[at:] for text in texts for at in range(len(text))]

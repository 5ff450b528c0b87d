"""Compare with tiktoken, whose ids show its split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np

from pretok.charsets.classified_text import Classifier
from pretok.fuzz.engines.base import ComparedSplits, FuzzEngine, compared
from pretok.machine.program import compile_rules
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset


class TiktokenEngine(FuzzEngine):
    """tiktoken, with every substring of the texts as a token. So each pre-token has one id."""

    name = _module_name = "tiktoken"
    _reads_like = ("tiktoken",)
    longest = 24
    surrogates = False

    def unsupported_reason(self, preset: Preset) -> str:
        """Return why the engine cannot express the pattern of `preset`, or "" if it can."""
        reason = super().unsupported_reason(preset)
        if not reason and (len(preset.stages) > 1 or preset.stages[0].behavior != "isolated"):
            return "tiktoken supports only presets of one stage with the behavior isolated"
        if not reason and preset.engine != "tiktoken" and _leaves_gaps(preset):
            return "tiktoken drops unmatched text"
        return reason

    def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
        """Return comparisons of `tokenizer` with the engine; the first one compares `split`."""
        preset, pattern = tokenizer.preset, tokenizer.preset.pattern

        def split_all(texts: Sequence[str]) -> list[list[str]]:
            encode = self.encoder(pattern, substrings(texts))
            return [[shown(token) for token in encode(text)] for text in texts]

        self._compile(preset, lambda pattern: self.encoder(pattern, ()), pattern)
        return [compared(tokenizer, split_all)]

    def encoder(self, pattern: str, texts: Iterable[str]) -> Callable[[str], list[bytes]]:
        """Return a function that returns tiktoken's tokens of a text.

        The vocabulary has all bytes and all `texts`, so each pre-token in `texts` is one token.
        """
        tokens = sorted({bytes([b]) for b in range(256)} | {text.encode() for text in texts})
        ranks = {token: rank for rank, token in enumerate(tokens)}
        encoding = self.module.Encoding(
            "pretok-fuzz", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )
        return lambda text: [tokens[id] for id in encoding.encode_ordinary(text)]


def shown(token: bytes) -> str:
    """Return the text of a token, which may be a part of a character."""
    return token.decode("utf-8", "backslashreplace")


def substrings(texts: Iterable[str]) -> set[str]:
    """Return all texts of one code point or more that are in one of `texts`."""
    found: set[str] = set()
    for text in texts:
        if text[1:] in found and text[:-1] in found:  # as in a list of all short texts
            found.add(text)
        else:
            found.update(text[a:b] for a in range(len(text)) for b in range(a + 1, len(text) + 1))
    return found


@cache
def _leaves_gaps(preset: Preset) -> bool:
    """Return whether some text of one code point is matched by no rule."""
    tokenizer = PreTokenizer(preset)
    classes = Classifier(compile_rules(preset.rules).alphabet, tokenizer.unicode).classes
    code_points = np.unique(classes, return_index=True)[1].tolist()
    return any(step.rule is None for point in code_points for step in tokenizer.explain(chr(point)))

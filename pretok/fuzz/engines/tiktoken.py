"""Compare with tiktoken, whose ids show its split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

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
        pattern = tokenizer.preset.pattern

        def encoding(pattern: str, vocabulary: dict[bytes, int]) -> Any:
            return self.module.Encoding(
                "pretok-fuzz", pat_str=pattern, mergeable_ranks=vocabulary, special_tokens={}
            )

        def split_all(texts: Sequence[str]) -> list[list[str]]:
            tokens = {bytes([byte]) for byte in range(256)}
            for text in texts:
                data = text.encode()
                cuts = [0]
                for char in text:
                    cuts.append(cuts[-1] + len(char.encode()))
                tokens.update(data[a:b] for i, a in enumerate(cuts) for b in cuts[i + 1 :])
            ordered = sorted(tokens)
            shown = [token.decode("utf-8", "backslashreplace") for token in ordered]
            encode = encoding(pattern, {token: i for i, token in enumerate(ordered)})
            return [[shown[i] for i in encode.encode_ordinary(text)] for text in texts]

        preset = tokenizer.preset
        byte_tokens = {bytes([byte]): byte for byte in range(256)}
        self._compile(preset, lambda pattern: encoding(pattern, byte_tokens), pattern)
        return [compared(tokenizer, split_all)]


@cache
def _leaves_gaps(preset: Preset) -> bool:
    """Return whether some text of one code point is matched by no rule."""
    tokenizer = PreTokenizer(preset)
    classes = Classifier(compile_rules(preset.rules).alphabet, tokenizer.unicode).classes
    code_points = np.unique(classes, return_index=True)[1].tolist()
    return any(step.rule is None for point in code_points for step in tokenizer.explain(chr(point)))

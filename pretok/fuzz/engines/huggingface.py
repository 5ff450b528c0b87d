"""Compare with `tokenizers`, the library of Hugging Face."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from pretok.formats.huggingface import stage_block
from pretok.fuzz.engines.base import Ask, ComparedSplits, EngineError, FuzzEngine, compared
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.presets import GPT2
from pretok.stage import Stage


class HuggingFaceEngine(FuzzEngine):
    """Splits each stage by a pre_tokenizer of `tokenizers`, and GPT-2 also by `ByteLevel`."""

    name = "hf"
    _module_name = "tokenizers"
    _reads_like = ("hf",)
    surrogates = False

    def _load(self) -> Any:
        module = super()._load()
        if not hasattr(module, "pre_tokenizers"):
            raise EngineError(
                f"comparing with hf needs the module tokenizers.pre_tokenizers, which tokenizers "
                f"{module.__version__} lacks; run `pip install 'tokenizers<1'`"
            )
        return module

    def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
        """Return comparisons of `tokenizer` with the engine; the first one compares `split`."""
        preset, library = tokenizer.preset, self.module.pre_tokenizers
        # Pass the patterns as published: the comparison also tests how the engine reads them.
        stages = [
            self._compile(preset, partial(self._stage, stage), stage.pattern)
            for stage in preset.stages
        ]
        sequence = library.Sequence(stages)
        comparisons = [compared(tokenizer, _by_offsets(sequence))]
        if preset.pattern == GPT2.pattern:
            byte_level = library.ByteLevel(add_prefix_space=False, use_regex=True)
            comparisons.append(compared(tokenizer, _by_offsets(byte_level), "split (ByteLevel)"))
        return comparisons

    def _unsupported_stage_reason(self, preset: Preset, stage: Stage) -> str:
        return "" if stage.huggingface else super()._unsupported_stage_reason(preset, stage)

    def _stage(self, stage: Stage, pattern: str) -> Any:
        return self.pre_tokenizer(stage_block(stage, pattern))

    def pre_tokenizer(self, definition: object) -> Any:
        """Return the library's object for `definition`, the JSON object of a pre_tokenizer."""
        model = {"type": "BPE", "vocab": {}, "merges": []}
        file = {"version": "1.0", "model": model, "pre_tokenizer": definition}
        return self.module.Tokenizer.from_str(json.dumps(file)).pre_tokenizer


def _by_offsets(pre_tokenizer: Any) -> Ask:
    def split(text: str) -> list[str]:
        spans = (span for _, span in pre_tokenizer.pre_tokenize_str(text))
        return [text[start:end] for start, end in spans]

    return lambda texts: [split(text) for text in texts]

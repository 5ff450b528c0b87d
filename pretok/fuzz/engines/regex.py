"""Compare with the Python package `regex`."""

from __future__ import annotations

from collections.abc import Callable

from pretok.behaviors import apply_behavior
from pretok.fuzz.dialect import CLASS_ALGEBRA, constructs, with_text_anchors
from pretok.fuzz.engines.base import ComparedSplits, FuzzEngine, compared
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.stage import Stage


class RegexEngine(FuzzEngine):
    """The Python package `regex`; unmatched text is kept, as in pretok."""

    name = _module_name = "regex"
    _reads_like = ("tiktoken",)

    def _unsupported_stage_reason(self, preset: Preset, stage: Stage) -> str:
        return super()._unsupported_stage_reason(preset, stage) or "".join(
            f"regex reads its pattern differently: {name}"
            for name in sorted(constructs(stage.pattern) & CLASS_ALGEBRA)[:1]
        )

    def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
        """Return comparisons of `tokenizer` with the engine; the first one compares `split`."""
        splits = [
            self._splitter(tokenizer.preset, stage, with_text_anchors(stage.pattern))
            for stage in tokenizer.preset.stages
        ]

        def split(text: str) -> list[str]:
            pieces = [text] if text else []
            for cut in splits:
                pieces = [part for piece in pieces for part in cut(piece)]
            return pieces

        return [compared(tokenizer, lambda texts: [split(text) for text in texts])]

    def _splitter(self, preset: Preset, stage: Stage, pattern: str) -> Callable[[str], list[str]]:
        compiled = self._compile(preset, self.module.compile, pattern)

        def split(text: str) -> list[str]:
            # findall is faster, but gives no spans. So its result is used only if the matches are
            # not empty and cover the text.
            if not compiled.groups and stage.behavior == "isolated":
                matches: list[str] = compiled.findall(text)
                if sum(map(len, matches)) == len(text) and "" not in matches:
                    return matches
            spans, end = [], 0
            for match in compiled.finditer(text):
                spans += [(end, match.start(), False), (*match.span(), True)]
                end = match.end()
            spans.append((end, len(text), False))
            # Drop empty spans between matches. A part is either a match or text that is not empty.
            parts = (span for span in spans if span[2] or span[0] < span[1])
            kept = apply_behavior(parts, stage.behavior, stage.invert)
            return [text[start:end] for start, end, _ in kept]

        return split

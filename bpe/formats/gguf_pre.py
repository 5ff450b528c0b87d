"""Choose the value of tokenizer.ggml.pre that names the split of a tokenizer."""

from __future__ import annotations

from itertools import zip_longest

from bpe.errors import UnsupportedError
from bpe.formats.gguf import GEMMA, IGNORE_MERGES, LSTRIP, NOT_BYTE_LEVEL
from pretok.errors import UnknownPresetError
from pretok.patterns.lookup import same_split
from pretok.preset import Preset
from pretok.registry import find
from pretok.rules import ALL_BUT_LAST, END_OF_TEXT, Spaces
from pretok.stage import Stage

LLAMA_CPP = (
    "a.x-4.0", "afmoe", "bailingmoe", "bailingmoe2", "bloom", "chameleon", "chatglm-bpe",
    "codeshell", "cohere2moe", "command-r", "dbrx", "deepseek-coder", "deepseek-llm",
    "deepseek-r1-qwen", "deepseek-v3", "default", "exaone", "exaone-moe", "exaone4", "f2llmv2",
    "falcon", "falcon-h1", "falcon3", "gemma4", "gigachat", "glm4", "glm5", "gpt-2", "gpt-4o",
    "gpt3-finnish", "granite-docling", "granite-embed-multi-311m", "granite-embed-multi-97m",
    "grok-2", "hunyuan", "hunyuan-dense", "hy_v4", "jais", "jais-2", "jina-de", "jina-es",
    "jina-v1-en", "jina-v2-code", "jina-v2-de", "jina-v2-es", "jina-v5-nano", "joyai-llm",
    "kanana2", "kimi-k2", "kormo", "laguna", "lfm2", "llada-moe", "llama-bpe", "llama-v3",
    "llama3", "llama4", "megrez", "mellum", "mellum2", "midm-2.0", "minerva-7b", "minicpm5",
    "minimax-m2", "modern-bert", "mpt", "olmo", "phi-2", "pixtral", "poro-chat", "qwen2",
    "qwen35", "refact", "roberta-bpe", "sarvam-moe", "seed-coder", "smaug-bpe", "smollm",
    "solar-open", "spark2_5", "stablelm2", "starcoder", "superbpe", "talkie", "tekken",
    "tiny_aya", "trillion", "ufakzeka", "viking", "whitespace", "youtu",
)  # fmt: skip
"""The values that llama.cpp knows (src/llama-vocab.cpp, commit 0c1e57098)."""


_WORDS = "it splits words before combining marks, and not at a change of case outside ASCII"
_CASE = "it does not split words at a change of case"
DIFFERENCES = {
    "deepseek-llm": ("92", "it keeps a run of digits whole"),
    "gpt-4o": ("\u093f's", _WORDS),
    "kimi-k2": ("McC", f"{_CASE}, and splits them before combining marks"),
    "tekken": ("\u093f's", _WORDS),
    "tiny_aya": ("514\xbd", f"{_CASE}, and it groups digits before a number that is no digit"),
    "youtu": ("McC", _CASE),
}
"""How llama.cpp splits text otherwise than the original tokenizer, by value; with a text."""


def difference_from_llama_cpp(preset: Preset | None) -> str:
    """Return how llama.cpp itself splits text otherwise than `preset`, if it does, else ""."""
    for name, (text, difference) in DIFFERENCES.items():
        if find(name) == preset:
            return (
                f"llama.cpp itself gives other ids to texts such as {text!r}: with "
                f"tokenizer.ggml.pre {name!r}, {difference}"
            )
    return ""


def pre_for(preset: Preset | None, ignores_merges: bool) -> str:
    """Return the value of tokenizer.ggml.pre for a byte-level tokenizer.

    Of the values with the split of `preset`, prefer one for which llama.cpp looks up whole
    pre-tokens if `ignores_merges`, and one that does not otherwise. Then prefer the first name of
    the preset. Raises UnsupportedError if llama.cpp has no value for this split.
    """
    if preset is None:
        raise UnsupportedError(
            "a GGUF file names its split, and this tokenizer has a custom pre-tokenizer; expected "
            "a preset"
        )
    names = [name for name in LLAMA_CPP if _splits_like(name, preset)]
    if not names:
        raise UnsupportedError(
            f"llama.cpp has no pre-tokenizer that splits like preset {preset.name!r}; "
            f"tokenizer.ggml.pre can be one of {', '.join(LLAMA_CPP)}"
        )

    def order(name: str) -> tuple[bool, bool, int]:
        known = find(name)
        place = (known.name, *known.aliases).index(name)
        return (name in IGNORE_MERGES) != ignores_merges, known != preset, place

    return min(names, key=order)


def _splits_like(name: str, preset: Preset) -> bool:
    if name in NOT_BYTE_LEVEL | GEMMA or name in LSTRIP:
        return False
    try:
        known = find(name)
    except UnknownPresetError:
        return False
    return split_alike(known, preset)


def split_alike(preset: Preset, other: Preset) -> bool:
    """Return whether two presets are known to split every text alike."""
    return preset == other or (
        preset.unicode == other.unicode and _canonical(preset) == _canonical(other)
    )


def _canonical(preset: Preset) -> Preset | tuple[Stage, ...]:
    """Return the first preset that splits like `preset`, or the stages if no preset has them."""
    stages = tuple(map(_without_end_of_text, preset.stages))
    return same_split(stages) or stages


def _without_end_of_text(stage: Stage) -> Stage:
    r"""Return a stage that splits alike without a redundant rule.

    At the end of a text, `\s+(?!\S)` matches the whole run of spaces. So the alternative `\s+$`
    changes nothing if it comes immediately before, as in the pattern of r50k.
    """
    rules = tuple(
        rule
        for rule, following in zip_longest(stage.rules, stage.rules[1:])
        if (rule, following) != (Spaces(through=END_OF_TEXT), Spaces(through=ALL_BUT_LAST))
    )
    if len(rules) == len(stage.rules):
        return stage
    return Stage(rules, stage.pattern, stage.behavior, stage.invert)

"""Find or compile the pre-tokenizer of a published pattern or of a GGUF name."""

from __future__ import annotations

from pretok.errors import quoted, shortened
from pretok.machine.backend import BackendName
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError, compile_stage, name_of
from pretok.patterns.differences import unknown_pattern
from pretok.patterns.lookup import PATTERN_BEHAVIORS, find
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import ENGINES, Engine, Preset
from pretok.registry import find as find_preset


def from_pattern(
    pattern: str,
    engine: Engine = "hf",
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    r"""Return the pre-tokenizer that splits as `engine` does with `pattern`.

    `engine` is "hf" (Hugging Face tokenizers, Oniguruma) or "tiktoken" (fancy-regex); the two
    engines match some patterns differently. If a preset is known to have the same split, the result
    has this preset. Otherwise the pattern is compiled to the rules of a new preset. `unicode` and
    `backend` are as in `pretok.get`.

    Raises UnknownPatternError if no preset and no rules have exactly the same split. The error has
    the construct that does not compile, its position, the reason, and the nearest known pattern. A
    pattern of more than 8,192 characters raises this error, unless it is the pattern of a preset.
    Raises ValueError for an unknown engine.

    >>> from_pattern(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1}"
    ...              r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+").preset.name
    'qwen2'
    >>> from_pattern(r"\p{L}+|\d+|.").split("ab12 c")
    ['ab', '12', ' ', 'c']
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={shortened(engine)}; expected one of {quoted(ENGINES)}")
    if not isinstance(pattern, str):
        raise TypeError(f"expected a pattern as str, got {type(pattern).__name__}")
    preset = find(pattern, engine) or _compiled(pattern, engine)
    if preset is None:
        raise unknown_pattern(pattern, engine)
    return PreTokenizer(preset, unicode, backend)


def _compiled(pattern: str, engine: Engine) -> Preset | None:
    """Return the preset with the rules of `pattern`; None if `pattern` does not compile."""
    try:
        stage = compile_stage(pattern, engine, *PATTERN_BEHAVIORS[engine])
    except (NotCompiledError, UnreadablePatternError):
        return None
    name = name_of(pattern, engine)
    return Preset(name, stages=[stage], engine=engine, source="compiled from its pattern")


def from_gguf_pre(
    name: str,
    variant: str | None = None,
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    """Return the pre-tokenizer that a GGUF file names as `tokenizer.ggml.pre`.

    The pre-tokenizer splits as the original tokenizer of the model does. If llama.cpp splits
    differently, variant="llama.cpp" selects the split of llama.cpp. `unicode` and `backend` are as
    in `pretok.get`. Raises UnknownPresetError, which lists similar names, if no preset has the
    name, or if it has no such variant.

    >>> from_gguf_pre("llama-bpe").preset.name
    'llama3'
    """
    preset = find_preset(name)
    if variant is not None and not isinstance(variant, str):
        raise TypeError(f"expected a variant as str, got {type(variant).__name__}")
    if variant is not None:
        preset = find_preset(f"{preset.name}@{variant}")
    return PreTokenizer(preset, unicode, backend)

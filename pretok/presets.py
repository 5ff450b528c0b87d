r"""Every preset as data: the one file to touch for a new one.

A preset mirrors its published pattern, alternative by alternative. The patterns are for people and
for tests; nothing compiles them at run time. After a change here run
`python -m pretok.generate`, which hands the presets to C++.
"""

from __future__ import annotations

from pretok.classes import (
    CASELESS,
    LETTER,
    LOWER,
    MARK,
    NEWLINE,
    NUMBER,
    OTHER,
    SPACE,
    UPPER,
    code_points,
)
from pretok.preset import Preset
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Run,
    Spaces,
)


def _names(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_ENGLISH = ("s", "t", "re", "ve", "m", "ll", "d")
_NOT_NEWLINE_LETTER_NUMBER = ~(NEWLINE | LETTER | NUMBER)

GPT2 = Preset(
    name="gpt2",
    aliases=_names(
        "gpt-2 distilgpt2 gpt-neo gpt-neox gpt-j opt roberta whisper phi-2 pythia olmo "
        "mpt modern-bert"
    ),
    engine="hf",
    source="openai/gpt-2, encoder.py; the same in tokenizers' ByteLevel",
    pattern=r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    rules=(
        Contraction(*_ENGLISH),
        Run(LETTER, lead=SPACE),
        Run(NUMBER, lead=SPACE),
        Run(OTHER, lead=SPACE),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

R50K = Preset(
    name="r50k",
    aliases=_names("r50k_base p50k p50k_base p50k_edit"),
    engine="tiktoken",
    source="tiktoken 0.14.0, openai_public.py, r50k_pat_str",
    pattern=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    rules=(
        Contraction("s", "d", "m", "t", "ll", "ve", "re"),
        Run(LETTER, lead=SPACE),
        Run(NUMBER, lead=SPACE),
        Run(OTHER, lead=SPACE),
        Spaces(through=END_OF_TEXT),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

CL100K = Preset(
    name="cl100k",
    aliases=_names(
        "cl100k_base gpt-4 gpt-3.5-turbo text-embedding-ada-002 text-embedding-3-small "
        "text-embedding-3-large"
    ),
    engine="tiktoken",
    source="tiktoken 0.14.0, openai_public.py, cl100k_base",
    pattern=(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    rules=(
        Contraction("s", "d", "m", "t", "ll", "ve", "re", ignore_case=True),
        Run(LETTER, lead=_NOT_NEWLINE_LETTER_NUMBER),
        Run(NUMBER, at_most=3),
        Run(OTHER, lead=SPACE, tail=NEWLINE),
        Spaces(through=END_OF_TEXT),
        Spaces(through=LAST_NEWLINE),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

LLAMA3 = Preset(
    name="llama3",
    aliases=_names(
        "llama-3 llama3.1 llama3.2 llama3.3 llama-bpe llama-v3 cl100k-hf olmo3 dbrx "
        "smaug-bpe glm4 chatglm-bpe falcon3"
    ),
    engine="hf",
    source="Meta Llama 3 tokenizer.json; cl100k_base as converted to Hugging Face files",
    pattern=(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    rules=(
        Contraction(*_ENGLISH, ignore_case=True),
        Run(LETTER, lead=_NOT_NEWLINE_LETTER_NUMBER),
        Run(NUMBER, at_most=3),
        Run(OTHER, lead=SPACE, tail=NEWLINE),
        Spaces(through=LAST_NEWLINE),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

QWEN2 = Preset(
    name="qwen2",
    aliases=_names("qwen qwen2.5 qwen3 stablelm2 deepseek-r1-qwen grok-2"),
    engine="hf",
    source="Qwen2 tokenizer.json",
    pattern=(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    rules=(
        Contraction(*_ENGLISH, ignore_case=True),
        Run(LETTER, lead=_NOT_NEWLINE_LETTER_NUMBER),
        Run(NUMBER, at_most=1),
        Run(OTHER, lead=SPACE, tail=NEWLINE),
        Spaces(through=LAST_NEWLINE),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

O200K = Preset(
    name="o200k",
    aliases=_names("o200k_base o200k_harmony gpt-4o gpt-4.1 gpt-5 o1 o3 gpt-oss llama4"),
    engine="tiktoken",
    source="tiktoken 0.14.0, openai_public.py, o200k_base; the same in Hugging Face files",
    pattern=(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    rules=(
        CasedWord(
            upper=UPPER | CASELESS | MARK,
            lower=LOWER | CASELESS | MARK,
            lead=_NOT_NEWLINE_LETTER_NUMBER,
            suffix=Contraction(*_ENGLISH, ignore_case=True),
        ),
        Run(NUMBER, at_most=3),
        # [\r\n/]* begins at a line break, for the run before it has taken every slash.
        Run(OTHER, lead=SPACE, tail=NEWLINE | code_points("/")),
        Spaces(through=LAST_NEWLINE),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

BUILT_IN = (GPT2, R50K, CL100K, LLAMA3, QWEN2, O200K)

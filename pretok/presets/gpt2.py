"""The GPT-2 family: presets that are, vary or contain the split of GPT-2.

In the split of GPT-2, a word includes the space before it, and no rule is only for line breaks.
"""

from __future__ import annotations

from pretok.charsets.sets import (
    HF_NUMBER,
    HF_PUNCTUATION,
    LETTER,
    NUMBER,
    OTHER,
    PUNCTUATION,
    SPACE,
    code_points,
)
from pretok.preset import Preset
from pretok.presets.common import (
    ASCII_SIGNS,
    EACH_NUMBER,
    ENGLISH,
    LLAMA_CPP,
    SHORT_ENGLISH,
    block,
    names,
    stage,
    unchecked,
)
from pretok.rules import ALL, ALL_BUT_LAST, END_OF_TEXT, Contraction, Enclosed, Literal, Run, Spaces
from pretok.stage import Stage

GPT2 = Preset(
    name="gpt2",
    aliases=names(
        "gpt-2 distilgpt2 gpt-neo gpt-neox gpt-j opt roberta roberta-bpe whisper phi-2 pythia olmo "
        "mpt modern-bert jais trillion granite-docling gigachat a.x-4.0 mellum exaone4 jina-es "
        "jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code minbpe-gpt2"
    ),
    engine="hf",
    source="openai/gpt-2, encoder.py; the same in tokenizers' ByteLevel",
    pattern=r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    rules=(
        Contraction(*ENGLISH),
        Run(LETTER, lead=SPACE),
        Run(NUMBER, lead=SPACE),
        Run(OTHER, lead=SPACE),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

R50K = Preset(
    name="r50k",
    aliases=names("r50k_base p50k p50k_base p50k_edit"),
    engine="tiktoken",
    source="tiktoken 0.14.0, openai_public.py, r50k_pat_str",
    pattern=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    rules=(
        Contraction(*SHORT_ENGLISH),
        Run(LETTER, lead=SPACE),
        Run(NUMBER, lead=SPACE),
        Run(OTHER, lead=SPACE),
        Spaces(through=END_OF_TEXT),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)

EACH_DIGIT = block({"type": "Digits", "individual_digits": True}, Run(HF_NUMBER, at_most=1))
THREE_DIGITS = stage("[0-9][0-9][0-9]", Run(code_points("0-9"), at_least=3, at_most=3))

STARCODER = Preset(
    name="starcoder",
    aliases=names("refact command-r smollm codeshell exaone minerva-7b mellum2"),
    engine="hf",
    source="StarCoder tokenizer.json: Digits with individual digits, then ByteLevel",
    stages=(EACH_DIGIT, GPT2.stages[0]),
)

FALCON = Preset(
    name="falcon",
    engine="hf",
    source=(
        "Falcon tokenizer.json, as quoted in ggml-org/llama.cpp#3502; its Digits runs after "
        "ByteLevel, so it also isolates the bytes B2, B3, B9 and BC to BE, even within a "
        "character; this preset does not, which changes no ids of Falcon's vocabulary"
    ),
    exactness="approximate",
    stages=(
        block({"type": "Punctuation", "behavior": "Contiguous"}, Run(HF_PUNCTUATION)),
        GPT2.stages[0],
        stage("[0-9]+", Run(code_points("0-9"))),
        THREE_DIGITS,
    ),
)

DEFAULT = Preset(
    name="default",
    engine="hf",
    source=LLAMA_CPP + "its split for files that do not name a pre-tokenizer",
    stages=(
        stage(r"[\p{P}\$\+<=>\^~\|]+", Run(PUNCTUATION | code_points(*"$+<=>^~|"))),
        GPT2.stages[0],
        stage(r"\p{N}+", Run(NUMBER)),
        THREE_DIGITS,
    ),
)

CHAMELEON = unchecked(
    "chameleon",
    stage("<sentinel:[0-9]+>", Enclosed("<sentinel:", code_points("0-9"), ">")),
    stage(
        "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
        Enclosed("IMGIMG", code_points("A-I"), "Z", at_most=4),
    ),
    stage(r"([\t\n]|    |  )", Literal("\t", "\n", "    ", "  ")),
    EACH_NUMBER,
    stage(r"[\p{P}!-/:-@\[-`{-~]", Run(PUNCTUATION | ASCII_SIGNS, at_most=1)),
    GPT2.stages[0],
)

CLIP = Preset(
    name="clip",
    engine="hf",
    source="transformers, CLIPConverter; drops white space, and expects lowercased text",
    stages=(
        Stage(
            (Contraction(*ENGLISH), Run(LETTER), Run(NUMBER, at_most=1), Run(OTHER)),
            r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
            behavior="removed",
            invert=True,
        ),
        GPT2.stages[0],
    ),
)

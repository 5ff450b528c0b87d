"""Presets outside the families, such as splits at white space or lines."""

from __future__ import annotations

from pretok.charsets.sets import DIGIT, NUMBER, OTHER, SPACE, WHITE_SPACE, code_points
from pretok.preset import Preset
from pretok.presets.cl100k import LINES
from pretok.presets.common import EACH_NUMBER, LLAMA_CPP, block, names, split, stage, unchecked
from pretok.presets.o200k import NEWLINES_SLASHES
from pretok.rules import BEFORE_NEWLINE, Groups, Run, Spaces

_BLOOM_REGEX = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
_BLOOM = stage(
    _BLOOM_REGEX,
    # In Oniguruma the inner brackets are a nested class, so "(", "|" and ")" are literal members.
    Run(
        ~(WHITE_SPACE | code_points(*"(|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)")),
        lead=SPACE,
    ),
)

BLOOM = Preset(
    name="bloom",
    aliases=names("poro-chat gpt3-finnish"),
    engine="hf",
    source="BLOOM tokenizer.json",
    stages=(_BLOOM,),
)

VIKING = unchecked("viking", _BLOOM, EACH_NUMBER)

GEMMA4 = unchecked("gemma4", LINES, aliases=names("granite-embed-multi-311m sarvam-moe"))

WHITESPACE = Preset(
    name="whitespace",
    engine="hf",
    source=LLAMA_CPP + "for jina-embeddings-v2-base-zh; unlike tokenizers, it keeps white space",
    exactness="unknown",
    pattern=r"\S+",
    rules=(Run(~WHITE_SPACE),),
)

SUPERBPE = unchecked(
    "superbpe",
    stage(r"\p{N}+", Run(NUMBER)),
    # The pattern matches the empty text before each group of three digits, so the text after
    # the last group stays with the last group.
    block(split(r"(?=(\d{3})+(?!\d))"), Groups(DIGIT, at_least=3), behavior="merged_with_next"),
)

SUPERBPE_EXTEND = Preset(
    name="superbpe-extend",
    engine="hf",
    source="SuperBPE, scripts/extend_tokenizer.sh at 55b83132, for the second stage",
    stages=(
        stage(
            r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)",
            Run(NUMBER, at_most=3),
            Run(OTHER, lead=SPACE, tail=NEWLINES_SLASHES, at_least=2),
            Spaces(through=BEFORE_NEWLINE, newline=WHITE_SPACE - SPACE),
        ),
    ),
)

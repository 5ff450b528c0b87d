"""The presets of cl100k, Llama 3 and Qwen: letters may follow one member of LEAD in a pre-token.

LEAD has all code points but line breaks, letters and numbers.
"""

from __future__ import annotations

from pretok.charsets.sets import LETTER, MARK, NEWLINE, NUMBER, OTHER, SPACE, code_points
from pretok.preset import Engine, Exactness, Preset
from pretok.presets.common import (
    CONTRACTIONS,
    CONTRACTIONS_REGEX,
    LEAD,
    LEAD_REGEX,
    SHORT_ENGLISH,
    SPACES,
    SPACES_REGEX,
    THREE_NUMBERS,
    UNKNOWN,
    names,
    stage,
)
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    END_OF_TEXT,
    LAST_NEWLINE,
    Contraction,
    Phrase,
    Rule,
    Run,
    Spaces,
)
from pretok.stage import Stage

CL100K = Preset(
    name="cl100k",
    aliases=names(
        "cl100k_base gpt-4 gpt4 gpt-3.5-turbo text-embedding-ada-002 text-embedding-3-small "
        "text-embedding-3-large"
    ),
    engine="tiktoken",
    source="tiktoken 0.14.0, openai_public.py, cl100k_base",
    pattern=(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    rules=(
        Contraction(*SHORT_ENGLISH, ignore_case=True),
        Run(LETTER, lead=LEAD),
        Run(NUMBER, at_most=3),
        Run(OTHER, lead=SPACE, tail=NEWLINE),
        Spaces(through=END_OF_TEXT),
        Spaces(through=LAST_NEWLINE),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
)


def like_llama3(
    name: str,
    source: str,
    aliases: str = "",
    *,
    engine: Engine = "hf",
    exactness: Exactness = "tested",
    contractions: bool = True,
    marks: bool = False,
    digits: int | None = 3,
    tail: bool = True,
    before: tuple[Stage, ...] = (),
) -> Preset:
    r"""Return a variant of Llama 3's preset.

    If `contractions` is true, contractions are pre-tokens. If `marks` is true, words may contain
    \p{M}. `digits` is the maximum number of digits of a pre-token; None means no maximum. If `tail`
    is true, line breaks after punctuation and symbols belong to the same pre-token. The stages in
    `before` run first.
    """
    word, word_regex = (LETTER | MARK, r"[\p{L}\p{M}]") if marks else (LETTER, r"\p{L}")
    other = OTHER - MARK if marks else OTHER
    inside = r"^\s\p{L}\p{M}\p{N}" if marks else r"^\s\p{L}\p{N}"
    times = {1: "", None: "+"}.get(digits, f"{{1,{digits}}}")
    pattern = "|".join(
        [
            *([CONTRACTIONS_REGEX] if contractions else []),
            rf"{LEAD_REGEX}{word_regex}+",
            rf"\p{{N}}{times}",
            rf" ?[{inside}]+[\r\n]*" if tail else rf" ?[{inside}\r\n]+",
            SPACES_REGEX,
        ]
    )
    rules: tuple[Rule, ...] = (
        *([CONTRACTIONS] if contractions else []),
        Run(word, lead=LEAD),
        Run(NUMBER, at_most=digits),
        Run(other, lead=SPACE, tail=NEWLINE if tail else None),
        *SPACES,
    )
    stages = (*before, stage(pattern, *rules))
    return Preset(name, (), names(aliases), engine, source, stages=stages, exactness=exactness)


LLAMA3 = like_llama3(
    "llama3",
    "Meta Llama 3 tokenizer.json; cl100k_base as converted to Hugging Face files",
    "llama-3 llama3.1 llama3.2 llama3.3 llama-bpe llama-v3 cl100k-hf olmo3 dbrx smaug-bpe glm4 "
    "glm5 chatglm-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano minbpe minbpe-gpt4",
)
QWEN2 = like_llama3(
    "qwen2",
    "Qwen2 tokenizer.json",
    "qwen qwen2.5 qwen3 stablelm2 deepseek-r1-qwen grok-2 kormo f2llmv2 megrez hunyuan solar-open "
    "bailingmoe bailingmoe2 llada-moe voyage3",
    digits=1,
)
QWEN35 = like_llama3("qwen35", "Qwen3.5 tokenizer.json", "qwen3.5", digits=1, marks=True)
NANOCHAT = like_llama3(
    "nanochat", "karpathy/nanochat, tokenizer.py, SPLIT_PATTERN", engine="tiktoken", digits=2
)
SEED_CODER = like_llama3("seed-coder", "Seed-Coder tokenizer.json", digits=1, tail=False)
UFAKZEKA = like_llama3("ufakzeka", UNKNOWN, exactness="unknown", digits=1, contractions=False)
MINICPM5 = like_llama3(
    "minicpm5",
    "MiniCPM5 tokenizer.json, as quoted in llama.cpp",
    digits=None,
    before=(THREE_NUMBERS,),
)
LINES = stage(r"[^\n]+|[\n]+", Run(~code_points("\n")), Run(code_points("\n")))
LAGUNA = like_llama3("laguna", UNKNOWN, exactness="unknown", digits=1, before=(LINES,))

JAIS2 = Preset(
    name="jais-2",
    aliases=names("jais2"),
    engine="hf",
    source="Jais 2 tokenizer.json, as quoted in llama.cpp",
    pattern=(
        rf"{CONTRACTIONS_REGEX}|{LEAD_REGEX}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
        r"|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)"
        r"|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"
    ),
    rules=(
        CONTRACTIONS,
        Run(LETTER, lead=LEAD),
        Run(NUMBER, at_most=3),
        Run(OTHER, lead=SPACE, tail=NEWLINE),
        Spaces(through=LAST_NEWLINE),
        *(Spaces(ALL_BUT_LAST, size, size) for size in (512, 256, 128, 64, 32, 16, 8, 4)),
        Spaces(through=ALL_BUT_LAST, at_most=2),
        Spaces(through=ALL, at_most=1),
    ),
)

EXAONE_MOE = Preset(
    name="exaone-moe",
    engine="hf",
    source="EXAONE-MoE tokenizer.json, as quoted in llama.cpp",
    pattern=(
        rf"{CONTRACTIONS_REGEX}|{LEAD_REGEX}(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    rules=(
        CONTRACTIONS,
        Phrase(LETTER, MARK, SPACE, lead=LEAD),
        Run(NUMBER, at_most=1),
        # The tail has "/" only because the regex has it, in [\r\n/]?. The run before the tail takes
        # all slashes, so the tail never matches one.
        Run(OTHER, lead=SPACE, tail=NEWLINE | code_points("/"), tail_at_most=1),
        *SPACES,
    ),
)

"""The DeepSeek family: stages for numbers and for scripts, then for words."""

from __future__ import annotations

from pretok.charsets.sets import (
    DIGIT,
    LETTER,
    MARK,
    NEWLINE,
    PUNCTUATION,
    SPACE,
    SYMBOL,
    WHITE_SPACE,
    code_points,
)
from pretok.preset import Preset
from pretok.presets.cased_letters import CASED_LETTERS, CASED_LETTERS_REGEX
from pretok.presets.common import (
    ASCII_SIGNS,
    EACH_NUMBER,
    SPACES,
    SPACES_REGEX,
    THREE_NUMBERS,
    block,
    names,
    split,
    stage,
    unchecked,
)
from pretok.presets.gpt2 import EACH_DIGIT
from pretok.rules import ALL, ALL_BUT_LAST, END_OF_TEXT, Groups, Rule, Run, Spaces

ASCII_LETTERS = code_points("A-Z", "a-z")
CJK = code_points("\u4e00-\u9fa5", "\u3040-\u309f", "\u30a0-\u30ff")
CJK_STAGE = stage("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", Run(CJK))

_WORDS: tuple[Rule, ...] = (
    Run(ASCII_LETTERS, lead=ASCII_SIGNS, lead_required=True),
    Run(LETTER | MARK, lead=~(NEWLINE | LETTER | PUNCTUATION | SYMBOL)),
)
_WORDS_REGEX = (
    r'[!"'
    r"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
)
MAIN = stage(
    rf"{_WORDS_REGEX}| ?[\p{{P}}\p{{S}}]+[\r\n]*|{SPACES_REGEX}",
    *_WORDS,
    Run(PUNCTUATION | SYMBOL, lead=SPACE, tail=NEWLINE),
    *SPACES,
)

DEEPSEEK_V3 = Preset(
    name="deepseek-v3",
    aliases=names("deepseek_v3 deepseek3 deepseek-r1 hunyuan-dense joyai-llm hy_v4"),
    engine="hf",
    source="DeepSeek-V3 tokenizer.json",
    stages=(THREE_NUMBERS, CJK_STAGE, MAIN),
)

EACH_NEWLINE = stage(r"[\r\n]", Run(NEWLINE, at_most=1))
SCRIPTS = stage(
    "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", Run(code_points("\u0800-\u9fa5", "\uac00-\ud7ff"))
)

DEEPSEEK_CODER = Preset(
    name="deepseek-coder",
    engine="hf",
    source="DeepSeek-Coder tokenizer.json, from a third party's copy",
    stages=(
        EACH_NEWLINE,
        stage(r"\s?\p{L}+", Run(LETTER, lead=WHITE_SPACE)),
        stage(r"\s?\p{P}+", Run(PUNCTUATION, lead=WHITE_SPACE)),
        SCRIPTS,
        EACH_DIGIT,
    ),
)

DEEPSEEK_LLM = Preset(
    name="deepseek-llm",
    engine="hf",
    source="DeepSeek-LLM tokenizer.json, from a third party's copy",
    stages=(
        EACH_NEWLINE,
        stage(rf"\s?{CASED_LETTERS_REGEX}+", Run(CASED_LETTERS, lead=WHITE_SPACE)),
        stage(
            "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
            Run(
                code_points(
                    "!-/", ":-~", "\uff01-\uff0f", "\uff1a-\uff5e", "\u2018-\u201f", "\u3000-\u3002"
                ),
                lead=WHITE_SPACE,
            ),
        ),
        # In Oniguruma `$` also matches before a line break, but the first stage has isolated all
        # line breaks.
        stage(r"\s+$", Spaces(through=END_OF_TEXT)),
        SCRIPTS,
        EACH_DIGIT,
    ),
)

SPARK = unchecked(
    "spark2_5",
    THREE_NUMBERS,
    CJK_STAGE,
    stage(
        rf"{_WORDS_REGEX}| ?[\p{{P}}\p{{S}}]+|[\r\n]|\s+(?!\S)|\s+",
        *_WORDS,
        Run(PUNCTUATION | SYMBOL, lead=SPACE),
        Run(NEWLINE, at_most=1),
        Spaces(through=ALL_BUT_LAST),
        Spaces(through=ALL),
    ),
    EACH_NUMBER,
)

# The tokenizer.json has three Splits for digits. The first Split cuts a run of digits into parts of
# 510 digits, counted from the end of the run. If the length of a part is not a multiple of three,
# the second Split isolates the one or two digits at the start of the part. The third Split isolates
# each group of three digits. 510 is a multiple of three, so the three Splits together isolate
# groups of three digits, counted from the end of the run.
_AFMOE_DIGITS = (
    r"\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}",
    r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)",
    r"\A\p{Nd}{3}|\G\p{Nd}{3}",
)

AFMOE = Preset(
    name="afmoe",
    engine="hf",
    source="AFMoE tokenizer.json, from a third party's copy",
    stages=(
        block(
            {"type": "Sequence", "pretokenizers": [split(regex) for regex in _AFMOE_DIGITS]},
            Groups(DIGIT),
        ),
        stage(
            "(?:[\u4e00-\u9fff\u3040-\u309f\u30a0-\u30ff\u3400-\u4dbf\uf900-\ufaff\uff65-\uff9f"
            "\u2f00-\u2fdf]+|[\u0e00-\u0e7f]+|[\u0e80-\u0eff]+|[\u1780-\u17ff]+"
            "|[\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff]+|[\uac00-\ud7af\u1100-\u11ff]+)",
            Run(
                code_points(
                    "\u4e00-\u9fff", "\u3040-\u309f", "\u30a0-\u30ff", "\u3400-\u4dbf",
                    "\uf900-\ufaff", "\uff65-\uff9f", "\u2f00-\u2fdf",
                )
            ),
            Run(code_points("\u0e00-\u0e7f")),
            Run(code_points("\u0e80-\u0eff")),
            Run(code_points("\u1780-\u17ff")),
            Run(code_points("\u1000-\u109f", "\uaa60-\uaa7f", "\ua9e0-\ua9ff")),
            Run(code_points("\uac00-\ud7af", "\u1100-\u11ff")),
        ),
        MAIN,
    ),
)  # fmt: skip

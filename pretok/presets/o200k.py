"""The o200k family: words are cut between a lower and an upper case letter."""

from __future__ import annotations

from pretok.charsets.sets import (
    CASELESS,
    DIGIT,
    HAN,
    LOWER,
    MARK,
    NEWLINE,
    NOTHING,
    NUMBER,
    ONIGURUMA_WORD,
    OTHER,
    SPACE,
    UPPER,
    CharSet,
    code_points,
)
from pretok.preset import Preset
from pretok.presets.common import (
    CONTRACTIONS,
    CONTRACTIONS_REGEX,
    LEAD,
    LEAD_REGEX,
    SPACES,
    SPACES_REGEX,
    names,
    stage,
    unchecked,
)
from pretok.rules import CasedWord, Groups, Rule, Run
from pretok.stage import Stage

UPPER_REGEX = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
LOWER_REGEX = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
# [\r\n/]* begins at a line break, because the run before it takes all slashes.
NEWLINES_SLASHES = NEWLINE | code_points("/")


def _words(suffix: bool = True, but: CharSet = NOTHING, but_regex: str = "") -> Stage:
    """Return a stage with only the alternatives for words.

    If `suffix` is true, a word includes a contraction after it. A word has no member of `but`.
    `but_regex` excludes the members of `but` in a bracketed class.
    """
    end = CONTRACTIONS_REGEX + "?" if suffix else ""
    upper, lower = f"[{UPPER_REGEX}{but_regex}]", f"[{LOWER_REGEX}{but_regex}]"
    word = CasedWord(
        upper=(UPPER | CASELESS | MARK) - but,
        lower=(LOWER | CASELESS | MARK) - but,
        lead=LEAD,
        suffix=CONTRACTIONS if suffix else None,
    )
    return stage(f"{LEAD_REGEX}{upper}*{lower}+{end}|{LEAD_REGEX}{upper}+{lower}*{end}", word)


def _like_o200k(digits: int, words: Stage, tail: CharSet, tail_regex: str) -> Stage:
    """Return a variant of the stage of o200k.

    A pre-token has at most `digits` digits. `words` has the rules for words. Members of `tail`
    after punctuation and symbols belong to the same pre-token; `tail_regex` is the regex of `tail`.
    """
    times = "" if digits == 1 else f"{{1,{digits}}}"
    rules: tuple[Rule, ...] = (
        *words.rules,
        Run(NUMBER, at_most=digits),
        Run(OTHER, lead=SPACE, tail=tail),
        *SPACES,
    )
    signs = rf" ?[^\s\p{{L}}\p{{N}}]+{tail_regex}*"
    return stage("|".join([words.pattern, rf"\p{{N}}{times}", signs, SPACES_REGEX]), *rules)


_O200K = _like_o200k(3, _words(), NEWLINES_SLASHES, r"[\r\n/]")

O200K = Preset(
    name="o200k",
    aliases=names(
        "o200k_base o200k_harmony gpt-4o gpt-4.1 gpt-5 o1 o3 gpt-oss llama4 kanana2 talkie "
        "minimax-m2"
    ),
    engine="tiktoken",
    source="tiktoken 0.14.0, openai_public.py, o200k_base; the same in Hugging Face files",
    stages=(_O200K,),
)

TEKKEN = Preset(
    name="tekken",
    aliases=names("nemotron nemotron-3 mistral-nemo"),
    engine="hf",
    source="Mistral's tekken.json; the same in Nemotron 3's tokenizer.json",
    stages=(_like_o200k(1, _words(suffix=False), NEWLINES_SLASHES, r"[\r\n/]"),),
)

_KIMI = _like_o200k(3, _words(True, HAN, r"&&[^\p{Han}]"), NEWLINE, r"[\r\n]")

KIMI_K2 = Preset(
    name="kimi-k2",
    aliases=names("kimi kimi-k25 kimi-k2.5"),
    engine="tiktoken",
    source="Kimi K2, tokenization_kimi.py",
    stages=(Stage((Run(HAN), *_KIMI.rules), rf"[\p{{Han}}]+|{_KIMI.pattern}"),),
)

TINY_AYA = Preset(
    name="tiny-aya",
    aliases=names("tiny_aya cohere2 cohere2moe"),
    engine="hf",
    source="Tiny Aya tokenizer.json, as quoted in llama.cpp",
    stages=(stage(r"\d{1,3}(?=(?:\d{3})*\b)", Groups(DIGIT, unless_before=ONIGURUMA_WORD)), _O200K),
)

YOUTU = unchecked(
    "youtu",
    stage(
        "[\uac00-\ud7a3\u3131-\u318e]+"
        "|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
        "|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        Run(code_points("\uac00-\ud7a3", "\u3131-\u318e")),
        Run(
            code_points(
                *"\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c",
                "\u3001-\u303f",
                "\ufe30-\ufe4f",
            )
        ),
        Run(code_points("\u3105-\u312f")),
        Run(code_points("\u4e00-\u9fa5", "\u3040-\u309f", "\u30a0-\u30ff")),
    ),
    _like_o200k(1, _words(), NEWLINES_SLASHES, r"[\r\n/]"),
)

GRANITE_EMBEDDING = unchecked(
    "granite-embed",
    _O200K,
    aliases=names("granite-embed-multi-97m"),
    note="this is o200k's split, of which llama.cpp's pattern is an approximation",
)

"""Rules that several families of presets share, and the regexes of these rules."""

from __future__ import annotations

import json

from pretok.behaviors import Behavior
from pretok.charsets.sets import LETTER, NEWLINE, NUMBER, code_points
from pretok.preset import Preset
from pretok.rules import ALL, ALL_BUT_LAST, LAST_NEWLINE, Contraction, Rule, Run, Spaces
from pretok.stage import Stage

ENGLISH = ("s", "t", "re", "ve", "m", "ll", "d")
CONTRACTIONS = Contraction(*ENGLISH, ignore_case=True)
CONTRACTIONS_REGEX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
# The suffixes of ENGLISH in the order of tiktoken.
SHORT_ENGLISH = ("s", "d", "m", "t", "ll", "ve", "re")

LEAD = ~(NEWLINE | LETTER | NUMBER)
LEAD_REGEX = r"[^\r\n\p{L}\p{N}]?"
SPACES: tuple[Rule, ...] = (
    Spaces(through=LAST_NEWLINE),
    Spaces(through=ALL_BUT_LAST),
    Spaces(through=ALL),
)
SPACES_REGEX = r"\s*[\r\n]+|\s+(?!\S)|\s+"

ASCII_SIGNS = code_points("!-/", ":-@", "[-`", "{-~")

LLAMA_CPP = "llama.cpp, src/llama-vocab.cpp at 00ad355e; "
UNKNOWN = LLAMA_CPP + "not checked against the model's own file"


def names(text: str) -> tuple[str, ...]:
    """Return the names in `text`, separated by white space."""
    return tuple(text.split())


def stage(pattern: str, *rules: Rule) -> Stage:
    """Return a stage that splits as `pattern` does. Text between matches becomes pre-tokens."""
    return Stage(rules, pattern)


def block(huggingface: dict[str, object], *rules: Rule, behavior: Behavior = "isolated") -> Stage:
    """Return a stage that splits as a pre_tokenizer does; `huggingface` is its JSON object."""
    return Stage(rules, behavior=behavior, huggingface=json.dumps(huggingface))


def unchecked(name: str, *stages: Stage, aliases: tuple[str, ...] = (), note: str = "") -> Preset:
    """Return a preset of llama.cpp that was not compared with the tokenizer of the model."""
    source = f"{UNKNOWN}; {note}" if note else UNKNOWN
    return Preset(
        name, aliases=aliases, engine="hf", source=source, stages=stages, exactness="unknown"
    )


def split(regex: str) -> dict[str, object]:
    """Return the JSON object of a pre_tokenizer that splits by `regex` and keeps all text."""
    pattern = {"Regex": regex}
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


EACH_NUMBER = stage(r"\p{N}", Run(NUMBER, at_most=1))
THREE_NUMBERS = stage(r"\p{N}{1,3}", Run(NUMBER, at_most=3))

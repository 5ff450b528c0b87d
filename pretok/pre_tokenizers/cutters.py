"""Define the blocks that consist of one stage: they split a text, but do not change the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pretok.behaviors import JSON_NAMES, Behavior, check_behavior
from pretok.charsets.sets import ANY, HF_NUMBER, HF_PUNCTUATION, WHITE_SPACE, WORD, code_points
from pretok.errors import DefinitionError, shortened
from pretok.pre_tokenizers.block import Block, Cutter
from pretok.rules import Literal, Rule, Run
from pretok.rules.base import MAX_LITERAL
from pretok.stage import Stage

_BY_JSON_NAME = {name: behavior for behavior, name in JSON_NAMES.items()}


def _behavior_of_json(block_type: type[Block], name: object) -> Behavior:
    if not isinstance(name, str) or name not in _BY_JSON_NAME:
        raise DefinitionError(
            f"{block_type.__name__}: expected a behavior of {tuple(_BY_JSON_NAME)}, "
            f"got {shortened(name)}"
        )
    return _BY_JSON_NAME[name]


class _OneStage(Cutter):
    """Base class of blocks with one stage."""

    def _stage(self, *rules: Rule, behavior: Behavior = "isolated", invert: bool = False) -> Stage:
        return Stage(rules, behavior=behavior, invert=invert, huggingface=self.to_json())


@dataclass(frozen=True)
class Split(_OneStage):
    """Splits at each occurrence of the text `pattern`.

    `behavior` joins, keeps or drops the matches (see `pretok.behaviors`). `invert` swaps matches
    and the text between matches. `pattern` is literal text; for published regular expressions use
    `pretok.from_pattern`. Raises DefinitionError if `pattern` is empty or longer than 255 code
    points.

    >>> Split("--", "removed").pre_tokenize_str("a--b")
    [('a', (0, 1)), ('b', (3, 4))]
    """

    pattern: str
    behavior: Behavior
    invert: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not 1 <= len(self.pattern) <= MAX_LITERAL:
            self._raise_invalid("pattern", f"literal text of 1 to {MAX_LITERAL} characters")
        check_behavior(self.behavior, "Split")
        self._require_bools("invert")

    def stages(self) -> tuple[Stage, ...]:
        return (self._stage(Literal(self.pattern), behavior=self.behavior, invert=self.invert),)

    def _json(self) -> dict[str, Any]:
        return {
            "pattern": {"String": self.pattern},
            "behavior": JSON_NAMES[self.behavior],
            "invert": self.invert,
        }

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> Block:
        cls._check_fields(fields, ["pattern", "behavior", "invert"])
        pattern = fields["pattern"]
        if not isinstance(pattern, dict) or list(pattern) != ["String"]:
            raise DefinitionError(
                f"Split: expected a pattern {{'String': text}}, got {shortened(pattern)}; for "
                "published regular expressions use pretok.from_huggingface or pretok.from_pattern"
            )
        return cls(pattern["String"], _behavior_of_json(cls, fields["behavior"]), fields["invert"])


@dataclass(frozen=True)
class Digits(_OneStage):
    """Isolates each run of numeric characters (Nd, Nl, No).

    If `individual_digits` is true, isolates each numeric character.

    >>> [part for part, _ in Digits(individual_digits=True).pre_tokenize_str("a12")]
    ['a', '1', '2']
    """

    individual_digits: bool = False

    def __post_init__(self) -> None:
        self._require_bools("individual_digits")

    def stages(self) -> tuple[Stage, ...]:
        return (self._stage(Run(HF_NUMBER, at_most=1 if self.individual_digits else None)),)


@dataclass(frozen=True)
class Punctuation(_OneStage):
    """Splits at each character of HF_PUNCTUATION; `behavior` joins, keeps or drops the character.

    HF_PUNCTUATION (pretok.charsets) has the punctuation and the symbols of ASCII, and category P
    of Unicode 8.0.

    >>> [part for part, _ in Punctuation("merged_with_previous").pre_tokenize_str("a, b")]
    ['a,', ' b']
    """

    behavior: Behavior = "isolated"

    def __post_init__(self) -> None:
        check_behavior(self.behavior, "Punctuation")

    def stages(self) -> tuple[Stage, ...]:
        if self.behavior == "contiguous":  # a Run without a maximum joins adjacent characters
            return (self._stage(Run(HF_PUNCTUATION)),)
        return (self._stage(Run(HF_PUNCTUATION, at_most=1), behavior=self.behavior),)

    def _json(self) -> dict[str, Any]:
        return {"behavior": JSON_NAMES[self.behavior]}

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> Block:
        cls._check_fields(fields, [], "behavior")
        return cls(_behavior_of_json(cls, fields.get("behavior", "Isolated")))


@dataclass(frozen=True)
class Whitespace(_OneStage):
    r"""Drops white space; isolates each run of `\w`, and each run of the remaining characters.

    >>> [part for part, _ in Whitespace().pre_tokenize_str("Hi,  you_2!?")]
    ['Hi', ',', 'you_2', '!?']
    """

    def stages(self) -> tuple[Stage, ...]:
        words = (Run(WORD), Run(~(WORD | WHITE_SPACE)))  # \w+|[^\w\s]+
        return (self._stage(*words, behavior="removed", invert=True),)


@dataclass(frozen=True)
class WhitespaceSplit(_OneStage):
    """Drops white space and keeps the text between white space.

    >>> [part for part, _ in WhitespaceSplit().pre_tokenize_str("Hi,  you_2!?")]
    ['Hi,', 'you_2!?']
    """

    def stages(self) -> tuple[Stage, ...]:
        return (self._stage(Run(WHITE_SPACE), behavior="removed"),)


@dataclass(frozen=True)
class BertPreTokenizer(_OneStage):
    """Drops white space, and isolates each character of HF_PUNCTUATION.

    >>> [part for part, _ in BertPreTokenizer().pre_tokenize_str("Hi,  you_2!?")]
    ['Hi', ',', 'you', '_', '2', '!', '?']
    """

    def stages(self) -> tuple[Stage, ...]:
        rules = (Run(HF_PUNCTUATION, at_most=1), Run(~(HF_PUNCTUATION | WHITE_SPACE)))
        return (self._stage(*rules, behavior="removed", invert=True),)


@dataclass(frozen=True)
class CharDelimiterSplit(_OneStage):
    """Drops the character `delimiter` and keeps the text between delimiters.

    >>> [part for part, _ in CharDelimiterSplit("-").pre_tokenize_str("a-b--c")]
    ['a', 'b', 'c']
    """

    delimiter: str

    def __post_init__(self) -> None:
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1:
            self._raise_invalid("delimiter", "one character")

    def stages(self) -> tuple[Stage, ...]:
        return (self._stage(Run(code_points(self.delimiter)), behavior="removed"),)


@dataclass(frozen=True)
class FixedLength(_OneStage):
    """Splits after every `length` code points.

    >>> [part for part, _ in FixedLength(3).pre_tokenize_str("abcde")]
    ['abc', 'de']
    """

    length: int = 5

    def __post_init__(self) -> None:
        if type(self.length) is not int or not 1 <= self.length < 1 << 31:
            self._raise_invalid("length", "1 to 2**31-1")

    def stages(self) -> tuple[Stage, ...]:
        return (self._stage(Run(ANY, at_most=self.length)),)

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> Block:
        cls._check_fields(fields, [], "length")
        return cls(**fields)

"""Preset: a named list of rules with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pretok.errors import InvalidRuleError
from pretok.rules import Rule
from pretok.unicode import DEFAULT_VERSION, check_version

Engine = Literal["hf", "tiktoken"]
ENGINES: tuple[Engine, ...] = ("hf", "tiktoken")


@dataclass(frozen=True)
class Preset:
    r"""A split by name: (pattern, engine dialect, Unicode version) and the rules that equal them.

    `rules` are tried in order at each position, and the first that matches makes the pre-token.
    Text where none matches is kept as a pre-token of its own, up to where one does. `engine` is
    the engine whose reading of `pattern` the rules follow ("hf" for tokenizers' Oniguruma,
    "tiktoken" for fancy-regex), `unicode` the version that it implements, `source` says where the
    pattern was published. Raises InvalidRuleError, or UnknownUnicodeVersionError.

    >>> from pretok import LETTER, Run
    >>> Preset("letters", rules=(Run(LETTER),), pattern=r"\\p{L}+").name
    'letters'
    """

    name: str
    rules: tuple[Rule, ...]
    aliases: tuple[str, ...] = ()
    engine: Engine = "hf"
    source: str = ""
    pattern: str = ""
    unicode: str = DEFAULT_VERSION

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        object.__setattr__(self, "aliases", tuple(self.aliases))
        for name in (self.name, *self.aliases):
            if not isinstance(name, str) or name.split() != [name]:
                raise InvalidRuleError(f"preset name {name!r}; expected text without white space")
        if not self.rules:
            raise InvalidRuleError(f"preset {self.name!r} has no rules; expected at least one")
        for number, rule in enumerate(self.rules, 1):
            if not isinstance(rule, Rule):
                raise InvalidRuleError(
                    f"preset {self.name!r}, rule {number}: {rule!r}; expected Contraction, Run, "
                    "CasedWord or Spaces"
                )
        if self.engine not in ENGINES:
            raise InvalidRuleError(
                f"preset {self.name!r}: engine {self.engine!r}; expected one of {ENGINES}"
            )
        check_version(self.unicode)

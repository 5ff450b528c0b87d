"""Check the arguments of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bpe.encoding.utf8 import has_surrogates
from bpe.vocabulary import ID_LIMIT


class Specials(NamedTuple):
    """The special tokens, and their ids if the caller chose them."""

    names: list[str]
    ids: list[int] | None

    @classmethod
    def of(
        cls, tokens: Sequence[str] | Mapping[str, int], vocab_size: int, byte_count: int
    ) -> Specials:
        """Return the special tokens `tokens`; raise ValueError or TypeError if they are invalid."""
        if isinstance(tokens, (str, bytes)):
            raise TypeError(
                f"special_tokens={tokens!r}; expected a list of str or a mapping to ids"
            )
        names = list(tokens)
        for name in names:
            if not isinstance(name, str) or not name or has_surrogates(name):
                raise ValueError(
                    f"special token {name!r}; expected a non-empty str without surrogates"
                )
        if len(set(names)) != len(names):
            duplicate = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"duplicate special token {duplicate!r}; pass it once")
        min_size = byte_count + len(names)
        if vocab_size < min_size:
            raise ValueError(
                f"vocab_size={vocab_size}; expected at least {min_size}: {byte_count} for the "
                f"bytes and {len(names)} for the special tokens"
            )
        if not isinstance(tokens, Mapping):
            return cls(names, None)
        ids = [tokens[name] for name in names]
        for name, id in tokens.items():
            if type(id) is not int or not 0 <= id < vocab_size:
                raise ValueError(
                    f"special token {name!r} has id {id!r}; expected an int from 0 to "
                    f"{vocab_size - 1}, below vocab_size"
                )
            if ids.count(id) > 1:
                other = next(each for each in names if each != name and tokens[each] == id)
                raise ValueError(
                    f"special tokens {name!r} and {other!r} both have id {id}; give each its own id"
                )
        return cls(names, ids)


def check_no_character_options(
    byte_fallback: bool, character_coverage: float, required_characters: str
) -> None:
    """Raise ValueError if an option has a value that an alphabet of bytes would ignore."""
    for option, value, default in (
        ("byte_fallback", byte_fallback, False),
        ("character_coverage", character_coverage, 1),
        ("required_characters", required_characters, ""),
    ):
        if value != default:
            raise ValueError(
                f'{option}={value!r} needs alphabet="characters"; an alphabet of bytes has tokens '
                "for every text"
            )


def check_numbers(vocab_size: int, min_frequency: int, max_token_length: int | None) -> None:
    """Raise ValueError if a number is invalid."""
    if type(vocab_size) is not int or vocab_size > ID_LIMIT:
        raise ValueError(f"vocab_size={vocab_size!r}; expected an int of at most {ID_LIMIT}")
    if type(min_frequency) is not int or min_frequency < 0:
        raise ValueError(f"min_frequency={min_frequency!r}; expected an int of at least 0")
    if max_token_length is not None and (type(max_token_length) is not int or max_token_length < 2):
        raise ValueError(
            f"max_token_length={max_token_length!r}; expected None or an int of at least 2"
        )


def check_only_initial(**arguments: tuple[object, object]) -> None:
    """Raise ValueError if an argument is not its default, though initial= decides it.

    `arguments` has the value and the default of each argument.
    """
    for name, (value, default) in arguments.items():
        if value != default:
            raise ValueError(
                f"{name}={value!r:.60} does not go with initial=, which has its own split, "
                f"normalizer, alphabet and added tokens; omit {name}="
            )

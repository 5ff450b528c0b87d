"""Define Options. They, the inputs and the tokenizer determine each byte of a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Annotated, Any, SupportsIndex, get_args

from bpe.corpus.fields import Count, Id, Positive, check_of, fraction, one_of
from bpe.corpus.layouts import LAYOUTS
from bpe.errors import UnknownTokenError, shortened
from bpe.tokenizer import Tokenizer
from bpe.training.limits import MAX_TEXT, check_positive
from bpe.types import Special, Treatment

MAX_UINT16 = 1 << 16
"""The number of ids that 16 bits can hold: one more than the largest such id."""
MAX_SHOWN = 8
"""The maximum number of special tokens that a message lists."""
SHARD_TOKENS = 1 << 27
"""The default number of tokens of a shard."""


def check_special(value: Any) -> None:
    """Check the option `special`: a word, or a list of tokens."""
    (check_of(list[str]) if isinstance(value, list) else one_of(*get_args(Treatment)))(value)


@dataclass(frozen=True)
class Options:
    """The options of a corpus, checked; `bpe.corpus.tokenize` explains them."""

    layout: Annotated[str, one_of(*LAYOUTS)]
    dtype: Annotated[str, one_of("uint16", "uint32")]
    before: tuple[Id, ...]
    after: tuple[Id, ...]
    special: Annotated[Special, check_special]
    field: str
    lines: bool
    shard_tokens: Positive
    pack: Positive | None
    pad: Id
    shuffle: Count | None
    validation: Annotated[float, fraction]
    skip_bad: bool
    max_text: Positive

    def to_json(self) -> dict[str, Any]:
        """Return the options for the manifest."""
        special = self.special if isinstance(self.special, str) else sorted(self.special)
        before, after = list(self.before), list(self.after)
        return {**vars(self), "before": before, "after": after, "special": special}


def make_options(
    tokenizer: Tokenizer,
    *,
    layout: str = "bin",
    dtype: str | None = None,
    bos: str | int | None = None,
    eos: str | int | None = None,
    add_special_tokens: bool = False,
    special: Special = "raise",
    field: str = "text",
    lines: bool = False,
    shard_tokens: int | None = None,
    pack: int | None = None,
    pad: str | int | None = None,
    shuffle: int | None = None,
    validation: float = 0.0,
    skip_bad: bool = False,
    max_text: int | None = None,
) -> Options:
    """Return checked options.

    Raises ValueError or TypeError for a wrong value, and UnknownTokenError for a token that the
    vocabulary does not have.
    """
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(
            f"expected a bpe.Tokenizer, got {type(tokenizer).__name__}; pass bpe.load(path_or_name)"
        )
    if layout not in LAYOUTS:
        raise ValueError(f"layout={layout!r}; expected one of {', '.join(map(repr, LAYOUTS))}")
    check_positive(shard_tokens=shard_tokens, pack=pack, max_text=max_text)
    for name, value in (("field", field), ("dtype", "" if dtype is None else dtype)):
        if not isinstance(value, str):
            raise TypeError(f"{name} is of type {type(value).__name__}; expected a str")
    max_row = LAYOUTS[layout].max_row
    if pack is not None and max_row is not None and pack > max_row:
        raise ValueError(f"pack={pack}; expected at most {max_row} with layout={layout!r}")
    if shuffle is not None and (type(shuffle) is not int or not 0 <= shuffle < 1 << 63):
        raise ValueError(f"shuffle={shuffle!r:.40}; expected None or a seed from 0 to 2**63 - 1")
    if isinstance(validation, bool) or not 0 <= validation < 1:
        raise ValueError(f"validation={validation!r:.40}; expected a fraction from 0 to below 1")
    tokenizer.encode("", special)  # checks `special`
    shard_tokens, row = shard_tokens or SHARD_TOKENS, pack or 1  # a shard has whole rows
    before, after = _ids_around(tokenizer, bos, eos, add_special_tokens)
    return Options(
        layout=layout,
        dtype=_dtype(tokenizer, dtype),
        before=before,
        after=after,
        special=special if isinstance(special, str) else frozenset(special),
        field=field,
        lines=bool(lines),
        shard_tokens=max(1, shard_tokens // row) * row,
        pack=pack,
        pad=_pad(tokenizer, pad, pack, after),
        shuffle=shuffle,
        validation=float(validation),
        skip_bad=bool(skip_bad),
        max_text=max_text or MAX_TEXT,
    )


def _ids_around(
    tokenizer: Tokenizer, bos: str | int | None, eos: str | int | None, add_special_tokens: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids before and after each document."""
    if not add_special_tokens:
        return _id(tokenizer, "bos", bos), _id(tokenizer, "eos", eos)
    if bos is not None or eos is not None:
        raise ValueError(
            "add_special_tokens= cannot be combined with bos= or eos=; pass one of them"
        )
    return tuple(tokenizer.template.before), tuple(tokenizer.template.after)


def _id(tokenizer: Tokenizer, name: str, token: str | int | None) -> tuple[int, ...]:
    """Return the id of `token` in a tuple, or an empty tuple for None."""
    if token is None:
        return ()
    if isinstance(token, bool) or not isinstance(token, (str, SupportsIndex)):
        raise TypeError(f"{name}={token!r:.80}; expected the text or the id of a token")
    try:
        if isinstance(token, str):
            return (tokenizer.token_id(token),)
        token = index(token)
        tokenizer.token_bytes(token)
    except UnknownTokenError as error:
        raise UnknownTokenError(
            f"{name}={token!r:.80} is not a token of this vocabulary ({error}); pass the text or "
            f"the id of one token; {listed_special_tokens(tokenizer)}"
        ) from None
    return (token,)


def listed_special_tokens(tokenizer: Tokenizer) -> str:
    """Return the special tokens of a vocabulary for a message."""
    names = [*tokenizer.special_tokens]
    if not names:
        return "it has no special tokens"
    more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    return f"its special tokens are {', '.join(map(shortened, names[:MAX_SHOWN]))}{more}"


def _dtype(tokenizer: Tokenizer, dtype: str | None) -> str:
    if dtype is None:
        return "uint16" if tokenizer.vocab_size <= MAX_UINT16 else "uint32"
    if dtype not in ("uint16", "uint32"):
        raise ValueError(f"dtype={dtype!r}; expected None, 'uint16' or 'uint32'")
    if dtype == "uint16" and tokenizer.vocab_size > MAX_UINT16:
        raise ValueError(
            f"dtype='uint16' is for ids below {MAX_UINT16}, but this vocabulary has ids up to "
            f"{tokenizer.vocab_size - 1}; pass dtype='uint32'"
        )
    return dtype


def _pad(
    tokenizer: Tokenizer, pad: str | int | None, pack: int | None, after: tuple[int, ...]
) -> int:
    """Return the id that fills the last row; by default, the last id after a document."""
    if pack is None:
        if pad is not None:
            raise ValueError("pad= fills the last row of pack=; pass pack= too")
        return 0
    if pad is None and not after:
        raise ValueError("pack= needs an id that fills the last row; pass pad= or eos=")
    return after[-1] if pad is None else _id(tokenizer, "pad", pad)[0]

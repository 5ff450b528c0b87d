"""From the argument `special` of a call to the AddedTokens that the call looks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import nsmallest
from typing import Literal, TypeAlias

from bpe.encoding.added_tokens import AddedToken, AddedTokens, Treatment
from bpe.encoding.backends import make_added
from bpe.encoding.python_backend import Backend
from bpe.errors import shortened

Special: TypeAlias = Treatment | Collection[str]
Phase: TypeAlias = Literal["all", "exact", "normalized"]
"""Which added tokens: all, those found in text as it is, or those found once it is normalized."""

_Phases: TypeAlias = dict[Phase, AddedTokens]
_TREATMENTS: tuple[Treatment, ...] = ("raise", "text", "allow")

MAX_SETS = 64
MAX_SET_BYTES = 1 << 26
"""How much all sets that are kept may take together, as `_size` estimates it."""

_MAX_LISTED = 10
"""How many special tokens an error lists."""


class Policies:
    """The AddedTokens of each policy for special tokens.

    The three named policies share one search structure. Each set of names has its own, since a
    token that is not in the set does not hide another. A service may let its users choose sets, so
    only the last MAX_SETS of them are kept, and fewer if they are large.
    """

    def __init__(self, tokens: Sequence[AddedToken], nfc: bool, encoder: Backend) -> None:
        self._tokens = tuple(tokens)
        self._special = frozenset(token.content for token in tokens if token.special)
        self._nfc = nfc
        self._encoder = encoder
        self._named: dict[str, _Phases] = {}
        # In the order of their last use. Threads need no lock: each step on the dict is atomic, and
        # a set that another thread has just moved or dropped is only built again.
        self._sets: dict[frozenset[str], tuple[_Phases, int]] = {}

    def added_for(self, special: Special, phase: Phase = "all") -> AddedTokens:
        """Return what finds the added tokens of a call; raises ValueError or TypeError."""
        if isinstance(special, str):
            return self._of_name(special)[phase]
        try:
            names = frozenset(special)
        except TypeError:
            raise TypeError(
                f"special={shortened(special)}; expected 'raise', 'text', 'allow' or a set "
                "of special tokens"
            ) from None
        for name in names - self._special:
            raise ValueError(
                f"special names {shortened(name)}, which is no special token of this vocabulary; "
                f"it has {self._listed()}"
            )
        return self._of_set(names)[phase]

    def trim(self) -> None:
        """Drop the sets that are kept; calls build them again."""
        self._sets.clear()

    def _of_name(self, special: str) -> _Phases:
        if special not in _TREATMENTS:
            raise ValueError(
                f"special={shortened(special)}; expected 'raise', 'text', 'allow' or a set "
                "of special tokens"
            )
        if not self._named:
            tokens = make_added(self._tokens, self._nfc, self._encoder)
            self._named = {name: _by_phase(tokens.treating(name)) for name in _TREATMENTS}
        return self._named[special]

    def _of_set(self, names: frozenset[str]) -> _Phases:
        if names == self._special:
            return self._of_name("allow")
        found = self._sets.pop(names, None)
        if found is None:
            wanted = [
                token for token in self._tokens if not token.special or token.content in names
            ]
            made = make_added(wanted, self._nfc, self._encoder)
            found = _by_phase(made), _size(wanted)
        self._sets[names] = found
        self._drop_old()
        return found[0]

    def _drop_old(self) -> None:
        """Drop the sets that were not used for longest; never the last one, however large."""
        kept = list(self._sets.items())
        size = sum(size for _, (_, size) in kept)
        for at, (names, (_, own_size)) in enumerate(kept[:-1]):
            if len(kept) - at <= MAX_SETS and size <= MAX_SET_BYTES:
                return
            self._sets.pop(names, None)
            size -= own_size

    def _listed(self) -> str:
        """Return the special tokens for an error: the first few, and how many more there are."""
        listed = ", ".join(map(shortened, nsmallest(_MAX_LISTED, self._special)))
        more = len(self._special) - _MAX_LISTED
        return f"{listed} and {more:,} more" if more > 0 else listed or "none"


def _by_phase(tokens: AddedTokens) -> _Phases:
    return {"all": tokens, "exact": tokens.exact(), "normalized": tokens.normalized()}


def _size(tokens: Collection[AddedToken]) -> int:
    """Return about how many bytes the AddedTokens of `tokens` take, and the set of their names."""
    return sum(400 + 50 * len(token.content) for token in tokens)

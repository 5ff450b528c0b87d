"""Define Policies, which returns the search for added tokens for an argument `special`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Literal, TypeAlias, get_args

from bpe.encoding.added_tokens import AddedToken, is_white
from bpe.encoding.backends import make_added
from bpe.encoding.python_backend import Backend
from bpe.encoding.ranged_tokens import AddedTokenSearch, WholeTextSearch
from bpe.encoding.token_list import AddedTokenList
from bpe.errors import VocabularyError, shortened
from bpe.once import lazy, once
from bpe.types import Special, Treatment

Phase: TypeAlias = Literal["all", "exact", "normalized"]
"""The tokens that a search finds: all, or only those that are found before normalization ("exact")
or after it ("normalized").
"""

_Phases: TypeAlias = dict[Phase, AddedTokenSearch]
_TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)

MAX_SETS = 64
"""The maximal number of sets of special tokens whose searches are kept."""
MAX_SET_BYTES = 1 << 26
"""The maximal memory of these searches together, in bytes, as `_size` estimates it."""

_MAX_LISTED = 10
"""The maximal number of special tokens that an error lists."""


class Policies:
    """Keeps the search for added tokens of each value of `special`: a named policy or a set.

    The policies "raise" and "allow" share one search structure, and "text" too unless it can leave
    out tokens. "plain" searches for no token, and "content" only for tokens of white space. Each
    set of names has its own structure, because a token that is not in the set must not hide another
    token. A service may let its users choose sets, so Policies keeps only the last MAX_SETS sets,
    and fewer if they are large.
    """

    def __init__(
        self,
        tokens: Sequence[AddedToken],
        backend: Backend,
        normalize: Callable[[str], str] | None = None,
    ) -> None:
        """Store the tokens.

        `normalize` changes the contents of `normalized` tokens, which are searched in normalized
        text. Raises VocabularyError if it makes such a content empty.
        """
        self._list = self._original = AddedTokenList.of(tokens)
        # The original content of each token by its normalized content.
        self._contents: dict[str, str] = {}
        if normalize is not None and self._original.normalized:
            self._list = AddedTokenList(normalized(token, normalize) for token in tokens)
            for token, searched in zip(tokens, self._list, strict=True):
                self._contents.setdefault(searched.content, token.content)
        self._backend = backend
        self._named: dict[str, _Phases] = {}
        # The searches of each set and their size, in the order of last use. Threads need no lock:
        # each operation on the dict is atomic, and if another thread has just removed a set, its
        # searches are built again.
        self._sets: dict[frozenset[str], tuple[_Phases, int]] = {}

    @property
    def _special(self) -> frozenset[str]:
        return self._original.special_contents

    def added_for(self, special: Special, phase: Phase = "all") -> AddedTokenSearch:
        """Return the search for the added tokens of a call.

        Raises ValueError if `special` is an unknown policy or has a text that is not a special
        token, and TypeError if it is neither a str nor a set.
        """
        if isinstance(special, str):
            return self._for_treatment(special)[phase]
        try:
            names = frozenset(special)
        except TypeError:
            raise TypeError(
                f"special={shortened(special)}; expected 'raise', 'text', 'allow', 'plain', "
                "'content' or a set of special tokens"
            ) from None
        entry = self._sets.pop(names, None)
        if entry is None:
            for name in names - self._special:
                raise ValueError(
                    f"special= contains {shortened(name)}, which is not a special token of this "
                    f"vocabulary; {self._listed()}"
                )
            return self._for_names(names)[phase]
        self._sets[names] = entry
        return entry[0][phase]

    def key_of(self, special: Special) -> bytes:
        """Return bytes that are equal only for equal policies, for which `added_for` succeeds."""
        if isinstance(special, str):
            return special.encode()
        if frozenset(special) == self._special:
            return b"allow"
        names = (name.encode("utf-8", "surrogatepass") for name in sorted(set(special)))
        return b"{" + b"".join(b"%d:%b" % (len(name), name) for name in names)

    @lazy
    def by_name(self) -> dict[str, AddedTokenSearch]:
        """The search for all added tokens of each named policy."""
        return {name: self._for_treatment(name)["all"] for name in _TREATMENTS}

    def content_of(self, searched: str) -> str:
        """Return the content of the token that is searched as `searched`."""
        return self._contents.get(searched, searched)

    def trim(self) -> None:
        """Drop the searches of all sets; later calls build them again."""
        self._sets.clear()

    def _for_treatment(self, name: str) -> _Phases:
        special = next((treatment for treatment in _TREATMENTS if treatment == name), None)
        if special is None:
            raise ValueError(
                f"special={shortened(name)}; expected 'raise', 'text', 'allow', 'plain', "
                "'content' or a set of special tokens"
            )
        if special not in self._named:
            self._named[special] = _by_phase(self._treating(special))
        return self._named[special]

    def _treating(self, special: Treatment) -> AddedTokenSearch:
        if special == "plain":
            return make_added(AddedTokenList(), self._backend)
        if special == "content":
            pairs = zip(self._original, self._list, strict=True)
            white = [
                searched
                for token, searched in pairs
                if not token.special and is_white(token.content)
            ]
            return make_added(white, self._backend)
        return (self._beside_text if special == "text" else self._all).treating(special)

    @once
    def _all(self) -> WholeTextSearch:
        return make_added(self._list, self._backend)

    @property
    def _beside_text(self) -> WholeTextSearch:
        tokens = self._list.beside_text
        return self._all if tokens is self._list else make_added(tokens, self._backend)

    def _for_names(self, names: frozenset[str]) -> _Phases:
        if names == self._special:
            return self._for_treatment("allow")
        searched = [
            token
            for token in self._list
            if not token.special or self.content_of(token.content) in names
        ]
        phases = _by_phase(make_added(searched, self._backend))
        self._sets[names] = phases, _size(searched)
        self._drop_old()
        return phases

    def _drop_old(self) -> None:
        """Drop the least recently used sets; keep the most recent one, however large it is."""
        kept = list(self._sets.items())
        size = sum(size for _, (_, size) in kept)
        for at, (names, (_, own_size)) in enumerate(kept[:-1]):
            if len(kept) - at <= MAX_SETS and size <= MAX_SET_BYTES:
                return
            self._sets.pop(names, None)
            size -= own_size

    def _listed(self) -> str:
        """Return a clause with the first few special tokens, and the number of the rest."""
        if not self._special:
            return "it has no special tokens"
        listed = ", ".join(map(shortened, nsmallest(_MAX_LISTED, self._special)))
        more = len(self._special) - _MAX_LISTED
        return f"its special tokens are {listed}{f' and {more:,} more' if more > 0 else ''}"


def normalized(token: AddedToken, normalize: Callable[[str], str]) -> AddedToken:
    """Return `token` with its content normalized, if it is a `normalized` token.

    Raises VocabularyError if `normalize` makes the content empty.
    """
    if not token.normalized:
        return token
    content = normalize(token.content)
    if not content:
        raise VocabularyError(
            f"the normalizer changes added token {shortened(token.content)} to an empty text; "
            "pass normalized=False for this token"
        )
    return replace(token, content=content)


def _by_phase(tokens: AddedTokenSearch) -> _Phases:
    return {"all": tokens, "exact": tokens.exact(), "normalized": tokens.normalized()}


def _size(tokens: Collection[AddedToken]) -> int:
    """Estimate the bytes that the search for `tokens` and the set of their names take."""
    return sum(400 + 50 * len(token.content) for token in tokens)

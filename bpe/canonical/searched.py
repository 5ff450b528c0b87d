"""Define Searched, the added tokens that a policy finds in text, and the objects that use them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from bpe.budgets.cuts import Cuts
from bpe.canonical.contents import Contents
from bpe.canonical.healing import Segments, StableEnd
from bpe.canonical.id_cuts import IdCuts
from bpe.encoding.added_tokens import AddedToken, is_white
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.python_backend import unknown_id
from bpe.once import once
from bpe.types import Special
from pretok.pre_tokenizer import PreTokenizer


def searched_tokens(special: Special, added: Iterable[AddedToken]) -> list[AddedToken]:
    """Return the added tokens that a policy finds in text."""
    if special == "allow":
        return list(added)
    ordinary = [token for token in added if not token.special]
    if special == "plain":
        return []
    if special == "content":
        return [token for token in ordinary if is_white(token.content)]
    names: Collection[str] = () if isinstance(special, str) else special
    return [token for token in added if not token.special or token.content in names]


class Searched:
    """The added tokens that a policy finds in text, and the objects that depend on them."""

    def __init__(
        self,
        special: Special,
        added: Iterable[AddedToken],
        pipeline: Pipeline,
        cuts: Cuts | None,
        split: object,
        tokens: Mapping[int, bytes],
    ) -> None:
        """Store the parts; `tokens` has the bytes of all tokens."""
        self.special = special
        self.tokens = searched_tokens(special, added)
        self._pipeline, self._cuts, self._split = pipeline, cuts, split
        self._bytes_of = partial(_bytes_of, tokens)
        self.segments: Segments = partial(pipeline.segments, special=special)
        """Returns the start, the end and the id of each segment of a text."""

    @once
    def contents(self) -> Contents:
        """The texts of the tokens."""
        return Contents(self.tokens)

    @once
    def id_cuts(self) -> IdCuts:
        """A search for cuts between ids."""
        assert self._cuts is not None, "TokenizerCanonical._has_id_cuts"
        return IdCuts(self._cuts, self.contents, self._bytes_of)

    @once
    def stable_end(self) -> StableEnd:
        """A search for the end of the part of a text that more text does not change."""
        assert self._cuts is not None
        assert isinstance(self._split, PreTokenizer)
        has_lstrip = any(token.lstrip for token in self.tokens)
        normalizes = self._cuts.normalizes
        return StableEnd(self._split, self.contents, self.segments, has_lstrip, normalizes)

    def encode(self, texts: Sequence[bytes]) -> list[list[int]]:
        """Return the ids of each text."""
        return self._pipeline.encode_batch(list(texts), self.special, "replace", 1)


def _bytes_of(tokens: Mapping[int, bytes], id: int) -> bytes:
    """Return the bytes of an id; raise UnknownTokenError if no token has it."""
    try:
        return tokens[id]
    except KeyError:
        raise unknown_id([id], tokens) from None

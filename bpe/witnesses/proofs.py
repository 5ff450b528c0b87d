"""Define Proofs, which proves that no pre-token of any text holds a text."""

from __future__ import annotations

from collections.abc import Sequence

from bpe.errors import shortened
from bpe.tokenizer import Tokenizer
from bpe.witnesses.absent import breaking_token, is_absent
from bpe.witnesses.records import TokenReach
from pretok.machine.holding import Holding, Place
from pretok.pre_tokenizer import PreTokenizer

Verdict = tuple[TokenReach, str]
"""The kind of a token, and the sentence that says why."""

UNPROVEN: Verdict = "unproven", "no witness was found, and no proof that there is none"


class Proofs:
    """The proofs that come from the normalizer, added tokens and pre-tokenizer of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._normalizer = tokenizer.normalizer
        self._added = tokenizer.added_tokens
        split = tokenizer.pre_tokenizer
        self._holding: Holding | None = None
        if isinstance(split, PreTokenizer):
            self._holding = Holding(split.preset.stages, split.unicode)

    def of_text(self, text: str) -> Verdict:
        """Return the proof that no token has `text` as a part of its bytes, or UNPROVEN."""
        if self.is_absent(text):
            return "normalizer", f"the normalizer never leaves {shortened(text)} in a text"
        added = breaking_token(self._added, self._normalizer, text)
        if added is not None:
            return "hidden", f"the added token {shortened(added.content)} always matches in it"
        if not self.may_hold(text):
            return "split", f"the pre-tokenizer always splits {shortened(text)}"
        return UNPROVEN

    def is_absent(self, text: str) -> bool:
        """Return True if no normalized text has `text` as a part."""
        return is_absent(self._normalizer, text)

    def may_hold(self, places: Sequence[Place]) -> bool:
        """Return False if no pre-token holds these characters, one after the other."""
        return self._holding is None or not places or self._holding.may_hold(places)


def merges_verdict(ids: Sequence[int]) -> Verdict:
    """Return the verdict about a token that merges do not make; they make `ids` of its bytes."""
    shown = ", ".join(map(str, ids[:8])) + (", …" if len(ids) > 8 else "")
    return "merges", f"merges turn its bytes into the ids {shown}"

"""Find witnesses and proofs for the tokens of a byte-level vocabulary.

Merges make a token if and only if they turn its bytes alone into it. Proof: in a pre-token whose
tokens include this token, no merge crosses its borders. So the merges within its bytes are the
merges of these bytes alone, in the same order, also if several pairs have the same rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bpe.encoding.utf8 import ESCAPE
from bpe.errors import shortened
from bpe.merge import FindMerge, merge, merge_finder
from bpe.once import once
from bpe.tokenizer import Tokenizer
from bpe.witnesses.chains import Chain, Chains
from bpe.witnesses.proofs import UNPROVEN, Proofs, Verdict, merges_verdict
from bpe.witnesses.search import Search, context_pairs
from bpe.witnesses.utf8_parts import completions, parts_of
from pretok.machine.holding import ANY, Place

FEW_CHAINS = 32
"""The number of chains of a token to encode in a first search."""
MAX_CHAINS = 1 << 14
"""The maximal number of chains of a token; with more, nothing is proven about its neighbors."""
IN_CONTEXT = 4
"""The number of chains of a token to encode in each context."""


class Viable(NamedTuple):
    """The chains of a token that no proof excludes; `seen` counts all chains.

    `are_absent` is true if no normalized text has the characters of any chain. `is_complete` is
    true unless the search for chains stopped early.
    """

    chains: list[Chain]
    seen: int
    are_absent: bool
    is_complete: bool


class ByteTokens:
    """Searches for the tokens in `wanted`, which maps ids to bytes, and proves the rest dead."""

    def __init__(self, tokenizer: Tokenizer, wanted: dict[int, bytes], search: Search) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = tokenizer.vocabulary
        self._wanted = wanted
        self._search = search
        self._proofs = Proofs(tokenizer)
        self._parts = {id: parts_of(token) for id, token in wanted.items()}
        self._verdicts: dict[int, Verdict] = {}

    def search(self) -> None:
        """Search for a str that becomes each token, then for bytes."""
        search = self._search
        texts = {id: [parts.text] for id, parts in self._parts.items() if parts.is_whole}
        search.add([text for (text,) in texts.values()])
        for id in sorted(search.left & self._wanted.keys()):
            if id not in texts and id in search.left:
                texts[id] = self._completed(id)
                search.add(texts[id])
        rest = {
            id: some[:IN_CONTEXT]
            for id, some in texts.items()
            if id in search.left and self.verdict(id) == UNPROVEN
        }
        search.add_in_contexts(rest, context_pairs(self._tokenizer))
        search.add([self._wanted[id] for id in sorted(search.left & self._wanted.keys())])

    def verdict(self, id: int) -> Verdict:
        """Return the proof that no str becomes the token, or UNPROVEN."""
        if id not in self._verdicts:
            self._verdicts[id] = self._verdict(id)
        return self._verdicts[id]

    def verdict_of_bytes(self, id: int) -> Verdict:
        """Return the proof that no bytes become the token either, or UNPROVEN."""
        kind, reason = self.verdict(id)
        parts = self._parts[id]
        # A lookup of whole pre-tokens may find bytes that are not valid UTF-8.
        if kind == "merges" and (parts.is_whole or not self._vocabulary.ignore_merges):
            return kind, reason
        if kind in ("normalizer", "hidden") or (parts.is_whole and kind != "merges"):
            return kind, reason
        if not self._is_split_in_bytes(id):
            return UNPROVEN
        return "split", f"the pre-tokenizer always splits {shortened(self._wanted[id])}"

    def _verdict(self, id: int) -> Verdict:
        parts = self._parts[id]
        ids = self._merged(self._wanted[id])
        # No pre-token of a str equals a token that begins or ends within a character.
        if ids != [id] and not (parts.is_whole and self._vocabulary.ignore_merges):
            return merges_verdict(ids)
        if not parts.is_valid:
            return "bytes", "its bytes are never part of valid UTF-8"
        verdict = self._proofs.of_text(parts.text) if parts.text else UNPROVEN
        if parts.is_whole or verdict != UNPROVEN:
            return verdict
        viable = self._viable(id)
        if viable.chains or not viable.is_complete:
            return UNPROVEN
        if not viable.seen:
            return "bytes", "in valid UTF-8, merges join its ends with the rest of the character"
        if viable.are_absent:
            return "normalizer", "the normalizer leaves none of its characters in a text"
        return "split", f"the pre-tokenizer always splits {shortened(self._wanted[id])}"

    def _viable(self, id: int, completes: bool = True) -> Viable:
        """Return chains of a token that no proof excludes."""
        parts = self._parts[id]
        proofs = self._proofs
        chains: list[Chain] = []
        are_absent, seen = True, 0
        for chain in self._chains.of(id, completes):
            seen += 1
            text = chain.first + parts.text + chain.last
            is_absent = proofs.is_absent(text)
            are_absent &= is_absent
            if not is_absent and proofs.may_hold(text):
                chains.append(chain)
            if len(chains) == FEW_CHAINS or seen == MAX_CHAINS:
                return Viable(chains, seen, are_absent, False)
            if seen == FEW_CHAINS and not chains and not parts.is_inner:
                ends = (_completions(parts.head, False), _completions(parts.tail, True))
                if not proofs.may_hold([*ends[0], *parts.text, *ends[1]]):
                    return Viable([], seen, False, True)
        return Viable(chains, seen, are_absent, True)

    def _is_split_in_bytes(self, id: int) -> bool:
        """Return whether the pre-tokenizer splits the token in any bytes, valid UTF-8 or not.

        The bytes of an incomplete character are invalid: each is a surrogate in the split.
        """
        parts = self._parts[id]
        if parts.is_inner:
            return False
        if parts.is_valid:
            viable = self._viable(id, completes=False)
            if viable.chains or not viable.is_complete:
                return False
        head, tail = (data.decode("utf-8", ESCAPE) for data in (parts.head, parts.tail))
        # The first bytes of `head` may complete another character.
        broken: list[list[Place]] = [[*[ANY] * bool(at), *head[at:]] for at in range(len(head))]
        firsts = [_completions(parts.head, False), *broken]
        lasts = [_completions(parts.tail, True), *([[*tail]] if tail else [])]
        return not any(
            self._proofs.may_hold([*first, *parts.text, *last])
            for at, first in enumerate(firsts)
            for last in lasts[parts.is_valid and not at :]
        )

    def _completed(self, id: int) -> list[str]:
        """Return some texts that merge to tokens with this one, by the chains of the token."""
        token = self._wanted[id]
        chains = self._viable(id).chains
        return list(
            dict.fromkeys((chain.before + token + chain.after).decode() for chain in chains)
        )

    @once
    def _chains(self) -> Chains:
        return Chains(self._vocabulary.token_bytes, self._merge_apart)

    @once
    def _merge_apart(self) -> Callable[[bytes], list[int]]:
        """Returns the ids of bytes after all merges, without the lookup of whole pre-tokens."""
        vocabulary, merge_whole = self._vocabulary, self._tokenizer._merge
        if not vocabulary.ignore_merges or vocabulary.from_ranks:
            # If ids are ranks, two tokens merge if their joined bytes are a token. So the lookup
            # finds only bytes that are not two neighbors.
            return merge_whole
        ids = vocabulary.ids
        return lambda data: self._merged(data) if data in ids else merge_whole(data)

    def _merged(self, token: bytes) -> list[int]:
        """Return the ids of some bytes after all merges, without the lookup."""
        byte_ids = self._vocabulary.byte_ids
        if any(byte not in byte_ids for byte in token):
            return []
        return merge([byte_ids[byte] for byte in token], self._find)

    @once
    def _find(self) -> FindMerge:
        return merge_finder(self._vocabulary)


def _completions(part: bytes, is_tail: bool) -> list[Place]:
    """Return the place of the characters that complete a part; none without a part."""
    return [completions(part, is_tail)] if part else []

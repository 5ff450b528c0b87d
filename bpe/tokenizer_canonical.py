"""Define TokenizerCanonical, a base class of Tokenizer: checks of ids, and token healing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import cast

import numpy as np

from bpe.budgets.proofs import CUT, JOINT
from bpe.canonical.bits import has_bit, packed_bits, set_bits
from bpe.canonical.build import (
    Parts,
    make_next_text_ids,
    make_parts,
    unsupported_feature,
    unsupported_policy,
)
from bpe.canonical.contents import is_firm
from bpe.canonical.drift import check_policy, check_start, first_difference, segments_of
from bpe.canonical.healing import Healed, stable_ids, stable_spans
from bpe.canonical.next_ids import NextIds
from bpe.canonical.next_text_ids import NextTextIds
from bpe.canonical.open_ids import is_valid
from bpe.canonical.refusals import RefusedId, refusal
from bpe.canonical.searched import Searched
from bpe.characters.marks import SPACE_MARK
from bpe.decoders.decode import DecodeBytes
from bpe.encoding.arguments import as_bytes
from bpe.encoding.pipeline import Call
from bpe.errors import UnsupportedError, shortened
from bpe.once import kept, once
from bpe.tokenizer_budgets import TokenizerBudgets
from bpe.types import Ids, Special, Text
from pretok.pre_tokenizer import PreTokenizer

MAX_POLICIES = 16
"""The maximal number of policies whose searches are kept."""


class TokenizerCanonical(TokenizerBudgets):
    """Checks whether ids are those that encoding gives; Tokenizer explains the arguments.

    The text of ids is `decode_bytes(ids)`. Ids are canonical if encoding this text gives them.
    """

    __slots__ = ()

    _decode_bytes: DecodeBytes
    _encode_array: Call[Ids]

    def is_canonical(
        self,
        ids: Iterable[int],
        special: Special = "allow",
        *,
        start: int = 0,
        add_special_tokens: bool = False,
    ) -> bool:
        """Return whether encoding the text of `ids` gives `ids`; `first_drift` says where not.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc"], vocab_size=258)
        >>> tok.is_canonical(tok.encode("abc")), tok.is_canonical([*b"abc"])
        (True, False)
        """
        drift = self.first_drift(ids, special, start=start, add_special_tokens=add_special_tokens)
        return drift is None

    def first_drift(
        self,
        ids: Iterable[int],
        special: Special = "allow",
        *,
        start: int = 0,
        add_special_tokens: bool = False,
    ) -> int | None:
        """Return the index of the first id that encoding the text of `ids` does not give, or None.

        If special="allow", this compares `ids` with `encode(decode_bytes(ids), "allow")`, so an
        added token is canonical as its id, and not as ids that spell its text. For any other
        policy, the ids of added tokens stand for themselves, as a segment of ids in
        `encode_segments`, and the policy is that of the text between them. "raise" is no policy
        here. The index is len(ids) if encoding gives `ids` and more. If `add_special_tokens`, `ids`
        must begin and end with the ids of the template.

        `start` says that ids[:start] are known to be canonical. Then only the ids from the last
        provable cut before `start` on are compared, usually a few, so a loop that checks new ids
        takes time in proportion to the new ids. All ids are compared if no cut can be proven, as
        for models whose tokens are text.

        Raises UnknownTokenError for an id that no token has, and ValueError for another `special`
        or `start`. Takes the time of decoding and encoding.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc"], vocab_size=258)
        >>> tok.first_drift([33, 256, 99]), tok.encode("!abc")
        (1, [33, 257])
        """
        check_policy(special)
        ids = _as_sequence(ids)
        check_start(start, len(ids))
        before, after = self.template if add_special_tokens else ((), ())
        if add_special_tokens:
            drift = _template_drift(ids, before, after)
            if drift is not None:
                return drift
            ids = ids[len(before) : len(ids) - len(after)]
            start = min(max(start - len(before), 0), len(ids))
        drift = self._drift(ids, special, start)
        return None if drift is None else drift + len(before)

    def heal(self, ids: Iterable[int], special: Special = "allow", *, start: int = 0) -> Healed:
        """Return the start of `ids` that every continuation of their text keeps, and other bytes.

        A prompt that ends inside a word makes a model predict ids that training has rarely shown:
        "http" and ":" instead of "http:". Token healing cuts the prompt back, and lets the model
        generate the last bytes again. For any text y, the ids of the text of `ids` followed by y
        begin with `Healed.ids`. `Healed.bytes` is the rest of the text. `healing_mask` has the ids
        that may come next. `special` is that of `first_drift`: pass that of the text at the end, so
        that special tokens in the text of a user stay text.

        The result has all ids before the last pre-token that more text may change, and no id of
        this pre-token, although some of its ids may always stay. For models whose tokens are text,
        such as Llama 2, it has the ids before the last two characters that no token joins. It has
        no ids if the tokenizer has a normalizer other than NFC, a pre-tokenizer that is not a
        preset or drops text, or `single_word` tokens. If `ids` are not canonical, `Healed.ids`
        begin the canonical ids of their text. `start` is that of `first_drift`. Raises
        UnknownTokenError for an id that no token has, and ValueError for a wrong `start` or
        `special`. Raises UnsupportedError for another policy than "allow" and a model whose tokens
        are text.

        >>> import bpe
        >>> tok = bpe.train(["http://"] * 9 + ["link"], vocab_size=264, preset="gpt2")
        >>> healed = tok.heal(tok.encode("link http"))
        >>> tok.decode(healed.ids), healed.bytes
        ('link', b' http')
        """
        searched = self._searched(special)
        ids = _as_sequence(ids)
        check_start(start, len(ids))
        cuts = self._cuts
        if special != "allow" and cuts is not None and cuts.is_text:
            raise UnsupportedError(
                f'heal supports only special="allow" for a model whose tokens are text, not '
                f"{shortened(special)}"
            )
        first = 0
        if special != "allow":
            # The ids of added tokens stand for themselves, so only the text after them is open.
            places = (at for at in range(len(ids), 0, -1) if index(ids[at - 1]) in self._added_ids)
            first = next(places, 0)
        before, run, start = ids[:first], ids[first:], max(start - first, 0)
        known = self._cut_before(run, start, special)
        text = self._text_of(run[known:])
        if cuts is None or not (cuts.is_text or self._has_id_cuts):
            return Healed(np.asarray(before, np.uint32), text)
        tail = self._encode_array(text, special, "replace", None, first + known > 0)
        canonical = np.concatenate([np.asarray(run[:known], np.uint32), tail])
        if cuts.is_text:
            _, starts, _ = self._pipeline.spans(text, "allow", "replace", None)
            size = stable_spans(cuts, searched.contents, text, starts)
            return Healed(canonical[:size], text[int(starts[size]) if size else 0 :])
        last = searched.id_cuts.before(canonical, len(canonical) - 1)
        open_ids = canonical[last:].tolist()
        text = self._text_of(open_ids)
        sizes = [len(self._token_bytes_by_id[id]) for id in open_ids]
        size = stable_ids(sizes, searched.stable_end.of(text))
        stable = np.concatenate([np.asarray(before, np.uint32), canonical[: last + size]])
        return Healed(stable, text[sum(sizes[:size]) :])

    def healing_mask(self, text: Text) -> Ids:
        """Return the ids that can begin a text that begins with `text`, as a bit mask.

        The mask is a uint32 array of shape (ceil(vocab_size / 32),): bit id % 32 of word id // 32
        is set if the rendered bytes of the id begin with `text`, or `text` with them. After an id
        that is shorter, call it again with the rest of `text`. It is the first step after `heal`;
        `mask & tok.next_allowed(...)` also excludes ids that are not canonical.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc"], vocab_size=258)
        >>> mask = tok.healing_mask(b"ab")
        >>> [id for id in range(tok.vocab_size) if mask[id // 32] >> id % 32 & 1]
        [97, 256, 257]
        """
        wanted = as_bytes(text) if not isinstance(text, str) else text.encode()
        data, offsets, order = self._rendered
        fits = np.zeros(self.vocab_size, bool)
        low, high = 0, len(order)
        # The tokens that begin with wanted[:size] are consecutive in the order of their bytes.
        for size in range(len(wanted)):
            low, high = _narrowed(data, offsets, order, low, high, size, wanted[size])
            equal = low
            while equal < high and offsets[order[equal] + 1] - offsets[order[equal]] == size + 1:
                fits[order[equal]] = True
                equal += 1
        fits[order[low:high]] = True
        return packed_bits(fits & self._has_token)

    def next_allowed(
        self, ids: Iterable[int], special: Special = "allow", *, start: int = 0
    ) -> Ids:
        """Return the ids that can follow `ids` in canonical ids, as a bit mask.

        The mask is a uint32 array of shape (ceil(vocab_size / 32),): bit id % 32 of word id // 32
        is set if canonical ids exist that begin with `ids` and then this id, and whose text is a
        str, so its UTF-8 is valid. The mask takes the pre-tokenizer, the added tokens and NFC into
        account, not only merges. It has no bit if no canonical ids begin with `ids`. A text may end
        after `ids` if `is_canonical(ids, special)`. `why_refused` explains a missing bit.

        `special` is that of `first_drift`. With "allow", a text that spells a special token is
        refused, because its id is canonical. With "text", "plain" or "content", as servers encode
        what users write, the text is allowed, and the ids of all added tokens may follow any text.

        `start` says that ids[:start] are known to begin the ids of some text, as after an earlier
        call. Then the time does not depend on the number of these ids. The first call prepares
        tables, which takes seconds for 100,000 tokens. Masks of the last open words are kept.

        Raises UnsupportedError, which names the feature. A byte-level tokenizer may not have a
        normalizer other than NFC, a decoder, a prefix space, `single_word` tokens, a pre-tokenizer
        that is not a preset, or a preset with Phrase or Enclosed rules. A model whose tokens are
        text must have tokens for all bytes, no rules that split its text, no normalizer that
        changes more than spaces, and no `single_word` tokens. Its added tokens may have "▁" only if
        none of them has or strips spaces, and `special` must be "allow". Raises UnknownTokenError
        for an id from `start` on that no token has, and ValueError for a wrong `start` or
        `special`.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc"], vocab_size=258, preset="gpt2")
        >>> mask = tok.next_allowed(tok.encode("a"))
        >>> [id for id in b"abc " if mask[id // 32] >> id % 32 & 1] # "ab" would be one token
        [97, 99, 32]
        """
        return self._allowed_words(_as_sequence(ids), special, start)

    def why_refused(
        self, ids: Iterable[int], id: int, special: Special = "allow", *, start: int = 0
    ) -> RefusedId | None:
        """Return why `next_allowed` has no bit for `id`, or None if it has the bit.

        `RefusedId.reason` is a sentence, and `RefusedId.ids` are the ids of a text that shows it.
        For an id that may follow, this takes less time than a mask that is not kept.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc"], vocab_size=258, preset="gpt2")
        >>> tok.why_refused([97], 98)
        RefusedId(reason="merges join b'a' and b'b'", ids=[256])
        """
        ids = _as_sequence(ids)
        if not 0 <= index(id) < self.vocab_size or not self._has_token[id]:
            return RefusedId("the vocabulary has no token with this id", [])
        words = self._allowed_words(ids, special, start, id)
        if has_bit(words, id):
            return None
        if not self._allowed_words(ids, special, start).any() and not self.is_canonical(
            ids, special
        ):
            return RefusedId("no text has ids that begin with these ids", self._shown(ids, special))
        open_ids = ids[self._cut_before(ids, len(ids), special) :]
        shown = self._shown([*open_ids, id], special)
        last = [index(open_ids[-1])] if len(open_ids) else []
        return refusal(
            self._next_ids_of(special), self._added_ids, self._token_bytes_by_id, last, id, shown
        )

    def _allowed_words(
        self, ids: Sequence[int], special: Special, start: int, asked: int | None = None
    ) -> Ids:
        """Return the bit mask of the ids that can follow `ids`; only the bit of `asked` if given.

        A model whose tokens are text takes no less time for one bit.
        """
        check_policy(special)
        check_start(start, len(ids))
        next_ids = self._next_ids_of(special)
        if isinstance(next_ids, NextTextIds):
            for id in ids[start:]:
                self._check_token(index(id))
            return next_ids.allowed(ids, start)

        def is_cut_at(place: int) -> bool:
            return next_ids.may_cut(index(ids[place - 1]), index(ids[place]))

        last = self._cut_before(ids, len(ids), special, is_cut_at)
        known = min(start, last)
        if known < last:
            # The ids from a cut up to `start` on may end a text differently, so they are compared.
            known = self._cut_before(ids, start, special)
        if known < last and self._drift(ids[known:last], special, 0) is not None:
            return packed_bits(np.zeros(self.vocab_size, bool))
        open_ids = tuple(map(index, ids[last:]))
        for id in open_ids:
            self._check_token(id)
        words = next_ids.allowed(open_ids) if asked is None else next_ids.find(open_ids, asked)
        if special == "allow":
            return words
        # The ids of added tokens may follow any text, but they are not those of a text.
        words = words & ~self._added_words
        text = self._text_of(open_ids)
        encoded = self._encode_array(text, special, "replace", None, True)
        is_whole = is_valid(text) and encoded.tolist() == list(open_ids)
        return words | self._added_words if is_whole else words

    @once
    def _added_words(self) -> Ids:
        """The ids of added tokens as a bit mask."""
        words = packed_bits(np.zeros(self.vocab_size, bool))
        set_bits(words, self._added_ids, True)
        return words

    def _shown(self, ids: Sequence[int], special: Special) -> list[int]:
        """Return the ids of the text of `ids`."""
        if special != "allow" and index(ids[-1]) in self._added_ids:
            return [*self._shown(ids[:-1], special), index(ids[-1])] if len(ids) > 1 else [*ids]
        encoded = self._encode_array(self._text_of(ids), special, "replace", None, True)
        return [int(id) for id in encoded]

    def _searched(self, special: Special) -> Searched:
        """Return the added tokens that a policy finds in text."""
        if special == "allow":
            return self._searched_by_allow
        check_policy(special)
        return self._searched_by(self._key_of(special))

    def _key_of(self, special: Special) -> str | frozenset[str]:
        """Return a hashable policy; raise the errors of Policies.added_for."""
        self._pipeline.policy(special)
        return special if isinstance(special, str) else frozenset(special)

    @once
    def _searched_by_allow(self) -> Searched:
        return self._searched_by("allow")

    @kept(MAX_POLICIES)
    def _searched_by(self, special: str | frozenset[str]) -> Searched:
        return Searched(
            cast("Special", special), self.added_tokens, self._pipeline, self._cuts,
            self.pre_tokenizer, self._token_bytes_by_id,
        )  # fmt: skip

    def _next_ids_of(self, special: Special) -> NextIds | NextTextIds:
        """Return the NextIds for a policy; raise UnsupportedError, which names the feature."""
        if special == "allow":
            return self._next_ids
        return self._next_ids_by(self._key_of(special))

    @kept(MAX_POLICIES)
    def _next_ids_by(self, special: str | frozenset[str]) -> NextIds:
        searched = self._searched(cast("Special", special))
        self._check_next(searched)
        if self._cuts is not None and self._cuts.is_text:
            raise _unsupported(f"special={shortened(special)} for a model whose tokens are text")
        found = {token.id for token in searched.tokens}
        made = self._next_parts.made_by_text(self._added_ids - found)
        if made:
            raise _unsupported(
                f"special={shortened(special)} with an added token whose id {made[0]} is that of "
                "text as well"
            )
        return self._next_parts.next_ids(searched.tokens, searched.encode, searched.stable_end.of)

    def _check_next(self, searched: Searched) -> None:
        """Raise UnsupportedError for a feature that the next ids of a policy do not support."""
        feature = unsupported_policy(searched.special, self.added_tokens, searched.tokens)
        feature = feature or unsupported_feature(
            self._cuts, self.pre_tokenizer, searched.tokens, self.vocabulary,
            self.decoder is not None, self.normalizer is not None,
        )  # fmt: skip
        if feature is not None:
            raise _unsupported(feature)

    @once
    def _next_parts(self) -> Parts:
        cuts, split = self._cuts, self.pre_tokenizer
        assert cuts is not None, "_check_next"
        assert isinstance(split, PreTokenizer)
        backend = self._pipeline.backend
        return make_parts(
            cuts, split, self.added_tokens, self.vocabulary, self._merge_rows, self.vocab_size,
            backend.merge if self._pipeline.is_all_native else None,
        )  # fmt: skip

    @once
    def _next_ids(self) -> NextIds | NextTextIds:
        searched = self._searched("allow")
        self._check_next(searched)
        assert self._cuts is not None, "_check_next"
        if not self._cuts.is_text:
            return self._next_parts.next_ids(
                searched.tokens, searched.encode, searched.stable_end.of
            )
        backend = self._pipeline.backend
        # C++ merges pre-tokens in which spaces stand for "▁".
        merges_spaces = self._pipeline.is_all_native and backend.takes_spaces

        def merge_bytes(data: bytes) -> list[int]:
            return backend.merge(data.replace(SPACE_MARK.encode(), b" "))

        return make_next_text_ids(
            self.added_tokens,
            self.vocabulary,
            searched.encode,
            searched.segments,
            self.vocab_size,
            merge_bytes if merges_spaces else None,
        )

    def _drift(self, ids: Sequence[int], special: Special, start: int) -> int | None:
        """Return the index of the first difference for ids without a template."""
        at = self._cut_before(ids, start) if special == "allow" else 0
        tail = ids[at:] if at else ids
        if special == "allow":
            text = self._text_of(tail)
            encoded = self._encode_array(text, special, "replace", None, at > 0)
        else:
            added = self._added_ids
            encoded = self.encode_segments(
                segments_of(tail, added, self._text_of, special), special
            ).ids
        drift = first_difference(tail, encoded)
        return None if drift is None else at + drift

    def _text_of(self, ids: Sequence[int]) -> bytes:
        """Return the text of ids, as `decode_bytes` does."""
        return self._decode_bytes(ids, False)

    def _cut_before(
        self,
        ids: Sequence[int],
        start: int,
        special: Special = "allow",
        is_cut_at: Callable[[int], bool] = lambda joint: False,
    ) -> int:
        """Return the last place up to `start` at which the text of `ids` may be cut, or 0.

        If an id of an added token stands for itself, there is a cut after it. `is_cut_at` says
        whether to cut at a joint.
        """
        for place in range(start, 0, -1):
            if special != "allow" and index(ids[place - 1]) in self._added_ids:
                return place
            if self._has_id_cuts:
                proof = self._searched(special).id_cuts.proof(ids, place)
                if proof == CUT or (proof == JOINT and is_cut_at(place)):
                    return place
        return 0

    @once
    def _has_id_cuts(self) -> bool:
        """True if the bytes of ids are those of their text, and cuts of the text are proven."""
        cuts = self._cuts
        if cuts is None or self.decoder is not None or cuts.is_text or cuts.puts_prefix:
            return False
        normalized = (token for token in self.added_tokens if token.normalized)
        return not cuts.normalizes or all(is_firm(token.content) for token in normalized)

    @once
    def _added_ids(self) -> frozenset[int]:
        return frozenset(token.id for token in self.added_tokens)


def _unsupported(feature: str) -> UnsupportedError:
    return UnsupportedError(
        f"next_allowed does not support {feature}; use is_canonical to check whole texts"
    )


def _as_sequence(ids: Iterable[int]) -> Sequence[int]:
    """Return ids as a list or an array."""
    if isinstance(ids, (list, tuple)):
        return ids
    return ids if isinstance(ids, np.ndarray) else list(ids)  # type: ignore[return-value]


def _template_drift(ids: Sequence[int], before: Sequence[int], after: Sequence[int]) -> int | None:
    """Return the index of the first id that is not that of the template, or None."""
    for at, id in enumerate(before):
        if at >= len(ids) or index(ids[at]) != id:
            return at
    first = len(ids) - len(after)
    if first < len(before):
        return len(ids)
    return next((first + at for at, id in enumerate(after) if index(ids[first + at]) != id), None)


def _narrowed(
    data: np.ndarray[tuple[int], np.dtype[np.uint8]],
    offsets: np.ndarray[tuple[int], np.dtype[np.uint32]],
    order: Ids,
    low: int,
    high: int,
    size: int,
    byte: int,
) -> tuple[int, int]:
    """Return the range of tokens in `order` whose byte at `size` is `byte`, in [low, high)."""
    ids = order[low:high]
    starts, ends = offsets[ids].astype(np.int64), offsets[ids + 1].astype(np.int64)
    has_byte = starts + size < ends
    found = np.full(len(ids), -1, np.int16)
    found[has_byte] = data[starts[has_byte] + size]
    low_at, high_at = np.searchsorted(found, (byte, byte + 1))
    return low + int(low_at), low + int(high_at)

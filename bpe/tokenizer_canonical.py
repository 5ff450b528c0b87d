"""Define TokenizerCanonical, a base class of Tokenizer: checks of ids, and token healing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index

import numpy as np

from bpe.canonical.bits import packed_bits
from bpe.canonical.build import make_next_ids, make_next_text_ids, unsupported_feature
from bpe.canonical.contents import Contents
from bpe.canonical.drift import check_policy, check_start, first_difference, segments_of
from bpe.canonical.healing import Healed, StableEnd, stable_ids, stable_spans
from bpe.canonical.id_cuts import IdCuts
from bpe.canonical.next_ids import NextIds
from bpe.canonical.next_text_ids import NextTextIds
from bpe.canonical.refusals import RefusedId, refusal
from bpe.characters.marks import SPACE_MARK
from bpe.decoders.decode import DecodeBytes
from bpe.encoding.arguments import as_bytes
from bpe.encoding.pipeline import Call
from bpe.errors import UnsupportedError
from bpe.once import once
from bpe.tokenizer_budgets import TokenizerBudgets
from bpe.types import Ids, Special, Text
from pretok.pre_tokenizer import PreTokenizer


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

    def heal(self, ids: Iterable[int], *, start: int = 0) -> Healed:
        """Return the start of `ids` that every continuation of their text keeps, and other bytes.

        A prompt that ends inside a word makes a model predict ids that training has rarely shown:
        "http" and ":" instead of "http:". Token healing cuts the prompt back, and lets the model
        generate the last bytes again. For any text y, the ids of the text of `ids` followed by y,
        with special="allow", begin with `Healed.ids`. `Healed.bytes` is the rest of the text.
        `healing_mask` has the ids that may come next.

        The result has all ids before the last pre-token that more text may change, and no id of
        this pre-token, although some of its ids may always stay. For models whose tokens are text,
        such as Llama 2, it has the ids before the last two characters that no token joins. It has
        no ids if the tokenizer has a normalizer other than NFC, a pre-tokenizer that is not a
        preset or drops text, or `single_word` tokens. If `ids` are not canonical, `Healed.ids`
        begin the canonical ids of their text. `start` is that of `first_drift`. Raises
        UnknownTokenError for an id that no token has, and ValueError for a wrong `start`.

        >>> import bpe
        >>> tok = bpe.train(["http://"] * 9 + ["link"], vocab_size=264, preset="gpt2")
        >>> healed = tok.heal(tok.encode("link http"))
        >>> tok.decode(healed.ids), healed.bytes
        ('link', b' http')
        """
        ids = _as_sequence(ids)
        check_start(start, len(ids))
        known = self._cut_before(ids, start)
        text = self._text_of(ids[known:])
        cuts = self._cuts
        if cuts is None or not (cuts.is_text or self._has_id_cuts):
            return Healed(np.zeros(0, np.uint32), text)
        tail = self._encode_array(text, "allow", "replace", None, known > 0)
        canonical = np.concatenate([np.asarray(ids[:known], np.uint32), tail])
        if cuts.is_text:
            _, starts, _ = self._pipeline.spans(text, "allow", "replace", None)
            size = stable_spans(cuts, self._contents, text, starts)
            return Healed(canonical[:size], text[int(starts[size]) if size else 0 :])
        last = self._cut_before(canonical, len(canonical) - 1)
        open_ids = canonical[last:].tolist()
        text = self._text_of(open_ids)
        sizes = [len(self._bytes_of(id)) for id in open_ids]
        size = stable_ids(sizes, self._stable_end.of(text))
        return Healed(canonical[: last + size], text[sum(sizes[:size]) :])

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

    def next_allowed(self, ids: Iterable[int], *, start: int = 0) -> Ids:
        """Return the ids that can follow `ids` in the ids of some text, as a bit mask.

        The mask is a uint32 array of shape (ceil(vocab_size / 32),): bit id % 32 of word id // 32
        is set if a text exists whose ids, with special="allow", begin with `ids` and then this id.
        A text is a str, so its UTF-8 is valid. The mask takes the pre-tokenizer, the added tokens
        and NFC into account, not only merges. It has no bit if no text has ids that begin with
        `ids`. A text may end after `ids` if `is_canonical(ids)`. `why_refused` explains a missing
        bit.

        `start` says that ids[:start] are known to begin the ids of some text, as after an earlier
        call. Then the time does not depend on the number of these ids. The first call prepares
        tables, which takes seconds for 100,000 tokens. Masks of the last open words are kept.

        Raises UnsupportedError, which names the feature. A byte-level tokenizer may not have a
        normalizer other than NFC, `normalized` tokens with NFC, a decoder, a prefix space,
        `single_word` tokens, a pre-tokenizer that is not a preset, or a preset with Phrase or
        Enclosed rules. A model whose tokens are
        text must have tokens for all bytes, no rules that split its text, no normalizer that
        changes more than spaces, and no `single_word` tokens. Its added tokens may have "▁" only if
        none of them has or strips spaces. Raises UnknownTokenError for an id from `start` on that
        no token has, and ValueError for a wrong `start`.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc"], vocab_size=258, preset="gpt2")
        >>> mask = tok.next_allowed(tok.encode("a"))
        >>> [id for id in b"abc " if mask[id // 32] >> id % 32 & 1] # "ab" would be one token
        [97, 99, 32]
        """
        return self._allowed_words(_as_sequence(ids), start)

    def why_refused(self, ids: Iterable[int], id: int, *, start: int = 0) -> RefusedId | None:
        """Return why `next_allowed` has no bit for `id`, or None if it has the bit.

        `RefusedId.reason` is a sentence, and `RefusedId.ids` are the ids of a text that shows it.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc"], vocab_size=258, preset="gpt2")
        >>> tok.why_refused([97], 98)
        RefusedId(reason="merges join b'a' and b'b'", ids=[256])
        """
        ids = _as_sequence(ids)
        if not 0 <= index(id) < self.vocab_size or not self._has_token[id]:
            return RefusedId("the vocabulary has no token with this id", [])
        words = self._allowed_words(ids, start)
        if words[id // 32] >> id % 32 & 1:
            return None
        if not words.any() and not self.is_canonical(ids):
            return RefusedId("no text has ids that begin with these ids", self._shown(ids))
        shown = self._shown([*ids[self._cut_before(ids, len(ids) - 1) :], id])
        last = [index(ids[-1])] if len(ids) else []
        return refusal(self._next_ids, self._added_ids, self._token_bytes_by_id, last, id, shown)

    def _allowed_words(self, ids: Sequence[int], start: int) -> Ids:
        """Return the bit mask of the ids that can follow `ids`."""
        check_start(start, len(ids))
        next_ids = self._next_ids
        if isinstance(next_ids, NextTextIds):
            for id in ids[start:]:
                self._check_token(index(id))
            return next_ids.allowed(ids, start)
        last = self._cut_before(ids, len(ids) - 1)
        known = min(start, last)
        if known < last:
            # The ids from a cut up to `start` on may end a text differently, so they are compared.
            known = self._cut_before(ids, start)
        if known < last and self._drift(ids[known:last], "allow", 0) is not None:
            return packed_bits(np.zeros(self.vocab_size, bool))
        open_ids = tuple(map(index, ids[last:]))
        for id in open_ids:
            self._check_token(id)
        return next_ids.allowed(open_ids)

    def _shown(self, ids: Sequence[int]) -> list[int]:
        """Return the ids of the text of `ids`."""
        encoded = self._encode_array(self._text_of(ids), "allow", "replace", None, True)
        return [int(id) for id in encoded]

    @once
    def _next_ids(self) -> NextIds | NextTextIds:
        cuts, split, vocabulary = self._cuts, self.pre_tokenizer, self.vocabulary
        feature = unsupported_feature(
            cuts, split, self.added_tokens, vocabulary, self.decoder is not None,
            self.normalizer is not None,
        )  # fmt: skip
        if feature is not None:
            raise UnsupportedError(
                f"next_allowed does not support {feature}; use is_canonical to check whole texts"
            )
        assert cuts is not None
        assert isinstance(split, PreTokenizer)

        def encode(texts: list[bytes]) -> list[list[int]]:
            return self._pipeline.encode_batch(list(texts), "allow", "replace", 1)

        backend = self._pipeline.backend
        # C++ merges pre-tokens in which spaces stand for "▁".
        merges_spaces = self._pipeline.is_all_native and backend.takes_spaces

        def merge_bytes(data: bytes) -> list[int]:
            return backend.merge(data.replace(SPACE_MARK.encode(), b" "))

        if cuts.is_text:
            return make_next_text_ids(
                self.added_tokens,
                vocabulary,
                encode,
                lambda text: self._pipeline.segments(text, "allow"),
                self.vocab_size,
                merge_bytes if merges_spaces else None,
            )
        return make_next_ids(
            cuts,
            split,
            self.added_tokens,
            vocabulary,
            self._merge_rows,
            encode,
            self._stable_end.of,
            self.vocab_size,
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

    def _cut_before(self, ids: Sequence[int], start: int) -> int:
        """Return the last place up to `start` at which the text of `ids` may be cut, or 0."""
        return self._id_cuts.before(ids, start) if start > 0 and self._has_id_cuts else 0

    @once
    def _has_id_cuts(self) -> bool:
        """True if the bytes of ids are those of their text, and cuts of the text are proven."""
        cuts = self._cuts
        if cuts is None or self.decoder is not None or cuts.is_text or cuts.puts_prefix:
            return False
        return not (cuts.normalizes and cuts.has_normalized_tokens)

    @once
    def _added_ids(self) -> frozenset[int]:
        return frozenset(token.id for token in self.added_tokens)

    @once
    def _contents(self) -> Contents:
        return Contents(self.added_tokens)

    @once
    def _id_cuts(self) -> IdCuts:
        cuts = self._cuts
        assert cuts is not None, "_has_id_cuts"
        return IdCuts(cuts, self._contents, self._bytes_of)

    @once
    def _stable_end(self) -> StableEnd:
        cuts, split = self._cuts, self.pre_tokenizer
        assert cuts is not None
        assert isinstance(split, PreTokenizer)
        has_lstrip = any(token.lstrip for token in self.added_tokens)
        return StableEnd(
            split,
            self._contents,
            lambda text: self._pipeline.segments(text, "allow"),
            has_lstrip,
            cuts.normalizes,
        )

    def _bytes_of(self, id: int) -> bytes:
        """Return the bytes of an id; raises UnknownTokenError if no token has it."""
        self._check_token(id)
        return self._token_bytes_by_id[id]


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

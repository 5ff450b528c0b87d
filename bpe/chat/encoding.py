"""Encode chats: ids, the source of each id, and masks for losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bpe.chat.masks import Chosen, Crossing, check_chosen, check_crossing, chosen_intervals, mask_of
from bpe.chat.origins import TextSource
from bpe.chat.rendering import Segments, render
from bpe.chat.white_space import with_white_space
from bpe.encoding.segments import Segmented
from bpe.once import lazy, once
from bpe.tokenizer import Tokenizer
from bpe.types import Errors, Ids, Offsets, Special

if TYPE_CHECKING:
    from bpe.sessions.prompt_cache import PromptCache, PromptIds


class Chat:
    """An encoded chat. The arrays have one item for each of n ids."""

    def __init__(
        self,
        tok: Tokenizer,
        segments: Segments,
        mask: Chosen,
        crossing: Crossing = "any",
        errors: Errors = "replace",
        joined: bool = True,
        end_ids: Iterable[int] | Callable[[], Iterable[int]] | None = None,
        cache: PromptCache | None = None,
        salt: str | bytes = b"",
    ) -> None:
        """Encode `segments`; `encode` explains the other arguments."""
        self._parts = parts = with_white_space(tok, segments)
        self._tok, self._errors, self._joined = tok, errors, joined
        self._given_end_ids = end_ids if end_ids is None or callable(end_ids) else [*end_ids]
        self._mask = mask, crossing
        encoded: Segmented | PromptIds
        if cache is None:
            encoded = self._encoded = tok.encode_segments(parts, errors=errors, joined=joined)
        else:
            encoded = cache.encode_segments(parts, errors=errors, joined=joined, salt=salt)
        self.ids: Ids = encoded.ids
        """The ids: uint32, shape (n,)."""
        self.segments = segments
        """The rendered segments."""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Chat({len(self.ids)} ids of {len(self.segments.roles)} messages)"

    def __getstate__(self) -> dict[str, Any]:
        # A function of a caller may have no pickle, so its ids take its place.
        return {**self.__dict__, "_given_end_ids": self._end_ids}

    @lazy
    def _end_ids(self) -> frozenset[int]:
        given = self._given_end_ids
        if given is None:
            return frozenset(self._tok.end_ids)
        return frozenset(given() if callable(given) else given)

    @lazy
    def _encoded(self) -> Segmented:
        """The ids with their spans; with a cache, made only for masks and sources."""
        return self._tok.encode_segments(self._parts, errors=self._errors, joined=self._joined)

    @once
    def assistant_mask(self) -> NDArray[np.bool_]:
        """For each id, True if the assistant generates it: bool, shape (n,); see `encode`."""
        return self.mask(*self._mask)

    @once
    def source_of(self) -> list[TextSource | None]:
        """The source of each id, which is that of the text in which it begins.

        It is a path such as ("messages", 0, "content"); None for text of the template, and () for
        text without a single place.
        """
        sources = self.segments.sources
        return [sources[segment] for segment in self.segment_of.tolist()]

    @once
    def segment_of(self) -> Offsets:
        """The index of the segment in which each id begins: int64, shape (n,)."""
        if self._parts is self.segments:
            return self._encoded.segment_of
        segment_of = np.searchsorted(self._ends[1:], self.spans[0], side="right")
        return np.minimum(segment_of, len(self.segments) - 1)

    @once
    def end_segment_of(self) -> Offsets:
        """The index of the segment in which each id ends: int64, shape (n,)."""
        if self._parts is self.segments:
            return self._encoded.end_segment_of
        return np.maximum(self.segment_of, np.searchsorted(self._ends[1:], self.spans[1]))

    @once
    def spans(self) -> tuple[Offsets, Offsets]:
        """The start and the end of each id in `segments.text`, in code points: int64 arrays."""
        ends = _ends_of(self._parts)
        starts = ends[self._encoded.segment_of] + self._encoded.starts
        return starts, ends[self._encoded.end_segment_of] + self._encoded.stops

    @once
    def _ends(self) -> Offsets:
        """0, and the ends of the segments in `segments.text`."""
        return _ends_of(self.segments)

    def mask(self, chosen: Chosen = "generation", crossing: Crossing = "any") -> NDArray[np.bool_]:
        """Return whether each id belongs to the chosen text: bool, shape (n,).

        `chosen` is "generation" for the text of `{% generation %}` blocks, a role, a set of roles,
        or a function of a source (see `source_of`) that returns a bool.

        The text of a role is that of its messages. It includes text of the template between two
        fields of a message, and after its last field up to the first end id, so that a model
        learns to end a turn. It does not include text before the first field.

        `crossing` says when an id counts that is only partly in the text: "any" if a part of it is,
        as in transformers, "begins" or "ends" if its first or last character is, and "whole" if all
        of it is.
        """
        intervals = [
            (int(self._ends[first]), int(self._ends[last + 1]) if stop is None else stop)
            for first, last, stop in chosen_intervals(self.segments, chosen, self._end_of_turn)
        ]
        return mask_of(*self.spans, intervals, crossing)

    def _end_of_turn(self, segment: int, following: int) -> int | None:
        """Return the end of the first end id between two segments, or None if there is none."""
        starts = np.maximum.accumulate(self.spans[0])
        first, last = np.searchsorted(starts, self._ends[[segment + 1, following]]).tolist()
        for at in range(first, last):
            if int(self.ids[at]) in self._end_ids:
                return int(self.spans[1][at])
        return None


def _ends_of(segments: Iterable[tuple[str, Special]]) -> Offsets:
    return np.cumsum([0, *(len(text) for text, _ in segments)], dtype=np.int64)


def encode(
    tok: Tokenizer,
    messages: Sequence[Mapping[str, Any]],
    *,
    mask: Chosen | None = None,
    crossing: Crossing = "any",
    errors: Errors = "replace",
    joined: bool = True,
    end_ids: Iterable[int] | Callable[[], Iterable[int]] | None = None,
    cache: PromptCache | None = None,
    salt: str | bytes = b"",
    **kwargs: Any,
) -> Chat:
    """Return the ids of a chat; `kwargs` are the arguments of `render`.

    Only text of the template becomes added tokens. Otherwise the ids are those of the whole text.
    Added tokens of white space, which are formatting in some vocabularies, are found in all text.

    `assistant_mask` is the result of `Chat.mask(mask, crossing)`. Without `mask` it has the ids of
    `{% generation %}` blocks, or, if the template has no such block, those of the role
    "assistant". `end_ids` are the ids that end a turn, or a function that returns them for a mask;
    by default `Tokenizer.end_ids`.

    `errors` and `joined` are those of `Tokenizer.encode_segments`. With a `cache`, the ids are
    those of `cache.encode_segments` with this `salt`, which copies parts that earlier chats had;
    masks and sources still encode the chat. Raises the errors of `render` and of
    `encode_segments`, TypeError or ValueError for a wrong `mask` or `crossing`, and ValueError if
    `cache` belongs to another tokenizer.

    >>> import bpe
    >>> from bpe import chat
    >>> end = bpe.AddedToken("<e>", 256, special=True)
    >>> tok = bpe.Tokenizer(bpe.train([], vocab_size=256).vocabulary, "gpt2", added_tokens=[end])
    >>> template = "{% for m in messages %}{{ m.content }}<e>{% endfor %}"
    >>> encoded = chat.encode(tok, [{"role": "user", "content": "<e>"}], chat_template=template)
    >>> encoded.ids.tolist(), encoded.source_of[2:]
    ([60, 101, 62, 256], [('messages', 0, 'content'), None])
    """
    if cache is not None and cache.tokenizer is not tok:
        raise ValueError(
            f"expected a cache of this tokenizer, got {cache!r}; make it with bpe.PromptCache(tok)"
        )
    if mask is not None:
        check_chosen(mask)
    if crossing != "any":
        check_crossing(crossing)
    segments = render(tok, messages, **kwargs)
    if mask is None:
        mask = "generation" if segments.has_generation else "assistant"
    return Chat(tok, segments, mask, crossing, errors, joined, end_ids, cache, salt)

"""Let messages hold added tokens of white space, which are formatting in some vocabularies.

The added tokens of Gemma include "\\n\\n", and those of GPT-NeoX runs of spaces. They control
nothing, but a model was trained with them in every text. So a run of white space becomes a segment
of its own, in which added tokens are found, also if only a part of the run is text of a message. No
other added token fits into such a segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.chat.rendering import Segments
from bpe.once import once
from bpe.tokenizer import Tokenizer
from bpe.types import Offsets, Special

Flags: TypeAlias = "NDArray[np.bool_]"


class _Spaces(NamedTuple):
    tokens: tuple[str, ...]
    """The added tokens that consist of white space."""
    code_points: tuple[int, ...]
    """The code points of these tokens."""
    shortest: int
    """The size of the shortest one."""
    is_alone: bool
    """True if no other added token begins or ends with white space."""


# A property of Tokenizer for this module. A dictionary of tokenizers would compare vocabularies.
@once
def _spaces(tok: Tokenizer) -> _Spaces | None:
    """The added tokens of white space, or None if there is none or one is special."""
    added = [(token.content, token.special) for token in tok.added_tokens]
    spaces = [content for content, _ in added if content.isspace()]
    if not spaces or any(special for content, special in added if content.isspace()):
        return None
    others = (content for content, _ in added if not content.isspace())
    return _Spaces(
        tuple(spaces),
        tuple({ord(character) for content in spaces for character in content}),
        min(map(len, spaces)),
        all(content == content.strip() for content in others),
    )


def with_white_space(tok: Tokenizer, segments: Segments) -> Sequence[tuple[str, Special]]:
    """Return the segments to encode: those of `segments`, or others if a run needs its own."""
    spaces = _spaces.__get__(tok)
    text = "" if spaces is None else segments.text
    if spaces is None or not any(token in text for token in spaces.tokens):
        return segments
    sizes = [len(part) for part, _ in segments]
    is_plain = np.repeat([special == "plain" for _, special in segments], sizes)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    is_space = np.isin(codes, spaces.code_points)
    if not spaces.is_alone:
        is_space &= is_plain
    starts, stops = _runs(is_space, is_plain, spaces.shortest)
    ends = np.cumsum(sizes)
    run = np.searchsorted(stops, ends, side="right")  # the first run that ends after each end
    is_inside = np.append(starts, len(text))[run] < ends
    bounds = np.unique(np.concatenate([[0], starts, stops, ends[~is_inside]]))
    firsts = bounds[:-1]
    places = zip(
        firsts.tolist(),
        bounds[1:].tolist(),
        np.isin(firsts, starts).tolist(),
        np.searchsorted(ends, firsts, side="right").tolist(),
        strict=True,
    )
    return [
        (text[start:stop], "allow" if is_run else segments[at][1])
        for start, stop, is_run, at in places
    ]


def _runs(is_space: Flags, is_plain: Flags, shortest: int) -> tuple[Offsets, Offsets]:
    """Return the starts and stops of the runs of white space with some text of a message."""
    edges = np.flatnonzero(np.diff(is_space, prepend=False, append=False)).reshape(-1, 2)
    before = np.concatenate([[0], np.cumsum(is_plain)])
    is_kept = before[edges[:, 1]] > before[edges[:, 0]]
    is_kept &= edges[:, 1] - edges[:, 0] >= shortest
    starts, stops = edges[is_kept].T
    return starts, stops

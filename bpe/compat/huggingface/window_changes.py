"""Change a window as the methods of tokenizers.Encoding change an encoding.

Each function but `window_of` has the arguments of the method with its name, and raises its errors.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from bpe.compat.huggingface.record import rust
from bpe.compat.huggingface.rows import ListedRow
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.windows import Padding, Part, Window


def pad(
    window: Window, /, length: int, *, direction: str = "right", pad_id: int = 0,
    pad_type_id: int = 0, pad_token: str = "[PAD]", **options: Any,
) -> Window:  # fmt: skip
    """Return the window and its overflow, padded to `length` ids."""
    rust.ignore(options)
    size = rust.size(length)
    padding = Padding(
        None,
        rust.direction(direction),
        rust.id_number(pad_id),
        rust.text(pad_token),
        rust.id_number(pad_type_id),
        None,
    )
    return window.padded(size, padding)


def truncate(
    window: Window, /, max_length: int, stride: int = 0, direction: str = "right"
) -> Window:
    """Return the first window of `max_length` ids; the other windows are its overflow."""
    limit, stride = rust.size(max_length), rust.size(stride)
    if rust.text(direction) not in ("left", "right"):
        raise ValueError(f"Invalid truncation direction value : {direction}")
    try:
        return window.truncated(limit, stride, "left" if direction == "left" else "right")
    except CallFallbackError as error:
        raise Exception(error.error) from None


def set_sequence_id(window: Window, /, sequence_id: int) -> Window:
    """Return the window as the range of one more sequence."""
    result = Window(window.parts, window.ranges, window.overflowing)
    result.set_sequence(rust.size(sequence_id))
    return result


def window_of(state: dict[str, Any]) -> Window:
    """Return the window with the values of the pickled state of an encoding."""
    ids = state["ids"]
    row = ListedRow(ids, state["tokens"], list(map(tuple, state["offsets"])), state["words"])
    kinds = list(
        zip(state["type_ids"], state["attention_mask"], state["special_tokens_mask"], strict=True)
    )
    parts = []
    for kind, run in groupby(range(len(ids)), key=kinds.__getitem__):
        start, *rest = run
        parts.append(Part(row, start, start + 1 + len(rest), *kind))
    ranges = {
        int(sequence): (range["start"], range["end"])
        for sequence, range in state["sequence_ranges"].items()
    }
    return Window(tuple(parts), ranges, map(window_of, state["overflowing"]))

"""Parse untrusted JSON, with limits on the size of the text and the number of lists and objects."""

from __future__ import annotations

import json
from typing import Any

MAX_BYTES = 1 << 27
"""Maximum bytes of JSON text: four times the size of the largest published tokenizer.json."""
_BYTES_PER_CONTAINER = 8
"""The text may have one list or object for each group of this many bytes."""
_MIN_CONTAINER_LIMIT = 1000
"""In addition, every text may have this many lists and objects."""


def parse(data: bytes) -> Any:
    """Return the value of `data`, which is JSON text in UTF-8.

    Raises ValueError if `data` is not JSON, is not UTF-8 or is rejected by `check`.
    Rejects NaN and Infinity, which json.loads accepts although they are not JSON.
    """
    check(data)
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
    except (json.JSONDecodeError, UnicodeDecodeError, _ConstantError):
        raise
    except ValueError:
        raise ValueError("the JSON has a number that cannot be read: too many digits") from None


def check(data: bytes) -> None:
    """Raise ValueError if `data` is larger, or has more lists and objects, than a tokenizer has.

    Lists and objects take many times the memory of their text, so MAX_BYTES alone does not bound
    the memory. cpp/formats/tokenizer_json.cpp has the same limits.
    """
    if len(data) > MAX_BYTES:
        raise ValueError(f"the JSON has {len(data):,} bytes; a tokenizer has {MAX_BYTES:,} at most")
    # The count includes brackets in strings, so it may be too high. A tokenizer may have a list of
    # two strings for each merge. Such a list takes at least ten bytes, so the limit of one list for
    # each _BYTES_PER_CONTAINER bytes allows it.
    count = data.count(b"[") + data.count(b"{")
    if count > _MIN_CONTAINER_LIMIT + len(data) // _BYTES_PER_CONTAINER:
        raise ValueError(
            f"the JSON has {count:,} lists and objects in {len(data):,} bytes, more than a "
            "tokenizer has"
        )


class _ConstantError(ValueError):
    """The text has NaN or Infinity."""


def _refuse(constant: str) -> None:
    raise _ConstantError(f"the text has {constant}, which JSON does not have")

"""Parsing JSON of others with limits: objects of Python take many times the room of their text."""

from __future__ import annotations

import json
from typing import Any

MOST_BYTES = 1 << 27
"""The largest tokenizer.json there is has a quarter of it."""
_BYTES_EACH = 8
_MOST_OF_FEW = 1000


def parse(data: bytes) -> Any:
    """Return the value that JSON text in UTF-8 holds.

    Raises ValueError for text that is not JSON, or not UTF-8; json.loads takes NaN and Infinity,
    which are not JSON. Raises ValueError for what `check` refuses.
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
    """Raise ValueError if JSON is larger, or has more lists and objects, than a tokenizer has.

    Lists and objects take many times the memory of their text: there may be one to _BYTES_EACH
    bytes. cpp/formats/tokenizer_json.cpp has the same limits.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(
            f"the JSON has {len(data):,} bytes; a tokenizer has {MOST_BYTES:,} at most"
        )
    # Brackets in strings count, too. A merge as a list of two strings takes ten bytes or more.
    count = data.count(b"[") + data.count(b"{")
    if count > _MOST_OF_FEW + len(data) // _BYTES_EACH:
        raise ValueError(
            f"the JSON has {count:,} lists and objects in {len(data):,} bytes, more than a "
            "tokenizer has"
        )


class _ConstantError(ValueError):
    """The text has NaN or Infinity."""


def _refuse(constant: str) -> None:
    raise _ConstantError(f"the text has {constant}, which JSON does not have")

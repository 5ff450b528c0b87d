"""pre_tokenizer objects of tokenizer.json."""

from __future__ import annotations

from typing import Any


def byte_level(**changes: bool) -> dict[str, Any]:
    """Return the pre-tokenizer or decoder ByteLevel."""
    options = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"type": "ByteLevel", **options, **changes}


def split(pattern: str, behavior: str = "Isolated", invert: bool = False) -> dict[str, Any]:
    kind = {"type": "Split", "pattern": {"Regex": pattern}}
    return {**kind, "behavior": behavior, "invert": invert}


def literal(text: str, behavior: str = "Isolated", invert: bool = False) -> dict[str, Any]:
    return {**split("", behavior, invert), "pattern": {"String": text}}


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


# A ByteLevel that does not split.
BYTES = byte_level(use_regex=False)

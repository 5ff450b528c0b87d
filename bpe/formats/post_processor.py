"""Convert the post_processor of a tokenizer.json to a Template and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bpe.formats.json_value import Value
from bpe.types import MAX_TEMPLATE_IDS, Template
from bpe.vocabulary import ID_LIMIT

_MAX_ENTRIES = MAX_TEMPLATE_IDS + 1  # with the entry that stands for the text


def read(post_processor: Value) -> Template:
    """Return the ids that a post_processor puts before and after the ids of one text.

    Raises UnsupportedError if the post_processor changes ids in another way, and VocabularyError if
    it is malformed.
    """
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    # Each processor puts its ids around the ids of the processors before it.
    for part in post_processor.parts("processors"):
        if part.value is None:
            continue
        kind = part.kind()
        count = len(before) + len(after)
        if kind == "TemplateProcessing":
            first, last = _template(part, count)
            before, after = first + before, after + last
        elif kind in ("RobertaProcessing", "BertProcessing"):
            part.only("type", "sep", "cls", "trim_offsets", "add_prefix_space")
            check_size(part, count + 2)
            before, after = _id_of(part["cls"]) + before, after + _id_of(part["sep"])
        elif kind != "ByteLevel":  # ByteLevel changes only offsets
            raise part.unsupported(
                "expected TemplateProcessing, RobertaProcessing, BertProcessing or ByteLevel"
            )
    return Template(before, after)


def read_trims(post_processor: Value) -> tuple[bool, ...]:
    """Return `add_prefix_space` of each processor that trims offsets."""
    return tuple(
        part["add_prefix_space"].flag(default=True)
        for part in post_processor.parts("processors")
        if part.value is not None
        and part.kind() in ("ByteLevel", "RobertaProcessing")
        and part["trim_offsets"].flag(default=True)
    )


def check_entries(entries: Value) -> None:
    """Raise VocabularyError if `entries`, a list of a TemplateProcessing, is too long."""
    if len(entries.values()) > _MAX_ENTRIES:
        raise entries.malformed(
            f"at most {_MAX_ENTRIES} entries, got {len(entries.values())}; remove some of them"
        )


def check_size(entry: Value, count: int) -> None:
    """Raise VocabularyError if `count` ids, up to `entry` of a template, are too many."""
    if count > MAX_TEMPLATE_IDS:
        raise entry.malformed(
            f"a template of at most {MAX_TEMPLATE_IDS} ids, got {count} up to this entry; remove "
            "entries, or ids of special_tokens"
        )


def write(
    template: Template, trims: Iterable[bool], names: Mapping[int, str]
) -> dict[str, Any] | None:
    """Return the post_processor for `template` and `trims`; `names` maps ids to token names."""
    parts: list[dict[str, Any]] = [
        {
            "type": "ByteLevel",
            "add_prefix_space": keeps_first,
            "trim_offsets": True,
            "use_regex": True,
        }
        for keeps_first in trims
    ]
    if template != Template():
        parts.append(_write_template(template, names))
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", "processors": parts}


def _write_template(template: Template, names: Mapping[int, str]) -> dict[str, Any]:

    def around(sequence: str, type_id: int) -> list[dict[str, Any]]:
        def special(id: int) -> dict[str, Any]:
            return {"SpecialToken": {"id": names[id], "type_id": type_id}}

        return [
            *map(special, template.before),
            {"Sequence": {"id": sequence, "type_id": type_id}},
            *map(special, template.after),
        ]

    used = sorted({names[id]: id for id in (*template.before, *template.after)}.items())
    return {
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": around("A", 0) + around("B", 1),
        "special_tokens": {name: {"id": name, "ids": [id], "tokens": [name]} for name, id in used},
    }


def _template(part: Value, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids that a TemplateProcessing puts before and after the ids of one text.

    `count` is the number of ids that other processors have put there.
    """
    part.only("type", "single", "pair", "special_tokens")
    check_entries(part["single"])
    sides: list[tuple[int, ...]] = [()]
    for piece in part["single"].items():
        piece.only("SpecialToken", "Sequence")
        if piece["SpecialToken"].value is not None:
            name = piece["SpecialToken"]["id"].text()
            ids = part["special_tokens"][name]["ids"]
            count += len(ids.values())
            check_size(piece, count)
            sides[-1] += tuple(_id(id) for id in ids.items())
        elif piece["Sequence"]["id"].text() != "A" or len(sides) == 2:
            raise piece.unsupported('expected the Sequence "A" exactly once')
        else:
            sides.append(())
    if len(sides) != 2:
        raise part["single"].unsupported('expected the Sequence "A" exactly once')
    return sides[0], sides[1]


def _id_of(pair: Value) -> tuple[int]:
    """Return the id in a list [text, id]."""
    items = list(pair.items())
    if len(items) != 2:
        raise pair.malformed("a list of a text and its id")
    items[0].text()
    return (_id(items[1]),)


def _id(value: Value) -> int:
    if not 0 <= value.number() < ID_LIMIT:
        raise value.malformed(f"an id from 0 to {ID_LIMIT - 1}")
    return value.number()

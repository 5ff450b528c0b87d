"""Convert the post_processor of a tokenizer.json to a Template and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bpe.formats.json_value import BYTE_LEVEL, Value
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
        kind = kind_of(part)
        count = len(before) + len(after)
        if kind == "TemplateProcessing":
            first, last = _template(part, count)
            before, after = first + before, after + last
        elif kind != "ByteLevel":  # ByteLevel changes only offsets
            _check_size(part, count + 2)
            cls, sep = ((_id(text_and_id(part[name])[1]),) for name in ("cls", "sep"))
            before, after = cls + before, after + sep
    return Template(before, after)


def kind_of(processor: Value) -> str:
    """Return the kind of a processor, which is not null.

    Raises UnsupportedError for a kind that bpe does not know, and for unknown members.
    """
    kind = processor.kind()
    if kind == "TemplateProcessing":
        processor.only("type", "single", "pair", "special_tokens")
    elif kind in ("RobertaProcessing", "BertProcessing"):
        processor.only("type", "sep", "cls")
        # tokenizers tells the two apart by these members, not by the type.
        has_both = all(processor[name].value is not None for name in BYTE_LEVEL[:2])
        kind = "RobertaProcessing" if has_both else "BertProcessing"
    elif kind == "ByteLevel":
        processor.only("type")
    else:
        raise processor.unsupported(
            "expected TemplateProcessing, RobertaProcessing, BertProcessing or ByteLevel"
        )
    return kind


def entries(processor: Value, name: str, count: int = 0) -> Iterator[tuple[Value, Value | None]]:
    """Yield each entry of the template `name` of a TemplateProcessing, and its special token.

    The special token is the object in `special_tokens` that the entry names; None for an entry
    that stands for a sequence. Raises VocabularyError if the template has too many entries, or too
    many ids together with `count` other ids.
    """
    listed = processor[name]
    if len(listed.values()) > _MAX_ENTRIES:
        raise listed.malformed(
            f"at most {_MAX_ENTRIES} entries, got {len(listed.values())}; remove some of them"
        )
    for entry in listed.items():
        entry.only("SpecialToken", "Sequence")
        if entry["SpecialToken"].value is None:
            yield entry, None
            continue
        token = processor["special_tokens"][entry["SpecialToken"]["id"].text()]
        count += len(token["ids"].values())
        _check_size(entry, count)
        yield entry, token


def text_and_id(pair: Value) -> tuple[Value, Value]:
    """Return the two items of a list [text, id]."""
    items = list(pair.items())
    if len(items) != 2:
        raise pair.malformed("a list of a text and its id")
    items[0].text()
    return items[0], items[1]


def read_trims(post_processor: Value) -> tuple[bool, ...]:
    """Return `add_prefix_space` of each processor that trims offsets."""
    return tuple(
        part["add_prefix_space"].flag(default=True)
        for part in post_processor.parts("processors")
        if part.value is not None
        and kind_of(part) in ("ByteLevel", "RobertaProcessing")
        and part["trim_offsets"].flag(default=True)
    )


def _check_size(entry: Value, count: int) -> None:
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
    sides: list[tuple[int, ...]] = [()]
    for entry, token in entries(part, "single", count):
        if token is not None:
            sides[-1] += tuple(map(_id, token["ids"].items()))
        elif entry["Sequence"]["id"].text() != "A" or len(sides) == 2:
            raise entry.unsupported('expected the Sequence "A" exactly once')
        else:
            sides.append(())
    if len(sides) != 2:
        raise part["single"].unsupported('expected the Sequence "A" exactly once')
    return sides[0], sides[1]


def _id(value: Value) -> int:
    if not 0 <= value.number() < ID_LIMIT:
        raise value.malformed(f"an id from 0 to {ID_LIMIT - 1}")
    return value.number()

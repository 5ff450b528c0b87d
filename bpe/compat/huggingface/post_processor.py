"""Define PostProcessor: the post_processor of a tokenizer.json, for one sequence and for pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from bpe.compat.huggingface.align import Span
from bpe.compat.huggingface.rows import Row
from bpe.compat.huggingface.windows import Part, Window, first_type, fixed, merge
from bpe.errors import UnsupportedError
from bpe.formats.json_value import Value
from bpe.formats.post_processor import entries, kind_of, read_trims, text_and_id
from bpe.once import lazy


class Place(NamedTuple):
    """The place of sequence 0 or 1 in a template, and the type id that it gets there.

    With None, it keeps its type id.
    """

    sequence: int
    type_id: int | None


Template: TypeAlias = tuple["Part | Place", ...]


@dataclass(frozen=True)
class PostProcessor:
    """Trims offsets, and adds the tokens of a template.

    `single` and `pair` are the templates for one sequence and for two. With `trims`, offsets
    exclude white space at both ends of a token; `align.trim` explains `adds_space`.
    `numbers_sequences` is true if windows record the ranges of their sequences; it is false only if
    a file has no post_processor. The overflow has the windows after the first one, if truncation
    cuts a sequence into several windows. `wraps_overflow` is true for BertProcessing and
    RobertaProcessing, which give the overflow other type ids and ranges. `overflow_type` is the
    type id of the overflow; with None it keeps its type ids.
    """

    single: Template = (Place(0, 0),)
    pair: Template = (Place(0, 0), Place(1, 1))
    trims: bool = False
    adds_space: bool = False
    numbers_sequences: bool = True
    wraps_overflow: bool = False
    overflow_type: int | None = None

    def template(self, is_pair: bool) -> Template:
        """Return the template for one sequence, or for a pair."""
        return self.pair if is_pair else self.single

    def added(self, is_pair: bool) -> int:
        """Return how many ids the template adds."""
        return sum(part.size for part in self.template(is_pair) if isinstance(part, Part))

    def around(self, row: Row, add_special_tokens: bool) -> Window:
        """Return the result of `process` for a row that is not truncated.

        The template must have the sequence exactly once.
        """
        before, place, after = self.single_parts
        if not add_special_tokens:
            before = after = ()
        start, size = sum(part.size for part in before), len(row.ids)
        ranges = {0: (start, start + size)} if self.numbers_sequences else {}
        return Window((*before, Part(row, 0, size, place.type_id or 0), *after), ranges)

    def joined(self, rows: tuple[Row, Row], add_special_tokens: bool) -> Window:
        """Return the result of `process` for a pair of rows that are not truncated."""
        parts: list[Part] = []
        ranges: dict[int, Span] = {}
        at = 0
        for part in self.pair:
            if isinstance(part, Place):
                row, type_id = rows[part.sequence], part.type_id
                size = len(row.ids)
                if type_id is None:
                    type_id = first_type(row, part.sequence)
                ranges[part.sequence] = at, at + size
                part = Part(row, 0, size, type_id)
            elif not add_special_tokens:
                continue
            parts.append(part)
            at += part.stop - part.start
        return Window(tuple(parts), ranges)

    def joined_ids(self, ids: tuple[list[int], list[int]], add_special_tokens: bool) -> list[int]:
        """Return the ids of `joined` for rows with these ids, in a new list."""
        joined: list[int] = []
        for part in self._pair_ids:
            if isinstance(part, int):
                joined += ids[part]
            elif add_special_tokens:
                joined += part
        return joined

    @lazy
    def _pair_ids(self) -> list[int | list[int]]:
        """The ids of each part of the template of a pair; for a place, its sequence."""
        return [
            part.sequence if isinstance(part, Place) else part.values("ids") for part in self.pair
        ]

    @lazy
    def single_parts(self) -> tuple[tuple[Part, ...], Place, tuple[Part, ...]]:
        """The template of one sequence: the parts before it, its place, the parts after it.

        The template must have the sequence exactly once.
        """
        sides: tuple[list[Part], list[Part]] = [], []
        places = []
        for part in self.single:
            if isinstance(part, Place):
                places.append(part)
            else:
                sides[len(places)].append(part)
        [place] = places
        return tuple(sides[0]), place, tuple(sides[1])

    def process(self, windows: list[Window], add_special_tokens: bool) -> Window:
        """Return one window: one or two truncated sequences in their template."""
        if len(windows) == 1 and not self.numbers_sequences:
            return windows[0]
        for index, window in enumerate(windows):
            window.set_sequence(index)
            for overflowing in window.overflowing if self.numbers_sequences else ():
                overflowing.set_sequence(index)
        template = self.template(len(windows) == 2)
        if not add_special_tokens:
            template = tuple(part for part in template if isinstance(part, Place))
        if self.wraps_overflow and add_special_tokens:
            return self._wrapped(windows, template)
        return merge(
            Window((part,))
            if isinstance(part, Part)
            else windows[part.sequence].with_type(part.type_id)
            for part in template
        )

    def _wrapped(self, windows: list[Window], template: Template) -> Window:
        """Apply the template to the overflow of each sequence, too."""
        wrapped = []
        for index, window in enumerate(windows):
            before, place, after = _around(template, index)
            main = window.with_type(place.type_id)
            main.overflowing = []
            both = merge([*before, main, *after])
            type_id = self.overflow_type
            both.overflowing = [
                merge([*before, other if type_id is None else other.with_type(type_id), *after])
                for other in window.overflowing
            ]
            wrapped.append(both)
        return merge(wrapped)


def _around(template: Template, index: int) -> tuple[list[Window], Place, list[Window]]:
    """Return the tokens before a sequence, its place, and the tokens after it.

    The first token after the first sequence ends that sequence. All other tokens between two
    sequences belong to the second.
    """
    places = [at for at, part in enumerate(template) if isinstance(part, Place)]
    at = places[index]
    place = template[at]
    assert isinstance(place, Place)
    start = 0 if index == 0 else places[0] + 2
    end = at + 2 if index == 0 else len(template)
    parts = [Window((part,)) if isinstance(part, Part) else Window() for part in template]
    return parts[start:at], place, parts[at + 1 : end]


def read(post_processor: Value) -> PostProcessor:
    """Return the post_processor of a tokenizer.json.

    Raises UnsupportedError for a kind that bpe does not know, VocabularyError for a malformed one
    or a template that is too long.
    """
    if post_processor.value is None:
        return PostProcessor(pair=(Place(0, 0), Place(1, None)), numbers_sequences=False)
    result: PostProcessor | None = None
    trims = read_trims(post_processor)
    if len(trims) > 1:
        raise post_processor.unsupported("expected only one processor that trims offsets")
    for part in post_processor.parts("processors"):
        if part.value is None:
            continue
        if result is not None:
            raise part.unsupported("expected no other processor after the template")
        kind = kind_of(part)
        if kind == "TemplateProcessing":
            result = PostProcessor(_template(part, "single", 1), _template(part, "pair", 2))
        elif kind != "ByteLevel":  # `read_trims` reads it
            result = _around_each(_token(part["cls"]), _token(part["sep"]), kind)
    return replace(result or PostProcessor(), trims=bool(trims), adds_space=any(trims))


def _around_each(cls: Part, sep: Part, kind: str) -> PostProcessor:
    """Return a BertProcessing or RobertaProcessing."""
    single = cls, Place(0, 0), sep
    if kind == "BertProcessing":
        pair: Template = (*single, Place(1, 1), sep._replace(type_id=1))
        return PostProcessor(single, pair, wraps_overflow=True)
    pair = (*single, sep, Place(1, 0), sep)
    return PostProcessor(single, pair, wraps_overflow=True, overflow_type=0)


def _token(pair: Value) -> Part:
    text, id = text_and_id(pair)
    return fixed([id.number()], [text.text()], 0)


def _template(processor: Value, name: str, count: int) -> Template:
    parts: list[Part | Place] = []
    for entry, token in entries(processor, name):
        if token is None:
            index = ("A", "B").index(_name(entry["Sequence"]["id"], count))
            parts.append(Place(index, entry["Sequence"]["type_id"].number()))
            continue
        ids = [id.number() for id in token["ids"].items()]
        texts = [text.text() for text in token["tokens"].items()]
        if len(ids) != len(texts):
            raise token.malformed("as many ids as tokens")
        parts.append(fixed(ids, texts, entry["SpecialToken"]["type_id"].number()))
    return tuple(parts)


def _name(id: Value, count: int) -> str:
    name = id.text()
    if name not in ("A", "B")[:count]:
        raise UnsupportedError(f"{id.path} is {name!r}; expected {' or '.join('AB'[:count])}")
    return name

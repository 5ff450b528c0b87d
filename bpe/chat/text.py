"""Define TracedText, a str that knows the origin of each of its characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from operator import add
from typing import Any, SupportsIndex

from bpe.chat.origins import TEMPLATE, UNKNOWN, Origin, Pieces, TextSource, common_source, merged
from bpe.types import Special
from pretok.machine.backend import native_core


class TracedText(str):
    """A str whose characters have origins. Templates work with it as with any str.

    A method that returns a part of the text, or joins texts, keeps the origin of each character.
    Any other method that returns text makes it untrusted. So does a plain str: only the literals of
    a template, compiled to `TracedText`, are trusted. A method that is forgotten here, or an
    operation in C that returns a plain str, can lose trust, but never give it.
    """

    __slots__ = ("_origin", "_several")
    _origin: Origin | None
    """The origin of all characters; None if they have several, and for some empty texts."""
    _several: Pieces
    """The pieces, if `_origin` is None."""

    @property
    def _pieces(self) -> Pieces:
        if self._origin is None:
            return self._several
        return ((len(self), self._origin),) if self else ()

    def __new__(cls, value: object = "") -> TracedText:
        """Return an untrusted text."""
        return make(str(value), UNKNOWN)

    def __getitem__(self, key: SupportsIndex | slice) -> TracedText:
        if not isinstance(key, slice):
            return _joined(str.__getitem__(self, key), (_origin_at(self, key.__index__()),))
        start, stop, step = key.indices(len(self))
        if step == 1:
            return cut(self, start, stop)
        origins = [origin for length, origin in self._pieces for _ in range(length)]
        return _joined(str.__getitem__(self, key), origins[key])

    def __iter__(self) -> Iterator[TracedText]:
        at = 0
        for length, origin in self._pieces:
            for character in str.__getitem__(self, slice(at, at + length)):
                yield make(character, origin)
            at += length

    def __add__(self, other: object) -> TracedText:
        # Markup escapes the text that it is added to.
        if not isinstance(other, str) or hasattr(other, "__html__"):
            return NotImplemented
        return concat((self, other))

    def __radd__(self, other: object) -> TracedText:
        return concat((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> TracedText:
        text = str.__mul__(self, times)
        if self._origin is not None:
            return make(text, self._origin)
        return _with(text, merged(self._pieces * max(0, times.__index__())))

    __rmul__ = __mul__

    def join(self, texts: Iterable[str], /) -> TracedText:
        """Join `texts`; each keeps its origins, and so does the separator."""
        parts: list[str] = []
        for text in texts:
            parts += (self, text)
        return concat(parts[1:])

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[TracedText]:  # type: ignore[override]
        """Split at `sep`, or at White_Space."""
        return _located(self, str.split(self, sep, maxsplit), sep)

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[TracedText]:  # type: ignore[override]
        """Split at `sep`, or at White_Space, from the end."""
        return _located(self, str.rsplit(self, sep, maxsplit), sep)

    def splitlines(self, keepends: bool = False) -> list[TracedText]:  # type: ignore[override]
        """Split at line boundaries."""
        lines: list[TracedText] = []
        at = 0
        for whole, line in zip(
            str.splitlines(self, True), str.splitlines(self, keepends), strict=True
        ):
            lines.append(cut(self, at, at + len(line)))
            at += len(whole)
        return lines

    def partition(self, sep: str, /) -> tuple[TracedText, TracedText, TracedText]:
        """Split at the first `sep`."""
        return _parted(self, str.partition(self, sep))

    def rpartition(self, sep: str, /) -> tuple[TracedText, TracedText, TracedText]:
        """Split at the last `sep`."""
        return _parted(self, str.rpartition(self, sep))

    def strip(self, chars: str | None = None, /) -> TracedText:
        """Remove `chars`, or White_Space, at both ends."""
        size = len(str.strip(self, chars))
        if size == len(self):
            return self
        start = len(self) - len(str.lstrip(self, chars))
        return cut(self, start, start + size)

    def lstrip(self, chars: str | None = None, /) -> TracedText:
        """Remove `chars`, or White_Space, at the start."""
        return cut(self, len(self) - len(str.lstrip(self, chars)), len(self))

    def rstrip(self, chars: str | None = None, /) -> TracedText:
        """Remove `chars`, or White_Space, at the end."""
        return cut(self, 0, len(str.rstrip(self, chars)))

    def removeprefix(self, prefix: str, /) -> TracedText:
        """Remove `prefix` at the start."""
        return cut(self, len(self) - len(str.removeprefix(self, prefix)), len(self))

    def removesuffix(self, suffix: str, /) -> TracedText:
        """Remove `suffix` at the end."""
        return cut(self, 0, len(str.removesuffix(self, suffix)))

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> TracedText:
        """Replace `old` with `new`, which keeps its own origins."""
        times = count.__index__()
        if not old:
            return self._insert(new, times)
        parts: list[str] = []
        at = 0
        while times != 0 and (place := str.find(self, old, at)) >= 0:
            parts += (cut(self, at, place), new)
            at = place + len(old)
            times -= 1
        return concat((*parts, cut(self, at, len(self)))) if at else self

    def _insert(self, new: str, times: int) -> TracedText:
        """Return the text with `new` before its first characters, and at its end if any is left."""
        size = len(self) + 1
        limit = size if times < 0 else min(times, size)
        parts: list[str] = []
        for at in range(limit):
            parts += (new, cut(self, at, min(at + 1, len(self))))
        return concat((*parts, cut(self, min(limit, len(self)), len(self))))

    def upper(self) -> TracedText:
        """Return the text in upper case."""
        return _by_piece(self, str.upper)

    def lower(self) -> TracedText:
        """Return the text in lower case."""
        return _by_piece(self, str.lower)

    def casefold(self) -> TracedText:
        """Return the text for comparisons without case."""
        return _by_piece(self, str.casefold)

    def swapcase(self) -> TracedText:
        """Return the text with upper and lower case exchanged."""
        return _by_piece(self, str.swapcase)

    def capitalize(self) -> TracedText:
        """Return the text with an upper case letter at its start only."""
        return _by_piece(self, str.capitalize)

    def title(self) -> TracedText:
        """Return the text with an upper case letter at the start of each word."""
        return _by_piece(self, str.title)


def _untracked(name: str) -> Callable[..., TracedText]:
    method = getattr(str, name)

    def call(self: TracedText, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        return derived(result, self, args) if type(result) is str else result

    call.__name__ = name
    return call


for _name in ("__mod__", "__rmod__", "center", "expandtabs", "format", "format_map", "ljust",
              "rjust", "translate", "zfill"):  # fmt: skip
    setattr(TracedText, _name, _untracked(_name))


_new = str.__new__


def _with(text: str, pieces: Pieces) -> TracedText:
    new = _new(TracedText, text)
    if len(pieces) == 1:
        new._origin = pieces[0][1]
    else:
        new._origin, new._several = None, pieces
    return new


def _make(text: str, origin: Origin) -> TracedText:
    """Return `text` with one origin for all of it."""
    new = _new(TracedText, text)
    new._origin = origin
    return new


def _joined_segments(
    parts: Iterable[str | tuple[str, ...]], special: Special
) -> tuple[list[tuple[str, Special]], list[Origin]]:
    """Return the texts of `parts`, joined where their origins are the same, and the origins.

    `special` is the policy of texts that are not trusted.
    """
    runs: list[list[str]] = []
    origins: list[Origin] = []
    for part in parts:
        for text in part if isinstance(part, tuple) else (part,):
            at = 0
            for length, origin in pieces_of(text):
                if not origins or origin is not origins[-1]:
                    origins.append(origin)
                    runs.append([])
                runs[-1].append(str.__getitem__(text, slice(at, at + length)))
                at += length
    policies: list[Special] = ["allow" if origin.path is None else special for origin in origins]
    return [*zip(map("".join, runs), policies, strict=True)], origins


def _concat(parts: Iterable[str | tuple[str, ...]]) -> TracedText:
    """Return the joined parts, texts and tuples of texts, each with its own origins."""
    texts: list[str] = []
    for part in parts:
        if type(part) is tuple:
            texts += part
        else:
            texts.append(part)  # type: ignore[arg-type]
    pieces = merged(piece for text in texts for piece in pieces_of(text))
    return _with("".join(texts), pieces)


def _added_parts(*values: Any) -> Any:
    """Return the sum of `values` as text, or its parts, to be printed one after the other."""
    return to_text(reduce(add, values))


def _joined_parts(*values: object) -> tuple[str, ...]:
    """Return the texts of `values`, to be printed one after the other."""
    return tuple(map(to_text, values))


def _trim(value: object) -> str:
    """Return `value` as text without White_Space at both ends."""
    return (value if isinstance(value, str) else str(value)).strip()


_native = native_core()
_calls: tuple[Any, ...] = (_make, _joined_segments, _concat, _added_parts, _joined_parts, _trim)
if _native is not None:
    _calls = _native.chat_text_calls(TracedText, _calls)
make: Callable[[str, Origin], TracedText] = _calls[0]
joined_segments: Callable[
    [list[str | tuple[str, ...]], Special], tuple[list[tuple[str, Special]], list[Origin]]
] = _calls[1]
concat_parts: Callable[[Iterable[str | tuple[str, ...]]], TracedText] = _calls[2]
added_parts: Callable[..., str | tuple[str, ...]] = _calls[3]
joined_parts: Callable[..., tuple[str, ...]] = _calls[4]
trim: Callable[[object], str] = _calls[5]


def literal(text: str) -> TracedText:
    """Return a trusted text: a literal of a template, or a special token of its tokenizer."""
    return make(text, TEMPLATE)


def pieces_of(text: str) -> Pieces:
    """Return the pieces of a text; a plain str is one piece of unknown origin."""
    pieces: Pieces | None = getattr(text, "_pieces", None)
    if pieces is None:
        return ((len(text), UNKNOWN),) if text else ()
    return pieces


def to_text(value: object) -> str:
    """Return `value` as text, as a template prints it."""
    kind = type(value)
    if kind is TracedText or kind is str:
        return value  # type: ignore[return-value]
    pieces: Pieces | None = getattr(value, "_pieces", None) if isinstance(value, str) else None
    if pieces is not None:
        return _with(str(value), pieces)
    text = str(value)
    return text if type(text) is TracedText else derived(text, value)


def concat(parts: Iterable[str]) -> TracedText:
    """Return the joined parts, each with its own origins."""
    return concat_parts([*parts])


def str_join(values: Iterable[object]) -> TracedText:
    """Return the values as one text: the operator `~`."""
    return concat(map(to_text, values))


def derived(text: str, *sources: object) -> TracedText:
    """Return an untrusted text made of `sources` in a way that is not tracked.

    Its path is the longest one that all untrusted texts among the sources share.
    """
    path = source_of_value(sources)
    return make(text, Origin(path) if path else UNKNOWN)


def source_of_value(value: object) -> TextSource | None:
    """Return the path that all untrusted parts of `value` share; None if it has no such part."""
    pieces: Pieces | None = getattr(value, "_pieces", None) if isinstance(value, str) else None
    if pieces is not None:
        return common_source(origin.path for _, origin in pieces)
    if isinstance(value, (list, tuple, dict)):
        path: TextSource | None = getattr(value, "_path", None)
        if path is not None:
            return path
        if isinstance(value, Mapping):
            return common_source(source_of_value(item) for pair in value.items() for item in pair)
        return common_source(source_of_value(item) for item in value)
    return None


def generated(text: str) -> TracedText:
    """Return `text` as that of a `{% generation %}` block."""
    return _with(text, tuple([(length, origin.generated()) for length, origin in pieces_of(text)]))


def cut(text: TracedText, start: int, stop: int) -> TracedText:
    """Return the part of `text` from `start` to `stop`, which lie between 0 and its length."""
    if start == 0 and stop == len(text):
        return text
    if start >= stop:
        return _with("", ())
    if text._origin is not None:
        return make(str.__getitem__(text, slice(start, stop)), text._origin)
    kept: list[tuple[int, Origin]] = []
    at = 0
    for length, origin in text._several:
        size = min(stop, at + length) - max(start, at)
        if size > 0:
            kept.append((size, origin))
        at += length
        if at >= stop:
            break
    return _with(str.__getitem__(text, slice(start, stop)), tuple(kept))


def _origin_at(text: TracedText, index: int) -> Origin:
    at = index + len(text) if index < 0 else index
    for length, origin in text._pieces:
        at -= length
        if at < 0:
            return origin
    raise IndexError("string index out of range")


def _joined(text: str, origins: Iterable[Origin]) -> TracedText:
    """Return `text` with an origin for each code point."""
    return _with(text, merged((1, origin) for origin in origins))


def _located(text: TracedText, parts: Iterable[str], sep: str | None) -> list[TracedText]:
    """Return the `parts` of `text`, split at `sep`, with their origins."""
    found: list[TracedText] = []
    at = 0
    for part in parts:
        if sep is None:  # only White_Space lies between parts, and a later part begins with none
            at = str.find(text, part, at)
        found.append(cut(text, at, at + len(part)))
        at += len(part) + len(sep or "")
    return found


def _parted(
    text: TracedText, parts: tuple[str, str, str]
) -> tuple[TracedText, TracedText, TracedText]:
    """Return the three parts of `text`, which follow each other, with their origins."""
    first, second = len(parts[0]), len(parts[0]) + len(parts[1])
    return cut(text, 0, first), cut(text, first, second), cut(text, second, len(text))


def _by_piece(text: TracedText, change: Callable[[str], str]) -> TracedText:
    """Return `text` after `change`, which may look at more than one character.

    If the pieces change alike by themselves, they keep their origins. Otherwise the whole text is
    untrusted.
    """
    whole = change(str(text))
    pieces: list[tuple[int, Origin]] = []
    at = 0
    parts: list[str] = []
    for length, origin in text._pieces:
        parts.append(change(str.__getitem__(text, slice(at, at + length))))
        pieces.append((len(parts[-1]), origin))
        at += length
    return _with(whole, merged(pieces)) if "".join(parts) == whole else derived(whole, text)

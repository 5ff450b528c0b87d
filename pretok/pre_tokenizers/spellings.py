"""Define ByteLevel and Metaspace, the blocks that also change the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from pretok.byte_characters import BYTE_CHARACTERS
from pretok.charsets.sets import code_points
from pretok.errors import DefinitionError, quoted, shortened
from pretok.pre_tokenizers.block import Block, cut
from pretok.pre_tokenizers.piece import Piece
from pretok.presets import GPT2
from pretok.rules import Run
from pretok.stage import Stage

PrependScheme = Literal["always", "first", "never"]


@dataclass(frozen=True)
class ByteLevel(Block):
    """Splits as GPT-2 does if `use_regex` is true; replaces each UTF-8 byte by one character.

    BYTE_CHARACTERS has the character of each byte. If `add_prefix_space` is true, first prepends
    U+0020 to each piece that does not begin with U+0020. `trim_offsets` does not affect pieces: the
    library tokenizers uses this option after encoding.

    >>> ByteLevel(add_prefix_space=False).pre_tokenize_str("né 1")
    [('nÃ©', (0, 2)), ('Ġ1', (2, 4))]
    """

    changes_text = True

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def __post_init__(self) -> None:
        self._require_bools("add_prefix_space", "trim_offsets", "use_regex")

    def pieces(self, piece: Piece) -> Iterator[Piece]:
        if self.add_prefix_space and piece.text and not piece.text.startswith(" "):
            piece = piece.with_prefix(" ")
        for part in cut(piece, self._cuts()) if piece.text else ():
            if part.text.isascii():
                yield part._replace(text=part.text.translate(BYTE_CHARACTERS))
            else:
                encoded = (char.encode("utf-8", "surrogatepass") for char in part.text)
                yield part.respelled(
                    [code.decode("latin-1").translate(BYTE_CHARACTERS) for code in encoded]
                )

    def stages(self) -> tuple[Stage, ...]:
        if self.add_prefix_space:
            raise DefinitionError(
                "ByteLevel(add_prefix_space=True) changes the text, so it has no stages; use "
                "add_prefix_space=False, and put the space before the text yourself"
            )
        return self._cuts()

    def _cuts(self) -> tuple[Stage, ...]:
        return GPT2.stages if self.use_regex else ()

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> Block:
        cls._check_fields(fields, ["add_prefix_space", "trim_offsets"], "use_regex")
        return cls(**fields)


@dataclass(frozen=True)
class Metaspace(Block):
    """Replaces U+0020 by `replacement`, and splits before each `replacement` if `split` is true.

    Before the split, one `replacement` is prepended to pieces that do not begin with `replacement`:
    to all these pieces if `prepend_scheme` is "always", only to the first piece of the text if
    "first", and to no piece if "never".

    >>> Metaspace().pre_tokenize_str("Hi you")
    [('▁Hi', (0, 2)), ('▁you', (2, 6))]
    """

    changes_text = True

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.replacement, str) or len(self.replacement) != 1:
            self._raise_invalid("replacement", "one character")
        if self.prepend_scheme not in get_args(PrependScheme):
            self._raise_invalid("prepend_scheme", f"one of {quoted(get_args(PrependScheme))}")
        self._require_bools("split")

    def pieces(self, piece: Piece) -> Iterator[Piece]:
        if not piece.text:
            return
        piece = piece._replace(text=piece.text.replace(" ", self.replacement))
        prepended = self.prepend_scheme == "always" or (
            self.prepend_scheme == "first" and piece.span[0] == 0
        )
        if prepended and not piece.text.startswith(self.replacement):
            piece = piece.with_prefix(self.replacement)
        start = 0
        while self.split and (mark := piece.text.find(self.replacement, start + 1)) > 0:
            yield piece.part(start, mark)
            start = mark
        yield piece.part(start, len(piece.text))

    def stages(self) -> tuple[Stage, ...]:
        # A prepended replacement belongs to the first part of a piece, so prepending does not
        # change the positions at which the text is split.
        if not self.split:
            return ()
        marks = code_points(self.replacement, " ")
        json_text = replace(self, prepend_scheme="never").to_json()
        rules = (Run(marks, at_most=1),)
        return (Stage(rules, behavior="merged_with_next", huggingface=json_text),)

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> Block:
        """Accept two more fields of older files, `add_prefix_space` and `str_rep`.

        Ignores `str_rep`.
        """
        cls._check_fields(fields, ["replacement"], "prepend_scheme split add_prefix_space str_rep")
        scheme = fields.get("prepend_scheme", "always")
        prefix = fields.get("add_prefix_space", True)
        if prefix is not True and (prefix is not False or scheme != "never"):
            raise DefinitionError(
                "Metaspace: expected add_prefix_space=True, or False with prepend_scheme='never', "
                f"got {shortened(prefix)} with {shortened(scheme)}"
            )
        return cls(fields["replacement"], scheme, fields.get("split", True))

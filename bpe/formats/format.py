"""Define Format, the interface of a file format, and Source, the files to read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from bpe.encoding.added_tokens import AddedToken
from bpe.formats.file_spec import FileSpec
from bpe.formats.files import GZIP, named, opened, read, unpacked
from bpe.formats.json_value import Value
from bpe.formats.native_readers import open_native, parse_rest
from bpe.formats.spec import TokenizerSpec
from bpe.once import lazy
from bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pretok import _core

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 512
_FIRST_LINES_BYTES = 1 << 16


class Source:
    """The files of one vocabulary. The content is read, unpacked and parsed once, on first use.

    `config` is the tokenizer_config.json of a folder with a tokenizer.json, if there is one.
    `folder` is the folder whose files together describe the tokenizer, or None.
    """

    def __init__(
        self, *paths: Path, config: Path | None = None, folder: Path | None = None
    ) -> None:
        self.paths = paths
        self.path = paths[0]
        self.config = config
        self.folder = folder

    @lazy
    def head(self) -> bytes:
        """The first bytes of the content; a GGUF file is too large to be read whole."""
        return self.data[:_HEAD_BYTES] if self.is_packed else self._file_head

    @property
    def is_packed(self) -> bool:
        """True if the first file is packed with gzip."""
        return self._file_head.startswith(GZIP)

    @lazy
    def _file_head(self) -> bytes:
        if not self.path.is_file():
            return b""  # `contents` raises the error
        with opened(self.path) as file:
            return file.read(_HEAD_BYTES)

    @lazy
    def contents(self) -> tuple[bytes, ...]:
        """The bytes of each file, or the content of a gzip file.

        Raises VocabularyError, or OSError.
        """
        return tuple(map(_content, self.paths))

    @property
    def data(self) -> bytes:
        """The bytes of the first file."""
        return self.contents[0]

    @lazy
    def text(self) -> bytes:
        """The bytes of the first file without a byte order mark."""
        return self.data.removeprefix(BYTE_ORDER_MARK)

    @lazy
    def json(self) -> Value | None:
        """The JSON object of the first file; None if the file does not begin like JSON.

        Raises VocabularyError if the JSON is malformed or not an object.
        """
        if self.text.lstrip()[:1] not in (b"{", b"["):
            return None
        with named(self.path):
            value = parse_rest(self.data, self.native)
            value.object()
            return value

    @lazy
    def native(self) -> _core.JsonFile | None:
        """The first file, if it is a tokenizer.json that C++ reads. `json` then lacks its tokens.

        The members `vocab` and `merges` of its model are empty.
        """
        return open_native(self.data)

    @lazy
    def first_lines(self) -> tuple[bytes, ...]:
        """The first three lines of the first file that are not empty; () for JSON.

        Only the first _FIRST_LINES_BYTES are searched, so a longer line is cut off.
        """
        if self.json is not None or self.text.isspace():
            return ()
        lines = BytesIO(self.text[:_FIRST_LINES_BYTES])  # reads no more lines than needed
        ends = (line.removesuffix(b"\n").removesuffix(b"\r") for line in lines)
        return tuple(islice(filter(None, ends), 3))


def _content(path: Path) -> bytes:
    data = read(path)
    with named(path):
        return unpacked(data)


@dataclass(frozen=True)
class ReadOptions:
    """Arguments of `bpe.load` that change how files are read."""

    needs_preset: bool = True
    """False if the caller passes a preset; then the pre-tokenizer of the file is not needed."""
    added_tokens: tuple[AddedToken, ...] | None = None
    """Added tokens that replace the added tokens of a separate file."""


class Format(ABC):
    """A file format of vocabularies. `registry.FORMATS` lists one instance of each subclass."""

    name: ClassVar[str]
    """The name of the format, as an error shows it."""
    suffix: ClassVar[str] = ""
    """The suffix of files that `Tokenizer.save` writes; "" if the format cannot be written."""
    kinds: ClassVar[tuple[type[Vocabulary], ...]] = (Vocabulary,)
    """The classes of vocabularies that files can hold."""
    holds: ClassVar[frozenset[str]] = frozenset()
    """The parts of a tokenizer that files can hold, besides the vocabulary and the split.

    `bpe.formats.losses` names the parts.
    """
    says_split: ClassVar[bool] = True
    """True if a file says how to split text; if not, bpe may know it from the vocabulary's name."""

    @abstractmethod
    def detects(self, source: Source) -> bool:
        """Return whether the content of `source` is of this format.

        If several formats accept a file, the first of them in `registry.FORMATS` reads it.
        """

    def complete(self, source: Source) -> Source:
        """Return `source` with the other files of its vocabulary.

        Raises VocabularyError if one of them is not in the same folder.
        """
        return source

    @abstractmethod
    def read(self, source: Source, options: ReadOptions) -> TokenizerSpec | FileSpec:
        """Return the tokenizer in `source`, as a FileSpec if C++ has read all of it.

        Raises VocabularyError for malformed files and UnsupportedError for unsupported features;
        both messages name the path. Raises OSError if a file cannot be read.
        """

    def dump(self, spec: TokenizerSpec) -> bytes:
        """Return the file for `spec`; raises VocabularyError if the format cannot hold it."""
        raise NotImplementedError(f"bpe reads {self.name} files, but cannot write them")

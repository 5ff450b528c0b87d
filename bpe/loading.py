"""bpe.load: a Tokenizer from vocabulary files, or from the name of a vocabulary that is here."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import MissingPresetError, PublishedMismatchError, VocabularyError
from bpe.formats import Format, detect, gguf, gpt2, huggingface, minbpe, pretok_file, tiktoken
from bpe.formats.contents import Contents
from bpe.formats.files import named, read
from bpe.formats.gguf_metadata import is_gguf
from bpe.hub import locate, published
from bpe.hub.published import Known, matches
from bpe.tokenizer import Tokenizer
from bpe.types import SupportsOffsets
from pretok.errors import short_path, shortened
from pretok.files import naming
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get

PathLike: TypeAlias = str | os.PathLike[str]
Split: TypeAlias = str | Preset | PreTokenizer | SupportsOffsets


def load(
    path_or_name: PathLike | tuple[PathLike, PathLike],
    preset: Split | None = None,
    special_tokens: Mapping[str, int] | None = None,
    *,
    normalizer: Literal["NFC"] | None = None,
    backend: BackendName | None = None,
    cache_mb: float | None = None,
) -> Tokenizer:
    """Return the tokenizer that a vocabulary file holds, or one that this machine has by name.

    The format is told from the content: tokenizer.json, a rank file of tiktoken, vocab.json with
    its merges.txt (give one, or both as a tuple), a minbpe .model, a GGUF file, of which only the
    metadata is read, or a .pretok file, which `Tokenizer.save` writes and which loads fastest; a
    folder may hold a tokenizer.json, or those two. What is no path is a name, such as
    "cl100k_base" or "org/model", and is looked for in $PRETOK_VOCAB_DIR, where `pretok fetch` puts
    files, and in the caches of tiktoken and huggingface_hub; never on the network.

    `preset` says how text is split; by default the file does, or what is known of the name of a
    published file. `special_tokens` are added to those that a tokenizer.json, .model, GGUF or
    .pretok file lists; for other files they replace what is known of the name. `normalizer` is for
    a file that has none, as no GGUF file does. `cache_mb` bounds the caches, as Tokenizer says.

    Raises VocabularyError for a file that is malformed, or does not say how to split where `preset`
    does not either; UnsupportedError for what bpe does not do; UnknownVocabularyError if there is
    no such path or name; OSError; what Tokenizer raises for the other arguments.
    """
    _checked(special_tokens)
    paths, asked = _find(path_or_name)
    known: Known | None = None
    data, value = b"", None
    format: Format = "vocab"
    if len(paths) == 1 and is_gguf(paths[0]):
        format = "gguf"
    elif len(paths) == 1:
        data = read(paths[0])
        with named(paths[0]):
            format, value = detect(data)
        if format in ("vocab", "merges"):
            paths = gpt2.pair_of(paths[0], format == "vocab")
    if format in ("vocab", "merges", "tiktoken"):
        named_so = asked or published.known_by_file(paths)
        known = _published(named_so, paths, data if len(paths) == 1 else None, preset is None)
    if special_tokens is None and known is not None:
        special_tokens = known.special_tokens
    added = tuple(AddedToken(content, id) for content, id in (special_tokens or {}).items())
    with named(paths[0]):
        if format == "huggingface" and value is not None:
            contents = huggingface.read(value, need_preset=preset is None)
            added = _joined(contents.added_tokens, added)
        elif format == "minbpe":
            contents = minbpe.parse(data)
            added = _joined(contents.added_tokens, added)
        elif format == "gguf":
            contents = gguf.load(paths[0])
            added = _joined(contents.added_tokens, added)
        elif format == "pretok":
            contents = pretok_file.parse(data)
            added = _joined(contents.added_tokens, added)
        elif format == "tiktoken":
            contents = tiktoken.parse(data)
    if format in ("vocab", "merges"):
        vocab_path, merges_path = paths
        contents = gpt2.load(vocab_path, merges_path, None if special_tokens is None else added)
        added = contents.added_tokens
    split = _split(preset, contents, known, paths[0], backend)
    with named(paths[0]):
        return Tokenizer(
            contents.vocabulary,
            split,
            added_tokens=added,
            normalizer=normalizer or contents.normalizer,
            add_prefix_space=contents.add_prefix_space,
            template=contents.template,
            name=asked.name if asked else known.name if known else None,
            backend=backend,
            cache_mb=cache_mb,
        )


def _find(
    path_or_name: PathLike | tuple[PathLike, PathLike],
) -> tuple[tuple[Path, ...], Known | None]:
    """Return the file, or the two, to load, and what is known of the name it was asked by."""
    if isinstance(path_or_name, tuple):
        vocab, merges = path_or_name
        return (Path(vocab), Path(merges)), None
    name = os.fspath(path_or_name)
    if name and _is_path(name):
        return _in_folder(Path(name)), None
    paths = locate.find(name)
    return (_in_folder(paths[0]) if len(paths) == 1 else paths), published.KNOWN.get(name)


def _is_path(name: str) -> bool:
    """Return whether `name` is a path that is there, perhaps a link to what is not.

    Raises OSError, which names it, if the system does not tell.
    """
    try:
        with naming(name):
            os.stat(name)
    except ValueError:  # NUL, which no path has
        return False
    except FileNotFoundError:
        return os.path.islink(name)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL):
            return False
        raise
    return True


def _in_folder(path: Path) -> tuple[Path, ...]:
    """Return `path`, or if it is a folder the file or files of the vocabulary in it."""
    if not path.is_dir():
        return (path,)
    for files in (("tokenizer.json",), (gpt2.VOCAB, gpt2.MERGES)):
        paths = tuple(path / file for file in files)
        if all(map(Path.is_file, paths)):
            return paths
    raise VocabularyError(
        f"{short_path(path)}: the folder has neither a tokenizer.json, nor a {gpt2.VOCAB} with a "
        f"{gpt2.MERGES}; give the path of a file"
    )


def _published(
    known: Known | None, paths: tuple[Path, ...], data: bytes | None, needed: bool
) -> Known | None:
    """Return `known` if `paths` are what was published by its name, else None.

    `data` is what a single one of them holds, if that is known. Raises VocabularyError instead if
    what is known of the name is `needed`.
    """
    if known is None:
        return None
    forms = [files for files in (known.files, *known.others) if len(files) == len(paths)]
    held = [data] if data is not None else [read(path) for path in paths] if forms else []
    for files in forms:
        if all(matches(each, file.sha256) for file, each in zip(files, held, strict=True)):
            return known
    if not needed:
        return None
    digests = tuple(files[0].sha256 for files in forms)
    raise PublishedMismatchError(short_path(paths[0]), known.name, digests)


def _split(
    preset: Split | None,
    contents: Contents,
    known: Known | None,
    path: Path,
    backend: BackendName | None,
) -> Split:
    if preset is not None:
        return preset
    if contents.preset is not None and contents.unicode is not None:
        return get(contents.preset, contents.unicode, backend)
    if contents.preset is not None:
        return contents.preset
    if known is not None:
        return known.preset
    raise MissingPresetError(short_path(path), contents.why_no_preset)


def _checked(special_tokens: Mapping[str, int] | None) -> None:
    if special_tokens is None:
        return
    if not isinstance(special_tokens, Mapping):
        raise TypeError(
            f"special_tokens is of type {type(special_tokens).__name__}; expected a mapping of "
            "texts to ids"
        )
    by_id: dict[int, str] = {}
    for content, id in special_tokens.items():
        if type(content) is not str or type(id) is not int:
            raise TypeError(
                f"special token {shortened(content)} with id {shortened(id)}; expected a str and "
                "an int"
            )
        if by_id.setdefault(id, content) != content:
            raise ValueError(
                f"special tokens {shortened(by_id[id])} and {shortened(content)} both have id "
                f"{id}; give each its own"
            )


def _joined(
    listed: tuple[AddedToken, ...], given: tuple[AddedToken, ...]
) -> tuple[AddedToken, ...]:
    """Return the added tokens that a file lists and those given, each once."""
    ids = {token.content: token.id for token in listed}
    for token in given:
        if ids.get(token.content, token.id) != token.id:
            raise VocabularyError(
                f"special_tokens has {shortened(token.content)} with id {token.id}, but the file "
                "says "
                f"{ids[token.content]}; leave it out, or correct it"
            )
    return (*listed, *(token for token in given if token.content not in ids))

"""bpe.load: a Tokenizer from vocabulary files, or from the name of a local vocabulary."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import MissingPresetError, PublishedMismatchError, VocabularyError
from bpe.formats.files import named
from bpe.formats.format import ReadOptions, Source
from bpe.formats.gpt2 import MERGES, VOCAB
from bpe.formats.registry import detect
from bpe.formats.sentencepiece import SentencePieceFormat
from bpe.formats.spec import TokenizerSpec
from bpe.hub.locate import locate_vocabulary
from bpe.hub.published import PUBLISHED, PublishedVocabulary, has_digest, vocabulary_of_files
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
    """Return the tokenizer of a vocabulary file, or of the name of a local vocabulary.

    The content tells the format: a tokenizer.json of Hugging Face, a rank file of tiktoken, a
    vocab.json with its merges.txt (give one path, or both in a tuple), a minbpe .model, a GGUF
    file (only its metadata is read), a SentencePiece .model of type BPE, or a .pretok file,
    which `Tokenizer.save` writes and which loads fastest. A folder may hold a tokenizer.json,
    or a vocab.json with its merges.txt. A string that is not a path is a name, such as
    "cl100k_base" or "org/model". `load` looks for names in $PRETOK_VOCAB_DIR, where `pretok
    fetch` puts files, and in the caches of tiktoken and huggingface_hub, never on the network.

    `preset` is the split. By default the file says it, or the name of a published file does.
    `special_tokens` are the special tokens that the file does not list. By default they come from
    a tokenizer_config.json in the folder of a vocab.json, or from the name of a published file.
    `normalizer` is for files that cannot name one, such as GGUF. `cache_mb` bounds the caches, as
    in `Tokenizer`.

    Raises VocabularyError if the file is malformed, MissingPresetError if neither the file nor
    `preset` says the split, UnsupportedError for features that bpe does not have,
    UnknownVocabularyError if there is no such path or name, OSError, and the errors of `Tokenizer`.
    """
    _check_special_tokens(special_tokens)
    source, named_vocabulary = _locate(path_or_name)
    format = detect(source)
    source = format.complete(source)
    published: PublishedVocabulary | None = None
    if not format.says_split:
        expected = named_vocabulary or vocabulary_of_files(source.paths)
        published = _verify(expected, source, is_needed=preset is None)
    if special_tokens is None and published is not None:
        special_tokens = published.special_tokens
    added = None
    if special_tokens is not None:
        added = tuple(AddedToken(content, id) for content, id in special_tokens.items())
    if normalizer is not None and isinstance(format, SentencePieceFormat):
        raise ValueError(
            f"normalizer={shortened(normalizer)}: a SentencePiece model has its own; load it "
            "without normalizer="
        )
    spec = format.read(source, ReadOptions(preset is None, added))
    split = _choose_split(preset, spec, published, source.path, backend)
    with named(source.path):
        return Tokenizer(
            spec.vocabulary,
            split,
            added_tokens=_join(spec.added_tokens, added or ()),
            normalizer=normalizer or spec.normalizer,
            add_prefix_space=spec.add_prefix_space,
            template=spec.template,
            decoder=spec.decoder,
            name=known.name if (known := named_vocabulary or published) else None,
            backend=backend,
            cache_mb=cache_mb,
        )


def _locate(
    path_or_name: PathLike | tuple[PathLike, PathLike],
) -> tuple[Source, PublishedVocabulary | None]:
    """Return the files to load, and the published vocabulary if `path_or_name` is its name."""
    if isinstance(path_or_name, tuple):
        vocab, merges = path_or_name
        return Source(Path(vocab), Path(merges)), None
    name = os.fspath(path_or_name)
    if name and _is_path(name):
        return Source(*_in_folder(Path(name))), None
    paths = locate_vocabulary(name)
    return Source(*_in_folder(paths[0]) if len(paths) == 1 else paths), PUBLISHED.get(name)


def _is_path(name: str) -> bool:
    """Return whether `name` is an existing path; a dangling link counts as one.

    Raises OSError, which names the path, if the system cannot tell.
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
    """Return `path`; for a folder, the file or files of the vocabulary in it."""
    if not path.is_dir():
        return (path,)
    for files in (("tokenizer.json",), (VOCAB, MERGES)):
        paths = tuple(path / file for file in files)
        if all(map(Path.is_file, paths)):
            return paths
    raise VocabularyError(
        f"{short_path(path)}: the folder has neither a tokenizer.json, nor a {VOCAB} with a "
        f"{MERGES}; give the path of a file"
    )


def _verify(
    expected: PublishedVocabulary | None, source: Source, is_needed: bool
) -> PublishedVocabulary | None:
    """Return `expected` if `source` has one of its published files, else None.

    Raises VocabularyError for other content if the split of `expected` `is_needed`.
    """
    if expected is None:
        return None
    editions = [files for files in expected.editions if len(files) == len(source.paths)]
    for files in editions:
        if all(
            has_digest(data, file.sha256) for file, data in zip(files, source.contents, strict=True)
        ):
            return expected
    if not is_needed:
        return None
    digests = tuple(files[0].sha256 for files in editions)
    raise PublishedMismatchError(short_path(source.path), expected.name, digests)


def _choose_split(
    preset: Split | None,
    spec: TokenizerSpec,
    published: PublishedVocabulary | None,
    path: Path,
    backend: BackendName | None,
) -> Split:
    if preset is not None:
        return preset
    if spec.preset is not None and spec.unicode is not None:
        return get(spec.preset, spec.unicode, backend)
    if spec.preset is not None:
        return spec.preset
    if published is not None:
        return published.preset
    raise MissingPresetError(short_path(path), spec.why_no_preset)


def _check_special_tokens(special_tokens: Mapping[str, int] | None) -> None:
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


def _join(listed: tuple[AddedToken, ...], extra: tuple[AddedToken, ...]) -> tuple[AddedToken, ...]:
    """Return the added tokens of a file and then the `extra` ones, each once."""
    ids = {token.content: token.id for token in listed}
    for token in extra:
        if ids.get(token.content, token.id) != token.id:
            raise VocabularyError(
                f"special_tokens gives {shortened(token.content)} the id {token.id}, but the file "
                f"says {ids[token.content]}; leave it out, or correct it"
            )
    return (*listed, *(token for token in extra if token.content not in ids))

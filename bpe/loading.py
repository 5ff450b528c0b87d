"""Define `load`, which returns the Tokenizer of a vocabulary, given by its files or its name."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.foreign_arguments import LOAD, explained
from bpe.errors import MissingPresetError, PublishedMismatchError, VocabularyError
from bpe.formats.files import named
from bpe.formats.format import ReadOptions, Source
from bpe.formats.gpt2 import MERGES, NAMES, VOCAB
from bpe.formats.registry import detect
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tekken import FILE_NAME as TEKKEN
from bpe.formats.tokenizer_config import FILE_NAME as CONFIG
from bpe.hub.locate import locate_vocabulary
from bpe.hub.published import PUBLISHED, PublishedVocabulary, has_digest, vocabulary_of_files
from bpe.normalizers.chain import NFC
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


@explained(LOAD)
def load(
    path_or_name: PathLike | tuple[PathLike, PathLike],
    preset: Split | None = None,
    special_tokens: Mapping[str, int] | None = None,
    *,
    normalizer: Literal["NFC"] | None = None,
    backend: BackendName | None = None,
    cache_mb: float | None = None,
) -> Tokenizer:
    """Return the tokenizer of a vocabulary, which is given by its file, folder or name.

    `load` detects the format from the content of the file:

    - a tokenizer.json of Hugging Face whose model is BPE: either byte-level BPE, or BPE as in
      SentencePiece (README.md lists the supported parts)
    - a rank file of tiktoken
    - a vocab.json with its merges.txt, or OpenAI's encoder.json with its vocab.bpe (give one path,
      or both in a tuple)
    - a tekken.json of Mistral
    - a minbpe .model
    - a GGUF file (only its metadata is read)
    - a SentencePiece .model of type BPE
    - CLIP's bpe_simple_vocab_16e6.txt.gz (open_clip also repairs text with ftfy, which bpe does
      not)
    - a .pretok file, which `Tokenizer.save` writes (byte-level vocabularies load fastest from it)

    A folder may hold a tokenizer.json, a vocab.json with its merges.txt, or a tekken.json. If the
    folder also holds a tokenizer_config.json, a tokenizer from tokenizer.json or vocab.json also
    gets the added tokens of tokenizer_config.json. A string that is not the path of a file or
    folder is a name, such as "cl100k_base" or "org/model". `load` looks for names in
    $PRETOK_VOCAB_DIR, in the folder where `pretok fetch` puts files, and in the caches of tiktoken
    and huggingface_hub, never on the network.

    `preset` is the preset or the pre-tokenizer that splits text. By default, it comes from the
    file. A rank file or vocab.json does not name a preset. If the file has the content of a
    published vocabulary, such as cl100k_base, text is split with the preset of this vocabulary; for
    other such files, `preset` is required. `special_tokens` has the ids of special tokens that the
    file does not list. By default, they are the special tokens of the published vocabulary, or of a
    tokenizer_config.json in the folder of a vocab.json. `normalizer` is for files that cannot name
    a normalizer, such as GGUF. `Tokenizer` explains `backend` and `cache_mb`.

    A SentencePiece .model has no list of merges, and finding them takes most of the time of
    loading. A tokenizer encodes its first 2,048 characters without them, and finds them for the
    next text, or for the first batch. So `encode_batch([])` prepares a tokenizer for fast calls.

    Raises VocabularyError if the file is malformed, MissingPresetError if neither the file nor
    `preset` names the split, UnsupportedError for features that bpe does not have,
    UnknownVocabularyError for an unknown path or name, OSError if a file cannot be read, and the
    errors of `Tokenizer`.
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
    spec = format.read(source, ReadOptions(preset is None, added))
    if normalizer is not None and spec.normalizer not in (None, NFC):
        raise ValueError(
            f"normalizer={shortened(normalizer)}: the file has its own normalizer; load it without "
            "normalizer="
        )
    split = _choose_split(preset, spec, published, source.path, backend)
    known = named_vocabulary or published
    with named(source.path):
        return Tokenizer(
            spec.vocabulary,
            split,
            added_tokens=_join(spec.added_tokens, added) if added else spec.added_tokens,
            normalizer=normalizer or spec.normalizer,
            add_prefix_space=spec.add_prefix_space,
            template=spec.template,
            decoder=spec.decoder,
            truncation=spec.truncation,
            padding=spec.padding,
            trim_offsets=spec.trim_offsets,
            name=known.name if known else None,
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
    if not isinstance(path_or_name, (str, os.PathLike)):
        raise TypeError(
            f"expected a path or the name of a vocabulary, got {type(path_or_name).__name__}"
        )
    name = os.fspath(path_or_name)
    if name and _is_path(name):
        return _in_folder(Path(name)), None
    paths = locate_vocabulary(name)
    source = _in_folder(paths[0]) if len(paths) == 1 else Source(*paths)
    return source, PUBLISHED.get(name)


def _is_path(name: str) -> bool:
    """Return whether `name` is an existing path; a dangling symbolic link counts as existing.

    Raises OSError, which names the path, if the system cannot tell.
    """
    try:
        with naming(name):
            os.stat(name)
    except ValueError:  # a path cannot hold NUL
        return False
    except FileNotFoundError:
        return os.path.islink(name)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL):
            return False
        raise
    return True


def _in_folder(path: Path) -> Source:
    """Return the source of the file `path`, or of the vocabulary in the folder `path`."""
    if not path.is_dir():
        return Source(path)
    for files in (("tokenizer.json",), *NAMES.items(), (TEKKEN,)):
        paths = tuple(path / file for file in files)
        if all(map(Path.is_file, paths)):
            config = path / CONFIG
            return Source(*paths, config=config if config.is_file() else None)
    raise VocabularyError(
        f"{short_path(path)}: the folder has no tokenizer.json, no {VOCAB} with {MERGES}, and no "
        f"{TEKKEN}; pass the path of the vocabulary file"
    )


def _verify(
    expected: PublishedVocabulary | None, source: Source, is_needed: bool
) -> PublishedVocabulary | None:
    """Return `expected` if `source` has the content of its published files, else None.

    If the content differs, and the split of `expected` is needed (`is_needed`), raises
    PublishedMismatchError.
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
    """Return `preset` if the caller passed one, else the split of the file or vocabulary."""
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
                f"{id}; give each token its own id"
            )


def _join(listed: Sequence[AddedToken], extra: tuple[AddedToken, ...]) -> tuple[AddedToken, ...]:
    """Return `listed`, the added tokens of a file, and the tokens of `extra` that it lacks."""
    ids = {token.content: token.id for token in listed}
    for token in extra:
        if ids.get(token.content, token.id) != token.id:
            raise VocabularyError(
                f"special_tokens gives {shortened(token.content)} the id {token.id}, but the file "
                f"says {ids[token.content]}; omit the token, or correct its id"
            )
    return (*listed, *(token for token in extra if token.content not in ids))

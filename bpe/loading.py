"""Define `load`, which returns the Tokenizer of a vocabulary, given by its files or its name."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.foreign_arguments import LOAD, explained
from bpe.errors import (
    MissingPresetError,
    PublishedMismatchError,
    VocabularyError,
    VocabularyWarning,
)
from bpe.formats.file_spec import FileSpec
from bpe.formats.files import named
from bpe.formats.format import ReadOptions, Source
from bpe.formats.gpt2 import MERGES, NAMES, VOCAB
from bpe.formats.registry import detect
from bpe.formats.sibling_facts import with_siblings
from bpe.formats.spec import TokenizerSpec
from bpe.formats.tekken import FILE_NAME as TEKKEN
from bpe.formats.tokenizer_config import FILE_NAME as CONFIG
from bpe.hub.locate import locate_vocabulary
from bpe.hub.published import PUBLISHED, PublishedVocabulary, vocabularies_of, vocabulary_of_files
from bpe.normalizers.chain import NFC
from bpe.tokenizer import Tokenizer
from bpe.types import PresetLike
from pretok.errors import short_path, shortened
from pretok.files import naming
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get

PathLike: TypeAlias = str | os.PathLike[str]
_SAMPLE = (
    "I'LL don't camelCase HTTPServer 1234567 x²+1;\n\n\ty\r\n ///\t中文カナー e\u0301 ١٢٣!\nx \n  "
)
"""A text that the presets of published vocabularies split differently."""


@explained(LOAD)
def load(
    path_or_name: PathLike | tuple[PathLike, PathLike],
    preset: PresetLike | None = None,
    special_tokens: Mapping[str, int] | None = None,
    *,
    normalizer: Literal["NFC"] | None = None,
    backend: BackendName | None = None,
    cache_mb: float | None = None,
) -> Tokenizer:
    """Return the tokenizer of a vocabulary, which is given by its file, folder or name.

    `load` detects the format from the content of the file:

    - a tokenizer.json of Hugging Face whose model is BPE: either byte-level BPE, or BPE as in
      SentencePiece (docs/how-to/files.md lists the supported parts)
    - a rank file of tiktoken, such as Llama 3's tokenizer.model
    - a vocab.json with its merges.txt, or OpenAI's encoder.json with its vocab.bpe (give one path,
      or both in a tuple)
    - a tekken.json of Mistral
    - a minbpe .model
    - a GGUF file (only its metadata is read)
    - a SentencePiece .model of type BPE
    - CLIP's bpe_simple_vocab_16e6.txt.gz, with the ids of OpenAI's SimpleTokenizer (which also
      repairs text with ftfy and html.unescape; bpe does not)
    - a .pretok file, which `Tokenizer.save` writes (byte-level vocabularies load fastest from it)

    Each of these files may be packed with gzip, except GGUF.

    A folder may hold a tokenizer.json, a vocab.json with its merges.txt, or a tekken.json. If the
    folder also holds a tokenizer_config.json, a tokenizer from tokenizer.json or vocab.json also
    gets the added tokens of tokenizer_config.json. A string that is not the path of a file or
    folder is a name, such as "cl100k_base" or "org/model". `load` looks for names in
    $PRETOK_VOCAB_DIR, in the folder where `pretok fetch` puts files, and in the caches of tiktoken
    and huggingface_hub, never on the network.

    `preset` is the preset or the pre-tokenizer that splits text. By default, it comes from the
    file. A rank file or vocab.json does not name a preset. If the file has the content of a
    published vocabulary, under any name, text is split with the preset of this vocabulary; for
    other such files, `preset` is required. Known are those of tiktoken, Llama 3, Llama 4, Qwen and
    Whisper. `special_tokens` has the ids of special tokens that the file does not list. By default,
    they are the special tokens of the published vocabulary, or of a tokenizer_config.json in the
    folder of a vocab.json. `preset` and `special_tokens` replace what is known, with a
    VocabularyWarning if they differ. `normalizer` is for files that cannot name a normalizer, such
    as GGUF. `Tokenizer` explains `backend` and `cache_mb`.

    The tables for fast merging would take much of the time of loading. A native tokenizer encodes
    its first 2,048 characters without them, and makes them for the next text, or for the first
    batch. So `encode_batch([])` prepares a tokenizer for fast calls.

    Issues a VocabularyWarning for each added token of a tokenizer.json whose id in the file the
    library tokenizers ignores; the token gets the id of the library.

    Raises VocabularyError if the file is malformed, MissingPresetError if neither the file nor
    `preset` names the split, UnsupportedError for features that bpe does not have,
    UnknownVocabularyError for an unknown path or name, OSError if a file cannot be read, and the
    errors of `Tokenizer`.
    """
    _check_special_tokens(special_tokens)
    source, named_vocabulary = _locate(path_or_name)
    format = detect(source)
    folder = source.folder
    source = format.complete(source)
    published: PublishedVocabulary | None = None
    added = None
    if special_tokens is not None:
        added = tuple(AddedToken(content, id) for content, id in special_tokens.items())
    if not format.says_split:
        same = vocabularies_of(source.contents)
        expected = named_vocabulary or vocabulary_of_files(source.paths)
        published = _choose_published(same, expected, source.path, is_needed=preset is None)
        if published is not None:
            for conflict in _conflicts(published, same, preset, special_tokens):
                _warn(source.path, conflict)
            if added is None:
                added = published.added_tokens
            if preset is None:
                normalizer = normalizer or published.normalizer
    spec = format.read(source, ReadOptions(preset is None, added))
    if normalizer is not None and spec.normalizer not in (None, NFC):
        raise ValueError(
            f"normalizer={shortened(normalizer)}: the file has its own normalizer; load it without "
            "normalizer="
        )
    for note in spec.notes:
        _warn(source.path, note)
    facts = spec.facts if folder is None else with_siblings(spec, folder)
    known = named_vocabulary or published
    if isinstance(spec, FileSpec) and not added and preset is normalizer is None:
        spec.facts = facts
        tokenizer = Tokenizer._of_file(spec, known.name if known else None, backend, cache_mb)
        if tokenizer is not None:
            return tokenizer
    split = _choose_split(preset, spec, published, source.path, backend)
    with named(source.path):
        return Tokenizer._of_spec(
            spec, split,
            added_tokens=_join(spec.added_tokens, added) if added else spec.added_tokens,
            normalizer=normalizer or spec.normalizer, facts=facts,
            name=known.name if known else None, backend=backend, cache_mb=cache_mb,
        )  # fmt: skip


def _warn(path: Path, message: str) -> None:
    # The levels are those of this function, of `load`, and of its decorator `explained`.
    warnings.warn(f"{short_path(path)}: {message}", VocabularyWarning, stacklevel=4)


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
            return Source(*paths, config=config if config.is_file() else None, folder=path)
    raise VocabularyError(
        f"{short_path(path)}: the folder has no tokenizer.json, no {VOCAB} with {MERGES}, and no "
        f"{TEKKEN}; pass the path of the vocabulary file"
    )


def _choose_published(
    same: Sequence[PublishedVocabulary],
    expected: PublishedVocabulary | None,
    path: Path,
    is_needed: bool,
) -> PublishedVocabulary | None:
    """Return `expected` if it is in `same`, the vocabularies with the content of `path`.

    Otherwise return the first of `same`, or None. But if the name of the file promises `expected`,
    and the split is needed (`is_needed`), raises PublishedMismatchError.
    """
    if expected in same:
        return expected
    if expected is not None and is_needed:
        digests = tuple(files[0].sha256 for files in expected.editions)
        raise PublishedMismatchError(short_path(path), expected.name, digests, expected.advice)
    return same[0] if same else None


def _conflicts(
    published: PublishedVocabulary,
    same: Sequence[PublishedVocabulary],
    preset: PresetLike | None,
    special_tokens: Mapping[str, int] | None,
) -> Iterator[str]:
    """Yield a sentence for each argument that differs from the published vocabulary.

    `same` are all published vocabularies with the content of the file.
    """
    if isinstance(preset, (str, Preset, PreTokenizer)):
        passed = preset if isinstance(preset, PreTokenizer) else get(preset)
        expected = get(published.preset)
        if passed.split(_SAMPLE) != expected.split(_SAMPLE):
            yield (
                f"the preset {passed.preset.name!r} splits the text, but the published vocabulary "
                f"{published.name} was trained with {published.preset!r}; without a preset, "
                f"{published.preset!r} is chosen"
            )
    others = [
        next((text for text, id in (special_tokens or {}).items() if known.get(text, id) != id), "")
        for known in (vocabulary.special_tokens for vocabulary in same)
    ]
    if special_tokens and all(others):
        content = others[0]
        yield (
            f"special_tokens gives {shortened(content)} the id {special_tokens[content]}, but in "
            f"the published vocabulary {same[0].name} it has the id "
            f"{same[0].special_tokens[content]}"
        )


def _choose_split(
    preset: PresetLike | None,
    spec: TokenizerSpec | FileSpec,
    published: PublishedVocabulary | None,
    path: Path,
    backend: BackendName | None,
) -> PresetLike:
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

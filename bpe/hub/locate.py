"""Find the files of a named vocabulary on this machine."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from bpe.errors import UnknownVocabularyError
from bpe.hub.openai import encoding_name_for_model
from bpe.hub.published import PUBLISHED, PublishedFile, tiktoken_key
from pretok.errors import MAX_SHOWN, UnreadableFileError, shortened
from pretok.files import read

_MAX_REF_BYTES = 1000
"""The maximum size of the file that has the hash of a commit. A hash has 40 bytes."""


def cache_folder() -> Path:
    """Return the folder that `fetch` puts files into.

    The folder is called `pretok`. On Windows, it is in %LOCALAPPDATA%. On other systems, it is in
    $XDG_CACHE_HOME. If this variable is not set, it is in ~/Library/Caches on macOS, and in
    ~/.cache on other systems.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pretok"


def locate_vocabulary(name: str) -> tuple[Path, ...]:
    """Return the paths of the vocabulary `name`: of one file, of two files, or of a folder.

    Look in $PRETOK_VOCAB_DIR, the folder of `pretok fetch`, tiktoken's cache and the cache of
    huggingface_hub. Check the sha256 of files in the folder of `pretok fetch` and in tiktoken's
    cache. Raises UnknownVocabularyError if none of these places has the vocabulary undamaged.
    """
    damaged: list[Path] = []
    for paths, files in _candidates(name):
        if not files and all(map(os.path.exists, paths)):
            return paths
        if not files or not all(map(os.path.isfile, paths)):
            continue
        mismatches = [path for path, file in zip(paths, files, strict=True) if not file.is_in(path)]
        if not mismatches:
            return paths
        damaged += mismatches
    raise UnknownVocabularyError(_not_found(name, damaged))


def _candidates(name: str) -> Iterator[tuple[tuple[Path, ...], tuple[PublishedFile, ...]]]:
    """Yield (paths, files) for each place where the vocabulary may be.

    `files` are the published files to compare with `paths`; () means no check.
    """
    published = PUBLISHED.get(name)
    editions = published.editions if published else ()
    parts = name.split("/")
    is_safe = all(parts) and ".." not in parts and "\0" not in name and "\\" not in name
    own = os.environ.get("PRETOK_VOCAB_DIR")
    if own and is_safe:
        for suffix in (".tiktoken", ".json", ".model", ".gguf", "_vocab.json", ""):
            yield (Path(own, name + suffix),), ()
        for files in editions:
            yield tuple(Path(own, file.name) for file in files), ()
    for files in editions:
        yield tuple(cache_folder() / file.name for file in files), files
        folder = tiktoken_folder()
        if folder is not None and all(file.url for file in files):
            yield tuple(folder / tiktoken_key(file.source) for file in files), files
    if is_safe and name.count("/") <= 1:
        snapshot = _snapshot(name)
        if snapshot is not None and (
            (snapshot / "tokenizer.json").exists()
            or ((snapshot / "vocab.json").exists() and (snapshot / "merges.txt").exists())
        ):
            yield (snapshot,), ()


def tiktoken_folder() -> Path | None:
    """Return tiktoken's cache folder, or None if the user has disabled the cache."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir(), "data-gym-cache")


def _hub_folder() -> Path:
    """Return huggingface_hub's cache folder."""
    folder = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if folder:
        return Path(folder).expanduser()
    home = os.environ.get("HF_HOME")
    if home:
        return Path(home).expanduser() / "hub"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "huggingface", "hub")


def _snapshot(name: str) -> Path | None:
    """Return the folder of a snapshot of repository `name` in huggingface_hub's cache.

    It is the snapshot of the branch main, or else the only snapshot. Return None if main was not
    downloaded, and there is no snapshot or more than one.
    """
    folder = _hub_folder() / f"models--{name.replace('/', '--')}"
    try:
        commit = read(folder / "refs" / "main", _MAX_REF_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError, UnreadableFileError):
        # A repository that was downloaded by the hash of a commit has no refs. Take its only
        # snapshot.
        try:
            (commit,) = (path.name for path in (folder / "snapshots").iterdir())
        except (OSError, ValueError):
            return None
    return folder / "snapshots" / commit if commit and commit == Path(commit).name else None


def _not_found(name: str, damaged: list[Path]) -> str:
    """Return the message of the error for `name`; files in `damaged` have a wrong sha256."""
    own = os.environ.get("PRETOK_VOCAB_DIR")
    folder = tiktoken_folder()
    places = [
        f"$PRETOK_VOCAB_DIR ({own})" if own else "$PRETOK_VOCAB_DIR (not set)",
        str(cache_folder()),
        f"tiktoken's cache ({folder})" if folder else "tiktoken's cache (disabled)",
        f"huggingface_hub's cache ({_hub_folder()})",
    ]
    # A name such as "owner/model", and not a path such as "/tmp/model".
    owner, slash, model = name.partition("/")
    is_repository = bool(slash and owner.strip(".~") and model and "/" not in model)
    message = f"no file or vocabulary on this machine is called {shortened(name)}"
    message += f"; looked in {', '.join(places)}"
    for path in damaged:
        message += f"; {path} is damaged: its sha256 differs from the published file"
    if name in PUBLISHED:
        message += f"; {PUBLISHED[name].advice}, or pass the path of its file"
    elif is_repository and len(name) <= MAX_SHOWN:
        message += f"; to get a model's tokenizer run `hf download {name} tokenizer.json`"
    similar = _similar(name)
    if similar and name not in PUBLISHED:
        message += f"; did you mean {', '.join(map(repr, similar))}?"
    elif name not in PUBLISHED and not is_repository:
        message += "; pass the path of a file, or a name that `pretok fetch` lists"
    return message


def _similar(name: str) -> list[str]:
    """Return names of vocabularies that a caller with the unknown `name` may have meant."""
    try:
        return [encoding_name_for_model(name)]
    except KeyError:
        pass
    matches = get_close_matches(name[:MAX_SHOWN], known_names(), n=4, cutoff=0.5)
    return [other for other in matches if other != name]


def known_names() -> list[str]:
    """Return the names of vocabularies to suggest, each once."""
    suggestions = list(PUBLISHED)
    own = os.environ.get("PRETOK_VOCAB_DIR")
    for folder, start in ((Path(own) if own else None, ""), (_hub_folder(), "models--")):
        try:
            names = sorted(path.name for path in folder.iterdir()) if folder else []
        except OSError:
            continue
        for name in names:
            if start and name.startswith(start):
                suggestions.append(name.removeprefix(start).replace("--", "/"))
            elif not start:
                suggestions.append(name.partition(".")[0])
    return list(dict.fromkeys(suggestions))

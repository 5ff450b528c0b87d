"""Download published vocabularies; no other module uses the network."""

from __future__ import annotations

import os
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from bpe.errors import UnknownVocabularyError, VocabularyError
from bpe.formats.files import MAX_BYTES, write_atomically
from bpe.hub.locate import cache_folder
from bpe.hub.published import PUBLISHED, PublishedFile
from bpe.progress import progress_bar
from pretok.errors import shortened

_TIMEOUT_SECONDS = 30
"""The connection counts as lost after this time without data."""


def fetch(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Download the vocabulary called `name` into `folder`, and return the path of its file.

    By default `folder` is the cache in which `bpe.load(name)` looks. A file that exists with the
    published sha256 is not downloaded again. A download is written only after a check of its
    sha256. Raises UnknownVocabularyError for an unknown name, VocabularyError if the download is
    not the published file, OSError if the download or the writing fails.
    """
    vocabulary = PUBLISHED.get(name)
    if vocabulary is None:
        raise UnknownVocabularyError(
            f"no vocabulary called {shortened(name)} to download; expected one of "
            f"{', '.join(each.name for each in PUBLISHED.values() if each.files[0].url)}"
        )
    if vocabulary.files[0].url is None:
        raise UnknownVocabularyError(
            f"the vocabulary {name} has no URL to download; {vocabulary.advice}"
        )
    target = cache_folder() if folder is None else Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [_fetch(file, target / file.name) for file in vocabulary.files]
    return paths[0]


def _fetch(file: PublishedFile, path: Path) -> Path:
    if path.is_file() and file.is_in(path):
        return path
    data = _download(file.source)
    if not file.has(data):
        raise VocabularyError(
            f"{file.source}: the download of {len(data):,} bytes is not the published file "
            f"(expected sha256 {file.sha256}); try again, or get the file elsewhere and put it at "
            f"{path}"
        )
    write_atomically(path, data)
    return path


def _download(url: str) -> bytes:
    request = Request(url, headers={"User-Agent": "pretok"})
    parts: list[bytes] = []
    size_read = 0
    try:
        with urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            with progress_bar(url.rpartition("/")[2], "B", None, size or None) as bar:
                while part := answer.read(1 << 16):
                    parts.append(part)
                    size_read += len(part)
                    bar.update(len(part))
                    if size_read > MAX_BYTES:
                        raise VocabularyError(f"{url}: expected at most {MAX_BYTES:,} bytes")
    except HTTPError as error:
        with error:
            raise OSError(f"{url}: the server answers {error.code} ({error.reason})") from None
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        reason = getattr(error, "reason", None) or error
        raise OSError(
            f"{url}: the download failed: {reason}; if you have the file, put it into "
            "$PRETOK_VOCAB_DIR"
        ) from error
    if size and size_read != size:
        raise VocabularyError(f"{url}: got only {size_read:,} of {size:,} bytes; try again")
    return b"".join(parts)

"""Getting a published vocabulary over the network: the only code here that uses it."""

from __future__ import annotations

import os
import sys
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from bpe.errors import UnknownVocabularyError, VocabularyError
from bpe.formats.files import MOST_BYTES, write_atomically
from bpe.hub.locate import cache_folder
from bpe.hub.published import KNOWN, PublishedFile, matches
from pretok.errors import shortened

_SECONDS = 30
"""So long nothing may come before the connection counts as lost."""


def fetch(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Download the vocabulary called `name` into `folder`, and return the path of its file.

    By default into the folder where `bpe.load(name)` finds it. A file that is there already and is
    the published one is not downloaded again. Its sha256 is checked before it appears. Raises
    UnknownVocabularyError if no vocabulary of this name is published for download, VocabularyError
    if what came is not what was published, OSError if nothing comes or it cannot be written.
    """
    known = KNOWN.get(name)
    if known is None:
        raise UnknownVocabularyError(
            f"no vocabulary called {shortened(name)} to download; expected one of "
            f"{', '.join(KNOWN)}"
        )
    target = cache_folder() if folder is None else Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [_fetch(file, target / file.name) for file in known.files]
    return paths[0]


def _fetch(file: PublishedFile, path: Path) -> Path:
    if path.is_file() and file.is_in(path):
        return path
    data = _download(file.url)
    if not matches(data, file.sha256):
        raise VocabularyError(
            f"{file.url}: the {len(data):,} bytes that came are not the published file (its sha256 "
            f"would be {file.sha256}); try again, or get the file elsewhere and put it at {path}"
        )
    write_atomically(path, data)
    return path


def _download(url: str) -> bytes:
    request = Request(url, headers={"User-Agent": "pretok"})
    parts: list[bytes] = []
    got = 0
    try:
        with urlopen(request, timeout=_SECONDS) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            with tqdm(
                total=size or None,
                unit="B",
                unit_scale=True,
                desc=url.rpartition("/")[2],
                disable=not sys.stderr.isatty(),
            ) as bar:
                while part := answer.read(1 << 16):
                    parts.append(part)
                    got += len(part)
                    bar.update(len(part))
                    if got > MOST_BYTES:
                        raise VocabularyError(f"{url}: more than {MOST_BYTES:,} bytes came")
    except HTTPError as error:
        with error:
            raise OSError(f"{url}: the server answers {error.code} ({error.reason})") from None
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        reason = getattr(error, "reason", None) or error
        raise OSError(f"{url}: the download failed: {reason}") from error
    if size and got != size:
        raise VocabularyError(f"{url}: {got:,} of {size:,} bytes came; try again")
    return b"".join(parts)

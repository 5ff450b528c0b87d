"""The functions of tiktoken.load, which read and write rank files; they download nothing."""

from __future__ import annotations

import os
from binascii import a2b_base64
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from bpe.formats.files import read, write_atomically
from bpe.formats.tiktoken import rank_lines
from bpe.hub.locate import tiktoken_folder
from bpe.hub.published import tiktoken_key


def read_file(blobpath: str | os.PathLike[str]) -> bytes:
    """Return the content of a file: of a path, or of a URL that is in tiktoken's cache.

    Raises OSError if the file cannot be read.
    """
    url = os.fspath(blobpath)
    if "://" not in url:
        return read(Path(url))
    folder = tiktoken_folder()
    cached = None if folder is None else folder / tiktoken_key(url)
    if cached is None or not cached.is_file():
        raise FileNotFoundError(
            f"{url} is not in tiktoken's cache ({folder or 'disabled'}), and bpe downloads "
            "nothing; download the file and pass its path"
        )
    return read(cached)


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Return whether the sha256 of `data` is `expected_hash`, in hexadecimal digits."""
    return sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str | os.PathLike[str], expected_hash: str | None = None) -> bytes:
    """Do the same as `read_file`; raise ValueError if the sha256 is not `expected_hash`."""
    data = read_file(blobpath)
    if expected_hash and not check_hash(data, expected_hash):
        raise ValueError(
            f"Hash mismatch: {blobpath} has not the sha256 {expected_hash}; get the file again"
        )
    return data


def load_tiktoken_bpe(
    tiktoken_bpe_file: str | os.PathLike[str], expected_hash: str | None = None
) -> dict[bytes, int]:
    """Return the rank of each token of a rank file.

    Raises the errors of `read_file_cached`, and ValueError for a line that is not a token in base64
    and its rank.
    """
    ranks = {}
    data = read_file_cached(tiktoken_bpe_file, expected_hash)
    for number, line in enumerate(data.splitlines(), 1):
        if line:
            try:
                token, rank = line.split()
                ranks[a2b_base64(token)] = int(rank)
            except ValueError:
                raise ValueError(
                    f"{tiktoken_bpe_file}, line {number}: expected a token in base64 and its rank, "
                    f"got {line!r}"
                ) from None
    return ranks


def dump_tiktoken_bpe(
    bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str | os.PathLike[str]
) -> None:
    """Write the ranks of tokens to a rank file, in ascending order."""
    write_atomically(tiktoken_bpe_file, rank_lines(bpe_ranks))

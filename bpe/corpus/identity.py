"""Identify the tokenizer of a corpus, and store it beside the shards."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.pretok_file import dump_head
from bpe.formats.registry import dump
from bpe.formats.spec import TokenizerSpec
from bpe.tokenizer import Tokenizer
from bpe.vocabulary import Packed, Vocabulary

SUFFIXES = (".pretok", ".json", ".model")
"""The formats that together hold every tokenizer of a file."""


def tokenizer_sha256(tokenizer: Tokenizer) -> str:
    """Return a sha256 that is equal for equal tokenizers, in each process and on each machine.

    Raises UnsupportedError if no file can hold the tokenizer.
    """
    spec = tokenizer.to_spec()
    if not _is_plain(spec):
        return sha256(tokenizer_file(tokenizer)[1]).hexdigest()
    # Much faster than writing the file, which needs the merges.
    vocabulary = spec.vocabulary
    packed = vocabulary.packed
    if np.any(packed.ids[1:] < packed.ids[:-1]):
        packed = Packed.of(dict(sorted(vocabulary.token_bytes.items())))
    digest = sha256(dump_head(spec))
    for part in (packed.ids.astype("<u4"), packed.lengths.astype("<u4")):
        digest.update(part.tobytes())
    digest.update(packed.data)
    if not vocabulary.from_ranks:
        digest.update(np.ascontiguousarray(vocabulary.merge_rows, "<u4").tobytes())
    return digest.hexdigest()


def _is_plain(spec: TokenizerSpec) -> bool:
    """Return whether a .pretok file holds `spec`."""
    return (
        type(spec.vocabulary) is Vocabulary
        and spec.preset is not None
        and spec.normalizer in (None, "NFC")
        and spec.decoder is None
    )


def tokenizer_file(tokenizer: Tokenizer) -> tuple[str, bytes]:
    """Return the name and the content of a file that holds `tokenizer`."""
    spec = tokenizer.to_spec()
    reasons = []
    for suffix in SUFFIXES:
        name = f"tokenizer{suffix}"
        try:
            return name, dump(spec, name)
        except (UnsupportedError, VocabularyError) as error:
            reasons.append(str(error))
    raise UnsupportedError(
        f"a corpus stores its tokenizer, but no file can hold this one: {'; '.join(reasons)}"
    )

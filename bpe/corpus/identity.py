"""Make the file that stores the tokenizer of a corpus, and identifies it."""

from __future__ import annotations

from dataclasses import replace

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.registry import dump
from bpe.once import forget
from bpe.tokenizer import Tokenizer

SUFFIXES = (".pretok", ".json", ".model")
"""Each tokenizer that was loaded from a file can be stored in one of these formats."""


def tokenizer_file(tokenizer: Tokenizer) -> tuple[str, bytes]:
    """Return the name and the content of a file that holds `tokenizer`.

    Equal tokenizers give equal files. Raises UnsupportedError if no file can hold the tokenizer.
    """
    # Truncation and padding do not change the ids of a text.
    spec = replace(tokenizer.to_spec(), truncation=None, padding=None)
    reasons = []
    for suffix in SUFFIXES:
        name = f"tokenizer{suffix}"
        try:
            return name, dump(spec, name)
        except (UnsupportedError, VocabularyError) as error:
            reasons.append(str(error))
        finally:
            # Free the Python objects of merges and tokens: 50 MB for a large vocabulary.
            forget(tokenizer, "merge_ids")
            tokenizer.vocabulary.trim()
    raise UnsupportedError(
        f"a corpus stores its tokenizer, but no file can hold this one: {'; '.join(reasons)}"
    )

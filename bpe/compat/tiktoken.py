"""Stands in for the package tiktoken 0.14: `from bpe.compat import tiktoken`.

The methods of Encoding have the names, arguments, results and kinds of errors of tiktoken's. What
differs, on purpose:

- A split is one that pretok knows: `pat_str` that is none needs `preset=`; nothing is compiled.
- Vocabularies are looked for on this machine only, as by `bpe.load`; `pretok fetch` downloads them.
  Plugins (`tiktoken_ext`) and submodules (`tiktoken.load` …) are not there.
- Of special tokens that begin at the same place the longest one counts, of those that the call
  allows or disallows. With tiktoken it depends on a hash.
- Each byte needs a token, ids are below 2**24, a special token is not empty and its id not that of
  an ordinary one, else it is a VocabularyError (a ValueError). tiktoken may panic or hang later.
- What makes tiktoken panic is a ValueError.
- `encode_with_unstable` returns completions in ascending order; tiktoken's have none.
- `allowed_special` is any set, ids to decode are any iterable of ints; tiktoken takes fewer types.
- `encode_to_numpy` returns an array that can be written to.
- A copy of a known encoding, or one that was pickled, shares everything with it, as in tiktoken;
  any other is pickled whole, with its pre-tokenizer.
"""

from __future__ import annotations

from bpe.compat._encoding import Encoding
from bpe.compat._models import encoding_name_for_model
from bpe.compat._registry import encoding_for_model, get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

__version__ = "0.14.0"
"""The version of tiktoken that this does as."""

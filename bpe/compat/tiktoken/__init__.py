"""A drop-in for the package tiktoken 0.14: `from bpe.compat import tiktoken`.

The methods of Encoding have the names, arguments, results and error types of tiktoken. The modules
`core`, `load`, `model` and `registry` have the names that programs import. Programs that import
tiktoken themselves get this package after `sys.modules["tiktoken"] = bpe.compat.tiktoken`. The
intended differences are:

- Patterns are not compiled. A `pat_str` that pretok does not know needs `preset=`.
- Vocabularies must be on this machine, where `bpe.load` finds them; `pretok fetch` downloads them.
  Plugins (`tiktoken_ext`) do not exist. `load` downloads nothing.
- If several allowed or disallowed special tokens begin at the same place, the longest one counts.
  In tiktoken a hash decides which one counts.
- Each byte must have a token, and ids must be below 2**24. A special token must not be empty, but
  one token of `mergeable_ranks` may be, as in Whisper. The id of a special token must differ from
  the ids of ordinary tokens. Any other vocabulary raises VocabularyError (a ValueError); tiktoken
  may accept it, and panic or hang later.
- Calls that make tiktoken panic raise ValueError.
- `encode_with_unstable` returns completions in ascending order; tiktoken does not order them.
- `allowed_special` is any set, and ids to decode are any iterable of ints; tiktoken accepts fewer
  types. `encode_batch` accepts `disallowed_special=None`, as `encode` does in both libraries.
- Of the private attributes there are `_special_tokens`, `_mergeable_ranks` and `_pat_str`, which
  programs use to extend an encoding, and `_core_bpe`.
- Errors begin with the words of tiktoken that programs look for, and go on in other words.
- `encode_to_numpy` returns a writable array.
- Copying or unpickling an encoding from `get_encoding` gives the same encoding, as in tiktoken; any
  other encoding is pickled whole, with its pre-tokenizer.
"""

from __future__ import annotations

from bpe.compat.tiktoken import load as load
from bpe.compat.tiktoken.core import Encoding
from bpe.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from bpe.compat.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

__version__ = "0.14.0"
"""The version of tiktoken that this module follows."""

"""A stand-in for Hugging Face's tokenizers: `from bpe.compat import huggingface as hf`.

    hf.patch()                      # every tokenizer of transformers, in the whole process
    tok = hf.wrap(tok)              # one tokenizer
    hf.Tokenizer.from_file(path)    # in place of tokenizers.Tokenizer
    hf.backend(tok), hf.fallbacks() # which library serves what, and why

The real tokenizers.Tokenizer holds the vocabulary, the settings and the components. It is what
`pickle` and `save` store. bpe encodes and decodes in front of it, and leaves to it each call that
bpe cannot answer exactly as it would:

- `Engine` is built from the serialized tokenizer at the first call, and again after a change. If
  bpe refuses it, the real tokenizer serves every call, and `backend` has the reason.
- `Tokenizer` wraps a real tokenizer. Its methods `encode`, `encode_batch`, `decode` and
  `decode_batch` ask the engine; every other attribute is the real one's.
- A call that the engine does not answer raises CallFallbackError inside, and the real tokenizer
  answers it, or raises its own error. `fallbacks` counts these calls by reason.
- `Encoding` has the ids at once; masks, tokens, offsets and words are computed on first access.
- `patch` makes `_tokenizer` of transformers' class a descriptor that stores the real tokenizer and
  returns its stand-in, so pickles do not change and `unpatch` restores live tokenizers as well. It
  also puts short versions of `__call__`, `encode` and `decode` in front of those of transformers.

`comparable` returns the plain values of a result, to compare results of both engines.

Not covered: a change through a handle that was taken from the real tokenizer before `patch`, such
as `tok._tokenizer.pre_tokenizer`; a method that was replaced on one tokenizer instead of its class;
a DecodeStream that was made before `patch`. Without `patch` a function in Rust that takes a
tokenizer (`ParityBpeTrainer.train_from_iterator`, `DecodeStream.step`) needs `Tokenizer.real`; one
that takes an encoding needs `Encoding.to_real()` always.
"""

from __future__ import annotations

from typing import Any

from bpe.compat.huggingface import settings
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.errors import FallbackError
from bpe.compat.huggingface.patching import patch, patched, unpatch
from bpe.compat.huggingface.state import Backend, comparable, state_of
from bpe.compat.huggingface.stream import DecodeStream
from bpe.compat.huggingface.tokenizer import Tokenizer
from bpe.compat.huggingface.wrapping import wrap

__all__ = [
    "Backend",
    "DecodeStream",
    "Encoding",
    "FallbackError",
    "Tokenizer",
    "backend",
    "comparable",
    "fallbacks",
    "patch",
    "patched",
    "unpatch",
    "wrap",
]


def backend(tok: Any) -> Backend:
    """Return the library that serves a tokenizer of transformers or tokenizers, and why."""
    real = vars(tok).get("_tokenizer", tok) if type(tok) is not Tokenizer else tok
    real = real.real if type(real) is Tokenizer else real
    return state_of(real).backend(real)


def fallbacks() -> dict[str, int]:
    """Return the number of calls that fell back to the real engine, by reason."""
    return dict(settings.total)

"""A stand-in for Hugging Face's tokenizers: `from bpe.compat import huggingface as hf`.

    hf.patch()                      # every tokenizer of transformers, in the whole process
    hf.patch(factories=True)        # also those that programs read with tokenizers.Tokenizer
    tok = hf.wrap(tok)              # one tokenizer
    hf.Tokenizer.from_file(path)    # in place of tokenizers.Tokenizer, also without tokenizers
    hf.engine(tok)                  # the library that answers the calls of tok, and why
    hf.encode_chat(tok, messages)   # the ids of a chat that no message can break
    hf.fallbacks()                  # the number of calls that bpe could not answer, by reason

The real tokenizer is the tokenizers.Tokenizer. It keeps the vocabulary, the settings and the
components; `pickle` and `save` store it. bpe serves a call if it computes the result. It falls back
to the real tokenizer if its result might differ:

- `BpeEngine` is built from the serialized tokenizer at the first call, and again after a change. If
  bpe does not support the tokenizer, the real one serves every call; `engine` returns the reason.
- `Tokenizer` wraps a real tokenizer. Its methods `encode`, `encode_batch`, `encode_batch_fast`,
  `decode`, `decode_batch`, and those with `async_` before their names, ask the engine first. All
  other attributes are those of the real tokenizer.
- The engine raises CallFallbackError for a call that it cannot answer. `Tokenizer` catches it, and
  the real tokenizer answers, or raises its own error. `fallbacks` counts these calls by reason.
- `Encoding` has the ids at once; masks, tokens, offsets and words are computed on first access.
- `patch` makes `_tokenizer` of transformers' class a descriptor that stores the real tokenizer and
  returns its stand-in. So pickles do not change, and `unpatch` restores tokenizers that exist. It
  also puts short versions of `__call__`, `encode` and `decode` in front of those of transformers.

If the installed tokenizers lacks the classes to wrap, as version 1.0 does, or none is installed,
`Tokenizer` wraps the class of `record`, which keeps the file, the added tokens and the settings.
The results are those of tokenizers 0.23.3. A call or a file that bpe does not support raises
UnsupportedError. `patch` and `wrap` warn that they change nothing; `patch(factories=True)` still
replaces `from_file` and `from_pretrained` of tokenizers.Tokenizer.

`comparable` returns the plain values of a result, to compare results of both libraries.

The classes of components report each change of a component, and then the engine is checked. Not
covered: a method that was replaced on one tokenizer instead of its class; a DecodeStream that was
made before `patch`; a method of `Tokenizer.real` that changes it. Without `patch`, pass
`Tokenizer.real` to functions in Rust that take a tokenizer
(`ParityBpeTrainer.train_from_iterator`, `DecodeStream.step`), and `Encoding.to_real()` to functions
in Rust that take an encoding (`Encoding.merge`, `Tokenizer.post_process`, `PostProcessor.process`).
"""

from __future__ import annotations

from bpe.compat.huggingface.chats import encode_chat
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.patching import engine, fallbacks, patch, patched, unpatch, wrap
from bpe.compat.huggingface.real import WHY_RECORD as WHY_RECORD
from bpe.compat.huggingface.real import AddedToken
from bpe.compat.huggingface.serving import FallbackError, ServingEngine
from bpe.compat.huggingface.state import comparable
from bpe.compat.huggingface.stream import DecodeStream
from bpe.compat.huggingface.tokenizers import Tokenizer

__all__ = [
    "AddedToken",
    "DecodeStream",
    "Encoding",
    "FallbackError",
    "ServingEngine",
    "Tokenizer",
    "comparable",
    "encode_chat",
    "engine",
    "fallbacks",
    "patch",
    "patched",
    "unpatch",
    "wrap",
]

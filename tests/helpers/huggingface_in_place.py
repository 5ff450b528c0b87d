"""A pytest plugin that runs the tests of Hugging Face's tokenizers with bpe's stand-in for it."""

from __future__ import annotations

import sys

import tokenizers

from bpe.compat import huggingface as hf

_real = tokenizers.Tokenizer
hf.patch()
for _name, _module in list(sys.modules.items()):
    if _name.partition(".")[0] == "tokenizers" and vars(_module).get("Tokenizer") is _real:
        _module.Tokenizer = hf.Tokenizer  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    """Restore tokenizers.Tokenizer, after the tests have imported our class under this name.

    Pickle looks up a class by its name, so the name of the real class must lead to it again.
    """
    vars(tokenizers)["Tokenizer"] = _real

"""A plugin of pytest that runs the tests of others with the stand-in for tokenizers in place."""

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
    """Give pickle the real class by its name again, after the tests have imported ours."""
    vars(tokenizers)["Tokenizer"] = _real

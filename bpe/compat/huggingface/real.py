"""The classes of the library tokenizers, also after a program replaced tokenizers.Tokenizer."""

from __future__ import annotations

from typing import Any

try:
    import tokenizers
except ModuleNotFoundError as error:
    if error.name != "tokenizers":
        raise
    raise ModuleNotFoundError(
        "bpe.compat.huggingface needs the package tokenizers; install it with "
        "`pip install tokenizers`",
        name="tokenizers",
    ) from None

VERSION: str = tokenizers.__version__
TESTED_VERSIONS = ("0.22.2", "0.23.1", "0.23.3")
"""The versions of the library tokenizers with which the stand-in was compared.

The stand-in is the Tokenizer of bpe.compat.huggingface.
"""
WHY_NOT = ""
"""Why the stand-in cannot be built on the installed version, which lacks a class; else ""."""

try:
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

    RealTokenizer: Any = tokenizers.Tokenizer
    RealEncoding: Any = tokenizers.Encoding
    RealDecodeStream: Any = decoders.DecodeStream
    PostProcessor: Any = processors.PostProcessor
    COMPONENTS: tuple[Any, ...] = (
        normalizers.Normalizer,
        pre_tokenizers.PreTokenizer,
        PostProcessor,
        decoders.Decoder,
        models.Model,
    )
    """The base classes of the components of a tokenizer."""
    SEQUENCES: tuple[Any, ...] = (
        normalizers.Sequence,
        pre_tokenizers.Sequence,
        processors.Sequence,
    )
    """The classes of components whose items can be replaced."""
    EMPTY: Any = RealTokenizer(models.BPE())
    """A tokenizer that decodes all ids to an empty text."""
    # tokenizers 0.22 lacks this trainer, the only one that takes a tokenizer.
    ParityBpeTrainer: Any = getattr(trainers, "ParityBpeTrainer", None)
except (ImportError, AttributeError):
    WHY_NOT = (
        f"bpe stands in for tokenizers {', '.join(TESTED_VERSIONS)}; tokenizers {VERSION} lacks "
        "classes that the stand-in needs"
    )

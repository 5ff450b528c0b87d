"""The classes of the library tokenizers, also after a program replaced tokenizers.Tokenizer.

If the library lacks some of them, as version 1.0 does, or is not installed, the classes of `record`
take their place.
"""

from __future__ import annotations

from typing import Any

from bpe.compat.huggingface import record

try:
    import tokenizers

    INSTALLED: str = tokenizers.__version__
except ModuleNotFoundError as error:
    if error.name != "tokenizers":
        raise
    INSTALLED = ""

VERSION = INSTALLED
"""The version of tokenizers whose results the stand-in gives."""
FOLLOWED = "0.23.3"
"""The version that the classes of `record` follow."""
TESTED_VERSIONS = ("0.22.2", "0.23.1", "0.23.3")
"""The versions of the library tokenizers with which the stand-in was compared.

The stand-in is the Tokenizer of bpe.compat.huggingface.
"""
WHY_RECORD = ""
"""Why the classes of `record` are used; "" if they are not."""
COMPONENTS: tuple[Any, ...] = ()
"""The base classes of the components of a tokenizer."""
SEQUENCES: tuple[Any, ...] = ()
"""The classes of components whose items can be replaced."""
RealEncoding: Any = None
PostProcessor: Any = None
ParityBpeTrainer: Any = None
EMPTY: Any = None
"""A tokenizer that decodes all ids to an empty text."""

try:
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

    AddedToken: Any = tokenizers.AddedToken
    RealTokenizer: Any = tokenizers.Tokenizer
    RealEncoding = tokenizers.Encoding
    RealDecodeStream: Any = decoders.DecodeStream
    PostProcessor = processors.PostProcessor
    COMPONENTS = (
        normalizers.Normalizer,
        pre_tokenizers.PreTokenizer,
        PostProcessor,
        decoders.Decoder,
        models.Model,
    )
    SEQUENCES = (normalizers.Sequence, pre_tokenizers.Sequence, processors.Sequence)
    EMPTY = RealTokenizer(models.BPE())
    # tokenizers 0.22 lacks this trainer, the only one that takes a tokenizer.
    ParityBpeTrainer = getattr(trainers, "ParityBpeTrainer", None)
except (ImportError, AttributeError):
    WHY_RECORD = (
        f"tokenizers {INSTALLED} lacks classes of tokenizers {', '.join(TESTED_VERSIONS)}"
        if INSTALLED
        else "tokenizers is not installed"
    )
    VERSION = FOLLOWED
    AddedToken, RealTokenizer = record.AddedToken, record.Tokenizer
    RealDecodeStream = record.DecodeStream
    RealEncoding = PostProcessor = ParityBpeTrainer = None
    COMPONENTS = SEQUENCES = ()
    EMPTY = RealTokenizer.from_str('{"model": {"type": "BPE", "vocab": {}, "merges": []}}')

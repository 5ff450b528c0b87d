r"""All built-in presets as data, by family.

The rules of a preset follow the alternatives of the published pattern. The patterns are for readers
and for tests; nothing compiles them at run time. After each change run
`python -m cpp.generate.presets` to generate the C++ presets.
"""

from pretok.presets.cl100k import (
    CL100K,
    EXAONE_MOE,
    JAIS2,
    LAGUNA,
    LLAMA3,
    MINICPM5,
    NANOCHAT,
    QWEN2,
    QWEN35,
    SEED_CODER,
    UFAKZEKA,
)
from pretok.presets.deepseek import AFMOE, DEEPSEEK_CODER, DEEPSEEK_LLM, DEEPSEEK_V3, SPARK
from pretok.presets.gpt2 import CHAMELEON, CLIP, DEFAULT, FALCON, GPT2, R50K, STARCODER
from pretok.presets.misc import BLOOM, GEMMA4, SUPERBPE, VIKING, WHITESPACE
from pretok.presets.o200k import GRANITE_EMBEDDING, KIMI_K2, O200K, TEKKEN, TINY_AYA, YOUTU

BUILT_IN = (
    GPT2, R50K, CL100K, LLAMA3, QWEN2, O200K,
    QWEN35, NANOCHAT, SEED_CODER, UFAKZEKA, MINICPM5, LAGUNA, JAIS2, EXAONE_MOE,
    TEKKEN, KIMI_K2, TINY_AYA, YOUTU, GRANITE_EMBEDDING,
    DEEPSEEK_V3, DEEPSEEK_CODER, DEEPSEEK_LLM, SPARK, AFMOE,
    STARCODER, FALCON, DEFAULT, CHAMELEON, CLIP,
    BLOOM, VIKING, GEMMA4, WHITESPACE, SUPERBPE,
)  # fmt: skip

__all__ = [
    "AFMOE",
    "BLOOM",
    "BUILT_IN",
    "CHAMELEON",
    "CL100K",
    "CLIP",
    "DEEPSEEK_CODER",
    "DEEPSEEK_LLM",
    "DEEPSEEK_V3",
    "DEFAULT",
    "EXAONE_MOE",
    "FALCON",
    "GEMMA4",
    "GPT2",
    "GRANITE_EMBEDDING",
    "JAIS2",
    "KIMI_K2",
    "LAGUNA",
    "LLAMA3",
    "MINICPM5",
    "NANOCHAT",
    "O200K",
    "QWEN2",
    "QWEN35",
    "R50K",
    "SEED_CODER",
    "SPARK",
    "STARCODER",
    "SUPERBPE",
    "TEKKEN",
    "TINY_AYA",
    "UFAKZEKA",
    "VIKING",
    "WHITESPACE",
    "YOUTU",
]

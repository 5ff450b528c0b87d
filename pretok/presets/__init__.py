r"""All built-in presets as data, by family.

The rules of a preset follow the alternatives of the published pattern. The patterns are for readers
and for tests; nothing compiles them at run time. Each Preset in the module of a family is built in.
After each change run `python -m cpp.generate.presets` to generate the C++ presets.
"""

from pretok.preset import Preset
from pretok.presets import cl100k, deepseek, gpt2, misc, o200k
from pretok.presets.cl100k import CL100K, LLAMA3, QWEN2
from pretok.presets.gpt2 import GPT2, R50K
from pretok.presets.o200k import O200K

CORE = (GPT2, R50K, CL100K, LLAMA3, QWEN2, O200K)
"""The main preset of each family."""
FAMILIES = (cl100k, o200k, deepseek, gpt2, misc)
BUILT_IN: tuple[Preset, ...] = (
    *CORE,
    *(
        value
        for family in FAMILIES
        for value in vars(family).values()
        if isinstance(value, Preset) and value not in CORE
    ),
)

__all__ = ["BUILT_IN", "CL100K", "CORE", "FAMILIES", "GPT2", "LLAMA3", "O200K", "QWEN2", "R50K"]

"""The preset of nanochat: the rules of Llama 3, but a pre-token has at most two digits."""

from pretok import Preset, Run, get
from pretok.charsets import NUMBER

LLAMA3 = get("llama3").preset
NANOCHAT = Preset(
    name="my-nanochat",
    rules=tuple(
        Run(NUMBER, at_most=2) if rule == Run(NUMBER, at_most=3) else rule for rule in LLAMA3.rules
    ),
    pattern=LLAMA3.pattern.replace(r"\p{N}{1,3}", r"\p{N}{1,2}"),
)

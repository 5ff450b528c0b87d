"""Random texts for the vocabularies of llama.cpp, without the texts that it treats differently."""

from __future__ import annotations

from random import Random
from unicodedata import ucd_3_2_0

NAMES = ("aquila", "baichuan", "command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4",
         "gpt-2", "gpt-neox", "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2", "qwen35", "refact",
         "starcoder")  # fmt: skip
REMOVED = {"aquila": r"<\|endoftext\|>",
           "phi-3": r"</s>|[^\S\x00-\x7f]", "gemma-4": r"<\|tool_response>",
           "qwen2": "</s>", "qwen35": "</s>", "deepseek-llm": "\u3000",
           "deepseek-coder": "<｜fim▁[a-z]+｜>"}  # fmt: skip
"""Parts of random texts that llama.cpp treats in another way; test_documented_differences has them.
"""
PARTS = [*"abcdefghijklmnopqrstuvwxyzABCXYZ0123456789.,:;!?'\"-_()[]{}<>/\\|@#$%^&*+=~`",
         *"éüñßµªº²³¹½Ⅷ①áあア漢字語한글ุไทยहिन्दीſKİǅ𐐀▁ʰ，。！’“\u3000\xa0\u2028\u200b\u0301\ufffd",
         "\x00", "\x7f", "\x85", "😀", "👍🏽", "\U0010ffff", "▁▁", "'s", "'S", "'ll", "'LL", "n't",
         "  ", "    ", "\r\n",
         "\n\n", " the", "The", " hello", "http://", "123456789", "<s>", "<unk>", "<0x0A>",
         *[" "] * 20, *"\n\r\t" * 3]  # fmt: skip


OLD = [
    char
    for char in map(chr, [*range(0x80, 0xD800), *range(0xF900, 0x20000)])
    if ucd_3_2_0.category(char) != "Cn"
]
"""Characters of Unicode 3.2. llama.cpp has the properties of a version before 14."""


def random_text(source: Random, tokens: list[str]) -> str:
    """Return a text of common characters, rare characters and tokens."""
    parts = []
    for _ in range(source.choice([1, 2, 3, 5, 8, 13, 30])):
        kind = source.random()
        if kind < 0.15:
            parts.append(source.choice(tokens))
        elif kind < 0.25:
            parts.append(source.choice(OLD))
        else:
            parts.append(source.choice(PARTS))
    return "".join(parts)

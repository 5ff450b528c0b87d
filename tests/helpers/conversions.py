"""The published vocabularies that tests convert, and the outcome of each conversion."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import bpe
from bpe.conversion.targets import TARGETS, TargetName
from paths import shared


class Source(NamedTuple):
    """A file in the shared folder, and the preset if the file names none."""

    path: str
    preset: str | None = None


SOURCES: dict[str, Source] = {
    "GPT-2": Source("hf/gpt2_tokenizer.json"),
    "GPT-NeoX": Source("hf/gpt_neox.json"),
    "Llama 2 (JSON)": Source("hf/llama2.json"),
    "Mistral 0.3 (JSON)": Source("hf/mistral03.json"),
    "Llama 2": Source("spm/llama2.model"),
    "Mistral 0.1": Source("spm/mistral01.model"),
    "Llama 2 (GGUF)": Source("gguf/ggml-vocab-llama-spm.gguf"),
    "GPT-2 (GGUF)": Source("gguf/ggml-vocab-gpt-2.gguf"),
    "GPT-NeoX (GGUF)": Source("gguf/ggml-vocab-gpt-neox.gguf", "default"),
    "MPT (GGUF)": Source("gguf/ggml-vocab-mpt.gguf"),
    "StarCoder (GGUF)": Source("gguf/ggml-vocab-starcoder.gguf"),
    "DeepSeek LLM (GGUF)": Source("gguf/ggml-vocab-deepseek-llm.gguf"),
    "r50k_base": Source("r50k_base.tiktoken"),
    "p50k_base": Source("p50k_base.tiktoken"),
    "cl100k_base": Source("cl100k_base.tiktoken"),
    "o200k_base": Source("o200k_base.tiktoken"),
    "Llama 3": Source("llama3_tokenizer.model"),
    "Whisper": Source("whisper_multilingual.tiktoken"),
    "Qwen": Source("qwen.tiktoken"),
    "GPT-2 (vocab.json)": Source("gpt2_vocab.json"),
    "Qwen2 (vocab.json)": Source("qwen2_vocab.json", "qwen2"),
}
SOME = ("GPT-2", "Llama 2 (JSON)")
"""The vocabularies that a test takes by default; PRETOK_FULL takes all."""

NAMES: dict[TargetName, str] = {
    "tokenizer.json": "new.json",
    "sentencepiece": "new.model",
    "gguf": "new.gguf",
    "tiktoken": "new.tiktoken",
    "vocab.json": "vocab.json",
    "minbpe": "new.model",
    "pretok": "new.pretok",
}
"""The name of a new file by its format."""
assert NAMES.keys() == TARGETS.keys()


@cache
def loaded(name: str) -> bpe.Tokenizer:
    """Return a tokenizer of SOURCES; skip the test if the shared folder lacks it."""
    path, preset = SOURCES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bpe.VocabularyWarning)
        return bpe.load(shared("vocabs", *path.split("/")), preset)


def outcome(
    source: bpe.Tokenizer, target: TargetName, folder: Path, texts: int, lossy: bool = False
) -> bpe.Conversion | str:
    """Convert a tokenizer; return the result, or the message of the error without the path."""
    path = folder / NAMES[target]
    try:
        return bpe.convert(source, path, format=target, lossy=lossy, texts=texts)
    except (bpe.BpeError, ValueError) as error:
        return str(error).removeprefix(f"{path}: ")


def shown(message: str) -> str:
    """Return the reason in the message of an error, as docs/how-to/convert.md shows it."""
    for start in ("cannot hold this vocabulary: ", "cannot hold this tokenizer: ",
                  "would differ: ", "cannot hold "):  # fmt: skip
        _, found, after = message.partition(start)
        if found:
            message = after
            break
    for end in ("; save", "; expected", " (before and after)", "; tokenizer.ggml", ", or pass"):
        message = message.partition(end)[0]
    return message.replace("|", "\\|")


def cell(source: bpe.Tokenizer, target: TargetName, folder: Path, texts: int) -> tuple[str, str]:
    """Return "yes", "lossy", "no" or "–" (the wrong kind of tokens), and the reason."""
    result = outcome(source, target, folder, texts)
    if isinstance(result, bpe.Conversion):
        return "yes", ""
    if "the tokens are" in result:
        return "–", ""
    lossy = outcome(source, target, folder, texts, lossy=True)
    return ("no", shown(lossy)) if isinstance(lossy, str) else ("lossy", shown(result))

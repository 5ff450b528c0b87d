"""The command line `pretok`: the commands of pretok.cli, and those of this package."""

from __future__ import annotations

from functools import partial

import click

from pretok.cli import COMMANDS as COMMANDS_OF_PRETOK
from pretok.cli.run import LazyCommand, group, run

COMMANDS: tuple[click.Command, ...] = (
    *COMMANDS_OF_PRETOK,
    LazyCommand("encode", "bpe.cli.encode", "Encode a text as the ids of tokens."),
    LazyCommand("decode", "bpe.cli.decode", "Decode ids to text."),
    LazyCommand("count", "bpe.cli.encode", "Count the tokens of texts."),
    LazyCommand("train", "bpe.cli.train", "Train a vocabulary on texts."),
    LazyCommand("tokenize", "bpe.cli.tokenize", "Encode files to shards for training."),
    LazyCommand("corpus-info", "bpe.cli.corpus_info", "Show what 'tokenize' has written."),
    LazyCommand("inspect", "bpe.cli.inspect", "Show what is in a vocabulary."),
    LazyCommand(
        "compare", "bpe.cli.compare", "Compare vocabularies, or how many tokens they need."
    ),
    LazyCommand("convert", "bpe.cli.convert", "Write a tokenizer in another format."),
    LazyCommand("shrink", "bpe.cli.shrink", "Write a tokenizer with only some of its tokens."),
    LazyCommand("fetch", "bpe.cli.fetch", "Download a vocabulary, and check it."),
    LazyCommand("identify", "bpe.cli.identify", "Say which preset something is."),
    LazyCommand(
        "hf-check", "bpe.cli.hf_check", "Check which calls of a Hugging Face tokenizer bpe answers."
    ),
    LazyCommand("bench", "bpe.cli.bench", "Compare speed with that of peers on your texts."),
)


commands = group(
    COMMANDS, "Split text into pre-tokens, and encode it as tokens, exactly as LLM tokenizers do."
)
main = partial(run, commands)
"""Runs the command line, and returns its exit status."""

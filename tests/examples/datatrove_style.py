"""Encode JSON lines in a DataTrove pipeline, with bpe instead of Hugging Face's tokenizers.

    python datatrove_style.py tokenizer.json texts.jsonl tokens/ --eos '<|end|>'

DataTrove's DocumentTokenizer calls a tokenizers.Tokenizer. FastDocumentTokenizer calls the stand-in
of bpe.compat.huggingface instead, which has the same methods and returns the same ids. The output
files are identical to those of DocumentTokenizer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from datatrove.data import Document
from datatrove.pipeline.tokens import DocumentTokenizer

from bpe.compat import huggingface as hf


class FastDocumentTokenizer(DocumentTokenizer):  # type: ignore[misc]
    """DataTrove's DocumentTokenizer, but bpe encodes the documents."""

    @cached_property
    def tokenizer(self) -> Any:
        """The stand-in for DataTrove's tokenizer. Like it, the stand-in appends the token --eos."""
        return hf.wrap(super().tokenizer)


def documents(path: str) -> Iterator[Document]:
    """Yield the documents of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            yield Document(text=json.loads(line)["text"], id=str(number))


def main(arguments: Sequence[str] | None = None, step: Any = FastDocumentTokenizer) -> None:
    """Write the tokens of a file to a folder.

    `step` is the class that encodes: the test also passes DocumentTokenizer, to compare the files.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tokenizer")
    parser.add_argument("texts")
    parser.add_argument("folder")
    parser.add_argument("--eos")
    options = parser.parse_args(arguments)
    tokenize = step(
        options.folder, options.tokenizer, eos_token=options.eos, shuffle_documents=False
    )
    tokenize.run(documents(options.texts))
    print(f"{options.folder}: encoded by {hf.engine(tokenize.tokenizer).name}")


if __name__ == "__main__":
    main()

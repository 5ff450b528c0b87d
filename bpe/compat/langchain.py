"""Define ChunkSplitter, a TextSplitter of langchain over Tokenizer.chunks.

Importing this module needs the package langchain-text-splitters.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bpe.budgets.borders import BorderFinder, ChunkKind
from bpe.optional import optional_package
from bpe.tokenizer import Tokenizer
from bpe.types import Special

_splitters = optional_package("langchain_text_splitters", "bpe.compat.langchain")
_documents = optional_package("langchain_core.documents", "bpe.compat.langchain")


class ChunkSplitter(_splitters.TextSplitter):  # type: ignore[misc, name-defined]
    """Splits texts into chunks of at most `chunk_size` ids, as `Tokenizer.chunks` does.

    `chunk_size` and `chunk_overlap` count ids. White space is never stripped, so the chunks cover
    the text. Raises the errors of `Tokenizer.chunks`.

        splitter = ChunkSplitter(bpe.load("cl100k_base"), chunk_size=256, chunk_overlap=32)
        splitter.create_documents([text])
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        chunk_size: int = 256,
        chunk_overlap: int = 0,
        on: ChunkKind | BorderFinder = "sentence",
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        add_start_index: bool = False,
    ) -> None:
        """Store the options; `add_start_index` adds the start of each chunk to its metadata."""

        def count(text: str) -> int:
            return tokenizer.count(text, special, add_special_tokens=add_special_tokens)

        super().__init__(
            chunk_size,
            chunk_overlap,
            length_function=count,
            add_start_index=add_start_index,
            strip_whitespace=False,
        )
        self._tokenizer, self._on = tokenizer, on
        self._special, self._adds = special, add_special_tokens

    def _chunks(self, text: str) -> Any:
        return self._tokenizer.chunks(
            text, self._chunk_size, self._chunk_overlap, self._on, special=self._special,
            add_special_tokens=self._adds,
        )  # fmt: skip

    def split_text(self, text: str) -> list[str]:
        """Return the texts of the chunks."""
        return [chunk.text for chunk in self._chunks(text)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Any]:
        """Return a Document for each chunk of each text."""
        documents = []
        for text, metadata in zip(texts, metadatas or [{}] * len(texts), strict=True):
            for chunk in self._chunks(text):
                start = {"start_index": chunk.start} if self._add_start_index else {}
                documents.append(
                    _documents.Document(
                        page_content=chunk.text, metadata=deepcopy(metadata) | start
                    )
                )
        return documents

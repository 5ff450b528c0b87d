"""Define ChunkParser, a node parser of LlamaIndex over Tokenizer.chunks.

Importing this module needs the package llama-index-core.
"""

from __future__ import annotations

from typing import Any

from bpe.budgets.borders import BorderFinder, ChunkKind
from bpe.optional import optional_package
from bpe.tokenizer import Tokenizer
from bpe.types import Special

_interface = optional_package("llama_index.core.node_parser.interface", "bpe.compat.llama_index")
_pydantic = optional_package("llama_index.core.bridge.pydantic", "bpe.compat.llama_index")


class ChunkParser(_interface.TextSplitter):  # type: ignore[misc, name-defined]
    """Splits documents into nodes of at most `chunk_size` ids, as `Tokenizer.chunks` does.

    `chunk_size` and `chunk_overlap` count ids. The nodes cover the text. Raises the errors of
    `Tokenizer.chunks`.

        parser = ChunkParser(bpe.load("cl100k_base"), chunk_size=256)
        parser.get_nodes_from_documents(documents)
    """

    chunk_size: int = 256
    chunk_overlap: int = 0
    add_special_tokens: bool = False
    _tokenizer: Any = _pydantic.PrivateAttr()
    _on: Any = _pydantic.PrivateAttr()
    _special: Any = _pydantic.PrivateAttr()

    def __init__(
        self,
        tokenizer: Tokenizer,
        chunk_size: int = 256,
        chunk_overlap: int = 0,
        on: ChunkKind | BorderFinder = "sentence",
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
        **options: Any,
    ) -> None:
        """Store the options; `options` are those of NodeParser."""
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            add_special_tokens=add_special_tokens,
            **options,
        )
        self._tokenizer, self._on, self._special = tokenizer, on, special

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class in files of LlamaIndex."""
        return "ChunkParser"

    def split_text(self, text: str) -> list[str]:
        """Return the texts of the chunks."""
        chunks = self._tokenizer.chunks(
            text, self.chunk_size, self.chunk_overlap, self._on, special=self._special,
            add_special_tokens=self.add_special_tokens,
        )  # fmt: skip
        return [chunk.text for chunk in chunks]

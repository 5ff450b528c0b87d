"""Find and count the pre-tokens that a tokenizer merges."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from bpe.characters.marks import SPACE_MARK, cut_at_marks
from bpe.characters.text_vocabulary import AnyCharacterVocabulary
from bpe.encoding.backends import utf8_splitter
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.python_backend import PythonBackend
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8
from bpe.tokenizer import Tokenizer
from bpe.training.counting import TextCounter, empty_words
from bpe.training.limits import Limits
from bpe.types import Special
from bpe.vocabulary import Vocabulary
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer


class PreTokens:
    """Finds the pre-tokens of texts that a tokenizer merges, after all steps before the merging.

    The steps are those of encoding, because the same code takes them; only the merging is replaced.
    `pre_tokenizer` replaces that of the tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer, pre_tokenizer: object, backend: BackendName) -> None:
        self._found: list[bytes] = []
        spans = None
        if isinstance(pre_tokenizer, PreTokenizer):
            split: Callable[[bytes], list[bytes]] = pre_tokenizer.split_bytes
            if pre_tokenizer.preset.drops_text:
                spans = pre_tokenizer.spans
        else:
            split = utf8_splitter(cast(PreTokenizer, pre_tokenizer))
        steps = PythonBackend(
            split, self._note, lambda: np.zeros((0, 3), np.uint32), {},
            tokenizer.add_prefix_space, spans=spans,
        )  # fmt: skip
        self._pipeline = Pipeline(
            steps, tokenizer._added, tokenizer.normalizer, (), is_native=backend == "native"
        )

    def _note(self, pre_token: bytes) -> list[int]:
        self._found.append(pre_token)
        return []

    def of(self, text: StrOrBytes, special: Special = "text") -> tuple[list[bytes], list[int]]:
        """Return the pre-tokens of `text`, and the ids of the added tokens in it."""
        ids = self._pipeline.encode(text, special, "replace")
        found, self._found = self._found, []
        return found, ids


class PipelineCounter(TextCounter):
    """Counts the result of PreTokens.

    Text of characters is also cut before "▁", if no token has "▁" after another character.
    """

    def __init__(
        self, tokenizer: Tokenizer, pre_tokenizer: object, backend: BackendName, limits: Limits
    ) -> None:
        pre_tokens = PreTokens(tokenizer, pre_tokenizer, backend)
        cut = _cutter(tokenizer.vocabulary)
        super().__init__(cast(PreTokenizer, _Splitter()), empty_words(backend), limits)
        self._split = lambda text: [
            word for pre_token in pre_tokens.of(text)[0] for word in cut(pre_token)
        ]


class _Splitter:
    """Stands for a pre-tokenizer that needs the whole text."""

    def offsets(self, text: str) -> list[int]:
        """Return the start and the end of the text."""
        return [0, len(text)]


def _cutter(vocabulary: Vocabulary) -> Callable[[bytes], list[bytes]]:
    """Return the function that cuts a pre-token where no merge of the vocabulary crosses.

    If no token has "▁" after its first character, cuts before each "▁". If tokens have "▁" only at
    their start, cuts before each run of "▁".
    """
    if not isinstance(vocabulary, AnyCharacterVocabulary) or not vocabulary.allows_cuts:
        return lambda pre_token: [pre_token]
    if any(text.startswith(SPACE_MARK * 2) for text in vocabulary.pieces):
        return lambda pre_token: [
            part.encode("utf-8", ESCAPE) for part in cut_at_marks(decode_utf8(pre_token))
        ]
    mark = SPACE_MARK.encode()

    def cut(pre_token: bytes) -> list[bytes]:
        first, *rest = pre_token.split(mark)
        return [first] * bool(first) + [mark + part for part in rest]

    return cut

"""Let ParityBpeTrainer, the only trainer that takes a tokenizer, also take a stand-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

from bpe.compat.huggingface.real import ParityBpeTrainer, RealTokenizer
from bpe.compat.huggingface.tokenizer import Tokenizer, changing


def replacements() -> Iterator[tuple[type, str, Any]]:
    """Yield the class, the name and the new value of each method to replace.

    Yields nothing with tokenizers 0.22, which lacks this trainer.
    """
    if ParityBpeTrainer is not None:
        train = ParityBpeTrainer.train_from_iterator
        yield ParityBpeTrainer, "train_from_iterator", _train(train)


def _train(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def train_from_iterator(self: Any, tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
        method = partial(original, self)
        if isinstance(tokenizer, RealTokenizer):
            tokenizer = Tokenizer.of(tokenizer).real
            method = changing(method, tokenizer)
        return method(tokenizer, *args, **kwargs)

    return train_from_iterator

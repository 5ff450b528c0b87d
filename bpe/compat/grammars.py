"""Give the vocabulary of a tokenizer to grammar engines, and keep their masks to canonical ids.

`llguidance`, `xgrammar` and `outlines_core` constrain what a model samples: they return a bit mask
of the ids that a grammar allows. Their constructors need the bytes of all tokens, which
`vocabulary_buffer` has. `keep_canonical` removes the ids that `encode` would never give from such a
mask.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from bpe.errors import shortened
from bpe.optional import optional_package
from bpe.tokenizer import Tokenizer
from bpe.types import Special, Text

__all__ = ["keep_canonical", "llguidance_tokenizer", "outlines_vocabulary", "xgrammar_info"]


def keep_canonical(
    mask: Any, tok: Tokenizer, ids: Iterable[int], special: Special = "allow", *, start: int = 0
) -> bool:
    """Remove the ids that `tok.next_allowed` excludes from a bit mask, in place.

    `ids`, `special` and `start` are the arguments of `next_allowed`.

    `mask` is what the engines fill: a contiguous array of 32-bit words, of shape (words,) or
    (1, words), such as `xgrammar.allocate_token_bitmask(1, size)`, a tensor of PyTorch on the CPU,
    or `llguidance.numpy.allocate_token_bitmask(1, size)`. Bits from `tok.vocab_size` on stay as
    they are.

    Return False, and leave the mask as it is, if it would allow no id of the tokenizer: a grammar
    may force a text at a place where the canonical ids of this text have no boundary. Raises the
    errors of `next_allowed`, and ValueError for another mask. Takes the time of `next_allowed`, and
    some microseconds.

    >>> import bpe
    >>> import numpy as np
    >>> from bpe.compat.grammars import keep_canonical
    >>> tok = bpe.train(["ab", "abc"], vocab_size=258, preset="gpt2")
    >>> mask = np.zeros(9, np.int32)
    >>> mask[3] = 0b110         # bits 97 and 98, "a" and "b"
    >>> keep_canonical(mask, tok, tok.encode("a")), int(mask[3])   # "ab" is one token
    (True, 2)
    """
    allowed = tok.next_allowed(ids, special, start=start)
    words = _words(mask, len(allowed))
    kept = words[: len(allowed)] & allowed
    outside = tok.vocab_size % 32
    if outside:
        kept[-1] |= words[len(allowed) - 1] & np.uint32(0xFFFFFFFF << outside & 0xFFFFFFFF)
    last = kept[-1] & np.uint32((1 << outside) - 1) if outside else kept[-1]
    if not (kept[:-1].any() or last):
        return False
    words[: len(allowed)] = kept
    return True


def xgrammar_info(tok: Tokenizer, stop_ids: Iterable[int] | None = None) -> Any:
    """Return the TokenizerInfo of XGrammar for a tokenizer.

    `stop_ids` are the ids that end a text; by default `tok.end_ids`. Raises ModuleNotFoundError
    without xgrammar.

        compiler = xgrammar.GrammarCompiler(xgrammar_info(tok))
    """
    engine = optional_package("xgrammar", "xgrammar_info")
    return engine.TokenizerInfo(
        _token_list(tok),
        vocab_type=engine.VocabType.RAW,
        vocab_size=tok.vocab_size,
        stop_token_ids=list(tok.end_ids if stop_ids is None else stop_ids),
    )


def llguidance_tokenizer(tok: Tokenizer, end_id: int | None = None) -> Any:
    """Return the LLTokenizer of llguidance for a tokenizer.

    `end_id` is the id that ends a text; by default the first of `tok.end_ids`. llguidance encodes
    the texts that a grammar forces with `tok.encode(text, "text")`, without a prefix space. Raises
    ModuleNotFoundError without llguidance, and ValueError if no id ends a text.

        matcher = llguidance.LLMatcher(llguidance_tokenizer(tok), grammar)
    """
    engine = optional_package("llguidance", "llguidance_tokenizer")
    return engine.LLTokenizer(engine.TokenizerWrapper(_ForLlguidance(tok, _end(tok, end_id))))


def outlines_vocabulary(tok: Tokenizer, end_id: int | None = None) -> Any:
    """Return the Vocabulary of outlines_core for a tokenizer; special tokens are not in it.

    `end_id` is that of `llguidance_tokenizer`. Raises ModuleNotFoundError without outlines_core,
    and ValueError if no id ends a text.

        index = outlines_core.Index(regex, outlines_vocabulary(tok))
    """
    engine = optional_package("outlines_core", "outlines_vocabulary")
    special = {token.id for token in tok.added_tokens if token.special}
    tokens: dict[bytes, list[int]] = {}
    for id, token in enumerate(_token_list(tok)):
        if token and id not in special:
            tokens.setdefault(token, []).append(id)
    return engine.Vocabulary(_end(tok, end_id), tokens)


class _ForLlguidance:
    """The attributes that llguidance's TokenizerWrapper asks of a tokenizer."""

    bos_token_id = None

    def __init__(self, tok: Tokenizer, end_id: int) -> None:
        self._tok = tok
        self.eos_token_id = end_id
        self.tokens = _token_list(tok)
        # llguidance takes all added tokens such as <sep> for special ones.
        self.special_token_ids: Collection[int] = [
            token.id
            for token in tok.added_tokens
            if token.special or (token.content[0], token.content[-1]) == ("<", ">")
        ]

    def __call__(self, text: Text) -> list[int]:
        """Return the ids of a text that continues another one, so it gets no prefix."""
        data = text.encode() if isinstance(text, str) else bytes(text)
        return [int(id) for id in self._tok._encode_array(data, "text", "replace", None, True)]


def _end(tok: Tokenizer, end_id: int | None) -> int:
    if end_id is not None:
        return end_id
    if not tok.end_ids:
        raise ValueError("the tokenizer has no end_ids; pass end_id, the id that ends a text")
    return tok.end_ids[0]


def _token_list(tok: Tokenizer) -> list[bytes]:
    """Return the rendered bytes of all tokens; b"" for an id without token."""
    data, offsets, _, _ = tok.vocabulary_buffer()
    return [data[start:end].tobytes() for start, end in pairwise(offsets.tolist())]


def _words(mask: Any, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Return a view of a mask as uint32 words."""
    array = np.asarray(mask)
    is_row = array.ndim == 1 or (array.ndim == 2 and len(array) == 1)
    if not is_row or array.dtype.itemsize != 4 or array.dtype.kind not in "iu":
        raise ValueError(
            f"mask is {shortened(mask)}; expected an array of 32-bit integers of shape (words,) or "
            "(1, words)"
        )
    if array.shape[-1] < size or not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(
            f"the mask has shape {array.shape}; expected a writable, contiguous array of at least "
            f"{size} words, for vocab_size={size * 32 - 31} to {size * 32}"
        )
    return array.view(np.uint32).reshape(-1)

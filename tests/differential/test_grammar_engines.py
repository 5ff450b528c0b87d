"""Grammar engines allow the same tokens with our vocabulary as with the one that they read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import Tokenizer
from bpe.types import Ids
from pretok.machine.backend import BackendName
from support import max_examples, need, seeded
from text_models import CASES, file_of
from vocabulary_files import added, huggingface, write

END = "<|endoftext|>"
REGEXES = ["[a-c]+ (the|12)*", ".*", "(ab|é)* the\n?", "[0-9]{1,3}", '"[^"]*"', "\\s*the.*"]
FILES: dict[str, Callable[[], dict[str, Any]]] = {
    "bytes": lambda: huggingface(added_tokens=[added(264, END)]),
    "llama": lambda: file_of(**CASES["llama"]),
}


def loaded(name: str, folder: Path, backend: BackendName) -> tuple[Tokenizer, str]:
    """Return a tokenizer and its tokenizer.json."""
    path = write(folder / "tokenizer.json", FILES[name]())
    return bpe.load(path, backend=backend), path.read_text(encoding="utf-8")


def special_ids(tok: Tokenizer) -> list[int]:
    return sorted({token.id for token in tok.added_tokens if token.special})


def token_list(tok: Tokenizer) -> list[bytes]:
    """Return the rendered bytes of all tokens, from the buffer."""
    data, offsets, _, _ = tok.vocabulary_buffer()
    return [data[start:end].tobytes() for start, end in pairwise(offsets)]


class ForLlguidance:
    """The attributes that llguidance's TokenizerWrapper asks of a tokenizer."""

    bos_token_id = None

    def __init__(self, tok: Tokenizer, end: int) -> None:
        self.eos_token_id = end
        self.tokens = token_list(tok)
        # llguidance takes all added tokens such as <sep> for special ones.
        self.special_token_ids = [
            token.id for token in tok.added_tokens
            if token.special or (token.content[0], token.content[-1]) == ("<", ">")
        ]  # fmt: skip
        self._tok = tok

    def __call__(self, text: str | bytes) -> list[int]:
        """Return the ids of a text that continues another one, so it gets no prefix."""
        data = text.encode() if isinstance(text, str) else text
        first = self._tok.encode(b"\2")
        ids = self._tok.encode(b"\2" + data, "text")
        assert ids[: len(first)] == first
        return ids[len(first) :]


def walks(tok: Tokenizer, allowed: Callable[[], Ids], end: int) -> Iterator[int]:
    """Yield random allowed ids, and the end last."""
    source = seeded("grammar walk")
    for _ in range(12):
        choices = [id for id in allowed().tolist() if id != end]
        if not choices:
            return
        yield source.choice(choices)


@pytest.mark.parametrize("name", FILES)
def test_llguidance_masks(name: str, tmp_path: Path, backend: BackendName) -> None:
    llguidance = need("llguidance")
    tok, text = loaded(name, tmp_path, backend)
    end = special_ids(tok)[-1]
    theirs = llguidance.LLTokenizer(text, n_vocab=tok.vocab_size, eos_token=end)
    ours = llguidance.LLTokenizer(llguidance.TokenizerWrapper(ForLlguidance(tok, end)))
    assert ours.vocab_size == theirs.vocab_size == tok.vocab_size
    for regex in REGEXES[: max_examples(len(REGEXES))]:
        grammar = llguidance.LLMatcher.grammar_from_regex(regex)
        matchers = [llguidance.LLMatcher(each, grammar) for each in (ours, theirs)]

        def mask(matcher: Any) -> Ids:
            bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8),
                                 bitorder="little")  # fmt: skip
            return np.flatnonzero(bits).astype(np.uint32)

        def allowed() -> Ids:
            first, second = map(mask, matchers)  # noqa: B023
            assert first.tolist() == second.tolist(), regex  # noqa: B023
            return first

        for id in walks(tok, allowed, end):
            assert [matcher.consume_token(id) for matcher in matchers] == [True, True]


@pytest.mark.parametrize("name", FILES)
def test_outlines_core_masks(name: str, tmp_path: Path, backend: BackendName) -> None:
    """The masks allow the tokens that consist of the allowed bytes.

    outlines_core reads Hugging Face's files only over the network.
    """
    outlines_core = need("outlines_core")
    tok, _ = loaded(name, tmp_path, backend)
    end, special = special_ids(tok)[-1], special_ids(tok)
    tokens: dict[bytes, list[int]] = {}
    for id, token in enumerate(token_list(tok)):
        if token and id not in special:
            tokens.setdefault(token, []).append(id)
    vocabulary = outlines_core.Vocabulary(end, tokens)
    for regex, allowed in (("[a-c]+", b"abc"), ("[0-9]+", b"0123456789"), ("[ the]+", b" the")):
        guide = outlines_core.Guide(outlines_core.Index(regex, vocabulary))
        fits = [ids for token, ids in tokens.items() if set(token) <= set(allowed)]
        expected = sorted(id for ids in fits for id in ids)
        assert sorted(set(guide.get_tokens()) - {end}) == expected, regex


def test_xgrammar_masks(tmp_path: Path, backend: BackendName) -> None:
    xgrammar = pytest.importorskip(
        "xgrammar", reason="xgrammar, or its torch, is not installed", exc_type=ImportError
    )
    transformers = pytest.importorskip("transformers")
    tok, text = loaded("bytes", tmp_path, backend)
    end = tok.end_ids[0]
    hf = transformers.PreTrainedTokenizerFast(
        tokenizer_object=pytest.importorskip("tokenizers").Tokenizer.from_str(text), eos_token=END
    )
    theirs = xgrammar.TokenizerInfo.from_huggingface(hf, vocab_size=tok.vocab_size)
    ours = xgrammar.TokenizerInfo(
        token_list(tok), vocab_type=xgrammar.VocabType.RAW, vocab_size=tok.vocab_size,
        stop_token_ids=[end],
    )  # fmt: skip
    for regex in REGEXES:
        matchers = [
            xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(info).compile_regex(regex))
            for info in (ours, theirs)
        ]

        def allowed() -> Ids:
            masks = []
            for matcher in matchers:  # noqa: B023
                mask = xgrammar.allocate_token_bitmask(1, tok.vocab_size)
                matcher.fill_next_token_bitmask(mask)
                masks.append(np.unpackbits(mask.numpy().view(np.uint8)[0], bitorder="little"))
            assert np.array_equal(masks[0], masks[1])
            return np.flatnonzero(masks[0][: tok.vocab_size]).astype(np.uint32)

        for id in walks(tok, allowed, end):
            assert [matcher.accept_token(id) for matcher in matchers] == [True, True]


def test_the_tokenizers_are_those_of_hugging_face(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    for name in FILES:
        tok, text = loaded(name, tmp_path, "python")
        assert tokenizers.Tokenizer.from_str(text).get_vocab_size() <= tok.vocab_size
        assert json.loads(text)["model"]["type"] == "BPE"

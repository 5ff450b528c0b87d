"""Grammar engines allow the same tokens with our vocabulary as with the one that they read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, Tokenizer
from bpe.compat.grammars import (
    keep_canonical,
    llguidance_tokenizer,
    outlines_vocabulary,
    xgrammar_info,
)
from bpe.types import Ids
from pretok.machine.backend import BackendName
from support import max_examples, need, seeded
from text_models import CASES, file_of
from vocabularies import BYTES
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
    ours = llguidance_tokenizer(tok, end)
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
    vocabulary = outlines_vocabulary(tok, end)
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
    ours = xgrammar_info(tok)
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


ANSWER = r"[the ]{20,60}\n?"


def masks_of(engine: str, tok: Tokenizer) -> tuple[Callable[[], Any], Callable[[int], Any]]:
    """Return functions that fill a mask for ANSWER, and that take the next id."""
    package = pytest.importorskip(engine, reason=f"{engine} is not installed", exc_type=ImportError)
    if engine == "xgrammar":
        compiled = package.GrammarCompiler(xgrammar_info(tok)).compile_regex(ANSWER)
        matcher = package.GrammarMatcher(compiled)
        mask = package.allocate_token_bitmask(1, tok.vocab_size)

        def fill() -> Any:
            matcher.fill_next_token_bitmask(mask)
            return mask

        return fill, matcher.accept_token
    matcher = package.LLMatcher(
        llguidance_tokenizer(tok), package.LLMatcher.grammar_from_regex(ANSWER)
    )
    return (
        lambda: np.frombuffer(matcher.compute_bitmask(), np.int32).copy(),
        matcher.consume_token,
    )


@pytest.mark.parametrize("engine", ["xgrammar", "llguidance"])
def test_masks_keep_to_canonical_ids(engine: str, native: BackendName) -> None:
    """Random ids of combined masks are canonical, and those of the engine alone are not."""
    text = "the cat and the hat, then that other man ate and ran at the end\n"
    trained = bpe.train([text] * 9, vocab_size=282, preset="cl100k")
    tok = Tokenizer(
        trained.vocabulary, "cl100k", added_tokens=[AddedToken(END, 330)], backend=native
    )
    source = seeded("canonical grammar")
    walks: dict[bool, list[bool]] = {True: [], False: []}
    for keeps, _ in product((True, False), range(8)):
        fill, accept = masks_of(engine, tok)
        ids: list[int] = []
        while True:
            mask = fill()
            if keeps and not keep_canonical(mask, tok, ids, start=max(len(ids) - 1, 0)):
                # The text of the grammar would join the last id with the next one.
                break
            words = np.asarray(mask).reshape(-1).view(np.uint8)
            allowed = np.flatnonzero(np.unpackbits(words, bitorder="little"))
            id = int(source.choice(allowed[: tok.vocab_size].tolist()))
            if id in tok.end_ids:
                walks[keeps].append(tok.is_canonical(ids))
                break
            assert accept(id)
            ids.append(id)
    assert walks[True]
    assert all(walks[True])
    assert walks[False].count(False) > 5


def test_keep_canonical_arguments() -> None:
    tok = Tokenizer(bpe.Vocabulary(BYTES | {256: b"ab"}), "gpt2")
    words = np.full(10, -1, np.int32)
    assert keep_canonical(words, tok, [97])
    assert words.view(np.uint32)[3] >> 2 & 1 == 0  # "ab" is one token
    assert words[8] == -1  # id 256 and bits outside the vocabulary
    assert words[9] == -1
    only = np.zeros((1, 9), np.uint32)
    only[0, 3] = 4
    assert not keep_canonical(only, tok, [97])
    assert only[0, 3] == 4
    for wrong in (words[:8], words.astype(np.int64), np.zeros((2, 9), np.int32), 3, words[::2]):
        with pytest.raises(ValueError, match="expected"):
            keep_canonical(wrong, tok, [97])
    pytest.importorskip("outlines_core")
    with pytest.raises(ValueError, match="pass end_id"):
        outlines_vocabulary(tok)

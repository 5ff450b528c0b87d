"""Both backends and C give the same facts about tokens to samplers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, TokenFacts, Tokenizer, TokenType, UnknownTokenError
from bpe.formats import pretok_file
from bpe.types import Template
from c_library import CError, CLibrary, CTokenizer
from gguf_files import gguf, metadata, sentencepiece_metadata
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from support import seeded
from text_models import CASES, file_of
from text_pretok_files import NAMES, model_of
from vocabulary_files import huggingface, made, tiktoken_lines, write

PIECES = [UNKNOWN, ("<s>", 0.0, TokenType.CONTROL), ("</s>", 0.0, TokenType.CONTROL),
          ("<user>", 0.0, TokenType.USER_DEFINED), *BYTES,
          *normal("▁ab", "▁a", "▁", "a", "b", "ab")]  # fmt: skip


def files(folder: Path) -> Iterator[Path]:
    """Write a file of each kind that C reads too."""
    yield write(folder / "pieces.model", model(PIECES, BYTE_FALLBACK))
    yield write(folder / "bytes.gguf", gguf(metadata(bos_token_id=3, add_bos_token=True)))
    yield write(folder / "pieces.gguf", gguf(sentencepiece_metadata()))
    yield write(folder / "bytes.json", huggingface(model_unk_token="a"))
    for name, changes in CASES.items():
        yield write(folder / f"{name}.json", file_of(**changes))
    for name in NAMES:
        path = folder / "text.pretok"
        model_of(name).save(path)
        yield path
    added = [AddedToken("<|im_end|>", 300), AddedToken("<|fim_prefix|>", 301, special=False)]
    made(added_tokens=added, facts=TokenFacts(ends=(97,), roles={"eos": 300}),
         template=Template((), (300,))).save(folder / "saved.pretok")  # fmt: skip
    yield folder / "saved.pretok"
    # A file may state ids that no token has.
    facts = TokenFacts(ends=(97, 4000), roles={"eos": 4000, "bos": 98, "unk": 264})
    made(special=(), facts=facts).save(folder / "missing.pretok")
    yield folder / "missing.pretok"
    # The text of an unused token of bytes may have other characters than those of bytes.
    listed = metadata()
    tokens, types = (listed[f"tokenizer.ggml.{name}"] for name in ("tokens", "token_type"))
    unused = metadata(
        tokens=[*tokens, "a\x10"], token_type=[*types, 5], scores=..., bos_token_id=265
    )
    yield write(folder / "unused.gguf", gguf(unused))


def in_c(c_library: CLibrary, path: Path, tok: Tokenizer) -> CTokenizer:
    """Load a file in C; of a tokenizer.json that only Python reads, load the saved tokenizer."""
    try:
        return CTokenizer(c_library, path)
    except CError as error:
        assert error.status == "unsupported"  # noqa: PT017
        return CTokenizer(c_library, pretok_file.dump(tok.to_spec()))


def test_c_and_both_backends_agree(tmp_path: Path, c_library: CLibrary) -> None:
    kinds = set()
    for path in files(tmp_path):
        python = bpe.load(path, backend="python")
        native = bpe.load(path)
        ours = in_c(c_library, path, python)
        facts = ours.facts()
        count = python.vocab_size
        for tok in (python, native):
            assert facts["roles"] == tok.role_ids, path
            assert facts["ends"] == tok.end_ids
            assert (facts["add_bos"], facts["add_eos"]) == (tok.add_bos, tok.add_eos)
            assert facts["chat_template"] == tok.chat_template
            assert facts["max_token_bytes"] == tok.max_token_bytes
            assert ours.kind() == tok.model_kind
            buffer = tok.vocabulary_buffer()
            arrays: list[Any] = [*buffer]
            for theirs, mine in zip(ours.vocabulary(), arrays, strict=True):
                assert np.array_equal(theirs, mine), (path, tok.backend)
        kinds.add(python.model_kind)
        for id in range(count):
            if not python._has_token[id]:
                with pytest.raises(CError, match="unknown id"):
                    ours.token_type(id)
                continue
            assert ours.token_type(id) == python.token_type(id) == native.token_type(id)
            assert ours.rendered_bytes(id) == python.rendered_bytes(id) == native.rendered_bytes(id)
            score = ours.score(id)
            assert score == python.token_score(id) == native.token_score(id), (path, id)
    assert kinds == {"bytes", "sentencepiece", "text"}


def test_sorted_ids_have_the_order_of_rendered_bytes(tmp_path: Path, backend: BackendName) -> None:
    for path in files(tmp_path):
        tok = bpe.load(path, backend=backend)
        tokens = {id: tok.rendered_bytes(id) for id in range(tok.vocab_size) if tok._has_token[id]}
        expected = sorted(tokens, key=lambda id: (tokens[id], id))
        assert tok.vocabulary_buffer().sorted_ids.tolist() == expected
        assert tok.max_token_bytes == max(map(len, tokens.values()))


def test_rendered_bytes_are_the_text_between_other_tokens(
    tmp_path: Path, backend: BackendName
) -> None:
    """A model decodes three tokens to the rendered bytes of each, unless a step joins tokens."""
    for path in files(tmp_path):
        tok = bpe.load(path, backend=backend)
        if not {type(step).__name__ for step in getattr(tok.decoder, "steps", ())} <= {
            "Replace", "ByteFallback", "Fuse", "Strip", "ByteLevel",
        }:  # fmt: skip
            continue
        buffer = tok.vocabulary_buffer()
        first = int(np.flatnonzero(np.diff(buffer.offsets) > 1)[-1])
        for id in buffer.sorted_ids.tolist():
            whole = tok.decode_bytes([first, id, first])
            begin, end = tok.decode_bytes([first, first]), tok.rendered_bytes(first)
            assert whole == begin.removesuffix(end) + tok.rendered_bytes(id) + end, (path, id)


def test_types_follow_from_added_tokens(backend: BackendName) -> None:
    tokens = [AddedToken("<s>", 300), AddedToken("ab", 256, special=False)]
    tok = made(backend, added_tokens=tokens)
    assert tok.token_type(300) is TokenType.CONTROL
    assert tok.token_type(256) is TokenType.USER_DEFINED
    assert tok.token_type(97) is TokenType.NORMAL
    assert tok.vocabulary_buffer().types[299] == TokenType.UNDEFINED
    for call in (tok.token_type, tok.rendered_bytes, tok.token_score):
        for id in (299, 301, -1):
            with pytest.raises(UnknownTokenError, match=f"is {id}, which is not the id"):
                call(id)


def test_absent_facts(backend: BackendName) -> None:
    tok = made(backend, special=(("<x>", 300),))
    assert (tok.role_ids, tok.end_ids, tok.chat_template) == ({}, (), None)
    assert not tok.add_bos
    assert not tok.add_eos


def test_ids_without_a_token_have_no_role(backend: BackendName) -> None:
    facts = TokenFacts(roles={"eos": 999, "unk": 97, "pad": 263}, ends=(98, 999))
    tok = made(backend, special=(), facts=facts)
    assert tok.role_ids == {"unk": 97, "pad": 263}
    assert tok.end_ids == (98,)


def test_scores_are_ranks_without_scores(tmp_path: Path, backend: BackendName) -> None:
    ranks = write(tmp_path / "a.tiktoken", tiktoken_lines())
    for tok in (made(backend), bpe.load(ranks, "cl100k", backend=backend)):
        assert [tok.token_score(id) for id in (97, 256, 257, 263)] == [0, 0, -1, -7]
    path = write(tmp_path / "a.json", file_of(**CASES["llama"]))
    text = bpe.load(path, backend=backend)
    merged = [id for _, _, id in text.merge_ids]
    assert len(merged) > 9
    for id in text.vocabulary.token_bytes:
        assert text.token_score(id) == (-merged.index(id) if id in merged else 0)


def test_facts_survive_pickling_and_saving(tmp_path: Path, backend: BackendName) -> None:
    facts = TokenFacts(roles={"eos": 97}, chat_template="{{ x }}", ends=(98,))
    tok = made(backend, facts=facts)
    tok.save(tmp_path / "a.pretok")
    for other in (pickle.loads(pickle.dumps(tok)), bpe.load(tmp_path / "a.pretok")):
        assert other.to_spec().facts == facts
        assert other.end_ids == (97, 98, 300)  # 300 is <|end|>
        assert other == tok


def test_a_trie_is_made_without_an_object_for_each_token(native: BackendName) -> None:
    """The arrays of the native backend view the memory of the tokenizer."""
    tok = made(native)
    data, offsets, types, sorted_ids = tok.vocabulary_buffer()
    again = tok.vocabulary_buffer()
    assert data.base is not None
    assert again.data is data
    assert [array.dtype for array in (data, offsets, types, sorted_ids)] == [
        np.uint8, np.uint32, np.uint8, np.uint32,
    ]  # fmt: skip


def test_ids_of_texts(c_library: CLibrary, tmp_path: Path) -> None:
    source = seeded("ids of texts")
    for path in files(tmp_path):
        tok = bpe.load(path, backend="python")
        ours = in_c(c_library, path, tok)
        first: dict[bytes, int] = {}
        fallback = set(getattr(tok.vocabulary, "byte_ids", {}).values())
        if tok.model_kind == "bytes":
            fallback = set()
        stored = {id: ours.token_bytes(id) for id in range(tok.vocab_size) if tok._has_token[id]}
        for id in sorted(stored, key=lambda id: (id in fallback, id)):
            first.setdefault(stored[id], id)
        for token in reversed(tok.added_tokens):
            first[token.content.encode()] = token.id
        for text, id in source.sample(sorted(first.items()), min(60, len(first))):
            assert ours.token_id(text) == id, (path, text)
        with pytest.raises(CError, match="unknown name"):
            ours.token_id(b"no such token")

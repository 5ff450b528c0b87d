"""AddedTokenList makes the tokens of symbols when first read, with the results of a tuple."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, SpecialTokenError
from bpe.encoding.added_tokens import AddedTokens
from bpe.encoding.policies import Policies
from bpe.encoding.token_list import AddedTokenList
from bpe.token_facts import TokenType
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from vocabulary_files import write

LISTED = (AddedToken("<unk>", 0), AddedToken("<sep>", 5, special=False, normalized=True))
ALL = (LISTED[0], AddedToken("<é>", 1), AddedToken("</s>", 3), LISTED[1])
CONTENTS = st.text("ab<", min_size=1, max_size=3)
TOKENS = st.lists(
    st.builds(AddedToken, CONTENTS, st.just(0), st.booleans(), st.booleans(), st.booleans(),
              st.booleans()),
    unique_by=lambda token: token.content,
).map(lambda tokens: [AddedToken(token.content, id, *_flags(token))
                      for id, token in enumerate(tokens)])  # fmt: skip


def _flags(token: AddedToken) -> tuple[bool, ...]:
    return token.special, token.normalized, token.lstrip, token.rstrip


def recorded() -> AddedTokenList:
    return AddedTokenList.of_records([token._record for token in ALL])


@pytest.mark.parametrize("make", [recorded, lambda: AddedTokenList(ALL)])
def test_a_list_is_equal_to_its_tuple(make: Callable[[], AddedTokenList]) -> None:
    assert len(make()) == 4
    assert make() == ALL
    assert make() == AddedTokenList(ALL)
    assert make() != ALL[1:]
    assert hash(make()) == hash(ALL)
    assert (tuple(make()), make().tokens, make()[1], make()[2:]) == (ALL, ALL, ALL[1], ALL[2:])
    assert pickle.loads(pickle.dumps(make())) == ALL
    assert make().special_ids == {0, 1, 3}
    assert make().special_contents == {"<unk>", "<é>", "</s>"}
    assert make().by_content == {token.content: token for token in ALL}
    assert make().normalized == (LISTED[1],)
    assert make().beside_text == (LISTED[1],)
    assert AddedTokenList.of(listed := make()) is listed


@given(tokens=TOKENS, text=st.text("ab< ", max_size=12))
def test_tokens_beside_text_find_what_all_tokens_find(tokens: list[AddedToken], text: str) -> None:
    data = text.encode()
    beside = AddedTokenList(tokens).beside_text
    expected = AddedTokens(tokens).treating("text").segments(data)
    assert AddedTokens(beside).treating("text").segments(data) == expected


@given(tokens=TOKENS, text=st.text("ab< ", max_size=12))
def test_policies_of_both_backends(tokens: list[AddedToken], text: str) -> None:
    bytes_only = bpe.Vocabulary({id: bytes([id]) for id in range(256)})
    expected = AddedTokens(tokens).treating("text").segments(text.encode())
    for backend in ("python", None):
        tokenizer = bpe.Tokenizer(bytes_only, "cl100k", backend=backend)
        policies = Policies(tokens, tokenizer._pipeline.backend)
        assert policies.added_for("text").segments(text.encode()) == expected


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [
        UNKNOWN,
        *BYTES,
        *((f"[control_{number}]", 0.0, TokenType.CONTROL) for number in range(100)),
        *normal("▁w", "▁", "w"),
    ]
    return write(tmp_path / "tokenizer.model", model(rows, BYTE_FALLBACK, [(3, 1), (4, 0)]))


def test_control_symbols_are_made_when_first_read(
    path: Path, native: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(AddedToken, "__post_init__", lambda token: made.append(token.content))
    tokenizer = bpe.load(path)
    ids = tokenizer.encode("w [control_7]", "text")
    with pytest.raises(SpecialTokenError, match=r"control_7"):
        tokenizer.encode("w [control_7]")
    assert tokenizer.encode("[control_7]", "allow")[-1] == 264
    assert made == []
    assert tokenizer.special_tokens["[control_7]"] == 264
    assert len(made) == 101
    assert tokenizer.encode_batch(["w [control_7]"], "text") == [ids]
    assert len(made) == 101
    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer
    python = bpe.load(path, backend="python")
    assert python.added_tokens == tokenizer.added_tokens
    assert python.encode("w [control_7]", "text") == ids

"""Special tokens: the policies that a call can have, and the positions in errors."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from bpe import AddedToken, SpecialTokenError
from byte_tokenizer import make, plain
from pretok.machine.backend import BackendName


def test_policies(backend: BackendName) -> None:
    tok = make(backend, "<a>", "<b>")
    text = "x<a><b>y"
    assert tok.encode(text, "allow") == [120, 256, 257, 121]
    assert tok.encode(text, special="text") == plain(text)
    assert tok.encode(text, {"<a>"}) == [120, 256, *plain("<b>y")]
    assert tok.encode(text, {"<b>"}) == [*plain("x<a>"), 257, 121]
    assert tok.encode(text, {"<a>", "<b>"}) == tok.encode(text, "allow")
    assert tok.encode(text, set()) == plain(text)
    for names in (["<a>"], ("<a>",), frozenset({"<a>"}), {"<a>": 1}, {"<a>": 1}.keys()):
        assert tok.encode(text, names) == tok.encode(text, {"<a>"})
    with pytest.raises(SpecialTokenError):
        tok.encode(text)
    with pytest.raises(SpecialTokenError):
        tok.encode(text, "raise")


def test_every_method_takes_the_policy(backend: BackendName) -> None:
    tok = make(backend, "<a>")
    text = "x<a>"
    for policy in ("allow", "text", {"<a>"}, set()):
        ids = tok.encode(text, policy)
        assert tok.encode_array(text, policy).tolist() == ids
        assert tok.count(text, policy) == len(ids)
        assert [token.id for token in tok.tokens(text, policy)] == ids
        assert tok.encode_batch([text, "y"], policy) == [ids, [121]]
        assert tok.encode_batch_array([text], policy)[0].tolist() == ids
    for method in (tok.encode, tok.encode_array, tok.count, tok.tokens):
        with pytest.raises(SpecialTokenError):
            method(text)
    for batch in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(SpecialTokenError):
            batch([text])


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("<a>", 0),
        ("x<a>", 1),
        ("é<a>", 1),
        ("\U0001f600\u4e2d <a><a>", 3),
        ("\ud83d\ude00<a>", 2),  # a surrogate pair counts as two code points
        ("\ud83d<a>", 1),
        ("\ude00\ud83d\ud83d\ude00x<a>", 5),
        ("<a" * 9 + "<a>", 18),
    ],
)
def test_the_position_of_an_error(backend: BackendName, text: str, position: int) -> None:
    tok = make(backend, "<b>", "<a>")
    calls: list[Any] = [tok.encode, tok.encode_array, tok.count, tok.tokens]
    calls += [lambda text: tok.encode_batch([text, "<b>"])]
    for call in calls:
        with pytest.raises(SpecialTokenError, match=f"'<a>' at offset {position}; pass") as caught:
            call(text)
        assert (caught.value.token, caught.value.position) == ("<a>", position)
    data = text.encode("utf-8", "replace")
    with pytest.raises(SpecialTokenError) as caught:
        tok.encode(data)
    assert caught.value.position == data.index(b"<a>")
    assert caught.value.text_index is None
    assert isinstance(caught.value, ValueError)
    with pytest.raises(SpecialTokenError) as caught:
        tok.encode(b"\xff\xf0\x9f<a>")
    assert caught.value.position == 3


def test_the_position_of_an_error_with_surrogateescape(backend: BackendName) -> None:
    tok = make(backend, "<a>")
    with pytest.raises(SpecialTokenError) as caught:
        tok.encode("\udcff\udcf0\u00e9<a>", errors="surrogateescape")
    assert caught.value.position == 3


@pytest.mark.parametrize("nfc", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_the_position_of_an_error_before_normalization(
    backend: BackendName, nfc: bool, normalized: bool
) -> None:
    tok = make(backend, AddedToken("<a>", 256, normalized=normalized), nfc=nfc)
    for text in ("e\u0301<a>", "e\u0301\u4e2d e\u0301 e<a>e\u0301", "\u1100\u1161\u11a8<a>",
                 "a\u0323\u0307\u0301<a>", "\u0958<a>e\u0301"):  # fmt: skip
        for call in (tok.encode, tok.tokens, tok.count, tok.encode_array):
            with pytest.raises(SpecialTokenError) as caught:
                call(text)
            assert caught.value.position == text.index("<a>")
        data = text.encode()
        with pytest.raises(SpecialTokenError) as caught:
            tok.encode(data)
        assert caught.value.position == data.index(b"<a>")
        with pytest.raises(SpecialTokenError) as caught:
            tok.encode_batch(["x", text])
        assert (caught.value.position, caught.value.text_index) == (text.index("<a>"), 1)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_error_names_the_text_of_a_batch(backend: BackendName, threads: int) -> None:
    tok = make(backend, "<a>")
    texts = ["fine \u4e2d" * 50 for _ in range(100)]
    texts[70] = texts[83] = "\u4e2d\u4e2d<a>"
    for call in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(SpecialTokenError, match=r"texts\[70\] holds the special") as caught:
            call(texts, threads=threads)
        assert (caught.value.text_index, caught.value.position) == (70, 2)


@pytest.mark.parametrize("texts", [["e\u0301<a>", "<a>"], ["x", "e\u0301<a>", "x<a>"],
                                   ["<a>", "e\u0301<a>"]])  # fmt: skip
def test_the_error_names_the_first_text_of_a_batch(backend: BackendName, texts: list[str]) -> None:
    # Some texts need normalization before the search, and some do not.
    tok = make(backend, "<a>", nfc=True)
    first = next(index for index, text in enumerate(texts) if "<a>" in text)
    for call in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(SpecialTokenError) as caught:
            call(texts)
        assert caught.value.text_index == first


def test_an_error_can_be_pickled() -> None:
    error = SpecialTokenError("<a>", 3, 7)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.token, copy.position, copy.text_index) == ("<a>", 3, 7)
    assert "texts[7] holds the special token '<a>' at offset 3" in str(error)
    assert "the text holds the special token '<b>' at offset 0" in str(SpecialTokenError("<b>", 0))


def test_names_that_are_not_special(backend: BackendName) -> None:
    tok = make(backend, "<a>", AddedToken("<plain>", 300, special=False))
    for names, shown in (({"<c>"}, "'<c>'"), (["<a>", "<plain>"], "'<plain>'"), ([5], "5")):
        message = f"special= contains {shown}, which is not .*; its special tokens are '<a>'$"
        with pytest.raises(ValueError, match=message):
            tok.encode("x", names)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"; it has no special tokens$"):
        make(backend).encode("x", {"<a>"})


@pytest.mark.parametrize("wrong", ["", "Allow", "<a>", "all"])
def test_an_unknown_policy_is_refused(backend: BackendName, wrong: Any) -> None:
    tok = make(backend, "<a>")
    message = "special='.*'; expected 'raise', 'text', 'allow', 'plain', 'content' or a set of"
    for call in (tok.encode, tok.count, tok.tokens, tok.encode_array):
        with pytest.raises(ValueError, match=message):
            call("x", wrong)
    for batch in (tok.encode_batch, tok.encode_batch_array):
        with pytest.raises(ValueError, match=message):
            batch(["x"], wrong)


@pytest.mark.parametrize("wrong", [None, 5, True, [["<a>"]]])
def test_a_policy_of_another_type(backend: BackendName, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"special.*expected .* or a set of special"):
        make(backend, "<a>").encode("x", wrong)


def test_an_ordinary_added_token_matches_with_every_policy(backend: BackendName) -> None:
    tok = make(backend, AddedToken("<p>", 300, special=False), "<a>")
    for policy in ("raise", "text", "allow", set(), {"<a>"}):
        assert tok.encode("x<p>", policy) == [120, 300]

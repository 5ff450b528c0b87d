"""Session: its options, positions, errors, given ids and copies."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from time import thread_time
from typing import Any, Literal

import numpy as np
import pytest

import bpe
from bpe import AddedToken, Patch, Session, SpecialTokenError, Tokenizer
from bpe.types import Template
from pretok.machine.backend import BackendName
from vocabularies import BYTES

BOS, EOS, START = 1000, 1001, 1002
TOKENS = [AddedToken("<s>", BOS), AddedToken("</s>", EOS), AddedToken("<|im_start|>", START)]


@pytest.fixture
def tokenizer(backend: BackendName) -> Tokenizer:
    vocabulary = bpe.train(["ab abc abcd \n\n user éé"], vocab_size=275).vocabulary
    return Tokenizer(
        vocabulary, "qwen2", added_tokens=TOKENS, template=Template((BOS,), (EOS,)), backend=backend
    )


def ids(values: Any) -> list[int]:
    return [int(id) for id in values]


def test_the_template_stays_around_the_text(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("ab", add_special_tokens=True)
    listed = ids(session.ids)
    assert listed == [BOS, *tokenizer.encode("ab"), EOS]
    patch = session.append("c abc")
    assert (patch.keep, patch.tail) == (2, 1)
    patch.apply(listed)
    assert listed == ids(session.ids) == tokenizer.encode("abc abc", add_special_tokens=True)
    assert session.stable >= 1
    starts, ends = session.spans()
    tokens = [(token.start, token.end) for token in tokenizer.tokens("abc abc")]
    assert list(zip(ids(starts), ids(ends), strict=True)) == [(0, 0), *tokens, (7, 7)]
    assert ids(session.spans(len(starts) - 1)[0]) == [7]
    assert [ids(places) for places in session.spans(0, 0)] == [[], []]
    session.truncate(0)
    assert ids(session.ids) == [BOS, EOS]
    assert session.text == ""


def test_positions_are_those_of_the_text(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("aé中b")
    session.replace(1, 3, "😀é")
    assert session.text == "a😀éb"
    assert session.size == 4
    assert session.truncate(2)
    session.truncate(2)
    assert session.text == "a😀"
    in_bytes = tokenizer.session("aé中b".encode())
    in_bytes.replace(1, 2, b"\xff")
    assert in_bytes.text == b"a\xff\xa9\xe4\xb8\xadb"
    assert in_bytes.size == 7
    assert ids(in_bytes.ids) == tokenizer.encode(in_bytes.text)
    also = tokenizer.session("é", unit="byte")
    assert also.size == 2
    assert also.append("é").tail == 0
    assert also.text == "éé".encode()
    for wrong in [(-1, 0), (2, 1), (0, 9)]:
        with pytest.raises(IndexError, match=r"expected 0 <= start <= end <= 2 "):
            session.replace(*wrong, "")
        with pytest.raises(IndexError, match="expected 0 <= first <= last"):
            session.spans(*wrong)
    for size in (-1, 3):
        with pytest.raises(IndexError, match=rf"size={size}; expected an int from 0 to 2"):
            session.truncate(size)


def test_patches_change_a_list(tokenizer: Tokenizer) -> None:
    session = tokenizer.session()
    listed: list[int] = []
    for text in ("ab abc", "ab abcd abc", "b abcd", "", "abab abcd\n\nuser"):
        session.update(text).apply(listed)
        assert listed == ids(session.ids) == tokenizer.encode(text)
    before = ids(session.ids)
    peeked = session.peek(" abc")
    assert before == ids(session.ids)
    assert session.text == "abab abcd\n\nuser"
    appended = session.append(" abc")
    assert ids(peeked.ids) == ids(appended.ids)
    assert peeked[::2] == appended[::2]


def test_errors_change_nothing(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("é ab<|im_")
    before = ids(session.ids)
    with pytest.raises(SpecialTokenError) as error:
        session.append("start|>")
    assert (error.value.token, error.value.position) == ("<|im_start|>", 4)
    with pytest.raises(SpecialTokenError) as error:
        session.replace(1, 2, "<s>")
    assert error.value.position == 1
    with pytest.raises(SpecialTokenError) as error:
        session.update("ééé</s>")
    assert error.value.position == 3
    with pytest.raises(SpecialTokenError):
        session.peek("start|>")
    for wrong, kind in [(3, TypeError), (b"\xff", ValueError), (["a"], TypeError)]:
        with pytest.raises(kind):
            session.append(wrong)  # type: ignore[arg-type]
    for special, expected in [("no", ValueError), ({"<x>"}, ValueError), (5, TypeError)]:
        with pytest.raises(expected):
            session.append("a", special)  # type: ignore[arg-type]
    for given in ([-1], [1 << 32]):
        with pytest.raises(ValueError, match=r"ids\[0\] is .*; expected an int from 0 to"):
            session.extend(given)
    for no_ids in ([3, "a"], "3a"):
        with pytest.raises(TypeError, match=r"ids\[[01]\] is '.'; expected an int"):
            session.extend(no_ids)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got int; pass \[id\]"):
        session.extend(3)  # type: ignore[arg-type]
    assert ids(session.ids) == before
    assert session.text == "é ab<|im_"
    with pytest.raises(ValueError, match="'char' or 'byte'"):
        tokenizer.session(unit="utf16")
    with pytest.raises(SpecialTokenError):
        tokenizer.session("<s>")
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(session)


def test_surrogates(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("a\ud83d")
    assert session.text == "a\ufffd"
    session.append("\ude00")  # each str is converted by itself
    assert session.text == "a\ufffd\ufffd"
    with pytest.raises(UnicodeEncodeError):
        tokenizer.session("a", errors="strict").append("\ud800")
    kept = tokenizer.session("a", errors="surrogateescape", unit="byte")
    kept.append("\udcff")
    assert kept.text == b"a\xff"
    assert ids(kept.ids) == [97, 255]


def test_given_ids_stay(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("ab ")
    session.extend([97, 98, START])
    session.append("\n\nuser")
    assert session.text == "ab ab<|im_start|>\n\nuser"
    assert ids(session.ids[2:5]) == [97, 98, START]
    assert session.drift() == 1  # " ab" is one token
    # An edit of other text keeps the ids; an edit of their text makes it text.
    session.replace(0, 1, "A")
    assert ids(session.ids)[-3 - len(tokenizer.encode("\n\nuser")) :][:3] == [97, 98, START]
    session.update("Ab aB\n\nuser")
    assert 97 in ids(session.ids)
    assert session.text == "Ab aB\n\nuser"
    session.update("Ab Ab")
    assert ids(session.ids) == tokenizer.encode("Ab Ab")
    assert session.drift() is None


def test_unknown_ids_have_no_text(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("ab")
    session.extend([5000, 5001])
    session.append("c")
    assert ids(session.ids) == [*tokenizer.encode("ab"), 5000, 5001, *tokenizer.encode("c")]
    assert session.text == "abc"
    assert session.drift() is not None
    session.replace(2, 2, "d")  # after the ids, which end there
    assert ids(session.ids)[1:3] == [5000, 5001]
    assert session.text == "abdc"


def test_policies_of_texts(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("<|im_start|>user\n", "allow")
    session.append("say <s>", "text")
    session.append("</s>")
    segments = [("<|im_start|>user\n", "allow"), ("say <s>", "text"), ("</s>", "allow")]
    assert ids(session.ids) == ids(tokenizer.encode_segments(segments).ids)
    assert session.drift() is None
    crossing = tokenizer.session("<|im_", "text")
    crossing.append("start|>", "allow")
    assert START not in ids(crossing.ids)
    joined = tokenizer.session("<|im_", "allow")
    joined.append("start|>", "allow")
    assert ids(joined.ids) == [START]
    sets = tokenizer.session("", {"<s>"})
    sets.append("<", {"<s>"})
    tokenizer.trim()
    sets.append("s>", ["<s>"]), sets.append("</s>", ["</s>"])
    assert ids(sets.ids) == [BOS, EOS]
    given = tokenizer.session(special="allow")
    given.extend(b"<|im_"), given.append("start|>")
    assert given.drift() == 0  # the text of both is one token


def test_a_fork_is_independent(tokenizer: Tokenizer) -> None:
    session = tokenizer.session("ab abc")
    branch = session.fork()
    branch.append(" abcd", "allow")
    session.replace(0, 2, "")
    assert (session.text, branch.text) == (" abc", "ab abc abcd")
    assert ids(branch.ids) == tokenizer.encode(branch.text)
    assert ids(session.ids) == tokenizer.encode(session.text)
    assert repr(session) == f"Session({len(session)} ids, 4 chars)"
    assert branch.memory > len(branch)


def test_continuation(tokenizer: Tokenizer) -> None:
    prefixed = Tokenizer(
        tokenizer.vocabulary, "gpt2", add_prefix_space=True, backend=tokenizer.backend
    )
    assert ids(prefixed.session("ab").ids) == prefixed.encode(" ab")
    assert ids(prefixed.session("ab", continuation=True).ids) == tokenizer.encode("ab")


def test_a_session_without_its_text(tokenizer: Tokenizer) -> None:
    # In Python, each change encodes all text.
    text = "abé \n" * (3000 if tokenizer.backend == "native" else 100)
    session = tokenizer.session(text, "allow", add_special_tokens=True, keep_text=False)
    whole = tokenizer.session(text, "allow", add_special_tokens=True)
    if tokenizer.backend == "native":
        assert session.memory < whole.memory - 12_000
    for step in range(60):
        if step % 7 == 6:
            assert session.extend([97, START])[::2] == whole.extend([97, START])[::2]
        text = ["abcd", "\n\n", " user", "é" * 30, "<|im_", "start|>"][step % 6]
        assert ids(session.peek(text).ids) == ids(whole.peek(text).ids)
        ours, expected = session.append(text), whole.append(text)
        assert (ours[::2], ids(ours.ids)) == (expected[::2], ids(expected.ids))
        if step % 20 == 19:
            session = session.fork()
        assert (session.size, session._kept.size) == (whole.size, whole._kept.size)
        assert session.stable == whole.stable
    session.append("<|im_", "raise"), whole.append("<|im_", "raise")
    for text in ("é<s>", "start|>"):
        errors = []
        for one in (session, whole):
            with pytest.raises(SpecialTokenError) as error:
                one.append(text, "raise")
            errors.append((error.value.token, error.value.position))
        assert errors[0] == errors[1]
        token, position = errors[0]
        assert f"{whole.text!s}{text}"[position:].startswith(token)
    assert ids(session.ids) == ids(whole.ids)
    calls: list[Any] = [
        lambda: session.text, session.drift, session.spans,
        lambda: session.update(""), lambda: session.truncate(0),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="keep_text=False"):
            call()


def test_splice(tokenizer: Tokenizer) -> None:
    prompt, sampled = [BOS, *tokenizer.encode("ab ab")], [97, 98, EOS]
    spliced = tokenizer.splice(prompt, sampled, [("\n<|im_start|>user\n", "allow"), "ab", [7, 8]])
    text = [*tokenizer.encode("\n<|im_start|>user\nab", "allow")]
    assert ids(spliced.ids) == [*prompt, *sampled, *text, 7, 8]
    assert ids(spliced.new_ids) == [*text, 7, 8]
    assert len(spliced) == len(spliced.ids)
    assert spliced.drift == 3  # "ab" would be one token
    assert tokenizer.splice(prompt, [], " abc").drift is None
    with pytest.raises(SpecialTokenError):
        tokenizer.splice(prompt, sampled, "<s>")
    with pytest.raises(TypeError):
        tokenizer.splice(prompt, sampled, 5)  # type: ignore[arg-type]


def test_threads_share_a_session(tokenizer: Tokenizer) -> None:
    session = tokenizer.session()
    part = " abcd" * 1000

    def work() -> None:
        for _ in range(5):
            session.append(part)
            session.peek(part)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.text == part * 20
    assert ids(session.ids) == tokenizer.encode(part * 20)


def test_long_texts_take_little_work(native: BackendName) -> None:
    """An append to a long text leaves almost all ids as they are, and few are not settled."""
    tokenizer = bpe.train(["the quick brown fox " * 3], vocab_size=280)
    session = tokenizer.session("the quick brown fox " * 20_000)
    assert len(session) - session.stable < 10
    patch = session.append("the lazy fox")
    assert isinstance(patch, Patch)
    assert isinstance(session, Session)
    assert len(patch.ids) < 12
    assert session.memory < 12 * len(session.ids) + len(session.text)
    patch = session.replace(200_000, 200_003, "a")
    assert len(patch.ids) < 12
    assert np.array_equal(session.ids, tokenizer.encode_array(session.text))


@pytest.mark.parametrize(
    ("text", "given", "most"), [(" the quick fox" * 20, [], 0.25), (" fox", [97], 5)]
)
def test_edits_of_long_texts_take_little_work(
    text: str, given: list[int], most: float, native: BackendName
) -> None:
    """An edit at the start encodes no text after it, also if all cuts depend on given ids.

    It moves all pieces after it, of which there are many between given ids.
    """
    tokenizer = bpe.train(["the quick brown fox " * 3], vocab_size=280)
    session = tokenizer.session()
    for _ in range(100_000 // len(text)):
        session.append(text)
        session.extend(given)

    def seconds(call: Callable[[], object]) -> float:
        start = thread_time()
        call()
        return thread_time() - start

    all_text = session.text
    whole = min(seconds(lambda: tokenizer.encode_array(all_text)) for _ in range(5))
    edit = min(seconds(lambda: session.replace(10, 12, "ab")) for _ in range(20))
    assert edit < most * whole


@pytest.mark.parametrize("normalizer", [None, "NFC"])
@pytest.mark.parametrize("end", ["<s>", "<s>\n" * 40, "<s>\n<|im_start|>user\n</s>\n<s>  </s>"])
def test_turns_that_end_with_tokens_take_little_work(
    normalizer: Literal["NFC"] | None, end: str, native: BackendName
) -> None:
    """No cut may be after the last tokens, but the text before them is settled."""
    vocabulary = bpe.train(["the quick brown fox " * 3], vocab_size=280).vocabulary
    tokenizer = Tokenizer(
        vocabulary, "qwen2", added_tokens=TOKENS, normalizer=normalizer, backend=native
    )
    session = tokenizer.session(special="allow")
    for words in range(40):
        session.append("the quick brown fox " * words + end)
        unsettled = len(session) - session.stable
        assert words < 2 or unsettled < 30 + len(tokenizer.encode(end, "allow"))
    assert ids(session.ids) == tokenizer.encode(session.text, "allow")


def test_edits_keep_cuts_and_pieces(native: BackendName) -> None:
    """Edits of one place keep the cut after it, and divide neither text nor given ids further."""
    tokenizer = bpe.train(["the quick brown fox " * 3], vocab_size=280)
    session = tokenizer.session("the quick brown fox " * 20)
    session.extend([97] * 200)
    session.append("the quick brown fox " * 20)
    unsettled, memory = len(session) - session.stable, session.memory
    for at in (*range(40), 450):
        session.replace(at, at + 1, "x")
    assert len(session) - session.stable == unsettled
    assert session.memory < memory + 1000


def test_an_edit_right_before_a_cut(native: BackendName) -> None:
    """A cut depends on the character before it, the first of the 32 bytes that prove it here."""
    vocabulary = bpe.Vocabulary(BYTES | {256: b"bb"})
    session = Tokenizer(vocabulary, "gemma4", backend=native).session("zzac" + "b" * 31)
    assert session.stable == 4
    session.replace(0, 1, "y")  # keeps the cut
    assert session.stable == 4
    session.replace(3, 4, "b")
    assert ids(session.ids) == [121, 122, 97, *[256] * 16]


def test_an_edit_right_after_a_cut(native: BackendName) -> None:
    """A cut depends on the character after it: no merge joins "a" and "c", but one "a" and "b"."""
    vocabulary = bpe.Vocabulary(BYTES | {256: b"ab"})
    session = Tokenizer(vocabulary, "gemma4", backend=native).session("z" * 40 + "ac")
    assert session.stable == 41
    session.replace(0, 1, "y")  # keeps the cut
    assert session.stable == 41
    session.replace(41, 42, "b")
    assert ids(session.ids) == [121, *[122] * 39, 256]

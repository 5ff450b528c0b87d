"""The C interface and Python keep equal sessions, after any changes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from bpe import SpecialTokenError, Tokenizer
from bpe.formats import pretok_file
from c_library import CError, CLibrary, CTokenizer
from c_models import PIECES, models
from c_session import CSession
from session_walks import POLICIES, new_texts
from support import max_examples, seeded

KINDS = ("append", "peek", "update", "replace", "extend", "fork")


class Twins:
    """A session of C and one of Python that encodes all text."""

    def __init__(
        self, library: CLibrary, tok: Tokenizer, source: random.Random, kinds: Sequence[str] = KINDS
    ) -> None:
        self.tok, self.source, self.kinds = tok, source, kinds
        self.ours = CSession(CTokenizer(library, pretok_file.dump(tok.to_spec())))
        self.whole = new_texts(tok)[1]

    def text(self) -> bytes:
        count = self.source.choice([0, 1, 2, self.source.randrange(9)])
        return "".join(self.source.choices(PIECES, k=count)).encode()

    def step(self) -> None:
        source, size = self.source, self.whole.size
        policy = source.choice(POLICIES)
        kind = source.choice(self.kinds)
        if kind == "fork":
            self.ours = self.ours.fork()
            return
        if kind == "extend":
            ids = source.choices(range(self.tok.vocab_size + 2), k=source.randrange(4))
            texts = [self.tok._text_of_given(id) for id in ids]
            sizes = np.array([len(text) for text in texts], np.uint32)
            expected = self.whole.extend(np.array(ids, np.uint32), sizes, b"".join(texts), "raise")
            found = self.ours.extend(ids)
            assert (found[0], found[1].tolist(), found[2]) == (
                expected[0], expected[1].tolist(), expected[2],
            )  # fmt: skip
            return
        start = source.randrange(size + 1)
        end = min(size, start + source.randrange(5))
        data = self.text()
        if kind == "update":
            old = self.whole.text(0, size)
            data = old[:start] + data + old[end:]
        places = (start, end) if kind == "replace" else ()
        results: list[tuple[object, ...]] = []
        for session in (self.ours, self.whole):
            try:
                keep, ids_, tail = getattr(session, kind)(*places, data, policy)
                results.append((keep, ids_.tolist(), tail))
            except SpecialTokenError as error:
                results.append((error.position,))
        assert results[0] == results[1], (kind, places, data, policy)


@pytest.mark.parametrize(
    ("name", "tok"), models(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_sessions_equal_those_of_python(c_library: CLibrary, name: str, tok: Tokenizer) -> None:
    source = seeded(f"C sessions of {name}")
    for _ in range(max_examples(6)):
        twins = Twins(c_library, tok, source)
        for _ in range(20):
            twins.step()
            whole = twins.whole
            assert twins.ours.ids == whole.ids.tolist()
            assert twins.ours.text == whole.text(0, whole.size)
        if name != "NFC":
            starts, ends = whole.spans(0, len(whole))
            found = twins.ours.spans(0, len(whole))
            assert found == list(zip(starts.tolist(), ends.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "tok"), models(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_sessions_that_drop_their_text(c_library: CLibrary, name: str, tok: Tokenizer) -> None:
    source = seeded(f"C sessions without text of {name}")
    for _ in range(max_examples(3)):
        twins = Twins(c_library, tok, source, ("append", "append", "peek", "extend", "fork"))
        dropped_at = source.randrange(9)
        for step in range(40):
            if step == dropped_at:
                twins.ours.drop_text()
            twins.step()
            assert twins.ours.ids == twins.whole.ids.tolist()
            size = twins.whole.size
            assert twins.whole.text(0, size).endswith(twins.ours.text)


def test_a_session_drops_most_of_its_text(c_library: CLibrary) -> None:
    ours = CTokenizer(c_library, pretok_file.dump(models()[0][1].to_spec()))
    session = CSession(ours)
    session.append(b"ab ab\n" * 4000, "raise")
    session.drop_text()
    assert len(session.text) < 5000
    for _ in range(100):
        session.append(b"ab ab\n" * 400, "raise")
        assert len(session.text) < 5000
    with pytest.raises(SpecialTokenError) as raised:
        session.append(b"ab<s>", "raise")
    assert raised.value.position == 6 * 44_000 + 2
    for call in (
        lambda: session.update(b"", "raise"),
        lambda: session.replace(0, 0, b"", "raise"),
        lambda: session.spans(0, 0),
        lambda: session.fork().update(b"", "raise"),
    ):
        with pytest.raises(CError, match="the session drops its text"):
            call()


def test_errors(c_library: CLibrary) -> None:
    ours = CTokenizer(c_library, pretok_file.dump(models()[0][1].to_spec()))
    session = CSession(ours)
    with pytest.raises(CError, match="a session has no template"):
        c_library.made("session_new", ours.handle, ours._options("raise", True))
    with pytest.raises(CError, match="options of a text of a session"):
        session._changed("append", b"a", 1, ours._options("raise", False, continuation=True))
    with pytest.raises(CError, match="range from 1 to 0 is not in the 0 bytes"):
        session.replace(1, 0, b"", "raise")
    with pytest.raises(CError, match="range from 0 to 1 is not in the 0 ids"):
        session.spans(0, 1)
    with pytest.raises(CError, match="text is NULL"):
        session._changed("append", None, 1, None)
    with pytest.raises(SpecialTokenError) as raised:
        session.append(b"ab<s>", "raise")
    assert raised.value.position == 2

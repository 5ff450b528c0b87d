"""EncodeStream: the ids of all calls together are those of `encode` for the whole text."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import AsyncIterator, Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, EncodeStream, SpecialTokenError, Template, Tokenizer
from bpe.encoding import encode_stream
from bpe.types import Errors, Text
from pretok.machine.backend import BackendName
from support import TOO_MUCH, growth, seeded
from text_models import ADDED, CASES, FALLBACK, MARKS, WORDS, file_of, metaspace
from vocabulary_files import write

PARTS = [
    *"ab é\u0301日\r\n▁ﬁ\u00a0", "the quick ", "<sep>", "<end>", "foo", "  ", "ab cd ", "1234",
    "hello, world! ", "👩\u200d👧", "\ud83d\udc27", "\ud83d", "\udc27", "\udcc3", "nai\u0308ve ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)
WORDS_FILE: dict[str, Any] = {**FALLBACK, **WORDS, "added_tokens": ADDED[:1]}
FILES: dict[str, dict[str, Any]] = {
    **{name: CASES[name] for name in ("llama", "gemma", "mistral", "forms", "normalized tokens")},
    "words": {"normalizer": MARKS, **WORDS_FILE},
    "words, first": {"pre_tokenizer": metaspace("first", split=False), **WORDS_FILE},
}
SPECIALS = ["text", "allow", "plain", "raise", "only the first"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("streams")


@cache
def models(folder: Path, backend: BackendName) -> list[Tokenizer]:
    # The native backend cannot merge the tokens of all files; None then selects Python.
    chosen: BackendName | None = "python" if backend == "python" else None
    vocabulary = bpe.train(["the quick foo é hello ab world"] * 3, vocab_size=290).vocabulary
    added = [AddedToken("<sep>", 900, False, lstrip=True), AddedToken("<end>", 901)]
    template = Template((901,), (900, 901))
    return [
        Tokenizer(vocabulary, preset, added_tokens=added, template=template, backend=chosen, **more)
        for preset, more in (
            ("gpt2", {}), ("cl100k", {"normalizer": "NFC"}), ("o200k", {"add_prefix_space": True}),
        )
    ] + [
        bpe.load(write(folder / f"{name}.json", file_of(**changes)), backend=chosen)
        for name, changes in FILES.items()
    ]  # fmt: skip


def plain(backend: BackendName) -> Tokenizer:
    vocabulary = bpe.train(["the quick foo é hello ab world"] * 3, vocab_size=290).vocabulary
    return Tokenizer(vocabulary, "gpt2", added_tokens=[AddedToken("<end>", 901)], backend=backend)


MODELS = st.integers(0, 2 + len(FILES))


def cut(text: Text, random: Any, count: int) -> list[Text]:
    """Return `text` in chunks, some of them empty."""
    ends = sorted(random.randrange(len(text) + 1) for _ in range(count))
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


def result(call: Callable[[], list[int]], in_bytes: Callable[[int], int] = int) -> object:
    try:
        return call()
    except SpecialTokenError as error:
        return error.token, in_bytes(error.position)
    except UnicodeEncodeError:
        return UnicodeEncodeError


def all_ids(stream: EncodeStream, chunks: list[Text]) -> list[int]:
    return [id for ids in stream.iterate(chunks) for id in ids]


def check(tokenizer: Tokenizer, text: str, random: Any, options: dict[str, Any]) -> None:
    def in_bytes(position: int) -> int:
        head = text[:position]
        if options["errors"] == "replace":
            head = head.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            return len(head.encode())
        return len(head.encode("utf-8", options["errors"]))

    expected = result(lambda: tokenizer.encode(text, **options), in_bytes)
    chunks = cut(text, random, random.randrange(12))
    stream = tokenizer.encode_stream(**options)
    assert result(lambda: all_ids(stream, chunks)) == expected
    stream.reset()
    data = text.encode("utf-8", "surrogatepass" if options["errors"] == "replace" else "replace")
    expected = result(lambda: tokenizer.encode(data, **options))
    assert result(lambda: all_ids(stream, cut(data, random, 9))) == expected


@given(TEXTS, MODELS, st.sampled_from(SPECIALS), st.booleans(), st.booleans(), st.randoms())
@example("\ud83d\udc27\ud83d", 0, "text", True, False, seeded("stream"))
def test_short_texts(
    folder: Path, backend: BackendName, text: str, model: int, special: Any,
    adds: bool, continuation: bool, random: Any,
) -> None:  # fmt: skip
    tokenizer = models(folder, backend)[model]
    if special == "only the first":
        special = set(list(tokenizer.special_tokens)[:1])
    options = {"special": special, "add_special_tokens": adds, "continuation": continuation,
               "errors": "replace"}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode_stream, "MIN_NEW_BYTES", random.randrange(1, 20))
        check(tokenizer, text, random, options)


@given(TEXTS, st.sampled_from(get_args(Errors)), st.randoms())
def test_error_handlers(
    folder: Path, backend: BackendName, text: str, errors: Errors, random: Any
) -> None:
    options = {"special": "allow", "errors": errors}
    check(models(folder, backend)[0], text, random, options)


def test_long_texts(folder: Path, backend: BackendName) -> None:
    random = seeded("long streams")
    words = [
        "the",
        " quick",
        " foo",
        " ab",
        "\n\n",
        " hello",
        ",",
        " é",
        " world",
        "<end>",
        " 日本",
    ]
    for tokenizer in models(folder, backend):
        text = "".join(random.choices(words, k=3000))
        expected = tokenizer.encode(text, "allow", add_special_tokens=True)
        for chunk in (text, text.encode()):
            stream = tokenizer.encode_stream("allow", add_special_tokens=True)
            ids = all_ids(stream, cut(chunk, random, 200))
            assert ids == expected, tokenizer


def test_a_stream_holds_little(folder: Path, backend: BackendName) -> None:
    words = "the quick foo hello world é " * 400
    tokenizers = models(folder, backend)
    # In Python, no cut is proven beside white space that an added token may strip.
    cuttable = [plain(backend), *tokenizers[8:10], *(tokenizers[:2] if backend == "native" else [])]
    for tokenizer in cuttable:
        stream = tokenizer.encode_stream()
        most, ids = 0, []
        for start in range(0, len(words), 100):
            ids += stream.feed(words[start : start + 100])
            most = max(most, stream.held)
        assert ids + stream.finish() == tokenizer.encode(words)
        assert most < 2000, tokenizer


def test_mixed_chunks(backend: BackendName) -> None:
    tokenizer = Tokenizer(bpe.train(["ab"], vocab_size=257).vocabulary, "gpt2", backend=backend)
    chunks: list[Text] = [
        "a",
        b"b\xc3",
        bytearray(b"\xa9"),
        memoryview(b"!"),
        "\ud83d",
        b"",
        "\udc27",
    ]
    assert all_ids(tokenizer.encode_stream(), chunks) == tokenizer.encode("abé!🐧")
    assert all_ids(tokenizer.encode_stream(), ["\ud83d", b"a"]) == tokenizer.encode("\ufffda")


def test_an_error_leaves_the_stream_unchanged(backend: BackendName) -> None:
    tokenizer = plain(backend)
    stream = tokenizer.encode_stream(errors="strict")
    first = stream.feed("the quick ")
    with pytest.raises(UnicodeEncodeError):
        stream.feed("foo \ud83d")
    with pytest.raises(TypeError, match="expected str or bytes, got int"):
        stream.feed(5)  # type: ignore[arg-type]
    text = "ab " * 600
    first += stream.feed(text)
    with pytest.raises(SpecialTokenError) as caught:
        stream.feed(f"<end>{text}")
    assert first + stream.finish() == tokenizer.encode("the quick " + text)
    assert caught.value.token == "<end>"
    assert caught.value.position == len("the quick ") + len(text)


def test_a_stream_ends_and_begins_again(backend: BackendName) -> None:
    tokenizer = Tokenizer(bpe.train(["ab"], vocab_size=257).vocabulary, "gpt2", backend=backend)
    stream = tokenizer.encode_stream()
    assert stream.feed("ab") + stream.finish() == [256]
    for call in (lambda: stream.feed("a"), stream.finish, lambda: list(stream.iterate(["a"]))):
        with pytest.raises(
            ValueError, match=r"finished; get another with encode_stream\(\) or reset"
        ):
            call()
    stream.reset()
    assert stream.held == 0
    stream.feed("x")
    stream.reset()
    assert stream.feed("ab") + stream.finish() == [256]
    assert all_ids(tokenizer.encode_stream(), []) == []


def test_a_stream_has_no_copy(backend: BackendName) -> None:
    stream = bpe.train(["ab"], vocab_size=257, backend=backend).encode_stream()
    stream.feed("ab")
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot copy or pickle an EncodeStream"):
            call(stream)
    assert repr(stream) == "EncodeStream(2 bytes held)"
    assert stream.finish() == [256]
    assert repr(stream) == "EncodeStream(finished)"


def test_wrong_arguments(backend: BackendName) -> None:
    tokenizer = Tokenizer(bpe.train(["ab"], vocab_size=257).vocabulary, "gpt2", backend=backend)
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (ValueError, "errors='ignore'; expected", {"errors": "ignore"}),
        (ValueError, "special", {"special": "no"}),
        (TypeError, "special= takes", {"allowed_special": "all"}),
    ]
    for kind, message, options in wrong:
        with pytest.raises(kind, match=message):
            tokenizer.encode_stream(**options)
    for chunks in ("ab", b"ab", 5):
        with pytest.raises(TypeError, match="expected an iterable of texts"):
            list(tokenizer.encode_stream().iterate(chunks))  # type: ignore[arg-type]


def test_asynchronous_chunks(backend: BackendName, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer(bpe.train(["ab"], vocab_size=257).vocabulary, "gpt2", backend=backend)
    text = "ab é 日本 " * 300
    events: list[str] = []

    async def receive() -> AsyncIterator[Text]:
        for start in range(0, len(text), 100):
            await asyncio.sleep(0)
            yield text[start : start + 100]

    async def run() -> list[int]:
        return [
            id async for ids in tokenizer.encode_stream().iterate_async(receive()) for id in ids
        ]

    assert asyncio.run(run()) == tokenizer.encode(text)
    to_thread = asyncio.to_thread

    async def counted(function: Any, *arguments: Any) -> Any:
        events.append(function.__name__)
        return await to_thread(function, *arguments)

    monkeypatch.setattr(encode_stream, "MAX_INLINE_BYTES", 99)
    monkeypatch.setattr(asyncio, "to_thread", counted)
    assert asyncio.run(run()) == tokenizer.encode(text)
    assert "feed" in events


@pytest.mark.parametrize("part", ["ab cd ", "a", " ", "é"])
def test_time_is_linear(part: str, backend: BackendName) -> None:
    tokenizer = Tokenizer(bpe.train(["ab"], vocab_size=257).vocabulary, "gpt2", backend=backend)

    def work(size: int) -> None:
        stream = tokenizer.encode_stream()
        for _ in range(size):
            stream.feed(part * 10)
        stream.finish()

    assert growth(work, 10) < TOO_MUCH

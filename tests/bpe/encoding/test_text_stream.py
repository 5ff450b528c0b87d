"""Streams for servers: after any calls, the text is that of a new stream with the same ids."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import DecodeStream, Tokenizer
from bpe.decoders.clean_up import CleanUp
from bpe.decoders.stop_strings import StopStrings
from bpe.formats import pretok_file
from c_decode_stream import CDecodeStream
from c_library import CError, CLibrary, CTokenizer
from pretok.machine.backend import BackendName
from support import max_examples, seeded
from text_models import CASES, SENTENCES, file_of
from text_pretok_files import NAMES, model_of
from vocabulary_files import made, write

MODELS = ["bytes", *NAMES, *CASES]
WORDS = [
    "the",
    " ",
    "a",
    "do n't",
    " .",
    " '",
    "'s",
    "é",
    "日本",
    "\U0001f600",
    "hello",
    "▁",
    "\n\n",
]
STOPS: list[tuple[str, ...]] = [
    (),
    (),
    ("the",),
    ("\n\n", "a"),
    (" h", "he", "lo 日"),
    ("本語", "é"),
]


SPACES = [" .", " ", ".", " n", "'t", " '", " ' ", "'", "s", "r", "e", "m", " 'v"]


@cache
def tokenizers(name: str) -> tuple[Tokenizer, Tokenizer]:
    """Return a model with both backends."""
    if name == "bytes":
        tok = made("python")
    elif name in NAMES:
        tok = model_of(name)
    else:
        tok = of_json(name)
    spec = tok.to_spec()
    assert spec.preset is not None

    def of(backend: BackendName) -> Tokenizer:
        return Tokenizer(
            spec.vocabulary, spec.preset or "", added_tokens=spec.added_tokens,
            normalizer=spec.normalizer, decoder=spec.decoder, backend=backend,
        )  # fmt: skip

    return of("python"), of("native")


def of_json(name: str) -> Tokenizer:
    """Return the model of a tokenizer.json."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, "tokenizer.json"), file_of(**CASES[name]))
        return bpe.load(path, backend="python")


class Run:
    """Makes random calls of a stream, and compares it with new streams."""

    def __init__(self, new: Callable[[], Any], source: random.Random, ids: list[int]) -> None:
        self.new, self.source, self.all_ids = new, source, ids

    def chunk(self) -> list[int]:
        size = self.source.choice([0, 1, 1, 1, 2, 7])
        if self.source.random() < 0.5:
            start = self.source.randrange(len(self.all_ids))
            return self.all_ids[start : start + size]
        return self.source.choices(self.all_ids, k=size)

    def check(self, stream: Any, ids: list[int], text: bytes) -> None:
        """Compare a stream that has these ids and has returned this text with a new stream."""
        fresh = self.new()
        expected = fresh.feed(ids) if ids else ""
        assert text.decode() == expected, ids
        assert stream.stopped == fresh.stopped, ids
        assert (text.decode() + stream.clone().finish()) == expected + fresh.finish(), ids

    def run(self, is_bytes: bool) -> None:
        streams: list[tuple[Any, list[int], bytes]] = [(self.new(), [], b"")]
        for _ in range(30):
            at = self.source.randrange(len(streams))
            stream, ids, text = streams[at]
            action = self.source.choice(["feed"] * 6 + ["rewind", "rewind", "clone", "reset"])
            if action == "feed" and stream.stopped is None:
                more = self.chunk()
                text += stream.feed(more).encode()
                size = stream.size if is_bytes else len(stream.ids)
                assert size == len(ids) + len(more) or stream.stopped is not None
                ids = [*ids, *more][:size]
            elif action == "rewind" or stream.stopped is not None:
                count = self.source.randrange(len(ids) + 1)
                removed = stream.rewind(count)
                ids = ids[: len(ids) - count]
                text = (
                    text[: len(text) - removed]
                    if is_bytes
                    else text.decode()[: len(text.decode()) - removed].encode()
                )
            elif action == "clone":
                streams.append((stream.clone(), list(ids), text))
            else:
                stream.reset()
                ids, text = [], b""
            streams[at] = stream, ids, text
        for stream, ids, text in streams:
            self.check(stream, ids, text)


def ids_of(tok: Tokenizer, source: random.Random) -> list[int]:
    """Return ids of texts and of random tokens."""
    words = source.choices(WORDS, k=20)
    known = [*tok.vocabulary.token_bytes, *(token.id for token in tok.added_tokens)]
    texts = [*source.sample(SENTENCES, 1), "".join(words)]
    return [
        *(id for text in texts for id in tok.encode(text, "text")),
        *source.choices(known, k=20),
        *[*getattr(tok.vocabulary, "byte_ids", {}).values()][::37],
    ]


@pytest.mark.parametrize("name", MODELS)
def test_any_calls_give_the_text_of_a_new_stream(name: str, c_library: CLibrary) -> None:
    source = seeded(f"text stream {name}")
    python, native = tokenizers(name)
    ours = CTokenizer(c_library, pretok_file.dump(python.to_spec()))
    for _ in range(max_examples(6)):
        ids = ids_of(python, source)
        options: dict[str, Any] = {
            "skip_special": source.random() < 0.3,
            "continuation": source.random() < 0.3,
            "clean_up": source.random() < 0.3,
            "stop": source.choice(STOPS),
        }
        seed = source.random()
        for tok in (python, native):
            Run(lambda: tok.decode_stream(**options), random.Random(seed), ids).run(False)  # noqa: B023
        Run(lambda: CDecodeStream(ours, **options), random.Random(seed), ids).run(True)  # noqa: B023
        streams: list[Any] = [python.decode_stream(**options), native.decode_stream(**options),
                   CDecodeStream(ours, **options)]  # fmt: skip
        for id in ids:  # all return the same text for each id
            parts = {stream.feed(id) for stream in streams}
            assert len(parts) == 1, (id, parts)
            stopped = {stream.stopped for stream in streams}
            assert len(stopped) == 1
            if stopped != {None}:
                break
        assert len({stream.finish() for stream in streams}) == 1


@given(st.lists(st.sampled_from(SPACES)))
@settings(max_examples=max_examples(500))
def test_clean_up_replaces_as_in_the_whole_text(parts: list[str]) -> None:
    text = "".join(parts)
    for old, new in ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"),
                     (" n't", "n't"), (" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"),
                     (" 're", "'re")):  # fmt: skip
        text = text.replace(old, new)
    clean = CleanUp()
    assert "".join(map(clean.feed, parts)) + clean.finish() == text


def test_clean_up_is_that_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    call = transformers.PreTrainedTokenizerBase.clean_up_tokenization
    parameters = len(signature(call).parameters)
    source = seeded("clean up")
    for _ in range(300):
        text = "".join(source.choices(SPACES, k=12))
        clean = CleanUp()
        assert clean.feed(text) + clean.finish() == call(*[None] * (parameters - 1), text)


@given(
    st.lists(st.text("abé", max_size=5), max_size=12),
    st.lists(st.text("abé", min_size=1, max_size=4), min_size=1, max_size=4),
)
@settings(max_examples=max_examples(500))
def test_the_stop_string_that_ends_first_ends_the_text(parts: list[str], stop: list[str]) -> None:
    text = "".join(parts)
    ends = [(text.index(string) + len(string), -len(string), string)
            for string in stop if string in text]  # fmt: skip
    search = StopStrings(tuple(stop))
    out = "".join(map(search.feed, parts)) + search.finish()
    if not ends:
        assert (out, search.stopped) == (text, None)
        return
    end, _, string = min(ends)
    assert search.stopped is not None
    assert (out, stop[search.stopped]) == (text[: end - len(string)], string)


def test_a_continuation_keeps_the_first_space(c_library: CLibrary) -> None:
    python, native = tokenizers("sentencepiece, prefix")
    ours = CTokenizer(c_library, pretok_file.dump(python.to_spec()))
    ids = python.encode("the hello", "text")
    for new in (python.decode_stream, native.decode_stream, lambda **o: CDecodeStream(ours, **o)):
        first, later = new(), new(continuation=True)
        assert first.feed(ids) + first.finish() == "the hello"
        assert later.feed(ids) + later.finish() == " the hello"


def test_a_stop_string_may_span_tokens(backend: BackendName) -> None:
    stream = made(backend).decode_stream(stop=["th\n", "end"])
    assert [stream.feed(ord(char)) for char in "ath"] == ["a", "", ""]
    assert stream.feed([ord("e"), ord("n"), ord("d"), ord("!"), ord("?")]) == "th"
    assert (stream.stopped, stream.ids) == ("end", (*b"athend",))
    with pytest.raises(ValueError, match="a stop string has ended the text"):
        stream.feed(97)
    assert stream.clone().stopped == "end"
    assert stream.rewind(1) == 0
    assert stream.stopped is None
    assert stream.feed(97) == "ena"
    assert stream.rewind(3) == 5  # "th" may begin a stop string again
    assert stream.finish() == "th"
    with pytest.raises(ValueError, match="the stream is finished"):
        stream.rewind(0)
    stream.reset()
    assert stream.feed(97) + stream.finish() == "a"


@pytest.mark.parametrize(
    ("stop", "kind", "message"),
    [
        ("", ValueError, "an empty string"),
        (["a", ""], ValueError, "an empty string"),
        ([b"a"], TypeError, "stop has a bytes"),
        (["\ud800"], ValueError, "lone surrogate"),
        (["a" * 70000], ValueError, "more than 65536 bytes"),
    ],
)
def test_wrong_stop_strings(stop: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        made("python").decode_stream(stop=stop)


def test_wrong_counts(backend: BackendName) -> None:
    stream = made(backend).decode_stream()
    stream.feed([97, 98])
    for count in (3, -1):
        with pytest.raises(ValueError, match=f"count={count}: expected a number from 0 to 2"):
            stream.rewind(count)


def test_c_refuses_wrong_calls(c_library: CLibrary) -> None:
    ours = CTokenizer(c_library, pretok_file.dump(made("python").to_spec()))
    for stop in (("",), ("a" * 70000,)):
        with pytest.raises(CError, match=r"invalid argument: options\.stop\[0\]"):
            CDecodeStream(ours, stop=stop)
    stream = CDecodeStream(ours, stop=("b",))
    with pytest.raises(CError, match="invalid argument: count is 1, but the stream has 0 ids"):
        stream.rewind(1)
    with pytest.raises(CError, match="unknown id"):
        stream.feed([97, 999])
    assert stream.feed([97, 98, 97]) == "a"
    assert (stream.stopped, stream.size) == ("b", 2)
    with pytest.raises(CError, match="finished: a stop string has ended the text"):
        stream.feed(97)


def test_long_streams_rewind_in_c(c_library: CLibrary) -> None:
    """Checkpoints do not change the text."""
    source = seeded("checkpoints")
    python, _ = tokenizers("llama")
    ours = CTokenizer(c_library, pretok_file.dump(python.to_spec()))
    ids = [id for text in SENTENCES * 4 for id in python.encode(text, "text")]
    for stop in ((), ("no such text",)):
        stream, text, fed = CDecodeStream(ours, stop=stop), b"", list[int]()
        for _ in range(40):
            more = source.choices(ids, k=source.choice([1, 50, 200]))
            text += stream.feed(more).encode()
            fed += more
            count = source.choice([1, 3, 70, min(len(fed), 300)])
            count = min(count, len(fed))
            text = text[: len(text) - stream.rewind(count)]
            fed = fed[: len(fed) - count]
            fresh = CDecodeStream(ours, stop=stop)
            assert fresh.feed(fed).encode() == text


@pytest.mark.parametrize("name", ["bytes", "llama", "sentencepiece, prefix", *[*CASES][:4]])
def test_batches_of_ids_in_c(name: str, c_library: CLibrary) -> None:
    source = seeded(f"decode batch {name}")
    python, _ = tokenizers(name)
    ours = CTokenizer(c_library, pretok_file.dump(python.to_spec()))
    ids = ids_of(python, source)
    for count in (0, 1, 2, 50):
        lists = [source.choices(ids, k=source.choice([0, 1, 30])) for _ in range(count)]
        for skip in (False, True):
            expected = [python.decode_bytes(each, skip_special=skip) for each in lists]
            for threads in (0, 1, 3):
                assert ours.decode_batch(lists, skip, threads) == expected
    with pytest.raises(CError, match="unknown id") as refused:
        ours.decode_batch([[ids[0]], [ids[0], 999_999]], False, 2)
    assert refused.value.position == 2


def test_a_stream_of_a_loaded_file(tmp_path: Path, backend: BackendName) -> None:
    made("python").save(tmp_path / "a.pretok")
    stream = bpe.load(tmp_path / "a.pretok", backend=backend).decode_stream()
    assert isinstance(stream, DecodeStream)
    assert stream.feed(b"abc") + stream.finish() == "abc"

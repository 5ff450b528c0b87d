"""The class Encoding of the drop-in for tiktoken: construction, names, copies, and hard texts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pretok
from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.compat import tiktoken
from bpe.compat.tiktoken import Encoding, encodings
from bpe.hub import openai
from paths import shared
from pretok.machine.backend import BackendName
from support import TOO_MUCH, growth, max_examples, run_python
from tiktoken_pairs import assert_same, live, ours, ranks

BYTES = {bytes([byte]): byte for byte in range(256)}
SMALL = BYTES | {b"ab": 256, b"abc": 257}
PATTERN = pretok.get("r50k").preset.pattern


@pytest.mark.parametrize("preset", ["r50k", "cl100k", "o200k", "llama3", "qwen2"])
def test_patterns_of_presets_are_recognized(preset: str, backend: BackendName) -> None:
    made = Encoding(
        "made",
        pat_str=pretok.get(preset).preset.pattern,
        mergeable_ranks=SMALL,
        special_tokens={},
        backend=backend,
    )
    assert made.tokenizer.preset == pretok.get(preset).preset
    assert made.tokenizer.backend == backend


def test_an_unknown_pattern_needs_a_preset(backend: BackendName) -> None:
    with pytest.raises(ValueError, match=r"pat_str='\\\\w\+'; pass preset= too"):
        Encoding("made", pat_str=r"\w+", mergeable_ranks=SMALL, special_tokens={})
    unknown: Any = None
    with pytest.raises(TypeError, match="pat_str is of type NoneType"):
        Encoding("made", pat_str=unknown, mergeable_ranks=SMALL, special_tokens={})
    made = Encoding(
        "made",
        pat_str=r"\w+",
        mergeable_ranks=SMALL,
        special_tokens={},
        preset="gpt2",
        backend=backend,
    )
    assert made.encode("abc abc") == [257, 32, 257]
    assert made._pat_str == r"\w+"


class EveryTwo:
    """A pre-tokenizer object, as a user may write it. It splits after every second code point."""

    def offsets(self, text: str) -> NDArray[np.int64]:
        return np.array([*range(0, len(text), 2), len(text)], np.int64)


def test_a_pre_tokenizer_object(backend: BackendName) -> None:
    made = Encoding(
        "two",
        pat_str="..",
        mergeable_ranks=SMALL,
        special_tokens={"<x>": 300},
        preset=EveryTwo(),
        backend=backend,
    )
    assert made.encode("abcab<x>abc", allowed_special="all") == [256, 99, 97, 98, 300, 256, 99]
    assert made._encode_bytes(b"abc\xff") == [256, 99, 255]
    assert made.encode_with_unstable("ab") == ([], [[256], [257]])
    again = pickle.loads(pickle.dumps(made))
    assert again.encode("abcab") == made.encode("abcab")


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"mergeable_ranks": {}}, ValueError),
        ({"mergeable_ranks": {b"a": 0}}, ValueError),
        ({"mergeable_ranks": SMALL | {b"bc": 257}}, ValueError),
        ({"special_tokens": {"": 300}}, ValueError),
        ({"special_tokens": {"<x>": 5}}, ValueError),
        ({"special_tokens": {"<x>": -1}}, ValueError),
        ({"explicit_n_vocab": 256}, AssertionError),
        ({"explicit_n_vocab": 257, "special_tokens": {"<x>": 300}}, AssertionError),
        ({"explicit_n_vocab": 259, "special_tokens": {"<x>": 300}}, AssertionError),
    ],
)
def test_invalid_arguments_are_refused(changed: dict[str, Any], error: type[Exception]) -> None:
    given = {"pat_str": PATTERN, "mergeable_ranks": SMALL, "special_tokens": {}, **changed}
    with pytest.raises(error):
        Encoding("made", **given)


def test_explicit_n_vocab_that_fits() -> None:
    for special, size in (({}, 258), ({"<x>": 258}, 259)):
        made = Encoding(
            "made",
            pat_str=PATTERN,
            mergeable_ranks=SMALL,
            special_tokens=special,
            explicit_n_vocab=size,
        )
        assert made.n_vocab == size


@pytest.mark.parametrize("empty_id", [258, 300])
def test_the_empty_token_of_openai_whisper(empty_id: int, backend: BackendName) -> None:
    """The last line of its multilingual.tiktoken is "= 50256"."""
    theirs = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    arguments: Any = {
        "pat_str": PATTERN,
        "mergeable_ranks": SMALL | {b"": empty_id},
        "special_tokens": {"<x>": 259},
    }
    made = Encoding("made", **arguments, backend=backend)
    live = theirs.Encoding("made", **arguments)
    for each in (made, pickle.loads(pickle.dumps(made)), copy.copy(made)):
        for call in (
            lambda enc: (enc.n_vocab, enc.max_token_value, enc._mergeable_ranks),
            lambda enc: enc.encode("ab<x>abc", allowed_special="all"),
            lambda enc: enc.encode_single_token(""),
            lambda enc: enc.token_byte_values(),
            lambda enc: enc.decode([empty_id]),
            lambda enc: enc.decode_bytes((256, empty_id, 259, empty_id)),
            lambda enc: enc.decode_tokens_bytes([97, empty_id]),
            lambda enc: enc.decode_with_offsets([97, empty_id]),
            lambda enc: enc.decode([empty_id, 299]),
            lambda enc: enc.decode([empty_id, -1]),
            lambda enc: sorted(enc.encode_with_unstable("x ab")[1]),
            lambda enc: enc.encode_with_unstable(""),
        ):
            assert_same((each, live), call)
    if empty_id == 258:
        assert Encoding("made", **arguments, explicit_n_vocab=260).n_vocab == 260


@pytest.mark.parametrize("empty_id", [-1, 1 << 24, "1"])
def test_the_id_of_the_empty_token_is_checked(empty_id: Any) -> None:
    tokens = SMALL | {b"": empty_id}
    with pytest.raises(ValueError, match="expected an int from 0 to"):
        Encoding("made", pat_str=PATTERN, mergeable_ranks=tokens, special_tokens={})


def test_an_encoding_without_end_of_text() -> None:
    made = Encoding("made", pat_str=PATTERN, mergeable_ranks=SMALL, special_tokens={})
    with pytest.raises(KeyError):
        _ = made.eot_token
    assert made.encode("<|endoftext|>") == made.encode_ordinary("<|endoftext|>")


def test_the_longest_special_token_counts(backend: BackendName) -> None:
    special = {"<a": 300, "<a>b": 301, "<a>": 302}
    made = Encoding(
        "made", pat_str=PATTERN, mergeable_ranks=SMALL, special_tokens=special, backend=backend
    )
    assert made.encode("<a>b<a><a", allowed_special="all") == [301, 302, 300]
    only = made.encode("<a>b", allowed_special={"<a>"}, disallowed_special=())
    assert only == [302, 98]
    with pytest.raises(ValueError, match="'<a>b' at offset 0"):
        made.encode("<a>b", allowed_special={"<a>"})


def test_from_tokenizer(backend: BackendName) -> None:
    vocabulary = Vocabulary({id: token for token, id in SMALL.items()})
    added = [AddedToken("<x>", 300), AddedToken("<t>", 301, special=False)]
    tokenizer = Tokenizer(vocabulary, "cl100k", added_tokens=added, name="n", backend=backend)
    made = Encoding.from_tokenizer(tokenizer)
    assert made.tokenizer is tokenizer
    assert (made.name, made.n_vocab, made.special_tokens_set) == ("n", 302, {"<x>"})
    assert made._pat_str == pretok.get("cl100k").preset.pattern
    assert made.encode("ab<t><x>", allowed_special="all") == [256, 301, 300]
    assert made.encode_ordinary("<t>") == [301]
    assert made.decode_tokens_bytes([301, 300]) == [b"<t>", b"<x>"]
    assert made.is_special_token(300)
    assert not made.is_special_token(301)
    assert Encoding.from_tokenizer(tokenizer, "other").name == "other"


def test_from_a_tokenizer_that_changes_text() -> None:
    vocabulary = Vocabulary({id: token for token, id in SMALL.items()})
    with pytest.raises(ValueError, match="changes text \\(NFC\\)"):
        Encoding.from_tokenizer(Tokenizer(vocabulary, "gpt2", normalizer="NFC"))
    with pytest.raises(ValueError, match=r"changes text \(add_prefix_space\)"):
        Encoding.from_tokenizer(Tokenizer(vocabulary, "gpt2", add_prefix_space=True))


def test_an_encoding_that_extends_another(backend: BackendName) -> None:
    base = ours("cl100k", backend)
    more = {"<|im_start|>": 100264, "<|im_end|>": 100265}
    made = Encoding(
        "cl100k_im",
        pat_str=base._pat_str,
        mergeable_ranks=base._mergeable_ranks,
        special_tokens={**base._special_tokens, **more},
        backend=backend,
    )
    text = "<|im_start|>user\nhi<|im_end|>"
    ids = made.encode(text, allowed_special=set(more))
    assert ids == [100264, *base.encode("user\nhi"), 100265]
    assert made.decode(ids) == text


class Renamed(Encoding):
    """A subclass, as a user may write it."""


@pytest.mark.parametrize("kind", [Encoding, Renamed])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))]
)
def test_copies(kind: type[Encoding], copied: Any, backend: BackendName) -> None:
    made = kind(
        "made",
        pat_str=PATTERN,
        mergeable_ranks=SMALL,
        special_tokens={"<x>": 300},
        backend=backend,
    )
    again = copied(made)
    assert type(again) is kind
    assert again.tokenizer == made.tokenizer
    assert (again.name, again._pat_str, again.n_vocab) == ("made", PATTERN, 301)
    text = "abc<x> abab"
    assert again.encode(text, allowed_special="all") == made.encode(text, allowed_special="all")
    with pytest.raises(ValueError, match="'<x>' at offset 3"):
        again.encode(text)


def test_model_names() -> None:
    model = pytest.importorskip("tiktoken.model", reason="tiktoken is not installed")
    assert model.MODEL_TO_ENCODING == openai.MODEL_TO_ENCODING
    assert model.MODEL_PREFIX_TO_ENCODING == openai.MODEL_PREFIX_TO_ENCODING
    names = [*model.MODEL_TO_ENCODING, *model.MODEL_PREFIX_TO_ENCODING]
    for name in [f"{start}{end}" for start in names for end in ("", "-", "x", "-2030-01-01")]:
        try:
            expected = model.encoding_name_for_model(name)
        except KeyError:
            with pytest.raises(KeyError, match="Could not automatically map "):
                tiktoken.encoding_name_for_model(name)
        else:
            assert tiktoken.encoding_name_for_model(name) == expected


def test_encoding_names() -> None:
    theirs = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    assert tiktoken.list_encoding_names() == theirs.list_encoding_names()


@pytest.mark.parametrize("name", ["none such", "", "llama3", 1, None, ["gpt2"]])
def test_unknown_encodings(name: Any) -> None:
    with pytest.raises(ValueError, match="Unknown encoding "):
        tiktoken.get_encoding(name)


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find vocabularies in the shared folder, and forget loaded encodings after the test."""
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(shared("vocabs")))
    monkeypatch.setattr(encodings, "ENCODINGS", {})


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("name", openai.ENCODING_NAMES)
def test_encodings_by_name(name: str) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="tiktoken is not installed")
    made = tiktoken.get_encoding(name)
    assert tiktoken.get_encoding(name) is made
    assert made.name == name
    file = {"gpt2": "r50k", "p50k_edit": "p50k"}.get(name, name.split("_")[0])
    assert made._mergeable_ranks == ranks(file)
    with pytest.MonkeyPatch.context() as patch:
        # Do not let the constructors download the files.
        patch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})
        patch.setattr(public, "data_gym_to_mergeable_bpe_ranks", lambda *_, **__: {})
        expected = public.ENCODING_CONSTRUCTORS[name]()
    assert made._special_tokens == expected["special_tokens"]
    assert made._pat_str == expected["pat_str"]
    assert made.n_vocab == expected.get("explicit_n_vocab", made.n_vocab)


@pytest.mark.usefixtures("local")
def test_a_known_encoding_is_pickled_by_name() -> None:
    made = tiktoken.encoding_for_model("gpt-4")
    assert made.name == "cl100k_base"
    stored = pickle.dumps(made)
    assert len(stored) < 200
    again = pickle.loads(stored)
    assert again.tokenizer is made.tokenizer
    assert copy.deepcopy(made).tokenizer is made.tokenizer
    found = run_python(
        "import pickle, sys; print(pickle.loads(bytes.fromhex(sys.argv[1])).encode('hi'))",
        stored.hex(),
    )
    assert found.stdout.strip() == str(made.encode("hi")), found.stderr


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("cl100k", "hello world", [15339, 1917]),
        ("cl100k", "    hello world!!!", [262, 24748, 1917, 12340]),
        ("r50k", "hello world", [31373, 995]),
        ("r50k", "    hello world!!!", [220, 220, 220, 23748, 995, 10185]),
        ("r50k", "こんにちは", [46036, 22174, 28618, 2515, 94, 31676]),
    ],
)
def test_well_known_ids(name: str, text: str, ids: list[int], backend: BackendName) -> None:
    encoding = ours(name, backend)
    assert encoding.encode(text) == live(name).encode(text) == ids
    assert encoding.decode(ids) == text


def test_every_byte_and_many_tokens_alone(backend: BackendName) -> None:
    encoding = ours("cl100k", backend)
    for byte in range(256):
        id = encoding.encode_single_token(bytes([byte]))
        assert encoding.decode_single_token_bytes(id) == bytes([byte])
        assert encoding.decode_tokens_bytes([id]) == [bytes([byte])]
    for id in (*range(0, 100256, 97), *encoding._special_tokens.values()):
        assert encoding.encode_single_token(encoding.decode_single_token_bytes(id)) == id


def test_surrogates(backend: BackendName) -> None:
    encoding = ours("cl100k", backend)
    thumb = encoding.encode("👍")
    assert encoding.encode("\ud83d\udc4d") == thumb
    assert encoding.encode("\ud83d") == encoding.encode("\ufffd")
    assert encoding.encode_batch(["\ud83d\udc4d"]) == [thumb]
    assert encoding.encode("a\udc4d\ud83d") == encoding.encode("a\ufffd\ufffd")


@pytest.mark.parametrize("part", ["^", "0", "a", "'s", " ", "\n"])
@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_long_runs_take_linear_time(name: str, part: str, native: BackendName) -> None:
    encoding = ours(name, native)
    text = part * 1_000_000
    for whole in (text, f" {text}", f"{text}\n"):
        assert encoding.decode(encoding.encode(whole)) == whole
    assert growth(lambda size: encoding.encode(part * size), 1_000_000 // 16) < TOO_MUCH


@pytest.mark.parametrize("part", ["^", "0", "a", "'s", " ", "\n"])
def test_long_runs_have_the_ids_of_tiktoken(part: str, backend: BackendName) -> None:
    text = part * 10_000
    assert ours("cl100k", backend).encode(text) == live("cl100k").encode(text)


def test_a_large_batch(backend: BackendName) -> None:
    encoding = ours("cl100k", backend)
    texts = ["hello world", "goodbye world", "", "a\n\n b", "日本語 👍"] * 200
    for threads in (1, 8):
        found = encoding.encode_batch(texts, num_threads=threads)
        assert found == [encoding.encode(text) for text in texts]
        assert found == live("cl100k").encode_batch(texts)
        assert encoding.encode_ordinary_batch(texts, num_threads=threads) == found
        assert encoding.decode_batch(found, num_threads=threads) == texts
        data = [text.encode() for text in texts]
        assert encoding.decode_bytes_batch(found, num_threads=threads) == data


@given(batch=st.lists(st.text(st.characters(codec="utf-8")), max_size=5))
@settings(max_examples=max_examples(100))
def test_batches_decode_to_their_texts(batch: list[str], backend: BackendName) -> None:
    encoding = ours("cl100k", backend)
    found = encoding.encode_batch(batch, allowed_special="all")
    assert found == [encoding.encode(text, allowed_special="all") for text in batch]
    assert encoding.decode_batch(found) == batch


def test_searching_many_special_tokens_takes_linear_time(native: BackendName) -> None:
    encoding = Encoding(
        "many",
        pat_str=PATTERN,
        mergeable_ranks=SMALL,
        special_tokens={f"<|{'<' * (n % 7)}reserved_{n}|>": 300 + n for n in range(2000)},
        backend=native,
    )
    for part in ("<|<", "<|reserved_", "a"):
        assert growth(lambda size, part=part: encoding.encode(part * size), 20_000) < TOO_MUCH  # type: ignore[misc]

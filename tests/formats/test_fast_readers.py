"""C++ reads the large parts of files for Python, with the results of the Python readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest

from bpe import BpeError
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.formats import huggingface as huggingface_format
from bpe.formats import json_value, native_readers, sentencepiece
from bpe.formats.tokenizer_config import join
from bpe.text_ids import TextIds
from bpe.token_facts import TokenType
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, merges_of, model, normal
from support import max_examples, seeded
from vocabulary_files import huggingface

if TYPE_CHECKING:
    from pretok import _core

T = TypeVar("T")
SCORES = (0.0, -0.0, -1.0, -2.5, float("inf"), float("nan"))


def damaged(data: bytes, random: Random) -> bytes:
    """Return `data` with a changed, deleted, repeated or inserted part."""
    start = random.randrange(len(data))
    end = start + random.choice([0, 1, 1, 2, 8])
    new = random.choice([b"", data[start:end] * 2, random.randbytes(1), b'"', b"\\", b"{}", b","])
    return data[:start] + new + data[end:]


def models(random: Random) -> Iterator[bytes]:
    texts = ["▁", "a", "b", "é", "ab", "▁a", "▁▁", "▁▁▁", "a▁", "aé", " a", "<s>"]
    for _ in range(max_examples(100)):
        rows = [UNKNOWN, *BYTES] if random.random() < 0.8 else [UNKNOWN]
        for text in random.sample(texts, random.randrange(len(texts))):
            kind = TokenType.NORMAL if random.random() < 0.8 else random.choice([*TokenType])
            rows.append((text, random.choice(SCORES), kind))
        yield model([*rows, *normal("x", "xa")], BYTE_FALLBACK if len(rows) > 256 else ())


def result(call: Callable[[], T]) -> T | str:
    """Return the result of `call`, or its error as text."""
    try:
        return call()
    except BpeError as error:
        return f"{type(error).__name__}: {error}"


def same_or_refused(data: bytes) -> bool:
    """Compare what both readers read; return False if C++ leaves the file to Python."""
    native = native_readers.read_native(data)
    expected = result(partial(sentencepiece.parse, data))
    if native is None:
        return False
    assert not isinstance(expected, str)
    fast = sentencepiece.ModelSpec(native)
    assert fast.vocabulary == expected.vocabulary
    assert list(fast.vocabulary.token_bytes) == list(expected.vocabulary.token_bytes)
    for name in ("added_tokens", "normalizer", "decoder", "preset", "template", "trim_offsets"):
        assert getattr(fast, name) == getattr(expected, name)
    return True


def test_models(native: BackendName) -> None:
    random = seeded("models")
    read = 0
    for data in models(random):
        read += same_or_refused(data)
        for _ in range(4):
            same_or_refused(damaged(data, random))
    assert read > 5


def test_merges_are_those_of_the_definition(native: BackendName) -> None:
    random = seeded("piece merges")
    found = 0
    for _ in range(max_examples(100)):
        texts = {"a", "b", "▁"} | {
            "".join(random.choice("ab▁") for _ in range(random.randrange(2, 6))) for _ in range(12)
        }
        scores = random.sample(range(1000), len(texts))
        tokens = {0: b"?"} | {id: text.encode() for id, text in enumerate(sorted(texts), 1)}
        pieces = CharacterVocabulary(tokens, dict(enumerate(map(float, scores), 1)), 0)
        rows = merges_of(pieces)
        assert rows is not None
        assert tuple(map(tuple, rows.tolist())) == pieces.ranked_merges()
        found += len(pieces.ranked_merges())
    assert found > 100


def test_scores_that_only_differ_as_doubles(native: BackendName) -> None:
    tokens = {0: b"?", 1: b"a", 2: b"b", 3: b"ab", 4: b"ba"}
    pieces = CharacterVocabulary(tokens, {1: 0.0, 2: 0.0, 3: 1.0, 4: 1.0 + 1e-12}, 0)
    rows = merges_of(pieces)
    assert rows is not None
    assert rows.tolist() == [[2, 1, 4], [1, 2, 3]]


def files() -> dict[str, Callable[[], bytes]]:
    joined = huggingface()
    joined["model"]["merges"] = list(map(" ".join, joined["model"]["merges"]))
    last = huggingface()
    last["model"] = dict(reversed(last["model"].items()))
    escaped = huggingface()
    escaped["model"]["vocab"] |= {'"\\/\b\f\n\r\té☃😀': 900, "\x7f": 901}
    return {
        "compact": lambda: json.dumps(huggingface(), separators=(",", ":")).encode(),
        "indented": lambda: json.dumps(huggingface(), indent="\t ").encode(),
        "joined merges": lambda: json.dumps(joined).encode(),
        "merges first": lambda: json.dumps(last, ensure_ascii=False).encode(),
        "escapes": lambda: json.dumps(escaped).encode(),
        "slashes": lambda: json.dumps(escaped).replace("/", "\\/").encode(),
        "byte order mark": lambda: b"\xef\xbb\xbf" + json.dumps(huggingface()).encode(),
    }


def vocabulary_of(data: bytes, native: _core.JsonFile | None) -> Any:
    """Return the vocabulary of a tokenizer.json, and all of its other parts."""
    file = json_value.parse(data if native is None else native.rest())
    file.object()
    spec = huggingface_format.read(file, native=native)
    vocabulary = spec.vocabulary
    options = vocabulary.options if isinstance(vocabulary, TextVocabulary) else None
    return vocabulary, vocabulary.token_bytes, options, spec


def same_json(data: bytes) -> bool:
    """Compare both readers; return False if C++ leaves the file to Python."""
    native = native_readers.open_native(data)
    listed = result(partial(vocabulary_of, data, None))
    if native is None:
        return False
    assert result(partial(vocabulary_of, data, native)) == listed
    if not isinstance(listed, str):
        ids = json_value.parse(data)["model"]["vocab"].value
        assert native.ids() == ids
        assert len(native) == len(ids)
        assert native.find_all([*ids]) == [*ids.values()]
    return True


@pytest.mark.parametrize("name", files())
def test_tokenizer_json(name: str, native: BackendName) -> None:
    data = files()[name]()
    assert same_json(data)
    random = seeded(name)
    for _ in range(max_examples(300)):
        same_json(damaged(data, random))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"Z": 90', b'"Z": 90.0'),
        (b'"Z": 90', b'"Z": 090'),
        (b'"Z": 90', b'"Z": -90'),
        (b'"Z": 90', b'"Z": 89'),
        (b'"Z": 90', b'"Z": 16777216'),
        (b'"Z": 90', b'"Y": 90'),
        (b'"Z": 90', b'"\\ud83d": 90'),
        (b'"Z": 90', b'"\\udc00\\ud800": 90'),
        (b'"Z": 90', b'"\\u00zz": 90'),
        (b'"Z": 90', b'"\n": 90'),
        (b'"Z": 90', b'"\xff": 90'),
        (b'"Z": 90,', b'"Z": 90,,'),
        (b'"Z": 90', b'"Z" 90'),
        (b'"Z": 90', b'"Z": null'),
        (b'"vocab"', b'"vocab": {}, "vocab"'),
        (b'"model"', b'"model": {}, "model"'),
        (b'"model"', b'"other": {}, "model"'),
        (b'"model"', b'"version": nan, "model"'),
        (b'"model"', b'"version": [}, "model"'),
        (b'"model"', b'"version": "\\ud800", "model"'),
        (b'"model"', b'"version": "\xff", "model"'),
        (b'"model"', b'"version": ' + b"[" * 66 + b"]" * 66 + b', "model"'),
        (b'"model"', b'"version": 1' + b"0" * 1000 + b', "model"'),
        (b'"merges": [', b'"merges": ["a",'),
        (b'"merges": [', b'"merges": [["a", "b", "c"],'),
        (b'"merges": [', b'"merges": [["a"],'),
        (b'"merges": [', b'"merges": [7,'),
    ],
)
def test_unusual_json_is_left_to_python(old: bytes, new: bytes, native: BackendName) -> None:
    data = json.dumps(huggingface()).encode()
    assert data.count(old) == 1
    assert not same_json(data.replace(old, new))


def test_look_ups(native: BackendName) -> None:
    file = native_readers.open_native(json.dumps(huggingface()).encode())
    assert file is not None
    ids = TextIds(file)
    assert ids["Z"] == 90
    assert "\ud800" not in ids
    assert "no token" not in ids
    with pytest.raises(KeyError):
        ids["no token"]
    assert join((), (), ("Z",), ids)[0].id == 90
    assert np.array_equal(sorted(ids.values()), sorted(dict(ids).values()))

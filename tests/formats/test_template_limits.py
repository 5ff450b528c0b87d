"""A template has a limited number of ids, in every reader.

The entries of a TemplateProcessing name special tokens, and a special token lists ids. So n entries
and n ids, in a file of O(n) bytes, make n * n ids.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

import bpe
from bpe import AddedToken, Template, VocabularyError
from bpe.formats import post_processor, pretok_file
from bpe.formats.json_value import Value
from bpe.types import MAX_TEMPLATE_IDS
from c_library import CError, CLibrary, CTokenizer
from pretok.machine.backend import BackendName
from support import growth
from vocabulary_files import huggingface, made, write

LIMIT = MAX_TEMPLATE_IDS
SEQUENCE: dict[str, Any] = {"Sequence": {"id": "A", "type_id": 0}}
TOO_MANY = rf"expected a template of at most {LIMIT} ids, got"


def template(entries: int, ids: int) -> dict[str, Any]:
    """Return a TemplateProcessing of `entries` special tokens, each with `ids` ids."""
    entry = {"SpecialToken": {"id": "<e>", "type_id": 0}}
    special = {"id": "<e>", "ids": [7] * ids, "tokens": ["<e>"] * ids}
    return {
        "type": "TemplateProcessing",
        "single": [*[entry] * entries, SEQUENCE],
        "pair": [SEQUENCE, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<e>": special},
    }


def around(id: int) -> dict[str, Any]:
    return {"type": "BertProcessing", "cls": ["<s>", id], "sep": ["</s>", id]}


def chained(*processors: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "processors": list(processors)}


FITS = {
    "one entry": template(1, LIMIT),
    "many entries": template(LIMIT // 2, 2),
    "entries without ids": template(LIMIT, 0),
    "a Sequence": chained(template(2, LIMIT // 4), template(1, LIMIT // 2)),
    "BertProcessing": chained(*[around(7)] * (LIMIT // 2)),
}
TOO_LONG = {
    "one entry": (template(1, LIMIT + 1), rf"single\[0\] .*{TOO_MANY} {LIMIT + 1} up to"),
    "many entries": (template(LIMIT // 2 + 1, 2), rf"single\[{LIMIT // 2}\] .*{TOO_MANY}"),
    "quadratic": (template(LIMIT - 1, 10_000), rf"single\[0\] .*{TOO_MANY} 10000 up to"),
    "entries without ids": (
        template(LIMIT + 1, 0),
        rf"single .*at most {LIMIT + 1} entries, got {LIMIT + 2}; remove some",
    ),
    "a Sequence": (
        chained(template(1, LIMIT // 2), chained(template(2, LIMIT // 4 + 1))),
        rf"processors\[1\]\.processors\[0\]\.single\[1\] .*{TOO_MANY} {LIMIT + 2} up to",
    ),
    "BertProcessing": (
        chained(template(1, LIMIT - 1), around(7)),
        rf"processors\[1\] .*{TOO_MANY} {LIMIT + 1} up to",
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_a_template_at_the_limit(tmp_path: Path, name: str) -> None:
    tok = bpe.load(write(tmp_path / "tokenizer.json", huggingface(post_processor=FITS[name])))
    count = 0 if name == "entries without ids" else LIMIT
    assert len(tok.encode("", add_special_tokens=True)) == count
    for suffix in ("json", "pretok"):
        tok.save(tmp_path / f"saved.{suffix}")
        assert bpe.load(tmp_path / f"saved.{suffix}").template == tok.template


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_longer_template_is_refused(tmp_path: Path, name: str) -> None:
    processor, message = TOO_LONG[name]
    path = write(tmp_path / "tokenizer.json", huggingface(post_processor=processor))
    with pytest.raises(VocabularyError, match=f"(?s){message}") as caught:
        bpe.load(path)
    assert len(str(caught.value)) < 600


def test_refusing_takes_linear_time() -> None:
    def read(size: int) -> None:
        value = Value(template(size, size), "post_processor")
        with pytest.raises(VocabularyError):
            post_processor.read(value)

    assert growth(read, 1000) < 2.6**4  # 2.6 for each of the four doublings


def long_pretok_file(ids: int) -> bytes:
    """Return a .pretok file with a template of `ids` ids."""
    spec = made().to_spec()
    return pretok_file.dump(replace(spec, template=Template((7,) * (ids - 1), (8,))))


def test_pretok_files(tmp_path: Path, c_library: CLibrary) -> None:
    fits, too_long = long_pretok_file(LIMIT), long_pretok_file(LIMIT + 1)
    message = f"has a template of {LIMIT + 1} ids, more than the maximum of {LIMIT}, at offset"
    assert len(pretok_file.parse(fits).template.before) == LIMIT - 1
    assert len(CTokenizer(c_library, fits).encode(b"", template=True)) == LIMIT
    with pytest.raises(VocabularyError, match=message):
        pretok_file.parse(too_long)
    with pytest.raises(CError, match=message):
        CTokenizer(c_library, too_long)


def test_the_reader_in_c(c_library: CLibrary) -> None:
    for name, processor in FITS.items():
        data = json.dumps(huggingface(post_processor=processor)).encode()
        count = 0 if name == "entries without ids" else LIMIT
        assert len(CTokenizer(c_library, data).encode(b"", template=True)) == count
    for processor, message in TOO_LONG.values():
        with pytest.raises(CError, match=message):
            CTokenizer(c_library, json.dumps(huggingface(post_processor=processor)).encode())


def test_ids_that_no_token_has(tmp_path: Path, c_library: CLibrary, backend: BackendName) -> None:
    """A template may have any id, as in tokenizers; a GGUF file only ids of tokens."""
    added = [AddedToken("[4000]", 300)]
    tok = made(backend, added_tokens=added, template=Template((4000, 300), (270,)))
    expected = [4000, 300, 97, 270]
    for suffix in ("json", "pretok"):
        path = tmp_path / f"saved.{suffix}"
        tok.save(path)
        again = bpe.load(path, backend=backend)
        assert again.template == tok.template
        assert again.encode("a", add_special_tokens=True) == expected
        assert CTokenizer(c_library, path.read_bytes()).encode(b"a", template=True) == expected
    assert tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json")).encode("a").ids == expected
    one = made(backend, preset="gpt2", added_tokens=added, template=Template((4000,)))
    with pytest.raises(VocabularyError, match="bos_token_id is 4000; expected an id below 301"):
        bpe.convert(one, tmp_path / "a.gguf", texts=5)


def test_a_tokenizer_has_the_limit_of_the_files() -> None:
    assert made(template=Template((7,) * LIMIT)).template.before == (7,) * LIMIT
    with pytest.raises(ValueError, match=f"template has {LIMIT + 1} ids; expected at most {LIMIT}"):
        made(template=Template((7,) * LIMIT, (8,)))
    ids: tuple[Any, ...] = (np.uint32(7), True)
    assert made(template=Template(ids)).template.before == (7, 1)
    with pytest.raises(TypeError, match=r"template\.after has 7\.0; expected an id"):
        made(template=Template((), (7.0,)))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["single", "pair"])
def test_the_stand_in_leaves_a_longer_template_to_tokenizers(kind: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    hf = importlib.import_module("bpe.compat.huggingface")
    processor = template(20, 20)
    if kind == "pair":
        processor["pair"] = [*processor["single"], *processor["pair"][1:]]
        processor["single"] = [SEQUENCE]
    file = huggingface(post_processor=processor)
    real = tokenizers.Tokenizer.from_str(json.dumps(file))
    wrapped = hf.wrap(tokenizers.Tokenizer.from_str(json.dumps(file)))
    ours = wrapped.encode("abc", "ab") if kind == "pair" else wrapped.encode("abc")
    theirs = real.encode("abc", "ab") if kind == "pair" else real.encode("abc")
    assert ours.ids == theirs.ids
    assert len(ours.ids) > 400
    name, reason, _ = hf.engine(wrapped)
    assert name == "tokenizers"
    assert f"{kind}[12]" in reason
    assert f"at most {LIMIT} ids" in reason

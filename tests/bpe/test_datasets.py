"""A Tokenizer inside `datasets.map`: stable fingerprints, batches, and columns of Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from command_line import environment
from corpora import random_documents, tokenizer
from pretok.machine.backend import BackendName
from support import need, run_python

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of datasets

FINGERPRINT = """
import sys
import bpe
from datasets.fingerprint import Hasher
tok = bpe.load(sys.argv[1])
print(Hasher.hash(tok))
"""


@pytest.fixture(scope="session")
def other_fingerprints(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The fingerprint of a saved tokenizer() in processes with other seeds of `hash`."""
    need("datasets.fingerprint")
    path = tmp_path_factory.mktemp("fingerprints") / "v.pretok"
    tokenizer("python").save(path)
    found = set()
    for seed in ("1", "2"):
        done = run_python(FINGERPRINT, str(path), environment=environment(PYTHONHASHSEED=seed))
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.strip())
    return found


def test_fingerprints_are_equal_in_other_processes(
    backend: BackendName, tmp_path: Path, other_fingerprints: set[str]
) -> None:
    hasher = need("datasets.fingerprint").Hasher
    path = tmp_path / "v.pretok"
    tokenizer(backend).save(path)
    tok = bpe.load(path)
    found = {hasher.hash(tok), *other_fingerprints}
    tok.encode("hello world")
    tok.merges  # noqa: B018
    found.add(hasher.hash(tok))
    assert len(found) == 1
    assert hasher.hash(tokenizer(backend, add_prefix_space=True)) not in found


def test_map(backend: BackendName, tmp_path: Path) -> None:
    datasets = need("datasets")
    tok = tokenizer(backend)
    texts = random_documents(50, 61)
    expected = tok.encode_batch(texts, "text")
    data = datasets.Dataset.from_dict({"text": texts})

    def batch(rows: dict[str, Any]) -> dict[str, Any]:
        return {"ids": tok.encode_batch(rows["text"], "text")}

    def table(rows: Any) -> Any:
        return rows.append_column("ids", tok.encode_column(rows["text"], "text"))

    mapped = data.map(batch, batched=True, batch_size=20)
    assert list(mapped["ids"]) == expected
    assert data.map(batch, batched=True, batch_size=20)._fingerprint == mapped._fingerprint
    arrow = data.with_format("arrow").map(table, batched=True, batch_size=20)
    assert list(arrow.with_format(None)["ids"]) == expected


def test_columns(backend: BackendName) -> None:
    datasets = need("datasets")
    tok = tokenizer(backend)
    texts = random_documents(30, 62)
    data = datasets.Dataset.from_dict({"text": [*texts, None], "row": range(31)})
    expected = [*tok.encode_batch(texts, "text"), None]
    if isinstance(data["text"], list):
        pytest.skip("columns of datasets before 4.0 are lists")
    found = tok.encode_column(data["text"], "text")
    assert type(found) is type(data["text"])
    assert found[:] == expected
    assert found.features == datasets.List(datasets.Value("uint32"))
    both = datasets.concatenate_datasets([data, found.source.rename_column("text", "ids")], axis=1)
    assert both[5] == {"text": texts[5], "row": 5, "ids": expected[5]}
    shuffled = data.select([3, 1, 30]).with_format("numpy")
    assert tok.encode_column(shuffled["text"], "text")[:] == [expected[3], expected[1], None]
    assert tok.encode_column(data.select([])["text"])[:] == []
    with pytest.raises(TypeError, match="the column is of type int64; expected strings"):
        tok.encode_column(data["row"])
    nested = datasets.Dataset.from_dict({"a": [{"b": "x"}]})
    with pytest.raises(TypeError, match=r"got a field of a column; call flatten\(\)"):
        tok.encode_column(nested["a"]["b"])
    assert tok.encode_column(nested.flatten()["a.b"])[:] == [tok.encode("x")]

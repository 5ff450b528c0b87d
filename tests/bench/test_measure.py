"""Test the parts of the benchmark: ratios, rounds, comparison of results, splitting, goals."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import pretok
from bench_peers import QUICK, nothing
from bpe.encoding.python_backend import concatenate_ids
from goals import GOALS, Goal, judge, verdict_lines
from pretok.machine.backend import BackendName
from pretok_bench import timing
from pretok_bench.answers import WrongAnswerError, same_arrays, same_items
from pretok_bench.inputs import DOCUMENT, documents
from pretok_bench.peers import PEERS
from pretok_bench.report import HEADER, lines, remarks
from pretok_bench.split import METHODS, bench_split
from pretok_bench.text import generated_texts
from pretok_bench.timing import OURS, Result, Settings, alternate, measure, steady
from support import changed

QWEN2 = pretok.get("qwen2").preset


def result(ours: tuple[float, ...], peer: tuple[float, ...], **given: object) -> Result:
    """Return a result with these seconds of pretok and tiktoken, changed by `given`."""
    made = Result(
        "encode", "list to lists, warm", "english", "v", "B", {OURS: ours, "tiktoken": peer},
        {OURS: 4e6, "tiktoken": 2e6},
    )  # fmt: skip
    return replace(made, **given)  # type: ignore[arg-type]


def test_the_ratio_is_the_median_of_rounds_by_unit_of_work() -> None:
    one = result((1.0, 2.0, 4.0), (4.0, 4.0, 4.0))
    assert one.ratios("tiktoken") == [8.0, 4.0, 2.0]
    assert one.ratio("tiktoken") == 4.0
    assert one.median(OURS) == 2.0 / 4e6
    assert one.peers() == ["tiktoken"]


def test_a_contender_that_ran_less_often_is_paired_with_the_first_rounds() -> None:
    one = result((1.0, 1.0, 9.0), (2.0, 3.0))
    assert one.ratios("tiktoken") == [4.0, 6.0]


def test_a_record_has_everything_and_can_be_read_again() -> None:
    one = result((1.0, 2.0, 4.0), (4.0, 4.0, 4.0), absent={"regex": "it splits"})
    saved = json.loads(json.dumps(one.record()))
    assert saved["ratio"] == {"tiktoken": {"median": 4.0, "least": 2.0, "most": 8.0}}
    assert saved["runs"]["tiktoken"] == [4.0, 4.0, 4.0]
    assert Result.of_record(saved) == one


def test_the_table_has_a_line_for_each_peer_and_is_narrow_and_ascii() -> None:
    found = lines(result((1.0, 2.0, 4.0), (4.0, 4.0, 4.0)))
    assert len(found) == 1
    assert "2.0 MB/s  tiktoken        0.5 MB/s" in found[0]
    assert found[0].endswith(" 4.00 (2.00 to 8.00)")
    assert max(map(len, [HEADER, *found])) <= 125
    assert "".join([HEADER, *found]).isascii()
    alone = result((1.0,), (1.0,), runs={OURS: (1.0,)})
    assert len(lines(alone)) == 1


def test_absent_peers_are_named_with_the_reason() -> None:
    one = result((1.0,), (1.0,), absent={"regex": "it only splits"}, notes={"tiktoken": "odd"})
    other = replace(one, what="bytes to array, cold", absent={"tiktoken": "no such call"})
    assert remarks([one, other, one]) == [
        "regex is not in encode: it only splits",
        "tiktoken is not in encode, bytes to array: no such call",
        *["tiktoken in encode, list to lists, warm, english: odd",
          "tiktoken in encode, bytes to array, cold, english: odd",
          "tiktoken in encode, list to lists, warm, english: odd"],
    ]  # fmt: skip


def test_every_second_round_runs_in_reverse_order() -> None:
    order: list[str] = []

    def run(name: str) -> Callable[[], tuple[float]]:
        return lambda: (order.append(name), (1.0,))[1]  # type: ignore[func-returns-value]

    found = alternate({"a": run("a"), "b": run("b")}, Settings(rounds=3), nothing)
    assert "".join(order) == "abbaab"
    assert found == {"a": [(1.0,)] * 3, "b": [(1.0,)] * 3}


def test_slow_contenders_run_less_often_but_at_least_twice() -> None:
    runs = {"slow": lambda: (9.0,), "fast": lambda: (0.1,)}
    found = alternate(runs, Settings(rounds=5, budget=10.0, least=2), nothing)
    assert {name: len(each) for name, each in found.items()} == {"slow": 2, "fast": 5}


def test_steady_stops_garbage_collection_and_uses_one_core() -> None:
    cores = timing.allowed_cores()
    assert gc.isenabled()
    with steady():
        assert not gc.isenabled()
        assert not cores or timing.allowed_cores() == {min(cores)}
    assert gc.isenabled()
    assert timing.allowed_cores() == cores
    with pytest.raises(KeyboardInterrupt), steady():
        raise KeyboardInterrupt
    assert gc.isenabled()
    assert timing.allowed_cores() == cores


def test_cpu_time_does_not_count_sleep() -> None:
    import time

    calls = {OURS: lambda: time.sleep(0.05)}
    assert measure(calls, Settings(rounds=1), nothing)[OURS][0] >= 0.05
    assert measure(calls, Settings(rounds=1, cpu_time=True), nothing)[OURS][0] < 0.04
    # Without `pinned`, elapsed time counts, even if cpu_time is True.
    assert measure(calls, Settings(rounds=1, cpu_time=True), nothing, pinned=False)[OURS][0] >= 0.05


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ([1, 2, 3], [1, 9, 3], r"text: from id 1 on, pretok has \[2, 3\], but peer has \[9, 3\]"),
        ([1, 2], [1], r"text: from id 1 on, pretok has \[2\], but peer has nothing"),
        ([], [5], r"text: from id 0 on, pretok has nothing, but peer has \[5\]"),
    ],
)
def test_a_wrong_answer_names_text_place_and_both_answers(
    ours: list[int], theirs: list[int], said: str
) -> None:
    same_items("text", "id", "peer", ours, list(ours))
    with pytest.raises(WrongAnswerError, match=said):
        same_items("text", "id", "peer", ours, theirs)


def test_wrong_arrays_name_the_document() -> None:
    ours = concatenate_ids([[1, 2], [], [3]])
    assert ours[0].tolist() == [1, 2, 3]
    assert ours[1].tolist() == [0, 2, 2, 3]
    same_arrays("t", "peer", ours, (ours[0].astype(np.int64), ours[1]))
    with pytest.raises(WrongAnswerError, match=r"t, document 2: from id 0 on, pretok has \[3\]"):
        same_arrays("t", "peer", ours, concatenate_ids([[1, 2], [], [4]]))
    with pytest.raises(WrongAnswerError, match=r"t, document 0: .* but peer has nothing"):
        same_arrays("t", "peer", ours, concatenate_ids([[1], [2], [3]]))
    with pytest.raises(WrongAnswerError, match="t: pretok has 3 documents, but peer has 2"):
        same_arrays("t", "peer", ours, concatenate_ids([[1, 2], [3]]))


def test_bench_split_measures_each_method(backend: BackendName) -> None:
    text = "Hello world 123\n" * 50
    found = list(bench_split("made up", text, QWEN2, backend, [PEERS["regex"]], QUICK, nothing))
    assert [one.what for one in found] == list(METHODS)
    for one in found:
        assert one.work == {OURS: len(text), "regex": len(text)}
        assert len(one.runs[OURS]) == len(one.runs["regex"]) == 2
        assert min(one.runs[OURS] + one.runs["regex"]) > 0


def test_bench_split_compares_with_other_splitters(backend: BackendName) -> None:
    names = ("tokenizers", "gigatoken", "rustbpe")
    peers = [PEERS[name] for name in names if PEERS[name].version() is not None]
    preset = pretok.get("gpt2").preset
    found = list(
        bench_split("made up", "it's 漢字 123\n" * 9, preset, backend, peers, QUICK, nothing)
    )
    able = [peer.name for peer in peers if peer.name != "rustbpe"]
    assert [one.peers() for one in found] == ([[name] for name in able] or [[], [], []])
    if any(peer.name == "rustbpe" for peer in peers):
        assert found[0].absent == {"rustbpe": "it cannot split text without encoding it"}


def test_bench_split_refuses_to_time_wrong_answers(backend: BackendName) -> None:
    wrong = changed(QWEN2, pattern=pretok.get("llama3").preset.pattern)
    with pytest.raises(
        WrongAnswerError, match=r"pretok has \['1', '2', '3'\], but regex has \['123'\]"
    ):
        next(bench_split("made up", "a123", wrong, backend, [PEERS["regex"]], QUICK, nothing))


def test_documents_are_the_text_cut_at_lines_or_spaces() -> None:
    for text in ("", "a", "word " * 3000, "x" * 10_000, "line one\n" * 2000, "a\n" + "b" * 7000):
        found = documents(text)
        assert "".join(found) == text
        assert all(0 < len(one) <= DOCUMENT for one in found)
    assert {one[-1] for one in documents("line one\n" * 2000)} == {"\n"}
    assert len(documents("word " * 3000)) == 5


def test_generated_texts_are_always_the_same_and_of_each_kind() -> None:
    texts = generated_texts(20_000)
    assert texts == generated_texts(20_000)
    assert set(texts) == {"english", "code", "cjk", "mixed"}
    assert all(20_000 <= len(text) < 21_000 for text in texts.values())
    assert texts["english"].isascii()
    assert texts["code"].isascii()
    cjk = sum("\u3040" <= char <= "\ud7a3" for char in texts["cjk"])
    assert cjk > len(texts["cjk"]) // 2


GOAL = Goal("says", "encode", ("list to lists",), ("english",), (), "tiktoken", least=3.0)


def test_a_goal_is_judged_by_its_worst_cell() -> None:
    good, bad = result((1.0,), (2.0,)), result((1.0,), (1.0,), subject="w")
    assert [v.figure for v in judge([good], [GOAL])] == [4.0]
    assert judge([good], [GOAL])[0].is_reached
    worst = judge([good, bad], [GOAL])[0]
    assert (worst.figure, worst.place, worst.is_reached) == (2.0, "english, w", False)
    assert judge([replace(good, text="code")], [GOAL])[0].is_reached is None
    assert judge([replace(good, group="decode")], [GOAL])[0].is_reached is None


def test_a_goal_for_memory_is_a_limit() -> None:
    goal = Goal("peak", "memory", ("200 MB",), (), (), OURS, most=64e6)
    one = Result(
        "memory", "200 MB, one thread", "t", "v", "peak", {OURS: (6e7, 7e7, 6.3e7)}, {OURS: 1.0}
    )
    assert judge([one], [goal])[0].is_reached
    over = replace(one, runs={OURS: (6.5e7,)})
    verdict = judge([one, over], [goal])[0]
    assert (verdict.figure, verdict.is_reached) == (6.5e7, False)
    assert "NO" in verdict_lines([verdict])[1]
    assert "65 MB" in verdict_lines([verdict])[1]


def test_every_goal_has_one_limit_and_a_known_peer() -> None:
    for goal in GOALS:
        assert (goal.least is None) != (goal.most is None), goal
        assert goal.peer in {*PEERS, OURS, "one thread", "our English"}, goal

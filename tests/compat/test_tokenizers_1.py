"""tokenizers 1.0 itself: its differences from 0.23, its ids, and transformers beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import newer_differences as differences
import newer_tokenizers
from bpe.compat import huggingface as hf
from paths import HELPERS, ROOT
from support import max_examples, need

PAGE = ROOT / "docs" / "how-to" / "tokenizers-1.md"
IDS = """
import json, random, sys
import huggingface_pairs as pairs
from newer_differences import read_newer
from bpe import UnsupportedError
from bpe.compat import huggingface as hf
from tokenizers import Padding, Truncation

compared, refused, different = 0, [], []
for seed in range(int(sys.argv[1])):
    source = random.Random(f"ids {seed}")
    serialized = pairs.random_tokenizer(source)
    try:
        ours, newer = hf.Tokenizer.from_str(serialized), read_newer(serialized)
    except (UnsupportedError, ValueError) as error:
        refused.append(str(error))
        continue
    for _ in range(20):
        # 1.0 finds <W> after an added token that ends with a letter.
        texts = [pairs.random_text(source).replace("\\ud800", "").replace("<W>", "") for _ in "ab"]
        texts = texts[: source.choice([1, 2])]
        adds = source.random() < 0.5
        limit = source.randrange(ours.num_special_tokens_to_add(len(texts) == 2), 20)
        side = source.choice(["left", "right"])
        strategy = source.choice(["longest_first", "only_first"])
        padding = {"direction": side, "pad_id": 3, "length": source.choice([None, 12])}
        ours.enable_truncation(limit, strategy=strategy, direction=side)
        ours.enable_padding(**padding)
        results = []
        for call in (
            lambda: ours.encode(*texts, add_special_tokens=adds),
            lambda: newer.encode(
                texts if len(texts) == 2 else texts[0], add_special_tokens=adds,
                truncation=Truncation(limit, strategy, side), padding=Padding(**padding),
            ),
        ):
            try:
                encoding = call()
                results.append([encoding.ids, encoding.type_ids, encoding.attention_mask])
            except Exception as error:
                results.append(str(error))
        compared += 1
        if results[0] != results[1]:
            different.append([seed, texts, results])
print(json.dumps([compared, refused, different]))
"""
TRANSFORMERS = """
import json, sys, warnings
import newer_differences
import tokenizers
from bpe.compat import huggingface as hf

def error_of(call):
    try:
        return repr(call())
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

found = {"transformers": error_of(lambda: __import__("transformers"))}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    hf.patch()
    hf.unpatch()
    found["warning"] = str(caught[-1].message)
found["strict"] = error_of(lambda: hf.patch(strict=True))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tokenizers_1: Path) -> dict[str, dict[str, Any]]:
    """Return the values of all expressions with tokenizers 1.0, and with bpe beside it."""
    script = str(HELPERS / "newer_differences.py")
    return newer_tokenizers.run(tokenizers_1, script)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", differences.DIFFERENCES)
def test_differences(name: str, found: dict[str, dict[str, Any]]) -> None:
    expected = differences.DIFFERENCES[name]
    assert found["newer"][name] == expected.newer_value
    assert found["bpe"][name] == expected.older_value


def test_the_values_of_0_23_are_those_of_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    if tokenizers.__version__ != "0.23.3":
        pytest.skip("needs tokenizers 0.23.3 to compare with")
    stream = tokenizers.decoders.DecodeStream
    real = differences.older(tokenizers.Tokenizer, stream, tokenizers.AddedToken)
    ours = differences.older(hf.Tokenizer, hf.DecodeStream, hf.AddedToken)
    expected = {name: each.older_value for name, each in differences.DIFFERENCES.items()}
    assert real == expected
    assert ours == expected


def test_the_page_lists_all_differences() -> None:
    if not PAGE.exists():
        pytest.skip("the documentation is not here")
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("## Differences of 1.0")[1].split("\n## ")[0]
    names = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    assert names == list(differences.DIFFERENCES)


def test_ids_are_those_of_bpe(tokenizers_1: Path) -> None:
    count = max_examples(30)
    compared, refused, different = newer_tokenizers.run(tokenizers_1, "-c", IDS, str(count))
    assert different == []
    assert compared > 10 * count
    reasons = "add_prefix_space|may be a pre-token|has no offsets"
    assert [reason for reason in refused if not re.search(reasons, reason)] == []


def test_transformers_does_not_run_beside_it(tokenizers_1: Path) -> None:
    need("transformers")
    seen = newer_tokenizers.run(tokenizers_1, "-c", TRANSFORMERS)
    assert re.match(
        r"ImportError: tokenizers>=\S+ is required .*found tokenizers==1\.0\.0rc3",
        seen["transformers"],
    )
    line = seen["transformers"].removeprefix("ImportError: ").splitlines()[0]
    warning = f"patch has no class of transformers to change, which cannot be imported: {line}"
    assert seen["warning"].startswith(warning)
    assert seen["strict"] == f"FallbackError: {seen['warning']}"


FACTORIES = """
import json, pickle, warnings
import newer_differences as differences, huggingface_pairs as pairs
import tokenizers
from bpe.compat import huggingface as hf

open("small.json", "w").write(differences.file())
level = pairs.byte_level(add_prefix_space=False, trim_offsets=True)
custom = {"type": "Split", "pattern": {"Regex": "(?<=a)b"}, "behavior": "Isolated", "invert": False}
open("custom.json", "w").write(pairs.small(pre_tokenizer=custom))
newer = tokenizers.Tokenizer.from_file("small.json")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    same = hf.wrap(newer) is newer
with hf.patched(factories=True):
    tok = tokenizers.Tokenizer.from_file("small.json")
    other = tokenizers.Tokenizer.from_file("custom.json")
    text = tokenizers.Tokenizer.from_str(differences.file())
after = tokenizers.Tokenizer.from_file("small.json")
print(json.dumps({
    "wrap": [same, str(caught[0].message)],
    "engines": [hf.engine(each)[0] for each in (newer, tok, other, text, after)],
    "offsets": tok.encode("ab the").offsets,
    "pickled": pickle.loads(pickle.dumps(tok)).encode("ab the").offsets,
    "fallbacks": list(hf.fallbacks()),
    "restored": [type(after) is type(newer), hasattr(tokenizers.Tokenizer, "from_str")],
}))
"""


def test_factories(tokenizers_1: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import os; os.chdir({str(tmp_path)!r}){FACTORIES}"
    seen = newer_tokenizers.run(tokenizers_1, "-c", code)
    spans = [[0, 0], [0, 2], [3, 6]]
    [reason] = seen.pop("fallbacks")
    assert "(?<=a)" in reason
    same, warning = seen.pop("wrap")
    assert same
    assert warning.startswith("wrap changes no tokenizer: tokenizers 1.0.0-rc.3 lacks classes of")
    assert seen == {
        "engines": ["tokenizers", "bpe", "tokenizers", "bpe", "tokenizers"],
        "offsets": spans,
        "pickled": spans,
        "restored": [True, False],
    }


def test_unsupported_parts_are_named(tokenizers_1: Path) -> None:
    code = """
import json
import huggingface_pairs as pairs
import newer_differences as differences
from bpe.compat import huggingface as hf

tok = hf.Tokenizer.from_str(differences.file())
calls = {
    "WordPiece": lambda: hf.Tokenizer.from_str(pairs.small(model=pairs.other_model("WordPiece"))),
    "Unigram": lambda: hf.Tokenizer.from_str(pairs.small(model=pairs.other_model("Unigram"))),
    "dropout": lambda: hf.Tokenizer.from_str(differences.file(dropout=0.5)),
    "model": lambda: hf.Tokenizer(5),
    "pre_tokenizer": lambda: tok.pre_tokenizer,
    "normalizer": lambda: setattr(tok, "normalizer", None),
    "train": lambda: tok.train(["x"]),
    "post_process": lambda: tok.post_process(tok.encode("a")),
    "to_real": lambda: tok.encode("a").to_real(),
    "DecodeStream": lambda: hf.DecodeStream().step(5, 5),
}
found = {}
for name, call in calls.items():
    try:
        found[name] = call()
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""
    seen = newer_tokenizers.run(tokenizers_1, "-c", code)
    for name in ("WordPiece", "Unigram"):
        assert seen.pop(name).startswith(f'UnsupportedError: model.type is "{name}"')
    assert seen.pop("dropout").startswith("UnsupportedError: model.dropout")
    assert seen.pop("DecodeStream").startswith("TypeError: 'int' object is not an instance")
    for name, error in seen.items():
        assert error.startswith(("AttributeError: ", "UnsupportedError: ")), name
        assert "needs tokenizers 0.22 or 0.23" in error, name
        assert name in error, name
    assert json.dumps(seen).count("needs tokenizers") == 6

"""Chains of normalizers and decoders: loading and first calls take no more than a file allows."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bpe
import growing_steps
from bpe import Tokenizer, UnsupportedError
from bpe.decoders.chain import DecoderChain
from bpe.formats import pretok_file
from bpe.normalizers import growth
from bpe.normalizers.chain import NormalizerChain
from c_library import CError, CLibrary, CTokenizer
from charsmaps import charsmap
from pre_tokenizer_json import byte_level
from pretok.machine.backend import BackendName
from support import TIMES, TOO_MUCH, max_examples, seeded
from support import growth as growth_of_time
from text_models import ADDED, BERT, FALLBACK, STRIP, chained, file_of, metaspace, regex
from vocabulary_files import added, huggingface, write


def replacing(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def decoding(*decoders: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(decoders)}


DOUBLE = replacing("a", "aa")
RULES = b64encode(charsmap({b"x": "y", "é".encode(): "e"})).decode()
NORMALIZERS: dict[str, dict[str, Any]] = {
    **{name: {"type": name} for name in
       ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")},
    "Strip": STRIP, "BertNormalizer": BERT, "Prepend": {"type": "Prepend", "prepend": "▁"},
    "Replace": replacing("ab", "ba"), "Replace of a character": replacing(" ", "a"),
    "Replace with a regex": regex("a+", "a"),
    "Precompiled": {"type": "Precompiled", "precompiled_charsmap": RULES},
}  # fmt: skip
DECODERS: dict[str, dict[str, Any]] = {
    **{name: {"type": name} for name in ("ByteLevel", "ByteFallback", "Fuse")},
    "Strip": {"type": "Strip", "content": "a", "start": 2, "stop": 256},
    "Replace": replacing("▁", " "), "Replace with a regex": regex("a+", "a"),
    "Metaspace": metaspace(), "BPEDecoder": {"type": "BPEDecoder", "suffix": "a"},
    "WordPiece": {"type": "WordPiece", "prefix": "a", "cleanup": True},
    "CTC": {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": True},
}  # fmt: skip
# 16 times as many steps write 256 times as much, because each step writes more.
GROWING = {"Prepend", "BertNormalizer", "WordPiece"}
LONGEST = 256


def model(folder: Path, backend: BackendName = "python", **changes: Any) -> Tokenizer:
    """Return a small model; `changes` are as in text_models.file_of."""
    path = write(folder / "tokenizer.json", file_of(**{**FALLBACK, **changes}))
    return bpe.load(path, backend=backend)


@pytest.mark.parametrize("count", [11, 28, 50, 62, 256])
def test_doubling_chains_are_refused(backend: BackendName, tmp_path: Path, count: int) -> None:
    """Loading took 2^n steps with such normalizers, and the first decode with such decoders."""
    message = "bytes of one byte of a text, at step 11 (Replace); expected at most 1024"
    with pytest.raises(UnsupportedError) as error:
        model(tmp_path, backend, normalizer=chained(*[DOUBLE] * count))
    assert "which is not supported: the normalizers make up to 2048 " + message in str(error.value)
    file = huggingface(normalizer=chained(*[DOUBLE] * count), pre_tokenizer=byte_level())
    with pytest.raises(UnsupportedError) as error:
        bpe.load(write(tmp_path / "bytes.json", file), backend=backend)
    assert message in str(error.value)
    with pytest.raises(UnsupportedError) as error:
        model(tmp_path, backend, decoder=decoding(*[DOUBLE] * count))
    assert "the decoders make up to 2048 " + message.replace("text", "token") in str(error.value)


def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python make chains of any growth, to store them in files."""
    monkeypatch.setattr(growth, "MAX_GROWTH", 1 << 300)


@pytest.mark.parametrize("count", [11, 23, 50, 60, 62])
def test_doubling_chains_in_a_pretok_file_are_refused(
    c_library: CLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """The bound of the C interface wrapped to a few bytes."""
    with monkeypatch.context() as patch:
        unlimited(patch)
        grown = model(tmp_path, normalizer=chained(*[DOUBLE] * count)).to_spec()
        decoded = model(tmp_path, decoder=decoding(*[DOUBLE] * count)).to_spec()
        files = [pretok_file.dump(spec) for spec in (grown, decoded)]
    path = tmp_path / "model.pretok"
    for data, unit in zip(files, ("text", "token"), strict=True):
        path.write_bytes(data)
        with pytest.raises(UnsupportedError, match=f"one byte of a {unit}, at step 11") as error:
            bpe.load(path)
        with pytest.raises(CError) as c_error:
            CTokenizer(c_library, data)
        assert c_error.value.status == "unsupported"
        assert str(error.value).endswith(str(c_error.value).removeprefix("unsupported: "))


def test_python_and_c_refuse_the_same_chains(
    c_library: CLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare the bounds of both, through their messages."""
    random = seeded("growth in Python and C")
    spec = model(tmp_path).to_spec()
    path = tmp_path / "model.pretok"
    messages = set()
    for _ in range(2 * max_examples(100)):
        with monkeypatch.context() as patch:
            unlimited(patch)
            normalizer = NormalizerChain(
                tuple(random.choices(growing_steps.NORMALIZERS, k=random.randrange(16)))
            )
            decoder = DecoderChain(
                tuple(random.choices(growing_steps.DECODERS, k=random.randrange(1, 16)))
            )
            made = replace(spec, normalizer=normalizer, decoder=decoder)
            data = pretok_file.dump(made)
        path.write_bytes(data)
        try:
            CTokenizer(c_library, data)
            message = ""
        except CError as error:
            message = str(error).removeprefix("unsupported: ")
        messages.add(message)
        if message:
            with pytest.raises(UnsupportedError) as refused:
                bpe.load(path)
            assert str(refused.value).endswith(message)
        else:
            bpe.load(path)
    assert len(messages) > 5


@pytest.mark.parametrize("name", NORMALIZERS)
def test_long_chains_of_normalizers_take_linear_time(
    native: BackendName, tmp_path: Path, name: str
) -> None:
    """To load, and to encode and align the first text."""
    step = NORMALIZERS[name]
    text = "ab xé " * 20
    for backend in ("python", native):

        def work(count: int, backend: BackendName = backend) -> None:
            tok = model(tmp_path, backend, normalizer=chained(*[step] * count))
            tok.tokens(text)

        work(2)
        assert growth_of_time(work, LONGEST // TIMES) < TOO_MUCH


@pytest.mark.parametrize("name", NORMALIZERS)
def test_a_long_chain_of_normalizers_takes_linear_time_in_the_text(
    backend: BackendName, tmp_path: Path, name: str
) -> None:
    tok = model(tmp_path, backend, normalizer=chained(*[NORMALIZERS[name]] * LONGEST))
    for call in (tok.encode, tok.tokens):

        def work(count: int, call: Callable[[str], object] = call) -> None:
            call("ab xé " * count)

        work(1)
        assert growth_of_time(work, 8) < TOO_MUCH


@pytest.mark.parametrize("name", DECODERS)
def test_long_chains_of_decoders_take_linear_time(
    backend: BackendName, tmp_path: Path, name: str
) -> None:
    """To load, and to decode the first ids."""
    step = DECODERS[name]

    def work(count: int) -> None:
        tok = model(tmp_path, backend, decoder=decoding(*[step] * count))
        tok.decode(range(5, 30))

    work(2)
    assert growth_of_time(work, LONGEST // TIMES) < (
        TIMES * TOO_MUCH if name in GROWING else TOO_MUCH
    )


@pytest.mark.parametrize("name", DECODERS)
def test_a_long_chain_of_decoders_takes_linear_time_in_the_ids(
    backend: BackendName, tmp_path: Path, name: str
) -> None:
    tok = model(tmp_path, backend, decoder=decoding(*[DECODERS[name]] * LONGEST))

    def work(count: int) -> None:
        tok.decode([5, 6, 7, 8] * count)

    work(1)
    assert growth_of_time(work, 8) < TOO_MUCH


def test_a_long_token_does_not_delay_other_tokens(backend: BackendName, tmp_path: Path) -> None:
    """A decoder that grows tokens changes only the tokens of the ids."""
    vocab = {"<unk>": 0, "a" * 200_000: 1, "b": 2}
    for decoder in (decoding(*[DOUBLE] * 10), decoding(*[regex("a", "a")] * 200)):
        file = huggingface(
            model_vocab=vocab,
            model_merges=[],
            model_unk_token="<unk>",
            pre_tokenizer=None,
            decoder=decoder,
            added_tokens=[],
        )
        tok = bpe.load(write(tmp_path / "tokenizer.json", file), backend=backend)
        assert tok.decode([2]) == "b"
        assert tok.decode([2, 2]) == "bb"
        assert _peak_of_decoding(tmp_path / "tokenizer.json", backend) < 200


def _peak_of_decoding(file: Path, backend: BackendName) -> int:
    """Return how many MiB a process takes that loads `file` and decodes [2]."""
    code = (
        "import bpe, sys; tok = bpe.load(sys.argv[1], backend=sys.argv[2]); tok.decode([2]);"
        # Not ru_maxrss: a child inherits the peak of its parent.
        "lines = open('/proc/self/status').read().splitlines();"
        "print(next(int(line.split()[1]) >> 10 for line in lines if 'VmHWM' in line))"
    )
    command = [sys.executable, "-c", code, str(file), backend]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=os.sep)
    return int(done.stdout)


def test_added_tokens_that_take_long_to_normalize_are_refused(
    c_library: CLibrary, tmp_path: Path
) -> None:
    first = len(file_of(**FALLBACK)["model"]["vocab"])
    tokens = [*ADDED, *(added(first + at, "b" * 20_000 + str(at), normalized=True, special=False)
                        for at in range(20))]  # fmt: skip
    steps = chained(*[{"type": "Lowercase"}] * 200)
    with pytest.raises(UnsupportedError, match="normalizing the added tokens takes too long"):
        model(tmp_path, normalizer=steps, added_tokens=tokens)
    grown = chained(*[replacing("b", "bb")] * 10)
    with pytest.raises(UnsupportedError, match="bytes of an added token; expected at most"):
        model(tmp_path, normalizer=grown, added_tokens=tokens)
    spec = model(tmp_path, added_tokens=tokens).to_spec()
    for normalizer in (steps, grown):
        chain = model(tmp_path, normalizer=normalizer).to_spec().normalizer
        data = pretok_file.dump(replace(spec, normalizer=chain))
        with pytest.raises(CError, match="added token") as c_error:
            CTokenizer(c_library, data)
        with pytest.raises(UnsupportedError) as error:
            model(tmp_path, normalizer=normalizer, added_tokens=tokens)
        assert str(error.value).endswith(str(c_error.value).removeprefix("unsupported: "))

"""The programs of examples/ work, and give the results of the libraries that they replace."""

from __future__ import annotations

import asyncio
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import asyncio_server
import bpe
import hello_tokenizer
import tiktoken_style
import torch_shards
import transformers_style
from asyncio_server import PromptServer
from command_line import LONGEST, environment
from paths import EXAMPLES
from pretok.machine.backend import BackendName
from support import need
from tiktoken_pairs import live, ours

SPECIAL = ["<pad>", "<|user|>", "<|end|>", "<|assistant|>"]
TEXTS = ["hello there", "", "hello <|end|> hello", "naïve café 日本\n", "there, there, there"]


@pytest.fixture(scope="session")
def tok() -> bpe.Tokenizer:
    source = ["hello there, hello café 日本 日本\n"] * 3
    return bpe.train(source, vocab_size=280, preset="llama3", special_tokens=SPECIAL)


@pytest.fixture(scope="session")
def json_file(tok: bpe.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a tokenizer.json that puts <|user|> before and <|end|> after a text."""
    path = tmp_path_factory.mktemp("examples") / "tokenizer.json"
    tok.save(path)
    file = json.loads(path.read_text())
    pieces = "<|user|>", "<|end|>"
    file["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": pieces[0], "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": pieces[1], "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            piece: {"id": piece, "ids": [tok.token_id(piece)], "tokens": [piece]}
            for piece in pieces
        },
    }
    path.write_text(json.dumps(file))
    return path


async def ask(stream: tuple[asyncio.StreamReader, asyncio.StreamWriter], text: bytes) -> Any:
    """Return the ids of a prompt, or the error message of the server."""
    reader, writer = stream
    writer.write(struct.pack(">I", len(text)) + text)
    await writer.drain()
    kind = await reader.readexactly(1)
    (size,) = struct.unpack(">I", await reader.readexactly(4))
    data = await reader.readexactly(size)
    return np.frombuffer(data, "<u4").tolist() if kind == b"i" else data.decode()


async def asked(server: PromptServer, *texts: bytes) -> list[Any]:
    """Return the answers to prompts that one client sends."""
    async with await asyncio.start_server(server.handle, "127.0.0.1", 0) as listening:
        stream = await asyncio.open_connection(*listening.sockets[0].getsockname()[:2])
        try:
            return [await ask(stream, text) for text in texts]
        finally:
            stream[1].close()
            await stream[1].wait_closed()


def test_the_server_allows_special_tokens_in_its_template_only(tok: bpe.Tokenizer) -> None:
    server = PromptServer(tok, "<|user|>", "<|end|><|assistant|>")
    prompts = [text.encode() for text in TEXTS]
    for text, answer in zip(TEXTS, asyncio.run(asked(server, *prompts)), strict=True):
        if "<|" in text:
            assert answer == "special token '<|end|>' at byte 6"
        else:
            assert answer == tok.encode(f"<|user|>{text}<|end|><|assistant|>", "allow")


def test_the_server_refuses_a_long_prompt_and_closes_the_connection(tok: bpe.Tokenizer) -> None:
    server = PromptServer(tok, limit=10)
    assert asyncio.run(asked(server, b"x" * 10, b"x" * 11)) == [
        tok.encode("x" * 10),
        "expected at most 10 bytes, got 11",
    ]
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        asyncio.run(asked(server, b"x" * 11, b"x"))


@pytest.fixture
def never_interrupted() -> Iterator[None]:
    """Let Python switch threads only when one releases the GIL, as native work and waiting do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


def test_the_loop_goes_on_during_a_long_prompt(
    tok: bpe.Tokenizer, native: BackendName, never_interrupted: None
) -> None:
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    class Watched(PromptServer):
        def encode(self, prompt: bytes) -> bytes:
            # On a busy machine, the thread of the loop may not run during some of these calls.
            for _ in range(100):
                before = beats
                answer = super().encode(prompt)
                if beats > before:
                    return answer
            return asyncio_server.refusal("the loop stood still")

    async def run() -> list[Any]:
        beating = asyncio.create_task(heart())
        try:
            return await asked(Watched(tok), "hello there, café 日本 ".encode() * 100_000)
        finally:
            beating.cancel()

    assert asyncio.run(run()) == [tok.encode("hello there, café 日本 " * 100_000)]


def test_the_server_is_a_program(json_file: Path, tok: bpe.Tokenizer) -> None:
    program = EXAMPLES / "asyncio_server.py"
    arguments = [sys.executable, str(program), str(json_file), "--before", "<|user|>"]

    async def run(port: int) -> Any:
        stream = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await ask(stream, b"hello there")
        finally:
            stream[1].close()
            await stream[1].wait_closed()

    with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment()) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().split()[-1])
            assert asyncio.run(run(port)) == tok.encode("<|user|>hello there", "allow")
        finally:
            process.terminate()
            process.wait(LONGEST)


@pytest.mark.parametrize("max_length", [None, 2, 3, 7, 100])
def test_arrays_are_those_of_tokenizers(
    json_file: Path, max_length: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    theirs = tokenizers.Tokenizer.from_file(str(json_file))
    pad = theirs.token_to_id("<pad>")
    theirs.enable_padding(pad_id=pad, pad_token="<pad>")
    if max_length is not None:
        theirs.enable_truncation(max_length)
    texts = [text.strip() for text in TEXTS]
    lines, arrays = tmp_path / "lines.txt", tmp_path / "arrays.npz"
    lines.write_text("\n".join(texts), encoding="utf-8")
    options = [] if max_length is None else ["--max-length", str(max_length)]
    transformers_style.main([str(json_file), str(lines), str(arrays), "--pad", "<pad>", *options])
    wanted = theirs.encode_batch(texts)
    with np.load(arrays) as found:
        batch = {name: found[name] for name in found.files}
    assert batch["input_ids"].tolist() == [one.ids for one in wanted]
    assert batch["attention_mask"].tolist() == [one.attention_mask for one in wanted]
    count = int(batch["attention_mask"].sum())
    assert capsys.readouterr().out.startswith(f"{len(texts)} texts, {count} ids, at most ")
    ours = transformers_style.decode_batch(bpe.load(json_file), **batch)
    assert ours == theirs.decode_batch([one.ids for one in wanted])
    if max_length in (None, 100):
        assert ours == [text.replace("<|end|>", "") for text in texts]


def test_arrays_of_no_texts_and_a_max_length_that_is_too_small(
    tok: bpe.Tokenizer, json_file: Path
) -> None:
    batch = transformers_style.encode_batch(tok, [], 0)
    assert {name: array.shape for name, array in batch.items()} == {
        "input_ids": (0, 0),
        "attention_mask": (0, 0),
    }
    with pytest.raises(ValueError, match="max_length=1 is too small"):
        transformers_style.encode_batch(bpe.load(json_file), ["a"], 0, 1)


CHAT = [
    {"role": "system", "content": "You say <|endoftext|> and nothing else."},
    {"role": "user", "name": "Ana", "content": "Hello, 日本! 👍🏽👍🏽👍🏽👍🏽"},
    {"role": "assistant", "content": "naïve café, don't you think?\n\n"},
    {"role": "user", "content": ""},
]


def same_chat(mine: Any, theirs: Any) -> None:
    total = tiktoken_style.count_chat(mine, CHAT)
    assert total == tiktoken_style.count_chat(theirs, CHAT)
    kept = [tiktoken_style.fitting(mine, CHAT, most) for most in range(total + 2)]
    assert kept == [tiktoken_style.fitting(theirs, CHAT, most) for most in range(total + 2)]
    assert [len(messages) for messages in kept][-2:] == [4, 4]
    assert CHAT[0] in kept[0]
    assert len(kept[0]) == 1
    for message in CHAT:
        text = message["content"]
        cuts = [tiktoken_style.first_tokens(mine, text, most) for most in range(40)]
        assert cuts == [tiktoken_style.first_tokens(theirs, text, most) for most in range(40)]
        assert all(text.startswith(cut) for cut in cuts)


def test_a_chat_is_counted_as_with_tiktoken(
    tok: bpe.Tokenizer, json_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    mine = tiktoken_style.encoding_of(str(json_file))
    theirs = tiktoken.Encoding(
        "small",
        pat_str=tok.preset.pattern,  # type: ignore[union-attr]
        mergeable_ranks={token: id for id, token in tok.vocabulary.token_bytes.items()},
        special_tokens=tok.special_tokens,
    )
    same_chat(mine, theirs)
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps(CHAT), encoding="utf-8")
    total = tiktoken_style.count_chat(theirs, CHAT)
    tiktoken_style.main([str(json_file), str(chat), "--most", str(total - 1)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"{total} tokens in 4 messages", f"3 messages fit into {total - 1}"]
    assert len(lines) == 2 + len(CHAT)


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_a_chat_is_counted_as_with_tiktoken_in_real_vocabularies(
    name: str, backend: BackendName
) -> None:
    same_chat(ours(name, backend), live(name))


def test_rows_of_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hello world\n" * 60, encoding="utf-8")
    tok = hello_tokenizer.make("python")
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tok, pack=17, eos="<s>", shard_tokens=100)
    ids = [*corpus.document(0).tolist(), *[hello_tokenizer.SPECIAL] * 16]
    expected = [ids[at : at + 17] for at in range(0, len(ids) - 16, 17)]
    found: list[list[int]] = []
    counts = []
    for rank in range(2):
        for worker in range(3):
            before = len(found)
            info = SimpleNamespace(num_workers=3, id=worker)
            monkeypatch.setattr(torch_shards, "get_worker_info", lambda info=info: info)
            for inputs, targets in torch_shards.Rows(tmp_path / "out", rank=rank, ranks=2):
                assert inputs[1:].tolist() == targets[:-1].tolist()
                found.append([*inputs.tolist(), int(targets[-1])])
            counts.append(len(found) - before)
    assert sorted(found) == sorted(expected)
    assert max(counts) - min(counts) <= 1
    monkeypatch.setattr(torch_shards, "get_worker_info", lambda: None)
    torch_shards.main(str(tmp_path / "out"))
    assert capsys.readouterr().out == f"{len(expected)} rows of 16 tokens\n"
    bpe.corpus.tokenize(path, tmp_path / "plain", tok)
    with pytest.raises(ValueError, match="expected a corpus made with --layout bin and --pack"):
        torch_shards.Rows(tmp_path / "plain")


@pytest.mark.filterwarnings("ignore")  # datatrove causes warnings
def test_datatrove_writes_the_same_tokens(
    json_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = need("datatrove.pipeline.tokens")
    need("tokenizers")
    import datatrove_style

    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), "utf-8")
    arguments = [str(json_file), str(texts)]
    datatrove_style.main([*arguments, str(tmp_path / "ours"), "--eos", "<|end|>"])
    assert capsys.readouterr().out.endswith(": encoded by bpe\n")
    theirs = [*arguments, str(tmp_path / "theirs"), "--eos", "<|end|>"]
    datatrove_style.main(theirs, tokens.DocumentTokenizer)
    ours = {path.name: path.read_bytes() for path in (tmp_path / "ours").iterdir()}
    assert ours == {path.name: path.read_bytes() for path in (tmp_path / "theirs").iterdir()}
    assert len(ours) == 3

"""The drop-in for mlc-ai/tokenizers-cpp: a client of its interface, compared with its engines."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sentencepiece
import tokenizers

from built_once import Built, compiler, library_sources
from built_once import run as compile_
from c_library import CLibrary
from paths import CPP, shared

DROP_IN = CPP / "compat" / "tokenizers_cpp"
CLIENT = Path(__file__).parent / "programs" / "tokenizers_client.cpp"
COMPILERS = ("c++", "g++", "clang++")
IDS = (0, 1, 2, 3, 32, 33, 34, 130, 131, 1000)
TEXTS = [
    "What is the  capital of Canada?", "", " ", "   a\n\n b", "naïve café 日本語 👩‍👧",
    "<s>x</s> <unk>", "<|endoftext|> a<|endoftext|>", "I'm 12345 <0x0A>",
    "\t\r\nx\u00a0y\u3000z", "a" * 300,
]  # fmt: skip
# An invalid byte, and the starts of characters. Rust replaces each by one U+FFFD, as Python does.
INVALID = [b"\xff", b"a\xe2\x82b", b"\xed\xa0\x80\xf0\x9f\x98", b"\xc0\xaf\xf5\x80x"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="builds with a Unix compiler")
Run = Callable[..., list[tuple[str, str]]]


@pytest.fixture(scope="session")
def run(c_library: CLibrary, built: Built) -> Run:
    """Compile the drop-in and the client; return a function that runs the client."""
    cxx = compiler() or "c++"

    def build(folder: Path) -> None:
        flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread")
        # One unit compiles in a third of the time of its files.
        lines = [f'#include "{source}"\n' for source in sorted(DROP_IN.glob("*.cpp"))]
        (folder / "unit.cpp").write_text("".join(lines))
        objects = [c_library.path.parent / "pretok.o", folder / "unit.o"]
        compile_(cxx, *flags, "-c", folder / "unit.cpp", "-o", objects[1], f"-I{CPP}")
        programs: dict[Path, Path] = {}
        for name, path in ((name, shutil.which(name)) for name in COMPILERS):
            if path is None:
                continue
            program = programs.setdefault(Path(path).resolve(), folder / name)
            if program != folder / name:  # such as c++ if it is g++
                (folder / name).symlink_to(program)
                continue
            # The client sees only the public headers.
            compile_(name, *flags, f"-I{DROP_IN}", CLIENT, *objects, "-o", program)

    folder = built("tokenizers_cpp", [*library_sources(), *DROP_IN.glob("*.*"), CLIENT], build)

    def result(
        *arguments: str | Path, texts: Sequence[bytes] = (), by: str = Path(cxx).name
    ) -> list[tuple[str, str]]:
        if not (folder / by).exists():
            pytest.skip(f"{by} is not installed")
        lines = "".join(f"{text.hex()}\n" for text in texts)
        command = [str(folder / by), *map(str, arguments)]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-500:])
        parts = [line.partition(" ") for line in done.stdout.splitlines()]
        return [(name, rest) for name, _, rest in parts]

    return result


def values(lines: list[tuple[str, str]], name: str) -> list[str]:
    """Return the values of the lines that begin with `name`."""
    return [value for line, value in lines if line == name]


def ids_of(lines: list[tuple[str, str]], name: str) -> list[list[int]]:
    """Return the lists of ids in the lines that begin with `name`."""
    return [[int(id) for id in value.split()] for value in values(lines, name)]


def texts_of(lines: list[tuple[str, str]], name: str) -> list[str]:
    """Return the texts in the lines that begin with `name`."""
    return [bytes.fromhex(value).decode() for value in values(lines, name)]


def random_texts(count: int) -> list[str]:
    rng = random.Random(5)
    letters = "abe Tx.,' \n\t09éß字한🙂\u0301<|>/_"
    return ["".join(rng.choices(letters, k=rng.randrange(40))) for _ in range(count)]


def check_json(run: Run, kind: str, files: Sequence[Path], theirs: tokenizers.Tokenizer) -> None:
    """Compare the client's output with tokenizers."""
    texts = [text.encode() for text in (*TEXTS, *random_texts(200))] + INVALID
    lines = run(kind, *files, texts=texts)
    decoded = [text.decode(errors="replace") for text in texts]
    ids = [theirs.encode(text, add_special_tokens=False).ids for text in decoded]
    assert ids_of(lines, "ids") == ids
    assert texts_of(lines, "text") == [theirs.decode(i, skip_special_tokens=False) for i in ids]
    if kind == "json":
        special = [theirs.encode(text, add_special_tokens=True).ids for text in decoded]
        assert ids_of(lines, "special") == special
        assert texts_of(lines, "skipped") == [theirs.decode(i) for i in special]
    assert values(lines, "size") == [str(theirs.get_vocab_size(with_added_tokens=True))]
    tokens = [theirs.id_to_token(id) or "" for id in IDS]
    back = [theirs.token_to_id(token) if token else -1 for token in tokens]
    listed = [f"{id} {i} {t.encode().hex()}" for id, i, t in zip(IDS, back, tokens, strict=True)]
    assert values(lines, "token") == [*listed, "-1 -1 ", f"{1 << 30} -1 "]
    assert values(lines, "none") == ["-1"]
    known = [id for id in (70, 71) if theirs.id_to_token(id) is not None]
    assert texts_of(lines, "unknown") == [theirs.decode(known, skip_special_tokens=False)]


def small_tokenizer(special: bool) -> tokenizers.Tokenizer:
    """Return a byte-level tokenizer with an added token and a template."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "</s>"], show_progress=False,
    )  # fmt: skip
    made.train_from_iterator(["What is the capital of Canada? It is Ottawa."] * 9, trainer)
    made.add_tokens(["Canada?", tokenizers.AddedToken("x</s>", lstrip=True)])
    if special:
        made.post_processor = tokenizers.processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
        )
    return made


@pytest.mark.parametrize("special", [False, True])
def test_a_small_tokenizer_json(run: Run, tmp_path: Path, special: bool) -> None:
    theirs = small_tokenizer(special)
    theirs.save(str(tmp_path / "tokenizer.json"))
    check_json(run, "json", [tmp_path / "tokenizer.json"], theirs)


@pytest.mark.parametrize("name", ["gpt2_tokenizer.json", "llama2.json"])
def test_a_published_tokenizer_json(run: Run, name: str) -> None:
    path = shared("vocabs", "hf", name)
    check_json(run, "json", [path], tokenizers.Tokenizer.from_file(str(path)))


@pytest.mark.parametrize("added", [None, {"<|x|>": 500, "Ġthe": 501, "flag": True}])
def test_a_byte_level_model_of_two_files(
    run: Run, tmp_path: Path, added: dict[str, object] | None
) -> None:
    model = json.loads(small_tokenizer(False).to_str())["model"]
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    files = [tmp_path / name for name in ("vocab.json", "merges.txt", "added.json")]
    files[0].write_text(json.dumps(model["vocab"]), encoding="utf-8")
    files[1].write_text("\r\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    vocab = dict(model["vocab"])
    if added is None:
        files.pop()
    else:
        files[2].write_text(json.dumps(added), encoding="utf-8")
        vocab.update((token, id) for token, id in added.items() if id is not True)
    pairs = [(first, last) for first, _, last in (merge.partition(" ") for merge in merges)]
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, pairs))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    theirs.decoder = tokenizers.decoders.ByteLevel()
    check_json(run, "bpe", files, theirs)


def check_model(run: Run, path: Path) -> None:
    """Compare the client's output with sentencepiece."""
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    texts = (*TEXTS, *random_texts(200))
    lines = run("spm", path, texts=[text.encode() for text in texts])
    ids = [theirs.encode(text) for text in texts]
    assert ids_of(lines, "ids") == ids
    assert texts_of(lines, "text") == [theirs.decode(i) for i in ids]
    assert values(lines, "size") == [str(theirs.get_piece_size())]
    known = [id for id in IDS if id < theirs.get_piece_size()]
    pieces = [theirs.id_to_piece(id) for id in known]
    listed = [f"{id} {theirs.piece_to_id(p)} {p.encode().hex()}"
              for id, p in zip(known, pieces, strict=True)]  # fmt: skip
    assert values(lines, "token")[: len(listed)] == listed
    assert values(lines, "none") == [str(theirs.piece_to_id("no such token"))]
    assert values(lines, "unknown") == [""]


@pytest.mark.parametrize("name", ["llama2.model", "mistral01.model"])
def test_a_published_sentencepiece_model(run: Run, name: str) -> None:
    check_model(run, shared("vocabs", "spm", name))


def test_a_small_sentencepiece_model(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("What is the capital of Canada? Ottawa is.\n" * 50, encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(tmp_path / "small"), model_type="bpe", vocab_size=310,
        byte_fallback=True, user_defined_symbols=["<unk>x", "Canada"], minloglevel=2,
    )  # fmt: skip
    check_model(run, tmp_path / "small.model")


@pytest.mark.parametrize("name", COMPILERS)
def test_hostile_arguments(run: Run, name: str) -> None:
    assert run(by=name) == []


def test_errors_say_what_is_wrong(run: Run, tmp_path: Path) -> None:
    word = tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    word.save(str(tmp_path / "word.json"))
    padded = small_tokenizer(False)
    padded.enable_padding()
    padded.save(str(tmp_path / "padded.json"))
    model = tmp_path / "bad.model"
    model.write_bytes(b"\x0a\x03abc")
    for arguments, part in [
        (("json", tmp_path / "word.json"), "WordPiece"),
        (("json", tmp_path / "padded.json"), "padding"),
        (("json", model), "tokenizer.json"),
        (("spm", tmp_path / "word.json"), "SentencePiece"),
        (("rwkv", model), "not BPE"),
    ]:
        lines = run(*arguments)
        assert [name for name, _ in lines] == ["error"], arguments
        assert part in lines[0][1]


def test_the_cmake_targets_of_the_original(tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is not installed")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(client C CXX)\nset(PRETOK_COMPAT ON)\n"
        f"add_subdirectory({CPP} pretok EXCLUDE_FROM_ALL)\nadd_executable(client {CLIENT})\n"
        "target_link_libraries(client PRIVATE tokenizers_cpp tokenizers_c)\n"
    )
    subprocess.run([cmake, "-S", tmp_path, "-B", tmp_path / "build"], check=True)

"""Files state facts about tokens: both readers find the same, and .pretok files keep them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import Tokenizer, VocabularyError
from bpe.formats import pretok_file, sentencepiece
from bpe.formats.pretok_facts import MAX_SCORES, dump_facts, read_facts
from bpe.formats.pretok_numbers import Reader, encode_number
from bpe.token_facts import ROLES, TokenFacts, TokenType, end_ids, known_names, roles_of_names
from gguf_files import SCORES, TYPES, Typed, gguf, metadata, parse, sentencepiece_metadata
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from support import seeded
from text_pretok_files import summed
from vocabulary_files import added, huggingface, made, write

PIECES = [UNKNOWN, *BYTES, ("<s>", 0.0, TokenType.CONTROL), ("</s>", 0.0, TokenType.USER_DEFINED),
          ("<pad>", 0.0, TokenType.CONTROL), *normal("ab", "a", "b"),
          ("z", -1000.0, TokenType.UNUSED)]  # fmt: skip


def facts(tokenizer: Tokenizer) -> TokenFacts:
    return tokenizer.to_spec().facts


def test_gguf_files_state_types_scores_roles_and_a_template(
    tmp_path: Path, backend: BackendName
) -> None:
    changes: dict[str, Any] = {"bos_token_id": 3, "unknown_token_id": 4, "padding_token_id": 5,
                               "seperator_token_id": 6, "mask_token_id": 7, "eot_token_id": 8,
                               "eom_token_id": 9, "fim_pre_token_id": 10, "fim_suf_token_id": 11,
                               "prefix_token_id": 12, "middle_token_id": 13,
                               "fim_pad_token_id": 14, "fim_rep_token_id": 265,
                               "fim_sep_token_id": "x"}  # fmt: skip
    found = facts(bpe.load(write(tmp_path / "a.gguf", gguf(metadata(**changes))), backend=backend))
    assert found.roles == {"bos": 3, "eos": 264, "unk": 4, "pad": 5, "sep": 6, "mask": 7, "eot": 8,
                           "eom": 9, "fim_prefix": 12, "fim_suffix": 11, "fim_middle": 13,
                           "fim_pad": 14}  # fmt: skip
    assert found.types.tolist() == [1] * 264 + [3]
    assert found.scores.tolist() == [0.0] * 265
    assert found.chat_template == "{{ messages }}"
    values = metadata(
        token_type=..., scores=Typed("array", [0], "int32"), eos_token_id=Typed("int32", -1)
    )
    values["tokenizer.chat_template"] = 3
    assert not facts(bpe.load(write(tmp_path / "b.gguf", gguf(values)), backend=backend))


def test_gguf_files_name_more_templates(tmp_path: Path, backend: BackendName) -> None:
    values = metadata()
    values["tokenizer.chat_templates"] = ["tool_use", "rag", "number", "missing"]
    values |= {
        "tokenizer.chat_template.rag": "é",
        "tokenizer.chat_template.tool_use": "{{ tools }}",
        "tokenizer.chat_template.number": 3,
        "tokenizer.chat_template.unlisted": "x",
    }
    path = write(tmp_path / "a.gguf", gguf(values))
    tok = bpe.load(path, backend=backend)
    named = {"tool_use": "{{ tools }}", "rag": "é"}
    assert tok.chat_templates == {"default": "{{ messages }}", **named}
    assert parse(path.read_bytes()).facts == facts(tok)
    bpe.convert(tok, tmp_path / "b.gguf", texts=0)
    assert bpe.load(tmp_path / "b.gguf", backend=backend).chat_templates == tok.chat_templates
    for wrong in ([1], "rag"):
        values["tokenizer.chat_templates"] = wrong
        path = write(tmp_path / "c.gguf", gguf(values))
        assert facts(bpe.load(path, backend=backend)).named_templates == {}


def test_an_empty_token_has_no_role(tmp_path: Path, backend: BackendName) -> None:
    """As the last token, it would have an id beyond those of the vocabulary."""
    values = metadata(eos_token_id=264)
    values["tokenizer.ggml.tokens"][-1] = ""
    tok = bpe.load(write(tmp_path / "a.gguf", gguf(values)), backend=backend)
    assert "eos" not in tok.role_ids
    assert 264 not in tok.end_ids


def test_gguf_files_of_pieces_state_scores(tmp_path: Path, backend: BackendName) -> None:
    path = write(tmp_path / "a.gguf", gguf(sentencepiece_metadata()))
    found = facts(bpe.load(path, backend=backend))
    assert found.types.tolist() == TYPES
    assert found.scores.tolist() == SCORES
    assert found == parse(path.read_bytes()).facts


def test_models_of_sentencepiece_state_roles_by_text(tmp_path: Path, backend: BackendName) -> None:
    for trainer, roles in (
        ((), {"unk": 0, "bos": 257, "pad": 259}),
        (((46, b"<pad>"), (47, b"<s>"), (48, b"x")), {"unk": 0, "bos": 259, "eos": 257}),
    ):
        path = write(tmp_path / "a.model", model(PIECES, (*BYTE_FALLBACK, *trainer)))
        found = facts(bpe.load(path, backend=backend))
        assert found.roles == roles
        assert found.types.tolist() == [2, *[6] * 256, 3, 4, 3, 1, 1, 1, 5]
        assert found.scores.tolist() == [0.0] * 260 + [0.0, -1.0, -2.0, -1000.0]
        assert found == sentencepiece.parse(path.read_bytes()).facts


def test_a_tokenizer_json_states_its_unknown_token(tmp_path: Path, backend: BackendName) -> None:
    for unknown, roles in (("a", {"unk": 97}), ("<|end|>", {"unk": 264}), ("?!", {}), (None, {})):
        path = write(tmp_path / "tokenizer.json", huggingface(model_unk_token=unknown))
        assert facts(bpe.load(path, backend=backend)).roles == roles


def folder(path: Path, **files: Any) -> Path:
    """Write a tokenizer.json and other files to a folder."""
    path.mkdir(exist_ok=True)
    write(path / "tokenizer.json", huggingface(added_tokens=[added(264, "<|end|>"),
                                                             added(265, "<s>")]))  # fmt: skip
    for name, value in files.items():
        suffix = ".jinja" if name == "chat_template" else ".json"
        text = value if isinstance(value, str) else json.dumps(value)
        (path / (name + suffix)).write_text(text, encoding="utf-8")
    return path


def test_other_files_of_a_folder_state_facts(tmp_path: Path, backend: BackendName) -> None:
    config = {"bos_token": "<s>", "eos_token": {"content": "<|end|>"}, "pad_token": None,
              "chat_template": "config"}  # fmt: skip
    path = folder(tmp_path / "a", special_tokens_map={"unk_token": "a", "bos_token": "b"})
    assert facts(bpe.load(path, backend=backend)).roles == {"unk": 97, "bos": 98}
    folder(path, tokenizer_config=config, generation_config={"eos_token_id": [265, 264, 999999]})
    found = facts(bpe.load(path, backend=backend))
    assert found.roles == {"unk": 97, "bos": 265, "eos": 264}
    assert found.ends == (264, 265)
    assert found.chat_template == "config"
    templates = [{"name": "tools", "template": "t"}, {"name": "default", "template": "d"}]
    folder(path, tokenizer_config={"chat_template": templates},
           generation_config={"eos_token_id": 265})  # fmt: skip
    found = facts(bpe.load(path, backend=backend))
    assert (found.chat_template, found.ends) == ("d", (265,))
    tok = bpe.load(path, backend=backend)
    assert tok.chat_templates == {"default": "d", "tools": "t"}
    more = path / "additional_chat_templates"
    more.mkdir()
    write(more / "rag.jinja", b"r")
    assert bpe.load(path, backend=backend).chat_templates == {"rag": "r"}
    folder(path, chat_template="{{ jinja }}")
    tok = bpe.load(path, backend=backend)
    assert tok.chat_template == "{{ jinja }}"
    assert tok.chat_templates == {"default": "{{ jinja }}", "rag": "r"}
    saved = tmp_path / "a.pretok"
    tok.save(saved)
    assert bpe.load(saved, backend=backend).chat_templates == {"default": "{{ jinja }}"}
    assert not facts(bpe.load(path / "tokenizer.json", backend=backend))
    with pytest.raises(VocabularyError, match=r"generation_config\.json: eos_token_id is \"x\""):
        bpe.load(folder(path, generation_config={"eos_token_id": "x"}), backend=backend)


def made_facts(source: Any) -> TokenFacts:
    size = source.choice([0, 1, 2, 40])
    kinds = source.choice([[1], [1, 1, 1, 3], range(7)])
    roles = source.sample(ROLES, source.randrange(4))
    some = [0.0, -1.0, -0.0, -1000.0, 1e30, 2.5, float("inf")]
    scores = source.choice([
        [], [-float(i) for i in range(source.choice([1, 15, 16, 17, 40, 70]))],
        [source.choice(some) for _ in range(9)], [*range(-3, 3)], [5, 4, 3, 9, 8, 8, 7],
    ])  # fmt: skip
    return TokenFacts(
        np.array([source.choice(kinds) for _ in range(size)], np.uint8),
        np.array(scores, np.float32),
        {role: source.choice([0, 1, 300, (1 << 24) - 1]) for role in roles},
        tuple(sorted(source.sample(range(500), source.randrange(4)))),
        source.choice([None, "{{ a }}", "é" * 200]),
    )


def test_pretok_files_keep_facts(tmp_path: Path, backend: BackendName) -> None:
    source = seeded("facts")
    for _ in range(60):
        expected = made_facts(source)
        tokenizer = made(backend, facts=expected)
        path = tmp_path / "a.pretok"
        tokenizer.save(path)
        loaded = bpe.load(path, backend=backend)
        assert facts(loaded) == expected
        assert pretok_file.parse(path.read_bytes()).facts == expected
        assert pretok_file.dump(loaded.to_spec()) == path.read_bytes()


def test_damaged_facts_of_pretok_files_are_errors(tmp_path: Path, backend: BackendName) -> None:
    roles, one = [0] * len(ROLES), b"\x00\x00\x80\x3f"
    zero = b"\x00\x00\x00\x00"
    wrong: dict[bytes, str] = {
        bytes([*roles, 0, 0, 0, 0]): "empty section of facts",
        bytes([*roles[1:]]) + encode_number((1 << 24) + 1) + bytes(4): "role with an id",
        bytes([*roles, 2, 5, 5, 0, 0, 0]): "do not ascend",
        bytes([*roles, 0, 0, 1, 3, 7, 0]): "wrong run",
        bytes([*roles, 0, 0, 2, 3, 1, 1, 1, 0]): "wrong run",
        bytes([*roles, 0, 0, 1, 0, 1, 0]): "wrong run",
        bytes([*roles, 0, 0, 0, 2, 1]) + one + b"\x01" + zero: "wrong run",
        bytes([*roles, 0, 0, 0, 1]) + encode_number(MAX_SCORES + 1) + zero: "wrong run",
        bytes([*roles, 0, 0, 1]) + encode_number((1 << 24) + 1) + b"\x01\x00": "wrong run",
    }
    tokenizer = made("python", facts=TokenFacts(ends=(7,)))
    data = pretok_file.dump(tokenizer.to_spec())[16:]
    section = dump_facts(TokenFacts(ends=(7,)))
    assert data.count(section) == 1
    for damaged, problem in wrong.items():
        path = write(tmp_path / "a.pretok", summed(data.replace(section, damaged)))
        with pytest.raises(VocabularyError, match=problem):
            bpe.load(path, backend=backend)
    for size in range(len(section)):
        with pytest.raises(VocabularyError):
            read_facts(Reader(section[:size], 0))


def test_roles_follow_from_published_texts() -> None:
    texts = ["a", "<|im_end|>", "<|eot_id|>", "▁<PRE>", "<PRE>", "<|eot_id|>", "[PAD]"]
    names = known_names(enumerate(texts))
    assert names == {"<|im_end|>": 1, "<|eot_id|>": 2, "▁<PRE>": 3, "<PRE>": 4, "[PAD]": 6}
    roles = roles_of_names(names)
    assert roles == {"eot": 2, "fim_prefix": 4, "fim_pad": 6}
    assert end_ids((9,), roles, names) == (1, 2, 6, 9)


@pytest.mark.parametrize(
    ("texts", "ends"),
    [
        ("<|end|> <|return|>", (0, 1)),
        ("<|end|> <|return|> <|call|>", (1, 2)),
        ("<|end|> <|return|> <|flush|>", (0, 1, 2)),
        ("<|end|> <|calls|> <|flush|>", (1, 2)),
        ("</s> <eos>", (0, 1)),
        ("</s> <|tool_response>", (1,)),
        ("</s> <|plamo:eos|>", (0,)),
    ],
)
def test_some_ends_exclude_others(texts: str, ends: tuple[int, ...]) -> None:
    assert end_ids((), {}, known_names(enumerate(texts.split()))) == ends


def test_the_end_of_sequence_of_plamo_excludes_a_text() -> None:
    names = known_names(enumerate(["</s>", "<|plamo:eos|>"]))
    assert end_ids((), {"eos": 1}, names) == (1,)

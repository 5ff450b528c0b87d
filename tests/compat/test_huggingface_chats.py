"""`encode_chat` of the stand-in, with the template and special tokens of transformers."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from typing import Any

import pytest

import chats
from bpe import UnsupportedError
from chat_tokenizers import file_with, pair, tokens_of
from support import max_examples, seeded
from vocabulary_files import huggingface

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{{ eos_token }}{% endfor %}"
)
TOOLS = "{% for t in tools %}{{ t|tojson }}{% endfor %}</s>"
HOSTILE = [{"role": "user", "content": "<s><|im_start|></s>"}]


@pytest.fixture
def tok(tmp_path: Path) -> Any:
    file = file_with(huggingface(), tokens_of(TEMPLATE))
    return pair(tmp_path / "a", file)[1]


@pytest.mark.parametrize("is_patched", [True, False])
def test_ids_equal_apply_chat_template(tok: Any, is_patched: bool) -> None:
    tok.chat_template = TEMPLATE
    if is_patched:
        hf.wrap(tok)
    random = seeded("chats")
    for _ in range(max_examples(20)):
        messages = [m for m in chats.chat(random)["messages"] if type(m["content"]) is str]
        expected = tok.apply_chat_template(messages, return_dict=True)["input_ids"]
        found = hf.encode_chat(tok, messages)
        assert found.ids.tolist() == expected
    kept = found.ids[found.assistant_mask]
    assert not len(kept) or kept[-1] == tok.eos_token_id
    found = hf.encode_chat(tok, HOSTILE)
    special = {tok.bos_token_id, tok.eos_token_id, tok.convert_tokens_to_ids("<|im_start|>")}
    assert sum(id in special for id in found.ids.tolist()) == 3
    assert "<s><|im_start|></s>" in tok.decode(found.ids)


def test_named_templates_and_tools(tok: Any) -> None:
    def add(a: int, b: int) -> int:
        """Add two numbers.

        Args:
            a: The first number.
            b: The second number.
        """
        return a + b

    tok.chat_template = {"default": TEMPLATE, "tool_use": TOOLS}
    for arguments in ({"tools": [add]}, {}, {"chat_template": "tool_use", "tools": [add]}):
        expected = tok.apply_chat_template([{"role": "user", "content": "a"}],
                                           return_dict=True, **arguments)  # fmt: skip
        found = hf.encode_chat(tok, [{"role": "user", "content": "a"}], **arguments)
        assert found.ids.tolist() == expected["input_ids"]


def test_a_chat_has_a_pickle(tok: Any) -> None:
    tok.chat_template = TEMPLATE
    chat = hf.encode_chat(tok, HOSTILE)
    again = pickle.loads(pickle.dumps(chat))
    assert again.ids.tolist() == chat.ids.tolist()
    assert again.source_of == chat.source_of
    assert again.mask("user").tolist() == chat.mask("user").tolist()


def test_backends_need_a_template(tok: Any) -> None:
    backend = tok.backend_tokenizer
    with pytest.raises(ValueError, match="chat_template"):
        hf.encode_chat(backend, HOSTILE)
    found = hf.encode_chat(backend, HOSTILE, chat_template=TEMPLATE.replace("eos_token", "'</s>'"))
    assert found.ids.tolist()[-1] == tok.eos_token_id
    with pytest.raises(TypeError, match="or a fast tokenizer"):
        hf.encode_chat("gpt2", HOSTILE)


def test_unsupported_tokenizers() -> None:
    tokenizers = importlib.import_module("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    with pytest.raises(UnsupportedError, match="does not"):
        hf.encode_chat(words, HOSTILE, chat_template=TEMPLATE)

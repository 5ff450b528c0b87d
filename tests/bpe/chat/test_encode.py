"""Ids and masks of chats equal those of transformers, and ids know their sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
import chats
import text_models
from bpe import chat
from chat_tokenizers import file_with, pair, tokens_of
from paths import SHARED, shared
from pretok.machine.backend import BackendName
from support import FULL, max_examples, need_native, seeded
from vocabulary_files import huggingface, write

TEMPLATES = {
    "chatml": "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content|trim }}"
    "{% for t in m.tool_calls or [] %}<tool_call>\n{{ t.function|tojson }}\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "roles": "{{ bos_token }}{% for m in messages %}"
    "{{ '<|' + m.role + '|>\n' ~ m.content ~ '<|end|>\n' }}{% endfor %}",
    "spaces": "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}"
    "[INST] {{ m.content }} [/INST]{% else %} {{ m.content }} {{ eos_token }}{% endif %}"
    "{% endfor %}",
    "generation": "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}"
    "{% generation %}<think>{{ m.reasoning_content or '' }}</think>{{ m.content }}<|im_end|>"
    "{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}",
}
TOKENS = [
    *tokens_of("".join(TEMPLATES.values())),
    *(f"<|{role}|>" for role in ("user", "assistant")),
]
WORDS = tuple(word for word in chats.WORDS if not word.endswith("think>"))
FILES = {
    "bytes": lambda: huggingface(),
    "llama": lambda: text_models.file_of(**text_models.CASES["llama"]),
    "mistral": lambda: text_models.file_of(**text_models.CASES["mistral"]),
}


def chat_of(random: Any, template: str) -> dict[str, Any]:
    """Return a chat without a list as content, which the templates here do not take."""
    while True:
        arguments = chats.chat(random, WORDS)
        if all(isinstance(message["content"], str) for message in arguments["messages"]):
            return {**arguments, "chat_template": template}


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> dict[str, Any]:
    return file_with(FILES[request.param](), TOKENS)


@pytest.mark.parametrize("name", TEMPLATES)
def test_ids_equal_those_of_transformers(
    name: str, file: dict[str, Any], tmp_path: Path, backend: BackendName
) -> None:
    pytest.importorskip("transformers")
    ours, theirs = pair(tmp_path / "a", file, backend)
    random = seeded(name)
    for _ in range(max_examples(15)):
        arguments = chat_of(random, TEMPLATES[name])
        expected = theirs.apply_chat_template(
            arguments["messages"],
            **{key: value for key, value in arguments.items() if key != "messages"},
            return_dict=True,
            return_assistant_tokens_mask=name == "generation",
        )
        found = ours.encode_chat(**arguments)
        assert found.ids.tolist() == expected["input_ids"], arguments
        if name == "generation":
            assert found.assistant_mask.tolist() == expected["assistant_masks"], arguments


def small(backend: BackendName, **template: Any) -> bpe.Tokenizer:
    """Return a tokenizer of bytes with <e>, which ends a turn, <x>, and the merge ab."""
    vocabulary = bpe.train(["ab"], vocab_size=257).vocabulary
    tokens = [bpe.AddedToken("<e>", 257), bpe.AddedToken("<x>", 258, special=False)]
    facts = bpe.TokenFacts(roles={"eos": 257}, **template)
    return bpe.Tokenizer(vocabulary, "gpt2", added_tokens=tokens, facts=facts, backend=backend)


def kept(tok: bpe.Tokenizer, encoded: chat.Chat, mask: Any) -> str:
    return tok.decode(encoded.ids[mask])


def test_equal_tokenizers_are_not_compared(
    backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparing two vocabularies takes much longer than a chat."""
    toks = small(backend), small(backend)

    def compare(*_: object) -> bool:
        raise AssertionError("a tokenizer was compared")

    monkeypatch.setattr(bpe.Tokenizer, "__eq__", compare)
    first, second = (tok.encode_chat(MESSAGES, chat_template=ROLES).ids for tok in toks)
    assert first.tolist() == second.tolist()


CROSSING = "a{% generation %}{{ messages[0].content }}a{% endgeneration %}b"


def test_ids_that_cross_a_border(backend: BackendName) -> None:
    tok = small(backend)
    encoded = tok.encode_chat([{"content": "bc"}], chat_template=CROSSING)
    assert [tok.decode([id]) for id in encoded.ids] == ["ab", "c", "ab"]
    assert encoded.source_of == [None, ("messages", 0, "content"), None]
    assert encoded.segment_of.tolist() == [0, 1, 2]
    assert encoded.end_segment_of.tolist() == [1, 1, 3]
    assert [places.tolist() for places in encoded.spans] == [[0, 2, 3], [2, 3, 5]]
    for crossing, expected in (
        ("any", [1, 1, 1]), ("begins", [0, 1, 1]), ("ends", [1, 1, 0]), ("whole", [0, 1, 0]),
    ):  # fmt: skip
        assert encoded.mask("generation", crossing).tolist() == expected  # type: ignore[arg-type]
        again = tok.encode_chat(
            [{"content": "bc"}], chat_template=CROSSING, mask="generation",
            crossing=crossing,
        )  # fmt: skip
        assert again.assistant_mask.tolist() == expected
    assert encoded.assistant_mask.dtype == bool
    apart = tok.encode_chat([{"content": "bc"}], chat_template=CROSSING, joined=False)
    assert [tok.decode([id]) for id in apart.ids] == ["a", "b", "c", "a", "b"]
    assert apart.assistant_mask.tolist() == [0, 1, 1, 1, 0]


MESSAGES = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "U"},
    {"role": "assistant", "thinking": "T", "content": "A"},
    {"role": "user", "content": "V"},
    {"role": "assistant", "content": "B"},
]
ROLES = (
    "{% for m in messages %}<x>{{ m.role }}:{% if m.thinking %}({{ m.thinking }})"
    "{% endif %}{{ m.content }}]<e>\n{% endfor %}"
)


def test_masks_by_role(backend: BackendName) -> None:
    tok = small(backend)
    encoded = tok.encode_chat(MESSAGES, chat_template=ROLES)
    assert kept(tok, encoded, encoded.assistant_mask) == "T)A]<e>B]<e>"
    assert kept(tok, encoded, encoded.mask("user")) == "U]<e>V]<e>"
    assert kept(tok, encoded, encoded.mask({"system", "user"})) == "S]<e>U]<e>V]<e>"
    assert kept(tok, encoded, encoded.mask("tool")) == ""
    assert (
        kept(tok, encoded, encoded.mask(lambda source: source == ("messages", 1, "content"))) == "U"
    )
    of_template = encoded.mask(lambda source: source is None)
    assert kept(tok, encoded, of_template).startswith(
        "<x>system:]<e>\n<x>user:]<e>\n<x>assistant:()"
    )
    without = tok.encode_chat(MESSAGES, chat_template=ROLES.replace("<e>", ""))
    assert kept(tok, without, without.assistant_mask) == "T)AB"
    last = tok.encode_chat(
        MESSAGES[:1], chat_template="{{ messages[0].content }}]<e><e>", mask="system"
    )
    assert kept(tok, last, last.assistant_mask) == "S]<e>"
    empty = tok.encode_chat(MESSAGES, chat_template="")
    assert (len(empty), empty.assistant_mask.tolist(), empty.source_of) == (0, [], [])


SPACES = ("\n\n", "   ", "\t\t")


@pytest.mark.parametrize("extra", [(), ("<x>\n", "\n<y>")])
def test_added_tokens_of_white_space(
    extra: tuple[str, ...], tmp_path: Path, backend: BackendName
) -> None:
    """They are found in messages, also across the borders of a message."""
    file = file_with(huggingface(), ["<s>", "</s>", *SPACES, *extra])
    ours, _ = pair(tmp_path / "a", file, backend)
    template = "<s>{% for m in messages %}\n{{ m.content }}\n  {{ m.name }}</s>{% endfor %}"
    random = seeded("spaces")
    words = ("\n", "\n\n", " ", "   ", "\t", "\t\t\t", "a", "é", "ab ", " <s>" if extra else "b")
    for _ in range(max_examples(30)):
        messages = [
            {
                "role": "user",
                "content": chats.text(random, words),
                "name": chats.text(random, words),
            }
            for _ in range(3)
        ]
        encoded = ours.encode_chat(messages, chat_template=template)
        text = encoded.segments.text
        assert ours.decode(encoded.ids) == text
        if not extra:
            assert encoded.ids.tolist() == ours.encode(text, "allow"), messages
        for start, stop, first, last in zip(
            *encoded.spans, encoded.segment_of, encoded.end_segment_of, strict=True
        ):
            ends = np.cumsum([0, *(len(part) for part, _ in encoded.segments)])
            assert ends[first] <= start < ends[first + 1]
            assert ends[last] < stop <= ends[last + 1]
        special = [ours.token_id("<s>"), *map(ours.token_id, extra)]
        assert np.isin(encoded.ids, special).sum() == 1


def test_a_special_token_of_white_space_is_not_found() -> None:
    vocabulary = bpe.train([], vocab_size=256).vocabulary
    tok = bpe.Tokenizer(vocabulary, "gpt2", added_tokens=[bpe.AddedToken("\n\n", 256)])
    found = tok.encode_chat([{"content": "\n\n"}], chat_template="{{ messages[0].content }}")
    assert found.ids.tolist() == [10, 10]


def test_other_policies(backend: BackendName) -> None:
    tok = small(backend)
    messages = [{"role": "user", "content": "<e><x>"}]
    template = "{{ messages[0].content }}<e>"
    found = tok.encode_chat(messages, chat_template=template, special="text")
    assert found.ids.tolist() == [*b"<e>", 258, 257]
    with pytest.raises(bpe.SpecialTokenError):
        tok.encode_chat(messages, chat_template=template, special="raise")
    assert (
        tok.encode_chat([{"content": "a"}], chat_template=template, special="raise").ids[-1] == 257
    )
    with pytest.raises(ValueError, match="special='all'"):
        tok.encode_chat(messages, chat_template=template, special="all")


def test_wrong_masks(backend: BackendName) -> None:
    tok = small(backend)
    encoded = tok.encode_chat(MESSAGES, chat_template=ROLES)
    with pytest.raises(ValueError, match="generation"):
        encoded.mask("generation")
    with pytest.raises(ValueError, match="crossing='no'"):
        tok.encode_chat(MESSAGES, chat_template=ROLES, crossing="no")
    with pytest.raises(TypeError, match="mask=5"):
        tok.encode_chat(MESSAGES, chat_template=ROLES, mask=5)
    with pytest.raises(ValueError, match="crossing='all'"):
        encoded.mask("user", "all")  # type: ignore[arg-type]
    for wrong in (3, [3]):
        with pytest.raises(TypeError, match="expected 'generation', a role"):
            encoded.mask(wrong)  # type: ignore[arg-type]


def test_a_function_gets_each_source(backend: BackendName) -> None:
    seen: list[Any] = []
    encoded = small(backend).encode_chat(MESSAGES, chat_template=ROLES)
    assert not encoded.mask(seen.append).any()  # type: ignore[arg-type]
    assert seen == encoded.segments.sources


def test_the_template_of_the_tokenizer(backend: BackendName) -> None:
    tok = small(
        backend,
        chat_template="{{ messages[0].content }}{{ eos_token }}",
        named_templates={"tool_use": "{{ tools|length }}<x>", "rag": "{{ eos_token }}"},
    )
    messages = [{"role": "user", "content": "ab<e>"}]
    assert tok.encode_chat(messages).ids.tolist() == [256, 60, 101, 62, 257]
    assert tok.encode_chat(messages, tools=[]).ids.tolist() == [48, 258]
    assert chat.encode(tok, messages, chat_template="rag").ids.tolist() == [257]
    replaced = tok.encode_chat(messages, eos_token="<e>")  # an argument, which is not trusted
    assert 257 not in replaced.ids
    trusted = tok.encode_chat(messages, special_tokens={"eos_token": "<x>"})
    assert trusted.ids.tolist()[-1] == 258
    with pytest.raises(ValueError, match="expected a tokenizer with a chat template"):
        small(backend).encode_chat(messages)


def test_both_backends_agree(tmp_path: Path) -> None:
    need_native()
    random = seeded("backends")
    file = file_with(text_models.file_of(**text_models.CASES["llama"]), TOKENS)
    path = write(tmp_path / "tokenizer.json", file)
    toks = bpe.load(path, backend="python"), bpe.load(path, backend="native")
    for _ in range(max_examples(20)):
        arguments = chat_of(random, TEMPLATES["chatml"])
        found = [tok.encode_chat(**arguments) for tok in toks]
        for first, second in zip(*(
            (each.ids, each.segment_of, each.end_segment_of, *each.spans) for each in found
        ), strict=True):  # fmt: skip
            assert np.array_equal(first, second)


PUBLISHED = chats.templates()


def base_of(name: str) -> dict[str, Any]:
    """Return the tokenizer.json for a template: a published one for some, or for all if FULL."""
    at = [*PUBLISHED].index(name)
    if SHARED is None or (at % 7 and not FULL):
        return huggingface()
    files = ("gpt2_tokenizer", "llama2", "mistral03", "gpt_neox")
    path = shared("vocabs", "hf", f"{files[at % len(files)]}.json")
    file: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return file


@pytest.mark.skipif(not PUBLISHED, reason=chats.missing())
@pytest.mark.parametrize("path", PUBLISHED.values(), ids=PUBLISHED)
def test_ids_of_published_templates(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    template = path.read_text(encoding="utf-8")
    tokens = tokens_of(template)
    ours, theirs = pair(tmp_path / "a", file_with(base_of(path.stem), tokens))
    words = tuple(word for word in chats.WORDS if not any(token in word for token in tokens))
    has_masks = "generation %}" in template or "generation -%}" in template
    random = seeded(path.stem)
    for _ in range(max_examples(5)):
        arguments = {**chats.chat(random, words), "chat_template": template}
        messages = arguments.pop("messages")
        try:
            expected = theirs.apply_chat_template(
                messages, return_dict=True, return_assistant_tokens_mask=has_masks, **arguments
            )
        except Exception:
            continue  # test_published_templates.py compares errors
        found = ours.encode_chat(messages, **arguments)
        assert found.ids.tolist() == expected["input_ids"], (messages, arguments)
        if has_masks:
            assert found.assistant_mask.tolist() == expected["assistant_masks"]

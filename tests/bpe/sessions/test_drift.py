"""Drifts that were reported from RL loops, where encoding again is wrong and `splice` is right.

A model has seen the ids of the prompt and has made the sampled ones. The next prompt must begin
with exactly these ids, and its text must be that of all parts.
"""

from __future__ import annotations

import pytest

import vocabularies
from bpe import Tokenizer
from conversions import loaded

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{{ m.content.split('</think>\n\n')[-1] if not loop.last else m.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""As the template of Qwen3, it leaves out the thoughts of all turns but the last."""


@pytest.fixture(params=["cl100k", "qwen2", "llama3"])
def tok(request: pytest.FixtureRequest) -> Tokenizer:
    return vocabularies.tokenizer(request.param, "native")


def check(tok: Tokenizer, prompt: list[int], sampled: list[int], text: str) -> list[int]:
    """Return the ids after those of the model, which splice has to keep."""
    spliced = tok.splice(prompt, sampled, text)
    ids: list[int] = spliced.ids.tolist()
    kept = [*prompt, *sampled]
    assert (ids[: len(kept)], spliced.start) == (kept, len(kept))
    assert tok.decode(ids) == tok.decode(kept) + text
    assert ids == [*kept, *tok.encode(text, continuation=True)]
    return ids[len(kept) :]


def test_two_line_breaks_come_back_as_one_id(tok: Tokenizer) -> None:
    """The ids [198, 198] are one id, 271, when their text is encoded."""
    prompt = tok.encode("Say hello:")
    sampled = [*tok.encode(" Hello"), 198, 198, *tok.encode("Bye")]
    text = tok.decode(prompt + sampled)
    assert tok.encode(text) == [*prompt, *tok.encode(" Hello"), 271, *tok.encode("Bye")]
    spliced = tok.splice(prompt, sampled, " now")
    assert spliced.drift == len(prompt) + 1
    assert check(tok, prompt, sampled, " now") == tok.encode(" now")


def test_the_difference_of_two_encodings_loses_text(tok: Tokenizer) -> None:
    """`encode(old + new)[len(encode(old)):]` is not the ids of the new text."""
    prompt = tok.encode("List:")
    sampled = tok.encode(" one\n")
    old, new = tok.decode(prompt + sampled), "\ntool: two"
    difference = tok.encode(old + new)[len(tok.encode(old)) :]
    assert tok.decode(prompt + sampled + difference) != old + new
    assert check(tok, prompt, sampled, new) == tok.encode(new)


def test_a_template_drops_the_thoughts_of_past_turns() -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    tok = vocabularies.tokenizer("qwen2", "native")
    user = {"role": "user", "content": "1 + 1?"}

    def ids_of(*messages: dict[str, str]) -> list[int]:
        chat = tok.encode_chat(list(messages), chat_template=CHATML, add_generation_prompt=True)
        ids: list[int] = chat.ids.tolist()
        return ids

    prompt = ids_of(user)
    answer = "<think>\nTwo.\n</think>\n\n2"
    sampled = [*tok.encode(answer), *tok.encode("<|im_end|>", "allow")]
    again = ids_of(user, {"role": "assistant", "content": answer}, user)
    assert again[: len(prompt) + len(sampled)] != prompt + sampled
    assert tok.encode("Two")[0] not in again
    after = "\n<|im_start|>user\n1 + 1?<|im_end|>\n<|im_start|>assistant\n"
    spliced = tok.splice(prompt, sampled, after, special="allow")
    assert spliced.ids.tolist() == [*prompt, *sampled, *tok.encode(after, "allow")]
    assert spliced.drift is None


def test_text_by_itself_gets_a_space() -> None:
    """Llama 2 puts a space before a text, so the ids of two texts do not join."""
    tok = loaded("Llama 2 (JSON)")
    prompt, sampled = tok.encode("The answer is"), tok.encode(" fort", continuation=True)
    joined = [*prompt, *sampled, *tok.encode("y-two")]
    assert tok.decode(joined) == "The answer is fort y-two"
    assert tok.decode([*prompt, *sampled, *check(tok, prompt, sampled, "y-two")]) == (
        "The answer is forty-two"
    )

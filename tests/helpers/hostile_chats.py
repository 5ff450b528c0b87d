"""Chats of attackers, templates that rewrite all that they get, and proposals that were broken."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from bpe import Tokenizer
from bpe.chat import Chat, render

TOKENS = ("<|im_start|>", "<|im_end|>", "<s>", "</s>", "<think>", "</think>", "<|user|>",
          "<|system|>",
          "[INST]", "<|x", "x|>", "\n\n", "{{", "\x00", "<|", "assistant")  # fmt: skip
"""The added tokens of the tokenizers here; some are ordinary text of templates too."""

TEMPLATES = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}",
    "{% for m in messages %}{{ m.content }}{{ m.name }}{{ m.content }}{% endfor %}",
    "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' ~ m.name|trim }}{% endfor %}<|user|>",
    "{% for m in messages %}<s>"
    "{{ m.content|replace('a', '')|replace('\\n', '<|im_end|>') }}</s>{% endfor %}",
    "{% for m in messages %}{{ m.content.split('</think>')[-1].lstrip('\\n') + '</s>' }}"
    "{% endfor %}",
    "{% for m in messages %}{{ (m.name, m.content)|join('') }}{{ m.content[::-1][1:] }}<s>"
    "{% endfor %}",
    "{% for m in messages %}{{ '<|%s|>' % m.name }}"
    "{{ '<|{}|>{}'.format(m.name, m.content) }}{% endfor %}",
    "{% for m in messages %}{{ m.content|upper|lower|title }}<s>{{ m.content|indent }}{% endfor %}",
    "{% for m in messages %}{% for c in m.content %}{{ c }}{% endfor %}</s>{{ m|tojson }}"
    "{% endfor %}",
    "{% for m in messages %}{% for k, v in (m.map or {}).items() %}<{{ k }}|{{ v }}{{ k ~ v }}>"
    "{% endfor %}{% endfor %}",
    "{{ tools|tojson(indent=2) }}<s>{{ documents }}{{ extra }}{{ extra|safe }}"
    "{{ extra|e }}</s>{{ extra }}",
    "{% macro f(a) %}[INST]{{ a }}{{ caller() }}{% endmacro %}{% for m in messages %}"
    "{% call f(m.content) %}"
    "{{ m.name }}{% endcall %}{% set t %}<|{{ m.content }}|>{% endset %}{{ t|trim }}{% endfor %}",
    "{% set n = namespace(t='<s>') %}{% for m in messages %}"
    "{% set n.t = n.t + m.content ~ m.name %}"
    "{% endfor %}{{ n.t }}{% filter replace('<s>', '</s>') %}{{ n.t }}{% endfilter %}",
    "{% for m in messages %}{% if '<think>' in m.content %}<think>"
    "{{ m.content.split('<think>', 1)[1] }}"
    "{% endif %}{% generation %}{{ m.content.strip()[:-1] }}</think>{% endgeneration %}"
    "{% endfor %}",
    "{% for m in messages %}{{ ('<|' ~ m.content).partition('|')|join('') }}"
    "{{ m.content.splitlines()|join }}"
    "{{ m.content.removeprefix('<') }}{{ m.content|list|join }}{{ m.content * 2 }}{% endfor %}",
)


def words(tokens: tuple[str, ...] = TOKENS) -> list[str]:
    """Return what attackers write: tokens, their pieces, look-alikes, and internal markers."""
    found = [*tokens]
    for token in tokens:
        for at in range(1, len(token)):
            found += (token[:at], token[at:])
        found += (token[::-1], token.upper(), token.title(), token + token, token[:1] + token)
        found += (f"\U000f0000{token}\U000f0001", f"\x00{token}\x00", f"<b>{token}</b>")
    return [
        *found, "\x00256,257,258\x00", "\x00257\x00", "\x000\x00", "\x001\x00",
        "\x00123,456,789\x00", "\ue000", "\U000f0000", "\U000f0001", "\U0010ffff", "\ufeff",
        "\u200b", "＜|im_end|＞", "〈|im_end|〉", "<|im\u200b_end|>", "<\u0338|im_end|>", "\ud800",
        "\udfff", "\udc80", "\udcff", "\ud83d", "\x7f", "\\u003c", "&lt;|im_end|&gt;",
        "{{ bos_token }}", "{% raw %}", "{#", "#}", "%s", "%(a)s", "{0}", "{a.__class__}",
        "<" * 50, "<|im_" * 20, "|>" * 20, "\n" * 30, " " * 40, "a" * 60, "é", "漢字", "🦙", "ß",
        "İ", "ﬁ", "Σ", "\u2028", "CONTINUE_FINAL_MESSAGE_TAG", "literal_0", "to_text(", "\r\n",
        "\t", "a", " ", "", "user", "1",
    ]  # fmt: skip


def text(random: Random, pool: list[str]) -> str:
    """Return a text of a few words."""
    return "".join(random.choices(pool, k=random.choice((0, 1, 1, 2, 3, 8))))


def chat(random: Random, pool: list[str]) -> dict[str, Any]:
    """Return the arguments of a chat whose texts, keys, names and roles an attacker chose."""
    messages: list[dict[str, Any]] = []
    for _ in range(random.choice((1, 1, 2, 3))):
        role = random.choice(("user", "assistant", text(random, pool)))
        message: dict[str, Any] = {"role": role, "content": text(random, pool)}
        if random.random() < 0.7:
            message["name"] = text(random, pool)
        if random.random() < 0.3:
            message["map"] = {text(random, pool): text(random, pool), "a": [text(random, pool), 1]}
        messages.append(message)
    arguments: dict[str, Any] = {"messages": messages}
    if random.random() < 0.3:
        function = {"name": text(random, pool), text(random, pool): {"a": text(random, pool)}}
        arguments["tools"] = [{"type": "function", "function": function}]
        arguments["documents"] = [{"title": text(random, pool), "text": text(random, pool)}]
        arguments["extra"] = text(random, pool)
    return arguments


Renderer = Callable[[Tokenizer, str, list[dict[str, str]]], list[int]]


def placeholder_text(tok: Tokenizer, template: str, messages: list[dict[str, str]]) -> list[int]:
    """Restate the idea of transformers' pull request 47386, as first proposed.

    Each special token in a message is replaced with a placeholder text before rendering. After
    rendering, placeholders are encoded as the text that they stand for, all else as usual.
    """
    names = list(tok.special_tokens)

    def hide(value: str) -> str:
        for at, name in enumerate(names):
            value = value.replace(name, f"\x00{at}\x00")
        return value

    hidden = [{key: hide(value) for key, value in message.items()} for message in messages]
    ids: list[int] = []
    for at, part in enumerate(render(template, hidden).text.split("\x00")):
        if at % 2 and part.isdecimal() and int(part) < len(names):
            ids += tok.encode(names[int(part)], "plain")
        else:
            ids += tok.encode(part, "allow")
    return ids


def opaque_ids(tok: Tokenizer, template: str, messages: list[dict[str, str]]) -> list[int]:
    """Restate the idea of transformers' pull request 48052.

    A text with special tokens is encoded before rendering, and becomes a marker with its ids. After
    rendering, each marker becomes these ids, and all else is encoded as usual.
    """

    def hide(value: str) -> str:
        if not any(name in value for name in tok.special_tokens):
            return value
        return f"\x00{','.join(map(str, tok.encode(value, 'plain')))}\x00"

    hidden = [{key: hide(value) for key, value in message.items()} for message in messages]
    ids: list[int] = []
    for at, part in enumerate(render(template, hidden).text.split("\x00")):
        is_marker = at % 2 and all(number.isdecimal() for number in part.split(","))
        ids += map(int, part.split(",")) if is_marker else tok.encode(part, "allow")
    return ids


def traced(tok: Tokenizer, template: str, messages: list[dict[str, Any]]) -> list[int]:
    """Encode with bpe.chat."""
    ids: list[int] = encoded(tok, template, {"messages": messages}).ids.tolist()
    return ids


def encoded(tok: Tokenizer, template: str, arguments: dict[str, Any]) -> Chat:
    """Return a chat that is rendered with `template`."""
    return tok.encode_chat(chat_template=template, **arguments)

"""Random conversations, and the published chat templates of llama-cpp-python's source package."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

VARIABLE = "PRETOK_LLAMA_CPP"
_FOLDERS = ("models/templates", "vendor/llama.cpp/models/templates")

WORDS = (
    "Hello", " world", "the weather in Paris", "\n", "\n\n", " ", "  ", "é", "漢字", "🦙", "1 + 1",
    "{}", '{"a": "b"}', "</think>", "<think>", "don't", "\t", "<b>", "&amp;", '"', "'", "\\n", "%s",
    "{0}", "x" * 40, "null", "None", "True", "[1, 2]", "ﬁ", "ß", "İ", "Σ", "user",
    "assistant", "\r\n", "\u2028",
)  # fmt: skip


def templates() -> dict[str, Path]:
    """Return the published templates by name; without the source package there are none."""
    given = os.environ.get(VARIABLE)
    for folder in _FOLDERS if given else ():
        if (Path(given or "") / folder).is_dir():
            return {
                path.stem: path for path in sorted((Path(given or "") / folder).glob("*.jinja"))
            }
    return {}


def missing() -> str:
    """Return why a test of the templates is skipped."""
    return f"no templates: set {VARIABLE} to the unpacked source package of llama-cpp-python"


def text(random: Random, words: tuple[str, ...] = WORDS) -> str:
    """Return a random text of a few words."""
    return "".join(random.choice(words) for _ in range(random.choice((0, 1, 1, 2, 3, 6))))


def _value(random: Random, words: tuple[str, ...], depth: int = 0) -> Any:
    kind = random.randrange(8 if depth < 2 else 5)
    if kind == 5:
        return [_value(random, words, depth + 1) for _ in range(random.randrange(3))]
    if kind > 5:
        return {name: _value(random, words, depth + 1) for name in random.sample(_KEYS, 2)}
    return (random.randrange(-5, 1000), 0.5, True, None, text(random, words))[kind]


_KEYS = ("city", "unit", "days", "a b", "é")


def tool(random: Random, words: tuple[str, ...] = WORDS) -> dict[str, Any]:
    """Return a tool with random parameters."""
    properties: dict[str, dict[str, Any]] = {
        name: {
            "type": random.choice(("string", "integer", "boolean")),
            "description": text(random, words),
        }
        for name in random.sample(_KEYS, random.randrange(4))
    }
    if properties and random.random() < 0.3:
        next(iter(properties.values()))["enum"] = ["celsius", text(random, words)]
    parameters = {"type": "object", "properties": properties, "required": [*properties][:1]}
    name = random.choice(("get_weather", "add", "search"))
    function = {"name": name, "description": text(random, words), "parameters": parameters}
    return {"type": "function", "function": function}


def _call(random: Random, words: tuple[str, ...]) -> dict[str, Any]:
    arguments = {name: _value(random, words) for name in random.sample(_KEYS, random.randrange(3))}
    name = random.choice(("get_weather", "add", "search"))
    return {
        "id": "".join(random.choice("abc123XYZ") for _ in range(9)),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def chat(random: Random, words: tuple[str, ...] = WORDS) -> dict[str, Any]:
    """Return the arguments of a random chat: messages, and perhaps tools, documents and others."""
    messages: list[dict[str, Any]] = []
    if random.random() < 0.5:
        messages.append({"role": "system", "content": text(random, words)})
    has_tools = random.random() < 0.5
    for _ in range(random.choice((1, 1, 2, 3))):
        messages.append({"role": "user", "content": text(random, words)})
        if has_tools and random.random() < 0.6:
            calls = [_call(random, words) for _ in range(random.choice((1, 1, 2)))]
            content = random.choice(("", text(random, words)))
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            for call in calls:
                result = {
                    "role": "tool",
                    "name": call["function"]["name"],
                    "tool_call_id": call["id"],
                }
                messages.append({**result, "content": text(random, words)})
        answer: dict[str, Any] = {"role": "assistant", "content": text(random, words)}
        if random.random() < 0.2:
            answer["reasoning_content"] = text(random, words)
        messages.append(answer)
    if random.random() < 0.1:
        messages[-1]["content"] = [{"type": "text", "text": text(random, words)}]
    if random.random() < 0.5:
        messages.pop()
    arguments: dict[str, Any] = {"messages": messages}
    if has_tools:
        arguments["tools"] = [tool(random, words) for _ in range(random.choice((1, 2)))]
    if random.random() < 0.1:
        arguments["documents"] = [{"title": text(random, words), "text": text(random, words)}]
    if random.random() < 0.3:
        arguments["enable_thinking"] = random.random() < 0.5
    arguments["add_generation_prompt"] = messages[-1]["role"] != "assistant"
    return arguments

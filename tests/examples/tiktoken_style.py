"""Count the tokens of a chat, and shorten it to a maximum, with code written for tiktoken.

    python tiktoken_style.py o200k_base chat.json --most 4000

chat.json is a list of messages: [{"role": "user", "content": "Hello"}, ...]. Only two things differ
from a program for tiktoken: the import, and `encoding_of`, which also accepts vocabulary files.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import bpe
import bpe.compat.tiktoken as tiktoken

Message = Mapping[str, str]
PER_MESSAGE = 3
"""The number of tokens around a message: at its start, after its role, and at its end."""
REPLY = 3
"""The number of tokens before the answer of the model."""


def encoding_of(name: str) -> tiktoken.Encoding:
    """Return the encoding called `name`, of the model `name`, or of the vocabulary file `name`."""
    if os.path.exists(name):
        return tiktoken.Encoding.from_tokenizer(bpe.load(name), Path(name).name)
    if name in tiktoken.list_encoding_names():
        return tiktoken.get_encoding(name)
    return tiktoken.encoding_for_model(name)


def count(encoding: tiktoken.Encoding, message: Message) -> int:
    """Return the number of tokens of `message`; special tokens in it count as ordinary text."""
    return PER_MESSAGE + sum(
        len(encoding.encode(value, disallowed_special=())) for value in message.values()
    )


def count_chat(encoding: tiktoken.Encoding, chat: Sequence[Message]) -> int:
    """Return the number of tokens of `chat` and of the start of the answer."""
    return REPLY + sum(count(encoding, message) for message in chat)


def fitting(encoding: tiktoken.Encoding, chat: Sequence[Message], most: int) -> list[Message]:
    """Return the system messages, and as many of the last other messages as fit.

    They fit if `count_chat` of the result is at most `most`.
    """
    system = [message for message in chat if message["role"] == "system"]
    left = most - count_chat(encoding, system)
    kept: list[Message] = []
    for message in reversed([message for message in chat if message["role"] != "system"]):
        left -= count(encoding, message)
        if left < 0:
            break
        kept.insert(0, message)
    return [*system, *kept]


def first_tokens(encoding: tiktoken.Encoding, text: str, most: int) -> str:
    """Return the text of the first `most` tokens of `text`, without an incomplete character."""
    ids = encoding.encode_ordinary(text)[:most]
    return encoding.decode_bytes(ids).decode("utf-8", "ignore")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the number of tokens of a chat, how many messages fit, and the start of each."""
    parser = argparse.ArgumentParser(description="Count the tokens of a chat.")
    parser.add_argument("vocabulary", help="a file, an encoding, or a model that tiktoken knows")
    parser.add_argument("chat", type=Path)
    parser.add_argument("--most", type=int, default=4000, help="the maximum number of tokens")
    given = parser.parse_args(arguments)
    encoding = encoding_of(given.vocabulary)
    chat: list[Message] = json.loads(given.chat.read_text(encoding="utf-8"))
    kept = fitting(encoding, chat, given.most)
    print(f"{count_chat(encoding, chat)} tokens in {len(chat)} messages")
    print(f"{len(kept)} messages fit into {given.most}")
    for message in chat:
        print(f"{message['role']}: {first_tokens(encoding, message['content'], 8)!r}")


if __name__ == "__main__":
    main()

"""A server that turns prompts into ids, and answers others while it works on a long one.

    python asyncio_server.py tokenizer.json --before "<|user|>" --after "<|end|><|assistant|>"

A prompt is four bytes, big-endian, that say how many bytes of UTF-8 follow. The answer is "i" or
"e", four bytes for the size of the rest, and the ids as little-endian uint32, or what is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import struct
from collections.abc import Sequence

import numpy as np

import bpe

LIMIT = 8 << 20
AT_ONCE = 4


class PromptServer:
    """Encodes prompts between `before` and `after`, which alone may hold special tokens.

    Prompts of more than `limit` bytes are refused; no more than AT_ONCE are encoded at a time.
    """

    def __init__(
        self, tok: bpe.Tokenizer, before: str = "", after: str = "", limit: int = LIMIT
    ) -> None:
        self.tok = tok
        self.before = tok.encode_array(before, special="allow")
        self.after = tok.encode_array(after, special="allow")
        self.limit = limit
        self.turns = asyncio.Semaphore(AT_ONCE)

    def encode(self, prompt: bytes) -> bytes:
        """Return the answer to a prompt. Runs in a thread, and native work leaves the GIL free."""
        try:
            # A special token that a user writes is an error, not the end of a turn.
            ids = self.tok.encode_array(prompt, special="raise", threads=1)
        except bpe.SpecialTokenError as error:
            return refusal(f"special token {error.token!r} at byte {error.position}")
        data = np.concatenate([self.before, ids, self.after]).astype("<u4").tobytes()
        return b"i" + struct.pack(">I", len(data)) + data

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the prompts of one client, in order, until it leaves or sends too much."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (size,) = struct.unpack(">I", await reader.readexactly(4))
                if size > self.limit:
                    writer.write(refusal(f"a prompt of {size} bytes; at most {self.limit}"))
                    await writer.drain()
                    break
                prompt = await reader.readexactly(size)
                async with self.turns:
                    answer = await asyncio.to_thread(self.encode, prompt)
                writer.write(answer)
                await writer.drain()
        writer.close()


def refusal(reason: str) -> bytes:
    """Return the answer that says why there are no ids."""
    data = reason.encode()
    return b"e" + struct.pack(">I", len(data)) + data


async def serve(server: PromptServer, host: str, port: int) -> None:
    """Listen until it is cancelled."""
    listening = await asyncio.start_server(server.handle, host, port)
    print("listening on", listening.sockets[0].getsockname()[1], flush=True)
    async with listening:
        await listening.serve_forever()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve with the vocabulary that the command line names."""
    parser = argparse.ArgumentParser(description="Turn prompts into ids.")
    parser.add_argument("vocabulary", help="a file, or a name such as o200k_base")
    parser.add_argument("--before", default="", help="what the template puts before a prompt")
    parser.add_argument("--after", default="", help="what the template puts after a prompt")
    parser.add_argument("--limit", type=int, default=LIMIT, help="the most bytes of a prompt")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="by default any free one")
    given = parser.parse_args(arguments)

    server = PromptServer(bpe.load(given.vocabulary), given.before, given.after, given.limit)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(server, given.host, given.port))


if __name__ == "__main__":
    main()

"""A server that encodes prompts to ids, and answers other clients while it encodes a long prompt.

    python asyncio_server.py tokenizer.json --before "<|user|>" --after "<|end|><|assistant|>"

A client sends the size of a prompt in bytes (a big-endian uint32), and then the prompt in UTF-8.
The server answers with the byte "i" (ids) or "e" (error), the size of the data in bytes (a
big-endian uint32), and the data: the ids as little-endian uint32, or an error message.
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
"""The default maximum size of a prompt in bytes."""
AT_ONCE = 4
"""The maximum number of prompts to encode at the same time."""


class PromptServer:
    """Encodes prompts, and puts the ids of `before` and `after` around the ids of each prompt.

    `before` and `after` may have special tokens, prompts may not. The server refuses prompts of
    more than `limit` bytes.
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
        """Return the answer to a prompt. Runs in a thread; the native encoder releases the GIL."""
        try:
            # A special token in a prompt is an error. Otherwise a user could end the turn, and
            # write the answer of the model.
            ids = self.tok.encode_array(prompt, special="raise", threads=1)
        except bpe.SpecialTokenError as error:
            return refusal(f"special token {error.token!r} at byte {error.position}")
        data = np.concatenate([self.before, ids, self.after]).astype("<u4").tobytes()
        return b"i" + struct.pack(">I", len(data)) + data

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the prompts of one client, until it disconnects or sends too long a prompt."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (size,) = struct.unpack(">I", await reader.readexactly(4))
                if size > self.limit:
                    writer.write(refusal(f"expected at most {self.limit} bytes, got {size}"))
                    await writer.drain()
                    break
                prompt = await reader.readexactly(size)
                async with self.turns:
                    answer = await asyncio.to_thread(self.encode, prompt)
                writer.write(answer)
                await writer.drain()
        writer.close()


def refusal(reason: str) -> bytes:
    """Return an answer with an error message."""
    data = reason.encode()
    return b"e" + struct.pack(">I", len(data)) + data


async def serve(server: PromptServer, host: str, port: int) -> None:
    """Answer clients until this task is cancelled."""
    listening = await asyncio.start_server(server.handle, host, port)
    print("listening on", listening.sockets[0].getsockname()[1], flush=True)
    async with listening:
        await listening.serve_forever()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the server with the vocabulary that the command line names."""
    parser = argparse.ArgumentParser(description="Turn prompts into ids.")
    parser.add_argument("vocabulary", help="a file, or a name such as o200k_base")
    parser.add_argument("--before", default="", help="the text before each prompt")
    parser.add_argument("--after", default="", help="the text after each prompt")
    parser.add_argument("--limit", type=int, default=LIMIT, help="the maximum bytes of a prompt")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="by default any free port")
    given = parser.parse_args(arguments)

    server = PromptServer(bpe.load(given.vocabulary), given.before, given.after, given.limit)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(server, given.host, given.port))


if __name__ == "__main__":
    main()

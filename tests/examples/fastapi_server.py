"""A web server with a tokenizer of transformers that encodes with bpe.

    python fastapi_server.py path/to/model --port 8000

POST /tokenize with {"text": "..."} returns the ids and offsets. POST /generate with the same JSON
streams the answer of a model as text, and POST /chat with {"messages": [...]} the answer to a chat.
The model of this example, `repeat`, only repeats the prompt.

A chat that grows has the same text again at each turn. The server keeps the ids of its parts in a
prompt cache. No text of a message becomes a special token.
"""

from __future__ import annotations

import argparse
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import uvicorn
from fastapi import Body, FastAPI
from fastapi.responses import StreamingResponse
from tokenizers import decoders
from transformers import AutoTokenizer

from bpe.compat import huggingface as hf

Model = Callable[[list[int]], Iterator[int]]
"""Takes the ids of a prompt, and yields the ids of the answer."""
Text = Annotated[str, Body(embed=True, max_length=1_000_000)]
Messages = Annotated[list[dict[str, str]], Body(embed=True, max_length=1000)]
CACHE_MB = 64


def repeat(ids: list[int]) -> Iterator[int]:
    """Yield the ids of the prompt as the answer."""
    yield from ids


def create(tok: Any, model: Model = repeat) -> FastAPI:
    """Return the server. Threads of FastAPI share the tokenizer."""
    app = FastAPI()

    @app.post("/tokenize")
    def tokenize(text: Text) -> dict[str, Any]:
        encoded = tok(text, return_offsets_mapping=True)
        return {"ids": encoded["input_ids"], "offsets": encoded["offset_mapping"]}

    @app.post("/generate")
    def generate(text: Text) -> StreamingResponse:
        ids = tok(text, truncation=True, max_length=4096)["input_ids"]
        return StreamingResponse(pieces(tok, model(ids)), media_type="text/plain; charset=utf-8")

    @app.post("/chat")
    def chat(messages: Messages) -> StreamingResponse:
        ids = hf.encode_chat(tok, messages, add_generation_prompt=True).ids.tolist()
        return StreamingResponse(pieces(tok, model(ids)), media_type="text/plain; charset=utf-8")

    return app


def pieces(tok: Any, ids: Iterator[int]) -> Iterator[str]:
    """Yield the text of `ids` in pieces, each as soon as its characters are complete."""
    stream = decoders.DecodeStream(skip_special_tokens=True)
    for id in ids:
        if piece := stream.step(tok.backend_tokenizer, id):
            yield piece


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the server with the tokenizer of a model until interrupted."""
    parser = argparse.ArgumentParser(description="A web server that tokenizes.")
    parser.add_argument("model", help="the folder of a model, or its name")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="by default any free port")
    given = parser.parse_args(arguments)
    hf.patch(prompt_cache_mb=CACHE_MB)
    app = create(AutoTokenizer.from_pretrained(given.model))
    listening = socket.create_server((given.host, given.port))
    print("listening on", listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()

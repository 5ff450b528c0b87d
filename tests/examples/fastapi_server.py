"""A web server whose Hugging Face tokenizer is served by bpe.

    python fastapi_server.py path/to/model --port 8000

POST /tokenize with {"text": "..."} answers with the ids and offsets. POST /generate with the same
streams an answer, as text, while its ids arrive. Put a model in the place of `repeat`.
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
Text = Annotated[str, Body(embed=True, max_length=1_000_000)]


def repeat(ids: list[int]) -> Iterator[int]:
    """Answer a prompt with itself."""
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

    return app


def pieces(tok: Any, ids: Iterator[int]) -> Iterator[str]:
    """Yield the text of ids as soon as its characters are complete."""
    stream = decoders.DecodeStream(skip_special_tokens=True)
    for id in ids:
        if piece := stream.step(tok.backend_tokenizer, id):
            yield piece


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the tokenizer of a model until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a tokenizer of Hugging Face.")
    parser.add_argument("model", help="the folder of a model, or its name")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="by default any free one")
    given = parser.parse_args(arguments)
    hf.patch()
    app = create(AutoTokenizer.from_pretrained(given.model))
    listening = socket.create_server((given.host, given.port))
    print("listening on", listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()

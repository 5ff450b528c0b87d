"""Chat templates that no message can break: `from bpe import chat`.

    chat.render(tok, messages, ...)     # the template's text and that of messages, as segments
    chat.encode(tok, messages, ...)     # ids, the source of each id, and masks for losses

A template is rendered with `TracedText` in place of each str, which knows the origin of each of its
characters. Text of the template itself may hold special tokens; all other text may not. Needs
jinja2 (`pip install "pretok-bpe[chat]"`).
"""

from __future__ import annotations

from bpe.chat.encoding import Chat, encode
from bpe.chat.masks import Chosen, Crossing
from bpe.chat.origins import TextSource
from bpe.chat.rendering import Segments, render
from bpe.chat.templates import ChatTemplateError

__all__ = [
    "Chat",
    "ChatTemplateError",
    "Chosen",
    "Crossing",
    "Segments",
    "TextSource",
    "encode",
    "render",
]

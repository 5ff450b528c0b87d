"""The algorithm of OpenAI's SimpleTokenizer (CLIP, simple_tokenizer.py), restated.

It takes a text that ftfy.fix_text and html.unescape have repaired.
"""

from __future__ import annotations

from itertools import pairwise

import regex

from pretok.byte_characters import BYTE_CHARACTERS

SPECIAL = ("<|startoftext|>", "<|endoftext|>")
MERGES = 49152 - 256 - 2


class SimpleTokenizer:
    """Encodes and decodes as SimpleTokenizer does with the file `data`, unpacked."""

    def __init__(self, data: bytes, special: tuple[str, str] = SPECIAL) -> None:
        lines = data.decode().split("\n")[1 : MERGES + 1]
        merges = [(left, right) for left, right in (line.split() for line in lines if line)]
        characters = sorted(BYTE_CHARACTERS)
        texts = [*characters, *(char + "</w>" for char in characters)]
        texts += [*map("".join, merges), *special]
        self.ids = {text: id for id, text in enumerate(texts)}
        self.texts = {id: text for text, id in self.ids.items()}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.special = special
        names = "|".join(map(regex.escape, special))
        self.pattern = regex.compile(
            names + r"|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", regex.IGNORECASE
        )

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in self.pattern.findall(regex.sub(r"\s+", " ", text.strip()).strip().lower()):
            if piece in self.special:
                ids.append(self.ids[piece])
            else:
                ids += map(self.ids.__getitem__, self.merged(piece.encode()))
        return ids

    def merged(self, piece: bytes) -> list[str]:
        """Return the tokens of a piece: merge all places of the best pair, until none is left."""
        word = [BYTE_CHARACTERS[byte] for byte in piece]
        word[-1] += "</w>"
        while pairs := [pair for pair in pairwise(word) if pair in self.ranks]:
            best = min(pairs, key=self.ranks.__getitem__)
            at = 0
            while at < len(word) - 1:
                if (word[at], word[at + 1]) == best:
                    word[at : at + 2] = ["".join(best)]
                at += 1
        return word

    def decode(self, ids: list[int]) -> str:
        text = "".join(self.texts[id] for id in ids)
        data = bytes(map(BYTE_CHARACTERS.index, text))
        return data.decode(errors="replace").replace("</w>", " ")

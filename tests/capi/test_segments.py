"""The C interface and Python encode segments of different policies to equal ids and spans."""

from __future__ import annotations

import random

import pytest

from bpe import SpecialTokenError, Tokenizer
from bpe.formats import pretok_file
from bpe.types import SegmentLike, Special
from c_library import CError, CLibrary, CTokenizer
from c_models import PIECES, models
from c_segments import Part, SegmentedTokens, encode_segments
from support import max_examples, seeded

BAD = [b"\xff", b"\xc3", b"\xe2\x96"]
POLICIES = ("raise", "text", "allow", "plain", "content")


def random_parts(source: random.Random, special_tokens: list[str]) -> list[Part]:
    everything = [*map(str.encode, [*PIECES, *special_tokens]), *BAD]
    parts: list[Part] = []
    for _ in range(source.randrange(5)):
        if source.random() < 0.2:
            parts.append((b"", "plain", source.choices(range(200), k=source.randrange(3))))
            continue
        policy: str | set[str] = source.choice(POLICIES)
        if source.random() < 0.2:
            policy = set(source.sample(special_tokens, source.randrange(len(special_tokens) + 1)))
        text = b"".join(source.choices(everything, k=source.randrange(5)))
        parts.append((text, policy, ()))
    return parts


def in_python(
    tok: Tokenizer, parts: list[Part], joined: bool
) -> SegmentedTokens | SpecialTokenError:
    segments: list[SegmentLike] = []
    for text, policy, ids in parts:
        special: Special = policy
        segments.append(ids if ids else (text, special))
    try:
        found = tok.encode_segments(segments, joined=joined)
    except SpecialTokenError as error:
        return error
    rows = found.segment_of, found.starts, found.end_segment_of, found.stops
    places = list(zip(*(row.tolist() for row in rows), strict=True))
    return SegmentedTokens(found.ids.tolist(), found.ends.tolist(), places)


@pytest.mark.parametrize(
    ("name", "tok"), models(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_segments_equal_those_of_python(c_library: CLibrary, name: str, tok: Tokenizer) -> None:
    ours = CTokenizer(c_library, pretok_file.dump(tok.to_spec()))
    source = seeded(f"segments of {name}")
    special_tokens = sorted(tok.special_tokens)[:3]
    for _ in range(max_examples(100)):
        parts = random_parts(source, special_tokens)
        for joined in (True, False):
            expected = in_python(tok, parts, joined)
            if isinstance(expected, SpecialTokenError):
                with pytest.raises(CError, match="special token") as raised:
                    encode_segments(ours, parts, joined)
                found = raised.value.text, raised.value.position
                assert found == (expected.text_index, expected.position)
                continue
            assert encode_segments(ours, parts, joined) == expected, parts

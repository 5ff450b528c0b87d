"""Random added tokens, and a tokenizer of Hugging Face's tokenizers that has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from bpe import AddedToken
from vocabularies import BYTES, as_chars, live_bpe

# None of these characters stands for a byte in byte-level vocabularies, except those of ASCII,
# which stand for themselves. Otherwise tokenizers could give an added token the id of another byte.
contents = st.text("ab< >\u4e2d\u1ebf_\u3000", min_size=1, max_size=4)
flags = st.fixed_dictionaries(
    {name: st.booleans()
     for name in ("special", "normalized", "lstrip", "rstrip", "single_word")}
)  # fmt: skip
added_tokens = st.lists(
    st.tuples(contents, flags), min_size=1, max_size=4, unique_by=lambda token: token[0]
)


def live(added: list[tuple[str, dict[str, bool]]], nfc: bool) -> tuple[Any, list[AddedToken]]:
    """Return a tokenizers.Tokenizer with these added tokens, and the same tokens with their ids.

    Skips the test if tokenizers is not installed.
    """
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    engine = live_bpe({as_chars(token): id for id, token in BYTES.items()}, [])
    if nfc:
        engine.normalizer = tokenizers.normalizers.NFC()
    tokens = []
    for content, having in added:
        # tokenizers has separate methods for special tokens and for other added tokens.
        options = {name: value for name, value in having.items() if name != "special"}
        add = engine.add_special_tokens if having["special"] else engine.add_tokens
        add([tokenizers.AddedToken(content, **options)])
        tokens.append(AddedToken(content, engine.token_to_id(content), **having))
    return engine, tokens

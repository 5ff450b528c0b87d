"""`patch(prompt_cache_mb=…)`: long texts are encoded through a PromptCache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bpe import PromptCache
from bpe.compat import huggingface as hf
from bpe.compat.huggingface import prompt_caching, settings
from vocabulary_files import huggingface, write

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
LONG = "".join(f"{number} ab, cd\n" for number in range(2000))


@pytest.fixture
def caches(monkeypatch: pytest.MonkeyPatch) -> list[PromptCache]:
    """The caches that the test makes."""
    made: list[PromptCache] = []

    class Kept(PromptCache):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(prompt_caching, "PromptCache", Kept)
    return made


def test_long_texts_are_cached(tmp_path: Path, caches: list[PromptCache]) -> None:
    path = write(tmp_path / "tokenizer.json", huggingface())
    tok = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    texts = [LONG, LONG[:20000] + "more", LONG + "more", "short"]
    expected = [tok(text)["input_ids"] for text in texts]
    with hf.patched(strict=True):
        assert [tok(text)["input_ids"] for text in texts] == expected
        with hf.patched(strict=True, prompt_cache_mb=4):
            assert [tok(text)["input_ids"] for text in texts] == expected
            assert [tok.encode(text) for text in texts] == expected
            assert tok([LONG])["input_ids"] == expected[:1]
            (cache,) = caches
            assert cache.max_bytes == 4 << 20
            assert cache.stats.calls == 7
            assert cache.stats.ids_reused > len(expected[0])
        calls = cache.stats.calls
        assert [tok(text)["input_ids"] for text in texts] == expected
        assert cache.stats.calls == calls
    assert settings.current() == settings.Options()


def test_chats_are_cached(tmp_path: Path, caches: list[PromptCache]) -> None:
    path = write(tmp_path / "tokenizer.json", huggingface())
    tok = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    tok.chat_template = "{% for m in messages %}{{ m.role }}\n{{ m.content }}\n{% endfor %}"
    chats = [[{"role": "user", "content": LONG}, {"role": "user", "content": end}] for end in "ab"]
    expected = [tok.apply_chat_template(chat)["input_ids"] for chat in chats]
    with hf.patched(strict=True, prompt_cache_mb=4):
        assert [tok.apply_chat_template(chat)["input_ids"] for chat in chats] == expected
        (cache,) = caches
        assert cache.stats.ids_reused > 0.8 * len(expected[0])
        found = [hf.encode_chat(tok, chat).ids.tolist() for chat in chats * 2]
        assert found == expected * 2
        assert caches == [cache]
        assert cache.stats.ids_reused > 2.8 * len(expected[0])


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="prompt_cache_mb=-1; expected a number of MB"):
        hf.patch(prompt_cache_mb=-1)
    monkeypatch.setenv("PRETOK_HF", "prompt_cache_mb=0.5")
    with hf.patched():
        assert settings.prompt_cache_mb == 0.5
    for wrong in ("x", "-1", ""):
        monkeypatch.setenv("PRETOK_HF", f"prompt_cache_mb={wrong}")
        with pytest.raises(ValueError, match="a number of MB after prompt_cache_mb="):
            hf.patch()
    assert settings.current() == settings.Options()

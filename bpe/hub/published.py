"""Define PUBLISHED, published vocabularies: their files, presets and special tokens.

They are the vocabularies of tiktoken 0.14.0, llama-models 0.3.0, dashscope 2.0.2 (Qwen) and
openai-whisper 20250625.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from pathlib import Path
from typing import Literal

from bpe.encoding.added_tokens import AddedToken
from bpe.formats.files import read, unpacked
from bpe.hub.special_tokens import LLAMA3, LLAMA4, QWEN, whisper

_FIRST_BYTES = 512
"""The number of bytes of a file that show its line ends."""


@dataclass(frozen=True)
class PublishedFile:
    """A published file: its name in the cache folder, its sha256, and its size in bytes.

    `source` is its URL, or the package on PyPI that has it and its path in the package.
    """

    name: str
    source: str
    sha256: str
    size: int

    @property
    def url(self) -> str | None:
        """The URL to download the file from, or None."""
        return self.source if "://" in self.source else None

    def is_in(self, path: Path) -> bool:
        """Return whether the file `path` has this content, packed with gzip or not."""
        return self.has(unpacked(read(path)))

    def has(self, data: bytes) -> bool:
        r"""Return whether `data` is this file, as it is or with each "\r\n" as "\n"."""
        data = _with_unix_lines(data)
        return len(data) == self.size and sha256(data).hexdigest() == self.sha256


@dataclass(frozen=True)
class PublishedVocabulary:
    """A published vocabulary: its files, its special tokens, and the name of its preset.

    `pretok fetch` downloads `files` if they have URLs. Each of `alternatives` is another set of
    files with the same vocabulary.
    """

    name: str
    files: tuple[PublishedFile, ...]
    preset: str
    special_tokens: Mapping[str, int] = field(hash=False)
    alternatives: tuple[tuple[PublishedFile, ...], ...] = ()
    normalizer: Literal["NFC"] | None = None

    @property
    def editions(self) -> tuple[tuple[PublishedFile, ...], ...]:
        """All sets of files that hold this vocabulary."""
        return (self.files, *self.alternatives)

    @property
    def advice(self) -> str:
        """The way to get the files, for an error."""
        if all(file.url for file in self.files):
            return f"get it with `pretok fetch {self.name}`"
        return f"get it from {self.files[0].source}"

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The special tokens; if there is a normalizer, they are searched in normalized text."""
        normalized = self.normalizer is not None
        return tuple(
            AddedToken(content, id, normalized=normalized)
            for content, id in self.special_tokens.items()
        )


_BASE_URL = "https://openaipublic.blob.core.windows.net"
_R50K, _P50K, _CL100K, _O200K = (
    PublishedFile(
        f"{name}_base.tiktoken", f"{_BASE_URL}/encodings/{name}_base.tiktoken", digest, size
    )
    for name, digest, size in (
        ("r50k", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", 835554),
        ("p50k", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", 836186),
        ("cl100k", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", 1681126),
        ("o200k", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", 3613922),
    )
)
_GPT2 = (
    PublishedFile(
        "gpt2_vocab.json",
        f"{_BASE_URL}/gpt-2/encodings/main/encoder.json",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
        1042301,
    ),
    PublishedFile(
        "gpt2_merges.txt",
        f"{_BASE_URL}/gpt-2/encodings/main/vocab.bpe",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
        456318,
    ),
)

_LLAMA3 = PublishedFile(
    "llama3_tokenizer.model",
    "the package llama-models on PyPI, file llama_models/llama3/tokenizer.model",
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
    2183982,
)
_LLAMA4 = PublishedFile(
    "llama4_tokenizer.model",
    "the package llama-models on PyPI, file llama_models/llama4/tokenizer.model",
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
    3622230,
)
_QWEN = PublishedFile(
    "qwen.tiktoken",
    "the package dashscope on PyPI, file dashscope/resources/qwen.tiktoken",
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    2561218,
)
_WHISPER = PublishedFile(
    "multilingual.tiktoken",
    "the package openai-whisper on PyPI, file whisper/assets/multilingual.tiktoken",
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
    816730,
)

_END = {"<|endoftext|>": 50256}
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_HARMONY = {
    199998: "startoftext", 199999: "endoftext", 200002: "return", 200003: "constrain",
    200005: "channel", 200006: "start", 200007: "end", 200008: "message", 200012: "call",
    200018: "endofprompt",
}  # fmt: skip
_HARMONY_RESERVED = range(200000, 201088)

PUBLISHED: dict[str, PublishedVocabulary] = {
    vocabulary.name: vocabulary
    for vocabulary in (
        # The ranks in r50k_base.tiktoken imply the merges of GPT-2, so gpt2 may use this file, too.
        PublishedVocabulary("gpt2", (_R50K,), "r50k", _END, alternatives=(_GPT2,)),
        PublishedVocabulary("r50k_base", (_R50K,), "r50k", _END),
        PublishedVocabulary("p50k_base", (_P50K,), "r50k", _END),
        PublishedVocabulary(
            "p50k_edit", (_P50K,), "r50k", _END | dict(zip(_FIM, range(50281, 50284), strict=True))
        ),
        PublishedVocabulary(
            "cl100k_base",
            (_CL100K,),
            "cl100k",
            {"<|endoftext|>": 100257}
            | dict(zip(_FIM, range(100258, 100261), strict=True))
            | {"<|endofprompt|>": 100276},
        ),
        PublishedVocabulary(
            "o200k_base", (_O200K,), "o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
        ),
        PublishedVocabulary(
            "o200k_harmony",
            (_O200K,),
            "o200k",
            {f"<|{name}|>": id for id, name in _HARMONY.items()}
            | {f"<|reserved_{id}|>": id for id in _HARMONY_RESERVED if id not in _HARMONY}
            # tiktoken has two names for the id 200018.
            | {"<|reserved_200018|>": 200018},
        ),
        PublishedVocabulary("llama3", (_LLAMA3,), "llama3", LLAMA3),
        PublishedVocabulary("llama4", (_LLAMA4,), "o200k", LLAMA4),
        PublishedVocabulary("qwen", (_QWEN,), "qwen2", QWEN, normalizer="NFC"),
        PublishedVocabulary("whisper", (_WHISPER,), "gpt2", whisper(50257, 99)),
        # Whisper large-v3 and turbo have one more language, so all tokens after it have other ids.
        PublishedVocabulary("whisper_large_v3", (_WHISPER,), "gpt2", whisper(50257, 100)),
        # The models whose names end in .en; whisper/assets/gpt2.tiktoken is r50k_base.tiktoken.
        PublishedVocabulary("whisper_en", (_R50K,), "gpt2", whisper(50256, 99)),
    )
}


def _with_unix_lines(data: bytes) -> bytes:
    r"""Return `data`, with each "\r\n" as "\n" if the first line ends so."""
    return data.replace(b"\r\n", b"\n") if b"\r\n" in data[:_FIRST_BYTES] else data


def vocabularies_of(contents: tuple[bytes, ...]) -> list[PublishedVocabulary]:
    """Return the published vocabularies whose files have these contents, the likeliest one first.

    Some share a file, and differ only in their special tokens.
    """
    texts = tuple(map(_with_unix_lines, contents))
    sizes = tuple(map(len, texts))
    digests: tuple[str, ...] = ()
    found = []
    for vocabulary in PUBLISHED.values():
        for files in vocabulary.editions:
            # Hashing takes about a millisecond for each MB, so compare the sizes first.
            if tuple(file.size for file in files) != sizes:
                continue
            digests = digests or tuple(sha256(text).hexdigest() for text in texts)
            if tuple(file.sha256 for file in files) == digests:
                found.append(vocabulary)
                break
    # The file of gpt2 and r50k_base is in tiktoken's cache as that of r50k_base.
    return sorted(found, key=lambda vocabulary: vocabulary.name == "gpt2")


def vocabulary_of_files(paths: tuple[Path, ...]) -> PublishedVocabulary | None:
    """Return the vocabulary of tiktoken that the names of `paths` identify, or None.

    A single path may have the name of a vocabulary in PUBLISHED, with the suffix .tiktoken or
    without a suffix. Otherwise `paths` must have the names of all files of one of the `editions` of
    the vocabulary: the published names, or the names in tiktoken's cache. Each name may also end in
    .gz.
    """
    names = [path.name.removesuffix(".gz") for path in paths]
    known = [each for each in PUBLISHED.values() if all(file.url for file in each.files)]
    if len(names) == 1:
        for vocabulary in known:
            if vocabulary.name == names[0].removesuffix(".tiktoken"):
                return vocabulary
    # gpt2 and r50k_base share a file. The name of this file in tiktoken's cache must identify
    # r50k_base, so the loop tries gpt2 last.
    for vocabulary in sorted(known, key=lambda vocabulary: vocabulary.name == "gpt2"):
        for files in vocabulary.editions:
            if names in (
                [file.name for file in files],
                [tiktoken_key(file.source) for file in files],
            ):
                return vocabulary
    return None


def tiktoken_key(url: str) -> str:
    """Return the name of the file of a URL in tiktoken's cache."""
    return sha1(url.encode(), usedforsecurity=False).hexdigest()

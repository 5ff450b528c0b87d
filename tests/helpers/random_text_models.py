"""Random tokenizer.json files whose BPE Hugging Face's tokenizers trains with random options."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from bpe.characters.marks import BYTE_NAMES
from pre_tokenizer_json import byte_level, sequence, split
from text_models import (
    BERT,
    LLAMA,
    LLAMA_DECODER,
    MARKS,
    PRECOMPILED,
    PREPEND,
    SENTENCES,
    STRIP,
    chained,
    metaspace,
    regex,
)
from vocabulary_files import added

Part = dict[str, Any]

NORMALIZERS: list[Part] = [
    PREPEND, MARKS, LLAMA, BERT, PRECOMPILED, STRIP, regex(r"\s+", " "), regex("a+", "é"),
    {"type": "Prepend", "prepend": "a "}, {"type": "Replace", "pattern": {"String": "foo"},
                                           "content": "f▁oo"},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt",
                                  "ByteLevel")),
    {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": True,
     "strip_accents": True, "lowercase": False},
]  # fmt: skip
SPLITS: list[Part] = [
    *({"type": name} for name in ("WhitespaceSplit", "Whitespace", "BertPreTokenizer")),
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True}, {"type": "Digits", "individual_digits": False},
    {"type": "CharDelimiterSplit", "delimiter": "a"},
    split(r"\p{L}+|\p{N}|[^\p{L}\p{N}]+"), split(r"\s+", behavior="Removed"),
    {**split(""), "pattern": {"String": " "}, "behavior": "MergedWithPrevious"},
]  # fmt: skip
DECODERS: list[Part] = [
    LLAMA_DECODER, metaspace(), metaspace("first"), metaspace("never"), byte_level(),
    {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "WordPiece", "prefix": "", "cleanup": False},
    {"type": "Strip", "content": "t", "start": 2, "stop": 0}, regex("▁+", " "),
    {"type": "Replace", "pattern": {"String": "o"}, "content": "0"},
    {"type": "CTC", "pad_token": "a", "word_delimiter_token": "▁", "cleanup": True},
]  # fmt: skip
ADDED = [
    added(0, "<s>"), added(0, "<sep>", lstrip=True, special=False), added(0, "<W>",
                                                                          single_word=True),
    added(0, "foo", normalized=True, special=False), added(0, "A b", normalized=True),
    added(0, "the", rstrip=True, special=False),
]  # fmt: skip


def random_chain(random: Random, steps: list[Part], sizes: list[int]) -> list[Part]:
    """Return random steps, sometimes up to 60; a file whose steps grow a text does not load."""
    chosen = random.choices(steps, k=random.choice(sizes))
    return chosen * (random.choice([2, 5, 20]) if random.random() < 0.1 else 1)


def random_file(random: Random) -> dict[str, Any]:
    """Return a random tokenizer.json."""
    import tokenizers

    def chance(share: float = 0.3) -> bool:
        return random.random() < share

    prefix = random.choice(["##", "▁", "a"]) if chance(0.15) else None
    suffix = random.choice(["</w>", "▁", "o"]) if chance(0.15) else None
    unknown = random.choice(["<unk>", "<unk>", "a"]) if chance(0.7) else None
    model: dict[str, Any] = {
        "unk_token": unknown,
        "fuse_unk": chance(0.5),
        "byte_fallback": chance(0.5),
        "ignore_merges": chance(0.2),
    }
    parts = random_pre_tokenizer(random)
    affixes: dict[str, Any] = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    affixes = {name: text for name, text in affixes.items() if text is not None}
    known = {} if unknown is None else {"unk_token": unknown}
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(**known, **affixes))
    if parts:
        whole = tokenizers.Tokenizer.from_str(json.dumps(bare(trained, pre_tokenizer=parts)))
        trained.pre_tokenizer = whole.pre_tokenizer
    names = list(BYTE_NAMES) if model["byte_fallback"] and chance(0.7) else []
    options: dict[str, Any] = {"vocab_size": 150 + len(names)}
    if chance():
        options["min_frequency"] = 3
    if chance():
        options["limit_alphabet"] = random.choice([5, 20])
    if chance():
        options["initial_alphabet"] = ["x", "é", "▁"]
    if chance():
        options["max_token_length"] = random.choice([1, 2, 5])
    if chance(0.2) and parts and parts["type"] != "Metaspace":
        options["initial_alphabet"] = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        options["vocab_size"] += 256
    special = [unknown] if unknown == "<unk>" else []
    trainer = tokenizers.trainers.BpeTrainer(
        special_tokens=special, show_progress=False, **affixes, **options
    )
    trained.train_from_iterator(SENTENCES, trainer)
    file = bare(trained, pre_tokenizer=parts or None)
    vocab: dict[str, int] = file["model"]["vocab"]
    missing = random.sample(range(128), 60) if chance() else []
    for byte, name in enumerate(names):
        # Sometimes the character of a byte stands for the byte, as in Gemma 2, or nothing does.
        if byte not in missing or not (chr(byte) in vocab or chance(0.01)):
            vocab.setdefault(name, len(vocab))
    file["model"] |= model
    if unknown == "a" and "a" not in vocab:
        vocab["a"] = len(vocab)
    steps = random_chain(random, NORMALIZERS, [0, 0, 1, 1, 2, 3])
    file["normalizer"] = chained(*steps) if len(steps) > 1 else steps[0] if steps else None
    steps = random_chain(random, DECODERS, [0, 1, 1, 2, 3])
    if parts and parts.get("pretokenizers", [parts])[-1]["type"] == "ByteLevel":
        # bpe joins bytes even without a decoder, as no text has spaces between its tokens.
        steps = steps or [byte_level()]
    file["decoder"] = (
        {"type": "Sequence", "decoders": steps} if len(steps) > 1 else steps[0] if steps else None
    )
    size = len(vocab)
    for token in random.sample(ADDED, random.randrange(len(ADDED))) if chance(0.6) else []:
        id = vocab.get(token["content"])
        if id is None:
            id, size = size, size + 1
        file["added_tokens"].append({**token, "id": id})
    return file


def random_pre_tokenizer(random: Random) -> dict[str, Any]:
    """Return a random pre_tokenizer, or {}."""
    parts = random.choices(SPLITS, k=random.choice([0, 0, 1, 1, 2]))
    scheme = random.choice(["always", "first", "never"])
    kind = random.random()
    if kind < 0.4:
        place = random.randrange(len(parts) + 1)
        parts.insert(place, metaspace(scheme, split=random.random() < 0.5))
    elif kind < 0.65:
        space, uses_regex = random.random() < 0.2, random.random() < 0.5
        parts.append(byte_level(add_prefix_space=space, use_regex=uses_regex))
    return sequence(*parts) if len(parts) > 1 else parts[0] if parts else {}


def bare(tokenizer: Any, **changes: Any) -> dict[str, Any]:
    """Return the tokenizer.json of `tokenizer`, with `changes`."""
    file: dict[str, Any] = json.loads(tokenizer.to_str())
    return {**file, **changes}

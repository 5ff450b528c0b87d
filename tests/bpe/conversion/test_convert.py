"""`convert` writes files whose engines give the ids of the source, or refuses with a reason."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, ConversionError, Template, UnsupportedError, VocabularyError
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.conversion.difference import find_difference, shortest
from bpe.conversion.targets import TARGETS, TargetName
from bpe.conversion.texts import texts_for
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import ByteLevel, Replace
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Lowercase
from conversions import SOME, SOURCES, loaded, outcome
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.machine.backend import BackendName
from support import FULL, max_examples, seeded
from vocabulary_files import made

TEXTS = 10_000 if FULL else 50


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SOURCES if FULL else SOME)
def test_published_vocabularies_in_the_engine_of_the_target(
    tmp_path: Path, name: str, target: TargetName, native: BackendName
) -> None:
    """The engine of the format gives the ids of the source; otherwise nothing is written."""
    source = loaded(name)
    result = outcome(source, target, tmp_path, texts=50, lossy=True)
    if isinstance(result, str):
        assert list(tmp_path.iterdir()) == []
        return
    encode = ENGINES[target](result.paths, source)
    texts = texts_for([source], TEXTS, seed=1)[-TEXTS:]
    lost = " ".join(result.lost)
    expected = source
    if "normalizer" in lost or "added token" in lost:
        expected = bpe.load(
            result.paths[-1],
            None if TARGETS[target].says_split else source.pre_tokenizer,
            None if TARGETS[target].says_split else {},
        )
    names = [token.content for token in source.added_tokens]
    missing = frozenset(source.vocabulary.missing_bytes)  # encoding a text with them is an error
    for text in texts:
        if not any(content in text for content in names) and missing.isdisjoint(text.encode()):
            assert encode(text) == expected.encode(text, "allow"), ascii(text)


def of_tokenizers(paths: Sequence[Path], source: bpe.Tokenizer) -> Callable[[str], list[int]]:
    tokenizers = pytest.importorskip("tokenizers")
    engine = tokenizers.Tokenizer.from_file(str(paths[0]))
    return lambda text: list(engine.encode(text, add_special_tokens=False).ids)


def of_sentencepiece(paths: Sequence[Path], source: bpe.Tokenizer) -> Callable[[str], list[int]]:
    engine = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(paths[0]))
    return lambda text: list(engine.encode(text))


def of_tiktoken(paths: Sequence[Path], source: bpe.Tokenizer) -> Callable[[str], list[int]]:
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    assert source.preset is not None
    engine = tiktoken.Encoding(
        "new",
        pat_str=source.preset.pattern,
        mergeable_ranks=load_tiktoken_bpe(str(paths[0])),
        special_tokens={},
    )
    return lambda text: list(engine.encode(text, disallowed_special=()))


def of_vocab_and_merges(paths: Sequence[Path], source: bpe.Tokenizer) -> Callable[[str], list[int]]:
    """Return the model of tokenizers for both files, with the split of the source."""
    tokenizers = pytest.importorskip("tokenizers")
    by_name = {path.name: str(path) for path in paths}
    model = tokenizers.models.BPE.from_file(by_name["vocab.json"], by_name["merges.txt"])
    engine = tokenizers.Tokenizer(model)
    engine.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(False, use_regex=False)
    split = source.pre_tokenizer

    def encode(text: str) -> list[int]:
        offsets = split.offsets(text).tolist()
        parts = [text[start:end] for start, end in pairwise(offsets)]
        return [id for part in parts for id in engine.encode(part).ids]

    return encode


def of_minbpe(paths: Sequence[Path], source: bpe.Tokenizer) -> Callable[[str], list[int]]:
    """Return minbpe's algorithm, restated; its first line may list other ids of bytes."""
    lines = paths[0].read_text(encoding="utf-8").split("\n")
    count = int(lines[2])
    pairs = [tuple(map(int, line.split())) for line in lines[3 + count : -1]]
    merges = {pair: 256 + rank for rank, pair in enumerate(pairs)}
    byte_ids = source.vocabulary.byte_ids
    split = source.pre_tokenizer

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        offsets = split.offsets(text).tolist()
        for start, end in pairwise(offsets):
            part = [byte_ids[byte] for byte in text[start:end].encode()]
            while len(part) > 1:
                pair = min(pairwise(part), key=lambda pair: merges.get(pair, 1 << 30))
                if pair not in merges:
                    break
                joined: list[int] = []
                while part:
                    if tuple(part[:2]) == pair:
                        joined, part = [*joined, merges[pair]], part[2:]
                    else:
                        joined, part = [*joined, part[0]], part[1:]
                part = joined
            ids += part
        return ids

    return encode


def of_ours(paths: Sequence[Path], source: bpe.Tokenizer) -> Callable[[str], list[int]]:
    tokenizer = bpe.load(paths[0], backend="python" if FULL else None)
    return lambda text: tokenizer.encode(text, "allow")


ENGINES: Mapping[str, Callable[[Sequence[Path], bpe.Tokenizer], Callable[[str], list[int]]]] = {
    "tokenizer.json": of_tokenizers,
    "sentencepiece": of_sentencepiece,
    "gguf": of_ours,  # test_gguf_writer.py compares with llama.cpp
    "tiktoken": of_tiktoken,
    "vocab.json": of_vocab_and_merges,
    "minbpe": of_minbpe,
    "pretok": of_ours,
}


def test_a_round_trip_of_llama_2(tmp_path: Path, native: BackendName) -> None:
    """The .model → tokenizer.json → GGUF → .model has the same pieces, types and ids."""
    targets: list[TargetName] = ["tokenizer.json", "gguf", "sentencepiece"]
    source = tokenizer = loaded("Llama 2")
    for index, target in enumerate(targets):
        folder = tmp_path / str(index)
        folder.mkdir()
        result = outcome(tokenizer, target, folder, texts=20, lossy=True)
        assert isinstance(result, bpe.Conversion), result
        tokenizer = bpe.load(result.paths[0])
    assert tokenizer.vocabulary.token_bytes == source.vocabulary.token_bytes
    assert tokenizer.added_tokens == source.added_tokens
    assert tokenizer.decoder == source.decoder
    assert find_difference(source, tokenizer, texts_for([source], 500)) is None


@pytest.mark.parametrize("target", ["tokenizer.json", "gguf", "sentencepiece", "pretok"])
def test_a_model_that_has_grown(tmp_path: Path, target: TargetName, native: BackendName) -> None:
    """New tokens merge after the runs of spaces, whose pieces have equal scores."""
    old = loaded("Llama 2")
    texts = [f"{' ' * 4 * n}if größer:\n{' ' * (n + 17)}{n}\n" for n in range(9)] * 2
    texts += [" " * 33] * 9
    grown = bpe.train(texts, old.vocab_size + 20, initial=old, progress=False)
    new = [grown.token_bytes(id).decode() for id in range(old.vocab_size, grown.vocab_size)]
    assert any("▁▁▁▁if" in token for token in new)
    assert "▁" * 34 in new
    result = outcome(grown, target, tmp_path, texts=50)
    assert isinstance(result, bpe.Conversion), result
    encode = ENGINES[target](result.paths, grown)
    for text in [*texts, *texts_for([grown], TEXTS, seed=1)[-TEXTS:]]:
        if not any(token.content in text for token in grown.added_tokens):
            assert encode(text) == grown.encode(text), ascii(text)


def test_transformers_loads_the_result(tmp_path: Path, native: BackendName) -> None:
    transformers = pytest.importorskip("transformers")
    source = loaded("Llama 2")
    bpe.convert(source, tmp_path / "tokenizer.json", texts=20)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    text = "Hello  world, élan 中文 😀\n\t1234"
    assert fast.encode(text, add_special_tokens=False) == source.encode(text)
    assert fast.decode(source.encode(text)) == source.decode(source.encode(text))


def test_transformers_loads_vocab_and_merges(tmp_path: Path, native: BackendName) -> None:
    transformers = pytest.importorskip("transformers")
    source = loaded("GPT-2")
    bpe.convert(source, tmp_path / "vocab.json", texts=20)
    fast = transformers.GPT2TokenizerFast.from_pretrained(str(tmp_path))
    for text in ("Hello  world, élan 中文\n\t1234", "a<|endoftext|> b"):
        assert fast.encode(text) == source.encode(text, "allow")


def test_a_text_that_differs_is_named_and_nothing_is_written(
    tmp_path: Path, native: BackendName
) -> None:
    """Llama 3 takes whole pre-tokens from its vocabulary; a merges.txt cannot say so."""
    with pytest.raises(ConversionError) as caught:
        bpe.convert(loaded("Llama 3"), tmp_path / "vocab.json", texts=10)
    text = caught.value.text
    assert text in str(caught.value) or ascii(text)[1:-1] in str(caught.value)
    assert loaded("Llama 3").encode(text) != []
    assert "nothing was written" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.text) == (str(caught.value), text)


@pytest.mark.parametrize(
    ("target", "error", "match"),
    [
        ("new.tiktoken", VocabularyError, "1 added token .*the normalizer .*lossy=True"),
        ("new.gguf", VocabularyError, "the normalizer Lowercase"),
        ("vocab.json", VocabularyError, "the normalizer Lowercase"),
        ("new.txt", ValueError, r"suffix '.txt'; expected .json, .gguf"),
    ],
)
def test_parts_that_a_format_cannot_hold(
    tmp_path: Path, target: str, error: type[Exception], match: str
) -> None:
    source = made("python", preset="gpt2", normalizer=NormalizerChain((Lowercase(),)))
    with pytest.raises(error, match=match):
        bpe.convert(source, tmp_path / target)
    assert list(tmp_path.iterdir()) == []
    if error is VocabularyError:
        result = bpe.convert(source, tmp_path / target, lossy=True, texts=20)
        assert any("Lowercase" in part for part in result.lost)


@pytest.mark.parametrize("count", [-1, 1.5, True, "5", None])
def test_a_wrong_number_of_texts(tmp_path: Path, count: Any) -> None:
    source = made("python", preset="gpt2")
    for call in (
        lambda: bpe.convert(source, tmp_path / "new.json", texts=count),
        lambda: bpe.compare(source, source, texts=count),
    ):
        with pytest.raises(ValueError, match=r"texts=.*; expected an int of at least 0"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_format_is_no_format(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"format=''; expected one of tokenizer\.json"):
        bpe.convert(made("python", preset="gpt2"), tmp_path / "new.json", format="")  # type: ignore[arg-type]


def test_tokens_that_a_format_cannot_hold(tmp_path: Path) -> None:
    source = made("python", preset="gpt2")
    with pytest.raises(UnsupportedError, match="the tokens are bytes, and the format Sentence"):
        bpe.convert(source, tmp_path / "a.model", format="sentencepiece")
    with pytest.raises(ValueError, match=r"format='x'; expected one of tokenizer\.json, "):
        bpe.convert(source, tmp_path / "a.model", format="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="into= is for GGUF files"):
        bpe.convert(source, tmp_path / "a.json", into=tmp_path / "b.gguf")


@pytest.mark.parametrize(
    ("lacking", "more", "match"),
    [
        ("\u0100!", {}, "the vocabulary has no token for 2 of the 256 bytes: 0x00, 0x21; write a"),
        ("", {300: "a\u4e2d"}, "a character of one of its tokens stands for no byte; write a"),
    ],
)
def test_characters_of_bytes_that_a_format_cannot_hold(
    tmp_path: Path, lacking: str, more: dict[int, str], match: str
) -> None:
    """As in the GGUF file of Falcon, which has no token for some control characters."""
    texts = {id: char for id, char in enumerate(BYTE_CHARACTERS) if char not in lacking}
    vocabulary = TextVocabulary(texts | more, (), TextOptions(byte_level=True))
    source = bpe.Tokenizer(vocabulary, "gpt2", decoder=DecoderChain((ByteLevel(),)))
    for format in ("tiktoken", "minbpe"):
        with pytest.raises(UnsupportedError, match=f"the format {format} cannot hold.*{match}"):
            bpe.convert(source, tmp_path / "new", format=format)
    assert bpe.convert(source, tmp_path / "tokenizer.json", texts=10).lost == ()


def test_parts_without_effect_on_ids_are_named(tmp_path: Path) -> None:
    facts = bpe.TokenFacts(roles={"bos": 97}, chat_template="{{ x }}")
    source = made("python", preset="gpt2", facts=facts)
    result = bpe.convert(source, tmp_path / "new.json", texts=10)
    assert result.omitted == ("the chat template", "the roles bos")
    assert result.lost == ()
    assert result.format == "tokenizer.json"
    assert result.paths == (tmp_path / "new.json",)


def test_differences_of_llama_cpp_itself_are_named(tmp_path: Path) -> None:
    expected = "llama.cpp itself gives other ids to texts such as .*pre 'tekken', it splits words"
    (said,) = bpe.convert(made("python", preset="tekken"), tmp_path / "a.gguf", texts=5).differences
    assert re.match(expected, said), said
    for preset, name in (("gpt2", "b.gguf"), ("tekken", "c.json")):
        result = bpe.convert(made("python", preset=preset), tmp_path / name, texts=5)
        assert result.differences == ()


def test_vocab_json_keeps_added_tokens_and_flags(tmp_path: Path) -> None:
    added = [AddedToken("<|a|>", 300), AddedToken("<b>", 301, special=False, lstrip=True)]
    source = made("python", preset="gpt2", added_tokens=added, add_prefix_space=True)
    result = bpe.convert(source, tmp_path / "my_vocab.json", texts=20)
    assert [path.name for path in result.paths] == [
        "my_merges.txt", "my_tokenizer_config.json", "my_vocab.json",
    ]  # fmt: skip
    again = bpe.load(tmp_path / "my_merges.txt", "gpt2", backend="python")
    assert again.added_tokens == source.added_tokens
    assert again.add_prefix_space
    with pytest.raises(VocabularyError, match=r"already has a my_tokenizer_config\.json"):
        bpe.convert(source, tmp_path / "my_merges.txt", texts=20)


def test_gguf_keeps_which_tokens_are_special(tmp_path: Path) -> None:
    """`lossy` omits only the flags that a GGUF file cannot hold."""
    added = [AddedToken("<a>", 300, special=False, normalized=True), AddedToken("a>b", 301),
             AddedToken("<c>", 302, special=False)]  # fmt: skip
    source = made("python", preset="gpt2", added_tokens=added)
    with pytest.raises(VocabularyError, match=r"the flags of 1 added token \('<a>'\)"):
        bpe.convert(source, tmp_path / "a.gguf", texts=20)
    result = bpe.convert(source, tmp_path / "a.gguf", lossy=True, texts=20)
    again = bpe.load(result.paths[0], backend="python")
    assert again.special_tokens == source.special_tokens == {"a>b": 301}
    assert again.encode("x<a>y<c>") == source.encode("x<a>y<c>") == [120, 300, 121, 302]


@pytest.mark.parametrize("seed", range(max_examples(8)))
def test_random_tokenizers(tmp_path: Path, seed: int, backend: BackendName) -> None:
    """A written file has equal ids on new texts; a template or a flag is never lost silently."""
    random = seeded(f"convert {seed}")
    words = ["".join(random.choices("ab c", k=random.randint(1, 6))) for _ in range(30)]
    tok = bpe.train(words, 256 + random.randint(0, 20), preset="gpt2", backend=backend,
                    progress=False)  # fmt: skip
    flags = {"normalized": random.random() < 0.3, "special": random.random() < 0.5}
    added = [AddedToken(text, 300 + n, **flags) for n, text in enumerate(["<x>", "ab", "<x>y"])]
    spec = dataclasses.replace(
        tok.to_spec(),
        added_tokens=tuple(added[: random.randint(0, 3)]),
        template=Template((97,), ()) if random.random() < 0.3 else Template(),
        recovered_merges=None,
        recovered_rows=None,
    )
    source = bpe.Tokenizer(spec.vocabulary, "gpt2", added_tokens=spec.added_tokens,
                           template=spec.template, backend=backend)  # fmt: skip
    for target in TARGETS:
        folder = tmp_path / target
        folder.mkdir()
        result = outcome(source, target, folder, texts=30)
        if isinstance(result, str):
            reasons = ("cannot hold", "has only", "the same text", "the token of the same text")
            assert any(reason in result for reason in reasons), result
            continue
        says_split = TARGETS[target].says_split
        again = bpe.load(result.paths[-1], None if says_split else "gpt2", backend=backend)
        assert find_difference(source, again, texts_for([source], 200, seed + 1)) is None
        assert again.template == source.template
        assert again.special_tokens == source.special_tokens


def test_a_difference_of_decoding_is_short_too() -> None:
    ours = made("python", preset="gpt2")
    theirs = made("python", preset="gpt2", decoder=DecoderChain((Replace("b", "c"),)))
    difference = find_difference(ours, theirs, ["xx", "some bytes"])
    assert difference is not None
    assert (difference.text, difference.ids, difference.other_ids) == ("b", [98], [98])
    assert str(difference) == "the ids of 'b' are equal, but decode to 'b' and 'c'"
    assert find_difference(ours, theirs, ["xx", "some bytes"], decodes=False) is None


def test_difference_and_shortest_text() -> None:
    ours = bpe.train(["ab"], 257, progress=False, backend="python")
    theirs = bpe.train(["bc"], 257, progress=False, backend="python")
    difference = find_difference(ours, theirs, ["xx", "zz ab zz"])
    assert difference is not None
    assert difference.text == "ab"
    assert (difference.ids, difference.other_ids) == ([256], [97, 98])
    assert str(difference) == "the ids of 'ab' are [256] and [97, 98]"
    assert find_difference(ours, theirs, ["a b", "bb"]) is None
    assert shortest("a" * 40 + "xy" + "b" * 40, lambda text: "xy" in text) == "xy"

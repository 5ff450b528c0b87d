"""encode_segments: added tokens within segments, ids and spans; C++ equals pure Python."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, PromptCache, SpecialTokenError, Tokenizer
from bpe.encoding.segments import Segmented
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Lowercase
from bpe.types import SegmentLike
from pretok.machine.backend import BackendName
from random_normalizers import ADDED, PIECES, random_normalizer
from support import TOO_MUCH, growth, max_examples, seeded

POLICIES: tuple[Any, ...] = ("raise", "text", "allow", "plain", "content", {"<e>"}, set())
PLAIN_TOKENS = [
    AddedToken("<e>", 900),
    AddedToken("<e><f>", 901),
    AddedToken("b>", 902, special=False),
]
TOKENS_WITH_FLAGS = [
    *PLAIN_TOKENS[:2],
    AddedToken("<l>", 904, lstrip=True),
    AddedToken("<r>", 905, special=False, rstrip=True),
    AddedToken("<w>", 906, single_word=True),
]
LETTERS = ["<", "e", ">", "<e>", "<f>", "a", "b", "ab", " ", "\n", "é", "b>", "<l>", "<r>", "<w>"]


@pytest.fixture(scope="module")
def vocabulary() -> bpe.Vocabulary:
    return bpe.train(["xe xe ▁a ▁x é É fi <e> ab\n\n"] * 3, vocab_size=266).vocabulary


def random_segments(random: Random, pieces: list[bytes], as_str: bool) -> list[SegmentLike]:
    segments: list[SegmentLike] = []
    for _ in range(random.randrange(6)):
        if random.random() < 0.15:
            segments.append(random.choices(range(1000), k=random.randrange(3)))
            continue
        text = b"".join(random.choices(pieces, k=random.randrange(5)))
        special: Any = random.choice(POLICIES)
        segments.append((text.decode("utf-8", "replace") if as_str else text, special))
    return segments


def places(found: Segmented) -> tuple[list[int], ...]:
    rows = found.ids, found.ends, found.segment_of, found.end_segment_of, found.starts, found.stops
    return tuple(row.tolist() for row in rows)


def result(tokenizer: Tokenizer, segments: list[SegmentLike], joined: bool) -> object:
    try:
        return places(tokenizer.encode_segments(segments, joined=joined))
    except SpecialTokenError as error:
        return error.token, error.position, error.text_index


def test_native_equals_python(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    random = seeded("segments")
    for _ in range(max_examples(300)):
        normalizer = random.choice([None, random_normalizer(random)])
        flags = random.sample(ADDED, random.randrange(len(ADDED)))
        options: dict[str, Any] = {
            "added_tokens": [*flags, AddedToken("<e>", 900)] if ADDED[0] not in flags else flags,
            "normalizer": normalizer, "add_prefix_space": random.random() < 0.3,
        }  # fmt: skip
        try:
            expected = Tokenizer(vocabulary, "gpt2", backend="python", **options)
        except bpe.VocabularyError:  # the normalizer removes an added token
            continue
        ours = Tokenizer(vocabulary, "gpt2", backend="native", **options)
        for _ in range(6):
            segments = random_segments(random, PIECES, random.random() < 0.5)
            for joined in (True, False):
                found = result(ours, segments, joined)
                assert found == result(expected, segments, joined), (options, segments, joined)


def test_places_depend_on_nothing_else(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    """The places are computed later, but not from arrays or texts that a caller may change."""
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=PLAIN_TOKENS, backend=native)
    segments: list[SegmentLike] = [("ab<e>é", "allow"), ("c ab", "plain")]
    expected = places(tokenizer.encode_segments(segments))
    found = tokenizer.encode_segments(segments)
    ids = found.ids.copy()
    found.ids[:] = 2**32 - 1
    del tokenizer
    segments.clear()
    assert places(found)[1:] == expected[1:]
    assert ids.tolist() == expected[0]
    assert places(pickle.loads(pickle.dumps(found)))[1:] == expected[1:]


def test_segments_may_change_after_a_call(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=PLAIN_TOKENS, backend=backend)
    expected = places(tokenizer.encode_segments(["é", [7, 8], b"\xc3\xa9", [9], "ab"]))
    assert expected[2][-1] == 4
    ids, text = [7, 8], bytearray(b"\xc3\xa9")
    for segments in (["é", ids, text, iter([9]), "ab"], ["é", ids, b"\xc3\xa9", [9], "ab"]):
        found = tokenizer.encode_segments(segments)  # type: ignore[arg-type]
        ids[:], text[:] = [-1] * 5, b"xyz"
        assert places(found) == expected
        ids[:] = [7, 8]


def test_many_policies_take_linear_time(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    """Each byte is searched once for the first bytes of tokens, however the policies alternate."""
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=ADDED, backend=native)

    def encode(size: int) -> None:
        tokenizer.encode_segments([("ab ", POLICIES[at % 4]) for at in range(size)])

    assert growth(encode, 4_000) < TOO_MUCH


def test_many_parts_take_linear_time(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    """Each part between exact tokens is searched in its own ranges, also after normalizing."""
    for normalizer in (None, NormalizerChain((Lowercase(),))):
        tokenizer = Tokenizer(
            vocabulary, "gpt2", added_tokens=ADDED[:2], normalizer=normalizer, backend=backend
        )

        def encode(size: int, tokenizer: Tokenizer = tokenizer) -> None:
            tokenizer.encode_segments([("AB", "plain"), ("<e>", "allow"), [7]] * size)

        assert growth(encode, 400 if backend == "python" else 4_000) < TOO_MUCH


def expected_ids(tokenizer: Tokenizer, segments: list[tuple[str, str]]) -> list[int]:
    """Find the added tokens of each segment by itself; encode the text between them at once."""
    ids: list[int] = []
    text = ""
    for content, policy in segments:
        at = 0
        while at < len(content):
            fits = [
                token
                for token in PLAIN_TOKENS
                if content.startswith(token.content, at)
                and (policy == "allow" or (policy == "text" and not token.special))
            ]
            token = max(fits, key=lambda token: len(token.content), default=None)
            if token is None:
                text += content[at]
                at += 1
                continue
            ids += [*tokenizer.encode(text, "plain"), token.id]
            text = ""
            at += len(token.content)
    return ids + tokenizer.encode(text, "plain")


def test_definition(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=PLAIN_TOKENS, backend=backend)
    random = seeded("definition of segments")
    for _ in range(max_examples(1000) * 10):
        segments = [
            ("".join(random.choices(LETTERS, k=random.randrange(5))), random.choice(POLICIES[2:4]))
            for _ in range(random.randrange(5))
        ]  # fmt: skip
        found = tokenizer.encode_segments(segments)
        assert found.ids.tolist() == expected_ids(tokenizer, segments), segments
        apart = [id for text, policy in segments for id in tokenizer.encode(text, policy)]
        assert tokenizer.encode_segments(segments, joined=False).ids.tolist() == apart


def test_harmless_content(vocabulary: bpe.Vocabulary, backend: BackendName) -> None:
    """The ids are those of the whole text if no match crosses an end."""
    random = seeded("harmless segments")
    for normalizer in (None, "NFC"):
        tokenizer = Tokenizer(
            vocabulary, "gpt2", added_tokens=TOKENS_WITH_FLAGS, normalizer=normalizer,
            backend=backend,
        )  # fmt: skip
        for _ in range(max_examples(300) * 10):
            segments = [
                ("".join(random.choices(["a", "b ", "\n", " ", "é", "e\u0301"], k=3)), "plain")
                if random.random() < 0.5
                else (random.choice(TOKENS_WITH_FLAGS).content, "allow")
                for _ in range(random.randrange(6))
            ]
            whole = "".join(text for text, _ in segments)
            found = tokenizer.encode_segments(segments)
            assert found.ids.tolist() == tokenizer.encode(whole, "allow"), segments
            _, starts, stops = tokenizer.token_spans(whole, "allow")
            first = np.cumsum([0, *(len(text) for text, _ in segments)])
            assert (first[found.segment_of] + found.starts).tolist() == starts.tolist()
            assert (first[found.end_segment_of] + found.stops).tolist() == stops.tolist()
            assert (found.starts >= 0).all()
            begins = [(found.segment_of <= at).sum() for at in range(len(segments))]
            assert found.ends.tolist() == begins


def test_hostile_pieces(vocabulary: bpe.Vocabulary) -> None:
    """No content gives an added token, in one segment or over several; decoding gives it back."""
    tokens = [*TOKENS_WITH_FLAGS, PLAIN_TOKENS[2]]
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=tokens)
    added = {token.id for token in tokens}
    random = seeded("hostile segments")
    for _ in range(max_examples(300) * 10):
        content = "".join(random.choices(LETTERS, k=random.randrange(12)))
        cut = random.randrange(len(content) + 1)
        segments = [("<e>", "allow"), (content[:cut], "plain"), (content[cut:], "plain")]
        found = tokenizer.encode_segments(segments)
        assert found.ids[0] == 900
        assert added.isdisjoint(found.ids[1:].tolist())
        assert tokenizer.decode(found.ids[1:]) == content


def test_ids_stand_like_added_tokens(vocabulary: bpe.Vocabulary) -> None:
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=[AddedToken("<r>", 905, rstrip=True)])
    found = tokenizer.encode_segments([[7, 8], ("<r> ", "allow"), [9], [], (" a", "plain"), [3]])
    assert found.ids.tolist() == [7, 8, 905, 9, *tokenizer.encode(" a"), 3]
    assert found.ends[:4].tolist() == [2, 3, 4, 4]
    assert found.segment_of[[0, 1, 2, 3, -1]].tolist() == [0, 0, 1, 2, 5]
    assert found.starts[[0, 1, 2, 3]].tolist() == [0, 1, 0, 0]
    assert found.stops[[0, 1, 2, 3]].tolist() == [1, 2, 4, 1]
    assert found.ends[-1] == len(found) == len(found.ids)


def test_tokens_that_cross() -> None:
    tokenizer = bpe.train(["abcd"] * 3, vocab_size=259)
    found = tokenizer.encode_segments(["é", "ab", b"c", "", "d", "\u20ac"])
    assert found.ids.tolist()[2] == 258
    assert (found.segment_of[2], found.end_segment_of[2]) == (1, 4)
    assert found.starts.tolist() == [0, 0, 0, 0, 0, 0]
    assert found.stops.tolist() == [1, 1, 1, 1, 1, 1]
    assert repr(found) == "Segmented(6 ids of 6 segments)"


def test_errors(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    tokens = [AddedToken("<e>", 900)]
    backends: list[BackendName] = ["python", native]
    for backend in backends:
        tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=tokens, backend=backend)
        calls: list[Callable[..., Any]] = [
            tokenizer.encode_segments,
            partial(tokenizer.encode_segments, joined=False),
            PromptCache(tokenizer).encode_segments,
            partial(tokenizer.splice, [7], [8]),
        ]
        for call in calls:
            check_errors(call)
        for wrong in ("ab", b"ab", bytearray(b"ab")):
            for call in calls[:3]:
                with pytest.raises(TypeError, match="pass \\[\\(text, special\\)\\]"):
                    call(wrong)
        with pytest.raises(ValueError, match="unknown unit 'no'"):
            tokenizer.encode_segments(["a"], unit="no")  # type: ignore[arg-type]
        empty = tokenizer.encode_segments([])
        assert places(empty) == ([], [], [], [], [], [])


def check_errors(call: Callable[..., Any]) -> None:
    """Each error names the segment."""
    with pytest.raises(SpecialTokenError, match=r"^segments\[1\] holds") as caught:
        call(["<e", ("é<e>", "raise")], "allow")
    assert (caught.value.token, caught.value.position, caught.value.text_index) == ("<e>", 1, 1)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    wrong: Any
    for wrong in (None, 5, {"role": "user"}):
        with pytest.raises(TypeError):
            call(wrong)
    for wrong in (5, None, (1, "x"), ["a"], ("a", "allow", 1), ("a", 5), ("a", [[1]])):
        with pytest.raises(TypeError, match=r"^segments\[1\]: "):
            call(["a", wrong])
    for wrong in ([-1], [1 << 24], [1 << 80], ("a", "no"), ("", "no"), ("a", {"<no>"})):
        with pytest.raises(ValueError, match=r"^segments\[1\]: "):
            call(["a", wrong])
    for segments in ([], ["a"], [("a", "plain")]):
        with pytest.raises(ValueError, match=r"^special='no'"):
            call(segments, "no")
    with pytest.raises(UnicodeEncodeError, match=r"segments\[1\]"):
        call(["a", "\ud800"], errors="strict")
    with pytest.raises(ValueError, match=r"^errors='no'"):
        call(["a"], errors="no")


def test_missing_bytes_name_the_segment(native: BackendName) -> None:
    tokens = {id: bytes([id]) for id in range(256) if id != 0xF1}
    backends: list[BackendName] = ["python", native]
    for backend in backends:
        tokenizer = Tokenizer(bpe.Vocabulary(tokens, []), "gpt2", backend=backend)
        for joined in (True, False):
            with pytest.raises(bpe.UnknownTokenError, match=r"^segments\[1\]: .*0xf1"):
                tokenizer.encode_segments(["a", "\U00040000"], joined=joined)


def test_refused_tokens_are_named_as_they_were_added(vocabulary: bpe.Vocabulary) -> None:
    tokens = [AddedToken("<E>", 900, normalized=True)]
    tokenizer = Tokenizer(
        vocabulary, "gpt2", added_tokens=tokens, normalizer=NormalizerChain((Lowercase(),))
    )
    for call in (tokenizer.encode, lambda text: tokenizer.encode_segments(["a", text])):
        with pytest.raises(SpecialTokenError) as caught:
            call("É<E>")
        assert (caught.value.token, caught.value.position) == ("<E>", 1)


def test_halves_of_a_surrogate_pair_are_replaced(
    vocabulary: bpe.Vocabulary, native: BackendName
) -> None:
    """Each str becomes UTF-8 by itself. Halves in one segment are a character, as in `encode`."""
    backends: list[BackendName] = ["python", native]
    for backend in backends:
        tokenizer = Tokenizer(vocabulary, "gpt2", backend=backend)
        whole = tokenizer.encode_segments(["a", "\ud83d\ude00", "b"])
        assert whole.ids.tolist() == tokenizer.encode("a\U0001f600b")
        halves = [("a\ud83d", "allow"), ("\ude00b", "plain")]
        expected = tokenizer.encode("a\ufffd\ufffdb")
        for joined in (True, False):
            found = tokenizer.encode_segments(halves, joined=joined)
            assert found.ids.tolist() == expected
            assert (found.segment_of[:4].tolist(), found.starts[:4].tolist()) == (
                [0] * 4,
                [0, 1, 1, 1],
            )
            assert found.stops[-1] == 2
        assert PromptCache(tokenizer).encode_segments(halves).ids.tolist() == expected
        # Bytes stay as they are.
        cut = [b"a\xf0\x9f", b"\x98\x80b"]
        assert tokenizer.encode_segments(cut).ids.tolist() == whole.ids.tolist()


def test_results_are_pickled(vocabulary: bpe.Vocabulary) -> None:
    tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=[AddedToken("<e>", 900)])
    for segments in ([("é<e>", "plain"), "b"], [("<e>", "allow"), [1, 2]]):
        found = tokenizer.encode_segments(segments)  # type: ignore[arg-type]
        assert places(pickle.loads(pickle.dumps(found))) == places(found)


@pytest.mark.parametrize("normalized", [False, True])
def test_content_finds_only_white_space(
    vocabulary: bpe.Vocabulary, normalized: bool, native: BackendName
) -> None:
    added = [
        AddedToken("\n\n", 900, special=False, normalized=normalized),
        AddedToken("\u2581 ", 901, special=False, normalized=normalized),
        AddedToken("<tool>", 902, special=False, normalized=normalized),
        AddedToken("  ", 903),
    ]
    backends: list[BackendName] = ["python", "native"]
    for backend in backends:
        tokenizer = Tokenizer(vocabulary, "gpt2", added_tokens=added, backend=backend)
        text = "a\n\n<tool>  \u2581 "
        plain = tokenizer.encode("a", "plain"), tokenizer.encode("<tool>  ", "plain")
        expected = [*plain[0], 900, *plain[1], 901]
        assert tokenizer.encode(text, "content") == expected
        assert tokenizer.encode_segments([(text, "content")]).ids.tolist() == expected

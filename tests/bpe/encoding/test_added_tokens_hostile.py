"""Added tokens that are many, long, or parts of each other.

They take linear time and bounded memory, give the ids of Hugging Face's tokenizers, and errors stay
short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from added_token_engines import added_tokens, flags, live
from bpe import AddedToken, SpecialTokenError, Tokenizer
from bpe.encoding.added_tokens import AddedTokens
from bpe.encoding.matcher import TokenMatcher
from bpe.encoding.policies import MAX_SETS, Policies
from byte_tokenizer import PLAIN, make
from pretok import Preset, Run
from pretok.charsets import code_points
from pretok.machine.backend import BackendName
from support import TIMES, TOO_MUCH, growth, max_examples

SPLIT_IN_EIGHTS = Preset("eights", rules=(Run(code_points((0, 0x10FFFF)), at_most=8),))
"""Pre-tokens of at most 8 code points, so that merging takes little of the measured time."""


def plain_tokens(*contents: str, **having: bool) -> list[AddedToken]:
    return [AddedToken(content, 300 + at, **having) for at, content in enumerate(contents)]


def prefixes(unit: str, size: int) -> list[str]:
    """Return `unit`, `unit * 2`, `unit * 3` and so on, about `size` characters in total."""
    return [unit * count for count in range(1, int((2 * size / len(unit)) ** 0.5) + 1)]


Case = Callable[[int], tuple[list[AddedToken], str]]

CASES: dict[str, Case] = {
    "a long token that is never complete": lambda n: (plain_tokens("a" * n + "b"), "a" * n),
    "a long token over a short one": lambda n: (plain_tokens("a", "a" * n + "b"), "a" * n),
    "a long token over a pair": lambda n: (plain_tokens("aa", "a" * n + "b"), "a" * n),
    "a short token within a long periodic one": lambda n: (
        plain_tokens("b", "ab" * (n // 2) + "c"), "ab" * (n // 2)
    ),
    "all prefixes": lambda n: (plain_tokens(*prefixes("a", n)), "a" * n),
    "tokens whose last letter never comes": lambda n: (
        plain_tokens(*[f"{prefix}b" for prefix in prefixes("a", n)]), "a" * n
    ),
    "all suffixes": lambda n: (
        plain_tokens(*[f"{prefix}b" for prefix in prefixes("a", n)]), ("a" * 40 + "b") * (n // 41)
    ),
    "two long tokens that fail at the end": lambda n: (
        plain_tokens("ab", "a" * (n // 2) + "c", "a" * (n // 3) + "d"),
        ("a" * (n // 2) + "b") * 2,
    ),
    "single-word tokens within a word": lambda n: (
        plain_tokens("a", "aaa", "a" * n + "b", single_word=True), "a" * n
    ),
    "a normalized token between exact ones": lambda n: (
        [*plain_tokens("<"), AddedToken("a" * n + "b", 400, normalized=True)],
        ("a" * 100 + "<") * (n // 101),
    ),
    "white space that strips both sides": lambda n: (
        plain_tokens(" ", lstrip=True, rstrip=True), " " * n
    ),
    "white space within white space": lambda n: (
        [*plain_tokens("\n", rstrip=True), *plain_tokens(" "), *plain_tokens("\t", lstrip=True)],
        " \t\n" * (n // 3),
    ),
    "wide white space": lambda n: (
        plain_tokens("\u3000", " \u2003", lstrip=True, rstrip=True), "\u3000 \u2003 " * (n // 4)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("policy", ["allow", "text"])
def test_time_is_linear_in_tokens_and_text(backend: BackendName, case: str, policy: Any) -> None:
    def work(size: int) -> None:
        added, text = CASES[case](size)
        if policy == "text":  # with special tokens alone, "text" would search for nothing
            added.append(AddedToken("\x00", 999, special=False))
        tok = Tokenizer(PLAIN, SPLIT_IN_EIGHTS, added_tokens=added, backend=backend)
        tok.count(text, policy)

    work(100)
    assert growth(work, (200_000 if backend == "native" else 30_000) // TIMES) < TOO_MUCH


@pytest.mark.parametrize("policy", ["allow", "text"])
def test_many_tokens_within_stripped_white_space(policy: Any) -> None:
    added, _ = CASES["white space within white space"](0)
    for text in (" \t\n" * 400, " \t\nab c" * 300, "\n \t" * 90 + "ab" * 400 + " \n" * 300):
        native, python = (
            Tokenizer(PLAIN, SPLIT_IN_EIGHTS, added_tokens=added, backend=backend)
            for backend in ("native", "python")
        )
        assert native.encode(text, policy) == python.encode(text, policy)
        assert native.count(text, policy) == len(native.encode_array(text, policy))


@pytest.mark.parametrize("policy", ["raise", "allow", "text"])
def test_a_first_call_takes_linear_time(backend: BackendName, policy: Any) -> None:
    def work(count: int) -> None:
        added = [AddedToken(f"<|reserved_{at}|>", 300 + at) for at in range(count)]
        make(backend, *added).count("hello", policy)

    work(100)
    assert growth(work, 2500) < TOO_MUCH


def test_a_set_of_names_takes_linear_time(backend: BackendName) -> None:
    def work(count: int) -> None:
        added = [AddedToken(f"<|reserved_{at}|>", 300 + at) for at in range(count)]
        make(backend, *added).count("hello", {token.content for token in added[1:]})

    work(100)
    assert growth(work, 2500) < TOO_MUCH


units = st.sampled_from(["a", "b", "ab", "aab", " ", "\n", "\u3000", "\u4e2d", "<", "|>"])
runs = st.builds(lambda unit, times: unit * times, units, st.integers(1, 12))
long_tokens = st.lists(
    st.tuples(st.lists(runs, min_size=1, max_size=3).map("".join), flags),
    min_size=1,
    max_size=5,
    unique_by=lambda token: token[0],
)


@given(
    added=long_tokens,
    text=st.lists(runs, max_size=8).map("".join),
    parts=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), max_size=6),
    policy=st.sampled_from(["allow", "text"]),
    nfc=st.booleans(),
)
@example([("a", {}), ("aaaaab", {})], "aaaaa", [], "allow", False)
@example([("ab", {}), ("bcd", {}), ("abce", {})], "abcdabcabce", [], "allow", False)
@settings(max_examples=max_examples(300))
def test_overlapping_tokens_match_as_in_hugging_face(
    backend: BackendName,
    added: list[tuple[str, dict[str, bool]]],
    text: str,
    parts: list[tuple[int, int]],
    policy: Any,
    nfc: bool,
) -> None:
    # Append prefixes of tokens, and whole tokens.
    text += "".join([added[which % len(added)][0][:size] for which, size in parts])
    added = [
        (content, {"special": True, "normalized": False} | having) for content, having in added
    ]
    engine, ours = live(added, nfc)
    engine.encode_special_tokens = policy == "text"
    wanted = engine.encode(text)
    tok = make(backend, *ours, nfc=nfc)
    assert tok.encode(text, policy) == wanted.ids


def spelled(matches: list[tuple[int, int, int]], patterns: list[bytes]) -> list[tuple[int, bytes]]:
    """Return the start of each match, and the bytes of its pattern, without empty matches."""
    return [(first, patterns[pattern]) for pattern, first, last in matches if last > first]


@given(
    patterns=st.sets(
        st.lists(st.sampled_from([b"a", b"b", b"ab", b"aa", b"abab"]), min_size=1, max_size=6).map(
            b"".join
        ),
        min_size=1,
        max_size=8,
    ),
    data=st.lists(st.sampled_from([b"a", b"b", b"abab", b"aaaaaa", b"c"]), max_size=12).map(
        b"".join
    ),
    start=st.integers(0, 5),
    end=st.integers(0, 40),
)
@settings(max_examples=max_examples(500))
def test_a_matcher_finds_the_leftmost_and_longest(
    patterns: set[bytes], data: bytes, start: int, end: int
) -> None:
    end = min(end, len(data))
    wanted = []
    at = start
    while at < end:
        here = [one for one in patterns if data[at:end].startswith(one)]
        if here:
            wanted.append((at, max(here, key=len)))
        at += len(wanted[-1][1]) if here else 1
    ordered = sorted(patterns)
    found = list(TokenMatcher(ordered).matches(data, start, end))
    assert spelled(found, ordered) == wanted
    assert all(last - first == len(ordered[pattern]) for pattern, first, last in found)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("special", [(False, False), (True, False), (False, True), (True, True)])
def test_tokens_whose_normalized_contents_are_equal(
    backend: BackendName, order: int, special: tuple[bool, bool]
) -> None:
    # Hugging Face's tokenizers finds one of the two by chance: a hash table gives their order. bpe
    # prefers a special token, and then the token that comes first in the list.
    tokens = [
        AddedToken(content, 300 + at, special=is_special, normalized=True)
        for at, (content, is_special) in enumerate(
            zip(["e\u0302\u0301", "\u1ebf"][::order], special, strict=True)
        )
    ]
    tok = make(backend, *tokens, nfc=True)
    id = 301 if special == (False, True) else 300
    for text in ("e\u0302\u0301", "\u1ebf"):
        # A former bug took zeros in the text for bytes after the end of the second token.
        for zeros in range(4):
            assert tok.encode(text + "\0" * zeros, "allow") == [id, *([0] * zeros)]


@given(added=added_tokens, names=st.sets(st.integers(0, 3)), text=st.text("ab< >_", max_size=20))
@settings(max_examples=max_examples(100))
def test_a_set_of_all_names_is_the_policy_allow(
    backend: BackendName,
    added: list[tuple[str, dict[str, bool]]],
    names: set[int],
    text: str,
) -> None:
    tokens = [AddedToken(content, 300 + at, **given) for at, (content, given) in enumerate(added)]
    tok = make(backend, *tokens)
    special = {token.content for token in tokens if token.special}
    assert tok.encode(text, special) == tok.encode(text, "allow")
    some = {token.content for at, token in enumerate(tokens) if at in names and token.special}
    others = [token for token in tokens if not token.special or token.content in some]
    assert tok.encode(text, some) == make(backend, *others).encode(text, "allow")


def test_cached_sets_take_bounded_memory(
    backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 1 << 20
    monkeypatch.setattr("bpe.encoding.policies.MAX_SET_BYTES", most)
    added = [AddedToken(f"<|{at}|>", 300 + at) for at in range(300)]
    added.append(AddedToken("x" * (most // 500), 999))
    policies = Policies(added, make(backend)._pipeline.backend)
    for at in range(2 * MAX_SETS):
        assert policies.added_for({added[at].content, added[at + 1].content}) is not None
    assert len(policies._sets) == MAX_SETS
    for at in range(30):
        names = {added[at].content, added[-1].content}
        found = policies.added_for(names)
        assert policies.added_for(names) is found
        assert sum(size for _, size in policies._sets.values()) <= most
    assert 2 < len(policies._sets) < 30


def test_named_policies_share_one_search_structure() -> None:
    tok = make("python", AddedToken("<a>", 300), AddedToken("<b>", 301, special=False))
    policies = tok._pipeline._policies
    found = [policies.added_for(policy, "exact") for policy in ("raise", "text", "allow")]
    phases = [search._phases[0] for search in found if isinstance(search, AddedTokens)]
    assert phases[0] is phases[1] is phases[2]


def test_errors_are_short(backend: BackendName) -> None:
    content = "<" + "x" * 100_000
    tok = make(backend, content, *[f"<|{at}|>" for at in range(20_000)])
    with pytest.raises(
        SpecialTokenError, match=r"'<x{30,}'\.\.\.'x{30,}' .* at offset 2; "
    ) as caught:
        tok.encode(f"a {content}")
    assert caught.value.token == content
    assert len(str(caught.value)) < 500
    message = (
        r"special= contains 'y{30,}'\.\.\.'y{30,}' .*, which is not .* '<xx.* and 19,991 more$"
    )
    with pytest.raises(ValueError, match=message) as unknown:
        tok.encode("a", {"y" * 100_000})
    assert len(str(unknown.value)) < 1000
    for wrong in ("z" * 100_000, 10**100_000):
        with pytest.raises((ValueError, TypeError), match="special=") as bad:
            tok.encode("a", wrong)  # type: ignore[arg-type]
        assert len(str(bad.value)) < 500


def test_two_tokens_of_one_id_are_told_apart(backend: BackendName) -> None:
    tok = make(backend, AddedToken("<a>", 300), AddedToken("<b>", 300))
    for content in ("<a>", "<b>"):
        with pytest.raises(SpecialTokenError, match=f"special token '{content}' at offset 1"):
            tok.encode(f"x{content}")
    nfc = make(backend, AddedToken("<e\u0301>", 300, normalized=True),
               AddedToken("<a\u0301>", 300, normalized=True), nfc=True)  # fmt: skip
    for content in ("<e\u0301>", "<a\u0301>"):
        for text in (content, content.replace("e\u0301", "\u00e9").replace("a\u0301", "\u00e1")):
            with pytest.raises(SpecialTokenError) as caught:
                nfc.encode(f"x{text}")
            assert (caught.value.token, caught.value.position) == (content, 1)

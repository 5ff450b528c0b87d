"""Tokenizer: arguments, properties, equality, copies and pickles."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

import bpe
import pretok
from bpe import AddedToken, Template, Tokenizer, Vocabulary
from bpe.normalizers.chain import NFC
from hello_tokenizer import MERGED, SPECIAL, TEXT, VOCABULARY, make
from pretok.machine.backend import BackendName
from vocabularies import BYTES, Whole


class Pairs:
    """A pre-tokenizer object, as a user may write it: each pre-token has two code points."""

    def offsets(self, text: str) -> Any:
        return np.append(np.arange(0, len(text), 2), len(text))


class ListOffsets:
    """Returns a list instead of an array: each code point is a pre-token."""

    def offsets(self, text: str) -> Any:
        return [*range(len(text)), len(text)]


def test_a_pre_tokenizer_object(backend: BackendName) -> None:
    tok = make(backend, Pairs())
    assert tok.encode("hello") == [256, 257, 111]
    assert tok.encode_array("hello").tolist() == [256, 257, 111]
    assert tok.count("hello") == 3
    assert tok.encode_batch(["hello", ""], threads=2) == [[256, 257, 111], []]
    assert tok.encode_batch_array(["hello"])[0].tolist() == [256, 257, 111]
    assert tok.encode("<s>he<s>llo", "allow") == [SPECIAL, 256, SPECIAL, 257, 111]
    assert tok.encode(b"\xff\xfehe") == [270, 256]
    assert tok.encode("\ud83d\ude00h") == [268, 0x80, 104]
    assert [(token.start, token.end) for token in tok.tokens("he\u4e2dll")] == [
        (0, 2), (2, 3), (3, 4), (4, 5)
    ]  # fmt: skip
    assert tok.decode(tok.encode(TEXT, "text")) == TEXT
    assert tok.preset is None
    assert isinstance(tok.pre_tokenizer, Pairs)
    assert "Pairs" in repr(tok)
    assert make(backend, ListOffsets()).encode("hello") == list(b"hello")
    assert make(backend, Whole()).encode("hello") == [259]


def test_a_pre_tokenizer_with_attributes_of_its_own(backend: BackendName) -> None:
    """Only those of a PreTokenizer have a meaning."""

    class Named(Whole):
        preset, unicode = "mine", 16

    tok = make(backend, Named())
    assert tok.encode("hello") == [259]
    assert tok.preset is None
    assert "Named" in repr(tok)
    with pytest.raises(bpe.SpecialTokenError):
        tok.encode("he<s>")


@pytest.mark.parametrize("bounds", [[0], [], [0, 1], [1, 5], [0, 3, 2, 5], [0, 9], [-1, 5],
                                    [0, 3, 1, 4, 5]])  # fmt: skip
def test_wrong_boundaries(backend: BackendName, bounds: list[int]) -> None:
    class Wrong:
        def offsets(self, text: str) -> Any:
            return np.array(bounds, np.int64)

    with pytest.raises(
        ValueError, match=r"Wrong\.offsets gave boundaries from .*; expected ascending"
    ):
        make(backend, Wrong()).encode("hello")


@pytest.mark.parametrize("wrong", [None, 5, object()])
def test_objects_that_are_not_a_pre_tokenizer(backend: BackendName, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"preset is of type .*; expected a Preset"):
        make(backend, wrong)


def test_ways_to_name_a_pre_tokenizer(backend: BackendName) -> None:
    by_name = make(backend, "cl100k_base")
    preset = pretok.get("cl100k").preset
    others = [preset, pretok.get("cl100k", backend="python"), pretok.get("cl100k")]
    for other in others:
        tok = make(backend, other)
        assert tok == by_name
        assert tok.preset is preset
        assert tok.encode(TEXT, "text") == by_name.encode(TEXT, "text")
        assert isinstance(tok.pre_tokenizer, pretok.PreTokenizer)
        assert tok.pre_tokenizer.backend == backend
    with pytest.raises(pretok.UnknownPresetError):
        make(backend, "no such preset")
    newer = make(backend, pretok.get("cl100k", unicode="18.0"))
    assert isinstance(newer.pre_tokenizer, pretok.PreTokenizer)
    assert newer.pre_tokenizer.unicode == "18.0"
    assert newer != by_name


@pytest.mark.parametrize("wrong", ["NFD", "nfc", "", 5, True])
def test_another_normalizer(backend: BackendName, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"normalizer=.*; expected None, 'NFC' or an object"):
        make(backend, normalizer=wrong)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (3, "^template is of type int; expected a Template$"),
        (((1,), ()), "^template is of type tuple; expected a Template$"),
        (Template(("<s>",)), "^template.before has '<s>'; expected an id$"),  # type: ignore[arg-type]
        (Template((), "ab"), "^template.after is 'ab'; expected a tuple of ids$"),  # type: ignore[arg-type]
        (Template((), (1.5,)), "^template.after has 1.5; expected an id$"),  # type: ignore[arg-type]
        (Template((-1,)), "^template.before has -1; expected an id from 0 to "),
        (Template((1 << 40,)), "^template.before has 1099511627776; expected an id from 0 to "),
    ],
)
def test_wrong_templates(backend: BackendName, template: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        Tokenizer(VOCABULARY, "gpt2", template=template, backend=backend)


def test_a_template_of_lists_and_other_ints(backend: BackendName) -> None:
    template: Any = Template([np.int64(97)], [])  # type: ignore[arg-type]
    tok = Tokenizer(VOCABULARY, "gpt2", template=template, backend=backend)
    assert tok.template == Template((97,), ())
    assert [type(id) for id in tok.encode("a", add_special_tokens=True)] == [int, int]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None, "gpt2"), "^vocabulary is of type NoneType; expected a Vocabulary$"),
        (({97: b"a"}, "gpt2"), "^vocabulary is of type dict; expected a Vocabulary$"),
        ((VOCABULARY, "gpt2", "<s>"), r"^added_tokens\[0\] is of type str; expected an Added"),
    ],
)
def test_arguments_of_another_type(backend: BackendName, arguments: Any, said: str) -> None:
    vocabulary, preset, *added = arguments
    with pytest.raises(TypeError, match=said):
        Tokenizer(vocabulary, preset, added_tokens=added, backend=backend)


def test_properties(backend: BackendName) -> None:
    added = [AddedToken("<s>", SPECIAL), AddedToken("<p>", 500, special=False)]
    tok = make(backend, added_tokens=added, normalizer="NFC", name="mine", add_prefix_space=True)
    assert tok.vocabulary is VOCABULARY
    assert tok.vocab_size == 501
    assert make(backend, added_tokens=[]).vocab_size == 256 + len(MERGED)
    assert tok.special_tokens == {"<s>": SPECIAL}
    assert tok.added_tokens == tuple(added)
    assert (tok.normalizer, tok.add_prefix_space, tok.name) == (NFC, True, "mine")
    assert tok.backend == backend
    assert repr(tok) == f"<Tokenizer 'mine', 501 ids, split 'cl100k', {backend}>"
    assert repr(make(backend)) == f"<Tokenizer 401 ids, split 'cl100k', {backend}>"
    assert make(backend).name is None
    assert (b"he", b"ll") in tok.merges


VARIANTS: list[dict[str, Any]] = [
    {},
    {"added_tokens": []},
    {"added_tokens": [AddedToken("<s>", SPECIAL, special=False)]},
    {"normalizer": "NFC"},
    {"add_prefix_space": True},
    {"template": Template((1,))},
    {"preset": "gpt2"},
]


def test_equality_and_hash(backend: BackendName) -> None:
    made = [make(backend, **options) for options in VARIANTS]
    again = [make(backend, **options) for options in VARIANTS]
    for one, other in zip(made, again, strict=True):
        assert one == other
        assert hash(one) == hash(other)
    assert len({*made, *again}) == len(VARIANTS)
    assert made[0] == make("python"), "the backend does not change the ids"
    assert made[0] == make(backend, name="named")
    assert made[0] != Tokenizer(Vocabulary(BYTES), "cl100k", backend=backend)
    assert made[0] != "cl100k"
    two = [AddedToken("<s>", SPECIAL), AddedToken("<t>", 401)]
    assert make(backend, added_tokens=two) == make(backend, added_tokens=two[::-1])


def test_a_copy_is_the_tokenizer_itself(backend: BackendName) -> None:
    tok = Tokenizer(VOCABULARY, "gpt2", backend=backend)
    assert copy.copy(tok) is copy.deepcopy(tok) is tok
    assert copy.deepcopy([tok, {"a": tok}]) == [tok, {"a": tok}]
    added = AddedToken("<a>", 900)
    other = Tokenizer(tok.vocabulary, tok.pre_tokenizer, added_tokens=[added], backend=backend)
    assert other.encode("<a>", special="allow") == [900]
    assert 900 not in tok.encode("<a>", special="allow")


@pytest.mark.parametrize("options", VARIANTS, ids=[",".join(options) for options in VARIANTS])
def test_pickling_and_copying(backend: BackendName, options: dict[str, Any]) -> None:
    tok = make(backend, name="mine", **options)
    copies = [pickle.loads(pickle.dumps(tok, protocol)) for protocol in (2, 4, 5)]
    for other in (*copies, copy.copy(tok), copy.deepcopy(tok)):
        assert other == tok
        assert (other.backend, other.name) == (backend, "mine")
        assert other.encode(TEXT, "allow") == tok.encode(TEXT, "allow")
        assert other.special_tokens == tok.special_tokens
        assert other.template == tok.template
        assert other.encode("a", add_special_tokens=True) == tok.encode(
            "a", add_special_tokens=True
        )
    user = make(backend, Pairs())
    assert pickle.loads(pickle.dumps(user)).encode("hello") == user.encode("hello")


def test_a_pickle_keeps_the_requested_backend(backend: BackendName) -> None:
    for tok, requested in ((Tokenizer(VOCABULARY, "gpt2"), None), (make(backend), backend)):
        constructor = tok.__reduce__()[0]
        assert isinstance(constructor, partial)
        assert constructor.keywords["backend"] == requested


@pytest.mark.parametrize(
    "name",
    [name for name in dir(Tokenizer)
     if not name.startswith("_") and not callable(getattr(Tokenizer, name))],
)  # fmt: skip
def test_a_tokenizer_cannot_be_changed(backend: BackendName, name: str) -> None:
    tok = make(backend)
    before = getattr(tok, name)
    with pytest.raises(AttributeError):
        setattr(tok, name, None)
    assert getattr(tok, name) == before


def test_changing_an_argument_later_has_no_effect(backend: BackendName) -> None:
    added = [AddedToken("<s>", SPECIAL)]
    tok = make(backend, added_tokens=added)
    added.clear()
    assert tok.encode("<s>", "allow") == [SPECIAL]
    assert tok.added_tokens == (AddedToken("<s>", SPECIAL),)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(pretok.PretokError, match="backend='rust'"):
        Tokenizer(VOCABULARY, "gpt2", backend="rust")  # type: ignore[arg-type]


@pytest.mark.parametrize("normalizer", [None, "NFC"])
def test_a_dropped_tokenizer_is_freed_at_once(backend: BackendName, normalizer: Any) -> None:
    # A tokenizer holds megabytes. It must not be part of a reference cycle, which would keep it
    # until the garbage collector runs.
    split = Whole()
    kept = weakref.ref(split)
    tok = make(backend, split, normalizer=normalizer)
    assert tok.decode(tok.encode(TEXT, "allow")) == TEXT
    gc.disable()
    try:
        del split, tok
        assert kept() is None
    finally:
        gc.enable()

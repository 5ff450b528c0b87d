"""Call every function, class and method of pretok._core with wrong arguments.

Runs as a program: a wrong argument may end the process. It prints each call before it is made, so
the last line names the call that ended the process.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

import numpy as np

import pretok
from bpe.budgets.chunking import Chunk
from pretok import _core
from pretok.pre_tokenizer import native_machine

REFUSALS = (TypeError, ValueError, OverflowError, MemoryError, ArithmeticError, BufferError)
MEMORY = 6 << 30
"""The limit of the process's memory: a huge count must be refused, or raise MemoryError."""
U32 = np.uint32


def u32(*values: int) -> Any:
    return np.array(values, U32)


def unaligned(kind: type, size: int) -> Any:
    width = np.dtype(kind).itemsize
    return np.zeros(size * width + 1, np.uint8)[1:].view(kind)


def wrong_values() -> list[object]:
    """Return new values of many types, sizes and shapes; most are wrong for any parameter."""
    return [
        None, True, -1, 0, 1, 3, 255, 256, 257, 1 << 24, 1 << 31, (1 << 32) - 1, 1 << 32,
        1 << 62, (1 << 63) - 1, 1 << 64, -(1 << 63), 1.5, float("nan"),
        "", "a", "ab é\U0001f600", "\ud800", "raise", b"", b"a", b"\xff\xfe\xc3", b"ab" * 40,
        bytearray(b"abc"), memoryview(b"abcdef")[::2], memoryview(b"abcdef"),
        [], [1], [-1], [None], ["a"], [b"a"], ["\ud800"], [1 << 40], ["a"] * 3, [0] * 256,
        [0] * 300, [[]], [()], (), (1,), (None, None), ("a", 1), {}, {"a": 1}, {1: "a"},
        {b"a": -1}, {"a": 1 << 40}, set(), {1 << 31}, object(), int, len, iter([]), iter(["a", 1]),
        lambda *_: None, lambda *_: [b"a"] * 256, lambda *_: ["a"] * 256, lambda *_: 1 / 0,
        u32(), u32(0, 1, (1 << 32) - 1), u32(1, 1), np.zeros(300, U32), u32(5)[0],
        np.array([5, 3, 1]), np.array([0, -2, 9]), np.array([0, 1 << 62]), np.array([1 << 62] * 4),
        np.arange(6, dtype=U32).reshape(2, 3), np.arange(12, dtype=U32)[::2],
        np.arange(6, dtype=U32)[::-1], np.arange(6, dtype=">u4"), unaligned(np.uint32, 4),
        unaligned(np.int64, 4), np.array([float("nan")]), np.array(["a"]),
        np.array([object()], object), np.zeros((0, 3), U32), np.array(3, U32),
        np.broadcast_to(u32(7), (1 << 20,)), np.zeros(3, np.float32),
    ]  # fmt: skip


DESCRIPTIONS = [f"{value!r:.80}" for value in wrong_values()]


@cache
def packed() -> tuple[bytes, Any, Any]:
    """Return the bytes, lengths and ids of the 256 bytes and of "ab"."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab"]
    return b"".join(tokens), u32(*map(len, tokens)), np.arange(257, dtype=U32)


@cache
def machine() -> Any:
    return native_machine(pretok.get("gpt2", backend="native"))


def split_finder() -> Any:
    return _core.SplitFinder(machine(), [(0, "a", True, False), (1, "'", True, False)], 2, False)


def encoder(machine_: Any = ...) -> _core.Tokenizer:
    rows = np.array([[97, 98, 256]], U32)
    first = machine() if machine_ is ... else machine_
    spec = _core.Spec(*packed(), {"merges": rows})
    return _core.Tokenizer(spec, first, 1 << 12)


def dropout_encoder() -> _core.Tokenizer:
    spec = _core.Spec(*packed(), {"merges": np.array([[97, 98, 256]], U32)})
    return _core.Tokenizer(spec, machine(), 1 << 12, for_dropout=True)


def prompts() -> _core.PromptCache:
    return _core.PromptCache(encoder(), 1 << 16, 2, 8)


def added(*more: Any) -> _core.AddedTokens:
    return _core.AddedTokens([("<e>", 300, True, False, False, False, False), *more], [])


def slow(*_: object) -> str:
    return "slow"


def calls_of(self: _core.Tokenizer) -> tuple[Any, ...]:
    return self.fast_calls(lambda _: added(), (slow, slow, slow), False, False)


def stream() -> _core.TextStream:
    made = encoder().text_stream(False, False, True, ["ab"])
    assert made is not None
    made.feed([97, 32])
    return made


def session() -> _core.Session:
    made = encoder().session(added(), False)
    made.append("ab cd<e>", added())
    return made


def token_places() -> _core.TokenPlaces:
    made = encoder().encode_segments(*VALID["Tokenizer.encode_segments"]()[1:])
    assert made is not None
    return made[1]


def trainer() -> _core.Trainer:
    counts = _core.WordCounts()
    counts.add_words({b"abab": 3, b"ab": 1})
    return _core.Trainer(counts, "huggingface", 1, None)


RUN = b"\0\2ab\1\0\0\1b\5\1"
"""A block with the words "ab" and "b", which occur once and five times."""


def ignore(_: object) -> None:
    pass


class Lists:
    """Ordinary memory for a Trainer."""

    def block(self, size: int) -> bytearray:
        return bytearray(size)

    def trim(self, have_moved: bool) -> bool:
        return not have_moved


def huggingface_call() -> Any:
    return _core.huggingface_call("key", {int: True}, Plain, Plain, slow, {"check": 0})


def read_only(values: Any) -> Any:
    values.flags.writeable = False
    return values


def proofs() -> Any:
    kinds = read_only(np.zeros(0x110000, np.uint16))
    return _core.PairProofs.of_kinds(kinds, bytearray(1), lambda *_: 0)


def chunks() -> Any:
    made = _core.Chunks(*VALID["Chunks"]())
    made.add_borders("token", None)
    return made


def piece_fields() -> dict[str, Any]:
    """Return all fields that a Spec of Python may have."""
    return {
        "mergeable": 3,
        "from_ranks": False,
        "ignore_merges": False,
        "add_prefix_space": False,
        "added": [("<e>", 5, True, False, False, False, False)],
        "text": (3, True, False, False, "", ""),
        "scores": np.array([0, 0, 1], np.float32),
        "merges": np.zeros((0, 3), U32),
        "steps": b"\1\4\0\0",  # Lowercase
        "split_at_marks": "no",
    }


class Plain:
    pass


class Traced(str):
    __slots__ = ("_origin", "_several")


class Origin:
    path = None


def traced(text: str) -> Traced:
    made = Traced(text)
    made._origin = Origin()  # type: ignore[attr-defined]
    return made


class Mapping(dict[Any, Any]):
    pass


class Fields(dict[Any, Any]):
    __slots__ = ("_path", "_raw")


class Items(list[Any]):
    __slots__ = ("_path", "_raw")


class WithSlot:
    __slots__ = ("call",)


def fast_method() -> Any:
    return _core.FastCallMethod(slow, "call", ("", "special"), (None, "raise"), 2)


_RANKS = b"".join(b"%b %d\n" % (b64encode(bytes([byte])), byte) for byte in range(256))
_JSON = b'{"model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}'


def json_file() -> Any:
    return _core.open_json(_JSON)


def spec() -> _core.Spec:
    return _core.Spec(*VALID["Spec"]())


def normalizer() -> Any:
    return _core.Normalizer(*VALID["Normalizer"]())


def of_tokens() -> tuple[Any, ...]:
    rows = _core.TokenRows(False, None)
    rows.add(*token_rows())
    return u32(97, 98, 97, 98), u32(1, 1, 2), rows, "huggingface", 1, None, False, 4, Lists()


def token_rows() -> tuple[Any, ...]:
    return u32(0, 1, 2), u32(2, 1), np.array([3, 1])


VALID: dict[str, Callable[[], tuple[Any, ...]]] = {
    "AddedTokens": lambda: ([("<e>", 300, True, False, False, False, False)], [(48, 57)]),
    "AddedTokens.ends": lambda: (added(),),
    "AddedTokens.exact": lambda: (added(),),
    "AddedTokens.moved": lambda: (_core.AddedTokens.of_ranges([(2, added(), [1])]), [1]),
    "AddedTokens.normalized": lambda: (added(),),
    "AddedTokens.of_part": lambda: (_core.AddedTokens.of_ranges([(2, added(), [1])]), 0, 2),
    "AddedTokens.of_ranges": lambda: ([(2, added(), [1]), (3, added(), [])],),
    "AddedTokens.segments": lambda: (added(), b"a<e>b"),
    "AddedTokens.treating": lambda: (added(), "raise"),
    "Chunks": lambda: (
        encoder(), added(), proofs(), b"abc d", np.array([2, 3, 5], np.int32), False, None,
        b"\1" * 6, True, 4, 2, "abc d",
    ),
    "Chunks.add_borders": lambda: (chunks(), "places", np.array([1, 5])),
    "Chunks.add_sentences": lambda: (chunks(), read_only(np.zeros(1 << 16, np.uint8))),
    "Chunks.longest": lambda: (chunks(), 0, 0, 0),
    "Chunks.run": lambda: (chunks(), 0, 0, 10, 0, Chunk),
    "PairProofs": lambda: (),  # only its functions make one
    "PairProofs.of_joined": lambda: (np.array([1 << 21 | 2], np.uint64), [32]),
    "PairProofs.of_kinds": lambda: (
        read_only(np.zeros(0x110000, np.uint16)), bytearray(1), lambda *_: 0,
    ),
    "TextStream": lambda: (),  # only Tokenizer.text_stream makes one
    "TextStream.__len__": lambda: (stream(),),
    "TextStream.clone": lambda: (stream(),),
    "TextStream.feed": lambda: (stream(), [97, 256]),
    "TextStream.finish": lambda: (stream(),),
    "TextStream.ids": lambda: (stream(),),
    "TextStream.reset": lambda: (stream(),),
    "TextStream.rewind": lambda: (stream(), 1),
    "TextStream.stopped": lambda: (stream(),),
    "Session": lambda: (),  # only Tokenizer.session makes one
    "Session.__len__": lambda: (session(),),
    "Session.append": lambda: (session(), "ab", added()),
    "Session.byte_of": lambda: (session(), 1),
    "Session.character_of": lambda: (session(), 1),
    "Session.characters": lambda: (session(),),
    "Session.clone": lambda: (session(),),
    "Session.drop_text": lambda: (session(),),
    "Session.extend": lambda: (session(), u32(97, 256), u32(1, 2), b"aab", added()),
    "Session.ids": lambda: (session(),),
    "TokenPlaces": lambda: (),  # only Tokenizer.encode_segments makes one
    "TokenPlaces.find": lambda: (token_places(),),
    "Session.memory": lambda: (session(),),
    "Session.parts": lambda: (session(),),
    "Session.peek": lambda: (session(), "ab", added()),
    "Session.replace": lambda: (session(), 1, 2, "ab", added()),
    "Session.size": lambda: (session(),),
    "Session.spans": lambda: (session(), 0, 2),
    "Session.stable": lambda: (session(),),
    "Session.text": lambda: (session(), 0, 2),
    "Session.update": lambda: (session(), "ab", added()),
    "Tokenizer": lambda: (spec(), machine(), 1 << 20, True, True),
    "Tokenizer.all_take_fast_path": lambda: (["a", b"b"], False, False),
    "Tokenizer.cache_bytes": lambda: (encoder(),),
    "Tokenizer.count": lambda: (encoder(), "abc", added(), 2),
    "Tokenizer.decode": lambda: (encoder(), [97, 256]),
    "Tokenizer.decode_calls": lambda: (encoder(), (slow, slow)),
    "Tokenizer.decode_calls()[0]": lambda: ([97, 256], "replace", True),
    "Tokenizer.decode_calls()[1]": lambda: (u32(97, 256), True),
    "Tokenizer.encode": lambda: (encoder(), "abc", added(), 2),
    "Tokenizer.encode_array": lambda: (encoder(), b"abc", added(), 2),
    "Tokenizer.encode_batch": lambda: (encoder(), ["abc", "d"], added(), 2),
    "Tokenizer.encode_batch_array": lambda: (encoder(), ["abc", "d"], added(), 2),
    "Tokenizer.encode_some": lambda: (dropout_encoder(), "abc", added(), 0.5, 1, True),
    "Tokenizer.encode_batch_some": lambda: (dropout_encoder(), ["abc"], added(), 0.5, 1, 2),
    "Tokenizer.encode_packed": lambda: (encoder(), b"abcd", np.array([0, 3, 4]), added(), 2),
    "Tokenizer.encode_segments": lambda: (
        encoder(), ["ab", ("c", "allow")], {"allow": added(), "raise": added()}, "raise"
    ),
    "Tokenizer.fast_calls": lambda: (
        encoder(), lambda _: added(), (slow, slow, slow), False, False,
    ),
    "Tokenizer.fast_calls()[0]": lambda: ("abc", "allow", "replace"),
    "Tokenizer.fast_calls()[1]": lambda: ("abc", "allow", "replace", None),
    "Tokenizer.fast_calls()[2]": lambda: (b"abc", "raise", "replace"),
    "Tokenizer.has_all_tables": lambda: (encoder(),),
    "Tokenizer.is_normal": lambda: ("e\u0301",),
    "Tokenizer.merge": lambda: (encoder(None), b"abc"),
    "Tokenizer.merges": lambda: (encoder(),),
    "Tokenizer.missing_bytes": lambda: (encoder(),),
    "Tokenizer.normalizer": lambda: (encoder(),),
    "Tokenizer.rendered": lambda: (encoder(),),
    "Tokenizer.safe_cut": lambda: (encoder(), b"ab cd", added()),
    "Tokenizer.session": lambda: (encoder(), added(), True),
    "Tokenizer.span_call": lambda: (encoder(), added(), False, (b"\0" * 9, b"\1" * 9, True)),
    "Tokenizer.span_call()": lambda: ("ab cd",),
    "Tokenizer.spans": lambda: (encoder(), "abc", added(), 2),
    "Tokenizer.spans_of_normalized": lambda: (encoder(), b"abc", added()),
    "Tokenizer.text_stream": lambda: (encoder(), False, True, False, ["ab", "é"]),
    "Tokenizer.takes_spaces": lambda: (encoder(),),
    "Tokenizer.trim": lambda: (encoder(),),
    "FastCallMethod": lambda: (slow, "call", ("", "special"), (None, "raise"), 2),
    "FastCallMethod.__call__": lambda: (fast_method(), WithSlot(), "text"),
    "FastCallMethod.__set_name__": lambda: (fast_method(), WithSlot, "call"),
    "JsonFile": lambda: (),  # only open_json makes one
    "JsonFile.__len__": lambda: (json_file(),),
    "JsonFile.file": lambda: (json_file(),),
    "JsonFile.find_all": lambda: (json_file(), ["ab"]),
    "JsonFile.ids": lambda: (json_file(),),
    "JsonFile.model": lambda: (json_file(), [("a", 0, True, False, False, False, False)], False),
    "JsonFile.rest": lambda: (json_file(),),
    "JsonFile.spec": lambda: (json_file(),),
    "Machine": lambda: ((_core.built_in_program("gpt2") or ("", []))[1], "16.0"),
    "Machine.advance": lambda: (machine(), "abc d", True, False, -1),
    "Machine.count": lambda: (machine(), "abc d"),
    "Machine.offsets": lambda: (machine(), "abc d", "utf16"),
    "Machine.run_length": lambda: (machine(), "abc d", 3),
    "Machine.split": lambda: (machine(), "abc d"),
    "Machine.split_batch": lambda: (machine(), ["abc d", "e"], 2),
    "Machine.split_bytes": lambda: (machine(), b"abc d"),
    "SplitFinder": lambda: (machine(), [(0, "a", True, False)], 2, False),
    "SplitFinder.find": lambda: (split_finder(), "a b", ["c", " d"]),
    "Machine.steps": lambda: (machine(), "abc d"),
    "Normalizer": lambda: (b"\1\4\0\0", [b"<s>"]),  # Lowercase
    "Normalizer.align": lambda: (normalizer(), b"a  b"),
    "Normalizer.normalized": lambda: (normalizer(), b"a  b"),
    "PromptCache": lambda: (encoder(), 1 << 16, 8, 32, 7),
    "PromptCache.clear": lambda: (prompts(),),
    "PromptCache.encode": lambda: (
        prompts(), "ab cd", added(), added(), b"raise", b"", False, [1], [2],
    ),
    "PromptCache.encode_segments": lambda: (
        prompts(), ["ab", [1], ("cd", "text")], {"text": added()}, added(), "text", True, b"",
    ),
    "PromptCache.statistics": lambda: (prompts(),),
    "Spec": lambda: ("ab\u2581<u>".encode(), u32(1, 1, 3, 3), u32(0, 1, 2, 3), piece_fields()),
    "Spec.fields": lambda: (spec(),),
    "Spec.ignore_merges": lambda: (spec(),),
    "Spec.is_text": lambda: (spec(),),
    "Spec.merges": lambda: (spec(),),
    "Spec.scores": lambda: (spec(),),
    "Spec.tokens": lambda: (spec(),),
    "TokenRows": lambda: (False, Lists()),
    "TokenRows.add": lambda: (_core.TokenRows(False, None), *token_rows()),
    "Trainer": lambda: (_core.WordCounts(), "huggingface", 1, 10),
    "Trainer.first_merges": lambda: (trainer(),),
    "Trainer.merges": lambda: (trainer(),),
    "Trainer.of_run": lambda: ([RUN], 1, None, Lists()),
    "Trainer.of_tokens": of_tokens,
    "Trainer.step": lambda: (trainer(), 258),
    "Trainer.tokens": lambda: (trainer(),),
    "WordCounts": lambda: (),
    "WordCounts.add": lambda: (_core.WordCounts(), machine(), ("abc", b"d"), 2),
    "WordCounts.add_words": lambda: (_core.WordCounts(), {b"abab": 3}),
    "merge_runs": lambda: ([([RUN], 0), ([RUN], 7)], ignore),
    "WordCounts.memory": lambda: (_core.WordCounts(),),
    "WordCounts.spill": lambda: (_core.WordCounts(), ignore),
    "WordCounts.longest": lambda: (_core.WordCounts(),),
    "WordCounts.size": lambda: (_core.WordCounts(),),
    "WordCounts.take": lambda: (_core.WordCounts(),),
    "built_in_program": lambda: ("gpt2",),
    "check_charsmap": lambda: (b"",),
    "check_utf8": lambda: (b"ab\xc3", 0),
    "gather": lambda: (iter(["a", b"b"]), 100, 1, "\n", slow),
    "have_surrogates": lambda: (["a", "\ud800"],),
    "json_texts": lambda: (b'{"text": "a"}\n', b"text"),
    "kernels": lambda: (),
    "pad_rows": lambda: (u32(1, 2, 3), np.array([0, 1, 3]), [9], [8], 5, 3, True, 0, False),
    "huggingface_call": lambda: ("key", {int: True}, Plain, Plain, slow, {"check": 0}),
    "huggingface_call()": lambda: (5, "abc", True, True),
    "open_json": lambda: (_JSON,),
    "read_spec": lambda: (BytesIO(_RANKS),),
    "safe_cut": lambda: (machine(), b"ab cd"),
    "set_first_size": lambda: (-1,),
    "set_piece_size": lambda: (2048,),
    "set_task_size": lambda: (0,),
    "token_ends": lambda: (u32(0, 1), np.array([1, 2], np.int32), b"abc", True, True),
    "use_kernels": lambda: ("plain",),
    "utf8_of": lambda: ("aé",),
    "chat_text_calls": lambda: (Traced, (slow,) * 6),
    "chat_text_calls()[0]": lambda: ("ab", None),
    "chat_text_calls()[1]": lambda: ([traced("a"), (traced("b"),)], "plain"),
    "chat_text_calls()[2]": lambda: ([traced("a"), (traced("b"),)],),
    "chat_text_calls()[3]": lambda: (traced("a"), traced("b")),
    "chat_text_calls()[4]": lambda: (traced("a"), traced("b")),
    "chat_text_calls()[5]": lambda: (traced("a"),),
    "chat_value_calls": lambda: (
        (Traced, Origin, Fields, Items), (slow,) * 3, {"user": ""}, frozenset(["role"]),
        frozenset(["thinking"]), (slow,) * 3,
    ),
    "chat_value_calls()[0]": lambda: ({"a": ["b", 1, None]}, ("tools",)),
    "chat_value_calls()[1]": lambda: ({"role": "user", "content": ["a"]}, 0),
    "chat_value_calls()[2]": lambda: ([{"role": "user", "content": ["a"]}],),
    "json_text": lambda: ({"a": ["b", 1, None]}, 4),
    "field_call": lambda: (Mapping, "name", None, slow),
    "field_call()": lambda: (Mapping(name=1),),
}  # fmt: skip
"""The valid arguments of each callable. NAME() is a function that NAME returns."""

MADE: dict[str, Callable[[], Any]] = {
    "Tokenizer.decode_calls()[0]": lambda: encoder().decode_calls((slow, slow))[0],
    "Tokenizer.decode_calls()[1]": lambda: encoder().decode_calls((slow, slow))[1],
    **{
        f"Tokenizer.fast_calls()[{at}]": lambda at=at: calls_of(encoder())[at]  # type: ignore[misc]
        for at in range(3)
    },
    "Tokenizer.span_call()": lambda: encoder().span_call(added(), False, None),
    **{
        f"chat_text_calls()[{at}]": lambda at=at: _core.chat_text_calls(Traced, (slow,) * 6)[at]  # type: ignore[misc]
        for at in range(6)
    },
    **{
        f"chat_value_calls()[{at}]": lambda at=at: _core.chat_value_calls(  # type: ignore[misc]
            *VALID["chat_value_calls"]()
        )[at]
        for at in range(3)
    },
    "field_call()": lambda: _core.field_call(Mapping, "name", None, slow),
    "huggingface_call()": huggingface_call,
}
"""Makes the functions that other functions return."""
SPECIAL = ("__call__", "__len__", "__set_name__")
"""Special methods that are called like others."""


def found() -> dict[str, Callable[..., Any]]:
    """Return every function, class and method of the module, by name."""
    result: dict[str, Callable[..., Any]] = {}
    for name, value in vars(_core).items():
        if name.startswith("__") or not callable(value):
            continue
        if not isinstance(value, type):
            result[name] = value
            continue
        own = [key for key in vars(value) if not key.startswith("_") or key in SPECIAL]
        if "__init__" in vars(value) or "__new__" in vars(value):
            result[name] = value
        for key in own:
            member = getattr(value, key)
            # A property, or a member of a slot, is called by reading it.
            result[f"{name}.{key}"] = member if callable(member) else member.__get__
    return result


def cases(name: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield a description and arguments: those of VALID, then one or two of them replaced."""
    make = VALID[name]
    yield "valid", make()
    yield "none", ()
    yield "one less", make()[:-1]
    yield "one more", (*make(), None)
    for at in range(len(make())):
        for value, description in zip(wrong_values(), DESCRIPTIONS, strict=True):
            arguments = list(make())
            arguments[at] = value
            yield f"argument {at} is {description}", tuple(arguments)


def main(prefix: str) -> None:
    """Call everything whose name begins with `prefix`; print calls with other outcomes."""
    missing = {*found(), *MADE} ^ set(VALID)
    assert not missing, f"VALID needs entries for exactly the callables; see {sorted(missing)}"
    for name, function in {**found(), **MADE}.items():
        if not name.startswith(prefix):
            continue
        callable_ = function() if name in MADE else function
        print(f"{name}: valid", flush=True)
        result = callable_(*VALID[name]()) if name not in RAISES else None
        functions = result if isinstance(result, tuple) else (result,)
        if any(isinstance(each, BuiltinFunctionType) for each in functions):
            assert any(made.startswith(f"{name}()") for made in MADE), f"MADE needs {name}()"
        for description, arguments in cases(name):
            attempt(name, description, callable_, arguments)
        if "." in name and name not in MADE and name.partition(".")[0] not in ("FastCallMethod",):
            owner = getattr(_core, name.partition(".")[0])
            attempt(name, "no __init__", owner.__new__, (owner,))
    _core.use_kernels(_core.kernels()[-1])
    _core.set_task_size(0)
    print("done", flush=True)


RAISES = ("JsonFile", "PairProofs", "Session", "TextStream", "TokenPlaces")
"""Callables whose entry in VALID is refused too."""


def attempt(name: str, description: str, call: Callable[..., Any], arguments: Any) -> None:
    print(f"{name}: {description}".encode("ascii", "backslashreplace").decode(), flush=True)
    try:
        call(*arguments)
    except REFUSALS:
        pass
    except Exception as error:
        print(f"  WRONG ERROR {type(error).__name__}: {error!s:.100}", flush=True)


def limit_memory() -> None:
    """Let a huge count raise MemoryError; the sanitizer itself needs much address space."""
    if sys.platform == "linux" and "asan" not in Path("/proc/self/maps").read_text():
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    limit_memory()
    main(sys.argv[1] if len(sys.argv) > 1 else "")

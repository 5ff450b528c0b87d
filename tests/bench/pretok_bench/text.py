"""Generate the texts to measure with if no files are given. Every run gets equal texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

SIZE = 2_000_000
"""The default minimum number of code points of a generated text."""


WORDS = """
about after again all and are before between but call can come day each end even find first for
from get give go good great hand have help her here home how if in into is it keep know large
last leave left life like line list long look make many mean might more most move much name need
never new next night no not number of off old on one only open or other our out own part people
place point question read right run same say school second see seem she should show since small
some start still such take tell than that the their them then there these they thing think this
those time to too turn two under until up us very was way we well were what when where which
while who why will with word work world would write year you your
"""


def new_messages(length: int) -> Iterator[str]:
    """Yield messages of common words, each of `length` code points, and never the same one twice.

    Every call yields equal messages.
    """
    source, words = random.Random("messages"), WORDS.split()
    known: set[str] = set()
    while True:
        message = " ".join(source.choices(words, k=length))[:length].capitalize()
        if message not in known:
            known.add(message)
            yield message


def generated_texts(min_size: int = SIZE) -> dict[str, str]:
    """Return texts by name, each of `min_size` code points or slightly more."""
    generators: dict[str, Callable[[random.Random], str]] = {
        "english": _english,
        "code": _code,
        "cjk": _cjk,
        "mixed": _mixed,
    }
    texts = {}
    for name, sentence in generators.items():
        source = random.Random(name)
        parts: list[str] = []
        size = 0
        while size < min_size:
            parts.append(sentence(source))
            size += len(parts[-1])
        texts[name] = "".join(parts)
    return texts


def _word(source: random.Random, letters: str) -> str:
    length = min(1 + int(source.expovariate(0.25)), 14)
    return "".join(source.choices(letters, k=length))


def _sentence(source: random.Random, letters: str) -> str:
    words = [_word(source, letters) for _ in range(source.randint(4, 18))]
    words[0] = words[0].capitalize()
    for _ in range(source.randint(0, 2)):
        place = source.randrange(len(words))
        words[place] += source.choice([",", ",", "'s", "n't", ";", f" {source.randrange(3000)}"])
    return " ".join(words) + source.choice([". ", ". ", "? ", ".\n", ".\n\n"])


def _english(source: random.Random) -> str:
    return _sentence(source, "eeeeettttaaaooiinnsshhrrddlucmfwygpbvk")


def _code(source: random.Random) -> str:
    indent = " " * 4 * source.randint(0, 4)
    name, other = (_word(source, "abcdefiklmnoprstu_") for _ in range(2))
    return indent + source.choice(
        [
            f"if {name}.{other}({source.randrange(99)}) != None:\n",
            f"{name}[{other}] = self.{other.title()} + 0x{source.randrange(4096):x};\n",
            f"// {name} {other}\n",
            f'return "{name}-{other}"\n\n',
        ]
    )


def _cjk(source: random.Random) -> str:
    ranges = [(0x4E00, 0x9FA5), (0x3041, 0x3096), (0xAC00, 0xD7A3)]
    first, last = source.choices(ranges, weights=[6, 3, 2])[0]
    length = source.randint(3, 25)
    body = "".join(chr(source.randint(first, last)) for _ in range(length))
    return body + source.choice(["，", "。", "、", "。\n", " 2026 ", "！"])


def _mixed(source: random.Random) -> str:
    alphabets = [
        "abcdefghilmnoprstuvéèàüöß",
        "абвгдежзиклмнопрстуя",
        "ابتثجحخدذرزسشصضط",
        "अआइकखगघचजतदनपमर\u094d\u093e\u093f",
        "αβγδεζηθικλμνξοπρστ",
        "กขคงจฉชซญดตถท\u0e31\u0e34\u0e48",
    ]
    emoji = source.choice(["", "", "", "😀 ", "👍🏽 "])
    return _sentence(source, source.choice(alphabets)) + emoji

"""Definitions that Python and C++ both have are equal: rule kinds, fields, numbers, names."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import pytest

import pretok
from bpe import merge, vocabulary
from bpe.encoding import added_tokens
from bpe.encoding.added_tokens import AddedToken
from paths import CPP
from pretok import rules
from pretok.behaviors import BEHAVIORS
from pretok.charsets import NEWLINE, SPACE, WHITE_SPACE, classified_text
from pretok.charsets.alphabet import END, partition
from pretok.machine import machine
from pretok.machine.backend import BackendName
from pretok.machine.program import MAGIC
from pretok.rules import (
    CasedWord,
    Contraction,
    Enclosed,
    Groups,
    Literal,
    Phrase,
    Rule,
    Run,
    Spaces,
    Through,
)
from pretok.rules.base import MAX_LITERAL, MAX_LOOK_AHEAD, RuleKind
from pretok.stage import MAX_RULES, MAX_STAGES
from pretok.unicode import CODE_POINTS, VERSIONS
from pretok.unicode.atoms import ATOMS, Atom

CORE = CPP / "core"
FILES: dict[type[Rule], str] = {
    Contraction: "contraction",
    Run: "run",
    CasedWord: "cased_word",
    Spaces: "spaces",
    Literal: "literal",
    Enclosed: "literal",
    Groups: "groups",
    Phrase: "phrase",
}
KINDS = tuple(FILES)
# Members of the C++ structs that Python has as constants or computes.
DERIVED: dict[type[Rule], set[str]] = {
    Contraction: {"apostrophe", "letters"},
    Literal: {"begin", "rest"},
    Enclosed: {"begin", "rest"},
}
# Fields that have another name in C++.
RENAMED: dict[type[Rule], dict[str, str]] = {
    Groups: {"unless_before": "stop"},
    Phrase: {"start": "begin", "rest": "word"},
}


def source(name: str) -> str:
    path = CORE / name
    if not path.exists():
        pytest.skip("no C++ sources: the tests were taken out of the repository")
    return path.read_text(encoding="utf-8")


def python_source(module: ModuleType) -> str:
    assert module.__file__ is not None
    return Path(module.__file__).read_text(encoding="utf-8")


def class_of(kind: type[Rule]) -> str:
    """Return the source of the Python class of a kind."""
    code = Path(inspect.getfile(kind)).read_text(encoding="utf-8")
    return code.split(f"class {kind.__name__}(Rule):")[1].split("\n@dataclass")[0]


def body_of(kind: type[Rule]) -> str:
    """Return the body of the C++ struct of a kind."""
    code = source(f"split/rules/{FILES[kind]}.hpp")
    found = re.search(rf"^struct {kind.__name__} {{\n(.*?)^}};", code, re.M | re.S)
    assert found, f"there is no struct {kind.__name__}"
    return found.group(1)


def test_the_same_kinds_in_the_same_files() -> None:
    variant = re.search(r"using Rule\s*=\s*std::variant<([\w, ]+)>;", source("split/rules.hpp"))
    assert variant
    assert variant.group(1).split(", ") == [kind.__name__ for kind in KINDS]
    for kind in KINDS:
        assert Path(inspect.getfile(kind)).stem == FILES[kind]
        assert class_of(kind)
        assert body_of(kind)
    every = {kind for kind in vars(rules).values() if isinstance(kind, type)}
    assert {kind for kind in every if issubclass(kind, Rule)} == {Rule, *KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_fields(kind: type[Rule]) -> None:
    state = body_of(kind).split("  template <")[0]
    members = set(re.findall(r"^  [\w:<>]+ (\w+)(?: = [\w:]+)?;", state, re.M))
    renamed = RENAMED.get(kind, {})
    fields = {renamed.get(field.name, field.name) for field in dataclasses.fields(kind)}
    derived = DERIVED.get(kind, set())
    assert members - derived == fields
    assert members >= derived


def test_the_same_numbers_for_kinds() -> None:
    found = re.search(r"enum class Kind[^{]*{([^}]*)}", source("split/rules.hpp"))
    assert found
    in_cpp = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", found.group(1))}
    assert in_cpp == {kind.name: kind.value for kind in RuleKind}
    alphabet = partition(chars for rule in EXAMPLES for chars in rule.sets())
    in_python = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(rule).__name__).upper(): rule.serialize(alphabet)[
            0
        ]
        for rule in EXAMPLES
    }
    assert in_cpp == in_python
    assert list(in_cpp.values()) == list(range(len(KINDS)))


EXAMPLES: tuple[Rule, ...] = (
    Contraction("s"),
    Run(WHITE_SPACE),
    CasedWord(NEWLINE, WHITE_SPACE),
    Spaces(Through.ALL),
    Literal("a"),
    Enclosed("a", WHITE_SPACE, "b"),
    Groups(WHITE_SPACE),
    Phrase(NEWLINE, NEWLINE, SPACE),
)


def test_the_same_numbers_for_through() -> None:
    found = re.search(r"enum class Through[^{]*{([^}]*)}", source("split/rules/spaces.hpp"))
    assert found
    assert {name: int(n) for name, n in re.findall(r"(\w+) = (\d+)", found.group(1))} == {
        through.name: through.value for through in Through
    }


def constant(name: str, text: str) -> int:
    """Return the value of a constexpr constant in C++ source."""
    found = re.search(rf"constexpr std::\w+ {name} = (\w+);", text)
    assert found, f"no constant {name}"
    return int(found.group(1), 0)


def test_the_same_constants() -> None:
    assert constant("END", source("unicode/classes.hpp")) == END
    assert constant("ATOM_COUNT", source("unicode/classes.hpp")) == len(ATOMS) == len(Atom)
    assert constant("CODE_POINTS", source("unicode/classes.hpp")) == CODE_POINTS
    assert constant("MAGIC", source("split/program.cpp")) == MAGIC
    assert constant("MAX_STAGES", source("split/program.cpp")) == MAX_STAGES
    assert constant("MAX_RULES", source("split/program.cpp")) == MAX_RULES
    assert constant("MAX_TEXT", source("split/program.cpp")) == MAX_LITERAL
    assert constant("MAX_LOOK_AHEAD", source("split/program.cpp")) == MAX_LOOK_AHEAD
    assert f"above {MAX_LOOK_AHEAD} code points" in source("split/program.cpp")
    assert f"GAP = {machine.GAP};" in source("split/behavior.hpp")
    in_cpp = re.findall(r"^  (\w+) = \d,$", source("split/behavior.hpp"), re.M)
    assert [name.lower() for name in in_cpp] == list(BEHAVIORS)
    contraction = source("split/rules/contraction.hpp")
    long_s = constant("LONG_S", contraction)
    kelvin = constant("KELVIN_SIGN", contraction)
    assert {c: f for c, f in rules.FOLD.items() if c > 0x7F} == {
        long_s: ord("s"),
        kelvin: ord("k"),
    }


def test_the_same_numbers_for_no_match_and_undecided() -> None:
    assert f"NO_MATCH = static_cast<std::size_t>({rules.NO_MATCH});" in source("split/text.hpp")
    assert f"UNDECIDED = static_cast<std::size_t>({classified_text.UNDECIDED});" in source(
        "split/text.hpp"
    )


def test_the_same_limits_of_merging() -> None:
    assert constant("MAX_SCANNED", source("bpe/merge.hpp")) == merge.MAX_SCANNED
    limit = re.search(r"constexpr std::\w+ ID_LIMIT = (\d+) << (\d+);", source("base/ids.hpp"))
    assert limit
    assert int(limit[1]) << int(limit[2]) == vocabulary.ID_LIMIT


def test_the_same_flags_of_added_tokens() -> None:
    body = re.search(r"^struct AddedToken {\n(.*?)^};", source("encode/added.hpp"), re.M | re.S)
    assert body
    members = re.findall(r"^  [\w:]+ (\w+)(?: = \w+)?;", body[1], re.M)
    fields = [field.name for field in dataclasses.fields(AddedToken)]
    assert set(members) == set(fields)


def test_the_same_white_space_around_added_tokens() -> None:
    body = re.search(r"bool is_white_space\(.*?^}", source("encode/added.cpp"), re.M | re.S)
    assert body
    numbers = [int(number, 16) for number in re.findall(r"0x([0-9A-F]+)", body[0])]
    ranges = re.findall(r">= 0x([0-9A-F]+) && code_point <= 0x([0-9A-F]+)", body[0])
    found = {code for a, b in ranges for code in range(int(a, 16), int(b, 16) + 1)} | set(numbers)
    assert found == {ord(char) for char in added_tokens._WHITE_SPACE}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_same_unicode_versions(version: str) -> None:
    assert f'"{version}"' in source("unicode/unicode.cpp")
    assert f"generated/unicode_{version.replace('.', '_')}.inc" in source("unicode/unicode.cpp")
    assert len(re.findall(r'"\d+\.\d"', source("unicode/unicode.cpp"))) == len(VERSIONS)


def test_only_bindings_know_python() -> None:
    for path in CPP.rglob("*.[ch]pp"):
        code = path.read_text(encoding="utf-8")
        knows = re.search(r"pybind11|Python\.h|\bPy[A-Z_]\w+", code)
        assert bool(knows) <= (path.parent.name == "bindings"), path.name
    assert list((CPP / "bindings").glob("*.cpp"))


def stub_functions() -> dict[str, ast.arguments]:
    """Return the parameters of each function and method in _core.pyi by its qualified name."""
    stub = Path(pretok.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    functions = {}
    for node in ast.parse(stub).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, ast.FunctionDef) and member.args.args:
                functions[owner + member.name] = member.args
    return functions


def documented_parameters(signature: str) -> list[tuple[str, bool]]:
    """Return each parameter in a signature by pybind11, and whether it has a default."""
    inner = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    while "[" in inner:
        inner = re.sub(r"\[[^\[\]]*\]", "", inner)
    parts = [part.partition(":") for part in inner.split(", ")]
    return [(name, "=" in rest) for name, _, rest in parts if name != "self"]


def test_the_stub_has_the_parameters_of_cpp(native: BackendName) -> None:
    from pretok import _core

    compared = 0
    for name, arguments in stub_functions().items():
        function = attrgetter(name)(_core)
        signature = (function.__doc__ or "").partition("\n")[0]
        if not signature.startswith(f"{name.rpartition('.')[2]}("):
            continue  # a property, or a type without pybind11
        given = [argument.arg for argument in arguments.args if argument.arg != "self"]
        required = len(given) - len(arguments.defaults)
        expected = [(given[at], at >= required) for at in range(len(given))]
        assert documented_parameters(signature) == expected, name
        compared += 1
    assert compared >= 40

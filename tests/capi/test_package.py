"""The C/C++ library in the ways that users get it: installed, in their build, or as two files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import bpe
from built_once import Built, compiler, library_sources
from c_library import CLibrary
from paths import CPP, ROOT, repository_module, shared
from support import FULL
from vocabularies import SOURCES, live

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLES = CPP / "examples"
HEADER = (CPP / "capi" / "pretok.h").read_text(encoding="utf-8")
LARGEST = 1_000_000
"""The maximum bytes of the stripped shared library with the tables of one Unicode version."""
BUILD = os.environ.get("PRETOK_BUILD")
"""The folder of an earlier CMake build of cpp/ as a shared library, which is used again."""
# The libraries that the shared library may depend on.
MAY_NEED = ("libc", "libstdc++", "libm", "libgcc_s", "libpthread", "ld-linux", "linux-vdso")

CONSUMER = """\
cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C CXX)
if(PRETOK_SOURCE)
  include(FetchContent)
  FetchContent_Declare(pretok SOURCE_DIR ${PRETOK_SOURCE})
  FetchContent_MakeAvailable(pretok)
else()
  find_package(pretok 0.1 CONFIG REQUIRED)
endif()
foreach(source ids.c chat.cpp)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${EXAMPLES}/${source})
  target_link_libraries(${name} PRIVATE pretok::pretok)
endforeach()
"""

# A project without C++, which builds a shared library of its own.
C_CONSUMER = """\
cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C)
if(PRETOK_SOURCE)
  add_subdirectory(${PRETOK_SOURCE} pretok)
  foreach(name BUILD_SHARED_LIBS CMAKE_CXX_STANDARD CMAKE_UNITY_BUILD)
    if(DEFINED ${name})
      message(FATAL_ERROR "pretok sets ${name} of its parent")
    endif()
  endforeach()
else()
  find_package(pretok 0.1 CONFIG REQUIRED)
endif()
add_executable(ids ${EXAMPLES}/ids.c)
target_link_libraries(ids PRIVATE pretok::pretok)
"""
SPLIT_PROGRAM = """\
#include "pretok.hpp"
#include <stdio.h>
int main(void) {
  pretok_pre_tokenizer *split;
  pretok_span spans[8];
  size_t count;
  if (pretok_pre_tokenizer_named("gpt2", NULL, &split, NULL) ||
      pretok_spans(split, "Hello, world!", 13, spans, 8, &count, NULL))
    return 1;
  for (size_t i = 0; i < count; ++i)
    printf("%zu-%zu ", spans[i].start, spans[i].end);
  pretok_pre_tokenizer_free(split);
  return 0;
}
"""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the tests inspect ELF files"),
    # All tests run on one worker, so that the library is built only once.
    pytest.mark.xdist_group("package"),
]


def slow(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that builds the library again. It runs only if PRETOK_FULL=1."""
    skip = pytest.mark.skipif(not FULL, reason="takes minutes; set PRETOK_FULL=1")
    marked: Callable[..., None] = pytest.mark.slow(skip(test))
    return marked


def tool(name: str) -> str:
    """Return the path of a program; skip the test if it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def ran(*command: str | Path, stdin: Path | None = None) -> str:
    """Return the standard output of a command. If it fails, fail with all of its output."""
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run(
            [str(part) for part in command], stdin=source, capture_output=True, check=False
        )
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, f"{command}\n{done.stdout.decode(errors='replace')}\n{said}"
    return done.stdout.decode()


def cmake_built(source: Path, folder: Path, *options: str) -> Path:
    """Configure and build a CMake project; return `folder`."""
    tool("c++")
    ran(tool("cmake"), "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options)
    ran("cmake", "--build", folder, "--parallel", str(os.cpu_count()))
    return folder


def installed(at: Path, folder: Path, shared_library: bool) -> Path:
    """Build the library in `folder`, install it below `at`, and return the prefix."""
    kind = "ON" if shared_library else "OFF"
    options = ("-DPRETOK_TESTS=OFF", "-DPRETOK_EXAMPLES=OFF", f"-DPRETOK_BUILD_SHARED={kind}")
    cmake_built(CPP, folder, *options, "-DPRETOK_UNICODE=16.0")
    ran("cmake", "--install", folder, "--prefix", at / "prefix")
    return at / "prefix"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the shared library is installed."""
    if BUILD is None and not FULL:
        pytest.skip("takes a minute; set PRETOK_FULL=1, or PRETOK_BUILD to the folder of a build")
    at = tmp_path_factory.mktemp("shared")
    if BUILD is None:
        return installed(at, at / "build", shared_library=True)
    # The options of that build, so that only its tables of Unicode are compiled again.
    ran(tool("cmake"), "-S", CPP, "-B", BUILD, "-DPRETOK_UNICODE=16.0")
    ran("cmake", "--build", BUILD, "--target", "pretok")
    ran("cmake", "--install", BUILD, "--prefix", at / "prefix")
    return at / "prefix"


@pytest.fixture(scope="module")
def static_prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the static library is installed."""
    at = tmp_path_factory.mktemp("static")
    return installed(at, at / "build", shared_library=False)


@pytest.fixture(scope="module")
def programs(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled examples, built by a project that finds the installed library."""
    return consumer(tmp_path_factory.mktemp("consumer"), f"-DCMAKE_PREFIX_PATH={prefix}")


def consumer(at: Path, option: str) -> Path:
    """Build the examples as a CMake project of a user; return the folder of the programs."""
    (at / "source").mkdir()
    (at / "source" / "CMakeLists.txt").write_text(CONSUMER)
    return cmake_built(at / "source", at / "build", f"-DEXAMPLES={EXAMPLES}", option)


def c_consumer(at: Path, option: str) -> Path:
    """Configure a project without C++ whose only program is ids.c; return its build folder."""
    (at / "source").mkdir()
    (at / "source" / "CMakeLists.txt").write_text(C_CONSUMER)
    ran(tool("cmake"), "-S", at / "source", "-B", at / "build", f"-DEXAMPLES={EXAMPLES}", option)
    return at / "build"


def check_ids(folder: Path) -> None:
    """Build a c_consumer, and check the output of its program."""
    ran("cmake", "--build", folder, "--parallel", str(os.cpu_count()))
    ids = ran(folder / "ids", EXAMPLES / "tiny.tiktoken", "cl100k", stdin=EXAMPLES / "hello.txt")
    assert ids == (EXAMPLES / "hello.ids").read_text()


def by_pkg_config(prefix: Path, at: Path, *options: str, source: Path | None = None) -> Path:
    """Build the examples, or `source`, with the flags that pkg-config gives; return `at`."""
    folder = next(prefix.glob("**/pkgconfig"))
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    command = [tool("pkg-config"), *options, "--cflags", "--libs", "pretok"]
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for path in [source] if source else [EXAMPLES / "ids.c", EXAMPLES / "chat.cpp"]:
        compiler = ("cc", "-std=c99") if path.suffix == ".c" else ("c++", "-std=c++17")
        rpath = f"-Wl,-rpath,{folder.parent}"
        ran(
            tool(compiler[0]), compiler[1], path, "-o", at / path.stem, *asked.stdout.split(), rpath
        )
    return at


def check_examples(folder: Path) -> None:
    """Check the output of the compiled examples in `folder`."""
    vocabulary = (EXAMPLES / "tiny.tiktoken", "cl100k")
    ids = ran(folder / "ids", *vocabulary, stdin=EXAMPLES / "hello.txt")
    assert ids == (EXAMPLES / "hello.ids").read_text()
    answers = ran(folder / "chat", *vocabulary, stdin=EXAMPLES / "messages.txt")
    assert answers == (EXAMPLES / "answers.txt").read_text(encoding="utf-8")


def test_the_ids_of_the_example_are_those_of_python() -> None:
    tok = bpe.load(EXAMPLES / "tiny.tiktoken", preset="cl100k")
    ids = tok.encode((EXAMPLES / "hello.txt").read_text(encoding="utf-8"))
    assert "".join(f"{id}\n" for id in ids) == (EXAMPLES / "hello.ids").read_text()


def test_cmake_and_python_have_the_same_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    cmake = (CPP / "CMakeLists.txt").read_text(encoding="utf-8")
    version = project["project"]["version"]
    assert f"project(pretok VERSION {version} " in cmake
    # The version that CONSUMER requires, and that README.md shows.
    assert version.startswith("0.1.")


def test_a_project_that_finds_the_package(programs: Path) -> None:
    check_examples(programs)


def test_a_project_without_cpp_that_finds_the_package(prefix: Path, tmp_path: Path) -> None:
    check_ids(c_consumer(tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"))


def test_no_option_changes_the_parent_project(tmp_path: Path) -> None:
    tool("c++")
    folder = c_consumer(tmp_path, f"-DPRETOK_SOURCE={CPP}")
    cache = (folder / "CMakeCache.txt").read_text()
    options = set(re.findall(r"^(\w+):(?!STATIC|INTERNAL)", cache, re.MULTILINE))
    assert "PRETOK_BUILD_SHARED" in options
    assert "BUILD_SHARED_LIBS" not in options
    own = (CPP / "CMakeLists.txt").read_text(encoding="utf-8")
    assert all(
        name.startswith("PRETOK_") for name in re.findall(r"^option\((\w+)", own, re.MULTILINE)
    )


def test_pkg_config(prefix: Path, tmp_path: Path) -> None:
    check_examples(by_pkg_config(prefix, tmp_path))


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_the_example_prints_the_ids_of_tiktoken(programs: Path, name: str) -> None:
    text = shared("texts", "udhr.txt")
    source = SOURCES[name]
    printed = ran(programs / "ids", shared("vocabs", source.file), source.preset, stdin=text)
    ids = live(name).encode_ordinary(text.read_bytes().decode())
    assert list(map(int, printed.split())) == ids


def readme_block(language: str) -> str:
    """Return the only example of cpp/README.md in `language`."""
    text = (CPP / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return str(found)


def test_the_program_of_the_readme(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "readme.cpp").write_text(readme_block("cpp"), encoding="utf-8")
    folder = by_pkg_config(prefix, tmp_path, source=tmp_path / "readme.cpp")
    assert ran(folder / "readme", EXAMPLES / "tiny.tiktoken").endswith(" ids of Hello, world!\n")


@pytest.mark.parametrize(
    ("page", "language", "output"),
    [
        ("tutorial/your-own.md", "cpp", " Romans of 1564\n"),
        ("how-to/cpp.md", "cpp", " ids of Hello, world!\n"),
        ("how-to/cpp.md", "c", " ids\n"),
    ],
)
def test_the_programs_of_the_site(
    page: str, language: str, output: str, prefix: Path, tmp_path: Path
) -> None:
    (program,) = (block for block in blocks(page, language) if "int main(" in block)
    source = tmp_path / f"program.{language}"
    source.write_text(program, encoding="utf-8")
    for name in re.findall(r"\w+\.pretok\b", program):
        bpe.train([program], vocab_size=300, preset="gpt2").save(tmp_path / name)
    by_pkg_config(prefix, tmp_path, source=source)
    assert ran("sh", "-c", f"cd {tmp_path} && ./program").endswith(output)


def blocks(page: str, language: str) -> list[str]:
    """Return the code of `language` on a page of the site."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize(
    ("page", "language"),
    [("how-to/cpp.md", "c"), ("how-to/llama-cpp.md", "c"), ("how-to/llama-cpp.md", "cpp")],
)
def test_the_functions_of_the_site_compile(
    page: str, language: str, prefix: Path, tmp_path: Path
) -> None:
    functions = [block for block in blocks(page, language) if "int main(" not in block]
    assert functions
    for block in functions:
        source = tmp_path / f"functions.{language}"
        source.write_text(block, encoding="utf-8")
        standard = "-std=c99" if language == "c" else "-std=c++17"
        include = next(prefix.glob("**/llama_vocab.h")).parent
        ran(tool("cc"), standard, "-Wall", "-Wextra", "-fsyntax-only", f"-I{include}", source)


@slow
def test_the_commands_of_the_readme(tmp_path: Path) -> None:
    tool("cmake")
    shutil.copytree(CPP, tmp_path / "cpp")
    commands = f"set -e\ncd {tmp_path}\n{readme_block('sh')}"
    assert ran("bash", "-c", commands).endswith((EXAMPLES / "hello.ids").read_text())


def test_the_exports_and_dependencies_of_the_shared_library(prefix: Path) -> None:
    library = next(prefix.glob("**/libpretok.so"))
    listed = ran(tool("nm"), "-D", "--defined-only", library)
    functions = set(re.findall(r"\b(pretok_\w+)\(", HEADER))
    assert {line.split()[-1] for line in listed.splitlines()} == functions
    needed = [line.split()[0] for line in ran(tool("ldd"), library).splitlines()]
    assert [name for name in needed if Path(name).name.split(".so")[0] == "libc"]
    assert not [name for name in needed if not Path(name).name.startswith(MAY_NEED)]
    abi = re.search(r"#define PRETOK_ABI_VERSION (\d+)", HEADER)
    assert abi is not None
    assert library.resolve().with_name(f"libpretok.so.{abi[1]}").exists()


@pytest.mark.skipif(BUILD is None, reason="needs PRETOK_BUILD")
def test_programs_are_linked_without_optimization() -> None:
    """With link-time optimization, each of 31 programs would take 17 seconds to link."""
    symbols = ran(tool("nm"), Path(str(BUILD)) / "tests" / "encoding")
    assert " main\n" in symbols
    assert "lto_priv" not in symbols


def test_the_shared_library_is_small(prefix: Path, tmp_path: Path) -> None:
    ran(tool("strip"), "-o", tmp_path / "small", next(prefix.glob("**/libpretok.so")))
    assert (tmp_path / "small").stat().st_size < LARGEST


@cache
def amalgamation(only_split: bool = False) -> dict[str, str]:
    module = repository_module("cpp", "amalgamate.py")
    texts: dict[str, str] = module.amalgamation(only_split)
    return texts


STRICT = ("-std=c++17", "-pthread", "-Wall", "-Wextra", "-Werror")


def test_two_files_are_enough(c_library: CLibrary, tmp_path: Path) -> None:
    built = c_library.path.parent
    assert (built / "warnings").read_text() == ""
    for name in ("pretok.hpp", "pretok.o"):
        shutil.copy(built / name, tmp_path)
    check_two_files(tmp_path, compiler() or "c++")


def test_the_shared_library_of_two_files_exports_only_its_functions(
    c_library: CLibrary, tmp_path: Path
) -> None:
    built = c_library.path.parent
    version_script = f"-Wl,--version-script={built / 'pretok.map'}"
    library = tmp_path / "libpretok.so"
    cxx = compiler() or "c++"
    ran(cxx, "-shared", "-pthread", built / "pretok.o", "-o", library, version_script)
    listed = ran(tool("nm"), "-D", "--defined-only", library)
    functions = set(re.findall(r"\b(pretok_\w+)\(", HEADER))
    assert {line.split()[-1] for line in listed.splitlines()} == functions


def test_two_files_of_splitting_alone(built: Built) -> None:
    def build(folder: Path) -> None:
        for file, text in amalgamation(only_split=True).items():
            (folder / file).write_text(text, encoding="utf-8")
        (folder / "spans.c").write_text(SPLIT_PROGRAM)
        objects = (folder / "spans.o", folder / "pretok.o")
        ran(tool("cc"), "-std=c99", "-c", folder / "spans.c", "-o", objects[0])
        cxx = compiler() or "c++"
        ran(cxx, *STRICT, "-O0", "-c", folder / "pretok.cpp", "-o", objects[1])
        ran(cxx, "-pthread", *objects, "-o", folder / "spans")

    folder = built("split", [*library_sources(), Path(__file__)], build)
    assert ran(folder / "spans") == "0-5 5-6 6-12 12-13 "


@slow
def test_zig_compiles_two_files_for_arm_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="needs ziglang, of PyPI")
    zig = (sys.executable, "-m", "ziglang", "c++", "-target", "aarch64-linux-gnu")
    for file, text in amalgamation().items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    ran(*zig, *STRICT, "-O2", "-c", tmp_path / "pretok.cpp", "-o", tmp_path / "pretok.o")


@slow
def test_the_documented_sizes(tmp_path: Path) -> None:
    tool("cmake")
    measured = repository_module("cpp", "sizes.py").sizes(tmp_path)
    text = (ROOT / "docs" / "how-to" / "cpp.md").read_text(encoding="utf-8")
    for subset, size in measured.items():
        row = re.search(rf"^\| {re.escape(subset)}\b[^|]*\| ([\d,]+) \|", text, re.MULTILINE)
        assert row is not None, subset
        assert abs(int(row[1].replace(",", "")) - size) < 0.1 * size, (subset, size)


@slow
def test_a_build_without_the_reader_of_a_format(tmp_path: Path) -> None:
    options = ("-DPRETOK_TESTS=OFF", "-DPRETOK_UNICODE=16.0", "-DPRETOK_FORMATS=json")
    program = cmake_built(CPP, tmp_path, *options) / "examples" / "ids"
    done = subprocess.run(
        [program, EXAMPLES / "tiny.tiktoken", "cl100k"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "add tiktoken to PRETOK_FORMATS" in done.stderr


def test_a_format_that_does_not_exist(tmp_path: Path) -> None:
    done = subprocess.run(
        [tool("cmake"), "-S", CPP, "-B", tmp_path, "-DPRETOK_FORMATS=json;model"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "PRETOK_FORMATS has 'model'" in done.stderr


@slow
@pytest.mark.parametrize("name", ["g++", "clang++"])
def test_two_files_compile_without_warnings(name: str, tmp_path: Path) -> None:
    for file, text in amalgamation().items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    ran(tool(name), *STRICT, "-c", tmp_path / "pretok.cpp", "-o", tmp_path / "pretok.o")
    check_two_files(tmp_path, tool(name))


def check_two_files(folder: Path, compiler: str) -> None:
    """Build the examples from the header and pretok.o in `folder`, and check their output."""
    strict = (compiler, *STRICT)
    program = (EXAMPLES / "chat.cpp").read_text(encoding="utf-8")
    (folder / "chat.cpp").write_text(program, encoding="utf-8")
    ran(*strict, folder / "chat.cpp", folder / "pretok.o", "-o", folder / "chat")
    # A C program can include the same header.
    program = (EXAMPLES / "ids.c").read_text(encoding="utf-8")
    (folder / "ids.c").write_text(program.replace("pretok.h", "pretok.hpp"), encoding="utf-8")
    ran(tool("cc"), "-std=c99", "-Wall", "-Werror", "-c", folder / "ids.c", "-o", folder / "ids.o")
    ran(*strict, folder / "ids.o", folder / "pretok.o", "-o", folder / "ids")
    check_examples(folder)


@slow
def test_a_project_that_has_the_sources_in_a_folder(tmp_path: Path) -> None:
    check_examples(consumer(tmp_path, f"-DPRETOK_SOURCE={CPP}"))


@slow
def test_a_project_that_finds_the_static_library(static_prefix: Path, tmp_path: Path) -> None:
    check_examples(consumer(tmp_path, f"-DCMAKE_PREFIX_PATH={static_prefix}"))


@slow
def test_a_project_without_cpp_and_the_static_library(static_prefix: Path, tmp_path: Path) -> None:
    check_ids(c_consumer(tmp_path, f"-DCMAKE_PREFIX_PATH={static_prefix}"))


@slow
def test_a_project_without_cpp_that_has_the_sources_in_a_folder(tmp_path: Path) -> None:
    check_ids(c_consumer(tmp_path, f"-DPRETOK_SOURCE={CPP}"))


@slow
def test_pkg_config_for_the_static_library(static_prefix: Path, tmp_path: Path) -> None:
    check_examples(by_pkg_config(static_prefix, tmp_path, "--static"))


def test_a_unicode_version_without_a_table(tmp_path: Path) -> None:
    done = subprocess.run(
        [tool("cmake"), "-S", CPP, "-B", tmp_path, "-DPRETOK_UNICODE=16.0;1.1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "PRETOK_UNICODE has '1.1'" in done.stderr

"""Modules import only modules of lower layers, and no module imports a regex engine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from paths import ROOT
from pretok.machine.backend import BackendName
from support import SOME_NAMES, run_python

PACKAGES = ("pretok", "bpe")

# The layers, from the bottom up. A module may import modules of lower layers. The command line,
# fuzzing and benchmarks are the top layer of each package.
LAYERS = (
    ("pretok.errors", "pretok.process_lock", "pretok.text", "pretok.unicode.atoms",
     "pretok.unicode.table_*", "pretok.formats", "pretok.machine", "pretok.patterns"),
    ("pretok.behaviors", "pretok.byte_characters", "pretok.files", "pretok.json_text",
     "pretok.unicode"),
    ("pretok.formats.gguf_metadata", "pretok.unicode.graphemes"),
    ("pretok.charsets.sets",),
    ("pretok.charsets", "pretok.charsets.alphabet", "pretok.charsets.notation"),
    ("pretok.charsets.classified_text",),
    ("pretok.rules*",),
    ("pretok.stage",),
    ("pretok.preset", "pretok.machine.program"),
    ("pretok.machine.holding", "pretok.machine.pair_cuts"),
    ("pretok.patterns.alternatives", "pretok.patterns.ast", "pretok.machine.machine",
     "pretok.machine.stored"),
    ("pretok.machine.stream", "pretok.patterns.char_sets"),
    ("pretok.machine.staged",),
    ("pretok.machine.backend",),
    ("pretok.presets*",),
    ("pretok.pre_tokenizer", "pretok.plugins"),
    ("pretok.registry", "pretok.patterns.parser"),
    ("pretok.patterns.items", "pretok.patterns.spelling"),
    ("pretok.patterns.runs", "pretok.patterns.words"),
    ("pretok.patterns.shapes",),
    ("pretok.patterns.compile",),
    ("pretok.pre_tokenizers*",),
    ("pretok.patterns.lookup",),
    ("pretok.patterns.differences",),
    ("pretok.patterns.recognize",),
    ("pretok.formats.gguf", "pretok.formats.huggingface"),
    ("pretok",),
    ("pretok.page*",),
    ("pretok.cli*", "pretok.diff", "pretok.fuzz*", "pretok.__main__"),
    ("bpe.byte_level", "bpe.decoders", "bpe.editing", "bpe.normalizers", "bpe.encoding",
     "bpe.encoding.foreign_arguments", "bpe.encoding.utf8", "bpe.errors", "bpe.hub", "bpe.once",
     "bpe.optional", "bpe.progress", "bpe.token_facts", "bpe.training", "bpe.types"),
    ("bpe.encoding.fast_calls", "bpe.token_table"),
    ("bpe.text_files", "bpe.text_ids", "bpe.training.limits", "bpe.vocabulary"),
    ("bpe.inputs",),
    ("bpe.encoding.matcher", "bpe.merge", "bpe.normalizers.aligned_text",
     "bpe.normalizers.charsmap", "bpe.normalizers.growth"),
    ("bpe.normalizers.step",),
    ("bpe.characters", "bpe.characters.marks", "bpe.characters.runs"),
    ("bpe.characters.vocabulary",),
    ("bpe.characters.text_vocabulary",),
    ("bpe.characters.merger",),
    ("bpe.encoding.added_tokens", "bpe.decoders.flows", "bpe.normalizers.characters"),
    ("bpe.encoding.ranged_tokens", "bpe.encoding.token_list"),
    ("bpe.normalizers.graphemes", "bpe.normalizers.unicode_forms", "bpe.normalizers.sentencepiece"),
    ("bpe.normalizers.precompiled", "bpe.formats.pretok_numbers"),
    ("bpe.normalizers.steps",),
    ("bpe.normalizers.chain", "bpe.normalizers.stored", "bpe.decoders.steps"),
    ("bpe.encoding.packed", "bpe.encoding.padded"),
    ("bpe.encoding.columns", "bpe.encoding.python_backend", "bpe.encoding.text_spaces"),
    ("bpe.encoding.backends", "bpe.encoding.arguments"),
    ("bpe.decoders.clean_up", "bpe.decoders.decode", "bpe.decoders.stop_strings",
     "bpe.normalizers.text_normalizer", "bpe.encoding.policies", "bpe.encoding.offsets"),
    ("bpe.decoders.text_decoder", "bpe.decoders.text_stream"),
    ("bpe.decoders.chain",),
    ("bpe.encoding.normalized_segments", "bpe.decoders.piece_decoder"),
    ("bpe.encoding.trim",),
    ("bpe.encoding.pipeline",),
    ("bpe.encoding.dropout", "bpe.encoding.encode_stream", "bpe.encoding.segments"),
    ("bpe.formats*", "bpe.hub.special_tokens"),
    ("bpe.tokenizer_parts",),
    ("bpe.tokenizer_facts",),
    ("bpe.tokenizer_spans",),
    ("bpe.tokenizer_batches",),
    ("bpe.tokenizer_editing",),
    ("bpe.budgets", "bpe.budgets.proofs", "bpe.budgets.token_ends"),
    ("bpe.budgets.cuts",),
    ("bpe.budgets.source", "bpe.budgets.texts"),
    ("bpe.budgets.borders",),
    ("bpe.budgets.reader",),
    ("bpe.budgets.search",),
    ("bpe.budgets.chunking", "bpe.budgets.truncation"),
    ("bpe.tokenizer_budgets",),
    ("bpe.canonical", "bpe.canonical.beginnings", "bpe.canonical.bits", "bpe.canonical.classes",
     "bpe.canonical.drift"),
    ("bpe.canonical.contents",),
    ("bpe.canonical.healing", "bpe.canonical.id_cuts", "bpe.canonical.pairs",
     "bpe.canonical.splits", "bpe.canonical.token_groups", "bpe.canonical.unmade"),
    ("bpe.canonical.token_texts",),
    ("bpe.canonical.open_ids", "bpe.canonical.open_ways", "bpe.canonical.searched"),
    ("bpe.canonical.tried_texts",),
    ("bpe.canonical.next_ids", "bpe.canonical.next_text_ids"),
    ("bpe.canonical.build", "bpe.canonical.refusals"),
    ("bpe.tokenizer_canonical",),
    ("bpe.sessions", "bpe.sessions.kept_text"),
    ("bpe.sessions.session",),
    ("bpe.sessions.splice",),
    ("bpe.tokenizer_sessions",),
    ("bpe.tokenizer",),
    ("bpe.editing.derivations", "bpe.editing.grow", "bpe.editing.remap",
     "bpe.sessions.prompt_store"),
    ("bpe.editing.shrink",),
    ("bpe.witnesses", "bpe.witnesses.absent", "bpe.witnesses.records", "bpe.witnesses.utf8_parts"),
    ("bpe.witnesses.chains", "bpe.witnesses.proofs", "bpe.witnesses.search"),
    ("bpe.witnesses.byte_tokens", "bpe.witnesses.text_tokens"),
    ("bpe.witnesses.reachability",),
    ("bpe.sessions.prompt_cache",),
    ("bpe.hub.openai", "bpe.hub.published"),
    ("bpe.parquet_input",),
    ("bpe.training.corpus",),
    ("bpe.training.runs",),
    ("bpe.training.counting", "bpe.hub.locate"),
    ("bpe.training.work_folder",),
    ("bpe.training.bounded",),
    ("bpe.training.trainer",),
    ("bpe.training.characters",),
    ("bpe.training.arguments", "bpe.training.pre_tokens", "bpe.training.stage2"),
    ("bpe.training.initial",),
    ("bpe.editing.extend",),
    ("bpe.training.training",),
    ("bpe.training.train", "bpe.hub.fetch", "bpe.loading"),
    ("bpe.conversion*",),
    ("bpe.corpus.layouts*",),
    ("bpe.corpus.fields", "bpe.corpus.identity",
     "bpe.corpus.lock", "bpe.corpus.long_lines",
     "bpe.corpus.threads", "bpe.corpus.utf8_check", "bpe.corpus.write_back"),
    ("bpe.corpus.lines", "bpe.corpus.options"),
    ("bpe.corpus.members",),
    ("bpe.corpus.schema",),
    ("bpe.corpus.manifest",),
    ("bpe.corpus.shard_files",),
    ("bpe.corpus.shards",),
    ("bpe.corpus.documents", "bpe.corpus.reader", "bpe.corpus.shuffle"),
    ("bpe.corpus.parts",),
    ("bpe.corpus.encode",),
    ("bpe.corpus.local", "bpe.corpus.sinks"),
    ("bpe.corpus.work",),
    ("bpe.corpus.job",),
    ("bpe.corpus",),
    ("bpe.distributed.cluster", "bpe.distributed.groups"),
    ("bpe.distributed.counting", "bpe.distributed.encoding"),
    ("bpe.distributed",),
    ("bpe.statistics.comparison", "bpe.statistics.curve", "bpe.statistics.ranks"),
    ("bpe.statistics",),
    ("bpe.chat*",),
    ("bpe",),
    ("bpe.plots.picture",),
    ("bpe.plots.comparison", "bpe.plots.curves", "bpe.plots.documents", "bpe.plots.ranks"),
    ("bpe.plots",),
    ("bpe.compat*",),
    ("bpe.cli*", "bpe.__main__"),
)  # fmt: skip
COMMAND_LINE = {LAYERS.index(names) for names in LAYERS if names[0].endswith(".cli*")}
# In these layers, which have patterns with "*", modules may import each other, but without a cycle.
AMONG_THEMSELVES = {LAYERS.index(names) for names in LAYERS if "*" in names[0]}
# Imports of a higher layer or of the C++ core. They run in functions, not when the module loads.
LATE = {
    ("pretok.charsets.sets", "pretok.charsets.notation"),
    ("pretok.machine.backend", "pretok._core"),
    ("pretok.machine.machine", "pretok._core"),
    ("bpe.text_ids", "pretok._core"),
    ("bpe.tokenizer_batches", "bpe.chat.encoding"),
    ("bpe.tokenizer_editing", "bpe.editing.extend"),
    ("bpe.tokenizer_editing", "bpe.tokenizer"),
    ("bpe.tokenizer_editing", "bpe.editing.remap"),
    ("bpe.tokenizer_editing", "bpe.editing.shrink"),
    ("bpe.tokenizer_parts", "pretok._core"),
    ("bpe.normalizers.charsmap", "pretok._core"),
    ("bpe.encoding.backends", "pretok._core"),
    ("bpe.encoding.python_backend", "pretok._core"),
    ("bpe.encoding.ranged_tokens", "pretok._core"),
    ("bpe.decoders.text_stream", "pretok._core"),
    ("bpe.encoding.pipeline", "pretok._core"),
    ("bpe.budgets.proofs", "pretok._core"),
    ("bpe.budgets.cuts", "pretok._core"),
    ("bpe.budgets.reader", "pretok._core"),
    ("bpe.budgets.chunking", "pretok._core"),
    ("bpe.canonical.splits", "pretok._core"),
    ("bpe.encoding.padded", "pretok._core"),
    ("bpe.normalizers.text_normalizer", "pretok._core"),
    ("bpe.training.corpus", "pretok._core"),
    ("bpe.training.counting", "pretok._core"),
    ("bpe.encoding.fast_calls", "pretok._core"),
    ("bpe.training.characters", "pretok._core"),
    ("bpe.training.initial", "pretok._core"),
    ("bpe.training.bounded", "bpe.corpus.lock"),
    ("bpe.training.training", "bpe.corpus.identity"),
    ("bpe.training.training", "pretok._core"),
    ("bpe.training.work_folder", "pretok._core"),
}
REGEX = {"re", "regex", "sre_parse", "sre_compile", "_sre"}
MAY_USE_REGEX = ("pretok.fuzz*",)
STAND_IN = "bpe.compat.huggingface."


class Import(NamedTuple):
    module: str
    target: str
    at_load: bool


def modules() -> dict[str, Path]:
    """Return the path of every module of both packages, by the module's name."""
    found = {}
    for path in sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imports(module: str) -> Iterator[Import]:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        at_load = id(node) not in late
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, at_load)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                is_module = full in MODULES or full == "pretok._core"
                yield Import(module, full if is_module else node.module, at_load)


@cache
def all_imports() -> list[Import]:
    return [found for module in MODULES for found in imports(module)]


@cache
def own_imports() -> list[Import]:
    """Return the imports of our own modules."""
    return [found for found in all_imports() if found.target.split(".")[0] in PACKAGES]


def layer(module: str) -> int:
    """Return the number of the layer of `module`. An exact name takes precedence over a pattern."""
    for number, names in enumerate(LAYERS):
        if module in names:
            return number
    for number, names in enumerate(LAYERS):
        if any(fnmatch(module, name) for name in names):
            return number
    raise AssertionError(f"{module} is in no layer; add it to LAYERS")


def test_every_module_has_a_layer() -> None:
    for module in MODULES:
        layer(module)
    for names in LAYERS:
        for name in names:
            assert any(fnmatch(module, name) for module in MODULES), f"no module matches {name}"


def test_imports_run_one_way() -> None:
    wrong = [
        f"{found.module} imports {found.target}"
        for found in own_imports()
        if found.at_load
        and not layer(found.target) < layer(found.module)
        and not layer(found.target) == layer(found.module) in AMONG_THEMSELVES
    ]
    assert not wrong, wrong


def test_imports_upwards_are_few_and_known() -> None:
    late = {
        (found.module, found.target)
        for found in own_imports()
        if not found.at_load
        and layer(found.module) not in AMONG_THEMSELVES
        and (found.target == "pretok._core" or layer(found.target) >= layer(found.module))
    }
    assert late == LATE


def test_pretok_does_without_bpe() -> None:
    """No source of pretok names a module of bpe, not even in a string or a comment."""
    for module, path in MODULES.items():
        if module.split(".")[0] == "pretok":
            named = re.search(r"\bbpe\.[a-z_]|\b(import|from) bpe\b", path.read_text("utf-8"))
            assert not named, module


def test_merging_and_training_know_no_pre_tokenizer() -> None:
    known = {
        (found.module, found.target)
        for found in own_imports()
        if found.module in ("bpe.errors", "bpe.vocabulary", "bpe.merge",
                            "bpe.encoding.added_tokens", "bpe.decoders.decode",
                            "bpe.encoding.python_backend",
                            "bpe.training.trainer")
        and found.target.split(".")[0] == "pretok"
    }  # fmt: skip
    assert known == {
        ("bpe.errors", "pretok.errors"),
        ("bpe.training.trainer", "pretok.byte_characters"),
        ("bpe.encoding.added_tokens", "pretok.unicode.atoms"),
        ("bpe.encoding.added_tokens", "pretok.unicode"),
        ("bpe.encoding.added_tokens", "pretok.charsets.sets"),
        ("bpe.encoding.python_backend", "pretok._core"),  # only for the type Backend
    }


def test_imports_have_no_cycle() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for found in own_imports():
        if found.at_load:
            graph[found.module].add(found.target)
    TopologicalSorter(graph).prepare()  # raises CycleError if there is a cycle


def test_nothing_imports_a_regex_engine() -> None:
    wrong = [
        found
        for found in all_imports()
        if found.target.split(".")[0] in REGEX
        and (found.at_load or not any(fnmatch(found.module, name) for name in MAY_USE_REGEX))
    ]
    assert not wrong


def test_engines_are_only_for_fuzzing_and_measuring() -> None:
    engines = {"tiktoken", "tokenizers", "regex"}
    wrong = [
        found
        for found in all_imports()
        if found.target.split(".")[0] in engines
        and not any(fnmatch(found.module, name) for name in MAY_USE_REGEX)
        # The stand-in for Hugging Face's tokenizers calls the real one.
        and not (found.target == "tokenizers" and found.module.startswith(STAND_IN))
    ]
    assert not wrong


# The modules below the command line that may use these libraries: for progress bars, and for NFC.
MAY_USE = {
    "click": (),
    "tqdm": ("bpe.progress", "bpe.hub.fetch"),
    "unicodedata": ("bpe.normalizers.unicode_forms",),
    "unicodedata2": (
        "bpe.encoding.added_tokens",
        "bpe.normalizers.characters",
        "bpe.normalizers.unicode_forms",
    ),
}


def test_only_the_top_uses_the_command_line_libraries() -> None:
    wrong = [
        found
        for found in all_imports()
        if found.target.split(".")[0] in MAY_USE
        and layer(found.module) not in COMMAND_LINE
        and found.module not in MAY_USE[found.target.split(".")[0]]
    ]
    assert not wrong


NO_REGEX = """
import sys
import pretok
backend, *presets = sys.argv[1:]
text = "I'm 12345 \\n\\n \\u4e2d\\u6587! HTTPServer\\u0301\\u3000x"
for preset in presets:
    tok = pretok.get(preset, backend=backend)
    assert "".join(tok.split(text)) == text
    assert tok.explain(text) and tok.offsets(text, "utf16").any() and list(tok.spans(text))
    stream = tok.stream()
    assert "".join(stream.feed(text.encode()) + stream.finish()) == text
    assert b"".join(tok.split_bytes(text.encode())) == text.encode()
    repr(tok.preset), [rule.pattern for rule in tok.preset.rules]
    assert len(tok.split(text)) > 2
    assert "regex" not in sys.modules, f"{preset}: regex was imported"
import re
for name, module in list(sys.modules.items()):
    if name.split(".")[0] == "pretok":
        held = [key for key, value in vars(module).items()
                if value is re or isinstance(value, re.Pattern)
                or getattr(value, "__module__", "") in ("re", "regex")]
        assert not held, f"{name} holds {held}"
print(len(presets))
"""


def test_splitting_uses_no_regex_engine(backend: BackendName) -> None:
    done = run_python(NO_REGEX, backend, *SOME_NAMES)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(SOME_NAMES)


NO_REGEX_IN_BPE = """
import sys
import pretok, bpe
from bpe import AddedToken, Tokenizer, Vocabulary
tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"he"}
added = [AddedToken("<s>", 300, single_word=True, lstrip=True, rstrip=True)]
tok = Tokenizer(Vocabulary(tokens), "o200k", added_tokens=added, normalizer="NFC",
                backend=sys.argv[1])
text = "he 12 <s> e\\u0301 <s>"
ids = tok.encode(text, "allow")
assert tok.decode(ids) and tok.tokens(text, "allow") and tok.merges
assert "regex" not in sys.modules, "regex was imported"
import re
for name, module in list(sys.modules.items()):
    if name.split(".")[0] in ("pretok", "bpe"):
        held = [key for key, value in vars(module).items()
                if value is re or isinstance(value, re.Pattern)
                or getattr(value, "__module__", "") in ("re", "regex")]
        assert not held, f"{name} holds {held}"
print(len(ids))
"""


def test_encoding_uses_no_regex_engine(backend: BackendName) -> None:
    done = run_python(NO_REGEX_IN_BPE, backend)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 2

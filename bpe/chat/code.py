"""Compile templates to Python code that keeps the origins of text, and that is fast.

The sandbox of jinja2 looks an attribute up before an item, and checks each access. `Access` answers
the usual accesses of chat templates at once: items of messages, methods of texts, loop variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from types import FunctionType
from typing import Any

from jinja2 import Template, nodes
from jinja2.compiler import CodeGenerator, DependencyFinderVisitor, Frame, optimizeconst
from jinja2.exceptions import SecurityError, TemplateRuntimeError
from jinja2.idtracking import VAR_LOAD_PARAMETER
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, missing

from bpe.chat.filters import GLOBALS
from bpe.chat.inputs import Fields, Items
from bpe.chat.text import TracedText, concat, to_text
from pretok.machine.backend import native_core

_FUNCTIONS = frozenset(GLOBALS.values())
get_item = dict.get
_MAPPING_NAMES = frozenset(dir(dict))
_METHODS = {
    name: getattr(TracedText, name)
    for name in dir(str)
    if not name.startswith("_") and name not in ("format", "format_map", "maketrans")
}
_MAPPING_METHODS: dict[str, Callable[..., Any]] = {
    "get": dict.get, "items": Fields.items, "keys": Fields.keys, "values": dict.values,
}  # fmt: skip
_LOOP_NAMES = frozenset(
    ("depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem",
     "revindex", "revindex0")
)  # fmt: skip


def added(*values: Any) -> Any:
    """Return the sum of `values`."""
    for value in values:
        if type(value) is not TracedText:
            return reduce(add, values)
    return concat(values)


def output(value: Any) -> Any:
    """Return `value` as text to be printed."""
    return value if type(value) is TracedText else to_text(value)


class PublicNamespace(Namespace):
    """A namespace without names that Python or jinja2 give a meaning."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *values = args
        attributes = dict(*values, **kwargs)
        for name in attributes:
            _check_name(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        object.__getattribute__(self, "_Namespace__attrs")[name] = value


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"expected a name without _ at its start in a namespace, got {name!r}")


class Variables(dict[str, Any]):
    """The variables of a call; others are `missing`."""

    def __missing__(self, name: str) -> Any:
        return missing

    def copy(self) -> Variables:
        """Return a copy."""
        return Variables(self)


class ChatContext(Context):
    """The context of a call."""

    def __init__(self, template: Template, variables: Variables) -> None:
        if template.blocks:
            super().__init__(template.environment, variables, None, template.blocks)
            return
        # Without blocks, the code of a template has all names that it sets as its own variables.
        self.parent = variables
        self.resolve_or_missing = variables.__getitem__  # type: ignore[assignment, method-assign]
        self.vars, self.exported_vars = {}, set()
        self.environment = template.environment
        self.eval_ctx = template.environment.eval_context  # type: ignore[attr-defined]
        self.name = None
        self.blocks = {}


class ListLoop(LoopContext):
    """The variable `loop` of a loop over a list."""

    _iterable: Sequence[Any]

    def __init__(self, items: Sequence[Any], *arguments: Any) -> None:
        super().__init__(items, *arguments)
        self._length = len(items)

    def pairs(self) -> Iterator[tuple[Any, ListLoop]]:
        """Yield each item with the loop."""
        for at, item in enumerate(self._iterable):
            self.index0 = at
            yield item, self

    def _peek_next(self) -> Any:
        at = self.index0 + 1
        return self._iterable[at] if at < len(self._iterable) else missing

    @property
    def _before(self) -> Any:
        return self._iterable[self.index0 - 1]


def loop(items: Iterable[Any], *arguments: Any) -> Iterable[tuple[Any, LoopContext]]:
    """Return what a loop iterates over: each item with the variable `loop`."""
    kind = type(items)
    if kind is Items or kind is list:
        return ListLoop(items, *arguments).pairs()  # type: ignore[arg-type]
    return LoopContext(items, *arguments)


_NAMES = ("added", "added_parts", "joined_parts", "modulo", "output", "str_join", "trim")
"""The functions of the environment that the code of a template calls by their names."""


class TextCode(CodeGenerator):
    """Writes the literals of a template as constants of its module, each a trusted TracedText."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._constants: dict[str, str] = {}
        self._printed: nodes.Node | None = None
        self._needs_output = True

    def _name_of(self, value: str) -> str:
        return self._constants.setdefault(value, f"constant_{len(self._constants)}")

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Write the module, and after it the names that its functions look up in it."""
        self._has_blocks = node.find(nodes.Block) is not None
        super().visit_Template(node, frame)
        for name in _NAMES:
            self.writeline(f"{name} = environment.{name}")
        self.writeline("LoopContext = environment.loop")
        for value, name in self._constants.items():
            self.writeline(f"{name} = environment.{value}")

    def pull_dependencies(self, nodes: Iterable[nodes.Node]) -> None:
        """Find the filters and tests of a template once, and not in each call."""
        visitor = DependencyFinderVisitor()
        for node in nodes:
            visitor.visit(node)
        for name in sorted(visitor.filters):
            self.filters[name] = self._name_of(f"filter_named({name!r})")
        for name in sorted(visitor.tests):
            self.tests[name] = self._name_of(f"test_named({name!r})")

    def pop_assign_tracking(self, frame: Frame) -> None:
        """Write the variables that blocks read; other code has them as its own variables."""
        if self._has_blocks or not frame.toplevel or frame.loop_frame:
            super().pop_assign_tracking(frame)
        else:
            self._assign_stack.pop()

    def _literal(self, text: str) -> str:
        return self._name_of(f"literal({text!r})")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        """Write a constant; the optimizer also makes constants of tuples, lists and mappings."""
        self.write(self._constant(node.as_const(frame.eval_ctx)))

    def _constant(self, value: Any) -> str:
        if isinstance(value, str):
            return self._literal(str(value))
        if isinstance(value, dict):
            pairs = (f"{self._constant(k)}: {self._constant(v)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, (list, tuple)):
            items = "".join(f"{self._constant(item)}, " for item in value)
            return f"[{items}]" if isinstance(value, list) else f"({items})"
        return str(value) if isinstance(value, float) else repr(value)

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:
        """Write text between tags."""
        self.write(self._literal(node.data))

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return self._literal("".join(group))

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self._printed = node
        self._needs_output = not _makes_text(node)
        if self._needs_output:
            self.write("output(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self._printed = None
        if self._needs_output:
            self.write(")")

    def visit_Name(self, node: nodes.Name, frame: Frame) -> None:
        """Write a variable. jinja2 makes a new `undefined` at each access to one without value."""
        ref = frame.symbols.ref(node.name)
        if node.ctx != "load":
            super().visit_Name(node, frame)
            return
        load = frame.symbols.find_load(ref)
        if (
            load is not None
            and load[0] == VAR_LOAD_PARAMETER
            and not self.parameter_is_undeclared(ref)
        ):
            self.write(ref)
            return
        undefined = self._name_of(f"undefined(name={node.name!r})")
        self.write(f"({undefined} if {ref} is missing else {ref})")

    def visit_EvalContextModifier(self, node: nodes.EvalContextModifier, frame: Frame) -> None:
        """Reject `{% autoescape %}`, which makes text that no chat needs."""
        self.fail("expected no {% autoescape %} in a chat template; remove it", node.lineno)

    def visit_Add(self, node: nodes.BinExpr, frame: Frame) -> None:
        """Write a sum; one with a literal text joins all its texts at once."""
        terms = _terms(node)
        if not _has_text(terms):
            super().visit_Add(node, frame)
            return
        self.write("added_parts(" if node is self._printed else "added(")
        for term in terms:
            self.visit(term, frame)
            self.write(", ")
        self.write(")")

    @optimizeconst
    def visit_Mod(self, node: nodes.BinExpr, frame: Frame) -> None:
        """Write the operator `%`."""
        self.write("modulo(")
        self.visit(node.left, frame)
        self.write(", ")
        self.visit(node.right, frame)
        self.write(")")

    @optimizeconst
    def visit_Filter(self, node: nodes.Filter, frame: Frame) -> None:
        """Write a filter; `trim` without arguments needs no check of them."""
        has_arguments = node.args or node.kwargs or node.dyn_args or node.dyn_kwargs
        if node.name != "trim" or node.node is None or has_arguments:
            super().visit_Filter(node, frame)
            return
        self.write("trim(")
        self.visit(node.node, frame)
        self.write(")")

    @optimizeconst
    def visit_Test(self, node: nodes.Test, frame: Frame) -> None:
        """Write a test; the usual ones need no call."""
        written = _TESTS.get(node.name)
        if written is None or node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
            super().visit_Test(node, frame)
            return
        before, after = written
        self.write(before)
        self.visit(node.node, frame)
        self.write(after)

    @optimizeconst
    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """Write the operator `~`."""
        self.write("joined_parts(" if node is self._printed else "str_join((")
        for term in node.nodes:
            self.visit(term, frame)
            self.write(", ")
        self.write(")" if node is self._printed else "))")

    @optimizeconst
    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        """Write the access to an attribute."""
        self.write(self._name_of(f"attribute({node.attr!r})") + "(")
        self.visit(node.node, frame)
        self.write(")")

    @optimizeconst
    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """Write the access to an item."""
        name = node.arg.value if isinstance(node.arg, nodes.Const) else None
        if type(name) is not str and type(name) is not int:
            super().visit_Getitem(node, frame)
            return
        kind = "item" if type(name) is str else "element"
        self.write(self._name_of(f"{kind}({name!r})") + "(")
        self.visit(node.node, frame)
        self.write(")")

    @optimizeconst
    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        """Write a call; the one of a method of a text or a mapping needs no check."""
        if forward_caller or not isinstance(node.node, nodes.Getattr):
            super().visit_Call(node, frame, forward_caller=forward_caller)
            return
        names = {"_loop_vars": frame.loop_frame, "_block_vars": frame.block_frame}
        self.write(self._name_of(f"method({node.node.attr!r})") + "(context, ")
        self.visit(node.node.node, frame)
        self.signature(node, frame, {name: name for name, is_used in names.items() if is_used})
        self.write(")")


_TESTS = {
    "defined": ("(not isinstance(", ", Undefined))"),
    "none": ("(", " is None)"),
    "undefined": ("isinstance(", ", Undefined)"),
}
"""The code before and after the value that a test takes."""


def _terms(node: nodes.BinExpr) -> list[nodes.Expr]:
    terms: list[nodes.Expr] = [node]
    while isinstance(terms[0], nodes.Add):
        terms[:1] = (terms[0].left, terms[0].right)
    return terms


def _has_text(terms: list[nodes.Expr]) -> bool:
    return any(isinstance(term, nodes.Const) and isinstance(term.value, str) for term in terms)


def _makes_text(node: nodes.Expr) -> bool:
    """Return whether the code of a printed expression returns text, or a tuple of texts."""
    return isinstance(node, nodes.Concat) or (
        isinstance(node, nodes.Add) and _has_text(_terms(node))
    )


def _missing_function(kind: str, name: str) -> Callable[..., Any]:
    """Return a function that says in a call that a filter or a test is unknown."""

    def call(*args: Any) -> Any:
        raise TemplateRuntimeError(f"No {kind} named {name!r} found.")

    return call


def _field_call(name: str, nothing: Any, slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function in C++ that returns the item `name` of Fields; others are for `slow`."""
    native = native_core()
    return slow if native is None else native.field_call(Fields, name, nothing, slow)


class Access(ImmutableSandboxedEnvironment):
    """The functions that the code of a template calls to access attributes, items and methods."""

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call an object of a template; a macro and the functions of GLOBALS need no check."""
        kind = type(__obj)
        is_macro = kind is Macro
        is_global = __obj is PublicNamespace or (kind is FunctionType and __obj in _FUNCTIONS)
        if not is_macro and not is_global:
            return super().call(__context, __obj, *args, **kwargs)
        if kwargs:
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
        if is_global:
            return __obj(*args, **kwargs)
        if kwargs or __obj.catch_varargs or __obj.catch_kwargs or __obj.caller:
            return __obj(__context.eval_ctx, *args, **kwargs)
        missed = __obj._argument_count - len(args)
        if missed < 0:
            return __obj(__context.eval_ctx, *args)
        return __obj._func(*args, *[missing] * missed)

    def filter_named(self, name: str) -> Callable[..., Any]:
        """Return a filter."""
        filter: Any = self.filters.get(name)
        return filter or _missing_function("filter", name)

    def test_named(self, name: str) -> Callable[..., Any]:
        """Return a test."""
        test: Any = self.tests.get(name)
        return test or _missing_function("test", name)

    def attribute(self, name: str) -> Callable[[Any], Any]:
        """Return the function that returns the attribute `name` of a value."""
        is_item = name not in _MAPPING_NAMES and not name.startswith("_")
        is_of_loops = name in _LOOP_NAMES
        undefined, other = self.undefined, self.getattr
        nothing = undefined(obj={}, name=name)

        def get(obj: Any) -> Any:
            kind = type(obj)
            if kind is Fields and is_item:
                # An error of `nothing` says "dict object", as in jinja2.
                return get_item(obj, name, nothing)
            if is_of_loops and (kind is ListLoop or kind is LoopContext):
                return getattr(obj, name)
            if kind is PublicNamespace:
                value = object.__getattribute__(obj, "_Namespace__attrs").get(name, missing)
                return undefined(obj=obj, name=name) if value is missing else value
            return other(obj, name)

        return _field_call(name, nothing, get) if is_item else get

    def item(self, name: str) -> Callable[[Any], Any]:
        """Return the function that returns the item `name` of a value."""
        other = self.getitem
        is_item = name not in _MAPPING_NAMES and not name.startswith("_")
        nothing = self.undefined(obj={}, name=name) if is_item else None

        def get(obj: Any) -> Any:
            if type(obj) is Fields:
                value = get_item(obj, name, nothing if is_item else missing)
                if value is not missing:
                    return value
            return other(obj, name)

        return _field_call(name, nothing, get)

    def element(self, index: int) -> Callable[[Any], Any]:
        """Return the function that returns the element `index` of a value."""
        other = self.getitem

        def get(obj: Any) -> Any:
            kind = type(obj)
            if kind is Items or kind is list:
                try:
                    return obj[index]
                except IndexError:
                    pass
            return other(obj, index)

        return get

    def method(self, name: str) -> Callable[..., Any]:
        """Return the function that calls the method `name` of a value."""
        of_text = _METHODS.get(name)
        of_mapping = _MAPPING_METHODS.get(name)
        other, get = self.call, self.attribute(name)

        def call(context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
            kind = type(obj)
            method = of_text if kind is TracedText else of_mapping if kind is Fields else None
            if method is None:
                return other(context, get(obj), *args, **kwargs)
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
            return method(obj, *args, **kwargs)

        return call

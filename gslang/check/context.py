"""State of lowering one rule: the names in scope, the tables being filled, the diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, NoReturn, Union

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import AttributeSpec
from gslang.syntax import nodes as n


class Stop(Exception):
    """The expression has an error that is reported already; what depends on it is not judged."""


# ── what a name or an expression stands for ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class NodeOf:
    """A pattern node of the source (or an input)."""

    place: ir.Place
    node: int


@dataclass(frozen=True, slots=True)
class ValueOf:
    """An attribute value. `type`: int float number bool str none tuple array dtype any."""

    value: ir.Value
    type: str = "any"


@dataclass(frozen=True, slots=True)
class BlockOf:
    """The sequence of all instances of an `each`, or of some: `indices` gives their numbers."""

    block: int
    indices: ir.Value | None = None


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """One instance of a block: `b[0]`, `first`."""

    block: int
    place: ir.Place


@dataclass(frozen=True, slots=True)
class NodesOf:
    """One template node of all instances: `branch.conv`."""

    block: int
    node: int


@dataclass(frozen=True, slots=True)
class OperatorOf:
    """An operator variable."""

    name: str


@dataclass(frozen=True, slots=True)
class OperatorNamed:
    """An operator of the dialect that is the argument of a function."""

    name: str


@dataclass(frozen=True, slots=True)
class TargetOf:
    """A node of the target. `several`: it stands for a sequence."""

    target: int
    several: bool = False


def article(kind: str) -> str:
    """`a tuple`, `an int`."""
    return "none" if kind == "none" else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


class Lost:
    """Stands for a name whose definition has an error: what uses it is not judged."""


Denotation = Union[NodeOf, ValueOf, BlockOf, InstanceOf, NodesOf, OperatorOf, OperatorNamed, TargetOf, Lost]

KINDS = ("any", "var", "input", "param", "const", "fixed", "op")
BUILTIN_ARGUMENTS: Mapping[str, tuple[int, int]] = {
    "len": (1, 1),
    "range": (1, 3),
    "reversed": (1, 1),
    "zip": (1, 9),
    "sum": (1, 1),
    "prod": (1, 1),
    "min": (1, 9),
    "max": (1, 9),
    "any": (1, 1),
    "all": (1, 1),
    "concat": (1, 9),
    "cumsum": (1, 1),
    "abs": (1, 1),
    "numel": (1, 1),
    "broadcast": (2, 2),
    "normalize_axis": (2, 2),
    "layout_remap": (2, 2),
    "close": (3, 3),
}
BUILTIN_TYPES: Mapping[str, str] = {
    "len": "int",
    "range": "tuple",
    "reversed": "any",
    "zip": "tuple",
    "sum": "any",
    "prod": "any",
    "any": "bool",
    "all": "bool",
    "concat": "tuple",
    "cumsum": "tuple",
    "numel": "int",
    "broadcast": "tuple",
    "normalize_axis": "int",
    "layout_remap": "tuple",
    "close": "bool",
}
USES: Mapping[str, tuple[str, int]] = {"users": ("int", 2), "is_output": ("bool", 1), "calls": ("int", 2)}
"""Functions of the graph around a node, or inside it: the type of the result, and how many arguments."""
FUNCTIONS = frozenset((*BUILTIN_ARGUMENTS, *USES))


@dataclass(slots=True)
class Template:
    """An `each` block while it is lowered: its own names."""

    block: int
    name: str = ""
    names: dict[str, Denotation] = field(default_factory=dict)
    nodes: list[int] = field(default_factory=list)
    lets: dict[int, int] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()  # all names that its statements bind
    # names that `first.NAME` read before their statement → node
    ahead: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Run:
    """A chain while it is lowered: the name of what is handed on, its pattern nodes.

    `end`: once it is used.
    """

    link: str
    previous: int
    start: int
    end: int | None = None


@dataclass(slots=True)
class Lowering:
    """The state of lowering one rule or test. `side`: "source" or "target".

    Tables grow while the source is lowered; `patterns[k]` may be replaced (a name or `keep` added) but never
    moves.
    """

    dialect: Dialect
    functions: Mapping[str, n.FnDecl | n.ParamDecl]
    diagnostics: list[Diagnostic]
    # `resolve.resolve`; expressions stand inside each other in all ways
    denoting: Callable[[Lowering, n.Expr, bool], Denotation]
    side: str = "source"
    names: dict[str, Denotation] = field(default_factory=dict)
    bound_at: dict[str, Span] = field(default_factory=dict)
    patterns: list[ir.Pattern] = field(default_factory=list)
    variables: dict[str, ir.OpVariable] = field(default_factory=dict)
    # what the operator variables of the header may be, as written
    variables_as_written: dict[str, n.Kind] = field(default_factory=dict)
    own_variables: set[str] = field(default_factory=set)  # of blocks: each instance has its own
    # declared by traits: an attribute need not be in all operators
    trait_variables: set[str] = field(default_factory=set)
    lets: list[ir.Value] = field(default_factory=list)
    captures: list[str] = field(default_factory=list)
    captured: dict[int, AttributeSpec] = field(default_factory=dict)  # the declarations of what these are of
    templates: list[Template] = field(default_factory=list)
    blocks: dict[int, ir.Block] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)  # of blocks that are chains
    inside: Template | None = None  # the template being lowered
    # alternation → names of its branches
    branch_names: dict[int, tuple[str | None, ...]] = field(default_factory=dict)
    targets: list[ir.Target] = field(default_factory=list)
    target_names: list[str | None] = field(default_factory=list)
    target_spans: list[Span] = field(default_factory=list)
    locals: int = 0
    # pattern node → kinds of operands that it is ("tensor", "tuple"); "any" for an alternative
    taken: dict[int, set[str]] = field(default_factory=dict)
    used_inputs: set[str] = field(default_factory=set)
    expanding: tuple[str, ...] = ()  # functions being expanded, outermost first
    expansions: int = 0
    # uses of functions
    expanded: dict[tuple[object, ...], tuple[Denotation, object, object]] = field(default_factory=dict)
    # values by identity, with what `calls` found of them
    sizes: dict[int, tuple[int, bool, Any]] = field(default_factory=dict)
    # values by identity that are known before a match (`known_values`), with what they are
    known: dict[int, tuple[ir.Value, Any]] = field(default_factory=dict)
    # choices between values by identity, with their branches as written
    branches: dict[int, tuple[ir.Value, tuple[tuple[n.Expr, ValueOf], ...]]] = field(default_factory=dict)
    # there is a graph around what is matched; not so in tests and in meanings of operators
    in_graph: bool = True
    # comprehension variables and fn parameters
    overlay: list[dict[str, Denotation]] = field(default_factory=list)
    if_unknown: str | None = None  # help for a name that nothing binds, where it stands now
    in_a_rule: str | None = None  # the same on this side of a rule, or in a declaration
    of_family: bool = False  # the rule is an instance of a family
    broken: bool = False  # it reads a parameter of the file whose value has an error, reported there
    below: frozenset[str] = frozenset()  # names that later statements bind
    inputs_ahead: tuple[str, ...] = ()  # the input that is lowered, and those declared after it
    defining: str | None = None  # the name of the statement that is lowered
    text: n.Node | None = None  # the side of the rule that is lowered
    of_target: frozenset[str] = frozenset()  # names that the target will bind, while the source is lowered
    not_yet: frozenset[str] = frozenset()  # operators that the file declares here or further down

    # ── findings ──

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        help: str | None = None, *,
        text: str = "",
        related: Iterable[Label] = (),
    ) -> None:
        self.diagnostics.append(
            Diagnostic(code, message, Label(span, text), related=tuple(related), help=help)
        )

    def stop(
        self, code: str, message: str, span: Span, help: str | None = None, *, related: Iterable[Label] = ()
    ) -> NoReturn:
        self.error(code, message, span, help, related=related)
        raise Stop

    def check_once(self, arguments: Iterable[n.Argument]) -> None:
        """Report arguments by name that are given twice."""
        seen: set[str] = set()
        for argument in arguments:
            if isinstance(argument, n.Keyword):
                if argument.name in seen:
                    message = f"`{argument.name}` is given twice"
                    self.error("E0311", message, argument.name_span, "remove one of them")
                seen.add(argument.name)

    def resolve(self, expr: n.Expr, *, ordered: bool = False) -> Denotation:
        """The node, value or sequence that an expression denotes (`resolve.resolve`)."""
        return self.denoting(self, expr, ordered)

    # ── names ──

    def name_it(self, name: n.Name, what: Denotation) -> None:
        """Bind a name; a node takes it as its own if it has none, a value becomes a let."""
        match what:
            case NodeOf(place, node) if (
                isinstance(place, ir.Own) and self.side == "source" and self.patterns[node].name is None
            ):
                self.patterns[node] = replace(self.patterns[node], name=name.id)
            case ValueOf(value, kind):
                what = ValueOf(self.add_let(value), kind)
            case TargetOf(target) if self.target_names[target] is None:
                self.target_names[target] = name.id
        self.bind(name, what)

    def settles(self, condition: ir.Value) -> bool | None:
        """The outcome of a condition that this use of a function, or this row of a family, decides: what it
        rules out is written for other uses, and not judged here. None for all other conditions.
        """
        if (self.expanding or self.of_family) and isinstance(condition, ir.Const) and not condition.name:
            return bool(condition.value)
        return None

    def look_up(self, name: str) -> Denotation | None:
        for names in reversed(self.overlay):
            if name in names:
                return names[name]
            if "" in names:  # a function's body sees its parameters only
                return None
        if self.inside is not None and name in self.inside.names:
            return self.inside.names[name]
        return self.names.get(name)

    def visible(self) -> list[str]:
        found = list(self.names) + (list(self.inside.names) if self.inside else [])
        found += [name for name, item in self.functions.items() if isinstance(item, n.ParamDecl)]
        return found + [name for names in self.overlay for name in names if name]

    @property
    def example(self) -> str:
        """An operator of the dialect, for what messages show."""
        return "Relu" if self.dialect.name == "onnx" else "nn.relu"

    def bind(self, name: n.Name, what: Denotation, *, of_declaration: bool = False) -> None:
        """Give a name to something. A name is bound once; kinds cannot be names, but of what an operator is
        declared with.

        What the body of a function binds is seen there only, and anew at each use.
        """
        body = next((names for names in reversed(self.overlay) if "" in names), None)
        scope = body if body is not None else self.inside.names if self.inside is not None else self.names
        if name.id in KINDS and not of_declaration:
            self.error(
                "E0203", f"`{name.id}` is a kind and cannot be bound", name.span, "choose another name"
            )
            scope[name.id] = Lost()
            return
        if body is not None:
            if name.id in body:
                self.stop("E0202", f"`{name.id}` is bound twice", name.span, "choose another name")
            body[name.id] = what
            return
        known = self.bound_at.get(name.id)
        if known is not None:
            self.error(
                "E0202", f"`{name.id}` is bound twice", name.span, "choose another name",
                related=(Label(known, "first bound here"),),
            )  # fmt: skip
            if self.look_up(name.id) is None:  # the first one is local to a block
                scope[name.id] = Lost()
            return
        self.bound_at[name.id] = name.span
        scope[name.id] = what

    @contextmanager
    def helping(self, name: str, hint: str | None) -> Iterator[None]:
        """Within, the help for `name` if nothing binds it."""
        before, self.if_unknown = self.if_unknown, hint if self.look_up(name) is None else None
        try:
            yield
        finally:
            self.if_unknown = before

    def new_local(self) -> int:
        self.locals += 1
        return self.locals - 1

    # ── tables ──

    def add_pattern(self, pattern: ir.Pattern) -> NodeOf:
        number = len(self.patterns)
        self.patterns.append(pattern)
        for part in pattern.stands_for:
            self.taken.setdefault(part, set()).add("any")
        if self.inside is not None:
            self.inside.nodes.append(number)
        return NodeOf(ir.OWN, number)

    def add_ahead(self, template: Template, name: str, span: Span) -> NodeOf:
        """A node that stands for a template's name until its statement is lowered."""
        if name not in template.ahead:
            template.ahead[name] = len(self.patterns)
            self.patterns.append(ir.LeafNode(name=name, span=span, block=template.block, kind="any"))
        return NodeOf(ir.OWN, template.ahead[name])

    def settle_ahead(self, template: Template, name: str, what: Denotation) -> Denotation:
        """Let a name's node take the place of the one that stood for it."""
        number = template.ahead.pop(name, None)
        if number is None:
            return what
        if not isinstance(what, NodeOf) or what.node != len(self.patterns) - 1:
            span = self.patterns[number].span
            self.stop(
                "E0401", f"`first.{name}` is used before `{name}` is defined", span,
                f"define `{name}` as a separate node",
            )
        self.patterns[number] = self.patterns.pop()
        template.nodes[-1] = number
        self.branch_names[number] = self.branch_names.pop(what.node, ())
        return NodeOf(ir.OWN, number)

    @property
    def block(self) -> int | None:
        return self.inside.block if self.inside is not None else None

    def without_alternatives(self, node: int) -> list[int]:
        """A node, or the branches of an alternation, to the bottom."""
        pattern = self.patterns[node]
        if not isinstance(pattern, ir.AltNode):
            return [node]
        return [inner for branch in pattern.branches for inner in self.without_alternatives(branch)]

    def add_target(self, target: ir.Target, span: Span, several: bool = False) -> TargetOf:
        self.targets.append(target)
        self.target_names.append(None)
        self.target_spans.append(span)
        return TargetOf(len(self.targets) - 1, several)

    def add_let(self, value: ir.Value) -> ir.Value:
        """A named value; literals and references stay what they are."""
        if not value.needs_name:
            return value
        self.lets.append(value)
        if self.inside is not None:
            self.inside.lets[len(self.lets) - 1] = self.inside.block
        return ir.Let(ir.OWN, len(self.lets) - 1)


def is_tensor(what: object) -> bool:
    """True if a name stands for a node rather than a value."""
    return isinstance(what, (NodeOf, TargetOf, NodesOf))


def branches_of(expr: n.Binary) -> list[n.Expr]:
    """The operands of `a | b | …`, in order."""
    branches: list[n.Expr] = []
    stack: list[n.Expr] = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, n.Binary) and part.operator == "|":
            stack += (part.right, part.left)
        else:
            branches.append(part)
    return branches

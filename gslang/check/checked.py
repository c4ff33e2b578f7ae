"""A rule that is known to be right: pattern nodes, constraints and target, all names resolved, all `fn`s
expanded.

This is what `check` produces and the engine consumes. Everything is immutable; pattern nodes, lets, captures,
blocks and targets are numbered, and tables are tuples indexed by those numbers. What a match binds lives in
the match.

Reading conventions: "slot" is the graph node that a pattern node matched; an *instance* is one match of an
`each` template, with slots of its own. What rules are made of is defined in `checked_pattern`,
`checked_tests`, `checked_kinds`, `checked_values` and `checked_target`, and is found here too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from gslang.base.diagnostics import Diagnostic
from gslang.base.late import Late
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check.checked_kinds import *
from gslang.check.checked_pattern import *
from gslang.check.checked_pattern import AltNode, Block, CallNode, LeafNode, Pattern
from gslang.check.checked_target import *
from gslang.check.checked_target import TargetGraph
from gslang.check.checked_tests import *
from gslang.check.checked_tests import Computes
from gslang.check.checked_values import *
from gslang.check.checked_values import Extern, Value
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType


@dataclass(frozen=True, slots=True)
class OpVariable:
    """An operator variable `f: op(…)`."""

    name: str
    operators: tuple[str, ...]  # those that it may stand for


class _WithFootprint(Late):
    """A place for what `footprint` finds."""

    __slots__ = ("_footprint",)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedRule(_WithFootprint):
    """`inputs`: the header's input vertices as pattern nodes. `outputs`: pattern nodes.

    `interior`: nodes that go away (templates' included): neither input nor output, not used by the target as
    a node, not `keep`; no leaves, no alternations. `where`: tested once the whole source is matched.
    """

    name: str
    doc: str | None
    nodes: tuple[Pattern, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]  # empty if `output_block` is given
    output_block: int | None  # the block whose instances' roots are the outputs
    blocks: tuple[Block, ...]
    variables: tuple[OpVariable, ...]
    lets: tuple[Value, ...]
    captures: tuple[str, ...]  # names
    where: tuple[Value, ...]
    where_spans: tuple[Span, ...] = field(compare=False, repr=False)
    interior: frozenset[int]
    target: TargetGraph
    dialect: Dialect = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)
    once: bool = False
    disconnected: bool = False
    approximate: float | None = None  # relative tolerance
    changes: str | None = None  # why the two sides are not meant to be equal
    tags: tuple[str, ...] = ()
    family: str | None = None  # of which it is one
    opset: tuple[int | None, int | None] = (None, None)
    externs: tuple[Extern, ...] = ()  # the Python functions that it rests on, each once

    @property
    def roots(self) -> tuple[int, ...]:
        """Where the source begins: its outputs, or the root of the template that gives them."""
        return self.outputs if self.output_block is None else (self.blocks[self.output_block].root,)

    @property
    def calls(self) -> dict[int, CallNode]:
        """The calls of the source by their number."""
        return {k: node for k, node in enumerate(self.nodes) if isinstance(node, CallNode)}

    @property
    def leaves(self) -> dict[int, LeafNode]:
        """The leaves of the source by their number."""
        return {k: node for k, node in enumerate(self.nodes) if isinstance(node, LeafNode)}

    @property
    def maker(self) -> str:
        """The maker of the nodes that it creates, for `@once`: its family, or itself."""
        return self.name if self.family is None else self.family

    @property
    def bodies(self) -> tuple[str, ...]:
        """The attributes of the source whose bodies are described."""
        return tuple([
            test.field for node in self.nodes for test in node.tests if isinstance(test.test, Computes)
        ])

    @property
    def has_alternatives(self) -> bool:
        """True if something in the source may be one or the other."""
        return any(isinstance(node, AltNode) for node in self.nodes)


def attaches(rule: CheckedRule) -> bool:
    """True if a rule attaches something to operators that it creates."""
    return any(target.attached for target in rule.target.calls)


def is_lost(name: str, broken: Collection[str]) -> bool:
    """True if a name is that of a rule or pass with an error, or of a rule of such a family: what names it
    is not judged.
    """
    return name in broken or name.partition("[")[0] in broken


def called(rules: Mapping[str, CheckedRule], name: str) -> tuple[str, ...]:
    """The rules that a name stands for: the one that has it, or those of a family, in order."""
    if name in rules:
        return (name,)
    return tuple(key for key, rule in rules.items() if rule.family == name)


def rows_listed(name: str, rules: Mapping[str, CheckedRule]) -> str | None:
    """The help for an unknown rule of a family: those that it has. None if the family is unknown, too."""
    family = [key for key, rule in rules.items() if rule.family == name.partition("[")[0]]
    rows = ", ".join(f"`{known}`" for known in family[:5]) + ", …" * (len(family) > 5)
    return f"rules of this family: {rows}" if rows else None


def families(rules: Mapping[str, CheckedRule]) -> list[str]:
    """The names of families, each once."""
    return list(dict.fromkeys(rule.family for rule in rules.values() if rule.family is not None))


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a declared operator: its value and its type. `rule`: its source is one call of the
    operator (the last pattern node; operand k is pattern node k, a variadic one a tuple of all that is left),
    its target is the value, without outputs if none is declared.
    """

    rule: CheckedRule
    variadic: bool  # the last operand is
    shape: Value | None
    dtype: Value | None


@dataclass(frozen=True, slots=True)
class CheckedTest(Late):
    """A `test` item. `source` and `expected` build graphs from inputs: in them `SourceNode(OWN, k)` is input
    number k.

    `inputs`: (name, "input" | "param" | "const", type). `expected` None means the rule must change nothing.
    """

    title: str
    rule: str
    inputs: tuple[tuple[str, str, TensorType], ...]
    source: TargetGraph
    expected: TargetGraph | None
    lets: tuple[Value, ...]
    span: Span = field(compare=False, repr=False)
    opset: int | None = None  # that the graphs state (ONNX)


@dataclass(frozen=True, slots=True)
class Step:
    """One item of a pass: rule names run together to a fixed point (one name: alone), "fold" or "cse"."""

    rules: tuple[str, ...]
    builtin: str | None = None
    nested: tuple[Step, ...] = ()  # of a `repeat` that mixes passes and built-ins


@dataclass(frozen=True, slots=True)
class CheckedPass:
    """A `pass` item."""

    name: str
    steps: tuple[Step, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """`rules` and `passes`: all that are visible, imported ones included, by name; `own_rules`: this file's,
    in order.

    `parameters`: the values of the `param` items, imported ones included.
    """

    name: str
    dialect: Dialect = field(repr=False)
    doc: str | None
    rules: dict[str, CheckedRule]
    own_rules: tuple[str, ...]
    passes: dict[str, CheckedPass]
    tests: tuple[CheckedTest, ...]
    diagnostics: tuple[Diagnostic, ...]
    parameters: dict[str, object] = field(default_factory=dict)

    def named(self, name: str) -> tuple[CheckedRule, ...]:
        """The rule of this name, or those of the family; none if there is none."""
        return tuple(self.rules[k] for k in called(self.rules, name))

    @property
    def ok(self) -> bool:
        """True if no finding is an error."""
        return not any(d.severity.value == "error" for d in self.diagnostics)

"""Small graphs that sources match: of a rule's own tests, and put together from patterns.

`common_graph` unifies two source patterns at their first outputs and makes a graph of the result. What it
returns is only a proposal: shapes are tried from a short list, only simple conditions are solved. Callers run
the matchers on it, so that what is reported is true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import islice, product
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.signature import REQUIRED, TypeInferenceError
from gslang.dialect.tensor_type import TensorType
from gslang.engine.build import BuildError
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.proposals import UNSAID, Proposals, fits
from gslang.engine.scope import UNBOUND, Scope
from gslang.engine.values import FAILURES
from gslang.graph.graph import ABSENT, INPUT, PARAM, Graph
from gslang.graph.inference import infer_node
from gslang.lint.linted_file import LintedFile
from gslang.lint.pattern_walk import is_run
from gslang.lint.solving import solve

Member = tuple[int, int]  # which rule, which pattern node
_MOST_VARIANTS = 24
# Shapes of inputs and of parameters that are tried in turn: images with small windows, matrices, sequences,
# scales, vectors.
_WORLDS = (
    ((2, 4, 4, 4), (4, 4, 1, 1)), ((4, 4), (4, 4)), ((2, 4, 4), (2, 4, 4)), ((2, 4, 4, 4), (4, 1, 1)),
    ((2, 4, 4, 4), (4,)), ((4,), (4,)),
)


def graphs_of(file: LintedFile, rule: ir.CheckedRule) -> list[Graph]:
    """Graphs that a rule matches: those of its tests, else one made from its source."""
    from gslang.testing import build_graph

    if not is_run(rule):
        return []
    found = []
    for test in file.program.tests:
        if test.rule in (rule.name, rule.family) and test.expected is not None:
            try:
                found.append(build_graph(file.program, test, test.source))
            except (BuildError, *FAILURES):
                continue  # `gslc test` says what is wrong with it
    made = (
        None if found
        else next((g for g, _, _ in _graphs((rule,), None) if any(matching_nodes(rule, g))), None)
    )
    return found if made is None else [made]


def matching_nodes(rule: ir.CheckedRule, graph: Graph) -> Iterator[int]:
    """The nodes at which a rule matches."""
    plan = program_of(rule)
    for node in graph.in_order():
        if graph.op[node] in plan.starts and next(matches(plan, graph, node), None) is not None:
            yield node


def common_graph(a: ir.CheckedRule, b: ir.CheckedRule) -> tuple[Graph, int] | None:
    """A graph and a node of it at which both rules really match, if one is found."""
    for graph, _, _ in _graphs((a, b), None):
        both = set(matching_nodes(a, graph)) & set(matching_nodes(b, graph))
        if both:
            return graph, min(both)
    return None


def inner_graph(outer: ir.CheckedRule, at: int, inner: ir.CheckedRule) -> tuple[Graph, int, int] | None:
    """A graph on which `inner` really matches at the node that stands for pattern node `at` of a match of
    `outer`; the nodes of both.
    """
    for graph, top, below in _graphs((outer, inner), at):
        if below != top and _matches_at(outer, graph, top) and _matches_at(inner, graph, below):
            return graph, top, below
    return None


def _matches_at(rule: ir.CheckedRule, graph: Graph, node: int) -> bool:
    plan = program_of(rule)
    return graph.op[node] in plan.starts and next(matches(plan, graph, node), None) is not None


def _graphs(rules: tuple[ir.CheckedRule, ...], at: int | None) -> Iterator[tuple[Graph, int, int]]:
    """Graphs made of the sources, the second rule's first output being the first's, or its pattern node `at`;
    and these two nodes.
    """
    if any(rule.blocks or not rule.outputs for rule in rules):
        return
    top = rules[0].outputs[0]
    variants = [list(islice(_choices(rule), 6)) for rule in rules]
    for chosen in islice(product(*variants), _MOST_VARIANTS):
        for swaps in (0, 1, 2, 3) if len(rules) > 1 else (0,):
            unified = _Unified(rules, chosen, swaps, top if at is None else at)
            if unified.unify():
                for world in _WORLDS:
                    making = _Making(unified, *world)
                    graph = making.make()
                    if graph is not None:
                        yield (
                            graph, making.made[unified.find((0, top))],
                            making.made[unified.find((0, unified.at))],
                        )
            if swaps >= 2**unified.pairs - 1:
                break


def _choices(rule: ir.CheckedRule) -> Iterator[dict[int, int]]:
    """Branches for the alternations of a rule."""
    numbers = [k for k, node in enumerate(rule.nodes) if isinstance(node, ir.AltNode)]
    counts = [len(node.branches) for node in rule.nodes if isinstance(node, ir.AltNode)]
    for picks in product(*map(range, counts)):
        yield dict(zip(numbers, picks))


@dataclass(slots=True)
class _Unified:
    """Classes of pattern nodes that are one graph node.

    `swaps`: bit k turns the operands of the k-th swappable pair round.
    """

    rules: tuple[ir.CheckedRule, ...]
    chosen: tuple[dict[int, int], ...]
    swaps: int
    at: int
    parent: dict[Member, Member] = field(default_factory=dict)
    pairs: int = 0

    def find(self, member: Member) -> Member:
        member = self.resolved(member)
        while (above := self.parent.get(member, member)) != member:
            member = above
        return member

    def resolved(self, member: Member) -> Member:
        """An alternation is its chosen branch."""
        r, k = member
        while isinstance(node := self.rules[r].nodes[k], ir.AltNode):
            k = node.branches[self.chosen[r][k]]
        return r, k

    def node(self, member: Member) -> ir.Pattern:
        return self.rules[member[0]].nodes[member[1]]

    def unify(self) -> bool:
        todo = [((0, self.at), (r, rule.outputs[0])) for r, rule in enumerate(self.rules) if r]
        while todo:
            x, y = map(self.find, todo.pop())
            if x == y:
                continue
            a, b = self.node(x), self.node(y)
            if isinstance(a, ir.LeafNode) and not isinstance(b, ir.LeafNode):
                (x, a), (y, b) = (y, b), (x, a)
            if isinstance(b, ir.LeafNode):
                if not isinstance(a, ir.LeafNode) and b.kind != "any":
                    return False
                if isinstance(a, ir.LeafNode) and a.kind == "any":
                    x, y = y, x
                self.parent[y] = x
                continue
            self.parent[y] = x
            parts = self._parts(a, b)
            if parts is None:
                return False
            todo += [((x[0], p), (y[0], q)) for p, q in parts]
        return True

    def _parts(self, a: ir.Pattern, b: ir.Pattern) -> list[tuple[int, int]] | None:
        """Operands that become one, or None if the nodes do not fit."""
        if not set(a.operators) & set(b.operators) or len(a.parts) != len(b.parts):
            return None
        order = b.parts
        if a.swappable & b.swappable and len(order) == 2:
            if self.swaps >> self.pairs & 1:
                order = order[::-1]
            self.pairs += 1
        pairs = [(p, q) for p, q in zip(a.parts, order) if isinstance(p, int) and isinstance(q, int)]
        there = sum(not (p is None and q is None) for p, q in zip(a.parts, order))
        return pairs if len(pairs) == there else None


class _Making:
    """One graph from unified patterns; constraints propose attributes, shapes and values as soon as what they
    read is there.
    """

    def __init__(self, unified: _Unified, input_shape: tuple[int, ...], param_shape: tuple[int, ...]) -> None:
        self.unified, self.input_shape, self.param_shape = unified, input_shape, param_shape
        self.dialect = unified.rules[0].dialect
        self.graph = Graph(self.dialect.name, "witness")
        self.made: dict[Member, int] = {}
        self.scopes = [
            Scope(rule, self.graph, [UNBOUND] * len(rule.nodes), chosen=dict(chosen))
            for rule, chosen in zip(unified.rules, unified.chosen)
        ]
        self.members: dict[Member, list[Member]] = {}
        for r, rule in enumerate(unified.rules):
            for k in range(len(rule.nodes)):
                self.members.setdefault(unified.find((r, k)), []).append((r, k))

    def make(self) -> Graph | None:
        roots = [self.unified.find((r, k)) for r, rule in enumerate(self.unified.rules) for k in rule.outputs]
        stack = [(root, False) for root in reversed(roots)]
        waiting: set[Member] = set()
        try:
            while stack:
                member, ready = stack.pop()
                if member in self.made:
                    continue
                parts = self._parts(member)
                if parts is None or member in waiting and not ready:
                    return None  # a template, or a node that would read itself
                if ready:
                    self._make(member, [ABSENT if p is None else self.made[p] for p in parts])
                    continue
                waiting.add(member)
                stack.append((member, True))
                stack += [(p, False) for p in reversed(parts) if p is not None and p not in self.made]
            inside = {self.made[self.unified.find((0, self.unified.at))]} - {self.made[roots[0]]}
            self.graph.set_outputs(
                list(dict.fromkeys(self.made[root] for root in roots if self.made[root] not in inside))
            )
        except (TypeInferenceError, TypeError, ValueError, KeyError, *FAILURES):
            return None
        return self.graph

    def _parts(self, member: Member) -> list[Member | None] | None:
        r, _ = member
        parts = self.unified.node(member).parts
        if any(isinstance(p, ir.Splice) for p in parts):
            return None
        return [self.unified.find((r, p)) if isinstance(p, int) else None for p in parts]

    def _make(self, member: Member, operands: list[int]) -> None:
        graph, pattern = self.graph, self.unified.node(member)
        members = self.members[member]
        if isinstance(pattern, ir.LeafNode):
            node = self._leaf(members)
        else:
            operator = self._operator(members)
            declared = self.dialect.operators.get(operator)  # none of tuples and projections
            first = graph.types[operands[0]] if operands and operands[0] >= 0 else None
            shape = (
                first.shape if isinstance(first, TensorType) and first.shape is not None else self.input_shape
            )
            required = dict.fromkeys(pattern.attributes, 0) if declared is None else {
                name: _guess(name, spec.types[0].base, spec.types[0].depth, shape)
                for name, spec in declared.attributes.items() if spec.default is REQUIRED
            }
            wanted = self._proposed(members, required)
            names = pattern.attributes if declared is None else declared.attributes
            node = graph.add(
                operator, operands, {name: value for name, value in wanted.items() if name in names}
            )
        if graph.types[node] is None:
            graph.types[node] = infer_node(graph, self.dialect, node)
        self.made[member] = node
        for r, k in members:
            self.scopes[r].slots[k] = node

    def _operator(self, members: list[Member]) -> str:
        """An operator that all patterns of a class admit; operator variables stay the same."""
        admitted: list[str] = []
        for k, member in enumerate(members):
            pattern = self.unified.node(member)
            if isinstance(pattern, ir.OpNode):
                known = self.scopes[member[0]].variables.get(pattern.variable or "")
                own = [known] if known else list(pattern.operators)
                admitted = [o for o in own if not admitted or o in admitted] if k else own
        operator = admitted[0]
        for member in members:
            pattern = self.unified.node(member)
            if isinstance(pattern, ir.CallNode) and pattern.variable:
                self.scopes[member[0]].variables[pattern.variable] = operator
        return operator

    def _leaf(self, members: list[Member]) -> int:
        import numpy

        kinds = {node.kind for m in members if isinstance(node := self.unified.node(m), ir.LeafNode)}
        weight = bool(kinds & {"var", "param", "fixed"}) and "input" not in kinds
        default = {"shape": self.param_shape if weight else self.input_shape, "dtype": "float32"}
        if "const" in kinds:
            default["shape"] = ()
            wanted = self._proposed(members, {**default, "value": 2.0})
            array = numpy.broadcast_to(
                numpy.asarray(wanted["value"], wanted["dtype"]),
                wanted["shape"] or numpy.shape(wanted["value"]),
            )
            return self.graph.add_const(array, TensorType(array.shape, wanted["dtype"]))
        wanted = self._proposed(members, default)
        name = f"x{len(self.graph.op)}"
        return self.graph.add(
            PARAM if weight or "param" in kinds else INPUT, (), {},
            TensorType(tuple(wanted["shape"]), wanted["dtype"]), name,
        )

    def _proposed(self, members: list[Member], defaults: Mapping[str, object]) -> dict[str, Any]:
        """Fields and what constraints want them to be; what several want, the last one that can tell decides.
        """
        wanted = dict(defaults)
        for r, k in members:
            scope = self.scopes[r]
            for constraint in self.unified.rules[r].nodes[k].constraints:
                if isinstance(constraint, ir.SameAttributes):
                    copied = self.graph.attrs[scope.slot(constraint.place, constraint.node)]
                    wanted.update(
                        {name: value for name, value in copied.items() if name not in constraint.without}
                    )
                    continue
                value = _Simple(scope)(constraint.test, wanted.get(constraint.field, UNSAID))
                if value is not UNSAID and value is not None:
                    wanted[constraint.field] = value
            solve(self.unified.rules[r], k, wanted, scope)
        return wanted


class _Simple(Proposals):
    """Proposals as far as values can be told; else the default."""

    def __call__(self, test: ir.Test, default: object = UNSAID) -> Any:
        try:
            return super().__call__(test, default)
        except FAILURES:
            return default

    def items(self, default: object, count: int, more: bool) -> tuple[Any, ...]:
        return default if fits(default, count, more) else (4,) * count


def _guess(name: str, base: str, depth: int, shape: tuple[object, ...]) -> object:
    """A value for a required attribute that no constraint fixes."""
    if base == "dtype" or name == "dtype":
        return "float32"
    if name in ("newshape", "shape"):
        return shape
    if depth:
        return tuple(reversed(range(len(shape)))) if depth == 1 else ((0, 0),) * len(shape)
    return {"int": 1, "float": 0.5, "bool": False, "str": ""}.get(base, 1)

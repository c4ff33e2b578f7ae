"""One attempt to match a rule at a node of a graph, which remembers what stood in the way.

A matcher of its own, which follows the readable one (`interpret`) step by step and notes every obstacle with the number of
pattern nodes that were matched until then; the obstacle that was met furthest is the reason. A lenient attempt also goes on
behind each obstacle, once, as if it was none: what can be matched then tells how near that obstacle is to being the only
one. So the engine's own matchers carry nothing of this. The conditions on a whole match: `near_miss_whole`; operands
and instances of templates: `near_miss_operands`, `near_miss_block`; which attempts are made and told: `why_not`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.found import children, walk
from gslang.engine import interpret
from gslang.engine.conditions import is_deferred
from gslang.engine.constraints import kind_fits, satisfied
from gslang.engine.near_miss_block import output_block
from gslang.engine.near_miss_operands import Operands, align
from gslang.engine.near_miss_whole import failing_parts, first_output, whole_is_valid
from gslang.engine.obstacles import (
    constraint_obstacle,
    described,
    shown_operators,
)
from gslang.engine.program import MatchProgram
from gslang.engine.scope import UNBOUND, Scope
from gslang.graph.graph import ABSENT, PROJ, TUPLE, Graph

_WHOLE = 5  # what the conditions on a whole match cost, in visits of a pattern node
_NAMED = 4  # users that are told one by one
_READING = (ir.SameAttributes, ir.NodeAttr, ir.Captured, ir.Let, ir.SameNode, ir.IsAbsent)  # parts of constraints that read what was matched

Ways = Iterator[None]


@dataclass(frozen=True, slots=True)
class Miss:
    """An attempt at a match that failed, or (`reason` "matches") did not.

    `matched` of `of` parts of the pattern hold: its nodes, and its conditions on the whole; all but one where nothing else is in
    the way. `node` is where the obstacle stood in
    the graph, `start` the first output's candidate; `expected` and `found` say what was wanted there and what there was.
    """

    rule: str
    start: int
    node: int
    matched: int
    of: int
    reason: str
    span: Span
    expected: str
    found: str
    help: str


ONLY_TARGET = ("target-value", "target-type")  # the source matches


def parts_of(plan: MatchProgram) -> int:
    """What has to hold: pattern nodes but alternatives, each `where`, and the conditions on the match as a whole."""
    rule = plan.rule
    nodes = sum(not isinstance(node, ir.AltNode) for node in rule.nodes)
    return nodes + len(rule.where) + sum(len(block.where) for block in rule.blocks) + 2


def _below(rule: ir.CheckedRule, number: int) -> list[int]:
    """The rule-level pattern nodes at and below one."""
    found, stack = {number: None}, [number]
    while stack:
        for child in children(rule.nodes[stack.pop()]):
            if child not in found:
                found[child] = None
                stack.append(child)
    return [k for k in found if rule.nodes[k].block is None]


@dataclass(slots=True)
class Attempt:
    """One try to match with the first output at `start`, in at most `steps` visits of pattern nodes.

    A `glance` leaves further instances of a variadic output aside. A `lenient` attempt passes over one obstacle on each way; it is
    meant for places where the rule is known not to match. Afterwards `cut` says that not all ways were tried, and `spent` what
    it cost. `memo` is shared by the attempts of a rule at one graph.
    """

    plan: MatchProgram
    graph: Graph
    start: int
    steps: int
    glance: bool
    memo: dict[Any, Any]
    lenient: bool = False
    scope: Scope = field(init=False)
    best: Miss | None = None
    started: set[int] = field(default_factory=set)  # nodes whose operator fits, while their operands are tried
    total: int = field(init=False)
    cut: bool = False
    spent: int = 0
    latest: Miss | None = None  # the obstacle that was noted last
    passed_over: Miss | None = None  # that which this way leads over
    wrong: set[int] = field(default_factory=set)  # pattern nodes that are bound to what does not fit them
    gaps: int = 0  # patterns passed over with all that is below them

    def __post_init__(self) -> None:
        rule = self.plan.rule
        self.scope = Scope(rule, self.graph, [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks])
        self.total = parts_of(self.plan)

    # ── noting ──

    def note(self, reason: str, span: Span, node: int, expected: str, found: str, help: str = "", passed: int = 0) -> None:
        """An obstacle; `passed` counts conditions on the whole that hold."""
        nodes = self.plan.rule.nodes
        bound = self.started | {k for k, slot in enumerate(self.scope.slots) if slot != UNBOUND and not isinstance(nodes[k], ir.AltNode)}
        for instances in self.scope.instances:
            for instance in instances[:1]:
                bound.update(k for k, slot in instance.slots.items() if slot != UNBOUND)
        if self.scope.current is not None:
            bound.update(k for k, slot in self.scope.current.slots.items() if slot != UNBOUND)
        matched = min(len(bound - self.wrong) + passed, self.total - 1)
        self.latest = Miss(self.plan.rule.name, self.start, node, matched, self.total, reason, span, expected, found, help)
        self.keep(self.latest if self.passed_over is None else replace(self.passed_over, matched=matched))

    def keep(self, miss: Miss) -> None:
        if self.best is None or miss.matched > self.best.matched or miss.reason in ONLY_TARGET and self.best.reason not in ONLY_TARGET:
            self.best = miss

    # ── passing over ──

    def over(self, obstacle: Miss | None, wrong: int | None = None) -> Ways:
        """Once, behind the obstacle; `wrong` is the pattern node that does not fit."""
        if not self.lenient or self.passed_over is not None:
            return
        self.passed_over = obstacle
        if wrong is not None:
            self.wrong.add(wrong)
        yield
        if wrong is not None:
            self.wrong.discard(wrong)
        self.passed_over = None

    def over_gap(self, obstacle: Miss | None) -> Ways:
        """As `over`, with nothing bound here and below."""
        for _ in self.over(obstacle):
            self.gaps += 1
            yield
            self.gaps -= 1

    def label(self, node: int) -> str:
        return described(self.graph, node)

    # ── the whole ──

    def run(self) -> Miss:
        rule = self.plan.rule
        for _ in self.outputs() if rule.output_block is None else output_block(self, rule.output_block):
            self.spent_on_whole(0)
            if self.lenient:
                if self.only_obstacle():
                    break
            elif whole_is_valid(self):
                self.cut = False
                return self.matching()
        if self.best is None:
            self.note("gave-up", rule.nodes[first_output(rule)].span, self.start, "a match", "there are too many ways to try them all here")
        assert self.best is not None
        return self.best

    def spent_on_whole(self, more: int) -> None:
        self.spent += _WHOLE + more
        self.steps -= _WHOLE

    def only_obstacle(self) -> bool:
        """Whether one obstacle is all that is in the way of this match; it is noted then, and what there is else."""
        if self.gaps:
            self.note("gap", self.plan.rule.span, self.start, "", "")
            return False
        found = failing_parts(self)
        alone = (self.passed_over or self.latest) if found == (self.passed_over is None) else None
        if alone is not None:
            self.best = replace(alone, matched=self.total - 1)
        return alone is not None

    def matching(self) -> Miss:
        """That the rule matches here."""
        rule = self.plan.rule
        return Miss(rule.name, self.start, self.start, self.total, self.total, "matches", rule.nodes[first_output(rule)].span, "", "", "")

    def outputs(self) -> Ways:
        return self.in_turn([lambda k=k: self.output(k) for k in range(len(self.plan.rule.outputs))])  # type: ignore[misc]

    def output(self, k: int) -> Ways:
        number = self.plan.rule.outputs[k]
        if k == 0:
            yield from self.match(number, self.start)
            return
        if self.scope.slots[number] >= 0:
            yield
            return
        if self.scope.slots[number] != UNBOUND:
            self.note(
                "no-further-output", self.plan.rule.nodes[number].span, self.start, "a node as an output", "an operand that is absent",
                "the rule needs all its outputs; a rule with fewer outputs would match here",
            )  # fmt: skip
            return
        candidates = self.candidates(number)
        if number in self.plan.distinct:
            candidates = [n for n in candidates if n not in self.scope.taken]
        if not candidates:
            pattern = self.plan.rule.nodes[number]
            below = [c for c in children(pattern) if c < len(self.scope.slots) and self.scope.slots[c] >= 0]
            base = self.scope.slots[below[0]] if below else self.start
            self.note(
                "no-further-output", pattern.span, base, f"one more user that can be output {k + 1}: {self.wanted(number)}",
                f"{self.label(base)} is used by {self.users(base) or 'nothing'}",
                "the rule needs all its outputs; a rule with fewer outputs would match here",
            )  # fmt: skip
            yield from self.over_gap(self.latest)
        for candidate in candidates:
            if self.steps < 0:
                self.cut = True
                return
            yield from self.match(number, candidate)

    def candidates(self, number: int, template: bool = False) -> list[int]:
        """As `interpret.candidates`; kept, since many starts may lie above one node with many users."""
        below, slots = self.memo.get(number), self.scope.slots
        if below is None:
            below = self.memo[number] = _below(self.plan.rule, number)
        key = (number, *[slots[k] for k in below])
        found: list[int] | None = self.memo.get(key)
        if found is None:
            found = self.memo[key] = interpret.candidates(self.plan, self.scope, number, template)
            self.spent += len(found) // 8
        return found

    def users(self, node: int) -> str:
        """A node's users, or where there are many of them their operators."""
        key, users = ("users", node), self.graph.users[node]
        if key not in self.memo:
            self.memo[key] = ", ".join(map(self.label, users)) if len(users) <= _NAMED else shown_operators(self.graph.op[u] for u in users)
        return str(self.memo[key])

    def wanted(self, number: int) -> str:
        return shown_operators(sorted(interpret._operators(self.plan, number)))

    def in_turn(self, parts: Sequence[Callable[[], Ways]]) -> Ways:
        return interpret._in_turn(list(parts))

    # ── nodes ──

    def match(self, number: int, slot: int) -> Ways:
        self.steps -= 1
        self.spent += 1
        if self.steps < 0:
            self.cut = True
            return
        node, scope = self.plan.rule.nodes[number], self.scope
        slots = scope.slots_of(node.block)
        bound = slots[number] if isinstance(slots, list) else slots.get(number, UNBOUND)
        if bound != UNBOUND:
            if bound == slot:
                yield
            else:
                name = f"`{node.name}`" if node.name else "this node"
                self.note(
                    "another-node", node.span, slot, f"{name} once more, which is {self.label(bound)}", self.label(slot),
                    "a name used twice is one node; give the second one a name of its own if they may differ",
                )  # fmt: skip
                yield from self.over(self.latest)
            return
        match node:
            case ir.LeafNode():
                yield from self.leaf(number, node, slot, slots)
            case ir.AltNode():
                chosen = scope.chosen if node.block is None else scope.current.chosen  # type: ignore[union-attr]
                for choice, branch in enumerate(node.branches):
                    chosen[number] = choice
                    for _ in self.match(branch, slot):
                        slots[number] = slot
                        yield from self.constraints(number, slot)
                        slots[number] = UNBOUND
                        chosen[number] = choice
                chosen.pop(number, None)
            case _ if slot == ABSENT:
                self.note(
                    "operand-missing", node.span, self.start, self.wanted(number), "the operand is left out", "write `none` or an optional input"
                )
                yield from self.over_gap(self.latest)
            case _:
                yield from self.inner(number, node, slot, slots)

    def leaf(self, number: int, node: ir.LeafNode, slot: int, slots: list[int] | dict[int, int]) -> Ways:
        if slot == ABSENT and not node.optional:
            self.note("operand-missing", node.span, self.start, "an operand", "it is left out", f"`{node.name or 'x'}: {node.kind}?` may be absent")
            yield from self.over_gap(self.latest)
            return
        if slot != ABSENT and not kind_fits(node.kind, self.graph.op[slot]):
            help = f"`{node.name}: any` accepts any node" if node.name else "`any` accepts any node"
            wanted = f"a node of kind `{node.kind}`" + ("" if node.name or node.span.text == node.kind else f", `{node.span.text}`")
            self.note("kind", node.span, slot, wanted, self.label(slot), help)
            for _ in self.over(self.latest, number):
                slots[number] = slot
                yield
                slots[number] = UNBOUND
            return
        slots[number] = slot
        yield from self.constraints(number, slot)
        slots[number] = UNBOUND

    def inner(self, number: int, node: ir.Pattern, slot: int, slots: list[int] | dict[int, int]) -> Ways:
        scope, graph = self.scope, self.graph
        op, operands = graph.op[slot], graph.operands[slot]
        distinct = number in self.plan.distinct
        if distinct and slot in scope.taken:
            self.note(
                "not-distinct", node.span, slot, "a node that nothing else of the pattern has matched", f"{self.label(slot)} is matched already",
                "each call of the source is a node of its own; one that is meant twice is written once, with a name",
            )  # fmt: skip
            yield from self.over_gap(self.latest)
            return
        orders: tuple[tuple[int, ...], ...] = (operands,)
        variable = None
        match node:
            case ir.CallNode():
                parts: Operands = node.operands
                fits = op in node.operators
                if fits and node.variable is not None:
                    known = scope.variables.get(node.variable)
                    if known is None:
                        variable = node.variable
                    elif known != op:
                        self.note(
                            "operator-variable", node.span, slot, f"`{known}`, which `{node.variable}` is here", self.label(slot),
                            "an operator variable is one operator in the whole match; two variables may differ",
                        )  # fmt: skip
                        yield from self.despite(number, node, slot, parts, slots)
                        return
                if fits and op in node.swappable and len(operands) == 2:
                    orders = (operands, (operands[1], operands[0]))
            case ir.TupleNode():
                parts, fits = node.fields, op is TUPLE
            case ir.ProjNode():
                parts, fits = (node.base,), op is PROJ
            case _:
                raise AssertionError("not an inner node: this is a bug in gslang")
        if not fits:
            alternative = f"`({self.wanted(number).split(',')[0].strip('`')}(…) | {op}(…))` accepts both" if graph.is_call(slot) else ""
            self.note("operator", node.span, slot, self.wanted(number), self.label(slot), alternative)
            yield from self.despite(number, node, slot, parts, slots)
            return
        if variable is not None:
            scope.variables[variable] = op
        if distinct:
            scope.taken.add(slot)
        self.started.add(number)
        for order in orders:
            aligned = align(self, node, slot, parts, order)
            if aligned is None:
                pairs = [(p, o) for p, o in zip(parts, order) if isinstance(p, int)]
                for _ in self.over_gap(self.latest):
                    for _ in self.in_turn([lambda p=p, o=o: self.match(p, o) for p, o in pairs]):  # type: ignore[misc]
                        slots[number] = slot
                        yield
                        slots[number] = UNBOUND
                continue
            for _ in self.in_turn(aligned):
                slots[number] = slot
                yield from self.constraints(number, slot)
                slots[number] = UNBOUND
        self.started.discard(number)
        if distinct:
            scope.taken.discard(slot)
        if variable is not None:
            del scope.variables[variable]

    def despite(self, number: int, node: ir.Pattern, slot: int, parts: Operands, slots: list[int] | dict[int, int]) -> Ways:
        """Behind an operator that does not fit: with the patterns below it, where there is an operand for each, and without."""
        obstacle = self.latest
        if not self.lenient or self.passed_over is not None:
            return
        operands = self.graph.operands[slot]
        alike = self.graph.is_call(slot) == isinstance(node, ir.CallNode)
        swappable = isinstance(node, ir.CallNode) and node.swappable and len(operands) == 2
        for order in (operands, operands[::-1]) if swappable else (operands,):
            for _ in self.over(obstacle, number):
                aligned = align(self, node, slot, parts, order) if operands and alike else None
                for _ in self.in_turn(aligned) if aligned else ():
                    slots[number] = slot
                    yield
                    slots[number] = UNBOUND
        yield from self.over_gap(obstacle)

    def constraints(self, number: int, slot: int) -> Ways:
        """Once if all of them hold, or can be passed over."""
        node, scope = self.plan.rule.nodes[number], self.scope
        waiting = self.plan.deferred[number] if is_deferred(self.plan, scope, number) else ()
        before = self.passed_over
        for constraint in node.constraints if slot != ABSENT else ():
            if constraint in waiting or satisfied(constraint, node, slot, scope):
                continue
            if self.gaps and any(isinstance(part, _READING) for part in walk(constraint)):
                continue  # what it reads may be missing
            reason, expected, found, help = constraint_obstacle(constraint, node, slot, scope)
            self.note(reason, constraint.span, slot, expected, found, help)
            if not self.lenient or self.passed_over is not None:
                break
            self.passed_over = self.latest
        else:
            yield
        self.passed_over = before

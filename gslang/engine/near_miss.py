"""One attempt to match a rule at a node of a graph, which remembers what stood in the way.

A matcher of its own, which follows the readable one (`interpret`) step by step and notes every obstacle with the number of
pattern nodes that were matched until then; the obstacle that was met furthest is the reason. So the engine's own matchers
carry nothing of this. Which attempts are made and told: `why_not`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.found import children
from gslang.engine import interpret
from gslang.engine.conditions import instance_holds, instance_is_valid, is_deferred
from gslang.engine.constraints import kind_fits, satisfied
from gslang.engine.generate_nodes import may_be_absent
from gslang.engine.near_miss_whole import first_output, whole_is_valid
from gslang.engine.obstacles import (
    constraint_obstacle,
    described,
    shown_operators,
    where_obstacle,
)
from gslang.engine.plan import MatchPlan
from gslang.engine.scope import UNBOUND, Instance, Scope
from gslang.engine.values import holds
from gslang.graph.graph import ABSENT, PROJ, TUPLE, Graph

_FEW = 8  # candidates for further instances that a glance looks at
_WHOLE = 5  # what the conditions on a whole match cost, in visits of a pattern node

Ways = Iterator[None]


@dataclass(frozen=True, slots=True)
class Miss:
    """An attempt at a match that failed, or (`reason` "matches") did not.

    `matched` of `of` parts of the pattern hold: its nodes, and its conditions on the whole. `node` is where the obstacle stood in
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


def parts_of(plan: MatchPlan) -> int:
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

    A `glance` leaves further instances of a variadic output aside. Afterwards `cut` says that not all ways were tried, and
    `spent` what it cost. `memo` is shared by the attempts of a rule at one graph.
    """

    plan: MatchPlan
    graph: Graph
    start: int
    steps: int
    glance: bool
    memo: dict[Any, Any]
    scope: Scope = field(init=False)
    best: Miss | None = None
    started: set[int] = field(default_factory=set)  # nodes whose operator fits, while their operands are tried
    total: int = field(init=False)
    cut: bool = False
    spent: int = 0

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
        matched = min(len(bound) + passed, self.total - 1)
        if self.best is None or matched > self.best.matched:
            self.best = Miss(self.plan.rule.name, self.start, node, matched, self.total, reason, span, expected, found, help)

    def label(self, node: int) -> str:
        return described(self.graph, node)

    # ── the whole ──

    def run(self) -> Miss:
        rule = self.plan.rule
        for _ in self.outputs() if rule.output_block is None else self.output_block(rule.output_block):
            self.spent += _WHOLE
            self.steps -= _WHOLE
            if whole_is_valid(self):
                self.cut = False
                return self.matching()
        if self.best is None:
            self.note("gave-up", rule.nodes[first_output(rule)].span, self.start, "a match", "there are too many ways to try them all here")
        assert self.best is not None
        return self.best

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
        if self.scope.slots[number] != UNBOUND:
            yield
            return
        candidates = self.candidates(number)
        if not candidates:
            pattern = self.plan.rule.nodes[number]
            below = [c for c in children(pattern) if c < len(self.scope.slots) and self.scope.slots[c] >= 0]
            base = self.scope.slots[below[0]] if below else self.start
            self.note(
                "no-further-output", pattern.span, base, f"a user that can be output {k + 1}: {self.wanted(number)}",
                f"{self.label(base)} is used by {self.users(base) or 'nothing'}",
                "the rule needs all its outputs; a rule with fewer outputs would match here",
            )  # fmt: skip
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
        """The operators of a node's users."""
        key = ("users", node)
        if key not in self.memo:
            self.memo[key] = shown_operators(self.graph.op[u] for u in self.graph.users[node])
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
                        if slot == ABSENT or self.constraints(number, slot):
                            yield
                        slots[number] = UNBOUND
                        chosen[number] = choice
                chosen.pop(number, None)
            case _ if slot == ABSENT:
                self.note(
                    "operand-missing", node.span, self.start, self.wanted(number), "the operand is left out", "write `none` or an optional input"
                )
            case _:
                yield from self.inner(number, node, slot, slots)

    def leaf(self, number: int, node: ir.LeafNode, slot: int, slots: list[int] | dict[int, int]) -> Ways:
        if slot == ABSENT and not node.optional:
            self.note("operand-missing", node.span, self.start, "an operand", "it is left out", f"`{node.name or 'x'}: {node.kind}?` may be absent")
            return
        if slot != ABSENT and not kind_fits(node.kind, self.graph.op[slot]):
            help = f"`{node.name}: any` accepts any node" if node.name else "`any` accepts any node"
            self.note("kind", node.span, slot, f"a node of kind `{node.kind}`", self.label(slot), help)
            return
        slots[number] = slot
        if slot == ABSENT or self.constraints(number, slot):
            yield
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
            return
        orders: tuple[tuple[int, ...], ...] = (operands,)
        variable = None
        match node:
            case ir.CallNode():
                parts: tuple[int | None | ir.Splice, ...] = node.operands
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
            return
        if variable is not None:
            scope.variables[variable] = op
        if distinct:
            scope.taken.add(slot)
        self.started.add(number)
        for order in orders:
            aligned = self.align(node, slot, parts, order)
            if aligned is None:
                continue
            for _ in self.in_turn(aligned):
                slots[number] = slot
                if self.constraints(number, slot):
                    yield
                slots[number] = UNBOUND
        self.started.discard(number)
        if distinct:
            scope.taken.discard(slot)
        if variable is not None:
            del scope.variables[variable]

    def align(
        self, node: ir.Pattern, slot: int, parts: tuple[int | None | ir.Splice, ...], operands: tuple[int, ...]
    ) -> list[Callable[[], Ways]] | None:
        splice = next((k for k, part in enumerate(parts) if isinstance(part, ir.Splice)), None)
        if splice is not None:
            return self.align_sequence(node, slot, parts, operands, splice)
        given = operands + (ABSENT,) * (len(parts) - len(operands))
        missing = any(isinstance(p, int) and not may_be_absent(self.plan.rule, p) for p in parts[len(operands) :])
        if missing or any(o != ABSENT for o in given[len(parts) :]) or any(p is None and o != ABSENT for p, o in zip(parts, given)):
            self.operand_count(node, slot, str(sum(p is not None for p in parts)))
            return None
        return [lambda p=p, o=o: self.match(p, o) for p, o in zip(parts, given) if isinstance(p, int)]  # type: ignore[misc]

    def operand_count(self, node: ir.Pattern, slot: int, wanted: str) -> None:
        count = sum(o >= 0 for o in self.graph.operands[slot])
        what = "fields" if isinstance(node, ir.TupleNode) else "operands"
        self.note(
            "operand-count", node.span, slot, f"{wanted} {what}", f"{self.label(slot)} has {count}", "`*` of an `each` template takes any number"
        )

    def align_sequence(
        self, node: ir.Pattern, slot: int, parts: tuple[int | None | ir.Splice, ...], operands: tuple[int, ...], at: int
    ) -> list[Callable[[], Ways]] | None:
        sequence = parts[at]
        assert isinstance(sequence, ir.Splice)
        behind = len(parts) - at - 1
        count = len(operands) - at - behind
        block = self.plan.rule.blocks[sequence.block]

        def bounds() -> Ways:  # once the operands before it are matched: a bound may read them
            if count >= 0 and (fields and self.scope.instances[sequence.block] or interpret._bounds_allow(self.scope, block, count)):
                yield
                return
            self.note(
                "too-few-instances", block.span, slot, f"as many instances of `{block.name}` as `each` allows",
                f"{self.label(slot)} leaves {max(count, 0)}", "the numbers behind `in` are the bounds",
            )  # fmt: skip

        fields = operands[at : at + max(count, 0)]
        if count < 0:
            return [bounds]
        rest = operands[len(operands) - behind :]
        if any(p is None and o != ABSENT for p, o in [*zip(parts, operands[:at]), *zip(parts[at + 1 :], rest)]):
            self.operand_count(node, slot, "fewer")
            return None
        before = [lambda p=p, o=o: self.match(p, o) for p, o in zip(parts[:at], operands) if isinstance(p, int)]  # type: ignore[misc]
        middle = [lambda k=k, o=o: self.instance(sequence.block, sequence.node, k, o) for k, o in enumerate(fields)]  # type: ignore[misc]
        after = [lambda p=p, o=o: self.match(p, o) for p, o in zip(parts[at + 1 :], rest) if isinstance(p, int)]  # type: ignore[misc]
        return [*before, bounds, *middle, *after]

    def instance(self, block: int, root: int, k: int, slot: int) -> Ways:
        scope, template = self.scope, self.plan.rule.blocks[block]
        known = scope.instances[block]
        before = scope.current
        fresh = k >= len(known)
        scope.current = Instance(k) if fresh else known[k]
        mine = scope.current
        for _ in self.match(root, slot):
            if not fresh or block in self.plan.late_blocks or self.instance_holds(template):
                if fresh:
                    known.append(mine)
                scope.current = before
                yield
                scope.current = mine
                if fresh:
                    known.pop()
        scope.current = before

    def instance_holds(self, template: ir.Block) -> bool:
        if instance_holds(self.plan, self.scope, template):
            return True
        for number, (condition, span) in enumerate(zip(template.where, template.where_spans)):
            if not holds(condition, self.scope):
                expected, found, reason = where_obstacle(condition, self.scope)
                self.note(reason, span, self.start, expected, found, "the block's `where` decides what an instance is", passed=number)
                return False
        self.note("attribute", template.span, self.start, "what `first` has", "the first instance contradicts itself")
        return False

    def constraints(self, number: int, slot: int) -> bool:
        node, scope = self.plan.rule.nodes[number], self.scope
        waiting = self.plan.deferred[number] if is_deferred(self.plan, scope, number) else ()
        for constraint in node.constraints:
            if constraint in waiting or satisfied(constraint, node, slot, scope):
                continue
            reason, expected, found, help = constraint_obstacle(constraint, node, slot, scope)
            self.note(reason, constraint.span, slot, expected, found, help)
            return False
        return True

    # ── a variadic output ──

    def output_block(self, number: int) -> Ways:
        plan, scope = self.plan, self.scope
        block = plan.rule.blocks[number]
        for _ in self.instance(number, block.root, 0, self.start):
            if not instance_is_valid(plan, scope, number):
                self.note(
                    "used-outside", block.span, self.start, "an instance that nothing outside uses", "a node of it is used elsewhere or depends on it"
                )
                continue
            others = len(self.candidates(block.root, template=True))
            self.spent += _WHOLE + others
            if self.glance and others > _FEW:
                self.note("gave-up", block.span, self.start, "a match", "there are too many ways to try them all here", passed=1)
                self.cut = True
                return
            state = (scope.slots[:], dict(scope.chosen), dict(scope.captures), dict(scope.variables), set(scope.taken), dict(scope.inner_inputs))
            interpret._extend(plan, scope, number, block, self.start)
            count = len(scope.instances[number])
            if interpret._bounds_allow(scope, block, count):
                yield
            else:
                self.note(
                    "too-few-instances", block.span, self.start, f"as many instances of `{block.name}` as `each` allows", f"there are {count}",
                    f"`each {block.name} in {count}..` would take them, if the rule holds for so few",
                )  # fmt: skip
            del scope.instances[number][1:]
            scope.slots[:], scope.chosen, scope.captures, scope.variables, scope.taken, scope.inner_inputs = state

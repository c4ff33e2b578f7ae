"""One attempt to match a rule at a node of a graph, which remembers what stood in the way.

The machine that defines a match, told of each step that fails: the one that was met furthest, by the number
of pattern nodes that were matched until then, is the reason. A lenient attempt goes on behind each failed
step, once on each way, as if it had held: what can be matched then says how near that step is to being the
only one. The words for each step: `step_words`; which attempts are made: `why_not`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.engine import program as mp
from gslang.engine.backtracking import FAILED, Outcome, Todo, before
from gslang.engine.build import UnknownAnnotation, build
from gslang.engine.conditions import input_slots, output_slots
from gslang.engine.edits import BuildError, edits_of
from gslang.engine.machine import Machine
from gslang.engine.match_failures import also_used, described, path_between
from gslang.engine.miss import ONLY_TARGET, Miss, parts_of
from gslang.engine.own_steps import At, Linked
from gslang.engine.program import MatchProgram
from gslang.engine.scope import UNBOUND, Instance
from gslang.engine.step_words import KNOWN, Words, first_output, words_for
from gslang.engine.values import FAILURES
from gslang.graph.graph import ABSENT, Graph

_NO_VALUE = "attach nothing where there is no value: `… if x.ndim > 2 else none`"
_WHOLE = 5  # what the conditions on a whole match cost, in visits of a pattern node
# candidates for further instances that a glance looks at, and that are looked at to tell why they are none
_FEW = 8
# parts of constraints that read what was matched
_READING = (ir.SameAttributes, ir.NodeAttr, ir.Captured, ir.Let, ir.SameNode, ir.IsAbsent, ir.Uses)
_TOO_MANY = "search limit exceeded: some matches at this node were not tried"
_NO_CASE = "add a condition that excludes this case"


class _Cut(Exception):
    """The attempt has cost what it may."""


class Attempt(Machine):
    """One try to match with the first output at `start`, in at most `steps` visits of pattern nodes.

    A `glance` leaves further instances of a variadic output aside. A `lenient` attempt is meant for places
    where the rule is known not to match. Afterwards `cut` says that not all ways were tried, and `spent` what
    it cost. `memo` is shared by the attempts of a rule at one graph.
    """

    def __init__(
        self,
        program: MatchProgram,
        graph: Graph,
        start: int,
        steps: int,
        glance: bool,
        memo: dict[object, Any],
        lenient: bool = False,
    ) -> None:
        super().__init__(program, graph, start)
        self.steps, self.spent, self.cut = steps, 0, False
        self.outputs: Sequence[int] = ()  # of the match
        self.glance, self.lenient, self.memo = glance, lenient, memo
        self.total = parts_of(program)
        self.best: Miss | None = None
        self.passed_over: Miss | None = None  # that which this way leads over
        self._wrong: dict[int, None] = {}  # registers that hold what does not fit them
        self._gaps = 0  # patterns passed over with all that is below them
        # what was passed over is a condition on the whole; a later one stands by itself
        self._is_complete = False
        self._quiet = False

    def run(self) -> Miss:
        """The match, or the miss that came furthest."""
        try:
            for _ in self.solve(self.program.steps):
                if not self.lenient:
                    if self._target_fits():
                        self.cut, self.outputs = False, output_slots(self.scope)
                        return self.matching()
                elif self.passed_over is not None:  # alone in the way
                    self.best = replace(self.passed_over, matched=self.total - 1)
                    break
        except _Cut:
            self.cut = True
        return self.best or self.gave_up()

    def matching(self) -> Miss:
        """That the rule matches here."""
        return Miss(
            self.program.rule.name, self.start, self.start, self.total, self.total, "matches",
            self._root_span(), "", "", "",
        )

    def gave_up(self) -> Miss:
        """That it is not known if the rule matches here."""
        return Miss(
            self.program.rule.name, self.start, self.start, 0, self.total, "gave-up", self._root_span(),
            "a match", _TOO_MANY, "",
        )

    def _root_span(self) -> Span:
        return self.program.registers[first_output(self.program.rule)].span

    # ── noting ──

    def _note(self, words: Words, passed: int | None = None) -> Miss:
        """A failed step; `passed` counts conditions on the whole that hold."""
        passed = words.passed if passed is None else passed
        matched = min(len(self._bound().difference(self._wrong)) + passed, self.total - 1)
        miss = Miss(
            self.program.rule.name, self.start, words.node, matched, self.total, words.reason, words.span,
            words.expected, words.found, words.help, words.others,
        )
        self._keep(
            miss if self.passed_over is None or self._is_complete
            else replace(self.passed_over, matched=matched)
        )
        return miss

    def _bound(self) -> set[int]:
        nodes, scope = self.program.rule.nodes, self.scope
        tables = [instances[0].slots for instances in scope.instances if instances]
        tables += [scope.current.slots] if scope.current is not None else []
        bound = {k for k, slot in enumerate(scope.slots) if slot != UNBOUND}
        bound.update(k for table in tables for k, slot in table.items() if slot != UNBOUND)
        return {k for k in bound if not isinstance(nodes[k], ir.AltNode)}

    def _keep(self, miss: Miss) -> None:
        if (
            self.best is None or miss.matched > self.best.matched or miss.reason in ONLY_TARGET
            and self.best.reason not in ONLY_TARGET
        ):
            self.best = miss

    # ── what is spent ──

    def _spend(self, steps: int, more: int = 0) -> None:
        self.steps -= steps
        self.spent += steps + more

    def perform(self, step: object, rest: Todo) -> Outcome:
        if self._quiet:
            return super().perform(step, rest)
        match step:
            case mp.Operand() | mp.Start() | At():
                self._spend(1)
                if self.steps < 0:
                    raise _Cut
            case mp.Attr(constraint=constraint) if self._gaps and any(
                isinstance(part, _READING) for part in walk(constraint)
            ):
                return rest  # what it reads may be missing
            case mp.Late():
                self._spend(_WHOLE)
                if self._gaps:
                    self._note(Words("gap", self.program.rule.span, self.start))
                    return iter(())
            case mp.Valid(block) if self.passed_over is not None:
                self._note(Words("gap", self.program.rule.blocks[block].span, self.start))
                return iter(())
            case mp.Convex():
                return rest if self._is_convex() else FAILED
            case mp.Extend():
                return self._extend_quietly(step, rest)
        return super().perform(step, rest)

    def _is_convex(self) -> bool:
        outputs, inputs = output_slots(self.scope), input_slots(self.scope)
        if len(outputs) < 2 and not set(outputs) & set(inputs):
            return True
        seen: dict[int, int | None] = {}
        path = path_between(self.graph, inputs, outputs, seen)
        self._spend(len(seen) // 8)
        return path is None

    def candidates(self, climb: mp.Climb) -> list[int]:
        """As the machine finds them; kept, since many starts may lie above one node with many users."""
        if climb not in self.memo:
            self.memo[climb] = [k for k in _at_and_below(climb) if self.program.registers[k].block is None]
        key = (climb, *[self.scope.slots[k] for k in self.memo[climb]])
        found: list[int] | None = self.memo.get(key)
        if found is None:
            found = self.memo[key] = super().candidates(climb)
            self.spent += len(found) // 8
        return found

    def _extend_quietly(self, step: mp.Extend, rest: Todo) -> Outcome:
        others = self.candidates(step.climb)
        self._spend(_WHOLE)
        if self.glance and len(others) > _FEW:
            self._note(
                Words("gave-up", self.program.rule.blocks[step.block].span, self.start, "a match", _TOO_MANY),
                1,
            )
            raise _Cut
        self._spend(0, _WHOLE * len(others))
        self._quiet = True
        try:
            return super().perform(step, rest)
        finally:
            self._quiet = False

    def next_instance(self, run: mp.Run, last: Instance) -> int | None:
        """As the machine finds it; what stands in its way is no miss."""
        before, self._quiet = self._quiet, True
        try:
            return super().next_instance(run, last)
        finally:
            self._quiet = before

    # ── failed steps ──

    def refused(self, step: object, rest: Todo) -> Outcome:
        """Note the step that failed; a lenient attempt goes on behind it, if it is the first one on this way.
        """
        if self._quiet:
            return FAILED
        slot = self._release(step.register) if isinstance(step, mp.NodeStep) else ABSENT
        if isinstance(step, mp.Bounds) and step.count is None:
            self._note(self._too_few(step))
            return FAILED
        miss = self._note(words_for(self, step, slot))
        if not self.lenient or self.passed_over is not None:
            return FAILED
        return self._behind(step, rest, slot, miss)

    def _release(self, register: int) -> int:
        """The register holds nothing, for it does not fit; the node that it held."""
        slot = self.held(register)
        self.put(self.scope.slots_of(self.program.registers[register].block), register, UNBOUND)
        return slot

    def _behind(self, step: object, rest: Todo, slot: int, miss: Miss) -> Iterator[Todo]:
        """The ways to go on behind a failed step."""
        match step:
            case mp.IsKind(register) if slot != ABSENT:
                self._pass_over(miss)
                self._hold_wrongly(register, slot)
                yield _behind_register(register, rest)
            case mp.IsOp() if slot != ABSENT:
                yield from self._despite_operator(step, slot, rest, miss)
            case mp.NodeStep():
                yield self._over_gap(miss, _behind_register(step.register, rest))
            case mp.Operands(register) | mp.Absent(register):
                self._pass_over(miss)
                given = self.graph.operands[self.held(register)]
                self.put(self._orders, register, given)
                pairs = [
                    s
                    for s in self.program.registers[register].steps
                    if isinstance(s, mp.Operand) and 0 <= s.index < len(given)
                ]
                yield self._over_gap(miss, before(pairs, _behind_register(register, rest)))
            case mp.Users(register):
                if self.scope.slots[register] != ABSENT:
                    yield self._over_gap(miss, rest)
            case mp.WholeStep():
                self._pass_over(miss)
                self.set(self, "_is_complete", True)
                yield rest
            case Linked(link=link):
                self._pass_over(miss)
                self.set(self.scope, "current", link.before)  # the run is left
                yield rest
            case mp.Start() | mp.Valid():
                pass  # nothing is there to go on from
            case _:
                self._pass_over(miss)
                yield rest

    def _despite_operator(self, is_op: mp.IsOp, slot: int, rest: Todo, miss: Miss) -> Iterator[Todo]:
        """Behind an operator that does not fit: with the patterns below it, where there is an operand for
        each, and without.
        """
        register, operands = is_op.register, self.graph.operands[slot]
        if operands and self.graph.is_call(slot) == (is_op.operators[0][0] != "%"):
            self._pass_over(miss)
            self._hold_wrongly(register, slot)
            op = frozenset((self.graph.op[slot],))
            below = [
                replace(s, swappable=op if s.swappable else s.swappable) if isinstance(s, mp.Operands) else s
                for s in self.program.registers[register].steps
            ]
            yield before(
                [s for s in below if isinstance(s, mp.OperandStep)],
                _behind_register(register, rest),
            )
        yield self._over_gap(miss, _behind_register(register, rest))

    def _pass_over(self, miss: Miss) -> None:
        self.set(self, "passed_over", miss)

    def _hold_wrongly(self, register: int, slot: int) -> None:
        self.put(self.scope.slots_of(self.program.registers[register].block), register, slot)
        self.put(self._wrong, register, None)

    def _over_gap(self, miss: Miss, rest: Todo) -> Todo:
        """With nothing that can be said of what is left out."""
        self._pass_over(miss)
        self.set(self, "_gaps", self._gaps + 1)
        return rest

    # ── the end ──

    def _too_few(self, step: mp.Bounds) -> Words:
        """The number of instances, and the match failure of the nearest other one."""
        block = self.program.rule.blocks[step.block]
        count = len(self.scope.instances[step.block])
        extend = next(s for s in self.program.steps if isinstance(s, mp.Extend))
        candidates = self.candidates(extend.climb)
        node, found = self.start, f"there are {count}" if count != 1 else "there is 1"
        nearest = self._nearest_other(extend, [n for n in candidates if n not in self.scope.taken][:_FEW])
        if nearest is not None:
            node = nearest.node
            found += (
                f"; {described(self.graph, nearest.start)} is none: expected {nearest.expected}, found "
                f"{nearest.found}"
            )
        elif others := self._other_users(candidates):
            found += f"; {others}"
        help = f"`each {block.name} in {count}..` would accept them, if the rule holds for so few instances"
        return Words(
            "too-few-instances", block.span, node, f"as many instances of `{block.name}` as `each` allows",
            found, help,
        )

    def _nearest_other(self, step: mp.Extend, candidates: list[int]) -> Miss | None:
        """The miss of the candidate that comes nearest to being one more instance.

        `start` is that candidate.
        """
        kept, self.lenient = (self.best, self.start, self.lenient), False
        nearest: Miss | None = None
        for candidate in candidates:
            self.best, self.start = None, candidate
            for _ in self.solve([
                *self.instance(step.block, step.root, len(self.scope.instances[step.block]), candidate),
                mp.Valid(step.block),
            ]):
                pass
            best: Miss | None = self.best
            if best is not None and (nearest is None or best.matched > nearest.matched):
                nearest = best
        self.best, self.start, self.lenient = kept
        return nearest

    def _other_users(self, candidates: list[int]) -> str:
        """Other users of the node that all instances share and that could have more of them, if there is one
        with few users."""
        for register, slot in enumerate(self.scope.slots):
            if slot >= 0 and isinstance(self.program.rule.nodes[register], ir.LeafNode):
                others = [user for user in self.graph.users[slot] if user not in candidates]
                if 0 < len(others) <= _FEW:
                    return also_used(self.graph, slot, others)
        return ""

    def _target_fits(self) -> bool:
        """True if the target can be built here; what is built is taken back at once."""
        rule, graph, scope = self.program.rule, self.graph, self.scope
        span = rule.target.spans[rule.target.outputs[0]] if rule.target.spans else rule.span
        first, scope.memo = len(graph.op), {}
        try:
            why = edits_of(graph, rule.dialect).type_mismatch(
                output_slots(scope), build(graph, rule.dialect, rule.target, scope)
            )
            if why is None:
                return True
            words = Words("target-type", span, self.start, "a target of the source's type", why, _NO_CASE)
        except BuildError as error:
            words = Words("target-type", span, self.start, "a target that type-checks", str(error), _NO_CASE)
        except UnknownAnnotation as error:
            words = Words(
                "target-value", error.span, self.start, "a known value to attach", str(error), _NO_VALUE
            )
        except FAILURES as error:
            words = Words(
                "target-value", span, self.start, "known values for the target",
                str(error) or type(error).__name__, KNOWN,
            )
        finally:
            scope.memo = None
            graph.discard_from(first)
        self._note(words, self.total)
        return False


def _behind_register(register: int, todo: Todo) -> Todo:
    """The continuation after the steps of a register."""
    while not (isinstance(todo[0], mp.Done) and todo[0].register == register):
        todo = todo[1]
    return todo[1]


def _at_and_below(climb: mp.Climb) -> list[int]:
    found, stack = {climb.register: climb}, [climb]
    while stack:
        for below in stack.pop().below:
            if below.register not in found:
                found[below.register] = below
                stack.append(below)
    return list(found)

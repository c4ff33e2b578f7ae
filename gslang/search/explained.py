"""An e-graph that can tell why two of its nodes are equal: a chain of terms, each from the one before by one
rule.

Unions are kept as a forest whose edges have reasons (as egg's explanations): an application of a rule, with
the terms that its two sides were, or congruence. A chain between two nodes follows the forest; where an edge
is congruence, it goes on below, operand by operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import Type
from gslang.engine.scope import UNBOUND, Scope
from gslang.graph.call_text import call_text
from gslang.graph.graph import ABSENT, CONST, INPUT, LEAVES, PARAM, PROJ, TUPLE, Graph
from gslang.search.egraph import EGraph
from gslang.search.forest import Forest

_MOST_STEPS = 400  # of a chain: longer ones tell nobody anything
_MOST_TEXT = 10_000  # characters of an expression


@dataclass(frozen=True, slots=True)
class Term:
    """An expression over inputs.

    `op`: an operator, a kind of leaf, a tuple or a projection; `name` is that of a leaf.
    """

    op: str
    attrs: tuple[tuple[str, object], ...] = ()
    operands: tuple[Term | None, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule leads from a term to another; not `forward`: the rule leads the other way."""

    rule: str
    forward: bool
    before: Term
    after: Term

    def reverse(self) -> Step:
        return Step(self.rule, not self.forward, self.after, self.before)


Plain = Callable[[str, Attrs, tuple[Type | None, ...]], Attrs]


class TooLong(Exception):
    """A chain of too many steps."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of an application: an e-node's operator over other sides, or over e-nodes as they were made.

    `node`: the e-node itself, None for one that was about to be made.
    """

    node: int | None
    op: str
    attrs: tuple[tuple[str, object], ...]
    operands: tuple[_Side | int, ...]


@dataclass(frozen=True, slots=True)
class _Applied:
    """Not `forward`: `source` is what the rule's target was."""

    rule: str
    source: _Side | int
    target: _Side | int
    forward: bool = True


class ExplainedEGraph(EGraph):
    """An e-graph whose unions can be explained. Operands of commutative operators are taken in either order.

    `plain`: operator, attributes, types of operands → the attributes that its e-nodes are to have.
    """

    def __init__(self, graph: Graph, dialect: Dialect, plain: Plain = lambda op, attrs, types: attrs) -> None:
        self._plain = plain
        self._made_of: dict[int, tuple[int, ...]] = {}  # e-node → operands that it had when it was made
        self._forest = Forest(_turned)
        self._terms: dict[int, Term] = {}
        super().__init__(graph, dialect)

    def intern(self, node: int, same: dict[int, int], rule: str | None = None) -> int:
        self._make_plain(node)
        found = super().intern(node, same, rule)
        if found == node:
            self._made_of[node] = self.store.operands[node]
        return found

    def _make_plain(self, node: int) -> None:
        store = self.store
        if store.attrs[node]:
            types = tuple([
                None if o < 0 else self.type_of(o) if o < len(self.leader) else store.types[o]
                for o in store.operands[node]
            ])
            store.attrs[node] = dict(self._plain(store.op[node], store.attrs[node], types))

    def _key(self, node: int) -> Any:
        key, store = super()._key(node), self.store
        signature = self.dialect.get(store.op[node])
        if (
            key.__class__ is tuple and len(store.operands[node]) == 2 and signature is not None
            and "commutative" in signature.traits
        ):
            return (*key[:2], tuple(sorted(store.operands[node])))
        return key

    def _attributes(self, node: int) -> tuple[tuple[str, object], ...]:
        signature = self.dialect.get(self.store.op[node])
        given = self.store.attrs[node]
        return tuple(sorted((given if signature is None else signature.complete(given)).items()))

    # ── what is noted while rules run ──

    def reason(
        self, scope: Scope, sources: Sequence[int], targets: Sequence[int], first: int
    ) -> Sequence[object]:
        for node in range(first, len(self.store.op)):
            self._make_plain(node)
        pairs = zip(sources, targets, _roots(scope))
        return [
            _Applied(scope.rule.name, self._matched(scope, root, source, 0), self._about_to_be(target, first))
            for source, target, root in pairs
        ]

    def _matched(self, scope: Scope, register: int | None, slot: int, depth: int) -> _Side | int:
        """The e-node that a pattern node matched, with those of the nodes below it."""
        node = scope.rule.nodes[register] if register is not None else None
        while isinstance(node, ir.AltNode) and register is not None and register in scope.chosen:
            register = node.branches[scope.chosen[register]]
            node = scope.rule.nodes[register]
        if not isinstance(node, ir.OpNode):
            return slot
        below = [part for part in node.parts if isinstance(part, int)]
        slots = scope.slots
        waiting = [
            (k, slots[k])
            for k in below if scope.rule.nodes[k].block is None and slots[k] not in (UNBOUND, ABSENT)
        ]
        operands: list[_Side | int] = []
        for operand in self.store.operands[slot]:
            found = next(
                (item for item in waiting if operand >= 0 and self.find(item[1]) == self.find(operand)), None
            )
            if found is None or depth > 100:
                operands.append(operand)
            else:
                waiting.remove(found)
                operands.append(self._matched(scope, *found, depth + 1))
        return self._side(slot, slot, operands)

    def _about_to_be(self, node: int, first: int) -> _Side | int:
        if node < first:
            return node
        return self._side(
            None, node, [self._about_to_be(o, first) if o >= 0 else o for o in self.store.operands[node]]
        )

    def _side(self, known: int | None, node: int, operands: Sequence[_Side | int]) -> _Side:
        if self.store.op[node] in LEAVES:
            self._leaf_term(node)
            return _Side(known, self.store.op[node], (("", _constant(self.store, node)),), ())
        return _Side(known, self.store.op[node], self._attributes(node), tuple(operands))

    def joined(self, a: int, b: int, why: object) -> None:
        assert why is None or isinstance(why, _Applied)
        self._forest.join(a, b, why)

    # ── explaining ──

    def explain(self, a: int, b: int) -> list[Step]:
        """The chain from one e-node to an equal one. Raises `TooLong`."""
        steps = self._path(a, b)
        return _without_loops(self.term(a), steps)

    def term(self, node: int) -> Term:
        """The expression that an e-node was when it was made."""
        if node not in self._terms:
            if self.store.op[node] in LEAVES:
                return self._leaf_term(node)
            operands = tuple([self.term(o) if o >= 0 else None for o in self._made_of[node]])
            self._terms[node] = Term(self.store.op[node], self._attributes(node), operands)
        return self._terms[node]

    def _leaf_term(self, node: int) -> Term:
        store = self.store
        if store.op[node] is CONST:
            return Term(CONST, (), (), _constant(store, node))
        return Term(store.op[node], (), (), store.label(node))

    def _term_of(self, side: _Side | int) -> Term:
        if isinstance(side, int):
            return self.term(side)
        if side.op in LEAVES:
            return Term(side.op, (), (), str(side.attrs[0][1]))
        return Term(
            side.op, side.attrs, tuple([None if o == ABSENT else self._term_of(o) for o in side.operands])
        )

    def _path(self, a: int, b: int) -> list[Step]:
        up, down = self._forest.path(a, b)
        steps: list[Step] = []
        for edge in up:
            steps += self._edge(*edge)
            _check_length(steps)
        for edge in reversed(down):
            steps += [step.reverse() for step in reversed(self._edge(*edge))]
            _check_length(steps)
        return steps

    def _edge(self, a: int, b: int, why: _Applied | None) -> list[Step]:
        if why is None:
            return self._below(a, self._made_of[a], self._made_of[b], b)
        steps = self._to_side(a, why.source)
        steps.append(Step(why.rule, why.forward, self._term_of(why.source), self._term_of(why.target)))
        return steps + [step.reverse() for step in reversed(self._to_side(b, why.target))]

    def _to_side(self, node: int, side: _Side | int) -> list[Step]:
        """The chain from an e-node as it was made to what stood in an application."""
        if isinstance(side, int):
            return [] if side == node else self._path(node, side)
        return self._below(node, self._made_of[node], side.operands, None)

    def _below(
        self, node: int, before: Sequence[int], after: Sequence[_Side | int], other: int | None
    ) -> list[Step]:
        """The chain between two calls of one operator, operand by operand."""
        if self.store.op[node] in LEAVES:
            return []
        base = self.term(node)
        now = list(base.operands)
        steps: list[Step] = []
        for k, (old, new) in enumerate(_paired(self, before, after)):
            if old < 0:
                continue
            if isinstance(new, int):
                inner = self._path(old, new)
            else:
                inner = (
                    self._path(old, new.node) + self._to_side(new.node, new) if new.node is not None
                    else self._made(old, new)
                )
            steps += [_lifted(step, base, now, k) for step in inner]
            now[k] = self.term(new) if isinstance(new, int) else self._term_of(new)
            _check_length(steps)
        return steps

    def _made(self, node: int, side: _Side) -> list[Step]:
        """The chain from an e-node to a call that was found to be an e-node of its class."""
        same = next((n for n in self._candidates(node) if self._is_like(n, node, side)), None)
        if same is None:
            raise TooLong
        return self._path(node, same) + self._to_side(same, side)

    def _is_like(self, candidate: int, node: int, side: _Side) -> bool:
        store = self.store
        if (
            self.find(candidate) != self.find(node) or store.op[candidate] != side.op
            or candidate not in self._made_of
        ):
            return False
        if side.op in LEAVES:
            return self._leaf_term(candidate).name == str(side.attrs[0][1])
        own = self._made_of[candidate]
        if self._attributes(candidate) != side.attrs or len(own) != len(side.operands):
            return False
        return all(a == b or a >= 0 and self._stands_for(a, b) for a, b in _paired(self, own, side.operands))

    def _stands_for(self, node: int, side: _Side | int) -> bool:
        if isinstance(side, int):
            return side >= 0 and self.find(node) == self.find(side)
        if side.node is not None:
            return self.find(node) == self.find(side.node)
        return any(self._is_like(n, node, side) for n in self._candidates(node))

    def _candidates(self, node: int) -> list[int]:
        return [node, *self._forest.edges, *self._made_of]


def _turned(why: _Applied) -> _Applied:
    return _Applied(why.rule, why.target, why.source, not why.forward)


def _paired(
    egraph: ExplainedEGraph, before: Sequence[int], after: Sequence[_Side | int]
) -> list[tuple[int, _Side | int]]:
    """Operands of two congruent calls, those of commutative operators as they belong together."""
    straight = list(zip(before, after))
    if len(straight) != 2 or all(_fits(egraph, *pair) for pair in straight):
        return straight
    crossed = [(before[0], after[1]), (before[1], after[0])]
    return crossed if all(_fits(egraph, *pair) for pair in crossed) else straight


def _fits(egraph: ExplainedEGraph, old: int, new: _Side | int) -> bool:
    node = new if isinstance(new, int) else new.node
    if node is None:
        return not isinstance(new, int) and egraph._stands_for(old, new)
    return old == node or old >= 0 and node >= 0 and egraph.find(old) == egraph.find(node)


def _roots(scope: Scope) -> list[int | None]:
    """The pattern nodes of the outputs; None for each output of a variadic rule."""
    rule = scope.rule
    if rule.output_block is None:
        return list(rule.outputs)
    return [None] * len(scope.instances[rule.output_block])


def _lifted(step: Step, base: Term, operands: Sequence[Term | None], k: int) -> Step:
    def around(term: Term) -> Term:
        return Term(base.op, base.attrs, (*operands[:k], term, *operands[k + 1 :]), base.name)

    return Step(step.rule, step.forward, around(step.before), around(step.after))


def _check_length(steps: Sequence[Step]) -> None:
    if len(steps) > _MOST_STEPS:
        raise TooLong


def _without_loops(start: Term, steps: Sequence[Step]) -> list[Step]:
    """The chain without the detours that lead back to where they began."""
    kept: list[Step] = []
    places: dict[Term, int] = {start: 0}
    for step in steps:
        if step.after in places:
            kept = kept[: places[step.after]]
            places = {term: k for term, k in places.items() if k <= len(kept)}
            continue
        kept.append(step)
        places[step.after] = len(kept)
    return kept


def _constant(store: Graph, node: int) -> str:
    if store.op[node] is not CONST:
        return store.label(node)
    value = store.value(node)
    if value is None or value.size > 8:
        return store.label(node)
    return str(value.tolist()).replace("True", "true").replace("False", "false")


def written(term: Term, complete: Callable[[str], dict[str, object]] = lambda op: {}) -> str:
    """The term as rule files write it; attributes with their defaults (`complete`: operator → defaults) are
    left out.

    Terms share operands, so that the text of a small one can double at each level: an expression of more
    than 10,000 characters is its operator and `…`.
    """
    known: dict[int, str] = {}

    def text(part: Term) -> str:
        if id(part) not in known:
            operands = ["none" if operand is None else text(operand) for operand in part.operands]
            whole = _call_text(part, operands, complete)
            known[id(part)] = whole if len(whole) <= _MOST_TEXT else f"{part.op}(…)"
        return known[id(part)]

    return text(term)


def _call_text(term: Term, given: list[str], complete: Callable[[str], dict[str, object]]) -> str:
    """The text of a term whose operands have these texts."""
    if term.op in (INPUT, PARAM, CONST):
        return term.name
    defaults = complete(term.op) if term.op not in (TUPLE, PROJ) else {}
    return call_text(term.op, given, {
        name: value for name, value in term.attrs if name not in defaults or defaults[name] != value
    })

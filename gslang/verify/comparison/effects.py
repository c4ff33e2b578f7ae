"""Attributes that make a difference: an instance in which one changes nothing says nothing about a target
that drops it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gslang.check import checked as ir
from gslang.check.walks import attributes_read, walk
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import REQUIRED, TypeInferenceError
from gslang.evaluate.agree import flat
from gslang.evaluate.errors import EvaluationError
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.graph.inference import infer_node
from gslang.verify.comparison.bounded import evaluate
from gslang.verify.comparison.compare import ASK_FOR_SPECIAL
from gslang.verify.comparison.inputs import Inputs
from gslang.verify.prove.terms.dtypes import saturates

Attribute = tuple[str, str]
"""An operator and the name of an attribute."""


def matters(graph: Graph, dialect: Dialect, attribute: Attribute, seed: int) -> bool:
    """True if the graph computes something else, or has other types, once the attribute has its default
    everywhere."""
    try:
        plain = _with_default(graph, dialect, attribute)
    except TypeInferenceError:
        return True
    if plain is None:
        return False
    if any(graph.types[a] != plain.types[b] for a, b in zip(graph.outputs, plain.outputs)):
        return True
    drawn = Inputs(graph, seed)
    for kind in ("normal", "special"):
        inputs = drawn.of_kind(kind)
        with np.errstate(all="ignore"):
            try:
                now = flat(evaluate(graph, dialect, inputs))
            except EvaluationError:
                return False
            try:
                then = flat(evaluate(plain, dialect, inputs))
            except EvaluationError:
                return True
        if not all(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(now, then)):
            return True
    return False


def shows(graph: Graph, dialect: Dialect, attribute: Attribute, seed: int) -> bool:
    """True if a call of the operator computes something else, or has another type, once the attribute has its
    default: if that changes no output, the source itself takes it back."""
    inner = graph.copy()
    inner.set_outputs([n for n in graph.reverse_post_order() if graph.op[n] == attribute[0]])
    return matters(inner, dialect, attribute, seed)


def never_finds(graphs: Sequence[Graph], dialect: Dialect, seed: int) -> list[str]:
    """The operators about NaN and infinities that say of all elements, in all the graphs with finite inputs,
    that they are finite: what a rule does elsewhere is not seen.
    """
    named: set[str] = set()
    holding: set[str] = set()
    for graph in graphs:
        inner = graph.copy()
        asking = [node for node in graph.reverse_post_order() if graph.op[node] in ASK_FOR_SPECIAL]
        named |= {graph.op[node] for node in asking}
        inner.set_outputs(asking)
        with np.errstate(all="ignore"):
            try:
                found = evaluate(inner, dialect, Inputs(graph, seed).normal)
            except EvaluationError:
                continue
        holding |= {
            graph.op[node] for node, value in zip(asking, found)
            if np.any(np.asarray(value) != (graph.op[node] == "isfinite"))
        }
    return sorted(named - holding)


def _with_default(graph: Graph, dialect: Dialect, attribute: Attribute) -> Graph | None:
    """The graph without the attribute, with the types that it has then; None where no call gives another
    value than the default.
    """
    operator, name = attribute
    default: Any = dialect.operators[operator].attributes[name].default
    plain, changed = graph.copy(), False
    for node in graph.reverse_post_order():
        attrs = graph.attrs[node] or {}
        if graph.op[node] == operator and default is not REQUIRED and attrs.get(name, default) != default:
            plain.attrs[node] = {key: value for key, value in attrs.items() if key != name}
            changed = True
        if changed and graph.op[node] not in (INPUT, PARAM, CONST):
            plain.types[node] = infer_node(plain, dialect, node)
    return plain if changed else None


def unread(rule: ir.CheckedRule) -> set[Attribute]:
    """Attributes of the source's calls, by operator, that may have any value and that the rule looks at
    nowhere: its target cannot depend on them.
    """
    found: set[Attribute] = set()
    for number, call in rule.calls.items():
        looked_at = _read(rule, number, call)
        looked_at |= {c.field for c in call.tests if not isinstance(c.test, ir.Anything)}
        if call.operators == ("Cast",) and not _may_saturate(call.asked("to")):
            looked_at |= _OF_EIGHT_BITS
        for operator in call.operators:
            names = rule.dialect.operators[operator].attributes
            found |= {(operator, name) for name in names if name not in looked_at}
    return found


_OF_EIGHT_BITS = frozenset({"saturate", "round_mode"})
"""Attributes of `Cast` that say something of conversions to floats of 8 bits only."""


def _may_saturate(tests: Sequence[ir.Test]) -> bool:
    """False if one of the tests of the type that a conversion leads to lets no float of 8 bits pass."""
    for test in tests:
        single = test.equal_to
        if test.either and all(not _may_saturate([part]) for part in test.either):
            return False
        if isinstance(single, ir.Const) and saturates(single.value) is False:
            return False
    return True


def _read(rule: ir.CheckedRule, number: int, call: ir.CallNode) -> set[str]:
    """The attributes of a node that any value, constraint or target reads; all of them where it is built
    again."""
    names = {name for read, name in attributes_read(rule) if read == number}
    everything = {name for o in call.operators for name in rule.dialect.operators[o].attributes}
    for part in walk((rule.nodes, rule.where, rule.lets, rule.blocks, rule.target)):
        if isinstance(part, ir.SameAttributes) and _stands_for(rule, part.node, number):
            names |= everything - set(part.without)
        elif isinstance(part, ir.SourceNode) and part.node == number:
            names |= everything
    for constraint in call.copies:  # they are those of a node that may be read instead
        names |= everything - set(constraint.without)
    return names


def _stands_for(rule: ir.CheckedRule, read: int, number: int) -> bool:
    """True if what is read of one node may be what another one has."""
    return read == number or any(_stands_for(rule, part, number) for part in rule.nodes[read].stands_for)

"""Two graphs compared up to the names and numbers of their nodes; operators counted.

The walk goes from the outputs through both graphs in lock-step and keeps a one-to-one relation between their
nodes, so a value that one graph computes once and the other twice is a difference. Not here: whether two
different graphs compute the same (`evaluate` tells by numbers), commuted operands (another graph), formats.
"""

from __future__ import annotations

import math
from typing import Final

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import Type
from gslang.graph.annotations import annotations_of
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, VARIABLES, Graph
from gslang.graph.inference import contradiction
from gslang.graph.known_calls import true_name
from gslang.graph.scalar import round_float32

_SHOWN_STEPS: Final = 4  # of a path, from its end: a chain of 100,000 nodes has long ones
_SHOWN_VALUE: Final = 60  # characters
_COUNTED: Final = {
    INPUT: "variables",
    PARAM: "variables",
    CONST: "constants",
    TUPLE: "tuples",
    PROJ: "projections",
}
_NOTHING: Final = object()


def differences(
    a: Graph,
    b: Graph,
    dialect: Dialect | None = None,
    *,
    limit: int | None = 10,
    across_formats: bool = False,
    annotations: bool = False,
) -> list[str]:
    """The differences of two graphs, at most `limit` messages (None: all); empty if they are the same up to
    naming.

    Compared: the number and order of outputs; operators; attributes (completed with the defaults of `dialect`
    if given, floats after rounding to float32, integers equal to floats of the same value, booleans only to
    booleans); constants bit for bit (any NaN equals any other); types where both are known; inputs by name
    and type, also unused ones; parameters by name, by type, and by value where both have one; sharing.

    With `across_formats` what Relay text cannot tell apart is equal: an input and a parameter of its name,
    several outputs and one tuple of them. With `annotations` what is attached to calls is compared too.
    """
    return _Comparison(
        a, b, math.inf if limit is None else limit, dialect, across_formats, annotations
    ).run()


def count_operators(graph: Graph) -> dict[str, int]:
    """Reachable nodes: calls by operator, and `variables`, `constants`, `tuples`, `projections`; sorted, none
    zero.
    """
    counts: dict[str, int] = {}
    for node in graph.reverse_post_order():
        op = true_name(graph.op[node])
        key = _COUNTED.get(op, op)
        counts[key] = counts.get(key, 0) + 1
    return dict(sorted(counts.items()))


def count_calls(graph: Graph) -> dict[str, int]:
    """Reachable calls by operator, sorted."""
    kinds = set(_COUNTED.values())
    return {op: count for op, count in count_operators(graph).items() if op not in kinds}


def same_attribute(a: object, b: object) -> bool:
    """Equality of attribute values: floats after rounding to float32, arrays bit for bit, sequences item by
    item.
    """
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(same_attribute(x, y) for x, y in zip(a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if (
        isinstance(a, float) and isinstance(b, (int, float)) or isinstance(b, float)
        and isinstance(a, (int, float))
    ):
        return a == b or round_float32(a) == round_float32(b) or (math.isnan(a) and math.isnan(b))
    if hasattr(a, "ndim") or hasattr(b, "ndim"):
        return hasattr(a, "ndim") and hasattr(b, "ndim") and same_array(a, b)
    if isinstance(a, Graph) and isinstance(b, Graph):
        return not differences(a, b, limit=1)
    return type(a) is type(b) and bool(a == b)


def same_array(a: object, b: object) -> bool:
    """True if dtype, shape and every bit agree; two NaNs agree whatever their bits."""
    import numpy

    a, b = numpy.asarray(a), numpy.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    left, right = numpy.ascontiguousarray(a), numpy.ascontiguousarray(b)
    if left.tobytes() == right.tobytes():
        return True
    if left.dtype.kind != "f":
        return False
    bits = numpy.dtype(f"u{left.dtype.itemsize}")
    unequal = left.reshape(-1).view(bits) != right.reshape(-1).view(bits)
    return bool((numpy.isnan(left.reshape(-1)[unequal]) & numpy.isnan(right.reshape(-1)[unequal])).all())


class _Comparison:
    """The state of one walk."""

    def __init__(
        self,
        a: Graph,
        b: Graph,
        limit: float,
        dialect: Dialect | None,
        loosely: bool,
        annotations: bool = False,
    ) -> None:
        self.a, self.b, self.limit, self.dialect = a, b, limit, dialect
        self.loosely, self.annotations = loosely, annotations
        self.to_b: dict[int, int] = {}
        self.to_a: dict[int, int] = {}
        self.reached_by: dict[int, tuple[int, int]] = {}  # node of a → (its user, place); user -1: output
        self.found: list[str] = []

    def run(self) -> list[str]:
        a, b = self.a, self.b
        if a.dialect != b.dialect:
            self.found.append(f"dialect: {a.dialect} against {b.dialect}")
        left, right = a.outputs, b.outputs
        if self.loosely:
            left, right = _unpacked(a), _unpacked(b)
        if len(left) != len(right):
            self.found.append(f"number of outputs: {len(left)} against {len(right)}")
        pairs = [(-1, k, x, y) for k, (x, y) in enumerate(zip(left, right))]
        stack = pairs[::-1]
        while stack and len(self.found) < self.limit:
            user, place, x, y = stack.pop()
            if self.to_b.get(x, -1) == y:
                continue
            if x in self.to_b or y in self.to_a:
                self._sharing(user, place, x, y)
                continue
            self.to_b[x], self.to_a[y] = y, x
            self.reached_by[x] = (user, place)
            if self._same_node(x, y):
                below = [
                    (x, k, p, q)
                    for k, (p, q) in enumerate(zip(a.operands[x], b.operands[y])) if p >= 0 and q >= 0
                ]
                stack.extend(reversed(below))
        self._unused_inputs()
        return self.found if self.limit == math.inf else self.found[: int(self.limit)]

    def _report(self, node: int, text: str) -> None:
        self.found.append(f"{self._path(*self.reached_by[node])}: {text}")

    def _path(self, user: int, place: int) -> str:
        steps: list[str] = []
        while user >= 0 and len(steps) < _SHOWN_STEPS:
            steps.append(f"{self.a.op[user].lstrip('%')} {self.a.label(user)}, operand {place}")
            user, place = self.reached_by[user]
        more = "" if user < 0 else " / …"
        while user >= 0:
            user, place = self.reached_by[user]
        return " / ".join([f"output {place}{more}", *reversed(steps)])

    def _sharing(self, user: int, place: int, x: int, y: int) -> None:
        a, b = self.a, self.b
        if x in self.to_b:
            other = b.label(self.to_b[x])
            text = f"{a.label(x)} is one node, but {other} and {b.label(y)} are two"
        else:
            other = a.label(self.to_a[y])
            text = f"{other} and {a.label(x)} are two nodes, but {b.label(y)} is one"
        self.found.append(f"{self._path(user, place)}: {text}")

    def _same_node(self, x: int, y: int) -> bool:
        """Report what differs at a pair of nodes; True if their operands can be compared one by one."""
        a, b = self.a, self.b
        both_variables = a.op[x] in VARIABLES and b.op[y] in VARIABLES
        if true_name(a.op[x]) != true_name(b.op[y]) and not (self.loosely and both_variables):
            self._report(x, f"{_named(a, x)} against {_named(b, y)}")
            return False
        if a.op[x] in VARIABLES or a.op[x] is CONST:
            self._same_leaf(x, y)
            return True
        self._same_attributes(x, y)
        if self.annotations:
            self._same_annotations(x, y)
        if why := contradiction(a.types[x], b.types[y]):
            self._report(x, f"type of {_named(a, x)}: {why}")
        left, right = _present(a.operands[x]), _present(b.operands[y])
        if len(left) != len(right):
            self._report(x, f"{_named(a, x)} has {len(left)} operands against {len(right)}")
            return False
        for k, (p, q) in enumerate(zip(left, right)):
            if (p < 0) != (q < 0):
                one, other = ("absent" if o < 0 else "given" for o in (p, q))
                self._report(x, f"operand {k} of {_named(a, x)} is {one} against {other}")
        return True

    def _same_annotations(self, x: int, y: int) -> None:
        left, right = annotations_of(self.a, x), annotations_of(self.b, y)
        for name in sorted({*left, *right}):
            if name not in left or name not in right or not same_attribute(left[name], right[name]):
                one, other = (repr(side[name]) if name in side else "nothing" for side in (left, right))
                self._report(x, f"annotation `{name}` of {_named(self.a, x)}: {one} against {other}")

    def _same_leaf(self, x: int, y: int) -> None:
        a, b, op = self.a, self.b, self.a.op[x]
        named = op is INPUT or b.op[y] is INPUT or op is PARAM
        if named and a.names[x] != b.names[y]:
            self._report(x, f"{a.kind(x)} `{a.label(x)}` against `{b.label(y)}`")
        self._same_variable_type(a.types[x], b.types[y], x)
        if x not in a.values and y not in b.values:
            return
        if x not in a.values or y not in b.values:
            if op is CONST:  # a parameter's value may be in a file of its own
                known, other = (a.label(x), b.label(y)) if x in a.values else (b.label(y), a.label(x))
                self._report(x, f"the value of {known} is known, that of {other} is not")
            return
        left, right = a.values[x], b.values[y]
        if left is not right and not same_array(a.value(x), b.value(y)):
            self._report(x, f"the values of {a.label(x)} and {b.label(y)} differ")

    def _same_variable_type(self, left: Type | None, right: Type | None, node: int) -> None:
        if left is not None and right is not None and left != right:
            self._report(node, f"type of {self.a.kind(node)} `{self.a.label(node)}`: {left} against {right}")

    def _same_attributes(self, x: int, y: int) -> None:
        left, right = self._attributes(self.a, x), self._attributes(self.b, y)
        if left is right:
            return
        for name in sorted({*left, *right}):
            one, other = left.get(name, _NOTHING), right.get(name, _NOTHING)
            if one is _NOTHING or other is _NOTHING or not same_attribute(one, other):
                self._report(
                    x, f"attribute `{name}` of {_named(self.a, x)}: {_shown(one)} against {_shown(other)}"
                )

    def _attributes(self, graph: Graph, node: int) -> Attrs:
        signature = self.dialect.get(true_name(graph.op[node])) if self.dialect is not None else None
        return graph.attrs[node] if signature is None else signature.complete(graph.attrs[node])

    def _unused_inputs(self) -> None:
        """The inputs are the interface, so an unused one counts too."""
        left = {self.a.names[n]: n for n in self.a.nodes() if self.a.op[n] is INPUT and n not in self.to_b}
        right = {self.b.names[n]: n for n in self.b.nodes() if self.b.op[n] is INPUT and n not in self.to_a}
        # A difference above may have cut the walk short; then an input that was not reached says nothing.
        if self.found:
            return
        for name in sorted({*left, *right}, key=str):
            if name not in left or name not in right:
                side = "second" if name not in left else "first"
                self.found.append(f"unused input `{name}` is only in the {side} graph")
            elif (one := self.a.types[left[name]]) != (other := self.b.types[right[name]]):
                self.found.append(f"type of unused input `{name}`: {one} against {other}")


def _unpacked(graph: Graph) -> list[int]:
    """The outputs; the fields of a tuple that is the only one."""
    if len(graph.outputs) == 1 and graph.op[graph.outputs[0]] is TUPLE:
        return list(graph.operands[graph.outputs[0]])
    return graph.outputs


def _present(operands: tuple[int, ...]) -> tuple[int, ...]:
    """Operands without omitted ones at the end, which say nothing."""
    end = len(operands)
    while end and operands[end - 1] < 0:
        end -= 1
    return operands[:end]


def _named(graph: Graph, node: int) -> str:
    op = graph.op[node].lstrip("%")
    return f"{op} `{graph.label(node)}`"


def _shown(value: object) -> str:
    if value is _NOTHING:
        return "nothing"
    text = repr(value)
    return text if len(text) <= _SHOWN_VALUE else text[: _SHOWN_VALUE - 1] + "…"

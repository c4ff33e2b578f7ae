"""The history of each tensor's axes on both sides of a rule: the operations on those of the inputs, in order.

Tensors of equal history have axes that correspond one to one. What operators do is known of those that are
listed here; axes that attributes name, paddings and sums are counted for `ranks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Union

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.target_reading import TargetReading
from gslang.dialect.signature import Signature
from gslang.graph.graph import TUPLE

# along one axis
_ALONG = frozenset(
    {"reverse", "concatenate", "Concat", "nn.softmax", "nn.log_softmax", "Softmax", "LogSoftmax"}
)
_REDUCED = frozenset({"sum", "mean", "max", "min", "prod"})
_FILLED = frozenset({"zeros_like", "ones_like", "full_like", "broadcast_to", "broadcast_to_like"})
_OF_LEAVES = ("shape", "dtype", "value")  # what may be asked of them
_ABOUT_AXES = frozenset({
    "axis", "axes", "shape", "begin", "end", "strides", "slice_mode", "pad_width", "pad_mode", "keepdims",
    "exclude", "perm",
})
_OPEN = {  # attributes that a rule leaves open or copies
    "strided_slice": {"begin", "end", "strides", "slice_mode", "axes"},
    "nn.pad": {"pad_width"},
    "transpose": {"axes"},
    "Transpose": {"perm"},
    "broadcast_to": {"shape"},
}

Label = tuple[object, ...]
"""The history of the axes of a tensor: what was done with those of the inputs, in order.

Equal ones: axes correspond one to one. () stands for the inputs, None for scalars.
"""


class Unlike(Exception):
    """Axes are not treated alike, as far as is seen here."""


@dataclass
class Count:
    """Counts of axes. `named`: by attributes; `sums`: attributes that choose axes to sum over."""

    named: int = 0
    conditions: int = 0
    paddings: int = 0
    sums: set[object] = field(default_factory=set)
    mixed: bool = False  # some operator is not element-wise: all inputs must have one rank then
    front: int = 0  # how far axes are named by a number from the front
    back: int = 0  # and from the back
    each: bool = False  # some operator does something else with each axis, so that axes cannot be merged

    def name_place(self, place: int) -> None:
        """An axis is named by a number: all from there to its end of the shape stay."""
        if place >= 0:
            self.front = max(self.front, place + 1)
        else:
            self.back = max(self.back, -place)


class AxisHistory(TargetReading[Union[Label, None]]):
    """Labels of the nodes of both sides of a rule; `labels`: of the nodes of the source.

    Raises `Unlike` where axes are not treated alike, as far as is known.
    """

    def __init__(self, rule: ir.CheckedRule) -> None:
        self.rule, self.count = rule, Count()
        self.labels: dict[int, Label | None] = {}
        self.reads = [0] * len(rule.nodes)

    # ── source ──

    def of_source(self, number: int) -> Label | None:
        """The label of a node of the source; its reads are counted."""
        node = self.rule.nodes[number]
        if isinstance(node, ir.LeafNode):
            self.reads[number] += 1
            self.labels[number] = self.leaf(node)
            return self.labels[number]
        if node.stands_for:
            raise Unlike
        labels = [self.of_source(part) for part in node.parts if isinstance(part, int)]
        if node.operators == (TUPLE,):
            self.labels[number] = self.alike(labels)
        elif isinstance(node, ir.CallNode) and node.count is not None:
            tests = _copied(node.copies)
            tests.update((test.field, self.said(test.field, test.test)) for test in node.tests)
            if node.operators == ("nn.pad",) and node.count > 1 and isinstance(node.parts[1], int):
                self.labels[node.parts[1]] = None  # one element
            self.labels[number] = self.calls(node.operators, labels, tests, number)
        else:
            raise Unlike
        return self.labels[number]

    def leaf(self, leaf: ir.LeafNode) -> Label | None:
        if leaf.kind == "op" or leaf.optional:
            raise Unlike
        label: Label | None = ()
        for constraint in leaf.constraints:
            if not isinstance(constraint, ir.Constraint) or constraint.field not in _OF_LEAVES:
                raise Unlike
            if constraint.field == "shape" and constant_asked(constraint.test) == ():
                label = None
            elif constraint.field == "shape" and (
                constraint.copied is None or constraint.copied.node not in self.rule.leaves
            ):
                raise Unlike
        return label

    # ── calls ──

    def calls(
        self, operators: Sequence[str], labels: list[Label | None], tests: Mapping[str, Any], number: int
    ) -> Label | None:
        """The label of a call of any of these operators; copied attributes are held to `same_place`, where
        the operators have any about axes.
        """
        if any(set(self.rule.dialect.operators[k].attributes) & _ABOUT_AXES for k in operators):
            for node in {test[1] for test in tests.values() if isinstance(test, tuple) and test[0] == "same"}:
                self.same_place(node, labels)
        found = [self.call(operator, labels, tests, number) for operator in operators]
        if any(label != found[0] for label in found):
            raise Unlike
        return found[0]

    def call(
        self, operator: str, labels: list[Label | None], tests: Mapping[str, Any], number: int
    ) -> Label | None:
        """The label of a call; `tests`: what is said of attributes, `number`: which call of the source gives
        those that are open.
        """
        signature = self.rule.dialect.operators[operator]
        without_bias = operator == "com.microsoft.FastGelu" and len(labels) == 1
        if operator in _FILLED or is_elementwise(signature) or without_bias:
            if operator == "broadcast_to":
                return self.broadcast(labels[0], tests)
            return self.alike(labels)
        self.count.mixed = True
        if operator in _ALONG:
            self.axis(tests, number)
            return self.alike(labels)
        if operator in _REDUCED:
            return self.reduced(labels[0], tests, number)
        if (
            operator == "squeeze" and labels[0] is not None
            and isinstance(place := constant_asked(tests.get("axis")), (int, tuple))
        ):
            places = place if isinstance(place, tuple) else (place,)
            if not places:
                raise Unlike
            for named in places:
                self.count.name_place(named)
            return (*labels[0], ("sum", f"axes {places}"))
        if operator in ("strided_slice", "nn.pad", "transpose", "Transpose"):
            self.count.each = True
            origin = self.origin(tests, _OPEN[operator], number)
            if operator == "nn.pad":
                if (
                    constant_asked(tests.get("pad_mode")) != "constant" and "pad_mode" in tests
                    and tests["pad_mode"] != ("same", origin)
                ):
                    raise Unlike
                self.count.paddings += 1
                if labels[0] is None:
                    raise Unlike
                return labels[0]
            label = self.alike(labels)
            return (*(label or ()), ("order", origin)) if operator in ("transpose", "Transpose") else label
        raise Unlike

    def broadcast(self, label: Label | None, tests: Mapping[str, Any]) -> Label | None:
        """A tensor that is broadcast to a shape: axes correspond from the right."""
        match tests.get("shape"):
            case None | ("same", _) | ("copied", _):
                return label if label is not None else ()
            case ("shape of", found):
                return found  # type: ignore[no-any-return]
        raise Unlike

    def alike(self, labels: list[Label | None]) -> Label | None:
        """The label that all tensors among the operands have."""
        found = {label for label in labels if label is not None}
        if len(found) > 1:
            raise Unlike
        return next(iter(found), None)

    def axis(self, tests: Mapping[str, object], number: int) -> None:
        """An axis that an attribute names."""
        test = tests.get("axis")
        value = constant_asked(test)
        if type(value) is int:
            self.count.name_place(value)
        elif test is None:
            self.count.named += 1  # an axis of its own
        elif not isinstance(test, tuple) or test[0] not in ("same", "copied"):
            raise Unlike

    def origin(self, tests: Mapping[str, Any], names: set[str], number: int) -> int:
        """The call of the source whose attributes these are: its own, or another's that are all copied."""
        said = {name: test for name, test in tests.items() if name in names}
        if all(not isinstance(test, tuple) for test in said.values()) and all(
            name in ("slice_mode", "axes") and isinstance(test, ir.Equals)
            and constant_asked(test) in ("end", "size", None)
            for name, test in said.items()
        ):
            return number  # the others are open
        if not said:
            return number
        if (
            any(not isinstance(test, tuple) or test[0] != "same" for test in said.values())
            or len({test[1] for test in said.values()}) != 1 or set(said) != names
        ):
            raise Unlike
        return int(next(iter(said.values()))[1])

    def reduced(self, label: Label | None, tests: Mapping[str, object], number: int) -> Label | None:
        """A sum over axes: of those that are all treated alike, one is enough."""
        if label is None or not self.equal_shapes():
            raise Unlike
        test = tests.get("axis")
        origin: object = number
        if isinstance(test, tuple) and test[0] == "same":
            origin = test[1]
        elif test is not None:
            value = constant_asked(test)
            if isinstance(value, tuple) and len(value) == 1:
                value = value[0]
            if type(value) is int:
                self.count.name_place(value)
            elif not (isinstance(test, ir.Equals) and test.value == ir.Const(None)):
                raise Unlike
            origin = f"axes {value}"
        self.count.sums.add(origin)
        keep = constant_asked(tests.get("keepdims"))
        if keep is True:
            return label
        return (*label, ("sum", origin))

    def equal_shapes(self) -> bool:
        """True if all inputs that are no scalars have one shape: then summed axes can be merged."""
        leaves = [k for k, node in enumerate(self.rule.nodes) if isinstance(node, ir.LeafNode)]
        first = [
            k
            for k in leaves
            if self.leaf(self.rule.nodes[k]) is not None and not _has_shape(self.rule.nodes[k])  # type: ignore[arg-type]
        ]
        return len(first) == 1

    # ── target ──

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.rule.target.targets

    def of_matched(self, number: int, target: ir.SourceNode) -> Label | None:
        if target.node not in self.labels:
            raise Unlike
        return self.again(target.node)

    def of_constant(self, number: int, target: ir.MakeConst) -> Label | None:
        if target.splat_shape is not None or target.as_tuple or isinstance(target.value, ir.TupleValue):
            raise Unlike
        return None

    def of_tuple(self, number: int, target: ir.MakeTuple) -> Label | None:
        return self.alike([self.of_target(field) for field in target.fields])

    def of_call(self, number: int, target: ir.MakeCall) -> Label | None:
        operator = target.operator
        labels = [self.of_target(o) for o in target.operands]
        names = (
            [operator] if isinstance(operator, str)
            else next(v.operators for v in self.rule.variables if v.name == operator[1])
        )
        tests = _copied(target.spreads)
        for name, value in target.attributes:
            tests[name] = self.attribute(name, value)
        for k in names:
            for name, spec in self.rule.dialect.operators[k].attributes.items():
                if (
                    name in _ABOUT_AXES and name not in tests
                    and (spec.default is None or isinstance(spec.default, (int, str)))
                ):
                    tests[name] = ir.Equals(ir.Const(spec.default))
        if any(name not in tests for k in names for name in _OPEN.get(k, ())):
            raise Unlike
        return self.calls(names, labels, tests, -1 - number)

    def of_other(self, number: int, target: ir.Target) -> Label | None:
        raise Unlike

    def again(self, node: int) -> Label | None:
        """The label of a node of the source that the target uses; what it reads is read once more."""
        pattern = self.rule.nodes[node]
        if isinstance(pattern, ir.LeafNode):
            self.reads[node] += 1
        for operand in pattern.parts or pattern.below:
            if isinstance(operand, int):
                self.again(operand)
        return self.labels[node]

    def said(self, name: str, test: object) -> object:
        """A test of an attribute: which call it is copied from, if it is."""
        copied = ir.copied_of(test)
        if copied is not None and copied.name == name in _ABOUT_AXES and copied.node in self.rule.calls:
            return ("same", copied.node)
        return test

    def same_place(self, node: int, labels: list[Label | None]) -> None:
        """Attributes about axes are copied to tensors of the same axes."""
        source = self.rule.nodes[node]
        if not isinstance(source, ir.CallNode):
            raise Unlike
        own = [self.labels[o] for o in source.operands if isinstance(o, int)]
        first, other = (
            next((label for label in found if label is not None), None) for found in (own, labels)
        )
        if first != other:
            raise Unlike

    def attribute(self, name: str, value: ir.Value) -> object:
        """An attribute of the target, as far as it is about axes."""
        if name not in _ABOUT_AXES:
            return None
        match value:
            case ir.NodeAttr(_, node, "shape") if (
                name == "shape" and node in self.labels and self.labels[node] is not None
            ):
                return ("shape of", self.labels[node])
            case ir.NodeAttr():
                found = self.said(name, ir.Equals(value))
                if isinstance(found, tuple):
                    return found
            case ir.Const():
                return ir.Equals(value)
        raise Unlike


def is_elementwise(signature: Signature) -> bool:
    """True if a call pairs the axes of its operands as they broadcast, and does nothing else with them."""
    return (
        "elementwise" in signature.traits and not (set(signature.attributes) & _ABOUT_AXES)
        and signature.name not in ("nn.prelu", "PRelu")
    )


def _has_shape(node: ir.CallNode) -> bool:
    return any(isinstance(c, ir.Constraint) and c.field == "shape" for c in node.constraints)


def _copied(spreads: Sequence[ir.SameAttributes]) -> dict[str, Any]:
    """The demands on attributes about axes where all attributes of other calls are copied."""
    return {
        name: ("same", spread.node)
        for spread in spreads for name in _ABOUT_AXES if name not in spread.without
    }


def constant_asked(test: object) -> object:
    """The constant that a test asks for; None for other tests."""
    literal = ir.literal_of(test)
    return None if literal is None else literal.value

"""The number of axes that suffices: a rule that treats axes alike fails at some rank only if it fails with as
few axes as are counted here.

Where each operator of both sides works on every axis by itself, a failure needs few axes to be seen: one on
which a shape differs or does not fit; for an input that is read n times, n − 1 axes that tell apart where it
is read; an axis for each one that an attribute names, for each condition that does not hold, and for each
padding whose filling is read. Axes that are summed over together count as one: they can be merged. Every
other axis can be taken away, from all tensors at once, and what is left is a match of the same rule that
fails too. This is how TensorRight (Arora et al. 2025) bounds ranks.

`sufficient` looks at the rule alone. It knows the operators that it lists and conditions of few forms; of
other rules it says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.signature import Signature
from gslang.verify.reads import parts

# along one axis
_ALONG = frozenset(
    {"reverse", "concatenate", "Concat", "nn.softmax", "nn.log_softmax", "Softmax", "LogSoftmax"}
)
_REDUCED = frozenset({"sum", "mean", "max", "min", "prod"})
_FILLED = frozenset({"zeros_like", "ones_like", "full_like", "broadcast_to", "broadcast_to_like"})
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

Label = tuple[Any, ...]
"""The history of the axes of a tensor: what was done with those of the inputs, in order.

Equal ones: axes correspond one to one. () stands for the inputs, None for scalars.
"""


class _Unlike(Exception):
    """Axes are not treated alike, as far as is seen here."""


@dataclass
class _Count:
    """Counts of axes. `named`: by attributes; `sums`: attributes that choose axes to sum over."""

    named: int = 0
    conditions: int = 0
    paddings: int = 0
    sums: set[Any] = field(default_factory=set)
    mixed: bool = False  # some operator is not element-wise: all inputs must have one rank then
    front: int = 0  # how far axes are named by a number
    each: bool = False  # some operator does something else with each axis, so that axes cannot be merged
    # conditions compare ranks or numbers of elements: only where all operators are element-wise
    compared: bool = False


def sufficient(rule: ir.CheckedRule) -> int | None:
    """The largest rank of open tensors that has to be looked at; None where that is not known."""
    try:
        return _Sides(rule).bound()
    except _Unlike:
        return None


def is_about_one_number(rule: ir.CheckedRule, condition: ir.Value) -> bool:
    """True if a decision only asks for the rank of a constant that has a single element, to read that
    element.
    """
    match condition:
        case ir.CompareValue(_, ir.NodeAttr(_, node, "ndim"), ir.Const(int())):
            return _Sides(rule).is_single(node)
    return False


class _Sides:
    """Both sides of a rule; `labels`: of the nodes of the source."""

    def __init__(self, rule: ir.CheckedRule) -> None:
        self.rule, self.count = rule, _Count()
        self.labels: dict[int, Label | None] = {}
        self.made: dict[int, Label | None] = {}
        self.reads = [0] * len(rule.nodes)

    def bound(self) -> int:
        rule = self.rule
        if (
            rule.blocks or rule.output_block is not None or len(rule.outputs) != 1
            or len(rule.target.outputs) != 1
        ):
            raise _Unlike
        before, after = self.of_source(rule.outputs[0]), self.of_target(rule.target.outputs[0])
        if before != after:
            raise _Unlike
        for condition in rule.where:
            self.condition(condition)
        count = self.count
        if count.mixed and not self.one_rank() or count.sums and count.each or count.mixed and count.compared:
            raise _Unlike
        told_apart = sum(max(n - 1, 0) for n in self.reads) if count.mixed else 0
        return (
            told_apart + count.named + count.front + count.conditions + count.paddings
            + (1 << len(count.sums))
        )

    def one_rank(self) -> bool:
        """True if all inputs that are no scalars have one rank by what the rule says."""
        leaves = [
            k
            for k, node in enumerate(self.rule.nodes)
            if isinstance(node, ir.LeafNode) and self.labels.get(k) is not None
        ]
        groups = {k: {k} for k in leaves}

        def join(a: int, b: int) -> None:
            if a in groups and b in groups:
                union = groups[a] | groups[b]
                groups.update(dict.fromkeys(union, union))

        for k in leaves:
            for constraint in self.rule.nodes[k].constraints:
                match constraint:
                    case ir.Constraint("shape", ir.Equals(ir.NodeAttr(_, other, "shape"))):
                        join(k, other)
        for node in self.rule.nodes:
            match node:
                case ir.CallNode(operators=operators, operands=operands) if set(operators) <= {
                    "concatenate", "Concat",
                }:
                    parts = [f for o in operands if isinstance(o, int) for f in self.fields(o)]
                    for a, b in zip(parts, parts[1:]):
                        join(a, b)
        return len({frozenset(group) for group in groups.values()}) <= 1

    def fields(self, number: int) -> list[int]:
        """The tensors that are joined, those of inner joins too."""
        match self.rule.nodes[number]:
            case ir.TupleNode(fields=fields):
                return [part for f in fields if isinstance(f, int) for part in self.fields(f)]
            case ir.CallNode(operators=("concatenate",) | ("Concat",), operands=operands):
                return [part for o in operands if isinstance(o, int) for part in self.fields(o)]
        return [number]

    # ── source ──

    def of_source(self, number: int) -> Label | None:
        """The label of a node of the source; its reads are counted."""
        match self.rule.nodes[number]:
            case ir.LeafNode() as leaf:
                self.reads[number] += 1
                self.labels[number] = self.leaf(leaf)
            case ir.CallNode(operators=operators, operands=operands, constraints=constraints):
                labels = [
                    self.of_source(o) for o in operands if o is not None and not isinstance(o, ir.Splice)
                ]
                if any(isinstance(o, ir.Splice) for o in operands):
                    raise _Unlike
                tests: dict[str, Any] = {}
                for constraint in constraints:
                    if isinstance(constraint, ir.SameAttributes):
                        tests.update({
                            name: ("same", constraint.node)
                            for name in _ABOUT_AXES if name not in constraint.without
                        })
                    else:
                        tests[constraint.field] = self.said(constraint.field, constraint.test)
                self.copies(operators, tests, labels)
                if operators == ("nn.pad",) and len(operands) > 1 and isinstance(operands[1], int):
                    self.labels[operands[1]] = None  # one element
                result: list[Label | None] = [
                    self.call(operator, labels, tests, number) for operator in operators
                ]
                if any(label != result[0] for label in result):
                    raise _Unlike
                self.labels[number] = result[0]
            case ir.TupleNode(fields=fields):
                self.labels[number] = self.alike([self.of_source(f) for f in fields if isinstance(f, int)])
            case ir.AltNode(branches=branches):
                self.labels[number] = self.alike([self.of_source(branch) for branch in branches])
                self.count.compared = True
            case _:
                raise _Unlike
        return self.labels[number]

    def leaf(self, leaf: ir.LeafNode) -> Label | None:
        if leaf.kind == "op" or leaf.optional:
            raise _Unlike
        label: Label | None = ()
        for constraint in leaf.constraints:
            match constraint:
                case (
                    ir.Constraint("shape", ir.Equals(ir.Const(()))) | ir.Constraint("shape", ir.TupleTest(()))
                    | ir.Constraint("shape", ir.Equals(ir.TupleValue(())))
                ):
                    label = None
                case ir.Constraint("shape", ir.Equals(ir.NodeAttr(_, other, "shape"))) if isinstance(
                    self.rule.nodes[other], ir.LeafNode
                ):
                    pass
                case ir.Constraint("dtype" | "value"):
                    pass
                case _:
                    raise _Unlike
        return label

    # ── calls ──

    def call(
        self, operator: str, labels: list[Label | None], tests: dict[str, Any], number: int
    ) -> Label | None:
        """The label of a call; `tests`: what is said of attributes, `number`: which call of the source gives
        those that are open.
        """
        signature = self.rule.dialect.operators[operator]
        without_bias = operator == "com.microsoft.FastGelu" and len(labels) == 1
        if operator in _FILLED or _is_elementwise(signature) or without_bias:
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
            and isinstance(place := _constant(tests.get("axis")), (int, tuple))
        ):
            place = place[0] if isinstance(place, tuple) else place
            self.count.front = max(self.count.front, place + 1 if place >= 0 else -place)
            return (*labels[0], ("sum", f"axes {place}"))
        if operator in ("strided_slice", "nn.pad", "transpose", "Transpose"):
            self.count.each = True
            origin = self.origin(tests, _OPEN[operator], number)
            if operator == "nn.pad":
                if (
                    _constant(tests.get("pad_mode")) != "constant" and "pad_mode" in tests
                    and tests["pad_mode"] != ("same", origin)
                ):
                    raise _Unlike
                self.count.paddings += 1
                if labels[0] is None:
                    raise _Unlike
                return labels[0]
            label = self.alike(labels)
            return (*(label or ()), ("order", origin)) if operator in ("transpose", "Transpose") else label
        raise _Unlike

    def broadcast(self, label: Label | None, tests: dict[str, Any]) -> Label | None:
        """A tensor that is broadcast to a shape: axes correspond from the right."""
        match tests.get("shape"):
            case None | ("same", _) | ("copied", _):
                return label if label is not None else ()
            case ("shape of", found):
                return found  # type: ignore[no-any-return]
        raise _Unlike

    def alike(self, labels: list[Label | None]) -> Label | None:
        """The label that all tensors among the operands have."""
        found = {label for label in labels if label is not None}
        if len(found) > 1:
            raise _Unlike
        return next(iter(found), None)

    def axis(self, tests: Mapping[str, object], number: int) -> None:
        """An axis that an attribute names."""
        test = tests.get("axis")
        value = _constant(test)
        if type(value) is int:
            self.count.front = max(self.count.front, value + 1 if value >= 0 else -value)
        elif test is None:
            self.count.named += 1  # an axis of its own
        elif not isinstance(test, tuple) or test[0] not in ("same", "copied"):
            raise _Unlike

    def origin(self, tests: dict[str, Any], names: set[str], number: int) -> int:
        """The call of the source whose attributes these are: its own, or another's that are all copied."""
        said = {name: test for name, test in tests.items() if name in names}
        if all(not isinstance(test, tuple) for test in said.values()) and all(
            name in ("slice_mode", "axes") and isinstance(test, ir.Equals)
            and _constant(test) in ("end", "size", None)
            for name, test in said.items()
        ):
            return number  # the others are open
        if not said:
            return number
        if (
            any(not isinstance(test, tuple) or test[0] != "same" for test in said.values())
            or len({test[1] for test in said.values()}) != 1 or set(said) != names
        ):
            raise _Unlike
        return int(next(iter(said.values()))[1])

    def reduced(self, label: Label | None, tests: Mapping[str, object], number: int) -> Label | None:
        """A sum over axes: of those that are all treated alike, one is enough."""
        if label is None or not self.equal_shapes():
            raise _Unlike
        test = tests.get("axis")
        origin: Any = number
        if isinstance(test, tuple) and test[0] == "same":
            origin = test[1]
        elif test is not None:
            value = _constant(test)
            if isinstance(value, tuple) and len(value) == 1:
                value = value[0]
            if type(value) is int:
                self.count.front = max(self.count.front, value + 1 if value >= 0 else -value)
            elif not (isinstance(test, ir.Equals) and test.value == ir.Const(None)):
                raise _Unlike
            origin = f"axes {value}"
        self.count.sums.add(origin)
        keep = _constant(tests.get("keepdims"))
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

    def of_target(self, number: int) -> Label | None:
        """The label of a node of the target."""
        match self.rule.target.targets[number]:
            case ir.SourceNode(_, node):
                if node not in self.labels:
                    raise _Unlike
                return self.again(node)
            case ir.MakeConst(splat_shape=None) as made if not made.as_tuple and not isinstance(
                made.value, ir.TupleValue
            ):
                return None
            case ir.MakeTuple(fields):
                return self.alike([self.of_target(f) for f in fields])
            case ir.MakeCall(operator, operands, attributes, spreads):
                labels = [self.of_target(o) for o in operands]
                names = (
                    [operator] if isinstance(operator, str)
                    else next(v.operators for v in self.rule.variables if v.name == operator[1])
                )
                tests: dict[str, Any] = {}
                for spread in spreads:
                    tests.update(
                        {name: ("same", spread.node) for name in _ABOUT_AXES if name not in spread.without}
                    )
                for name, value in attributes:
                    tests[name] = self.attribute(name, value)
                for k in names:
                    for name, spec in self.rule.dialect.operators[k].attributes.items():
                        if (
                            name in _ABOUT_AXES and name not in tests
                            and (spec.default is None or isinstance(spec.default, (int, str)))
                        ):
                            tests[name] = ir.Equals(ir.Const(spec.default))
                self.copies(names, tests, labels)
                result = [self.call(name, labels, tests, -1 - number) for name in names]
                if any(label != result[0] for label in result):
                    raise _Unlike
                if any(
                    name not in tests and name in _OPEN.get(k, ()) for k in names for name in _OPEN.get(k, ())
                ):
                    raise _Unlike
                return result[0]
        raise _Unlike

    def again(self, node: int) -> Label | None:
        """The label of a node of the source that the target uses; what it reads is read once more."""
        match self.rule.nodes[node]:
            case ir.LeafNode():
                self.reads[node] += 1
            case ir.CallNode(operands=operands):
                for operand in operands:
                    if isinstance(operand, int):
                        self.again(operand)
            case ir.TupleNode(fields=fields) | ir.AltNode(branches=fields):
                for operand in fields:
                    if isinstance(operand, int):
                        self.again(operand)
        return self.labels[node]

    def said(self, name: str, test: Any) -> Any:
        """A test of an attribute: which call it is copied from, if it is."""
        match test:
            case ir.Equals(ir.NodeAttr(_, node, other)) if (
                name == other and name in _ABOUT_AXES and isinstance(self.rule.nodes[node], ir.CallNode)
            ):
                return ("same", node)
        return test

    def copies(
        self, operators: Sequence[str], tests: Mapping[str, object], labels: list[Label | None]
    ) -> None:
        """Holds copied attributes to `same_place`, where the operators have any about axes."""
        if any(set(self.rule.dialect.operators[k].attributes) & _ABOUT_AXES for k in operators):
            for node in {test[1] for test in tests.values() if isinstance(test, tuple) and test[0] == "same"}:
                self.same_place(node, labels)

    def same_place(self, node: int, labels: list[Label | None]) -> None:
        """Attributes about axes are copied to tensors of the same axes."""
        source = self.rule.nodes[node]
        if not isinstance(source, ir.CallNode):
            raise _Unlike
        own = [self.labels[o] for o in source.operands if isinstance(o, int)]
        first, other = (
            next((label for label in found if label is not None), None) for found in (own, labels)
        )
        if first != other:
            raise _Unlike

    def attribute(self, name: str, value: ir.Value) -> Any:
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
            case ir.Const() | ir.TupleValue((ir.Const(),)):
                return ir.Equals(value)
        raise _Unlike

    # ── conditions ──

    def condition(self, value: ir.Value, holds: bool = True) -> None:
        """A condition that says the same of each axis, or nothing of axes; raises `_Unlike` for others.

        `holds`: it has to hold, so that it does without an axis, too: equal shapes stay equal, and a number
        of elements that is 1 stays 1.
        """
        match value:
            case ir.AllOf(items) | ir.AnyOf(items):
                for item in items:
                    self.condition(item, holds)
            case ir.UnaryValue("not", inner):
                self.condition(inner, not holds)
            case ir.SelectValue(arms=arms):
                for arm in arms:
                    if arm is not None:
                        self.condition(arm, holds)
            case ir.Const(bool()):
                pass
            case ir.CompareValue("==" | "!=" as sign, ir.NodeAttr(_, a, "shape"), ir.NodeAttr(_, b, "shape")):
                if self.labels.get(a) != self.labels.get(b) or self.labels.get(a) is None:
                    raise _Unlike
                self.count.conditions += (sign == "==") != holds
            case ir.CompareValue(
                "==" | "!=" as sign, ir.Builtin("numel", (ir.NodeAttr(_, a, "shape"),)), ir.Const(1)
            ) if self.labels.get(a) == ():
                self.count.compared = True
                self.count.conditions += (sign == "==") != holds
            case ir.CompareValue(
                "<=" | ">=", ir.NodeAttr(_, a, "ndim"), ir.NodeAttr(_, b, "ndim")
            ) if self.labels.get(a) == self.labels.get(b) == ():
                # of axes counted from the end, one that both have goes away, or one that only the longer has
                self.count.compared = True
                self.count.conditions += not holds
            case ir.CompareValue(_, left, right) | ir.Builtin("close", (left, right, _)) if (
                read := _numbers_read(left) | _numbers_read(right)
            ) and all(self.is_single(node) for node in read):
                self.count.compared = True
            case ir.CompareValue(_, ir.NodeAttr(_, a, "value" | "dtype") as left, right) if not _reads_axes(
                right
            ):
                del left, a
            case ir.CompareValue(">=" | "<", ir.NodeAttr(_, _, "axis"), ir.Const(0)):
                pass
            case ir.CompareValue(
                "==" | "!=", ir.ItemValue(ir.NodeAttr(_, _, "shape"), ir.NodeAttr(_, _, "axis")),
                ir.Const(int()),
            ):
                self.count.conditions += 1
            case ir.CompareValue(
                "==" | "!=", ir.ItemValue(ir.NodeAttr(_, _, "shape"), ir.Const(int(place))), ir.Const(int())
            ):
                self.count.front = max(self.count.front, place + 1 if place >= 0 else -place)
                self.count.mixed = True
            case ir.CompareValue("==" | "!=", ir.NodeAttr(_, _, "strides"), ir.Const(None)):
                self.count.conditions += 1
            case ir.Builtin(
                "all", (ir.Comprehension(element, _, ir.NodeAttr(_, _, "strides" | "pad_width"), None),)
            ) if _of_items(element):
                self.count.conditions += 1
            case _:
                raise _Unlike


    def is_single(self, node: int) -> bool:
        """True if the rule says that a constant has a single element: what is read of it does not depend on
        its rank then.
        """
        elements = ir.Builtin("numel", (ir.NodeAttr(ir.OWN, node, "shape"),))
        wanted = ir.CompareValue("==", elements, ir.Const(1))
        said = [part for condition in self.rule.where for part in _conjuncts(condition)]
        return isinstance(self.rule.nodes[node], ir.LeafNode) and wanted in said


def _conjuncts(condition: ir.Value) -> list[ir.Value]:
    """The parts of a condition that hold wherever a number in it is read."""
    match condition:
        case ir.AllOf(items):
            return [part for item in items for part in _conjuncts(item)]
        case ir.SelectValue(arms=arms):
            return [part for arm in arms if arm is not None for part in _conjuncts(arm)]
    return [condition]


def _numbers_read(value: ir.Value) -> set[int]:
    """The constants of which an expression reads numbers; none where it reads anything but these and their
    ranks.
    """
    reading = (ir.NodeAttr, ir.Let, ir.Captured, ir.Uses, ir.TypeOf)
    read = [part for part in parts(value) if isinstance(part, reading)]
    if any(not isinstance(part, ir.NodeAttr) or part.name not in ("value", "ndim") for part in read):
        return set()
    nodes = {part.node for part in read if isinstance(part, ir.NodeAttr) and part.name == "value"}
    return nodes if all(isinstance(part, ir.NodeAttr) and part.node in nodes for part in read) else set()


def _is_elementwise(signature: Signature) -> bool:
    return (
        "elementwise" in signature.traits and not (set(signature.attributes) & _ABOUT_AXES)
        and signature.name not in ("nn.prelu", "PRelu")
    )


def _has_shape(node: Any) -> bool:
    return any(isinstance(c, ir.Constraint) and c.field == "shape" for c in node.constraints)


def _constant(test: Any) -> Any:
    """The constant that a test asks for; None for other tests."""
    match test:
        case ir.Equals(ir.Const(value)):
            return value
        case ir.Equals(ir.TupleValue((ir.Const(value),))):
            return (value,)
    return None


def _of_items(value: ir.Value) -> bool:
    """True if a value is made of the items at hand and constants."""
    return not any(isinstance(part, (ir.NodeAttr, ir.Let, ir.Captured, ir.Uses)) for part in parts(value))


def _reads_axes(value: ir.Value) -> bool:
    return any(isinstance(part, ir.NodeAttr) and part.name not in ("value", "dtype") for part in parts(value))



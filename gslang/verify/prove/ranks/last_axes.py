"""The number of axes that suffices where operators name the last axes alone.

Counted from the end, axes of operands that broadcast correspond to one another. Of a rule whose operators
pair them so, or do something along the last axis, an axis further in front can be taken away from every
tensor that has it, by keeping one index of it: each node of what is left is a slice of what it was. So a
failure is seen with the axes that operators, patterns and conditions name, one more for each condition that
would not hold without it, and one on which the two sides differ.

Axes that a constant names are renumbered on the way, so a rule must say that they are the last one. `ranks`
has the theory for axes named in other ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gslang.check import checked as ir
from gslang.check.target_reading import TargetReading
from gslang.check.walks import conjuncts, is_field, values_below, within_captures
from gslang.graph.graph import PROJ
from gslang.verify.prove.operators.onnx_operands import asked_to_be_single
from gslang.verify.prove.ranks.axis_history import Unlike, constant_asked, is_elementwise
from gslang.verify.prove.ranks.one_element import one_element
from gslang.verify.prove.ranks.same_rank import REDUCTIONS, has_rank_of, users_in
from gslang.verify.reads import ranks_stated

# along the axis of an attribute, which must be the last one
_ALONG = frozenset({
    "Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization",
})
_WITH_ROW = frozenset({"com.microsoft.FastGelu", "com.microsoft.BiasGelu"})  # element-wise; a bias is a row
_ABOUT_AXES = ("axis", "keepdims")  # attributes of these
_LAST = -1
_FAR = 9  # axes from the end that conditions may name
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def enough_of_last(rule: ir.CheckedRule) -> int:
    """The largest rank of open tensors that has to be looked at. Raises `Unlike` where that is not known."""
    if rule.blocks or rule.output_block is not None:
        raise Unlike
    reading = _LastAxes(rule)
    for node in rule.nodes:
        reading.read_node(node)
    for k in range(len(rule.target.targets)):
        reading.of_target(k)
    if any(reading.matched(k) in reading.axes for k in rule.target.outputs):
        raise Unlike
    for condition in rule.where:
        reading.read_condition(condition, True, {})
    for axes, operand in reading.reduced:
        reading.check_last(axes, operand)
    return reading.named + reading.kept + 1


class _LastAxes(TargetReading[None]):
    """`named`: how many of the last axes are named; `kept`: axes that conditions need beside these.

    `axes`: constants that name axes; `reduced`: pairs of these and the operand of the sum; `said`: such a
    constant → the node whose last axis alone a condition says it is. `demanded`: what holds in every match;
    `here`: that, and what holds where the alternative is taken that is being read.
    """

    def __init__(self, rule: ir.CheckedRule) -> None:
        self.rule = rule
        self.named = self.kept = 0
        self.reduced: list[tuple[int, int]] = []
        self.demanded = self.here = list(conjuncts(rule.where, rule.lets))
        self.axes = {
            axes for node in rule.nodes
            if isinstance(node, ir.CallNode) and set(node.operators) & REDUCTIONS
            for axes in node.operands[1:] if isinstance(axes, int)
        }
        self.said = {
            axes: node
            for axes in sorted(self.axes) for node in range(len(rule.nodes))
            if is_last(axes, node) in self.demanded
        }
        self.above = users_in(rule)

    def name(self, count: int) -> None:
        """So many of the last axes are named."""
        self.named = max(self.named, count)

    # ── source and target ──

    def read_node(self, node: ir.Pattern) -> None:
        if isinstance(node, ir.LeafNode):
            self.read_leaf(node)
        elif isinstance(node, ir.CallNode) and node.count is not None:
            tests = {test.field: test.test for test in node.tests}
            copied = {name for copy in node.copies for name in self.names_of(copy)}
            given = {name: constant_asked(tests.get(name)) for name in _ABOUT_AXES if name not in copied}
            operands = [o if isinstance(o, int) else None for o in node.operands]
            for operator in node.operators:
                self.read_call(operator, given, operands)
            for name, test in tests.items():
                if name not in _ABOUT_AXES and not self.is_steady(test, {}):
                    raise Unlike
        elif not node.branches and node.operators != (PROJ,):
            raise Unlike

    def names_of(self, copy: ir.SameAttributes) -> set[str]:
        """The attributes that are copied, of a call that is read itself."""
        source = self.rule.nodes[copy.node]
        names = {name for o in source.operators for name in self.rule.dialect.operators[o].attributes}
        return names - set(copy.without)

    def read_leaf(self, leaf: ir.LeafNode) -> None:
        if leaf.kind == "op":
            raise Unlike
        for constraint in leaf.constraints:
            if not isinstance(constraint, ir.Constraint):
                raise Unlike
            test = within_captures(constraint.test)
            if constraint.field == "shape":
                self.read_shape(test)
            elif constraint.field == "value":
                constant = getattr(test, "value", None)  # also of tests on elements
                if not isinstance(constant, ir.Const):
                    raise Unlike
                self.name(_depth(constant.value))
            elif constraint.field != "dtype" or not self.is_steady(test, {}):
                raise Unlike

    def read_shape(self, test: ir.Test) -> None:
        """A shape that a pattern asks for; equal shapes stay equal."""
        copied = ir.copied_of(test)
        if isinstance(test, ir.TupleTest) and test.back is None and self.is_steady(test, {}):
            self.name(len(test.front))
        elif isinstance(constant := constant_asked(test), tuple):
            self.name(len(constant))
        elif copied is None or copied.name != "shape":
            raise Unlike

    def read_call(self, operator: str, given: Mapping[str, object], operands: list[int | None]) -> None:
        """A call; `given`: what is said of attributes about axes, but for those copied from another call."""
        signature = self.rule.dialect.operators[operator]
        if is_elementwise(signature):
            return
        if "axis" in given and operator in _ALONG and given["axis"] != _LAST:
            raise Unlike
        if operator in _ALONG or operator in _WITH_ROW:
            self.name(1 if operator in _ALONG else len(operands) - 1)
        elif operator in REDUCTIONS and len(operands) == 2 and given.get("keepdims", 1) == 1:
            data, axes = operands
            if data is None or axes is None:
                raise Unlike
            self.reduced.append((axes, data))
        else:
            raise Unlike

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.rule.target.targets

    def of_matched(self, number: int, target: ir.SourceNode) -> None:
        pass

    def of_absent(self, number: int, target: ir.Absent) -> None:
        pass

    def of_projection(self, number: int, target: ir.MakeProj) -> None:
        if not self.is_steady(target.index, {}):
            raise Unlike

    def of_constant(self, number: int, target: ir.MakeConst) -> None:
        value = target.value
        if target.splat_shape is not None or target.as_tuple or isinstance(value, ir.TupleValue):
            raise Unlike
        if not self.is_steady(value, {}) or target.dtype is not None and not self.is_steady(target.dtype, {}):
            raise Unlike
        if isinstance(value, ir.Const):
            self.name(_depth(value.value))

    def of_call(self, number: int, target: ir.MakeCall) -> None:
        operator = target.operator
        if not isinstance(operator, str):
            raise Unlike
        declared = self.rule.dialect.operators[operator].attributes
        copied = {name for copy in target.spreads for name in self.names_of(copy)}
        given = {
            name: declared[name].default
            for name in _ABOUT_AXES if name in declared and name not in copied
        }
        for name, value in target.attributes:
            if name in _ABOUT_AXES:
                given[name] = value.value if isinstance(value, ir.Const) else None
            elif not self.is_steady(value, {}):
                raise Unlike
        operands = [self.matched(k) for k in target.operands]
        if any(node in self.axes for node in (operands[:1] if operator in REDUCTIONS else operands)):
            raise Unlike
        if operator in REDUCTIONS and self.makes_last(target.operands[1:]) and given["keepdims"] == 1:
            self.name(1)
        else:
            self.read_call(operator, given, operands)

    def of_other(self, number: int, target: ir.Target) -> None:
        raise Unlike

    def matched(self, number: int) -> int | None:
        """The node of the source that a target is."""
        target = self.targets[number]
        return target.node if isinstance(target, ir.SourceNode) else None

    def makes_last(self, operands: Sequence[int]) -> bool:
        """True if the axes of a new sum are a new constant, the last axis."""
        made = [self.targets[k] for k in operands]
        return len(made) == 1 and isinstance(made[0], ir.MakeConst) and made[0].value == ir.Const((_LAST,))

    # ── conditions ──

    def read_condition(self, value: ir.Value, holds: bool, ranks: Mapping[int, int]) -> None:
        """A condition that stays as it is without an axis, once those that it needs are counted; raises
        `Unlike` for others. `holds`: it has to hold; `ranks`: those stated beside it.
        """
        if (by := value.decided_by(holds, self.rule.lets)) is not None:
            if by.wanted and by.every:
                ranks = {**ranks, **ranks_stated(by.items, self.rule.lets)}
            for item in by.items:
                self.read_condition(item, by.wanted, ranks)
        elif isinstance(value, ir.SelectValue):
            outside = self.here
            for arm in value.arms:
                if arm is not None:
                    self.here = [*outside, *(conjuncts([arm], self.rule.lets) if holds else ())]
                    self.read_condition(arm, holds, ranks)
            self.here = outside
        elif value.compares is not None and value.compares[0] in _OPPOSITE:
            sign, left, right = value.compares
            self.read_comparison(sign if holds else _OPPOSITE[sign], left, right, ranks)
        elif not self.is_steady(value, ranks):
            raise Unlike

    def read_comparison(self, sign: str, left: ir.Value, right: ir.Value, ranks: Mapping[int, int]) -> None:
        """A comparison that is true."""
        constant = right.value if isinstance(right, ir.Const) else None
        if is_field(left, "shape") and is_field(right, "shape"):
            self.kept += sign == "!="
        elif is_field(left, "shape") and isinstance(constant, tuple):
            self.name(len(constant) + (sign == "!="))
        elif is_field(left, "ndim") and is_field(right, "ndim"):
            self.kept += sign in ("<", ">", "!=")  # an axis that only the longer one has
        elif is_field(left, "ndim") and type(constant) is int:
            self.name(_axes_of_rank(sign, constant))
        elif isinstance(left, ir.Builtin) and left.name == "numel" and constant == 1 and sign in ("==", "!="):
            if not is_field(left.arguments[0], "shape"):
                raise Unlike
            self.kept += sign == "!="
        elif any(ir.CompareValue(sign, left, right) == is_last(*said) for said in self.said.items()):
            self.name(1)
        elif not self.is_steady(left, ranks) or not self.is_steady(right, ranks):
            raise Unlike

    def is_steady(self, value: object, ranks: Mapping[int, int]) -> bool:
        """True if a value is the same without an axis: made of types, kinds, numbers, and sizes of the last
        axes, which count as named.
        """
        if isinstance(value, ir.Let):
            value = value.meant(self.rule.lets)
        match value:
            case ir.ItemValue(ir.NodeAttr(_, node, "shape"), index):
                return self.is_last_size(node, index, ranks)
            case ir.NodeAttr(_, _, "dtype" | "kind") | ir.IsAbsent():
                return True
            case ir.NodeAttr(_, node, "value"):
                return node not in self.axes and self.is_single(node)
            case ir.NodeAttr(_, node, name):
                return is_number_or_text(self.rule, node, name)
            case ir.IfValue(
                ir.CompareValue("==", ir.NodeAttr(_, node, "ndim"), ir.Const()), then, otherwise
            ) if self.is_single(node):
                return self.is_steady(then, ranks) and self.is_steady(otherwise, ranks)
            case ir.Local() | ir.Own():
                return True
            case ir.Reading():
                return False
        return all(self.is_steady(part, ranks) for part in values_below(value))

    def is_single(self, node: int) -> bool:
        """True if a constant has one element in every match, or where the alternative at hand is taken."""
        return node in asked_to_be_single(self.rule) or one_element(node) in self.here

    def is_last_size(self, node: int, index: ir.Value, ranks: Mapping[int, int]) -> bool:
        """True for `x.shape[i]` if `i` counts from the end, or the rank is stated; these axes are named."""
        place = index.value if isinstance(index, ir.Const) else None
        rank = self.rank_of(node, ranks)
        own = ir.NodeAttr(ir.OWN, node, "ndim")
        back = [k for k in range(1, _FAR) if index == ir.BinaryValue("-", own, ir.Const(k))]
        if type(place) is int and (place < 0 or rank is not None and place < rank):
            back = [-place if place < 0 else (rank or 0) - place]
        self.name(max(back, default=0))
        return bool(back)

    def rank_of(self, node: int, ranks: Mapping[int, int]) -> int | None:
        """The rank of a node where it is stated."""
        return {**ranks_stated(self.demanded, self.rule.lets), **ranks}.get(node)

    # ── sums over axes that a constant names ──

    def check_last(self, axes: int, operand: int) -> None:
        """Raises `Unlike` unless a constant names the last axis of an operand, whatever its rank is."""
        leaf = self.rule.nodes[axes]
        if not isinstance(leaf, ir.LeafNode) or any(
            not self.takes_axes(user, axes) for user in self.above[axes]
        ):
            raise Unlike
        if leaf.stated("value") == (_LAST,):
            self.name(1)
            return
        node = self.said.get(axes)
        if (
            node is None or leaf.kind != "const" or not self.is_one_axis(axes)
            or not has_rank_of(self.rule, operand, node)
        ):
            raise Unlike

    def is_one_axis(self, axes: int) -> bool:
        """True if a constant has one element by the rule, in a vector."""
        shape = ir.CompareValue("==", ir.NodeAttr(ir.OWN, axes, "shape"), ir.Const((1,)))
        return shape in self.demanded or self.rule.nodes[axes].stated("shape") == (1,)

    def takes_axes(self, user: int, axes: int) -> bool:
        """True if a call takes a constant as its axes alone."""
        node = self.rule.nodes[user]
        return (
            isinstance(node, ir.CallNode) and set(node.operators) <= REDUCTIONS
            and node.operands.index(axes) == 1 and node.operands.count(axes) == 1
        )


def _axes_of_rank(sign: str, rank: int) -> int:
    """The number of its last axes that a tensor keeps so that its rank still compares so with a number."""
    return {"==": rank, ">=": rank, "!=": rank + 1, ">": rank + 1}.get(sign, 0) if rank >= 0 else 0


def is_last(axes: int, node: int) -> ir.Value:
    """The condition that the first number of a constant is the last axis of a node."""
    rank = ir.NodeAttr(ir.OWN, node, "ndim")
    first = ir.ItemValue(ir.NodeAttr(ir.OWN, axes, "value"), ir.Const(0))
    place = ir.Builtin("normalize_axis", (first, rank))
    return ir.CompareValue("==", place, ir.BinaryValue("-", rank, ir.Const(1)))


def is_number_or_text(rule: ir.CheckedRule, number: int, name: str) -> bool:
    """True if an attribute of a call is a real number or a text."""
    node = rule.nodes[number]
    declared = [rule.dialect.operators[operator] for operator in node.operators if operator[0] != "%"]
    return bool(declared) and all(
        name in d.attributes and all(_is_plain(t) for t in d.attributes[name].types) for d in declared
    )


def _is_plain(type_: object) -> bool:
    return getattr(type_, "base", None) in ("float", "str") and not getattr(type_, "depth", 1)


def _depth(value: object) -> int:
    """The number of axes of a constant that is written so."""
    return 1 + _depth(value[0]) if isinstance(value, tuple) and value else int(isinstance(value, tuple))

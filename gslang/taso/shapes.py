"""The constraints of TASO's operators on shapes: ranks, sizes, and the equations that must hold so that a
side has a meaning.

Also the conditions on groups of convolutions, which the operators do not ask for but the substitutions need.
Not here: the text of rules (`translate`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from gslang.base.quick_dataclass import dataclass
from gslang.taso.dimensions import WHOLE, Size, unknown
from gslang.taso.read import Operator, Substitution, Tensor

Shape = tuple[Size, ...]
Equation = tuple[Size, Size]
Key = tuple[str, Tensor]  # "s" or "t" for an operator's result, "" for an input of the rule

_ELEMENTWISE = frozenset({"OP_EW_ADD", "OP_EW_MUL", "OP_RELU"})


class ShapeMistake(Exception):
    """A substitution whose shapes cannot be. `place` is a JSON pointer below the substitution."""

    def __init__(self, place: str, message: str) -> None:
        self.place, self.message = place, message


@dataclass(slots=True)
class Side:
    """Shapes of all tensors of a side, the equations that give it a meaning, and for each tensor and axis
    where it was joined.
    """

    shapes: dict[Tensor, Shape]
    equations: list[Equation] = field(default_factory=list)
    cuts: dict[tuple[Tensor, int], tuple[Size, ...]] = field(default_factory=dict)


def classes(rule: Substitution, sides: str) -> dict[Key, Key]:
    """For each tensor one that has the same rank and data type, as far as operators of `sides` ("s", "t" or
    "st") say so.
    """
    parent: dict[Key, Key] = {}

    def find(key: Key) -> Key:
        parent.setdefault(key, key)
        while parent[key] != key:
            key = parent[key]
        return key

    for side, k, op in _operators(rule):
        operands = [_key(side, tensor) for tensor in op.operands]
        results = [(side, Tensor(k, part)) for part in range(2 if op.kind == "OP_SPLIT" else 1)]
        for key in (*operands, *results):
            find(key)
        if side in sides:
            for key in (*operands[1:], *results):
                parent[find(key)] = find(operands[0])
    return {key: find(key) for key in list(parent)}


def ranks(rule: Substitution, sides: str) -> dict[Key, int | None]:
    """The rank of each tensor, None where the operators of `sides` leave it open."""
    same = classes(rule, sides)
    known: dict[Key, int] = {}
    for side, k, op in _operators(rule):
        rank = {"OP_MATMUL": 2, "OP_CONV2D": 4}.get(op.kind, op.params.get("PM_NUMDIM"))
        if side not in sides or rank is None:
            continue
        if known.setdefault(same[side, Tensor(k)], rank) != rank:
            raise ShapeMistake(
                f"/{'srcOp' if side == 's' else 'dstOp'}/{k}",
                f"a tensor of rank {rank} here has another rank elsewhere",
            )
    for side, k, op in _operators(rule):
        rank = known.get(same[side, Tensor(k)])
        if rank is not None and op.params.get("PM_AXIS", 0) >= rank:
            raise ShapeMistake(
                f"/{'srcOp' if side == 's' else 'dstOp'}/{k}",
                f"a tensor of rank {rank} has no axis {op.params['PM_AXIS']}",
            )
    return {key: known.get(root) for key, root in same.items()}


def open_shapes(order: Sequence[int], rank: Mapping[Key, int | None]) -> dict[Tensor, Shape]:
    """A shape of unknowns for each input of the rule."""
    made = {}
    for position, number in enumerate(order):
        count = rank["", Tensor(number)]
        made[Tensor(number)] = (
            (unknown(position, WHOLE),) if count is None
            else tuple(unknown(position, axis) for axis in range(count))
        )
    return made


def side_of(ops: Sequence[Operator], inputs: Mapping[Tensor, Shape], place: str) -> Side:
    """Shapes and equations of one side; `place` is for messages."""
    side = Side(dict(inputs))
    for k, op in enumerate(ops):
        result = Tensor(k)
        shapes = [side.shapes[tensor] for tensor in op.operands]
        match op.kind:
            case "OP_RELU":
                side.shapes[result] = shapes[0]
                _keep_cuts(side, op, result)
            case "OP_EW_ADD" | "OP_EW_MUL":
                side.equations += zip(*shapes)
                side.shapes[result] = shapes[0]
                _keep_cuts(side, op, result)
            case "OP_MATMUL":
                (rows, inner), (inner2, columns) = shapes
                side.equations.append((inner, inner2))
                side.shapes[result] = (rows, columns)
                side.cuts[result, 0] = side.cuts.get((op.operands[0], 0), ())
                side.cuts[result, 1] = side.cuts.get((op.operands[1], 1), ())
            case "OP_CONCAT":
                _concat(side, op, result, shapes)
            case "OP_CONV2D":
                _convolution(side, op, result, shapes)
            case "OP_SPLIT":
                axis = op.params["PM_AXIS"]
                cuts = side.cuts.get((op.operands[0], axis), ())
                if not cuts:
                    raise ShapeMistake(
                        f"{place}/{k}",
                        "nothing was concatenated along this axis before: where to cut is not known",
                    )
                if axis >= len(shapes[0]):
                    raise ShapeMistake(f"{place}/{k}", f"the rank of what is split along axis {axis} is open")
                rest = shapes[0][axis].minus(cuts[-1])
                for part, size in enumerate((cuts[-1], rest)):
                    side.shapes[Tensor(k, part)] = (*shapes[0][:axis], size, *shapes[0][axis + 1 :])
    return side


def _keep_cuts(side: Side, op: Operator, result: Tensor) -> None:
    """Element-wise results were joined where all operands were."""
    for axis in range(4):
        found = [side.cuts.get((tensor, axis), ()) for tensor in op.operands]
        side.cuts[result, axis] = found[0] if all(cuts == found[0] for cuts in found) else ()


def _concat(side: Side, op: Operator, result: Tensor, shapes: Sequence[Shape]) -> None:
    axis = op.params["PM_AXIS"]
    first, second = shapes
    side.equations += [(a, b) for n, (a, b) in enumerate(zip(first, second)) if n != axis]
    side.shapes[result] = (*first[:axis], first[axis].plus(second[axis]), *first[axis + 1 :])
    one, two = (side.cuts.get((tensor, axis), ()) for tensor in op.operands)
    side.cuts[result, axis] = (*one, *(cut.plus(first[axis]) for cut in two), first[axis])


def _convolution(side: Side, op: Operator, result: Tensor, shapes: Sequence[Shape]) -> None:
    """Stride 1. Same padding keeps the sizes of the image."""
    data, weight = shapes
    image = (
        data[2:] if op.params["PM_PAD"] == 0
        else tuple(d.minus(w).plus(Size((), 1)) for d, w in zip(data[2:], weight[2:]))
    )
    side.shapes[result] = (data[0], weight[0], *image)
    for axis, (tensor, of) in enumerate(
        ((op.operands[0], 0), (op.operands[1], 0), (op.operands[0], 2), (op.operands[0], 3))
    ):
        side.cuts[result, axis] = side.cuts.get((tensor, of), ())


@dataclass(frozen=True, slots=True)
class Groups:
    """The requirements of convolutions of joined tensors: `equations`, and products that are equal (`left[0]
    · left[1] == right[0] · right[1]`).
    """

    equations: list[Equation]
    products: list[tuple[Equation, Equation]]


def group_conditions(ops: Sequence[Operator], side: Side) -> Groups:
    """Conditions under which convolutions of concatenations compute what those of the parts do.

    Groups follow from shapes: channels of the data divided by those of the kernel.
    """
    found = Groups([], [])
    for op in ops:
        if op.kind != "OP_CONV2D":
            continue
        data, weight = op.operands
        channels, outputs, inner = (
            _joined(ops, tensor, axis) for tensor, axis in ((data, 1), (weight, 0), (weight, 1))
        )
        if channels and inner:  # a sum over both parts: each has one group
            found.equations.extend((side.shapes[x][1], side.shapes[w][1]) for x, w in zip(channels, inner))
        elif channels and outputs:  # side by side: all groups have equally many outputs
            (x, y), (v, w) = ([side.shapes[t] for t in pair] for pair in (channels, outputs))
            found.products.append(((v[0], y[1]), (w[0], x[1])))
        elif outputs:  # outputs of one part would lie between those of the other
            found.equations.append((side.shapes[data][1], side.shapes[weight][1]))
    return found


def _joined(ops: Sequence[Operator], tensor: Tensor, axis: int) -> tuple[Tensor, ...] | None:
    """The parts of which `tensor` is a concatenation along `axis`; element-wise operators may lie between."""
    while tensor.op >= 0 and ops[tensor.op].kind in _ELEMENTWISE:
        tensor = ops[tensor.op].operands[0]
    if tensor.op >= 0 and ops[tensor.op].kind == "OP_CONCAT" and ops[tensor.op].params["PM_AXIS"] == axis:
        return ops[tensor.op].operands
    return None


def _operators(rule: Substitution) -> Iterator[tuple[str, int, Operator]]:
    for side, ops in (("s", rule.source), ("t", rule.target)):
        for k, op in enumerate(ops):
            yield side, k, op


def _key(side: str, tensor: Tensor) -> Key:
    return (side if tensor.op >= 0 else "", tensor)

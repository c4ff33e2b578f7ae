"""What a rule puts in the place of its outputs: something, and of the same element type, as far as the rule alone says.

Users of an output, or the graph whose output it is, go on reading what they read before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gslang.base.diagnostics import Label
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.checked_values import Value
from gslang.check.context import Lowering

_STATED_BY = ("dtype", "to", "out_dtype", "output_dtype")  # attributes that are the element type of the result
_OF_OTHERS = frozenset({"topk", "sort", "broadcast_to", "dyn.broadcast_to"})  # whose `dtype` is not that of the (only) result


def check_replaced(low: Lowering, olds: list[int], nows: list[int], where: Iterable[Value]) -> None:
    """Report outputs that are replaced by nothing, or by another element type."""
    tested = {value.node for condition in where for value in _parts(condition) if isinstance(value, ir.IsAbsent)}
    for now in nows:
        for span, name in _nothing(low, now, tested):
            if name is None:
                low.error("E0608", "an output cannot be replaced by nothing", span, "name what its users, or the graph, read instead")
            else:
                message = f"an output cannot be replaced by `{name}`, which may be absent"
                low.error("E0608", message, span, f"add `where {name} != none`, or choose: `{name} if {name} != none else …`")
    if len(olds) == len(nows):
        for old, now in zip(olds, nows):
            before, after = _dtype(low, old), _target_dtype(low, now)
            if before is not None and after is not None and before != after:
                low.error(
                    "E0609", f"an output of type {before} cannot be replaced by one of type {after}", low.target_spans[now],
                    f"its users, or the graph, go on reading {before}: convert the target back", related=(Label(low.patterns[old].span, f"{before} here"),),
                )  # fmt: skip


def _nothing(low: Lowering, output: int, tested: set[int]) -> Iterator[tuple[Span, str | None]]:
    """Where a target is nothing, or an input that may be absent without a test of it (its name). Parts that are shared are looked at once."""
    stack, met = [(output, frozenset(tested))], set[tuple[int, frozenset[int]]]()
    while stack:
        target, known = stack.pop()
        if (target, known) in met:
            continue
        met.add((target, known))
        span = low.target_spans[target]
        match low.targets[target]:
            case ir.Absent() | ir.MakeConst(value=ir.Const(None)):
                yield span, None
            case ir.SourceNode(_, node):
                pattern = low.patterns[node]
                if isinstance(pattern, ir.LeafNode) and pattern.optional and node not in known:
                    yield span, pattern.name
            case ir.MakeTuple(fields):
                stack += [(field, known) for field in reversed(fields)]
            case ir.MakeProj(base, ir.Const(int(index))) if isinstance(low.targets[base], ir.MakeTuple):
                fields = low.targets[base].fields  # type: ignore[union-attr]
                if -len(fields) <= index < len(fields):
                    stack.append((fields[index], known))
            case ir.Repeat(element=element):
                stack.append((element, known))
            case ir.ChooseTarget(condition, then, otherwise):
                known |= {value.node for value in _parts(condition) if isinstance(value, ir.IsAbsent)}
                stack += [(otherwise, known), (then, known)]
            case ir.SelectTarget(arms=arms):
                stack += [(arm, known) for arm in reversed(arms) if arm is not None]


def _parts(value: object) -> Iterator[object]:
    """A value and all that it is made of."""
    stack = [value]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, tuple):
            stack.extend(part)
        else:
            stack.extend(getattr(part, name) for name in getattr(part, "__dataclass_fields__", ()))


def _dtype(low: Lowering, node: int) -> str | None:
    """The element type that a pattern node demands of its result; None where it says nothing."""
    pattern = low.patterns[node]
    if isinstance(pattern, ir.AltNode):
        found = {_dtype(low, branch) for branch in pattern.branches}
        return found.pop() if len(found) == 1 else None
    operators = pattern.operators if isinstance(pattern, ir.CallNode) else ()
    stated: dict[str, str] = {}
    for constraint in pattern.constraints:
        match constraint:
            case ir.Constraint(field=name, test=ir.Equals(ir.Const(str(dtype)))) if dtype:
                stated[name] = dtype
    if "dtype" in stated and not operators:
        return stated["dtype"]
    return next((d for d in (_stated(low, operator, stated) for operator in operators[:1]) if d), None) if len(operators) == 1 else None


def _target_dtype(low: Lowering, target: int) -> str | None:
    match low.targets[target]:
        case ir.SourceNode(_, node):
            return _dtype(low, node)
        case ir.MakeConst(dtype=ir.Const(str(dtype))):
            return dtype
        case ir.MakeCall(operator=str(operator), attributes=attributes):
            return _stated(low, operator, {name: v.value for name, v in attributes if isinstance(v, ir.Const) and isinstance(v.value, str)})
        case ir.ChooseTarget(_, then, otherwise):
            found = {_target_dtype(low, then), _target_dtype(low, otherwise)}
            return found.pop() if len(found) == 1 else None
    return None


def _stated(low: Lowering, operator: str, attributes: dict[str, str]) -> str | None:
    """The element type of an operator's result by its attributes."""
    signature = low.dialect.operators[operator]
    if operator in _OF_OTHERS or signature.several_results:
        return None
    return next((attributes[name] for name in _STATED_BY if name in signature.attributes and attributes.get(name)), None)

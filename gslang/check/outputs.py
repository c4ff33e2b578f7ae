"""Element types, as far as a rule alone says them, and what it puts in the place of its outputs: something,
of the same type.

Users of an output, or the graph whose output it is, go on reading what they read before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gslang.base.diagnostics import Label
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.checked_values import Value
from gslang.check.context import Lowering
from gslang.check.decided import UNKNOWN
from gslang.check.known_values import known
from gslang.check.results import text_of, told_of, told_of_target
from gslang.check.walks import walk
from gslang.dialect.dtypes import PLAIN, becomes_infinite, shown_classes, whole_numbers
from gslang.dialect.signature import Signature


def check_replaced(lowering: Lowering, olds: list[int], nows: list[int], where: Iterable[Value]) -> None:
    """Report outputs that are replaced by nothing, or by another element type."""
    tested = _tested(tuple(where))
    for now in nows:
        for span, name in _nothing(lowering, now, tested):
            if name is None:
                lowering.error(
                    "E0608", "an output needs a replacement", span,
                    "name the node that replaces it",
                )
            else:
                message = f"an output cannot be replaced by `{name}`, which may be absent"
                lowering.error(
                    "E0608", message, span,
                    f"add `where {name} != none`, or choose: `{name} if {name} != none else …`",
                )
    if len(olds) == len(nows):
        for old, now in zip(olds, nows):
            before, after = told_of(lowering, old).dtype, told_of_target(lowering, now).dtype
            if before is not None and after is not None and before != after:
                lowering.error(
                    "E0609", f"an output of type {before} cannot be replaced by one of type {after}",
                    lowering.target_spans[now],
                    f"its users, or the graph, expect {before}: convert the target back",
                    related=(Label(lowering.patterns[old].span, f"{before} here"),),
                )


def check_operand_types(lowering: Lowering) -> None:
    """Report operands of element types that their operator does not take."""
    for pattern in lowering.patterns:
        if isinstance(pattern, ir.CallNode) and len(pattern.operators) == 1:
            signature = lowering.dialect.operators[pattern.operators[0]]
            for k, part in enumerate(pattern.operands):
                if isinstance(part, int):
                    _check_operand(
                        lowering, signature, k, told_of(lowering, part).dtype, lowering.patterns[part].span
                    )
    for target in lowering.targets:
        if isinstance(target, ir.MakeCall) and isinstance(target.operator, str):
            for k, part in enumerate(target.operands):
                dtype, span = told_of_target(lowering, part).dtype, lowering.target_spans[part]
                _check_operand(lowering, lowering.dialect.operators[target.operator], k, dtype, span)


def check_operands_given(lowering: Lowering, where: Iterable[Value]) -> None:
    """Report operands of the target that must be there, and are `none`, or an input that may be absent and
    that no condition asks about.
    """
    tested = _tested((*where, *lowering.targets))
    for target in lowering.targets:
        if not isinstance(target, ir.MakeCall) or not isinstance(target.operator, str):
            continue
        signature = lowering.dialect.operators[target.operator]
        for k, part in enumerate(target.operands):
            spec = signature.operand(k)
            if isinstance(lowering.targets[part], ir.SeveralNodes) or spec is None or spec.variadic:
                break  # how many operands there are before the next one is not known
            for span, name in () if spec.optional else _nothing(lowering, part, tested):
                what = f"operand `{spec.name}` of `{signature.name}` is not optional"
                lowering.error(
                    "E0302", what if name is None else f"{what}, and `{name}` may be absent", span,
                    "write a node in its place" if name is None
                    else f"add `where {name} != none`, or choose: `{name} if {name} != none else …`",
                )


def _check_operand(lowering: Lowering, signature: Signature, k: int, dtype: str | None, span: Span) -> None:
    spec = signature.operand(k)
    if dtype not in PLAIN:  # of complex numbers and the like declarations say nothing
        return
    if spec is not None and spec.kind == "tensor" and dtype is not None and not spec.takes(dtype):
        taken = " | ".join(shown_classes(spec.dtypes))
        lowering.error(
            "E0307", f"operand `{spec.name}` of `{signature.name}` cannot be {dtype}", span,
            f"it takes {taken}; convert it first",
        )


def settle_constants(lowering: Lowering) -> None:
    """Give a new constant that does not state its element type the one that the operand's declaration
    demands: `tensor(int64)`.

    Any other takes that of an operand beside it (`Signature.dtype_beside`). Reported are a named one that
    would have two types, and values that their type, as far as the rule states it, cannot have.
    """
    demanded = _demanded(lowering)
    for number, target in enumerate(lowering.targets):
        if isinstance(target, ir.MakeConst):
            if number in demanded:
                lowering.targets[number] = replace(target, dtype=ir.Const(demanded[number]))
            elif (dtype := text_of(target.dtype)) is not None:
                _check_value(lowering, number, dtype)


def _demanded(lowering: Lowering) -> dict[int, str]:
    """Constants without an element type → the one that the declaration of an operand demands."""
    demanded: dict[int, str] = {}
    seen: dict[int, tuple[str, Span]] = {}
    for target, span in zip(lowering.targets, lowering.target_spans):
        if not isinstance(target, ir.MakeCall):
            continue
        operators = (
            (target.operator,) if isinstance(target.operator, str)
            else lowering.variables[target.operator[1]].operators
        )
        types = [told_of_target(lowering, part).dtype for part in target.operands]
        for k, part in enumerate(target.operands):
            if isinstance(lowering.targets[part], ir.SeveralNodes):
                break  # how many operands there are before the next one is not known
            wanted = lowering.dialect.operand_dtype(operators, k)
            for number in _constants(lowering, part):
                dtype = wanted
                if dtype is not None:
                    demanded.setdefault(number, dtype)
                else:
                    beside = {lowering.dialect.dtype_beside(operator, k, types) for operator in operators}
                    dtype = beside.pop() if len(beside) == 1 else None
                if dtype is not None:
                    _once(lowering, number, dtype, span, seen)
                    _check_value(lowering, number, dtype, wanted is not None)
    return demanded


def _check_value(lowering: Lowering, number: int, dtype: str, demanded: bool = False) -> None:
    """Report a constant whose value, as far as it is known, is none of its element type: nothing is rounded
    to whole numbers, nor to an infinite one."""
    constant = lowering.targets[number]
    assert isinstance(constant, ir.MakeConst)
    limits = whole_numbers(dtype)
    for v in _numbers(lowering, constant.value):
        if limits is not None and (v % 1 != 0 or not limits[0] <= v <= limits[1]):
            expected, other = f"an integer from {limits[0]} to {limits[1]}", "float32"
        elif becomes_infinite(v, dtype):
            expected, other = "a number that is finite in this type", "float64"
        else:
            continue
        instead = (
            "" if demanded or dtype == other
            else f', or state another type: `const(value = …, dtype = "{other}")`'
        )
        lowering.error(
            "E0307", f"`{_shown(v)}` is not a value of type {dtype}", lowering.target_spans[number],
            f"expected {expected}{instead}",
        )
        return


def _shown(number: int | float) -> str:
    text = str(number)
    return text if len(text) <= 30 else f"{text[:12]}…{text[-4:]}"


def _numbers(lowering: Lowering, value: ir.Value) -> Iterator[int | float]:
    """The numbers in a value that are known."""
    found = known(lowering, value)
    if found is UNKNOWN and isinstance(value, ir.TupleValue):
        for item in value.items:
            if not isinstance(item, ir.SpreadValue):
                yield from _numbers(lowering, item)
        return
    stack = [found]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(reversed(item))
        elif isinstance(item, int | float):
            yield item


def _constants(lowering: Lowering, target: int) -> Iterator[int]:
    """The new constants without an element type that a target may be."""
    match lowering.targets[target]:
        case ir.MakeConst(dtype=None):
            yield target
        case ir.ChosenTarget() as choice:
            for part in choice.parts:
                yield from _constants(lowering, part)


def _once(
    lowering: Lowering, constant: int, dtype: str, span: Span, seen: dict[int, tuple[str, Span]]
) -> None:
    before, where = seen.setdefault(constant, (dtype, span))
    if before != dtype:
        name = lowering.target_names[constant] or "this"
        lowering.error(
            "E0307", f"`{name}` would need to be both {before} and {dtype}", lowering.target_spans[constant],
            'write one constant for each use, with `dtype = "…"`',
            related=(Label(where, f"{before} here"), Label(span, f"{dtype} here")),
        )


def _tested(conditions: object) -> frozenset[int]:
    """The nodes that conditions ask about: are they absent?"""
    return frozenset([part.node for part in walk(conditions) if isinstance(part, ir.IsAbsent)])


def _nothing(
    lowering: Lowering, output: int, tested: frozenset[int]
) -> Iterator[tuple[Span, str | None]]:
    """Where a target is nothing, or an input that may be absent without a test of it (its name).

    Parts that are shared are looked at once.
    """
    stack, met = [(output, tested)], set[tuple[int, frozenset[int]]]()
    while stack:
        number, known = stack.pop()
        if (number, known) in met:
            continue
        met.add((number, known))
        target = lowering.targets[number]
        node = target.node if isinstance(target, ir.MatchedNodes) else None
        if node not in known and not target.is_given(lowering.patterns):
            yield lowering.target_spans[number], None if node is None else lowering.patterns[node].name
        if isinstance(target, ir.ChooseTarget):
            known |= _tested(target.condition)
        stack += [(part, known) for part in reversed(_outputs_within(lowering, target))]


def _outputs_within(lowering: Lowering, target: ir.Target) -> Sequence[int]:
    """The targets that are outputs where this one is; of the field of a tuple that is made beside it, that.
    """
    if isinstance(target, ir.MakeProj):
        whole, index = lowering.targets[target.base], ir.written_number(target.index)
        if isinstance(whole, ir.MakeTuple) and index is not None:
            return whole.fields[index : index + 1 or None]
    return target.outputs_within

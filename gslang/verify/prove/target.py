"""The target of a rule in one case: what it builds on the tensors of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gslang.base.open_types import Attrs
from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain import contains
from gslang.dialect.signature import REQUIRED
from gslang.engine.scope import UNBOUND
from gslang.engine.target_nodes import TargetNodes
from gslang.graph.graph import ABSENT, INPUT
from gslang.verify.prove.case import DEFINITE, OPEN, Case
from gslang.verify.prove.operators.constant_value import ConstantValue
from gslang.verify.prove.operators.constants import (
    default_dtype,
    listed_vector,
    unreadable,
    vector,
    with_attributes,
)
from gslang.verify.prove.operators.domains import SAYS_NOTHING, Attributes
from gslang.verify.prove.operators.families import Family
from gslang.verify.prove.operators.listed import Listed
from gslang.verify.prove.operators.onnx_movement import EqualParts, OpenParts
from gslang.verify.prove.operators.operators import meaning_of
from gslang.verify.prove.operators.tensors import Tensor, Value, World, constant
from gslang.verify.prove.operators.uninterpreted import uninterpreted
from gslang.verify.prove.terms.paths import CONDITION, Impossible, NotProved
from gslang.verify.prove.terms.reals import Real, as_term
from gslang.verify.prove.terms.sizes import Copies, is_number
from gslang.verify.prove.values import FamilyValues
from gslang.verify.prove.watched import Watched


def _is_whole(value: object) -> bool:
    """True if a value is a whole number, or made of elements of constants by sums and products."""
    if isinstance(value, float):
        return value.is_integer()
    if not isinstance(value, Real):
        return True
    return all(
        c.denominator == 1 and all(atom.kind == "read" and exponent > 0 for atom, exponent in factors)
        for factors, c in value.term.parts.items()
    )


def _as_number(item: object) -> object:
    """The number that a scalar constant of the source holds, where an operator says which; else the item."""
    known = isinstance(item, ConstantValue) and item.leaf.number is not None
    return item.real() if known and isinstance(item, ConstantValue) else item


class Target(TargetNodes[Value]):
    """The target of a case whose source was read. `made`: what each of its nodes stands for."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.rule.target, case.scope)
        self.case, self.rule, self.world, self.graph = case, case.rule, case.world, case.graph
        self.scope.new_type = self.type_of

    def outputs(self) -> list[Value]:
        """The outputs of the target.

        Raises `Impossible` where the rule is not applied, `NotProved` where that cannot be told.
        """
        self.world.reading = False
        return [value for output in self.rule.target.outputs for value in self.several(output)]

    def one(self, number: int) -> Value:
        """The value of a target node that stands for one."""
        values = self.several(number)
        if len(values) != 1:
            raise NotProved("found a sequence, expected one value")
        return values[0]

    def value(self, value: ir.Value) -> Any:
        """The value of an expression; raises `Impossible` where there is none, `NotProved` where that is
        open.
        """
        return self.case.value(value)

    def type_of(self, number: int, name: str) -> Any:
        """The known part of the type of a new node."""
        value = self.one(number)
        if not isinstance(value, Tensor):
            raise NotProved("the type of a non-tensor is read")
        shape = self.world.facts.normals(value.shape)
        return value.dtype if name == "dtype" else shape if name == "shape" else len(shape)

    def round(self, repeat: ir.Repeat, instance: int) -> Value:
        """The value that a loop over instances makes of the first or of a later one."""
        self.scope.locals[repeat.locals[0]] = instance
        for target in repeat.inner:
            self.made.pop(target, None)
        return self.one(repeat.element)

    def of_slot(self, slot: int) -> Value:
        if slot == UNBOUND:
            raise Impossible(CONDITION)
        return None if slot == ABSENT else self.graph.tensor(slot)

    def of_absent(self, number: int, target: ir.Absent) -> list[Value]:
        return [None]

    def of_constant(self, number: int, target: ir.MakeConst) -> list[Value]:
        return [self.constant(target, None)]

    def of_call(self, number: int, target: ir.MakeCall) -> list[Value]:
        return [self.new_call(target)]

    def of_tuple(self, number: int, target: ir.MakeTuple) -> list[Value]:
        return [tuple([value for field in target.fields for value in self.several(field)])]

    def of_projection(self, number: int, target: ir.MakeProj) -> list[Value]:
        whole = self.one(target.base)
        if isinstance(whole, Family) and isinstance(self.case.evaluate, FamilyValues):
            return [whole.first if self.case.evaluate.number_of(target.index) == 0 else whole.later]
        k = self.case.value(target.index)
        if isinstance(whole, OpenParts) or isinstance(whole, EqualParts) and is_number(k):
            return [whole.part(k)]
        if not isinstance(whole, tuple) or type(k) is not int or not 0 <= k < len(whole):
            raise NotProved("a projection index may be out of range")
        return [whole[k]]

    def of_projections(self, number: int, target: ir.Projections) -> list[Value]:
        whole = self.one(target.base)
        if isinstance(whole, Family):
            return [whole]
        if not isinstance(whole, tuple):
            raise NotProved("the base of a projection is not a tuple")
        return list(whole)

    def of_instances(self, number: int, target: ir.SpliceInstances) -> list[Value]:
        found = super().of_instances(number, target)
        return found if self.world.counted else [Family(target.block, *found)]

    def of_repeat(self, number: int, target: ir.Repeat) -> list[Value]:
        values = self.case.evaluate
        if target.over is None or target.condition is not None or not isinstance(values, FamilyValues):
            return super().of_repeat(number, target)
        values.over_instances.add(target.locals[0])
        found = [self.round(target, k) for k in (0, 1)]
        values.over_instances.discard(target.locals[0])
        return [Family(target.over, *found)]

    def arm(self, target: ir.SelectTarget) -> int:
        found = target.arms[self.scope.branch(target.place, target.node)]
        if found is None:
            raise Impossible(CONDITION)
        return found

    def constant(self, made: ir.MakeConst, dtype: Any) -> Value:
        """A constant of the target; `dtype`: that of the operands beside it."""
        value = self.case.value(made.value)
        if made.dtype is not None:
            dtype = self.case.value(made.dtype)
        if made.as_tuple:
            return tuple(constant(as_term(item), (), dtype or default_dtype(item)) for item in value)
        if isinstance(value, Family):
            return Tensor((), dtype or "int64", unreadable, None, None, (value,))
        if isinstance(value, Listed):
            if made.splat_shape is not None:
                raise NotProved("reading a multi-dimensional constant is not supported")
            return listed_vector(self.world, value, dtype or "int64")
        if isinstance(value, Copies):
            self.world.need(value.count, "length of a constant")
            if made.splat_shape is not None:
                raise NotProved("reading a multi-dimensional constant is not supported")
            kind = dtype or default_dtype(value.value)
            if not _is_whole(value.value):
                self.world.need_real(kind)
            return constant(self.world.element_of(value.value), (value.count,), kind)
        if isinstance(value, tuple):
            value = tuple(_as_number(item) for item in value)
            if made.splat_shape is not None or not all(is_number(v) or isinstance(v, float) for v in value):
                raise NotProved("reading a multi-dimensional constant is not supported")
            return vector(value, dtype or default_dtype(value[0] if value else 0))
        shape = () if made.splat_shape is None else self.case.value(made.splat_shape)
        if not _is_whole(value):
            self.world.need_real(dtype or "float32")  # a type of whole numbers would round it
        if isinstance(value, ConstantValue):
            if made.splat_shape is not None:
                return constant(value.term, shape, dtype or value.leaf.dtype)
            whole = value.tensor()
            return Tensor(whole.shape, dtype or value.leaf.dtype, whole.at)
        return constant(self.world.element_of(value), shape, dtype or default_dtype(value))

    def new_call(self, call: ir.MakeCall) -> Value:
        """A call of the target.

        Constants without an element type take that of the first tensor among the operands.
        """
        scope = self.scope
        operator = call.operator if isinstance(call.operator, str) else scope.variables[call.operator[1]]
        operands, waiting = self.operands(call, None)
        dtypes: list[Any] = [o.dtype if isinstance(o, Tensor) else None for o in operands]
        for place, made in waiting:
            operands[place] = self.constant(made, self.rule.dialect.dtype_beside(operator, place, dtypes))
        signature = self.rule.dialect.operators.get(operator)
        if signature is None:
            raise NotProved(f"`{operator}` is not declared")
        attrs = Attributes()
        for spread in call.spreads:
            slot = scope.slot(spread.place, spread.node)
            if slot < 0:
                raise Impossible(CONDITION)
            own = self.case.copied(slot, operator, operands, list(signature.attributes))
            attrs.update(
                {n: v for n, v in own.items() if n not in spread.without and n in signature.attributes}
            )
        for name, value in call.attributes:
            copied = self.case.as_written(value, operator, operands)
            attrs[name] = self.case.value(value) if copied is None else copied
            if copied is None and name in SAYS_NOTHING and not _is_known(attrs.get(name)):
                raise NotProved(f"`{name}` of `{operator}` may lie outside its domain in the target")
        for name, spec in signature.attributes.items():
            if name not in attrs:
                if spec.default is REQUIRED:
                    raise NotProved(f"`{operator}` without `{name}` is not supported")
                attrs[name] = spec.default
        for name, _ in call.attributes:
            given = attrs.get(name)  # what is not settled yet is copied, and asking for it makes cases
            if _is_known(given) and contains(signature.attributes[name].domain, given) is False:
                raise NotProved(f"`{name}` of `{operator}` may lie outside its domain in the target")
        complete = with_attributes(signature, operands, attrs)
        self.world.need_types(signature, complete)
        return result_of(self.world, self.rule.dialect, operator, complete, attrs.plain(False))


def _is_known(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_known, value))
    return value is None or type(value) in (int, float, str, bool)


# ── declared operators ──

_UNWATCHED: Mapping[str, Any] = {
    "decisions": {}, "wanted": [], "looked_into": {}, "early": (), "said": {}, "vectors": frozenset(),
    "limits": {}, "chosen": (), "shaped": (), "bare": frozenset(), "fixed": {}, "has_infinities": False,
}  # fmt: skip


class _Unfolded(Case):
    """The value of a declared operator at a call. The rule is applied to a call whatever its value reads, so
    that what cannot be read is no reason to leave the case out."""

    def value(self, value: ir.Value) -> Any:
        try:
            return self.evaluate(value)
        except (*DEFINITE, *OPEN) as error:
            raise NotProved(f"a declared value cannot be evaluated: {error}") from error


def result_of(
    world: World, dialect: Dialect, operator: str, operands: Sequence[Value], attrs: Attrs
) -> Value:
    """The result of a call: that of the value that the operator is declared with, or its known meaning."""
    if operator in world.unknown:
        return uninterpreted(world, dialect, operator, operands, attrs)
    signature = dialect.operators[operator]
    meaning = signature.meaning
    if signature.operands:  # a call of one of several operators may list more than this one has places for
        while operands and operands[-1] is None and signature.operand(len(operands) - 1) is None:
            operands = operands[:-1]
    if meaning is None:
        return meaning_of(world, dialect, operator, operands, attrs)
    if any(isinstance(operand, Family) for operand in operands):
        raise NotProved(f"`{operator}` over all instances is not supported")
    # the dialect of the call has the operators that are declared beside it, too
    case = _Unfolded(Watched(rule=replace(meaning.rule, dialect=dialect), **_UNWATCHED), world)
    wanted = len(meaning.rule.nodes) - 1
    values: list[Any] = list(operands)
    if meaning.variadic:
        values[wanted - 1 :] = [tuple(operands[wanted - 1 :])]
    values += [None] * (wanted - len(values))
    call = case.graph.add
    case.scope.slots = [
        *(ABSENT if value is None else call(INPUT, (), Attributes(), value) for value in values),
        call(operator, (), Attributes(attrs), None),
    ]
    if not meaning.rule.target.outputs:
        result = meaning_of(world, dialect, operator, operands, attrs)
        if meaning.dtype is not None and isinstance(result, Tensor):
            result = Tensor(result.shape, case.value(meaning.dtype), result.at, result.flat, result.splat)
        _hold_to(case, meaning, result)
        return result
    (result,) = Target(case).several(meaning.rule.target.outputs[0])
    if meaning.shape is not None or meaning.dtype is not None:
        _hold_to(case, meaning, result)
    return result


def _hold_to(case: Case, meaning: ir.Meaning, result: Value) -> None:
    """Hold a declared value to the type that is declared beside it."""
    if not isinstance(result, Tensor):
        raise NotProved("a type is declared for a non-tensor")
    if meaning.shape is not None:
        shape = case.value(meaning.shape)
        case.world.need_true(len(shape) == len(result.shape), "the declared rank of a value")
        for declared, size in zip(shape, result.shape):
            case.world.need_equal(declared, size, "declared shape")
    if meaning.dtype is not None:
        case.world.need_same_dtype(case.value(meaning.dtype), result.dtype)

"""Values of a rule with `each` blocks, evaluated where sequences over instances are families.

Everything else is left to the engine's evaluator, node by node. Not here: rules without blocks, which it
evaluates alone.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from gslang.check import checked as ir
from gslang.engine.scope import evaluate
from gslang.engine.values import truth
from gslang.verify.prove.operators.families import Family, Sums, whole
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.watched import WatchingScope


class FamilyValues:
    """Evaluates the values of one case."""

    def __init__(self, world: World, scope: WatchingScope) -> None:
        self.world, self.scope = world, scope
        self.over_instances: set[int] = set()  # locals that stand for an instance

    def __call__(self, value: ir.Value) -> Any:
        # Long on purpose: a flat `match`, a form of value after the other.
        match value:
            case ir.Comprehension(element, (local, *_), _, None) if (block := value.over) is not None:
                return Family(block, *self.of_each(local, element))
            case ir.Comprehension(element, names, source, condition):
                result = []
                for item in self(source):
                    self.scope.locals.update({names[0]: item} if len(names) == 1 else dict(zip(names, item)))
                    if condition is None or truth(self(condition)):
                        result.append(self(element))
                return tuple(result)
            case ir.Local(number) if number in self.over_instances:
                raise NotProved("reading the index of an instance is not supported")
            case ir.AllInstances():
                raise NotProved("reading the number of instances is not supported")
            case ir.Let(place, number):
                return self.let(place, number)
            case ir.Builtin(name, arguments):
                return self.builtin(name, tuple(self(a) for a in arguments))
            case ir.SliceValue(base, None, upper, None) if upper is not None:
                whole_value = self(base)
                if isinstance(whole_value, Sums) and self(upper) == -1:
                    return Sums(whole_value.sizes, True)
                return self.plain(
                    ir.SliceValue(ir.Const(whole_value), None, ir.Const(self(upper)), None), whole_value
                )
            case ir.ItemValue(base, index):
                found = self(base)
                if isinstance(found, Family):
                    return found.first if self.number_of(index) == 0 else found.later
                return evaluate(ir.ItemValue(ir.Const(found), ir.Const(self(index))), self.scope)
            case ir.AllOf(items):
                return all(truth(self(item)) for item in items)
            case ir.AnyOf(items):
                return any(truth(self(item)) for item in items)
            case ir.IfValue(condition, then, otherwise):
                return self(then if truth(self(condition)) else otherwise)
            case ir.TupleValue(items):
                result = []
                for item in items:
                    result += list(self(item.value)) if isinstance(item, ir.SpreadValue) else [self(item)]
                return tuple(result)
            case ir.UnaryValue() | ir.BinaryValue() | ir.CompareValue() | ir.RangeValue() | ir.SliceValue():
                parts: dict[str, Any] = {f.name: getattr(value, f.name) for f in fields(value)}
                known = {k: self.constant(v) for k, v in parts.items() if not isinstance(v, str | None)}
                return evaluate(replace(value, **known), self.scope)  # type: ignore[arg-type]
            case ir.SelectValue():
                return self(self.scope.arm(value))
        return evaluate(value, self.scope)

    def constant(self, value: ir.Value) -> ir.Const:
        """A value that is no family, ready to stand in an expression."""
        found = self(value)
        if isinstance(found, (Family, Sums)):
            raise NotProved("sequences with one item per instance are not supported here")
        return ir.Const(found)

    def plain(self, value: ir.Value, read: object) -> object:
        """An expression of which a part is known not to be a family."""
        if isinstance(read, (Family, Sums)):
            raise NotProved("slices of a sequence with one item per instance are not supported")
        return evaluate(value, self.scope)

    def of_each(self, local: int, element: ir.Value) -> tuple[object, object]:
        """The values for the first instance and for a later one."""
        fresh = local not in self.over_instances
        self.over_instances.add(local)
        results = []
        for k in (0, 1):
            self.scope.locals[local] = k
            results.append(self(element))
        if fresh:
            self.over_instances.discard(local)
        return results[0], results[1]

    def number_of(self, index: ir.Value) -> int:
        """The one of the two instances that an index denotes."""
        if index.local is not None and index.local in self.over_instances:
            return int(self.scope.locals[index.local])
        if isinstance(index, ir.Const) and index.value == 0:
            return 0
        raise NotProved("reading an instance by its index is not supported")

    def let(self, place: ir.Place, number: int) -> object:
        """A named value, in the instance that it belongs to."""
        before, instance = (
            self.scope.current,
            self.scope.current if isinstance(place, ir.Own) else self.scope.instance(place),
        )
        self.scope.current = instance
        try:
            result = self(self.scope.rule.lets[number])
        finally:
            self.scope.current = before
        if number in self.scope.watched:
            self.scope.sides.add((self.scope.watched[number], truth(result)))
        return result

    def builtin(self, name: str, arguments: tuple[object, ...]) -> object:
        """A built-in function: of a family where it has a meaning there."""
        first = arguments[0] if arguments else None
        if isinstance(first, Family):
            match name:
                case "sum":
                    return whole(self.world, first)
                case "cumsum":
                    return Sums(first, False)
                # where it does not hold, it may be another instance than these two that is to blame
                case "all":
                    holds = truth(first.first) and truth(first.later)
                    return holds and self.world.facts.choices.choose(2) == 0
        if any(isinstance(a, (Family, Sums)) for a in arguments):
            raise NotProved(f"`{name}` of a sequence with one item per instance is not supported")
        return evaluate(ir.Builtin(name, tuple(ir.Const(a) for a in arguments)), self.scope)

"""Attribute expressions and tests as Python source, for the generated matcher.

The same meaning as `values.evaluate` and `constraints.passes`, as one Python expression over local variables:
`v3` is the slot of pattern node 3, `c1` capture 1, `l0` a comprehension variable, `b5` the branch of
alternation 5, `w_f` the operator that variable `f` matched. Objects that are no literals live in the
matcher's namespace (`constant`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.arithmetic import BINARY, add, multiply, negative, subtract
from gslang.check.builtins import BUILTINS
from gslang.check.limits import bounded, collected, numbers, run_over, sliced
from gslang.dialect.onnx.versions import opset_for
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine import values
from gslang.engine.constraints import equals_elements, equals_rounded
from gslang.engine.externs import caller
from gslang.engine.rounds import work_of_round
from gslang.engine.uses import surroundings


class NotCompiled(Exception):
    """A construct that only the machine runs (templates)."""


@dataclass(slots=True)
class Namespace:
    """Objects that generated code refers to by name, and how it reaches the slots of templates' nodes.

    `inside`: None at the rule's own level; "first" or "next" where an instance is being matched (its slots
    are variables); "let" where a let is evaluated in an instance (its slots are `s[…]`). `lets`: variables
    that keep the values of lets.
    """

    rule: ir.CheckedRule
    objects: dict[str, object] = field(default_factory=dict)
    inside: str | None = None
    lets: dict[int, str] = field(default_factory=dict)
    keeps_lets: bool = False  # not inside a `lambda`, which could not set the variable
    # variable that counts the instances of a block → the block; `i3` is then the instance
    over: dict[int, int] = field(default_factory=dict)
    building: bool = False  # the code is a target's, and `first_new` the number of its first node
    loops: int = 0  # comprehensions around the code that is being written
    # target whose type is read → the variable of its node
    new_nodes: dict[int, str] = field(default_factory=dict)
    uncertain: frozenset[int] | None = None  # nodes that a match may lack: below alternatives, or optional

    def is_there(self, node: int) -> bool:
        """True if the node has a slot wherever it may be mentioned."""
        if self.uncertain is None:
            self.uncertain = _uncertain(self.rule)
        return node not in self.uncertain

    def slot(self, place: ir.Place, node: int) -> str:
        """The expression for the slot of a pattern node."""
        if self.rule.nodes[node].block is None:
            return f"v{node}"
        match place:
            case ir.Own():
                if self.inside is None:
                    raise NotCompiled("an instance's node outside it")
                return f"s[{node}]" if self.inside == "let" else f"v{node}"
            case ir.First(block):
                return f"v{node}" if self.inside == "first" else f"{self._first(block)}[{node}]"
            case ir.At(block, ir.Local(number)) if self.over.get(number) == block:
                return f"i{number}[{node}]"
            case ir.At(block, ir.Const(0)) if self.inside is None:
                return f"{self._first(block)}[{node}]"
            case ir.Prev() if self.inside == "let":  # of two instances that follow one another: `p` and `s`
                return f"p[{node}]"
            case ir.Prev():
                raise NotCompiled("the previous instance")
            case ir.At(block, index):
                return f"at(I{block}, {code_of(index, self)})[{node}]"

    def _first(self, block: int) -> str:
        """The first instance, when instances are matched; a block may have none."""
        least = self.rule.blocks[block].fewest
        surely = block == self.rule.output_block or self.inside == "next" or least is not None and least >= 1
        return f"I{block}[0]" if surely else f"first(I{block})"

    def constant(self, value: object) -> str:
        """Source for a value: a literal where its `repr` is one, else a name."""
        if value is None or type(value) in (bool, int, str) or (type(value) is float and value - value == 0):
            return repr(value)
        if type(value) is tuple and all(type(item) in (int, str, bool) for item in value):
            return repr(value)
        for name, known in self.objects.items():
            if known is value:
                return name
        name = f"k{len(self.objects)}"
        self.objects[name] = value
        return name


UNSET = object()  # a let that was not evaluated yet


def written_out(rule: ir.CheckedRule) -> int:
    """The number of parts of the named values of a rule, with all names in them expanded."""
    sizes: dict[int, int] = {}

    def size(part: object) -> int:
        if isinstance(part, ir.Let):
            if part.let not in sizes:
                sizes[part.let] = size(rule.lets[part.let])
            return sizes[part.let]
        if isinstance(part, tuple):
            return 1 + sum(map(size, part))
        return 1 + sum(size(getattr(part, f.name)) for f in fields(part)) if is_dataclass(part) else 1

    return max((size(ir.Let(ir.OWN, number)) for number in range(len(rule.lets))), default=0)


def _uncertain(rule: ir.CheckedRule) -> frozenset[int]:
    found = {k for k, node in enumerate(rule.nodes) if node.optional}
    stack = [branch for node in rule.nodes if isinstance(node, ir.AltNode) for branch in node.branches]
    found.update(k for k, node in enumerate(rule.nodes) if isinstance(node, ir.AltNode))
    while stack:
        node = stack.pop()
        if node not in found or isinstance(rule.nodes[node], ir.AltNode):
            found.add(node)
            stack += [child for child in rule.nodes[node].below if child not in found]
    return frozenset(found)


def unknown(why: str) -> Any:
    raise UnknownValue(why)


def conjunction(items: Sequence[Callable[[], object]], negate: bool) -> bool:
    """Kleene's `and` of items, or of their negations."""
    failure: BaseException | None = None
    for item in items:
        try:
            if values.truth(item()) == negate:
                return False
        except values.FAILURES as error:
            failure = error
    if failure is not None:
        raise UnknownValue(str(failure))
    return True


def one_of(tests: Sequence[Callable[[], object]]) -> bool:
    """Alternatives of a constraint: unknown is as good as false, since only true passes."""
    for test in tests:
        try:
            if test():
                return True
        except values.FAILURES:
            continue
    return False


def first_instance(instances: list[dict[int, int]]) -> dict[int, int]:
    if not instances:
        raise UnknownValue("no first instance")
    return instances[0]


def instance_at(instances: list[dict[int, int]], number: object) -> dict[int, int]:
    if type(number) is not int or not -len(instances) <= number < len(instances):
        raise UnknownValue(f"no instance {number}")
    return instances[number]


def equal_attributes(a: object, b: object) -> bool:
    """True if two calls of one operator are given the same attributes: then each one is equal, defaults
    included."""
    if a is b:
        return True
    try:
        return bool(a == b)
    except ValueError:  # arrays
        return False


def select(chosen: int, arms: Sequence[Callable[[], object] | None]) -> object:
    arm = arms[chosen] if chosen >= 0 else None
    if arm is None:
        raise UnknownValue("no arm for this alternative")
    return arm()


RUNTIME: dict[str, object] = {
    "unknown": unknown,
    "conjunction": conjunction,
    "select": select,
    "equal_attributes": equal_attributes,
    "one_of": one_of,
    "first": first_instance,
    "at": instance_at,
    "UNSET": UNSET,
    "equal": values.equal,
    "truth": values.truth,
    "BINARY": BINARY,
    "plus": add,
    "minus": subtract,
    "times": multiply,
    "negative": negative,
    "bounded": bounded,
    "collected": collected,
    "numbers_in": numbers,
    "run_over": run_over,
    "sliced": sliced,
    "COMPARE": values.COMPARE,
    "FAILURES": values.FAILURES,
    "read": values.read_attribute,
    "shape_of": values.shape_of,
    "ndim_of": values.ndim_of,
    "dtype_of": values.dtype_of,
    "call_attribute": values.call_attribute,
    "plain": values.plain,
    "equals_elements": equals_elements,
    "equals_rounded": equals_rounded,
    "constant_of": values.constant_of,
    "opset_for": opset_for,
    "surroundings": surroundings,
}


def code_of(value: ir.Value, names: Namespace) -> str:
    """A Python expression with the value of an attribute expression; evaluating it may raise what `FAILURES`
    lists.
    """

    # Long on purpose: a flat `match`, a form of value after the other.
    def code(part: ir.Value) -> str:
        return code_of(part, names)

    def later(part: ir.Value) -> str:
        """The same, for a `lambda`."""
        before, names.keeps_lets = names.keeps_lets, False
        try:
            return f"lambda: {code_of(part, names)}"
        finally:
            names.keeps_lets = before

    match value:
        case ir.Const(constant):
            return names.constant(constant)
        case ir.NodeAttr(place, node, name):
            return _attribute(names.slot(place, node), node, name, names)
        case ir.Uses(what, place, node, operators, attributes, body):
            given = "".join(f"{name!r}: {code(part)}, " for name, part in attributes)
            wanted = "None" if operators is None else f"({code(operators)} or ())"
            asked = f"{names.slot(place, node)}, {'first_new' if names.building else 'None'}, {wanted}"
            return f"surroundings({what!r}, G, D, {asked}, {{{given}}}, {body!r})"
        case ir.TypeOf(target, name):
            return f"{name}_of(types[{names.new_nodes[target]}])"
        case ir.Captured(ir.Own(), number) if names.inside is None:
            return f"c{number}"
        case ir.Let(ir.Own(), number):
            if not names.keeps_lets or names.inside is not None:
                return code(names.rule.lets[number])
            variable = names.lets.setdefault(number, f"m{number}")
            return (
                f"({variable} if {variable} is not UNSET else ({variable} := "
                f"{code(names.rule.lets[number])}))"
            )
        case ir.Let(ir.First(block) | ir.At(block), number):
            where = (
                f"first(I{block})" if isinstance(value.place, ir.First)
                else f"at(I{block}, {code(value.place.index)})"  # type: ignore[union-attr]
            )
            inside, names.inside = names.inside, "let"
            kept, names.keeps_lets = names.keeps_lets, False
            try:
                return f"(lambda s: {code(names.rule.lets[number])})({where})"
            finally:
                names.inside, names.keeps_lets = inside, kept
        case ir.Local(number):
            return f"l{number}"
        case ir.InstanceIndex(block):
            if names.inside not in ("first", "next"):
                raise NotCompiled("the number of an instance outside it")
            return f"x{block}"
        case ir.Opset():
            return f"opset_for(G.meta, {names.rule.opset!r})"
        case ir.Length(block):
            return f"len(I{block})"
        case ir.Instances(block):
            return f"tuple(range(len(I{block})))"
        case ir.IsAbsent(place, node):
            slot = names.slot(place, node)
            return f"({slot} == -1 if {slot} != -2 else unknown('unmatched'))"
        case ir.SameNode((place1, node1), (place2, node2)):
            left, right = names.slot(place1, node1), names.slot(place2, node2)
            if names.is_there(node1) and names.is_there(node2):
                return f"({left} == {right})"
            return f"({left} == {right} if {left} != -2 and {right} != -2 else unknown('unmatched'))"
        case ir.UnaryValue("-", operand):
            return f"negative({code(operand)})"
        case ir.UnaryValue(_, operand):
            return f"(not {truth_code(operand, names)})"
        case ir.BinaryValue("-", left, right):
            return f"minus({code(left)}, {code(right)})"
        case ir.BinaryValue("+", left, right):
            return f"plus({code(left)}, {code(right)})"
        case ir.BinaryValue("*", left, right):
            return f"times({code(left)}, {code(right)})"
        case ir.BinaryValue(operator, left, right):
            return f"BINARY[{operator!r}]({code(left)}, {code(right)})"
        case ir.CompareValue("==", left, right):
            return f"equal({code(left)}, {code(right)})"
        case ir.CompareValue("!=", left, right):
            return f"(not equal({code(left)}, {code(right)}))"
        case ir.CompareValue(operator, left, right):
            return f"COMPARE[{operator!r}]({code(left)}, {code(right)})"
        case ir.AllOf(items):
            return f"conjunction(({''.join(f'{later(i)}, ' for i in items)}), False)"
        case ir.AnyOf(items):
            return f"(not conjunction(({''.join(f'{later(i)}, ' for i in items)}), True))"
        case ir.IfValue(condition, then, otherwise):
            return f"({code(then)} if truth({code(condition)}) else {code(otherwise)})"
        case ir.SelectValue(ir.Own(), node, arms):
            parts = "".join("None, " if arm is None else f"{later(arm)}, " for arm in arms)
            return f"select(b{node}, ({parts}))"
        case ir.TupleValue(items):
            parts = "".join(
                f"*{code(i.value)}, " if isinstance(i, ir.SpreadValue) else f"{code(i)}, " for i in items
            )
            return f"({parts})" if all(i.is_single for i in items) else f"bounded(({parts}))"
        case ir.ItemValue(base, index):
            return f"plain({code(base)}[{code(index)}])"
        case ir.SliceValue(base, lower, upper, step):
            bounds = ", ".join("None" if part is None else code(part) for part in (lower, upper, step))
            return f"sliced({code(base)}, {bounds})"
        case ir.RangeValue(lower, upper):
            return f"numbers_in({code(lower)}, {code(upper)} + 1)"
        case ir.Comprehension():
            return _comprehension(value, names)
        case ir.Builtin(name, arguments):
            return f"{names.constant(BUILTINS[name])}({', '.join(map(code, arguments))})"
        case ir.Extern(arguments=arguments):
            return f"{names.constant(caller(value))}({', '.join(map(code, arguments))})"
    raise NotCompiled(type(value).__name__)


def _comprehension(loop: ir.Comprehension, names: Namespace) -> str:
    facts = f"{names.loops == 0}, {work_of_round(loop)}"
    if (block := loop.over) is not None:
        names.over[loop.locals[0]] = block
        over = instances_code(loop.locals[0], block, f"run_over(I{block}, {facts})")
    else:
        kept, names.keeps_lets = names.keeps_lets, False  # Python allows no assignment there
        over = (
            f"{', '.join(f'l{v}' for v in loop.locals)} in run_over({code_of(loop.source, names)}, {facts})"
        )
        names.keeps_lets = kept
    names.loops += 1
    where = "" if loop.condition is None else f" if truth({code_of(loop.condition, names)})"
    element = code_of(loop.element, names)
    names.loops -= 1
    return f"collected({element} for {over}{where})"


def instances_code(number: int, block: int, instances: str = "") -> str:
    """`… in …` of a loop in which `l3` counts the instances of a block, and `i3` is each."""
    return f"l{number}, i{number} in enumerate({instances or f'I{block}'})"


def truth_code(value: ir.Value, names: Namespace) -> str:
    """A Python expression for a condition: a bool, or it raises what `FAILURES` lists."""
    code = code_of(value, names)
    return code if ir.is_true_or_false(value) else f"truth({code})"


def _attribute(slot: str, node: int, name: str, names: Namespace) -> str:
    """Reading an attribute; with one possible operator its default is known already."""
    pattern = names.rule.nodes[node]
    if isinstance(pattern, ir.CallNode) and name not in ("shape", "dtype", "ndim", "op", "kind", "name"):
        return call_attribute(pattern, slot, name, names)
    if names.is_there(node):
        if name in ("shape", "dtype", "ndim"):
            return f"{name}_of(types[{slot}])"
        return f"read(G, D, {slot}, {name!r})"
    return f"(read(G, D, {slot}, {name!r}) if {slot} >= 0 else unknown('unmatched'))"


def call_attribute(pattern: ir.CallNode, slot: str, name: str, names: Namespace) -> str:
    if len(pattern.operators) == 1:
        signature = names.rule.dialect.get(pattern.operators[0])
        if (
            signature is not None and name in signature.attributes
            and all(o.name != name for o in signature.operands)
        ):
            if name in signature.defaults:
                return f"attrs[{slot}].get({name!r}, {names.constant(signature.defaults[name])})"
            return f"attrs[{slot}][{name!r}]"
    return f"call_attribute(G, D, {slot}, {name!r})"



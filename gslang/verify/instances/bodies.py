"""Bodies of instances: what a rule says that a body computes, as a graph in an attribute of a call (ONNX).

A body is made as a graph of its own, whose inputs are the values that it reads from outside, and written as
ONNX does: what it reads is named, and stands last among the operands of the call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from math import prod
from random import Random
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.check import checked as ir
from gslang.dialect.domain_values import draw
from gslang.dialect.onnx.attributes import Body, body_of, captures_of, with_common_captures
from gslang.dialect.onnx.messages import messages
from gslang.dialect.onnx.versions import OPSETS, history
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import UNKNOWN, TensorType, TupleType, Type, is_static
from gslang.engine.scope import evaluate, operators_named
from gslang.engine.values import FAILURES
from gslang.formats.json_writer import own_keys
from gslang.formats.onnx.model_graph import read_message
from gslang.formats.onnx.outside import inner_graph
from gslang.formats.onnx.records import KEY, ModelRecord
from gslang.formats.onnx.text import onnx_text
from gslang.formats.onnx.writer import onnx_model
from gslang.graph.graph import ABSENT, LEAVES, Graph
from gslang.graph.inference import infer_node
from gslang.graph.inner_graph import READ
from gslang.verify.instances.leaves import Leaves, Misfit
from gslang.verify.instances.operand_types import operand_types
from gslang.verify.instances.scans import choose_inputs, choose_outputs
from gslang.verify.instances.surround import INSIDE

_NUMBERS: Final = (2.0, 1.0, 0.5, -1.0, 3.0)
_NUMBERS_OF: Final = ("float32", "float64", "float16", "int64", "int32")
_ALIKE: Final = 0.4  # how often two bodies that are left open are the same
_OWN: Final = 0.2  # how often a value that is left open is a constant of the body
_AFTER: Final = 0.5  # how often a call follows those that are wished for
_ONE_OPERAND: Final = ("Neg", "Relu", "Abs")
_OUTER: Final = "outer"  # how names of outer values begin
_MOST: Final = 12  # calls that are added to a body


def add_call(
    making: Leaves,
    number: int,
    call: ir.CallNode,
    operator: str,
    operands: Sequence[int],
    attrs: dict[str, Any],
    rng: Random,
) -> int:
    """The node of a call with bodies, pattern node `number`: those that the rule describes, and some where it
    leaves them open, with the calls that are wished for.

    Raises `Misfit`, and what evaluations may fail with.
    """
    graph = making.graph
    _read_bodies(making)
    signature = making.rule.dialect.operators[operator]
    stated = {c.field: c.test for c in call.tests if isinstance(c.test, ir.Computes)}
    read = _captured(making, call, signature, operands)
    formal = operands[: len(operands) - len(read)]
    types = [graph.types[slot] if slot >= 0 else None for slot in formal]
    fixed = {constraint.field for constraint in call.tests}
    given = _inputs(operator, types, attrs, fixed, rng)
    count = max([len(test.outputs) for test in stated.values()], default=1)
    results: list[list[Type | None]] = []
    before: Body | None = None  # that is left open
    wished = [value for (node, field), value in making.wishes.items() if node == number and INSIDE in field]
    for name, spec in signature.attributes.items():
        if spec.types[0].base == "graph" and not isinstance(attrs.get(name), Body):
            left = [slot for slot in read if f"{_OUTER}{slot}" not in captures_of(attrs.values())]
            inside = [] if name in stated else [w for w in wished if w[0].body in (name, None)]
            if before and name not in stated and not left and not inside and rng.random() < _ALIKE:
                attrs[name] = before
                results.append(results[-1])
                continue
            made = _Making(making, given, left or read, rng)
            attrs[name] = made.body(stated.get(name, _any_outputs(operator, types, attrs, count)), inside)
            wished = [w for w in wished if w[0].body or not inside]
            results.append(made.results)
            before = None if name in stated else attrs[name]
    shared = with_common_captures(attrs, signature.attributes)
    captures = [int(name.removeprefix(_OUTER)) for name in captures_of(shared.values())]
    if sorted(captures) != sorted(read):
        raise Misfit("the bodies read values that are not operands of the call")
    outputs = [each[0] if all(t == each[0] for t in each) else _same_kind(each) for each in zip(*results)]
    fields = _results(operator, types, outputs, attrs, fixed, rng)
    slot = graph.add(operator, (*formal, *captures), shared)
    graph.types[slot] = TupleType(tuple(fields))
    return slot


def _read_bodies(making: Leaves) -> None:
    """Let the matcher look into the bodies of a new graph."""
    meta, latest = making.graph.meta, {"": history().latest}
    if READ not in meta:
        message = messages().ModelProto(ir_version=messages().IR_VERSION)
        message.opset_import.add(domain="", version=latest[""])
        meta[OPSETS] = meta["x-onnx-opsets"] = latest
        meta[KEY] = ModelRecord(message, "", latest, frozenset())
        meta[READ] = partial(inner_graph, read_message, making.rule.dialect)


def _captured(
    making: Leaves, call: ir.CallNode, signature: Signature, operands: Sequence[int]
) -> list[int]:
    """The operands that bodies read, each once."""
    outer = {
        making.scope.slot(part.place, part.node)
        for test in call.tests if isinstance(test.test, ir.Computes)
        for part in _parts(test.test.outputs) if isinstance(part, ir.OuterValue)
    }
    last = [
        slot
        for k, slot in enumerate(operands)
        if (spec := signature.operand(k)) is not None and spec.name == "captured" or slot in outer
    ]
    return list(dict.fromkeys(last))


def _parts(parts: Sequence[ir.BodyPart | None]) -> list[ir.BodyPart]:
    """Values in a body, those that they are made of included."""
    found: list[ir.BodyPart] = []
    for part in parts:
        if part is not None:
            below: Sequence[ir.BodyPart | None] = getattr(part, "operands", getattr(part, "parts", ()))
            found += [part, *_parts([part.call] if isinstance(part, ir.BodyResult) else below)]
    return found


def _inputs(
    operator: str, types: Sequence[Type | None], attrs: dict[str, object], fixed: Collection[str], rng: Random
) -> list[Type | None]:
    """The types of a body's own inputs. `types`: of the call's own operands; `fixed`: the attributes that the
    rule speaks of.
    """
    match operator:
        case "If":
            return []
        case "Loop":
            return [TensorType((), "int64"), TensorType((), "bool"), *types[2:]]
        case "Scan":
            return choose_inputs(attrs, fixed, types, rng)
    raise Misfit(f"cannot generate bodies for `{operator}`")


def _any_outputs(
    operator: str, types: Sequence[Type | None], attrs: Attrs, count: int
) -> ir.Computes:
    """Outputs of a body that is left open: what goes from round to round stays as it is. `count`: of those of
    the other body of an `If`.
    """
    match operator:
        case "Loop":
            return ir.Computes(tuple([ir.BodyInput(k + 1) for k in range(len(types) - 1)]))
        case "Scan":
            states = len(types) - int(attrs["num_scan_inputs"])
            return ir.Computes((*[ir.BodyInput(k) for k in range(states)], ir.Anything()))
    return ir.Computes((ir.Anything(),) * count)


def _results(
    operator: str, types: Sequence[Type | None], made: Sequence[Type | None], attrs: dict[str, object],
    fixed: Collection[str], rng: Random,
) -> list[Type | None]:
    """The types of the results of a call. `made`: of the outputs of its bodies."""
    match operator:
        case "Loop":
            carried = len(types) - 2
            if len(made) <= carried:
                raise Misfit("a loop body with fewer results than carried values")
            return [*made[1 : carried + 1], *map(_collected, made[carried + 1 :])]
        case "Scan":
            return choose_outputs(attrs, fixed, types, made, rng)
    return list(made)


def _collected(type_: Type | None) -> Type | None:
    """The values of all rounds, however many there are."""
    if not isinstance(type_, TensorType) or type_.shape is None:
        return None
    return TensorType((UNKNOWN, *type_.shape), type_.dtype)


def _same_kind(types: Sequence[Type | None]) -> Type | None:
    """The type of a result that is of one of several types. Raises `Misfit` for different element types,
    which branches do not have.
    """
    dtypes = {t.dtype if isinstance(t, TensorType) else None for t in types}
    if len(dtypes - {None}) > 1:
        raise Misfit("branches with results of different element types")
    return TensorType(None, dtypes.pop()) if len(dtypes) == 1 else None


class _Making:
    """One body: its graph so far. `results`: the types of its outputs."""

    def __init__(
        self, making: Leaves, inputs: Sequence[Type | None], outer: Sequence[int], rng: Random
    ) -> None:
        self.making, self.outer, self.rng = making, outer, rng
        self.graph = Graph("onnx", "body")
        self.graph.meta[OPSETS] = self.graph.meta["x-onnx-opsets"] = {"": history().latest}
        self.own = [self.graph.add_input(f"input{k}", type_) for k, type_ in enumerate(inputs)]
        self.shown: dict[int, int] = {}  # outer node → its node here
        self.results: list[Type | None] = []

    def body(self, stated: ir.Computes, inside: Sequence[tuple[ir.Uses, object]]) -> Body:
        """The body with these outputs, one of which goes through the calls that are wished for."""
        graph, outputs = self.graph, list[int]()
        waiting = [uses for uses, count in inside if isinstance(count, int) for _ in range(min(count, _MOST))]
        for part in stated.outputs:
            node = self.value(part, None)
            for uses in tuple(waiting):
                if (made := self.wished(uses, node)) is not None:
                    node = made
                    waiting.remove(uses)
            if inside and self.rng.random() < _AFTER:
                node = self.something(node)
            # an outer value needs a name of its own here
            if graph.op[node] in LEAVES and node not in self.own or node in outputs:
                node = self.typed(graph.add("Identity", (node,), {}))
            outputs.append(node)
        graph.set_outputs(outputs)
        self.results = [graph.types[node] for node in outputs]
        message = onnx_model(graph).graph
        own = [value for value in message.input if not value.name.startswith(_OUTER)]
        del message.input[:]
        message.input.extend(own)
        return body_of(message)

    def wished(self, uses: ir.Uses, node: int) -> int | None:
        """A call that counts for a question about the body, all of its operands being `node`; None if there
        is none."""
        scope, dtype = self.making.scope, getattr(self.graph.types[node], "dtype", "")
        names = ("Neg",) if uses.operators is None else operators_named(uses.operators, scope)
        attributes = {name: evaluate(value, scope) for name, value in uses.attributes}
        every = (names,) if isinstance(names, str) else names
        for name in self.rng.sample(every, len(every)):
            signature = self.making.rule.dialect.get(name)
            if signature is None or dtype not in operand_types(name, 0):
                continue
            count = max(1, sum(not operand.optional for operand in signature.operands))
            told = signature.call((self.graph.types[node],) * count, {})
            left = [key for key in signature.attributes if key not in attributes and self.rng.random() < 0.5]
            open_ = {key: draw(signature.attributes[key].domain, self.rng, told) for key in left}
            made = self.graph.add(name, (node,) * count, {**open_, **attributes})
            try:
                return self.typed(made)
            except FAILURES:
                self.graph.discard_from(made)
        return None

    def value(self, part: ir.BodyPart, dtype: str | None) -> int:
        """The node of a value in the body; a constant is of type `dtype`, if that is known."""
        match part:
            case ir.Anything():
                choices = [*(self.seen(slot) for slot in self.outer), *self.own]
                if not choices:
                    return self.constant(part, dtype)
                chosen = self.rng.choice(choices)
                return self.something(self.like(chosen) if self.rng.random() < _OWN else chosen)
            case ir.OuterValue():
                return self.seen(self.making.scope.slot(part.place, part.node))
            case ir.BodyInput(index):
                if index >= len(self.own):
                    raise Misfit(f"the body has no input {index}")
                return self.own[index]
            case ir.BodyConstant(test):
                return self.constant(test, dtype)
            case ir.BodyResult(call, index):
                return self.typed(self.graph.add_proj(self.value(call, dtype), index))
            case ir.BodyChoice(parts):
                return self.value(self.rng.choice(parts), dtype)
            case ir.BodyCall():
                return self.call(part, dtype)

    def seen(self, slot: int) -> int:
        """The node that stands for an outer one."""
        if slot < 0:
            raise Misfit("a body reads an absent operand")
        if slot not in self.shown:
            type_ = self.making.graph.types[slot]
            if getattr(type_, "dtype", None) is None:
                raise Misfit("a body reads a value of unknown type")
            self.shown[slot] = self.graph.add_input(f"{_OUTER}{slot}", type_)
        return self.shown[slot]

    def something(self, node: int) -> int:
        """A value of the same type as a node: itself or, of numbers, what a call makes of it."""
        dtype = getattr(self.graph.types[node], "dtype", None) or ""
        operator = self.rng.choice((None, *_ONE_OPERAND, "Add", "Mul"))
        if operator is None or not dtype.startswith(("float", "int")):
            return node
        return self.typed(self.graph.add(operator, (node,) * (1 + (operator not in _ONE_OPERAND)), {}))

    def like(self, node: int) -> int:
        """A constant of numbers with the type of a node, if that is known; else the node."""
        import numpy

        type_ = self.graph.types[node]
        if not isinstance(type_, TensorType) or not is_static(type_.shape) or type_.dtype not in _NUMBERS_OF:
            return node
        shape = tuple([d for d in type_.shape or () if isinstance(d, int)])
        drawn = [self.rng.choice(_NUMBERS) for _ in range(prod(shape))]
        return self.graph.add_const(numpy.array(drawn, type_.dtype).reshape(shape), type_)

    def constant(self, test: ir.Test, dtype: str | None) -> int:
        """A constant that passes: one element."""
        import numpy

        from gslang.dialect.dtypes import numpy_dtype

        value = self.making.concrete(test, self.rng.choice(_NUMBERS))
        dtype = "bool" if isinstance(value, bool) else dtype or self.making.dtype
        array = numpy.asarray(value).astype(numpy_dtype(dtype))
        return self.graph.add_const(array, TensorType(tuple(array.shape), array.dtype.name))

    def call(self, call: ir.BodyCall, dtype: str | None) -> int:
        """A call of the body: constants last, of the type of what stands beside them."""
        dialect, graph = self.making.rule.dialect, self.graph
        operands = [ABSENT] * len(call.operands)
        places = sorted(range(len(operands)), key=lambda k: isinstance(call.operands[k], ir.BodyConstant))
        for k in places:
            part = call.operands[k]
            if part is not None:
                types = [getattr(graph.types[o], "dtype", None) if o >= 0 else None for o in operands]
                wanted = dialect.operand_dtype((call.operator,), k)
                wanted = wanted or dialect.dtype_beside(call.operator, k, types) or dtype
                operands[k] = self.value(part, wanted)
        if call.swappable and self.rng.random() < 0.3:
            operands.reverse()
        declared = dialect.operators[call.operator]
        told = declared.call(tuple([graph.types[o] if o >= 0 else None for o in operands]), {})
        attrs: dict[str, Any] = {}
        for constraint in call.constraints:
            default = draw(declared.attributes[constraint.field].domain, self.rng, told)
            attrs[constraint.field] = self.making.concrete(constraint.test, default)
        for k, operand in enumerate(operands):  # inference does not look, and no runtime takes others
            dtype = getattr(graph.types[operand], "dtype", None) if operand >= 0 else None
            allowed = operand_types(call.operator, k)
            if dtype is not None and allowed and dtype not in allowed:
                raise Misfit(f"`{call.operator}` in a body does not accept {dtype}")
        return self.typed(graph.add(call.operator, operands, attrs))

    def typed(self, node: int) -> int:
        """Infer the type of a new node, which is returned. Raises `TypeInferenceError`."""
        self.graph.types[node] = infer_node(self.graph, self.making.rule.dialect, node)
        return node


def as_model(graph: Graph) -> str:
    """A graph whose calls have bodies as a model in ONNX's text form."""
    model = graph.copy()
    model.meta = own_keys(graph.meta)  # it was read from no file
    return onnx_text(model)


def as_model_to_match(rule: ir.CheckedRule, graph: Graph) -> str:
    """The same, as a file to paste: the graph that a rule must leave alone."""
    return f"# counterexample.onnxtxt: {rule.name} must not match\n{as_model(graph)}"

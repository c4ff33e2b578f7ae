"""Random graphs that nearly match a given random rule: copies of its source, permuted, damaged, with other
users.

A graph is a list of `(operator, operands, attributes)`; leaves are "input", "param" and "const" (attribute
`value`), tuples "tuple", projections "proj" (attribute `index`); an operand left out is -1. Some nodes have
dimensions (`DIMS`): a tuple with None for what is unknown, or None; all others are 2 × 2.
"""

from __future__ import annotations

from random import Random
from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import UNKNOWN, TensorType, TupleType
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_node
from gslang.graph.inner_graph import READ, InnerGraph
from tests.engine.body_data import NAMES, Body, random_body
from tests.engine.rule_data import (
    BINARY,
    COMMUTATIVE,
    DEFAULT_AXIS,
    UNARY,
    VARIABLES,
    WITH_AXIS,
    Call,
    Choice,
    Leaf,
    Projection,
    Rule,
    Tuple,
    below,
    reachable,
    spell_out,
)  # fmt: skip

Data = list[tuple[str, tuple[int, ...], dict[str, Any]]]
LEAVES = ("input", "param", "const")
TYPE = TensorType((2, 2), "float32")
DIMS = "dims"
COMMON = 5  # the leaves that every graph begins with


def random_graph(random: Random, rule: Rule) -> tuple[Data, list[int]]:
    """Nodes and outputs."""
    graph: Data = [
        ("input", (), {}), ("input", (), {}), ("param", (), {}), ("const", (), {"value": 1.0}),
        ("const", (), {"value": 2.0}),
    ]
    assert len(graph) == COMMON
    for _ in range(1 if len(rule.nodes) > 7 or random.random() < 0.5 else 2):
        counts = tuple(random.choice((0, 1, 1, 2, 2, 2, 3, 3)) for _ in rule.templates)
        _copy(random, spell_out(rule, counts) if counts else rule, graph)
    if any(isinstance(n, Leaf) and n.shape is not None for n in rule.nodes) or any(
        c[0] in ("dim", "shapes") for c in rule.where
    ):
        graph = [_with_dims(random, entry) for entry in graph]
    used = {o for _, operands, _ in graph for o in operands}
    ends = [g for g, node in enumerate(graph) if node[0] not in LEAVES and g not in used]
    ends += [
        g for g, node in enumerate(graph) if node[0] not in LEAVES and g in used and random.random() < 0.05
    ]
    random.shuffle(ends)
    return graph, ends


def _with_dims(
    random: Random, entry: tuple[str, tuple[int, ...], dict[str, Any]]
) -> tuple[str, tuple[int, ...], dict[str, Any]]:
    operator, operands, attributes = entry
    if operator in ("const", "tuple", "split") or random.random() < 0.6:
        return entry
    return (
        operator, operands,
        {**attributes, DIMS: random.choice(((3, 2), (2,), (2, None), (None, 2), (None, None), None, ()))},
    )


def _copy(random: Random, plain: Rule, graph: Data) -> None:
    choice = {
        k: random.randrange(len(n.branches)) for k, n in enumerate(plain.nodes) if isinstance(n, Choice)
    }
    operators, axis = (
        {name: random.choice(all_of) for name, all_of in VARIABLES.items()}, random.choice((-1, -1, 0, 1)),
    )
    place: dict[int, int] = {}
    todo = reachable(plain.nodes, plain.outputs, choice)
    while todo:
        ready = [
            k
            for k in todo
            if isinstance(plain.nodes[k], Leaf) or all(o in place for o in _chosen(plain, k, choice))
        ]
        k = random.choice(ready)
        todo.remove(k)
        node = plain.nodes[k]
        if isinstance(node, Choice):
            place[k] = place[node.branches[choice[k]]]
        elif isinstance(node, Leaf):
            place[k] = _leaf(random, node, graph)
        elif isinstance(node, Call) and node.bodies:
            graph.append(_with_bodies(random, node, place))
            place[k] = len(graph) - 1
        else:
            graph.append(_damaged_node(random, node, [place[o] for o in below(node)], operators, axis))
            place[k] = len(graph) - 1
        if random.random() < 0.05:
            graph.append((random.choice(UNARY), (_tensor(random, graph),), {}))


def _with_bodies(
    random: Random, call: Call, place: dict[int, int]
) -> tuple[str, tuple[int, ...], dict[str, Any]]:
    """A call whose bodies are nearly what the rule says; what they read stands in some order."""
    which, *read = below(call)
    bodies = {
        name: random_body(random, stated, tuple(read), place) for name, stated in zip(NAMES, call.bodies)
    }
    slots = [place[k] for k in read]
    if random.random() < 0.5:
        random.shuffle(slots)
    return call.operators[0], (place[which], *slots), dict(bodies)


def _chosen(plain: Rule, k: int, choice: dict[int, int]) -> tuple[int, ...]:
    node = plain.nodes[k]
    return (node.branches[choice[k]],) if isinstance(node, Choice) else below(node)


def _leaf(random: Random, leaf: Leaf, graph: Data) -> int:
    if leaf.kind == "none" and random.random() < 0.95 or leaf.optional and random.random() < 0.5:
        return -1
    if leaf.kind in ("any", "none") or random.random() < 0.06:
        return _tensor(random, graph)
    wanted = {"var": ("input", "param"), "fixed": ("param", "const")}.get(leaf.kind, (leaf.kind,))
    if leaf.splat and random.random() < 0.6:
        graph.append(
            ("const", (), {"value": random.choice(((leaf.value,), (leaf.value,) * 2, (leaf.value, 1.5)))})
        )
        return len(graph) - 1
    fits = [
        g
        for g, node in enumerate(graph)
        if node[0] in wanted and (leaf.value is None or node[2].get("value") == leaf.value)
    ]
    return random.choice(fits)


def _tensor(random: Random, graph: Data) -> int:
    """Some node; one in two times one of the leaves."""
    tensors = [g for g, node in enumerate(graph) if node[0] not in ("tuple", "split")]
    return random.choice(tensors[:3] if random.random() < 0.5 else tensors)


def _damaged_node(
    random: Random, node: Any, slots: list[int], operators: dict[str, str], axis: int
) -> tuple[str, tuple[int, ...], dict[str, Any]]:
    """The graph node that a pattern node asks for, most of the time."""
    match node:
        case Tuple():
            if random.random() < 0.05 and slots:
                slots.reverse()
            return "tuple", tuple(slots), {}
        case Projection(index=index):
            return (
                "proj", tuple(slots),
                {"index": random.choice((0, 1)) if index is None or random.random() < 0.1 else index},
            )
    assert isinstance(node, Call)
    name = operators[node.variable] if node.variable else node.operators[0]
    attributes: dict[str, Any] = {}
    if name in DEFAULT_AXIS:
        value = (
            node.axis[1] if node.axis is not None and node.axis[0] == "is" and random.random() < 0.9 else axis
        )
        if name in WITH_AXIS and random.random() < 0.1:
            value = random.choice((-1, 0, 1))
        if name not in WITH_AXIS and (node.axis is None or value < 0):
            value = 0
        if value != DEFAULT_AXIS[name] or random.random() < 0.5:
            attributes["axis"] = value
    if name == "split":
        attributes["indices_or_sections"] = 2
    if name == "nn.pad":
        attributes["pad_width"] = ((0, 0), (0, 0))
    while slots and slots[-1] < 0 and (name == "nn.pad" or random.random() < 0.7):
        slots.pop()
    if random.random() < 0.05 and name not in ("split", "concatenate", "nn.pad", "my.pick") and slots:
        slots[random.randrange(len(slots))] = random.randrange(3)
    if name in COMMUTATIVE and random.random() < 0.5 or name in BINARY and random.random() < 0.05:
        slots.reverse()
    if random.random() < 0.04:
        name = random.choice(UNARY) if name in UNARY else random.choice(BINARY) if name in BINARY else name
    return name, tuple(slots), attributes


def name_of(slot: int, graph: Data) -> str | None:
    """The name of a node in the graph: of all leaves but constants, and of two calls in three."""
    operator = graph[slot][0]
    if operator in ("input", "param"):
        return f"x{slot}"
    return None if operator in ("const", "tuple", "proj") or slot % 3 == 0 else f"n{slot}"


def as_graph(data: Data, ends: list[int], type_of_all: TensorType | None = None) -> Graph:
    """The engine's graph: node k of the data is node k.

    Every tensor but constants is said to be of this type, without one of the data's.
    """
    import numpy

    graph = Graph()
    for k, (operator, operands, given) in enumerate(data):
        type = type_of_all or TensorType(
            given.get(DIMS, TYPE.shape)
            and tuple(UNKNOWN if d is None else d for d in given.get(DIMS, TYPE.shape)),
            "float32",
        )
        attributes = {name: value for name, value in given.items() if name != DIMS}
        match operator:
            case "input":
                graph.add_input(f"x{k}", type)
            case "param":
                graph.add_param(f"x{k}", type, numpy.ones((2, 2), "float32"))
            case "const":
                array = numpy.asarray(attributes["value"], "float32")
                graph.add_const(array, TensorType(array.shape, "float32"))
            case "tuple":
                graph.add("%tuple", operands, {}, TupleType((type,) * len(operands)))
            case "proj":
                graph.add_proj(operands[0], attributes["index"])
                graph.types[k] = type
            case "my.branch":
                graph.add(operator, operands, {name: repr(attributes[name]) for name in NAMES}, type)
            case _:
                graph.add(
                    operator, operands, attributes, TupleType((type, type)) if operator == "split" else type
                )
        graph.names[k] = name_of(k, data)
    graph.set_outputs(ends)
    graph.meta[READ] = lambda outer, node, name: _inner_graph(outer, data[node][2][name])
    return graph


def _inner_graph(outer: Graph, body: Body) -> InnerGraph:
    """Node k of the body is node k; constants outside are constants inside, as formats show them."""
    data: Data = []
    for operator, operands, attributes in body.nodes:
        if operator == "outer":
            value = outer.value(attributes["of"]) if outer.op[attributes["of"]] == "%const" else None
            known = None if value is None else value.tolist()
            data.append(
                ("input", (), {}) if known is None
                else ("const", (), {"value": tuple(known) if isinstance(known, list) else known})
            )
        else:
            data.append(("input" if operator == "own" else operator, operands, attributes))
    return InnerGraph(
        as_graph(data, list(body.outputs)),
        tuple(k for k, node in enumerate(body.nodes) if node[0] == "own"),
        {k: node[2]["of"] for k, node in enumerate(body.nodes) if node[0] == "outer"},
    )


def infer_all(graph: Graph, dialect: Dialect) -> bool:
    """Give every node the type that follows from the leaves'; False if some operands contradict each other.
    """
    try:
        for node in graph.in_order():
            graph.types[node] = infer_node(graph, dialect, node)
    except TypeInferenceError:
        return False
    return True


def show(data: Data, ends: list[int]) -> str:
    """The graph as text, for a failing case."""
    lines = [
        f"  %{k} = {operator}({', '.join(f'%{o}' for o in operands)}){attributes or ''}"
        for k, (operator, operands, attributes) in enumerate(data)
    ]
    return "\n".join([*lines, f"  outputs {', '.join(f'%{g}' for g in ends)}"])

"""ONNX models in which an operator that type inference does not survive takes what another such operator
gives, through functions, bodies and sizes that only the elements of vectors tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

FAR = 2**31
_RESULTS = {"t": [("t", 1)], "a": [("a", 7)], "o": [("n", 9), ("o", 1)], "z": [("z", 1)]}


def chained() -> Iterator[tuple[str, bytes]]:
    yield from _operators()
    yield from _divisions()
    yield from _bodies()
    yield from _functions()


def _operators() -> Iterator[tuple[str, bytes]]:
    def gathered(name: str, *nodes: Any, k: Any = (1, 2), **weights: Any) -> tuple[str, bytes]:
        last = _node("GatherND", "x j", "y")
        return f"chained_{name}.onnx", _model([*nodes, last], [_info("x"), _info("k", k, 7)], weights)

    cut, ends = _node("Pad", "a p", "j"), [0, -2, 0, -2]
    same = _node("Expand", "k s", "a")
    yield gathered("gather", _node("GatherND", "k i", "a"), cut, k=(5, 1, 2), i=[0], p=[0, 0, -3, 0, 0, -3])
    yield gathered("expand", same, cut, s=[1, 2], p=ends)
    yield gathered("einsum", _node("Einsum", "k", "a", equation="ij->ij"), cut, p=ends)
    yield gathered("expand_negative", _node("Expand", "k s", "j"), k=(1, 1), s=[1, -5])
    shape = [_node("Shape", "k", "a"), _node("Sub", "a b", "s")]
    yield gathered("elements", *shape, _node("Expand", "k s", "j"), k=(1, 1), b=[0, 7])
    yield gathered(
        "elements_twice", *shape, _node("Expand", "k s", "c"), _node("Expand", "c o", "j"), k=(1, 1),
        b=[0, 7], o=[1, 1],
    )
    many = [_node("Expand", f"a{n} s", f"a{n + 1}") for n in range(30)]
    yield gathered("many", _node("Expand", "k s", "a0"), *many, _node("Pad", "a30 p", "j"), s=[1, 2], p=ends)
    for operator in ("Tile", "Reshape"):
        yield gathered(operator, same, _node(operator, "a n", "j"), s=[1, 2], n=[1, -5])
    joined = _node("Pad", "a p", "b"), _node("Concat", "b b", "j", axis=1)
    yield gathered("concat", same, *joined, s=[1, 2], p=ends)
    yield (
        "chained_expand_far.onnx",
        _model(
            [_node("Expand", "o n", "s"), _node("Expand", "x s", "y")], [_info("x")], {"o": [1], "n": [FAR]}
        ),
    )


def _divisions() -> Iterator[tuple[str, bytes]]:
    """Divisions by zero in the compiled code of an operator."""
    from onnx import helper

    nodes = [_node("SplitToSequence", "w b", "s"), _node("ConcatFromSequence", "s", "y", axis=0)]
    scalar = helper.make_tensor("b", 7, [], [0])
    yield "chained_split_zero.onnx", _model(nodes, [], {"w": [1, 2, 3]}, tensors=[scalar])
    yield "chained_split_zero_input.onnx", _model(nodes, [_info("w", (4,))], tensors=[scalar])


def _bodies() -> Iterator[tuple[str, bytes]]:
    from onnx import helper

    def body(text: str, inputs: Sequence[Any] = ()) -> Any:
        nodes = [_node(*line.split(" | ")) for line in text.splitlines()]
        results = [_info(name, None, element) for name, element in _RESULTS[nodes[-1].output[0]]]
        return helper.make_graph(nodes, "body", list(inputs), results)

    inputs = [_info("x"), _info("k", (5, 1, 2), 7), _info("c", (), 9)]
    cut = {"i": [0], "p": [0, 0, -3, 0, 0, -3]}
    first = [_node("GatherND", "k i", "a"), _node("Pad", "a p", "j")]
    takes, other = body("GatherND | x j | t"), body("Relu | x | t")
    yield (
        "chained_if_body.onnx",
        _model([*first, _node("If", "c", "y", then_branch=takes, else_branch=other)], inputs, cut),
    )
    gives = body("GatherND | k i | b\nPad | b p | a")
    yield (
        "chained_if_result.onnx",
        _model(
            [_node("If", "c", "j", then_branch=gives, else_branch=gives), _node("GatherND", "x j", "y")],
            inputs, cut,
        ),
    )
    turn = body(
        "Identity | m | n\nGatherND | k i | b\nPad | b p | a\nGatherND | x a | o",
        [_info("it", (), 7), _info("m", (), 9)],
    )
    yield "chained_loop.onnx", _model([_node("Loop", "r ", "y", body=turn)], inputs, {**cut, "r": [1]})
    item = body("Pad | e p | a\nGatherND | x a | z", [_info("e", None, 7)])
    yield (
        "chained_scan.onnx",
        _model(
            [_node("Expand", "k s", "e"), _node("Scan", "e", "y", body=item, num_scan_inputs=1)], inputs,
            {"s": [5, 1, 2], "p": [0, -3, 0, -3]},
        ),
    )


def _functions() -> Iterator[tuple[str, bytes]]:
    """An attribute that is harmful is given where a function is called, or is its default."""
    from onnx import helper

    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    inputs = [_info("x"), _info("k", (1, 2), 7)]
    for operator, name, operands, value in (
        ("GatherND", "batch_dims", "a j", -3), ("LayerNormalization", "axis", "a a", 2**40),
        ("Split", "num_outputs", "a", 2**40),
        ("Einsum", "equation", " ".join(["a"] * 40), ",".join(["ij"] * 40) + ".j->i"),
    ):
        attribute = helper.make_attribute(name, value)
        inner = _node(operator, operands, "y")
        inner.attribute.add(name=name, ref_attr_name="r", type=attribute.type)
        given = helper.make_function("local", "F", ["a", "j"], ["y"], [inner], opsets, ["r"])
        call = _node("F", "x k", "y", domain="local", r=value)
        yield f"function_{operator}.onnx", _model([call], inputs, functions=[given])
        default = helper.make_function(
            "local", "F", ["a", "j"], ["y"], [inner], opsets, [], [helper.make_attribute("r", value)]
        )
        call = _node("F", "x k", "y", domain="local")
        yield f"function_default_{operator}.onnx", _model([call], inputs, functions=[default])
        passed = _node("F", "a j", "y", domain="local")
        passed.attribute.add(name="r", ref_attr_name="q", type=attribute.type)
        outer = helper.make_function("local", "H", ["a", "j"], ["y"], [passed], opsets, ["q"])
        call = _node("H", "x k", "y", domain="local", q=value)
        yield f"function_twice_{operator}.onnx", _model([call], inputs, functions=[outer, given])
        odd = _node(operator, operands, "y", **{name: value})
        odd.attribute[0].type = 0 if operator != "Einsum" else 2
        yield f"attribute_untyped_{operator}.onnx", _model([odd], [_info("a"), _info("j", (1, 2), 7)])


def _info(name: str, shape: Any = (2, 3, 4), element: int = 1) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, element, shape)


def _node(operator: str, operands: str, results: str, **attrs: Any) -> Any:
    from onnx import helper

    return helper.make_node(operator, operands.split(" "), results.split(" "), **attrs)


def _model(nodes: Any, inputs: Any, weights: Any = (), functions: Any = (), tensors: Any = ()) -> bytes:
    from onnx import helper

    made = [helper.make_tensor(name, 7, [len(v)], v) for name, v in dict(weights).items()]
    graph = helper.make_graph(nodes, "g", inputs, [_info("y", None)], [*made, *tensors])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)
    return bytes(model.SerializeToString(deterministic=True))

"""What the prover takes composed ONNX operators for, at concrete sizes, against the evaluator: every form of
their operands and attributes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.run import evaluate_node
from gslang.graph.graph import ABSENT, INPUT, Graph
from gslang.verify.prove.operators.constants import vector
from gslang.verify.prove.operators.domains import Attributes
from gslang.verify.prove.operators.onnx_images import COORDINATES
from gslang.verify.prove.operators.operators import meaning_of
from gslang.verify.prove.operators.tensors import Tensor, World
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import Budget, Choices
from gslang.verify.prove.terms.sizes import Size
from gslang.verify.prove.terms.terms import Atom, Term, read

ONNX = load_dialect("onnx")
Call = tuple[str, list[tuple[int, ...] | None], dict[str, Any]]
_FUNCTIONS = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "min": min,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "exp": math.exp,
    "sqrt": math.sqrt,
    "Erf": math.erf,
    "Tanh": math.tanh,
    "max": max,
    "truth": lambda x: float(x != 0),
    "log": math.log,
    "positive": lambda x: float(x > 0),
}


def calls() -> Iterator[Call]:
    """An operator, the shapes of its operands (None: absent) and its attributes."""
    for x in ((), (3,), (2, 3)):
        for how in ("none", "tanh"):
            yield "Gelu", [x], {"approximate": how}
        yield "com.microsoft.Gelu", [x], {}
    yield "com.microsoft.BiasGelu", [(2, 3), (3,)], {}
    yield "com.microsoft.FastGelu", [(2, 3)], {}
    yield "com.microsoft.FastGelu", [(2, 3), (3,)], {}
    for ta, tb, alpha in product((0, 1), (0, 1), (1.0, -0.5)):
        a, b = ((2, 4, 3) if ta else (2, 3, 4)), ((2, 5, 4) if tb else (2, 4, 5))
        yield "com.microsoft.FusedMatMul", [a, b], {"transA": ta, "transB": tb, "alpha": alpha}
        yield "com.microsoft.FusedMatMul", [a[1:], b], {"transA": ta, "transB": tb, "alpha": alpha}
    for attrs in (
        {},
        {"activation": "Relu"},
        {"activation": "Tanh"},
        {"activation": "Sigmoid"},
        {"activation": "LeakyRelu", "activation_params": (0.25,)},
    ):
        for bias, more in product((None, (4,)), (None, (1, 4, 3, 3))):
            yield "com.microsoft.FusedConv", [(1, 2, 3, 3), (4, 2, 1, 1), bias, more], attrs
    for attrs in (
        {"activation": "Relu", "alpha": 0.5, "beta": -2.0},
        {"activation": "Tanh", "transA": 1},
        {"activation": "Sigmoid", "transB": 1},
        {"activation": "LeakyRelu", "activation_alpha": 0.25},
        {"activation": "HardSigmoid", "activation_alpha": 0.25, "activation_beta": 0.5},
        {"activation": "Clip", "activation_alpha": -0.5, "activation_beta": 0.75},
    ):
        for addend in (None, (3,), (3, 1), (3, 3)):
            yield "com.microsoft.FusedGemm", [(3, 3), (3, 3), addend], attrs
    for attrs in (
        {"activation": "HardSigmoid", "activation_params": (0.25, 0.5)},
        {"activation": "Clip", "activation_params": (-0.5, 0.75)},
    ):
        yield (
            "com.microsoft.FusedConv",
            [(1, 2, 4), (4, 1, 2)],
            {**attrs, "group": 2, "pads": (1, 0), "strides": (2,)},
        )
    for attrs in (
        {},
        {"strides": (2, 3), "dilations": (2, 1)},
        {"pads": (1, 0, 0, 1), "strides": (2, 1)},
        {"output_padding": (1, 0), "strides": (2, 2), "kernel_shape": (2, 2)},
    ):
        for bias in (None, (2,)):
            yield "ConvTranspose", [(1, 2, 2, 3), (2, 2, 2, 2), bias], attrs
    yield "ConvTranspose", [(2, 1, 3), (1, 3, 2)], {"pads": (1, 1), "dilations": (2,)}
    for bias, shift in product((None, (3,)), (None, (3,))):
        yield (
            "com.microsoft.SkipLayerNormalization",
            [(1, 2, 3), (1, 2, 3), (3,), shift, bias],
            {"epsilon": 0.01},
        )
    for bias in (None, (3,)):
        yield (
            "com.microsoft.SkipSimplifiedLayerNormalization",
            [(1, 2, 3), (1, 2, 3), (3,), bias],
            {"epsilon": 0.01},
        )
    yield "SimplifiedLayerNormalization", [(1, 2, 3), (3,)], {"epsilon": 0.01}
    for axis in (-1, 1, -2):
        yield "RMSNormalization", [(1, 2, 3), (1, 2, 3)[axis:]], {"epsilon": 0.01, "axis": axis}
    for mode, size in product(("DCR", "CRD"), (1, 2)):
        yield "DepthToSpace", [(2, 8, 3, 2)], {"blocksize": size, "mode": mode}
        yield "SpaceToDepth", [(2, 3, 4, 6)], {"blocksize": size, "mode": mode}
    for shape, groups in (((1, 4), 2), ((2, 2, 2), 2), ((1, 2, 2), 1)):
        yield (
            "GroupNormalization", [shape, shape[1:2], shape[1:2]], {"num_groups": groups, "epsilon": 0.01}
        )
    yield from _pooling()
    yield from _attention()
    yield from _rotary()
    yield from _lookups()
    yield from _of_bytes()


MODES = [
    {"mode": mode, "coordinate_transformation_mode": coordinates, **more}
    for coordinates in COORDINATES[:-1]
    for mode, more in (
        ("nearest", {}), ("nearest", {"nearest_mode": "ceil"}), ("linear", {}), ("linear", {"antialias": 1}),
        ("cubic", {}), ("cubic", {"exclude_outside": 1, "cubic_coeff_a": -0.5}),
    )
]  # fmt: skip


@pytest.mark.parametrize("attrs", MODES[::7])
def test_a_resized_image_is_a_weighted_sum(attrs: dict[str, Any]) -> None:
    """Axis by axis, and an axis that keeps its size stays."""
    for shape, new in (((2, 3), (5, 3)), ((1, 2, 3), (1, 3, 2))):
        complete = {**ONNX.operators["Resize"].complete(attrs)}
        expected = resized(shape, new, complete, pixels := np.random.default_rng(1).normal(size=shape))
        world = World(Facts(Choices([], Budget(10**9))), 6)
        x = Tensor(shape, "float32", lambda index: read("x", index))
        y = meaning_of(world, ONNX, "Resize", [x, None, None, vector(new, "int64")], Attributes(complete))
        for index in np.ndindex(*new):
            found = number(y.at(index), {}, {"x": pixels.astype(np.float32)})
            assert found == pytest.approx(expected[index], rel=1e-4, abs=1e-4), (shape, new, index)


def resized(shape: tuple[int, ...], new: tuple[int, ...], attrs: dict[str, Any], pixels: Any) -> Any:
    """An image of other sizes, as the evaluator makes it."""
    graph = Graph("onnx")
    x = graph.add(INPUT, (), {}, TensorType(shape, "float32"), "x")
    sizes = graph.add(INPUT, (), {}, TensorType((len(new),), "int64"), "sizes")
    node = graph.add("Resize", (x, ABSENT, ABSENT, sizes), attrs, None)
    values = [pixels.astype(np.float32), None, None, np.asarray(new, np.int64)]
    return np.asarray(evaluate_node(graph, ONNX, node, values))


@lru_cache(None)
def weights(name: str, given: tuple[float, ...]) -> Any:
    """[pixel, place] → the weight of a pixel along one axis."""
    _, mode, coordinates, nearest = name.split()
    antialias, cubic, outside, old, new, _ = given
    attrs = {
        "mode": mode, "coordinate_transformation_mode": coordinates, "nearest_mode": nearest,
        "antialias": int(antialias), "cubic_coeff_a": cubic, "exclude_outside": int(outside),
    }  # fmt: skip
    complete = ONNX.operators["Resize"].complete(attrs)
    return [resized((int(old),), (int(new),), complete, row) for row in np.eye(int(old))]


def weight(name: str, *numbers: float) -> float:
    antialias, cubic, outside, place, pixel, old, new, scale = numbers
    assert scale == pytest.approx(new / old)
    found = weights(name, (antialias, cubic, outside, old, new, scale))
    return float(found[int(pixel)][int(place)])


def _pooling() -> Iterator[Call]:
    for attrs in (
        {}, {"strides": (2, 1)}, {"dilations": (2, 1)}, {"auto_pad": "VALID", "strides": (3, 2)},
    ):
        yield "MaxPool", [(1, 2, 5, 4)], {"kernel_shape": (2, 3), **attrs}
        yield "MaxPool", [(2, 1, 4)], {"kernel_shape": (1,)}
        for counted, pads in product((0, 1), ((0, 0, 0, 0), (1, 0, 1, 2), (0, 2, 1, 1))):
            more = {} if "auto_pad" in attrs else {"pads": pads}
            yield (
                "AveragePool", [(1, 2, 5, 4)],
                {"kernel_shape": (2, 3), "count_include_pad": counted, **more, **attrs},
            )


def _attention() -> Iterator[Call]:
    in_heads: list[tuple[int, ...] | None] = [(1, 2, 2, 3), (1, 2, 3, 3), (1, 2, 3, 2)]
    for attrs in ({}, {"scale": 0.5}, {"is_causal": 1}, {"softcap": 2.0}):
        yield "Attention", in_heads, attrs
        for mask in ((2, 3), (1, 1, 2, 3), (1, 2, 1, 3), (2, 2)):
            if (
                mask[-2] == 2 or "is_causal" not in attrs
            ):  # of a single row, the reference hides what it hides from the first query
                yield "Attention", [*in_heads, mask], attrs
    yield "Attention", [(1, 4, 2, 3), (1, 2, 3, 3), (1, 2, 3, 2)], {}
    yield "Attention", [(1, 2, 6), (1, 3, 6), (1, 3, 4)], {"q_num_heads": 2, "kv_num_heads": 2, "scale": 0.7}
    rows: list[tuple[int, ...] | None] = [(1, 2, 4), (1, 3, 4), (1, 3, 6)]
    for attrs in ({}, {"scale": 0.5}, {"unidirectional": 1}, {"mask_filter_value": -2.0}):
        for extra in (None, (1, 2, 2, 3), (1, 1, 2, 3)):
            for padding in (None, (1, 3), (1, 2, 3)):
                yield (
                    "com.microsoft.MultiHeadAttention",
                    [*rows, None, padding, extra],
                    {"num_heads": 2, **attrs},
                )
        yield "com.microsoft.MultiHeadAttention", [*rows, (14,)], {"num_heads": 2, **attrs}
        yield (
            "com.microsoft.MultiHeadAttention",
            [(1, 2, 4), (1, 2, 3, 2), (1, 2, 3, 2)],
            {"num_heads": 2, **attrs},
        )
        yield (
            "com.microsoft.Attention",
            [(1, 2, 3), (3, 12), (12,)],
            {"num_heads": 2, "qkv_hidden_sizes": (4, 4, 4), **attrs},
        )
        yield (
            "com.microsoft.Attention",
            [(1, 2, 3), (3, 12), (12,), (1, 2)],
            {"num_heads": 2, "qkv_hidden_sizes": (4, 4, 4), **attrs},
        )


def _rotary() -> Iterator[Call]:
    for interleaved in (0, 1):
        more = {"interleaved": interleaved}
        packed = {**more, "is_packed_batching": 1}
        yield "com.microsoft.RotaryEmbedding", [(2, 2, 9, 4), (2, 9), (8, 2), (8, 2)], packed
        yield "RotaryEmbedding", [(2, 2, 3, 4), (2, 3, 2), (2, 3, 2)], more
        yield "RotaryEmbedding", [(1, 3, 8), (1, 3, 2), (1, 3, 2)], {"num_heads": 2, **more}
        yield "RotaryEmbedding", [(1, 2, 3, 6), (1, 3, 2), (1, 3, 2)], {"rotary_embedding_dim": 4, **more}
        yield "RotaryEmbedding", [(2, 2, 3, 4), (5, 2), (5, 2), (2, 3)], more
        for places in ((1,), (2, 3)):
            for shape, attrs in (
                ((2, 2, 3, 4), {}), ((2, 2, 3, 4), {"num_heads": 2}),
                ((2, 3, 8), {}), ((2, 3, 8), {"num_heads": 2}),
                ((2, 2, 3, 7), {"num_heads": 2, "rotary_embedding_dim": 4}),
                ((2, 3, 10), {"num_heads": 2, "rotary_embedding_dim": 4}),
            ):
                yield "com.microsoft.RotaryEmbedding", [shape, places, (8, 2), (8, 2)], {**attrs, **more}


def _lookups() -> Iterator[Call]:
    for axis in (0, 1, -1):
        for places in ((), (3,), (2, 2)):
            yield "Gather", [(4, 5, 3), places], {"axis": axis}
    tables: list[tuple[int, ...] | None] = [(5, 4), (6, 4)]
    for kinds, places in product((None, (2, 3)), (None, (2, 3), (1, 3))):
        yield (
            "com.microsoft.EmbedLayerNormalization",
            [(2, 3), kinds, *tables, kinds and (2, 4), (4,), (4,), None, places], {"epsilon": 0.125},
        )


def _of_bytes() -> Iterator[Call]:
    one: list[tuple[int, ...] | None] = [(), ()]
    for a, b in (((2, 3), (3, 4)), ((2, 2, 3), (3, 4))):
        for zeros in ((None, None), ((1,), None), ((), (4,)), (None, (1,))):
            yield "MatMulInteger", [a, b, *zeros], {}
            for bias in (None, (4,)):
                yield "com.microsoft.MatMulIntegerToFloat", [a, b, *one, *zeros, bias], {}
        yield "com.microsoft.MatMulIntegerToFloat", [a, b, (1,), (4,)], {}


# operator → operand of whole numbers → the least one, and the one that all are below
WHOLE: dict[str, dict[int, tuple[int, int]]] = {
    "com.microsoft.MultiHeadAttention": {4: (0, 2)},
    "com.microsoft.Attention": {3: (0, 2)},
    "Gather": {1: (-3, 3)},
    "RotaryEmbedding": {3: (0, 5)},
    "com.microsoft.RotaryEmbedding": {1: (0, 5)},
    "com.microsoft.EmbedLayerNormalization": {0: (0, 5), 1: (0, 2), 8: (0, 6)},
    "MatMulInteger": dict.fromkeys(range(4), (0, 256)),
    "com.microsoft.MatMulIntegerToFloat": dict.fromkeys((0, 1, 4, 5), (0, 256)),
}



def size(value: Any, places: dict[str, int]) -> int:
    """A size or position, as a number."""
    return (
        value
        if isinstance(value, int)
        else sum(c * math.prod(_named(value, name, places) for name in p) for p, c in value.terms.items())
    )


def _named(value: Size, name: str, places: dict[str, int]) -> int:
    facts: Any = value.facts
    if name in facts.floors:
        above, below = (size(part, places) for part in facts.floors[name])
        return above // below
    if name in facts.withins:
        place, wide = (size(part, places) for part in facts.withins[name])
        return 0 if wide == 1 else place
    if name not in places:
        raise UnknownFunction(name)
    return places[name]


def number(term: Term, places: dict[str, int], values: dict[str, Any]) -> float:
    """A term, computed."""
    total = 0.0
    for factors, c in term.parts.items():
        part = float(c)
        for atom, exponent in sorted(factors, key=lambda factor: factor[0].kind != "guard"):
            if part:  # nothing is read outside
                part *= _atom(atom, places, values) ** exponent
        total += part
    return total


class UnknownFunction(Exception):
    """A function whose numbers a proof does not know."""


def _converted(value: float, dtype: str) -> float:
    """A number in another type: towards 0, and wrapped."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return float(value != 0)
    return float(np.asarray(int(value), np.int64).astype(kind)) if kind.kind in "iu" else value


def _atom(atom: Atom, places: dict[str, int], values: dict[str, Any]) -> float:
    match atom.kind:
        case "read" if atom.name.startswith(("unidirectional", "is_causal")):
            i, j = (size(k, places) for k in atom.args)
            rows, columns, *_ = map(int, atom.name.rpartition(" of ")[2].split(", "))
            return float(j <= i + (columns - rows if atom.name.startswith("uni") else 0))
        case "read" if atom.name not in values:
            raise UnknownFunction(atom.name)
        case "read":
            return float(values[atom.name][tuple(size(k, places) for k in atom.args)])
        case "num":
            return float(size(atom.args[0], places))
        case "guard":
            return float(size(atom.args[0], places) >= 0)
        case "group":
            return number(atom.args[0], places, values)
        case "fn" if atom.name.startswith("number "):
            return number(atom.args[0], places, values)
        case "fn" if atom.name.startswith("cast ") and atom.name.count(" ") == 2:  # towards 0
            return _converted(number(atom.args[0], places, values), atom.name.split()[2])
        case "fn" if atom.name.startswith("resize "):
            return weight(atom.name, *(number(a, places, values) for a in atom.args))
        case "fn" if atom.name in _FUNCTIONS:
            return float(_FUNCTIONS[atom.name](*(number(a, places, values) for a in atom.args)))
        case "fn":
            raise UnknownFunction(atom.name)
    assert atom.kind == "total"
    ranges = [range(size(count, places)) for _, count in atom.variables]
    return {"sum": sum, "max": max, "min": min, "prod": math.prod}[atom.name](
        number(atom.args[0], {**places, **dict(zip([name for name, _ in atom.variables], found))}, values)
        for found in product(*ranges)
    )


def _whole_type(operator: str) -> type[np.generic]:
    return np.int64 if "Rotary" in operator else np.uint8 if "MatMul" in operator else np.int32


def both(call: Call) -> tuple[Any, Any]:
    """The first result of a call as the evaluator and as the prover have it."""
    operator, shapes, attrs = call
    rng = np.random.default_rng(1)
    signature = ONNX.operators[operator]
    complete = signature.complete(attrs)
    graph = Graph("onnx")
    values: dict[str, Any] = {}
    tensors: list[Tensor | None] = []
    nodes: list[int] = []
    for k, shape in enumerate(shapes):
        if shape is None:
            tensors.append(None)
            nodes.append(ABSENT)
            continue
        whole = WHOLE.get(operator, {}).get(k)
        found = (
            rng.uniform(-1, 1, shape).astype(np.float32) if whole is None
            else np.asarray(rng.integers(*whole, shape), _whole_type(operator))
        )
        if whole == (0, 2):
            found[..., 0] = 1  # a key that is not hidden
        name, dtype = f"x{k}", str(found.dtype)
        values[name] = found
        tensors.append(Tensor(shape, dtype, lambda index, name=name: read(name, index)))  # type: ignore[misc]
        nodes.append(graph.add(INPUT, (), {}, TensorType(shape, dtype), name))
    node = graph.add(operator, tuple(nodes), attrs, None)
    expected = evaluate_node(
        graph, ONNX, node, [None if n < 0 else values[f"x{k}"] for k, n in enumerate(nodes)]
    )
    expected = expected[0] if isinstance(expected, (tuple, list)) else expected
    world = World(Facts(Choices([], Budget(10**9))), 6)
    world.comparing, world.defined = "source", {}
    value = meaning_of(
        world,
        ONNX,
        operator,
        [*tensors, *[None] * (len(signature.operands) - len(tensors))],
        dict(Attributes(complete)),
    )
    value = value[0] if isinstance(value, tuple) else value
    shape = tuple(size(world.facts.normal(d), {}) for d in value.shape)
    computed = np.empty(shape)
    for index in np.ndindex(*shape):
        world.places.clear()
        term = value.at(index)
        places = {
            place.position.text.removeprefix("1*"): int(number(place.said, {}, values)) % size(place.size, {})
            for place in world.places
        }
        computed[index] = number(term, places, values)
    return np.asarray(expected), computed


@pytest.mark.parametrize("operator", sorted({call[0] for call in calls()}))
def test_composed_operators(operator: str) -> None:
    for call in calls():
        if call[0] == operator:
            expected, computed = both(call)
            assert expected.shape == computed.shape, call
            np.testing.assert_allclose(computed, expected, rtol=1e-3, atol=2e-4, err_msg=str(call))

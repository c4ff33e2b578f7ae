"""The element types of a target's constants that state none: those that the operands' declarations demand,
else the first operand's.
"""

from __future__ import annotations

import pytest

import gslang
from gslang import api
from gslang.check.checked import CheckedRule
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.verify.prove.prove import prove
from tests.engine.test_two_engines import both_ways

RULES = """
dialect onnx;
op my.count(x: tensor, n: tensor(int32)) -> tensor;

rule sliced(x): Neg(Neg(x)) => Slice(x, const(value = [0]), const(value = [2]), const(value = [0]));
rule padded(x): Neg(Neg(x)) => Pad(x, const(value = 0, shape = (2 * x.ndim,)), 1);
rule reshaped(x) { Neg(Neg(x)) => s = const(value = x.shape); Reshape(Reshape(x, const(value = [-1])), s) }
rule expanded(x): Neg(Neg(x)) => Expand(x, const(value = x.shape) if x.ndim == 2 else const(value = [1]));
rule gathered(x): Neg(Neg(x)) => Gather(x, const(value = [1, 0]), axis = 0);
rule tiled(x): Neg(Neg(x)) => Tile(x, repeats = const(value = [1, 1]));
rule chosen(x): Neg(Neg(x)) => Where(const(value = 0), x, x);
rule declared(x): Neg(Neg(x)) => my.count(x, const(value = 3));
rule plain(x): Neg(Neg(x)) => my.count(Max(x, 1), 3);
rule written(x): Neg(Neg(x)) => Gather(x, const(value = [1, 0], dtype = "int32"), axis = 0);
rule first(x): Neg(Neg(x)) => Add(x, const(value = 2));
rule beside(x): Neg(Neg(x)) => Where(Greater(x, 0.5), 2, x);
rule neither(x): Neg(Neg(x)) => Cast(Where(Greater(x, 0.5), 2, 3), to = x.dtype);
rule scaled(x): Neg(Neg(x)) => Cast(DequantizeLinear(Cast(x, to = "int8"), 0.5), to = x.dtype);
rule listed(x): Neg(Neg(x)) => Max(*[x for i in range(2)], 1.5);
"""
TYPES = {
    "sliced": ["int64"] * 3,
    "padded": ["int64", "float64"],
    "reshaped": ["int64"] * 2,
    "expanded": ["int64"],
    "gathered": ["int64"],
    "tiled": ["int64"],
    "chosen": ["bool"],
    "declared": ["int32"],
    "plain": ["float64", "int32"],
    "written": ["int32"],
    "first": ["float64"],
    "beside": ["float64"] * 2,
    "neither": ["float64", "int64", "int64"],
    "scaled": ["float32"],
    "listed": ["float64"],
}


@pytest.fixture(scope="module")
def rules() -> dict[str, CheckedRule]:
    return dict(api.parse_rules(RULES).own)


@pytest.mark.parametrize("name", TYPES)
def test_built_by_both_engines(name: str, rules: dict[str, CheckedRule]) -> None:
    """Over float64: no default is mistaken for what was asked for."""
    pytest.importorskip("onnx")
    graph = _double_negation(11)
    both_ways(graph, [rules[name]])
    run_to_fixed_point(graph, [rules[name]], Limits())
    found = [graph.types[node].dtype for node in range(len(graph.op)) if graph.op[node] == "%const"]
    assert sorted(map(str, found)) == sorted(TYPES[name])


def _double_negation(dtype: int) -> gslang.Graph:
    from onnx import helper

    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Neg", ["x"], ["m"]), helper.make_node("Neg", ["m"], ["y"])]
    model = helper.make_graph(nodes, "g", [value("x", dtype, [2, 3])], [value("y", dtype, None)])
    return gslang.from_onnx(
        helper.make_model(model, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("Add(x, 0.5)", "0.5 cannot be a constant of type int64"),
        ("Add(x, c)", "0.25 cannot be a constant of type int64"),
        ("Where(Greater(x, 1), 2.5, x)", "2.5 cannot be a constant of type int64"),
        ("Gather(x, x.ndim / 4)", "0.5 cannot be a constant of type int64"),
        ("Where(const(value = x.ndim), x, x)", "2 cannot be a constant of type bool"),
    ],
)
def test_nothing_is_rounded_to_whole_numbers(target: str, message: str) -> None:
    """Where the type is known only when the rule is applied, the application fails, and says why."""
    pytest.importorskip("onnx")
    (rule,) = api.parse_rules(
        f"dialect onnx; rule t(x) {{ Neg(Neg(x)) => c = 1 / 4; {target} }}"
        if "c)" in target
        else f"dialect onnx; rule t(x): Neg(Neg(x)) => {target};"
    ).own.values()
    graph = _double_negation(7)
    both_ways(graph, [rule])
    progress = run_to_fixed_point(graph, [rule], Limits())
    assert progress.applications == 0
    assert [failure.message.startswith(message) for failure in progress.failures] == [True]


def test_the_prover_reads_them_as_whole_numbers() -> None:
    (rule,) = api.parse_rules(
        "dialect onnx; rule t(x: any(shape = (_, _))) { y = Slice(x, [0], [2], [0]); y => Slice(x, "
        "const(value = [0]), const(value = [2]), const(value = [0])) }"
    ).own.values()
    assert prove(rule).cases > 0

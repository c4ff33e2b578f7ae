"""Values of attributes and operands that samplers draw: those that a mistake depends on occur, and none that
exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gslang.api as api
from gslang.graph.graph import Graph
from gslang.verify.comparison.inputs import Inputs
from gslang.verify.instances.draw import Search, instances
from gslang.verify.verdict import Settings, verify_now


def drawn(text: str, attempts: int = 60) -> list[Graph]:
    """The graphs of instances of a rule `r`."""
    rules = api.parse_rules(text)
    assert rules.diagnostics == ()
    return [found.before for found in instances(rules.own["r"], Search(), 0, 60.0, attempts)]


def calls(graphs: list[Graph], operator: str) -> Iterator[tuple[Graph, int]]:
    for graph in graphs:
        for node in graph.nodes():
            if graph.op[node] == operator:
                yield graph, node


def test_no_pads_are_given_beside_what_says_how_to_pad() -> None:
    for stated in ('auto_pad = "SAME_LOWER"', "pads = (1, 0, 0, 1)", ""):
        rule = f"rule r(x, w) {{ c = Conv(x, w, none, {stated}); Neg(c) => Conv(Neg(x), w, none, c.*) }}"
        graphs = drawn("dialect onnx;\n" + rule.replace("none, )", "none)"), 100)
        assert len(graphs) > 25, stated
        for graph, node in calls(graphs, "Conv"):
            attrs = graph.attrs[node]
            assert attrs.get("auto_pad", "NOTSET") == "NOTSET" or attrs.get("pads") is None


def numbers(graphs: list[Graph], operator: str, k: int) -> list[tuple[float, ...]]:
    """The values of constants that are operand `k` of calls of an operator."""
    values = [graph.value(graph.operands[node][k]) for graph, node in calls(graphs, operator)]
    return [tuple(value.reshape(-1).tolist()) for value in values if value is not None]


@pytest.mark.parametrize("call", [
    "Slice(x, const(), const(), a, none)", "ReduceSum(x, a)", "Squeeze(x, a)", "Unsqueeze(x, a)",
])
def test_axes_are_named_in_any_order_and_from_both_ends(call: str) -> None:
    graphs = drawn(f"dialect onnx;\nrule r(x, a: const(shape = (2,))) {{ y = {call}; y => Neg(Neg(y)) }}", 90)
    found = set(numbers(graphs, call.partition("(")[0], 3 if "Slice" in call else 1))
    assert len(graphs) > 40
    assert any(0 <= b < a for a, b in found) and any(0 <= a < b for a, b in found)
    assert any(a < 0 and b < 0 for a, b in found) and any((a < 0) != (b < 0) for a, b in found)


def test_what_a_proof_leaves_out_is_drawn() -> None:
    """Axes that are named in order, in this case."""
    rule = api.parse_rules(
        "dialect onnx;\nrule r(x, a: const(shape = (2,))): Unsqueeze(x, a) where a.value[0] >= 0, "
        "a.value[1] >= 0 => Unsqueeze(Unsqueeze(x, (a.value[0],)), (a.value[1],));"
    ).own["r"]
    assert verify_now(rule, Settings()).verdict == "refuted"


def test_numbers_that_multiply_sizes() -> None:
    graphs = drawn("dialect onnx;\nrule r(x, t: const): Tile(x, t) => Neg(Neg(Tile(x, t)));")
    assert {3, 2, 1} <= {n for times in numbers(graphs, "Tile", 1) for n in times}
    rule = "rule r(x, s: const) { y = Resize(x, none, s, none); y => Relu(Resize(x, none, s, none, y.*)) }"
    scales = {n for scales in numbers(drawn("dialect onnx;\n" + rule), "Resize", 2) for n in scales}
    assert {0.25, 0.5, 2.0, 4.0} <= scales


def test_a_slice_without_elements_is_compared_with_what_has_some() -> None:
    rule = (
        "dialect onnx;\nrule r(x: any(shape = (_, _)), s: const(shape = (1,))): "
        "Slice(x, s, (0,), (0,), none) where s.value[0] == -1 => Slice(x, s, (9223372036854775807,), (0,));"
    )
    assert verify_now(api.parse_rules(rule).own["r"], Settings()).verdict == "refuted"


def test_loops_take_many_rounds() -> None:
    """Or none; about as many as a number in the body says, too."""
    body = "body = (Less(input[0], 100), Add(input[2], 1.0))"
    rule = (
        'dialect onnx;\nrule r(n: any(dtype = "int64", shape = ()), x: any(dtype = "float32")): '
        f"Loop(n, const(value = true), x, {body}).0 => x;"
    )
    rounds = set()
    for seed, graph in enumerate(drawn(rule, 60)):
        values = Inputs(graph, seed).of_kind("wide")
        rounds |= {int(v) for name, v in values.items() if name.startswith("n_")}
    assert {-1, 0, 12, 40, 99, 100, 101, 103} <= rounds


@pytest.mark.parametrize("head, operator, name", [
    ("", "nn.space_to_depth", "block_size"), ("", "nn.depth_to_space", "block_size"),
    ("dialect onnx;\n", "SpaceToDepth", "blocksize"), ("dialect onnx;\n", "DepthToSpace", "blocksize"),
])
def test_images_are_cut_into_blocks_twice(head: str, operator: str, name: str) -> None:
    graphs = drawn(f"{head}rule r(x) {{ y = {operator}({operator}(x)); y => {operator}(y, {name} = 1) }}")
    found = [[graph.attrs[node][name] for graph, node in calls([graph], operator)] for graph in graphs]
    assert len(graphs) > 25 and sum(min(sizes) > 1 for sizes in found) > 8


def test_marks_are_asked_for_outside_of_what_is_marked() -> None:
    graphs = drawn(
        'rule r(i: any(dtype = "int32"), a, b) { y = one_hot(i, a, b, depth = 4); '
        "y => nn.relu(y) }", 10,
    )
    values = [Inputs(graph, seed).of_kind("wide") for seed, graph in enumerate(graphs)]
    found = {int(v) for own in values for name, value in own.items() if name[0] == "i" for v in value.flat}
    assert min(found) < 0 and 4 in found and max(found) > 4


def test_elements_in_order_are_drawn_as_such() -> None:
    graphs = drawn(
        'rule r(x: any(shape = (4, _)), c: const(shape = (4,), dtype = "int32")): take(x, c, axis = 0, '
        'mode = "clip") where all(c.value[k] < c.value[k + 1] for k in range(3)) => x;', 80
    )
    found = numbers(graphs, "take", 1)
    assert len(graphs) > 50 and all(list(own) == sorted(set(own)) for own in found)
    assert len(set(found)) > 20 and {own[0] for own in found} > {0, 1, 2, 3}


@pytest.mark.parametrize("rule, name, wanted", [
    ("rule r(x): nn.max_pool2d(x) => x;", "pool_size", (5, 5)),
    ("rule r(x): nn.max_pool2d(x) => x;", "pool_size", (7, 7)),
    ("rule r(x, w): nn.conv2d(x, w) => x;", "strides", (5, 5)),
    ("rule r(x) { s = split(x); s.1 => x }", "indices_or_sections", 5),
    ("rule r(x) { t = topk(x); t.0 => x }", "k", 5),
    ("rule r(x, g, b): nn.group_norm(x, g, b) => x;", "num_groups", 8),
    ("dialect onnx;\nrule r(x): MaxPool(x).0 => x;", "kernel_shape", (7, 7)),
    ("dialect onnx;\nrule r(x) { s = Split(x); s.1 => x }", "num_outputs", 5),
    ("op my.join(*xs: tensor, axis: int = 0) -> tensor { value = concatenate((*xs,), axis = axis) };\n"
     "rule r(x, y): my.join(x, y) => x;", "axis", -1),
])
def test_numbers_beyond_the_usual_ones(rule: str, name: str, wanted: object) -> None:
    assert wanted in [attrs[name] for graph in drawn(rule, 150) for attrs in graph.attrs if name in attrs]


def test_kernels_with_several_outputs_of_each_channel() -> None:
    rule = 'rule r(x, w): nn.conv2d(x, w, kernel_layout = "HWOI") => x;'
    shapes = {
        (graph.attrs[node].get("groups"), graph.types[graph.operands[node][1]].shape[2:])
        for graph, node in calls(drawn(rule, 300), "nn.conv2d")
    }
    assert {(2, (2, 2)), (2, (2, 3)), (2, (2, 1))} <= shapes


def test_layouts_with_axes_in_an_unusual_order() -> None:
    graphs = drawn("rule r(x): nn.avg_pool2d(x) => x;", 200)
    layouts = {graph.attrs[node].get("layout", "NCHW") for graph, node in calls(graphs, "nn.avg_pool2d")}
    assert {"NCHW", "NHWC"} < layouts and len(layouts) > 4
    assert all(sorted(layout) == sorted("NCHW") for layout in layouts)


def test_numbers_beside_the_one_that_is_meant() -> None:
    text = (
        'rule r(x, c: const(shape = (), dtype = "float32")) '
        "{ power(x, c) where abs(c.value - 2.0) < 0.01 => x * x }"
    )
    found = {graph.value(graph.operands[node][1]).item() for graph, node in calls(drawn(text, 200), "power")}
    assert any(number < 2 for number in found) and any(number > 2 for number in found)
    assert verify_now(api.parse_rules(text).own["r"], Settings(seconds=20)).verdict == "refuted"


@pytest.mark.parametrize("rule", [
    'rule r(n: any(dtype = "int64"), k: const(shape = ())): Less(Range(0, k, 1), n) => n;',
    'rule r(n: any(dtype = "int64"), x): Less(Abs(x), n) => n;',
    'rule r(x: any(dtype = "float32"), s, z: any(dtype = "int8")):\n'
    "    QuantizeLinear(DequantizeLinear(QuantizeLinear(x, s, z), s, z), s, z) => x;",
])
def test_element_types_follow_those_that_are_stated_beside(rule: str) -> None:
    assert len(drawn(f"dialect onnx;\n{rule}")) > 30

"""Instances: conditions that are solved, operators' samplers, a rule's own tests, rounding that is no
difference.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import gslang.api as api
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import CONST, INPUT, Graph
from gslang.graph.inference import infer_node
from gslang.verify.comparison.inputs import Inputs
from gslang.verify.decisions import ties
from gslang.verify.instances.draw import Search, instances, match_in, towards, wished
from gslang.verify.instances.leaves import Misfit
from gslang.verify.instances.open_numbers import not_computed_with, open_numbers
from gslang.verify.instances.operand_misfits import check_operands
from gslang.verify.instances.operand_types import OF_SEQUENCES, declared_type, operand_type, rare_types
from gslang.verify.samplers.onnx import ONNX_SAMPLERS
from gslang.verify.samplers.sample import Only, sample
from gslang.verify.verdict import Settings, verify_now


def found(text: str, attempts: int = 60) -> Search:
    search = Search()
    rules = api.parse_rules(text)
    assert rules.diagnostics == ()
    assert len(list(instances(rules.own["r"], search, 0, 10, attempts))) == search.found
    return search


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x, c: const) { y = x * c; y where close(c.value, 2 ** 0.5, 1e-4) => x * c }",
        "rule r(x, c: const) { y = x * c; y where numel(c.shape) == 1, c.ndim == 1 => x * c }",
        "rule r(x, c: const) { y = x + c; y where c.ndim == 0, c.value <= -3 => x + c }",
        "rule r(x, c: const(shape = (3,))) { y = x + c; y where all(v == 0 for v in c.value) => x + c }",
        "rule r(x) { y = nn.relu(x); y where x.ndim == 4, x.shape[1] == 7, x.shape[2] > 9 => nn.relu(x) }",
        (
            "rule r(x) { y = nn.leaky_relu(x); y where y.alpha < -1.0 or y.alpha == 3.0 => nn.leaky_relu(x, "
            "y.*) }"
        ),
        'rule r(x) { y = nn.relu(x); y where x.dtype in ("int8", "float16") => nn.relu(x) }',
        (
            "rule r(x) { y = concatenate((x, x), axis = 0); y where normalize_axis(y.axis, y.ndim) == 0, "
            "x.shape[0] == y.shape[1] => concatenate((x, x), axis = 0) }"
        ),
        (
            'dialect onnx;\nrule r(x, s) { y = Reshape(x, s); y where s.kind != "const", y.shape[0] == '
            'x.shape[0] => Reshape(x, s, y.*) }'
        ),
        # elements of a constant, each of which another one or the place decides
        (
            "rule r(x, c: const(shape = (3, 4))) { y = x + c; y where all(all(row[2 * k] == row[2 * k + 1] "
            "for k in range(2)) for row in c.value) => x + c }"
        ),
        (
            "rule r(x, c: const(shape = (3, 3))) { y = x + c; y where all(all((e == 0) == (j <= i) and "
            "(e == 0 or e <= -1e4) for j, e in zip(range(3), row)) for i, row in zip(range(3), c.value)) => "
            "x + c }"
        ),
        (
            "rule r(x, c: const(shape = (6,), dtype = \"float32\")) { y = x + c; y where all(e > 5 for k, e "
            "in zip(range(6), c.value) if k % 2 == 0) => x + c }"
        ),
        # the end of a range, the shape of an expansion, and of what could not be joined without it
        (
            "dialect onnx;\nrule r(x, n) { z = Unsqueeze(Range(0, n, 1), const(value = (1, 2))); y = x + z; "
            "y where z.shape[0] == x.shape[0] + 2, x.shape[0] == 1, x.ndim == 3 => x + z }"
        ),
        (
            "dialect onnx;\nrule r(x, y, s) { e = Expand(y, s); z = Concat(x, e, axis = 0); z "
            "where e.shape == x.shape, x.ndim == 4 => Concat(x, e, axis = 0) }"
        ),
        (
            "dialect onnx;\nrule r(x, axes: const) { y = ReduceSum(x, axes); y where axes.shape == (1,), "
            "normalize_axis(axes.value[0], x.ndim) == x.ndim - 1 => ReduceSum(x, axes, y.*) }"
        ),
        (
            "dialect onnx;\nrule r(x, p: const) { y = Pad(x, p, none, none); y where all(d == 0 for d in "
            "p.value) => Pad(x, p, none, none, y.*) }"
        ),
        (
            'dialect onnx;\nrule r(x) { y = Cast(x); y where x.dtype == "int32", y.dtype == "float64" => '
            'Cast(x, y.*) }'
        ),
        "rule r(x: any(shape = ((n := _), *_))) { y = nn.relu(x); y where n >= 64 => nn.relu(x) }",
        (
            "rule r(x) { y = nn.leaky_relu(x, alpha = (a := _)); y where a == 3.25 => "
            "nn.leaky_relu(x, alpha = 3.25) }"
        ),
    ],
)
def test_conditions_are_solved(rule: str) -> None:
    assert found(rule).found >= 5


@pytest.mark.parametrize(
    "least, rule",
    [
        (  # ends of slices
            30, "fn s(x: tensor, at) = Slice(x, const(value = [at]), any(), const(value = [-1]) | "
            "const(value = [3]), const(value = [2]));\nrule r(x) { y = Concat(s(x, 0), s(x, 1), axis = 3); y "
            "where x.ndim == 4, x.shape[3] % 2 == 0, y.shape == x.shape => Neg(Neg(x)) }",
        ),
        (  # lengths of parts
            40, "rule r(x, s: const(shape = (2,))) { p = Split(x, s, axis = 3); "
            "y = Concat(p.1, p.0, axis = 3); y where x.ndim == 4, "
            "s.value[0] == s.value[1], x.shape[3] == 2 * s.value[0] => Concat(p.1, p.0, axis = 3) }",
        ),
        (  # constants of a stated rank
            30, "rule r(x, c: const(shape = (_, _, _)), d: const(shape = (_, _, _))) { "
            "y = Relu(x) * c + d; y where x.ndim == 3 => d + c * Relu(x) }",
        ),
        # what is computed beside something else, and what is expanded for it
        (
            18, "rule r(x, y, m, a, b) { s = MatMul(x, y); w = s + Where(m, a, b); w where w.ndim == 4 => "
            "Where(m, a, b) + s }",
        ),
        (
            18, "rule r(x, y, m, s) { w = MatMul(x, y) + Expand(Neg(m), s); w where w.ndim == 4 => "
            "Expand(Neg(m), s) + MatMul(x, y) }",
        ),
        (  # one number in some axes
            30, 'rule r(x, c: const) { y = Relu(x) * c; y where numel(c.shape) == 1, c.ndim == 3, c.dtype == '
            '"float32", sum(v[0][0] for v in c.value) > 7 => c * Relu(x) }',
        ),
        # codes with their scales
        (
            30, 'rule r(a: any(dtype = "uint8"), b: any(dtype = "int8"), t: any(dtype = "float32"), s) { '
            "y = com.microsoft.MatMulIntegerToFloat(a, b, t, s); y where a.ndim == 2, b.ndim == 2 => "
            "com.microsoft.MatMulIntegerToFloat(a, b, s, t) }",
        ),
        # the type of what is converted
        (10, "rule r(x, y) { z = x * Neg((c := Cast(y))); z => Neg(x * Cast(y, c.*)) }"),
    ],
)
def test_operands_fit_those_beside_them(least: int, rule: str) -> None:
    assert found("dialect onnx;\n" + rule).found >= least


def test_bounds_of_clip_are_scalars() -> None:
    """A vector, whose first number a condition reads, is no bound."""
    rule = api.parse_rules(
        "dialect onnx;\nrule r(x, low: const) { y = Clip(x, low); y where (low.value if low.ndim == 0 else "
        "low.value[0]) < 0 => Clip(Relu(x), low) }"
    ).own["r"]
    drawn = [i.before for i in instances(rule, Search(), 0, 60.0, 60)]
    shapes = {g.value(n).shape for g in drawn for n in g.nodes() if g.op[n] is CONST}
    assert shapes == {()} and len(drawn) > 10


def test_a_slice_that_cannot_be_is_no_error() -> None:
    assert found("rule r(a): nn.relu(a) where a.shape[::0] == (1,) => a;", 20).found == 0


def test_sizes_that_constraints_share_are_computed_before_they_are_read() -> None:
    rule = (
        "rule r(a: any(shape = ((n := _), n)), b: any(shape = (n, (m := _))), c: any(shape = (m, _))): "
        "nn.matmul(a, nn.matmul(b, c)) => nn.matmul(a, nn.matmul(b, c));"
    )
    search = found(rule.replace("nn.matmul(", "mm(").replace(
        "rule r", "fn mm(a, b) = nn.matmul(a, b, transpose_a = false, transpose_b = false);\nrule r"
    ))
    assert search.found >= 50


# masks are of two shapes, and rows that are looked up have none in the evaluator
_WITHOUT_MASKS = {
    "com.microsoft.MultiHeadAttention": 3, "com.microsoft.Attention": 3,
    "com.microsoft.EmbedLayerNormalization": 7,
}


@pytest.mark.parametrize(
    "operator", [name for name in ONNX_SAMPLERS if name not in {"If", "Loop", *OF_SEQUENCES}]
)
def test_onnx_samplers_propose_what_can_be_computed(operator: str) -> None:
    """Of thirty proposals, at least one in five is a call that ONNX types and computes; `test_bodies` tries
    what needs a body, `test_operand_attributes` what needs a sequence."""
    dialect = load_dialect("onnx")
    signature = dialect.operators[operator]
    computed = 0
    for seed in range(30):
        rng = Random(seed)
        count = 2 if any(o.variadic for o in signature.operands) else len(signature.operands)
        given = {"equation": "ij,jk->ik"} if operator == "Einsum" else {}
        needed = [k for k in range(count) if operator not in ("Conv", "ConvTranspose") or k < 3]
        needed = needed[: {"Attention": 4, "RotaryEmbedding": 3, **_WITHOUT_MASKS}.get(operator, count)]
        shapes, extra = sample(rng, operator, signature.traits, [None] * len(needed), given, ONNX_SAMPLERS)
        graph = Graph("onnx")
        operands = []
        for k in needed:
            dtype = declared_type(signature, k, operand_type(operator, k, "float32"))
            value = extra.get(f"%{k}")
            if value is None:
                operands.append(graph.add_input(f"x{k}", TensorType(shapes[k], dtype)))
            else:
                array = np.asarray(value.value if isinstance(value, Only) else value).astype(dtype)
                operands.append(graph.add_const(array, TensorType(tuple(array.shape), dtype)))
        if operator == "Resize":
            operands[1] = operands[2] = -1
        attrs = {name: value for name, value in {**extra, **given}.items() if name in signature.attributes}
        node = graph.add(operator, operands, attrs)
        try:
            graph.types[node] = infer_node(graph, dialect, node)
            graph.set_outputs([node])
            evaluate(graph, dialect, random_inputs(graph, 0))
        except (TypeInferenceError, EvaluationError):
            continue
        computed += 1
    assert computed >= 6


def test_keys_of_attention_have_their_heads_in_an_axis_or_side_by_side() -> None:
    traits = load_dialect("onnx").operators["com.microsoft.MultiHeadAttention"].traits
    drawn = [
        sample(Random(seed), "com.microsoft.MultiHeadAttention", traits, [None] * 3, {}, ONNX_SAMPLERS)
        for seed in range(60)
    ]
    assert {len(keys) for (_, keys, _), _ in drawn} == {3, 4}
    assert len({attrs["num_heads"] for _, attrs in drawn}) > 2
    assert all(len(keys) == 3 or keys[1] == attrs["num_heads"] for (_, keys, _), attrs in drawn)


def test_the_graphs_of_own_tests_are_instances() -> None:
    rule = (
        "rule r(x, p: any(shape = (13, 11))) { y = x + p; nn.relu(y) where x.shape[0] * 7 == p.shape[0] * "
        "p.shape[1] + 11 * 3 => nn.relu(p + x) }\n"
    )
    test = (
        'test "sizes" for r { x: input float32[13, 11];  p: input float32[13, 11];  nn.relu(x + p) => '
        'nn.relu(p + x) }\n'
    )
    other = 'test "symbols" for s { x: input float32[n, m];  -(-x) => x }\n'
    rules = api.parse_rules("rule s(x): -(-x) => x;\n" + rule + test + other)
    s = verify_now(rules.own["s"], Settings(seconds=2, wanted=3), rules.programs)
    assert s.coverage["own test"] == 1 and s.verdict in ("exact", "proved")
    wrong = api.parse_rules(
        'rule w(x): nn.relu(x) => x;\ntest "no change" for w { x: input float32[2]; y = nn.relu(x); '
        'nn.relu(y) => nn.relu(x) }\n'
    )
    assert verify_now(wrong.own["w"], Settings(seconds=2), wrong.programs).verdict == "refuted"


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rounding_is_no_difference(dtype: str) -> None:
    right = (
        f'rule r(x: any(dtype = "{dtype}"), y: any(shape = x.shape), z: any(shape = x.shape)): '
        '(m := tanh((x + y) + z) * 100.0) where m.ndim == x.ndim => tanh(x + (y + z)) * 100.0;'
    )
    wrong = right.replace("=> tanh(x", "=> tanh(x * 1.01")
    assert verify_now(api.parse_rules(right).own["r"], Settings(seconds=3)).verdict in (
        "tested", "exact", "proved",
    )
    assert verify_now(api.parse_rules(wrong).own["r"], Settings(seconds=3)).verdict == "refuted"


def test_a_target_that_cannot_be_computed_refutes() -> None:
    rules = api.parse_rules(
        "dialect onnx;\nrule r(x, w) { c = Conv(x, w, none, group = 2); Neg(c) => Neg(Conv(x, w, none, c.*, "
        "group = 1)) }"
    )
    verdict = verify_now(rules.own["r"], Settings(seconds=3))
    assert verdict.verdict == "refuted" and "where the source can" in verdict.reason


def test_conditions_on_all_elements_of_one_number() -> None:
    assert found("rule r(x, z: const): x + z where all(v == 0 for v in z.value) => x;").found > 0


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_those_of_a_narrow_type() -> None:
    bound = "sum(v[0][0] for v in c.value) < 3e38"
    assert found(f"rule r(x, c: const) {{ y = x + c; y where c.ndim == 5, {bound} => c + x }}").found > 0


def test_a_chain_without_end_in_sight() -> None:
    """The number of its links is a limit: no instance of this rule fits into memory or time."""
    chain = "chain c in 1000000000000000000.. from p { y = nn.relu(prev.y); }"
    search = found(f"rule r(a) {{ p = nn.relu(a); {chain} c[-1].y => a }}", 3)
    assert search.found == 0 and "more than 200 instances" in str(search.obstacle)


def test_attributes_of_the_instance_before_say_nothing_of_the_first_one_of_a_chain() -> None:
    text = "rule r(x) { chain c in 2..2 from x { y = nn.softmax(prev.y, prev.y.*); } c[-1].y => x }"
    search = found(text)
    assert search.found > 0, search.obstacle


def test_scores_are_small_where_a_number_hides_them() -> None:
    """Scores of 10⁵ are none that −10⁴ was chosen for."""
    rules = api.parse_rules("""dialect onnx;
        rule r(x, y, mask: const(shape = (1, 1, _, _), dtype = "bool"), c: const(shape = ())) {
            s = MatMul(x, y) * 24.0;
            Softmax((m := Where(mask, s, c)), axis = -1)
            where s.ndim == 4, s.dtype == "float32", m.shape == s.shape, c.value <= -1e4, c.value > -2e4,
                  all(any(e for e in row) for row in mask.value[0][0])
          => Softmax(s + Where(mask, const(value = 0.0, dtype = "float32"), c), axis = -1)
        }""")
    assert verify_now(rules.own["r"], Settings(seconds=3, proof_steps=0)).verdict != "refuted"


def test_numbers_that_an_operator_asks_for_have_the_shape_that_a_leaf_states() -> None:
    """One number for all rows would tell no scale of rows from one of columns."""
    rule = api.parse_rules(
        "dialect onnx; rule r(q: any(shape = (4, 4)), s: const(shape = (4,), dtype = \"float32\")):"
        " Relu(DequantizeLinear(q, s)) => DequantizeLinear(q, s);"
    ).own["r"]
    drawn = [i.before for i in instances(rule, Search(), 0, 60.0, 12)]
    scales = [g.value(n) for g in drawn for n in g.nodes() if g.op[n] is CONST]
    assert len([values for values in scales if len(set(values.ravel())) > 1]) > len(drawn) // 2 > 1


@pytest.mark.parametrize(
    "condition",
    ["c.value != d.value", "not c.value == d.value", "c.value < d.value", "c.value != [0, 1, 2]"],
)
def test_constants_compared_as_a_whole_are_no_error(condition: str) -> None:
    text = (
        "dialect onnx; rule t(x, c: const(shape = (3,)), d: const(shape = (3,))): (x + c) + d "
        f"where x.ndim == 2, {condition} => (x + d) + c;"
    )
    (rule,) = api.parse_rules(text).own.values()
    assert verify_now(rule, Settings(seconds=20, wanted=4, proof_steps=0)).verdict != "refuted"


def test_an_operand_of_a_wished_shape_keeps_it() -> None:
    """An operator would rather have a constant of its own there: indices of one row, say."""
    text = "dialect onnx;\nrule r(w, ids) { y = Gather(w, ids, axis = 0); y => Gather(w, ids, y.*) }"
    rule = api.parse_rules(text).own["r"]
    ids = next(number for number, leaf in rule.leaves.items() if leaf.name == "ids")
    wishes = {(ids, "shape"): (2, 3), (ids, "dtype"): "int64"}
    drawn = [wished(rule, wishes, seed, Search(), set()) for seed in range(40)]
    found = [i.before.types[match.slots[ids]] for i in drawn if i and (match := match_in(rule, i.before))]
    assert len(found) > 20
    assert set(found) == {TensorType((2, 3), "int64")}


@pytest.mark.parametrize(
    "source, far",
    [
        ("Less(Cast(x, to = \"int32\"), c)", True),
        ("Less(Cast(x, to = \"int32\"), BitShift(x, c, direction = \"LEFT\"))", False),
        ("Expand(x, c + 1)", False),
        ("Mul(x, c) where all(k >= 0 for k in range(c.value))", False),
    ],
)
def test_constants_are_far_from_zero_where_no_size_depends_on_them(source: str, far: bool) -> None:
    call, _, condition = source.partition(" where ")
    text = f"y = {call}; Identity(y)" + f" where {condition}" * bool(condition)
    text = f"dialect onnx; rule r(x, c: const(shape = ())) {{ {text} => y }}"
    (rule,) = api.parse_rules(text).own.values()
    (number,) = [k for k, leaf in rule.leaves.items() if leaf.name == "c"]
    assert (number not in not_computed_with(rule)) == far


def test_numbers_far_from_zero_are_the_ends_of_types() -> None:
    rng = Random(0)
    drawn = {number for _ in range(2000) for number in open_numbers(rng, "int32", 1, True)}
    assert {2**31 - 1, -(2**31), 32768, 255, 256, 2**11 + 1, 1, -1, 0} <= drawn
    assert max(abs(number) for _ in range(2000) for number in open_numbers(rng, "int32", 1, False)) == 100
    assert max(open_numbers(rng, "uint8", 2000, True)) <= 255


@pytest.mark.parametrize(
    "condition",
    [
        "x.shape[1] <= 33", "34 > x.shape[1]", "abs(c.value) <= 128.0", "x.shape[0] + 5 < x.shape[1]",
        "c.value < 3 or x.shape[1] >= 300",
    ],
)
def test_conditions_just_hold(condition: str) -> None:
    text = "dialect onnx; rule r(x: any(shape = (_, _)), c: const(shape = ())) "
    (rule,) = api.parse_rules(text + f"{{ y = Mul(x, c); y where {condition} => Mul(c, x) }}").own.values()
    for tie in ties(rule).values():
        found = [towards(rule, tie, Search(), seed, 1) for seed in range(6)]
        assert any(instance is not None and tie.key in instance.seen for instance in found)


def test_truth_values_may_all_be_true() -> None:
    graph = Graph("onnx")
    graph.set_outputs([graph.add(INPUT, (), {}, TensorType((70,), "bool"), "b")])
    assert Inputs(graph, 0).of_kind("positive")["b"].all() and not Inputs(graph, 0).normal["b"].all()


@pytest.mark.parametrize(
    "inputs, source, types",
    [
        ("x", "Relu(x)", ("int16",)),
        ("x", "Exp(x)", ()),
        ("x, z", "Less(Cast(x, to = \"int64\"), z)", ("int16", "uint16", "uint32", "uint64")),
        ("x: any(dtype = \"int8\")", "Neg(x)", ()),
    ],
)
def test_rare_element_types_fit_all_operators(inputs: str, source: str, types: tuple[str, ...]) -> None:
    text = f"dialect onnx; rule r({inputs}) {{ y = {source}; Identity(y) => y }}"
    (rule,) = api.parse_rules(text).own.values()
    assert rare_types(rule) == types


@pytest.mark.parametrize(
    "rule",
    [
        'x: any(dtype = "uint32"), c: const(shape = ())): Div(x, c) => Div(x, c)',
        'x: any(dtype = "int16"), y): Max(x, y) => Max(y, x)',
        'x): Add(Cast(x, to = "uint16"), const(value = 1)) => Cast(x, to = "uint16")',
        'x: any(dtype = "float32"), p, c, s): com.microsoft.RotaryEmbedding(Neg(x), p, c, s)'
        " => com.microsoft.RotaryEmbedding(x, p, c, s)",
    ],
)
def test_operands_have_the_type_of_those_beside_them(rule: str) -> None:
    """One that the rule leaves open fits a stated type, and what an operator of com.microsoft declares."""
    text = f"dialect onnx; rule r({rule};"
    assert len(list(instances(api.parse_rules(text).own["r"], Search(), 0, 60.0, 8))) >= 4


def test_literal_numbers_have_more_dimensions_than_inputs() -> None:
    rule = "dialect onnx; rule r(x): Mul(x, 0.25) => Div(x, 4);"
    verdict = verify_now(api.parse_rules(rule).own["r"], Settings(seconds=30))
    assert verdict.verdict == "refuted"
    assert "a literal number matches a constant of any rank" in verdict.reason


def test_conditions_on_products_of_floats_are_met() -> None:
    text = (
        'dialect onnx; rule r(s: const(shape = (), dtype = "float32"), x: any(dtype = "float32")):'
        " Mul(x, s) where s.value > 0.0, s.value * 255.0 <= 6.0 => Mul(s, x);"
    )
    assert len(list(instances(api.parse_rules(text).own["r"], Search(), 0, 60.0, 24))) >= 3


def test_queries_have_more_heads_than_keys_in_some_instances() -> None:
    text = (
        'dialect onnx; rule r(q: any(dtype = "float32", shape = (_, _, _, _)), k, v):'
        " Neg(Attention(q, k, v).0) => Attention(q, k, Neg(v)).0;"
    )
    heads = set()
    for instance in instances(api.parse_rules(text).own["r"], Search(), 0, 60.0, 60):
        graph = instance.before
        (call,) = (n for n in graph.nodes() if graph.op[n] == "Attention")
        shapes = [getattr(graph.types[o], "shape", None) or () for o in graph.operands[call][:2]]
        heads.add(shapes[0][1:2] > shapes[1][1:2])
    assert heads == {True, False}


def test_zero_points_have_the_shape_of_their_scale() -> None:
    data, scale = TensorType((2, 3), "float32"), TensorType((), "float32")
    check_operands("QuantizeLinear", [data, scale, TensorType((1,), "uint8")], {})
    with pytest.raises(Misfit, match="a zero point of .* and a scale of"):
        check_operands("QuantizeLinear", [data, scale, TensorType((1, 1), "uint8")], {})


def test_no_more_numbers_are_turned_than_a_head_has() -> None:
    data = TensorType((2, 3, 4, 6), "float32")
    check_operands("RotaryEmbedding", [data], {"rotary_embedding_dim": 6})
    with pytest.raises(Misfit, match="numbers of smaller heads"):
        check_operands("RotaryEmbedding", [data], {"rotary_embedding_dim": 8})
    rows = TensorType((2, 4, 18), "float32")
    check_operands("RotaryEmbedding", [rows], {"rotary_embedding_dim": 6, "num_heads": 3})
    with pytest.raises(Misfit):
        check_operands("RotaryEmbedding", [rows], {"rotary_embedding_dim": 8, "num_heads": 3})

"""Proofs for all shapes: what must be proved, and that nothing wrong is."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from tests.shipped import rule_names, rules_in

FOLDER = Path(__file__).parent / "wrong"
WRONG = {
    f"{path.stem}: {name}": path
    for path in sorted(FOLDER.glob("*.gsl"))
    for name in rule_names(path) if name.endswith("_wrong")
}


def proved(text: str) -> bool:
    (rule,) = api.parse_rules(text).own.values()
    try:
        prove(rule)
    except NotProved:
        return False
    return True


QUICK = [
    "simplify_bias_add", "concretize_zeros_like", "parallel_two_conv", "parallel_conv_variadic",
    "parallel_dense", "parallel_dense_variadic", "parallel_batch_matmul_variadic", "merge_element_wise",
    "eliminate_dropout", "trans_trans",
]
SLOW = [
    "concretize_broadcast_to_like", "two_conv_add", "merge_element_wise_variadic", "split_concat",
    "lower_l2_norm", "lower_layer_norm", "lower_batch_norm", "simplify_transpose",
]


def long(*names: str) -> list[ParameterSet]:
    """These only in `make test-long`."""
    return [pytest.param(name, marks=pytest.mark.long) for name in names]


@pytest.mark.parametrize("name", [*QUICK, *long(*SLOW)])
def test_shipped_rules_are_proved(name: str) -> None:
    assert prove(api.load("std.relay").known[name], 40_000).cases > 0


@pytest.mark.parametrize(
    "name",
    [
        "transpose_nothing", "add_negative",
        *long("gemm_add", "transposed_gemm", "matmul_add_to_gemm", "log_softmax", "parallel_matmul"),
    ],
)
def test_shipped_onnx_rules_are_proved(name: str) -> None:
    assert prove(api.load("std.onnx").known[name], 6_000).cases > 0


@pytest.mark.long
def test_how_many_shipped_rules_are_proved() -> None:
    def count(module: str) -> int:
        found = 0
        for rule in api.load(module).known.values():
            try:
                prove(rule)
                found += 1
            except NotProved:
                pass
        return found

    assert count("std.relay") >= 26 and count("std.onnx") >= 90


def test_what_is_proved_is_stated() -> None:
    (rule,) = api.parse_rules("rule t(x): sqrt(x) * sqrt(x) => x;").own.values()
    assert (
        prove(rule).claim
        == (
            "for every rank and size, every element type that the operators take (real arithmetic, non-empty "
            "dimensions, ranks up to 1 suffice)"
        )
    )
    (rule,) = api.parse_rules(
        "rule t(x: any(shape = (_, _)), y: any(shape = x.shape)): x + y => y + x;"
    ).own.values()
    assert (
        prove(rule).claim
        == (
            "for every rank and size, every element type that the operators take (real arithmetic, non-empty "
            "dimensions)"
        )
    )


@pytest.mark.parametrize(
    ("rule", "real"),
    [
        ('rule t(x: any(dtype = "int32"), y): x + y => y + x;', False),
        ('rule t(x: any(dtype = "bool"), y): logical_and(x, y) => logical_and(y, x);', False),
        ('rule t(x: any(dtype = "int32")): cast(cast(x, dtype = "float64"), dtype = "int32") => x;', True),
        ('rule t(x: any(dtype = "float32"), y): x + y => y + x;', True),
        ("rule t(x, y): bitwise_and(x, y) => bitwise_and(y, x);", False),
        ("rule t(x, y): x + y => y + x;", True),
    ],
)
def test_real_arithmetic_is_only_assumed_of_real_numbers(rule: str, real: bool) -> None:
    (checked,) = api.parse_rules(rule).own.values()
    assert ("(real arithmetic, " in prove(checked).claim) == real


def test_the_same_proofs_every_time() -> None:
    rule = api.load("std.relay").known["bias_add_add"]
    first, second = prove(rule, 10_000), prove(rule, 10_000)
    assert (first.claim, first.cases) == (second.claim, second.cases)


def test_there_are_wrong_rules() -> None:
    assert len(WRONG) >= 90


def wrong_rule(name: str) -> CheckedRule:
    return rules_in(WRONG[name])[name.partition(": ")[2]]


@pytest.mark.parametrize("name", WRONG)
def test_no_wrong_rule_is_proved(name: str) -> None:
    with pytest.raises(NotProved):
        prove(wrong_rule(name), 3_000)


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_no_wrong_rule_is_proved_with_time(name: str) -> None:
    with pytest.raises(NotProved):
        prove(wrong_rule(name), 300_000)


@pytest.mark.parametrize(
    "text",
    [
        "rule t(x): nn.relu(nn.relu(x)) => nn.relu(x);", "rule t(x): maximum(x, x) => x;",
        "rule t(x) { y = nn.relu(x) * 2.0; y where y.shape == x.shape => nn.relu(x * 2.0) }",
        "rule t(x): abs(nn.relu(x)) => nn.relu(x);", "rule t(x): exp(x) * exp(x) => exp(x * 2.0);",
        "rule t(x): sqrt(x) * sqrt(x) => x;", "rule t(x): log(exp(x)) => x;",
        "rule t(x) { y = exp(log(x * x) * 1.0); y where y.shape == x.shape => x * x }",
        "rule t(x, y: any(shape = x.shape, dtype = x.dtype)): log(x) + log(y) => log(x * y);",
        "rule t(x: any(shape = (_, _))): transpose(transpose(x, axes = none), axes = none) => x;",
        *long(
            "rule t(x, y, z): (x + y) + z => x + (y + z);", "rule t(x, y, z): x * (y + z) => x * y + x * z;"
        ),
        (
            "rule t(x, w: var, v: var(shape = w.shape, dtype = w.dtype)) { a = nn.dense(x, w); b = "
            "nn.dense(x, v, a.*); a + b => nn.dense(x, w + v, a.*) }"
        ),
        "rule t(x: any(shape = (_, _)), y: any(shape = (_, _)), z: any(shape = (_, _))):"
        ' nn.matmul(nn.matmul(x, y, out_dtype = "", units = none, transpose_a = false, transpose_b = false), '
        'z,'
        ' out_dtype = "", units = none, transpose_a = false, transpose_b = false) => nn.matmul(x, '
        'nn.matmul(y, z));',
        (
            "rule t(x, y: any(dtype = x.dtype)) { concatenate((x, y), axis = 0) => concatenate((x, y), axis "
            "= -x.ndim) }"
        ),
        "rule t(x): floor(floor(x)) => floor(x);", "dialect onnx; rule t(x): Not(Not(x)) => x;",
        "dialect onnx; rule t(x): Mish(x) => x * Tanh(Softplus(x));",
        "dialect onnx; rule t(x, y) { c = splat(true); w = Where(c, x, y); w where w.shape == x.shape => x }",
        "dialect onnx; rule t(x, a: const(shape = ())): x * Sigmoid(x * a) => Swish(x, alpha = a.value);",
        (
            'dialect onnx; rule t(x) { s = Shape(x, start = 1, end = none); s => const(value = x.shape[1:], '
            'dtype = "int64") }'
        ),
        (
            "dialect onnx; rule t(x, a: any) { y = ReduceMax(x, a, keepdims = 1); y where y.shape == x.shape "
            "=> x }"
        ),
        "dialect onnx; rule t(x, axes: const) { m = ReduceSum(x, axes, keepdims = 1); m where axes.shape == "
        "(1,), axes.value[0] == 0 => "
        'ReduceSum(x, const(value = [0], dtype = "int64"), keepdims = 1) }',
        "rule t(x: any(shape = (2, 1))) { ones = [k for k in [0, 1] if x.shape[k] == 1]; first = [ones[0]]; "
        "y = nn.relu(nn.relu(x)); "
        "y => nn.relu(x) if first == (1,) else x }",
    ],
)
def test_right_rules_are_proved(text: str) -> None:
    assert proved(text)


@pytest.mark.parametrize(
    "text",
    [
        "rule t(x): nn.relu(x) * -2.0 => nn.relu(x * -2.0);", "rule t(x): nn.relu(x) => sqrt(x) * sqrt(x);",
        "rule t(x) { y = exp(log(x * x) * 0.5); y where y.shape == x.shape => x }",
        "rule t(x, y: any(shape = x.shape, dtype = x.dtype)): log(x * y) => log(x) + log(y);",
        "rule t(x, y: any(shape = x.shape, dtype = x.dtype)): nn.relu(x) + y => nn.relu(x) * y / y + y;",
        'rule t(x): nn.relu(nn.relu(x)) => (x if x.op == "tanh" else nn.relu(x));',
        'rule t(x): nn.relu(nn.relu(x)) => (x if x.kind == "proj" else nn.relu(x));',
        "rule t(x): nn.relu(nn.relu(x)) => (nn.relu(x) if x.ndim < 9 else x);", "rule t(x): x + 0 => x;",
        'rule t(x: any(dtype = "int32")): maximum(x + 1, x) => x + 1;',
        'rule t(x: any(dtype = "int8"), y: const(shape = ())): nn.relu(x * y) + y => nn.relu(x) * y + y;',
        'rule t(x: any(dtype = "int32", shape = (_, _))): x * 4 / 2 => x * 2;',
        "rule t(x) { each b in 2.. { w = var(shape = (_, _)); d = nn.dense(x, w); } *b.d => "
        "*[i.d if all([j.w.shape[0] == 4 for j in b]) else nn.relu(i.d) for i in b] }",
        "rule t(x) { each b in 2.. { w = var(shape = (_, _)); d = nn.dense(x, w); } *b.d => "
        "*[nn.relu(i.d) if i.w.shape[0] == 4 and not all([j.w.shape[0] == 4 for j in b]) else i.d for i in "
        "b] }",
        'rule t(x: any(dtype = "int8"), w: var(dtype = "int8"), v: var(dtype = "int8", shape = w.shape)) '
        '{ a = nn.dense(x, w, out_dtype = "int32"); b = nn.dense(x, v, a.*); a + b => nn.dense(x, w + v, '
        'a.*) }',
        "dialect onnx; rule t(x, r: any?, t: any?): Dropout(x, r, t).0 => x;",
        (
            "dialect onnx; rule t(x, a: any) { s = ReduceSum(x, a); s => ReduceSum(x, a, keepdims = "
            "s.keepdims) }"
        ),
        "rule t(x): maximum(x, 0.0) => x;", "rule t(x): exp(x) * exp(x) => exp(x);",
        "rule t(x: any(shape = (_, _))): transpose(transpose(x, axes = none), axes = [0, 1]) => x;",
        "rule t(x, y): concatenate((x, y), axis = 0) => concatenate((y, x), axis = 0);",
        "rule t(x, y: any(dtype = x.dtype)): x + y => y;", "rule t(x): floor(ceil(x)) => floor(x);",
        "dialect onnx; rule t(x): Not(x) => x;",
        "dialect onnx; rule t(x): HardSwish(x) => x * HardSigmoid(x, alpha = 0.25, beta = 0.5);",
        (
            "dialect onnx; rule t(x, y) { c = splat(false); w = Where(c, x, y); w where w.shape == x.shape "
            "=> x }"
        ),
        "dialect onnx; rule t(x) { c = splat(true); y = Or(x, c); y where y.shape == x.shape => x }",
        (
            "dialect onnx; rule t(x, a: const(shape = ())): x * Sigmoid(x * a) => Swish(x, alpha = a.value + "
            "1.0);"
        ),
        (
            'dialect onnx; rule t(x: any(shape = (_, _))) { s = Shape(x, start = 0, end = none); s => '
            'const(value = x.shape[::-1], dtype = "int64") }'
        ),
        "dialect onnx; rule t(x, a: any) { y = ReduceMax(x, a, keepdims = 1); y => x }",
        "dialect onnx; rule t(x, axes: const) { m = ReduceSum(x, axes, keepdims = 1); m where axes.shape == "
        "(1,), axes.value[0] == -1 => "
        'ReduceSum(x, const(value = [0], dtype = "int64"), keepdims = 1) }',
        "rule t(x: any(shape = (_, _))) { ones = [k for k in [0, 1] if x.shape[k] == 1]; all_ = [k for k in "
        "ones]; y = nn.relu(nn.relu(x)); "
        "y where x.shape[0] == 1 => nn.relu(x) if len(all_) == 2 else x }",
    ],
)
def test_wrong_rules_are_not(text: str) -> None:
    assert not proved(text)

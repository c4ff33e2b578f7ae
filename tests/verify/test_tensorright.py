"""TensorRight's rules (Arora et al., POPL 2025: XLA's algebraic simplifier), written as rules of ours: what
is proved of them, for which ranks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.prove.ranks.ranks import sufficient
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import Settings, verify_now
from tests.shipped import rule_names, rules_in

FOLDER = Path(__file__).parent / "tensorright"
RULES = [f"{path.stem}/{name}" for path in sorted(FOLDER.glob("*.gsl")) for name in rule_names(path)]
WRONG = {
    "slices/slice_ew": "an attribute of the element-wise operator is not copied (`fixed.gsl` has it right)",
    "structure/transpose_ew": "the same",
    "structure/pad03": "a broadcast may make other axes longer, too (`fixed.gsl` has it right)",
    "elementwise/max01": "float32 has numbers below -3.4e38",
    "elementwise/max02": "float32 has numbers above 3.4e38",
    "elementwise/rem07": "x + c may wrap",
    "elementwise/rem08": "x + n may wrap",
    "onnx/pad_pad": "the new constant gets the type of the data",
    "onnx/conv_pad": "widths may be negative",
    "onnx/gather_gather2": "a scalar picks no vector",
}
INDICES = "onnx/slice07"  # right, but for indices of int32: new constants are int64
OPEN = {
    "elementwise/rem06": "ranges",
    "fixed/iota01": "ranges",
    "onnx/range01": "ranges",
    "slices/dyslice04": "slices by operands that are computed",
    "onnx/gather_gather": "gathers",
    "onnx/maxpool_relu": "pooling",
    "onnx/avgpool_add": "pooling",
}
PROVED = [name for name in RULES if name not in WRONG and name not in OPEN and name != INDICES]
# Proved for ranks up to a bound only.
UP_TO = {
    "structure/bcast06", "structure/concat05", "structure/concat06", "structure/reduce_bcast",
    "structure/relabel01", "structure/relabel01b", "structure/relabel02", "onnx/slice_relu",
    "onnx/pad01", "onnx/expand_expand",
}
SAMPLE = PROVED[::6]


def rule_of(name: str) -> CheckedRule:
    file, _, rule = name.partition("/")
    return rules_in(FOLDER / f"{file}.gsl")[rule]


def outcome(name: str) -> Proof | None:
    try:
        return prove(rule_of(name))
    except NotProved:
        return None


@pytest.mark.parametrize(
    "name", [*SAMPLE, *[pytest.param(name, marks=pytest.mark.long) for name in PROVED if name not in SAMPLE]]
)
def test_proved(name: str) -> None:
    proof = outcome(name)
    assert proof is not None and (proof.ranks is None) == (name not in UP_TO)


def test_conditions_on_captured_values_are_asked_before_slices_make_cases() -> None:
    assert prove(rule_of("structure/concat04")).steps < 5_000  # 93,210 where they are asked at the end


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_not_proved(name: str) -> None:
    assert outcome(name) is None


def test_a_proof_does_not_excuse_a_target_that_does_not_fit_for_integers() -> None:
    verdict = verify_now(rule_of(INDICES), Settings(seconds=10))
    assert verdict.verdict == "tested" and "the target is ill-typed for int32" in verdict.reason


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open(name: str) -> None:
    assert outcome(name) is None


def test_most_are_proved() -> None:
    """Of the rules that are not ONNX's, as they were written or in a second version."""
    written = {name.partition("/")[2] for name in RULES if not name.startswith(("onnx/", "fixed/"))}
    proved = {name.partition("/")[2] for name in PROVED if not name.startswith("onnx/")}
    assert len(written) == 118 and len(written & proved) == 112


# ── how many axes suffice ──


@pytest.mark.parametrize(
    "text, enough",
    [
        ("rule t(x): nn.relu(nn.relu(x)) => nn.relu(x);", 1),
        ("rule t(x, y: any(shape = x.shape)) { s = x + y; s where s.shape == x.shape => y + x }", 1),
        ("rule t(x) { a = reverse(x); b = reverse(a, a.*); b => x }", 3),
        (
            (
                "rule t(x, y) { c = concatenate((x, y)); nn.relu(c) => concatenate((nn.relu(x), nn.relu(y)), "
                "c.*) }"
            ),
            4,
        ),
        ("rule t(x) { s = x + splat(0); s where s.shape[2] == 1 => x }", None),
        ("rule t(x) { s = x + splat(0); s where s.ndim == 2 => x }", 3),
        ("rule t(x) { s = x + splat(0); s where not s.ndim > 2 => x }", 1),
        ("rule t(x) { s = x + splat(0); s where s.ndim == x.ndim => x }", 1),
        ("rule t(x) { s = x + splat(0); s where x.ndim < s.ndim => x }", 2),
        ("rule t(x) { s = x + splat(0); s where x.kind != \"const\" => x }", 1),
        ("rule t(x, y: any(shape = (_, _))) { s = x + y; s => y + x }", 3),
        (
            (
                "rule t(x, c: const) { p = x + c; q = x * c; y = p | q; y where match y { "
                "p => numel(c.shape) == 1, q => c.value[0] == 2.0 } => x }"
            ),
            None,
        ),
        (
            (
                "rule t(x, c: const) { p = x + c; q = x * c; y = p | q; y where match y { "
                "p => numel(c.shape) == 1, q => numel(c.shape) == 1 and c.value[0] == 2.0 } => x }"
            ),
            1,
        ),
        ("rule t(x, y: any(shape = (_, x.shape[0]))) { s = x + y; s => y + x }", None),
        ("rule t(x) { y = nn.leaky_relu(x); nn.relu(y) where y.alpha >= 0.0 => nn.relu(x) }", 1),
        ("rule t(x, y) { a = reverse(x); b = reverse(y, a.*); a + b => reverse(x + y, a.*) }", None),
        ("rule t(x) { t = transpose(x); u = x + t; u => t + x }", None),  # axes that stand for one another
        (
            (
                "rule t(x) { s = sum(x, axis = (1,), keepdims = true, exclude = false); s where x.shape[1] "
                "== 1 => x }"
            ),
            5,
        ),
        (
            (
                "rule t(x) { s = sum(x, keepdims = true, exclude = false); r = strided_slice(s); r => "
                "strided_slice(sum(x, s.*), r.*) }"
            ),
            None,
        ),
        ("rule t(x) { r = reshape(x); nn.relu(r) => reshape(nn.relu(x), r.*) }", None),
    ],
)
def test_how_many_axes_suffice(text: str, enough: int | None) -> None:
    (rule,) = api.parse_rules(text).own.values()
    assert sufficient(rule) == enough


_RANKS_COMPARED = [
    f"rule t({inputs}) {{ c = splat(0); s = {sum}; s where {condition} => {result} }}"
    for inputs, sum, result in (
        ("x", "x + c", "x"), ("x", "x + c", "c + x"), ("x, y", "(x + y) + c", "x + y")
    )
    for condition in (
        "s.ndim == x.ndim", "s.ndim != x.ndim", "not s.ndim > x.ndim", "x.ndim < s.ndim", "c.ndim == 0",
        "c.ndim < 2", "not c.ndim == 1", "c.ndim <= x.ndim", "s.ndim == 2 or c.ndim == 0",
        "c.ndim == 1 and x.ndim >= 1", "numel(c.shape) == 1 and c.ndim <= x.ndim", "s.shape == x.shape",
    )
]


_LAST_OF_X = "normalize_axis(axes.value[0], x.ndim) == x.ndim - 1"
_LAST = [
    f"rule t(x, m) {{ s = x + m; y = Softmax(s, axis = {axis}); y where {condition} => {result} }}"
    for axis, result in (
        (-1, "Softmax(m + x, axis = -1)"), (-1, "Softmax(x, axis = -1)"), (0, "Softmax(m + x, axis = 0)")
    )
    for condition in (
        "s.ndim == x.ndim", "m.shape == (1, 1)", "x.ndim != 2", "m.shape[m.ndim - 1] == 1",
        "s.shape == x.shape", "m.ndim == 1 and m.shape[0] == x.shape[x.ndim - 1]",
    )
] + [
    f"""rule t(x, axes: const) {{
        d = x * 2.0; y = ReduceMean({operand}, axes, keepdims = {keep}); y where {condition}
        => ReduceMean({result}, const(value = [-1], dtype = "int64"), keepdims = 1) * {factor}
    }}"""
    for operand, result, factor in (("d", "x", "2.0"), ("(d * d)", "x * x", "4.0")) for keep in (0, 1)
    for condition in (
        f"d.ndim == x.ndim, axes.shape == (1,), {_LAST_OF_X}",
        f"axes.shape == (1,), {_LAST_OF_X}",
        f"d.ndim > x.ndim, axes.shape == (1,), {_LAST_OF_X}",
        "d.ndim == x.ndim, axes.shape == (1,)",
        "d.ndim == x.ndim, axes.shape == (1,), axes.value[0] == -1",
        f"d.ndim == x.ndim, {_LAST_OF_X}",
        f"d.ndim == x.ndim, axes.shape == (1,), {_LAST_OF_X} or x.ndim == 1",
        f"d.ndim == x.ndim, axes.shape == (1,), {_LAST_OF_X} or x.ndim == 2",
    )
]


@pytest.mark.parametrize("text", [f"dialect onnx;\n{text}" for text in _LAST])
def test_more_axes_than_the_bound_say_the_same_of_last_axes(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rule,) = api.parse_rules(text).own.values()
    enough = sufficient(rule)
    found = _is_proved(rule)
    monkeypatch.setattr("gslang.verify.prove.prove.sufficient", lambda rule: None)
    monkeypatch.setattr("gslang.verify.prove.prove.RANKS", ((enough or 2) + 1,))
    assert _is_proved(rule) == found


@pytest.mark.parametrize("text", _RANKS_COMPARED)
def test_more_axes_than_the_bound_say_the_same_of_compared_ranks(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rule,) = api.parse_rules(text).own.values()
    enough = sufficient(rule)
    assert enough is not None
    found = _is_proved(rule)
    monkeypatch.setattr("gslang.verify.prove.prove.sufficient", lambda rule: None)
    monkeypatch.setattr("gslang.verify.prove.prove.RANKS", (enough + 2,))
    assert _is_proved(rule) == found


def _is_proved(rule: CheckedRule) -> bool:
    try:
        return prove(rule, 200_000).cases > 0
    except NotProved:
        return False


@pytest.mark.long
@pytest.mark.parametrize("name", PROVED)
def test_a_bound_that_suffices_says_the_same_of_one_more_axis(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    enough = sufficient(rule_of(name))
    if enough is None:
        return
    monkeypatch.setattr("gslang.verify.prove.prove.sufficient", lambda rule: None)
    monkeypatch.setattr("gslang.verify.prove.prove.RANKS", (enough + 1,))
    assert prove(rule_of(name), 200_000).cases

"""Cases that need not be told apart, and those that must be."""

from __future__ import annotations

import pytest

import gslang.api as api
import gslang.verify.prove.prove as prove_module
from gslang.check.checked import CheckedRule
from gslang.verify.decisions import goals
from gslang.verify.demanded import never_so
from gslang.verify.instances.draw import Search, towards
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import Budget, Choices, NotProved, TooMuch

ATTENTION = """dialect onnx;
rule r(q, k, v) {{
    a = Attention(Neg(q), k, v);
    a.0 {where} => Attention(q, Neg(k), v, a.*{more}).0
}}"""


def _rule(text: str) -> CheckedRule:
    (rule,) = api.parse_rules(text).own.values()
    return rule


@pytest.mark.parametrize(
    ("where", "more"),
    [
        ("", ""), ("where a.is_causal == 0", ", is_causal = 0"),
        ("where a.left_window_size == -1", ", left_window_size = -1"),
    ],
)  # fmt: skip
def test_keys_that_positions_hide_are_hidden_on_both_sides(where: str, more: str) -> None:
    proof = prove(_rule(ATTENTION.format(where=where, more=more)))
    assert proof.cases <= 8  # not one for each window and for causal attention


@pytest.mark.parametrize(
    ("where", "more"),
    [
        ("", ", is_causal = 0"), ("", ", left_window_size = -1"), ("", ", right_window_size = -1"),
        ("where a.is_causal == 1", ", is_causal = 0"), ("where a.is_causal == 0", ", is_causal = 1"),
        ("where a.left_window_size == 2", ", left_window_size = 1"),
        ("where a.left_window_size == -1", ", right_window_size = -1"),
    ],
)  # fmt: skip
def test_other_keys_are_not_hidden(where: str, more: str) -> None:
    with pytest.raises(NotProved):
        prove(_rule(ATTENTION.format(where=where, more=more)))


PAD = """dialect onnx;
rule r(x, p: const) {{ Pad(x, p, mode = "constant") where {condition} => {target} }}"""


def test_what_is_said_of_all_items_makes_no_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    look = prove_module._look_at_case
    monkeypatch.setattr(
        prove_module, "_look_at_case", lambda *given: looked_at.append(1) or look(*given)
    )
    counts = []
    for condition in ("p.ndim == 1", "p.ndim == 1, all(d >= 0 for d in p.value)"):
        looked_at.clear()
        assert prove(_rule(PAD.format(condition=condition, target='Pad(x, p, mode = "constant")'))).cases
        counts.append(len(looked_at))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("sign", [">=", "<="])
def test_no_more_is_known_of_items_than_is_said(sign: str) -> None:
    assert prove(_rule(PAD.format(condition="all(d == 0 for d in p.value)", target="x"))).cases
    with pytest.raises(NotProved, match="result shapes"):
        prove(_rule(PAD.format(condition=f"all(d {sign} 0 for d in p.value)", target="x")))


NUMBER = "({0}.value if {0}.ndim == 0 else {0}.value[0] if {0}.ndim == 1 else {0}.value[0][0])"
CLIP = f"""dialect onnx;
rule r(x, a: const, b: const) {{{{
    Clip(Clip(x, a, b), a, b) where {NUMBER.format("a")} <= {NUMBER.format("b")} => Clip(x, a, {{0}})
}}}}"""


def test_bounds_of_clip_are_scalars() -> None:
    rule = _rule(CLIP.format("b"))
    assert prove(rule).ranks is None
    with pytest.raises(NotProved):
        prove(_rule(CLIP.format("a")))
    never = never_so(rule)
    found = {goal.text for goal in goals(rule) if goal.key in never}
    assert {"`a.ndim == 0` is false", "`b.ndim == 0` is false"} <= found
    assert not {"`a.ndim == 0` is true", "`b.ndim == 0` is true"} & found


def test_a_constant_of_one_element_has_the_rank_that_is_sought() -> None:
    rule = _rule(
        "dialect onnx; rule r(x, c: const) { Mul(x, c) where numel(c.shape) == 1, c.ndim <= x.ndim, "
        f"{NUMBER.format('c')} == 1 => x }}"
    )
    (goal,) = [goal for goal in goals(rule) if goal.text == "`c.ndim == 1` is false"]
    assert towards(rule, goal, Search(), 0, 40) is not None


NORM = """dialect onnx;
rule r(x, s, b, c) {{
    (n := InstanceNormalization(x, s, b)) * c where c.shape == s.shape, {where} x.ndim == 3, x.shape[1] == 1
  =>
    InstanceNormalization(x, {scale}, b * c, n.*)
}}"""


def test_a_norm_has_one_element_type() -> None:
    assert prove(_rule(NORM.format(where="", scale="s * c"))).cases
    other = 'Cast(s * c, to = "float64")'
    with pytest.raises(NotProved, match="operand types"):
        prove(_rule(NORM.format(where='x.dtype == "float32",', scale=other)))


def test_assignments_satisfy_what_products_equal() -> None:
    facts = Facts(Choices([], Budget(10_000)))
    x, y, z, w = (facts.size(name) for name in "xyzw")
    facts.learn_equal(x * y, z * w)
    place = facts.position(z * w)
    for size in (x, y, z, w):
        assert not facts.proves(size - 2)  # by an assignment, which is kept for the next question
    assert facts.proves(x * y - 1 - place)
    assert not facts.proves(x * y - 2 - place)


RESHAPE = """dialect onnx;
rule r(x, s) {{ (r := Reshape(Neg(x), s)) {where} => Neg(Reshape(x, s{more})) }}"""
SUM = """dialect onnx;
rule r(x, axes: any?) {{ (r := ReduceSum(Neg(x), axes)) {where} => Neg(ReduceSum(x, axes{more})) }}"""


@pytest.mark.parametrize(
    ("text", "name"), [(RESHAPE, "allowzero"), (SUM, "noop_with_empty_axes")]
)  # fmt: skip
def test_an_attribute_that_says_nothing_makes_no_cases(text: str, name: str) -> None:
    copied = prove(_rule(text.format(where="", more=", r.*")))
    fixed = prove(_rule(text.format(where=f"where r.{name} == 0", more=f", {name} = 0, r.*")))
    assert copied.cases < 2 * fixed.cases


@pytest.mark.parametrize(
    ("text", "where", "more"),
    [
        (RESHAPE, "", ", allowzero = 0"), (RESHAPE, "", ", allowzero = 1"),
        (RESHAPE, "where r.allowzero == 0", ", allowzero = 1"),
        (SUM, "", ", noop_with_empty_axes = 0, keepdims = r.keepdims"),
        (SUM, "", ", noop_with_empty_axes = 1, keepdims = r.keepdims"),
        (SUM, "where r.noop_with_empty_axes == 0", ", noop_with_empty_axes = 1, keepdims = r.keepdims"),
    ],
)  # fmt: skip
def test_such_an_attribute_is_not_another_one(text: str, where: str, more: str) -> None:
    with pytest.raises(NotProved):
        prove(_rule(text.format(where=where, more=more)))


@pytest.mark.parametrize("name", ["clip_relu", "clip_clip"])
def test_a_rank_that_operators_demand_is_no_decision_that_was_left_out(name: str) -> None:
    rule = api.load("std.onnx").known[name]
    assert any(goal.key in never_so(rule) for goal in goals(rule))
    assert prove(rule).cases


HEADS = """dialect onnx;
rule r(q, k, v) {{
    a = Attention(q, k, v);
    a.0 where q.ndim == 4, q.shape[1] == 1, k.shape[1] == 1 {where}
  =>
    y = Attention(Squeeze(q, {one}), Squeeze(k, {one}), Squeeze(v, {one}), a.*, q_num_heads = 1,
        kv_num_heads = 1{more}).0;
    Unsqueeze(y, {one})
}}"""


def test_what_says_nothing_of_the_result_is_the_same_in_other_ranks() -> None:
    one = 'const(value = [1], dtype = "int64")'
    assert prove(_rule(HEADS.format(where="", more="", one=one))).cases <= 8
    with pytest.raises(NotProved):
        prove(_rule(HEADS.format(where="", more=", is_causal = 1", one=one)))


PARTS = """dialect onnx;
rule r(x) {{
    each part in 2.. {{ p = any(); }}
    Reshape(x, Concat(*part.p, axis = 0))
    where sum(0 if i.p.kind == "const" else 1 for i in part) {unknown},
          all(
              all(n {sign} 0 for n in i.p.value) if i.p.kind == "const" else i.p.shape == (1,)
              for i in part
          )
  =>
    Reshape(
        x,
        const(
            value = concat([[n for n in i.p.value] if i.p.kind == "const" else [{said}] for i in part]),
            dtype = "int64",
        ),
    )
}}"""


@pytest.mark.parametrize(
    ("unknown", "sign", "said"), [("== 2", ">", "-1"), ("== 1", "!=", "-1"), ("== 1", ">", "1")]
)
def test_other_shapes_are_not_what_is_not_known(unknown: str, sign: str, said: str) -> None:
    """Two numbers that are not known, another one of -1 beside it, and one that is not 1."""
    with pytest.raises(NotProved) as caught:
        prove(_rule(PARTS.format(unknown=unknown, sign=sign, said=said)))
    assert not isinstance(caught.value, TooMuch)


KINDS = """dialect onnx;
rule r(x, p) {{
    Add(x, p) where x.shape == p.shape, p.kind == "const" or p.kind == "{kind}"
  => x if p.kind == "{taken}" else Add(x, p)
}}"""


def test_kinds_that_a_rule_tells_apart_are_cases() -> None:
    with pytest.raises(NotProved, match="≠"):
        prove(_rule(KINDS.format(kind="param", taken="param")))
    with pytest.raises(NotProved, match="≠"):
        prove(_rule(KINDS.format(kind="call", taken="const")))


CUTS = """dialect onnx;
rule r(x) {{
    each part in 2.. {{
        s = const(shape = (1,));
        e = const(shape = (1,));
        a = const(value = first.a.value, shape = (1,));
        y = Slice(x, s, e, a);
    }}
    *part.y
    where part[0].s.value[0] {first} 0,
          all(part[i].e.value[0] {next} part[i + 1].s.value[0] for i in range(len(part) - 1)),
          all(p.e.value[0] > p.s.value[0] for p in part),
          part[len(part) - 1].e.value[0] >= {end}
  =>
    whole = x.shape[part[0].a.value[0]];
    parts = Split(
        x,
        const(
            value = [min([p.e.value[0], whole]) - min([p.s.value[0], whole]) for p in part],
            dtype = "int64",
        ),
        axis = part[0].a.value[0],
    );
    *parts
}}"""
WHOLE = "x.shape[part[0].a.value[0]]"


@pytest.mark.parametrize(
    ("first", "next", "end"),
    [(">=", "==", WHOLE), ("==", "<=", WHOLE), ("==", "==", WHOLE + " - 1"), ("==", "==", "1")],
)
def test_slices_that_are_not_all_of_a_dimension_are_no_split(first: str, next: str, end: str) -> None:
    with pytest.raises(NotProved) as caught:
        prove(_rule(CUTS.format(first=first, next=next, end=end)))
    assert not isinstance(caught.value, TooMuch)


def test_bounds_are_held_to_conditions_before_slices_make_cases_of_them() -> None:
    assert prove(_rule(CUTS.format(first="==", next="==", end=WHOLE))).cases <= 500


OPEN_ENDED = {
    "all of them": ("[0]", "[1]", "s.shape == x.shape", "x", True),
    "some of them": ("[0]", "[1]", "s.ndim == 2", "x", False),
    "all, backwards": ("[-1]", "[-1]", "s.shape == x.shape", "x", False),
    "from the second": ("[1]", "[1]", "s.shape[1] == 5", "Slice(x, {1}, {6}, {1})", True),
    "from the first": ("[1]", "[1]", "s.shape[1] == 5", "Slice(x, {0}, {5}, {1})", False),
}


@pytest.mark.parametrize("name", OPEN_ENDED)
def test_a_slice_of_unknown_end_takes_some_elements(name: str) -> None:
    start, step, where, target, right = OPEN_ENDED[name]
    for number in ("0", "1", "5", "6"):
        target = target.replace(f"{{{number}}}", f'const(value = [{number}], dtype = "int64")')
    rule = _rule(
        "dialect onnx; rule r(x: any(shape = (_, 6)), e) {"
        f" s = Slice(x, const(value = {start}), e, const(value = [1]), const(value = {step}));"
        f" s where {where} => {target} }}"
    )
    if right:
        assert prove(rule).cases
    else:
        with pytest.raises(NotProved):
            prove(rule)

"""Verdicts on the shipped rules, on rules without instances; the prime field against plain integers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

import gslang.api as api
from gslang.base.deadline import Deadline
from gslang.cli.main import main
from gslang.verify.field.relay import _bilinear
from gslang.verify.field.residues import PRIME, inverse, mixed, residue
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved, OutOfTime
from gslang.verify.verdict import Settings, Verdict, verify_now

ONLY_INSTANCES = Settings(proof_steps=0)
ROOT = Path(__file__).parent.parent.parent


def test_shipped_rules_are_exact() -> None:
    """None refuted, at least nine in ten exact, or tested only because something was not varied (of one in
    four).
    """
    rules = list(api.load("std.relay").known.values())[::4]
    verdicts = [verify_now(rule, Settings(seconds=5, wanted=12, proof_steps=0)) for rule in rules]
    assert {v.rule for v in verdicts if v.verdict in ("refuted", "unknown")} == set()
    assert sum(v.verdict in ("exact", "proved") or "not varied" in v.reason for v in verdicts) >= 0.9 * len(
        verdicts
    )


def test_the_page_names_every_shipped_rule() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in api.load("std.relay").own)


def test_a_rule_without_instances_is_unknown_and_says_why() -> None:
    rules = api.parse_rules("rule never(x) { y = nn.relu(x); y where x.ndim < 0 => x }")
    verdict = verify_now(rules.own["never"], Settings(seconds=2))
    assert verdict.verdict == "unknown" and "x.ndim < 0" in verdict.reason


def test_a_rule_beyond_a_limit_is_unknown_and_the_others_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.gsl"
    path.write_text(
        "dialect relay;\nrule large(a): nn.relu(a) where sum(range(a.ndim + 1000000000000)) > a.ndim => a;\n"
        "rule twice(a): nn.relu(nn.relu(a)) => nn.relu(a);\n"
    )
    main(["verify", str(path)])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith(
        "unknown  large  an attribute expression has more than 1,000,000 items"
    ) and shown[1].startswith("proved   twice  ")


def test_unknown_is_less_than_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "never.gsl"
    path.write_text("rule never(x) { y = nn.relu(x); y where x.ndim < 0 => x }")
    assert main(["verify", str(path)]) == 0
    assert main(["verify", str(path), "--require", "exact"]) == 1
    capsys.readouterr()


def test_instances_reach_every_alternative_and_several_counts() -> None:
    rules = api.load("std.relay").known
    coverage = verify_now(rules["simplify_transpose"], ONLY_INSTANCES).coverage
    assert sum(name.startswith("alternative") for name in coverage) == 4
    counts = verify_now(rules["parallel_dense_variadic"], ONLY_INSTANCES).coverage
    assert {"2 × ds", "3 × ds"} <= set(counts)


def test_the_same_seed_gives_the_same_verdict() -> None:
    rule = api.load("std.relay").known["diamond_conv_add"]
    first, second = (
        verify_now(rule, Settings(seed=3, proof_steps=0)), verify_now(rule, Settings(seed=3, proof_steps=0)),
    )
    assert (first.coverage, first.instances, first.reason) == (
        second.coverage, second.instances, second.reason,
    )


def test_a_proof_spares_instances_only_of_what_it_covers() -> None:
    """The second one is proved for floats, but not for integers; the third one is wrong for these."""
    rules = api.parse_rules(
        "rule every(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
        "rule floats(x): (m := sum(abs(abs(x)))) => sum(abs(x), m.*);\n"
        "rule halves(x): divide(multiply(x, 2), 4) => divide(x, 2);"
    ).own
    every, floats, halves = (verify_now(rules[name]) for name in ("every", "floats", "halves"))
    assert every.verdict == floats.verdict == "proved" and "floating-point types" in floats.reason
    assert halves.verdict == "refuted" and 'write `x: any(dtype = "float16" | "float32")`' in halves.reason

    def whole(verdict: Verdict) -> int:
        return sum(n for name, n in verdict.coverage.items() if name.startswith(("dtype int", "dtype u")))

    assert every.instances < floats.instances <= 24 and whole(floats) > whole(every)


def test_approximate_rules_are_held_to_their_tolerance() -> None:
    text = "rule near(x): (y := x * 1.0001) where y.ndim == x.ndim => x;"
    exact = api.parse_rules(text).own["near"]
    assert verify_now(exact, Settings(seconds=2)).verdict == "refuted"
    assert (
        verify_now(
            api.parse_rules("@approximate(rtol = 1e-2)\n" + text).own["near"], Settings(seconds=2)
        ).verdict
        == "tested"
    )


def test_field_arithmetic() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, PRIME, (3, 5)), rng.integers(0, PRIME, (4, 5))
    exact = [[sum(int(x) * int(y) for x, y in zip(row, column)) % PRIME for column in b] for row in a]
    assert _bilinear("nn.dense", [a, b], {"out_dtype": "", "units": None}).tolist() == exact
    assert (a * inverse(a) % PRIME == (a != 0)).all()
    assert residue(0.5) * 2 % PRIME == 1 and residue(-1.0) == PRIME - 1


def test_unknown_functions_are_functions() -> None:
    x = np.array([1, 2, 1])
    y = mixed("f", x)
    assert y[0] == y[2] != y[1] and (mixed("g", x) != y).all()


def test_operators_without_a_meaning_are_unknown_functions() -> None:
    declared = "op my.mix(x: tensor, by: float) -> tensor { shape = x.shape, dtype = x.dtype };\n"
    same = api.parse_rules(
        declared
        + (
            "rule same(x, y: any(shape = x.shape)) { m = my.mix(x + y, by = 2.0); m => my.mix(y + x, by = "
            "2.0) }"
        )
    )
    other = api.parse_rules(declared + "rule other(x) { m = my.mix(x, by = 2.0); m => my.mix(x, by = 3.0) }")
    assert verify_now(same.own["same"], Settings(seconds=2)).verdict in ("exact", "proved")
    assert verify_now(other.own["other"], Settings(seconds=2)).verdict == "unknown"


CHANGING = """@changes("weights are rounded")
rule rounds(x, w: param): (y := nn.dense(x, w)) => nn.dense(x, round(w * 16) * 0.0625, y.*);
@changes("nothing, in truth")
rule same(x): -(-x) => x;
@changes("another shape")
rule unfit(x): sum(x, axis = [0]) => x;
@changes("never seen")
rule never(x) { y = nn.relu(x); y where x.ndim < 0 => x }
test "only the graph is compared" for rounds {
    x: input float32[2, 2];  w: param float32[2, 2];
    nn.dense(x, w)
  =>
    nn.dense(x, round(w * 16) * 0.0625)
}
"""


def test_an_intended_change_is_a_verdict_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether the sides differ or not; what can never be applied is wrong all the same."""
    rules = api.parse_rules(CHANGING)
    verdicts = {name: verify_now(rule, Settings(seconds=2)) for name, rule in rules.own.items()}
    assert [v.verdict for v in verdicts.values()] == ["changes", "changes", "refuted", "unknown"]
    assert (
        verdicts["rounds"].reason.startswith("weights are rounded; the sides differ on ")
        and verdicts["rounds"].bound is None
    )
    assert verdicts["same"].reason == "nothing, in truth; no instance differs: `@changes` may be unnecessary"
    path = tmp_path / "changing.gsl"
    path.write_text(CHANGING)
    assert [
        main(["verify", str(path), "--rule", "rounds", *more])
        for more in ([], ["--require", "changes"], ["--require", "tested"])
    ] == [0, 0, 1]
    assert main(["verify", str(path), "--rule", "never", "--require", "changes"]) == 1
    assert main(["test", str(path)]) == 0
    capsys.readouterr()


def test_a_search_leaves_out_rules_that_change_values() -> None:
    from gslang.search.accept import accepting

    rules = api.parse_rules(CHANGING)
    told: list[tuple[str, str]] = []
    accept = accepting(rules.programs, "any", lambda rule, verdict: told.append((rule.name, verdict)))
    assert not accept(rules.own["rounds"]) and told == [("rounds", "changes")]


def test_numbers_that_are_meant_to_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They differ, and the message says which rule meant them to."""
    (tmp_path / "r.gsl").write_text(
        '@once @changes("rounded down")\nrule down(x): exp(x) => floor(exp(x));\n'
    )
    x = {"id": "x", "kind": "input", "shape": [3], "dtype": "float32"}
    nodes = [x, {"id": "y", "kind": "call", "op": "exp", "inputs": ["x"]}]
    graph = json.dumps(
        {"format": "gsl-graph", "version": 1, "dialect": "relay", "nodes": nodes, "outputs": ["y"]}
    )
    (tmp_path / "g.json").write_text(graph)
    assert main(["apply", str(tmp_path / "r.gsl"), str(tmp_path / "g.json"), "--check-numbers"]) == 1
    assert "`down`, which was applied, is marked `@changes`: rounded down" in capsys.readouterr().err


def test_a_proof_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = api.parse_rules("rule twice(x, y): nn.relu(nn.relu(x + y)) => nn.relu(y + x);").own["twice"]
    settings = Settings(seconds=5, wanted=6)
    assert verify_now(rule, settings).verdict == "proved"
    monkeypatch.setattr("gslang.verify.verdict.deadline", lambda seconds: Deadline(0.0))
    verdict = verify_now(rule, settings)
    assert verdict.verdict in ("exact", "tested") and verdict.stopped
    assert verdict.reason.endswith("; stopped after 5 s (--seconds)")


@pytest.mark.parametrize(
    ("ended", "found", "why"),
    [
        ("gather.instances", 1, ""), ("verdict.prove", 13, "the time was over"),
        ("seek._seek_decisions", 48, "it has no steps"),
    ],
)
def test_what_was_found_before_the_time_was_over_counts(
    ended: str, found: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is ended; what is not known to have been varied caps the verdict."""

    class Over(BaseException):
        pass

    def in_time(seconds: float, task: Callable[[], object]) -> object:
        try:
            return task()
        except Over:
            return None

    def no_proof(*_: object, **__: object) -> NoReturn:
        raise NotProved("it has no steps")

    def over(*_: object, **__: object) -> NoReturn:
        raise Over

    rules = api.parse_rules(
        "rule twice(x, y): nn.relu(nn.relu(x + y)) => nn.relu(y + x);"
        'test "t" for twice { x: input float32[2]; y: input float32[2]; nn.relu(nn.relu(x + y)) '
        "=> nn.relu(y + x) }"
    )
    monkeypatch.setattr("gslang.verify.verdict.in_time", in_time)
    monkeypatch.setattr("gslang.verify.verdict.prove", no_proof)
    monkeypatch.setattr(f"gslang.verify.{ended}", over)
    verdict = verify_now(rules.own["twice"], Settings(), rules.programs)
    assert (verdict.verdict, verdict.instances, verdict.unproved) == ("tested", found, why)
    assert verdict.stopped and verdict.reason.endswith("; stopped after 7 s (--seconds)")


@pytest.mark.parametrize("name", ["two_conv_add", "split_concat", "lower_group_norm"])
def test_a_proof_that_is_out_of_time_claims_nothing(name: str) -> None:
    with pytest.raises(OutOfTime):
        prove(api.load("std.relay").known[name], until=Deadline(0.0))


def test_a_product_of_many_sums_is_judged_soon() -> None:
    """Its normal form has 2¹⁴ summands: without limits this takes minutes."""
    names = [f"x{k}" for k in range(14)]
    pairs = list(zip(names, [*names[1:], names[0]]))
    source = " * ".join(f"({a} + {b})" for a, b in pairs)
    target = " * ".join(f"({b} + {a})" for a, b in reversed(pairs))
    rule = api.parse_rules(f"rule wide({', '.join(names)}): {source} => {target};").own["wide"]
    assert verify_now(rule, Settings(seconds=1, wanted=4)).verdict in ("exact", "tested")


def test_a_literal_of_a_higher_rank_refutes_where_the_rank_is_unknown() -> None:
    rules = api.parse_rules(
        "rule open(x): x + 0.0 => x;\nrule same(x): (y := x + 0.0) where y.ndim == x.ndim => x;"
    ).own
    assert verify_now(rules["same"]).verdict == "proved"
    found = verify_now(rules["open"])
    assert found.verdict == "refuted" and "`y.ndim == x.ndim`" in found.reason


@pytest.mark.parametrize(
    "below, refuted", [("nn.softmax(x, axis = -1)", False), ("nn.log_softmax(x, axis = -1)", False),
                       ("nn.relu(x)", True), ("nn.softmax(x, axis = 0)", True)],
)  # fmt: skip
def test_the_largest_place_is_told_apart_by_no_denormal_number(below: str, refuted: bool) -> None:
    """`exp` gives 1 for all of them, also where the comparison over a field says nothing."""
    attrs = "axis = -1, keepdims = false, exclude = false, select_last_index = false"
    rule = f"rule r(x): argmax({below}, {attrs}) where x.ndim > 1 => argmax(x, axis = -1);"
    found = verify_now(api.parse_rules(rule).own["r"], Settings(seconds=20))
    assert (found.verdict == "refuted") == refuted


def test_whole_numbers_are_looked_at_beside_a_proof_for_floats_that_has_limits() -> None:
    """Divided before they are multiplied, they are cut off earlier."""
    rule = api.parse_rules(
        "dialect onnx; rule r(f: op(Mul | Div), x, w: fixed, k: fixed): f(MatMul(x, w), k)"
        " where numel(k.shape) == 1, k.ndim < w.ndim or k.ndim == w.ndim and x.ndim >= 2"
        " => MatMul(x, f(w, k));"
    ).own["r"]
    few = 6_000  # steps, too few for larger ranks
    assert prove(rule, few).floats and prove(rule, few).ranks == 3
    assert verify_now(rule, Settings(seconds=30, proof_steps=few)).verdict == "refuted"

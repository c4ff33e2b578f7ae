"""Shipped rules with one thing changed: what is proved then is never refuted by an instance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gslang.check import checked as ir
from gslang.verify.prove.paths import NotProved
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.verdict import Settings, Verdict, verify_now
from tests.shipped import STDLIB, rule_names, shipped_rules

NAMES = [
    *rule_names(*sorted((STDLIB / "relay").glob("*.gsl"))),
    *(f"onnx {name}" for name in rule_names(*sorted((STDLIB / "onnx").glob("*.gsl")))),
]


def rule_of(name: str) -> ir.CheckedRule:
    return shipped_rules("std.onnx" if name.startswith("onnx ") else "std.relay")[name.removeprefix("onnx ")]


def mutations(rule: ir.CheckedRule) -> Iterator[tuple[str, ir.CheckedRule]]:
    """Without a condition; without a constraint; with operands swapped; with another number in the target."""
    for k in range(len(rule.where)):
        yield f"without condition {k}", replace(rule, where=without(rule.where, k), where_spans=without(rule.where_spans, k))
    for k, node in enumerate(rule.nodes):
        for j in range(len(node.constraints)):
            changed = replace(node, constraints=without(node.constraints, j))
            yield f"without constraint {j} of node {k}", replace(rule, nodes=(*rule.nodes[:k], changed, *rule.nodes[k + 1 :]))
    for k, target in enumerate(rule.target.targets):
        if isinstance(target, ir.MakeCall) and len(target.operands) == 2:
            yield f"target {k} swapped", with_target(rule, k, replace(target, operands=target.operands[::-1]))
        if isinstance(target, ir.MakeCall):
            for j, (name, value) in enumerate(target.attributes):
                if isinstance(value, ir.Const) and type(value.value) is int:
                    other = (*target.attributes[:j], (name, ir.Const(1 - value.value)), *target.attributes[j + 1 :])
                    yield f"attribute {name} of target {k}", with_target(rule, k, replace(target, attributes=other))
                if isinstance(value, ir.TupleValue) and len(value.items) == 2:
                    other = (*target.attributes[:j], (name, ir.TupleValue(value.items[::-1])), *target.attributes[j + 1 :])
                    yield f"attribute {name} of target {k} reversed", with_target(rule, k, replace(target, attributes=other))
        if isinstance(target, ir.MakeTuple) and len(target.fields) == 2:
            yield f"fields of target {k} swapped", with_target(rule, k, replace(target, fields=target.fields[::-1]))
    if len(rule.target.outputs) == 2:
        yield "outputs swapped", replace(rule, target=replace(rule.target, outputs=rule.target.outputs[::-1]))


def without(items: tuple[Any, ...], k: int) -> tuple[Any, ...]:
    return (*items[:k], *items[k + 1 :])


def with_target(rule: ir.CheckedRule, k: int, target: ir.Target) -> ir.CheckedRule:
    targets = rule.target.targets
    return replace(rule, target=replace(rule.target, targets=(*targets[:k], target, *targets[k + 1 :])))


def most(proof: Proof) -> int:
    """The largest rank that a proof speaks of."""
    return 99 if proof.ranks is None else proof.ranks


def rank_of(verdict: Verdict) -> int:
    """The largest rank in the graph of a counterexample."""
    assert verdict.counterexample is not None
    return max(len(node.get("shape") or ()) for node in json.loads(verdict.counterexample.source)["nodes"])


def refuted_but_proved(rule: ir.CheckedRule, steps: int, wanted: int) -> list[str]:
    found = []
    for what, changed in mutations(rule):
        try:
            proof = prove(changed, steps)
        except NotProved:
            continue
        verdict = verify_now(changed, Settings(seconds=2, wanted=wanted, proof_steps=0))
        if verdict.verdict == "refuted" and "does not fit" not in verdict.reason and rank_of(verdict) <= most(proof):
            found.append(f"{what}: {verdict.reason}")
    return found


def test_there_are_mutations() -> None:
    assert sum(1 for name in NAMES for _ in mutations(rule_of(name))) > 300


@pytest.mark.parametrize(
    "name", ["parallel_dense", "parallel_dense_variadic", "split_concat", "trans_trans", "onnx gemm_add"]
)
def test_what_is_proved_is_not_refuted(name: str) -> None:
    assert refuted_but_proved(rule_of(name), 3_000, 24) == []


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_what_is_proved_is_not_refuted_with_time(name: str) -> None:
    assert refuted_but_proved(rule_of(name), 30_000, 60) == []

"""Shipped rules with one thing changed: what is proved then is never refuted by an instance."""

from __future__ import annotations

import json

import pytest

from gslang.check import checked as ir
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import Settings, Verdict, verify_now
from tests.shipped import STDLIB, rule_names, written_as
from tests.verify.mutants import mutants

NAMES = [
    *rule_names(*sorted((STDLIB / "relay").glob("*.gsl"))),
    *(f"onnx {name}" for name in rule_names(*sorted((STDLIB / "onnx").glob("*.gsl")))),
]


def rules_of(name: str) -> list[ir.CheckedRule]:
    return written_as("std.onnx" if name.startswith("onnx ") else "std.relay", name.removeprefix("onnx "))


def most(proof: Proof) -> int:
    """The largest rank that a proof speaks of."""
    return 99 if proof.ranks is None else proof.ranks


def rank_of(verdict: Verdict) -> int:
    """The largest rank in the graph of a counterexample."""
    assert verdict.counterexample is not None
    return max(len(node.get("shape") or ()) for node in json.loads(verdict.counterexample.source)["nodes"])


def has_integers(verdict: Verdict) -> bool:
    """True if a counterexample is about whole numbers, too: a proof for floats says nothing of these."""
    assert verdict.counterexample is not None
    nodes = json.loads(verdict.counterexample.source)["nodes"]
    return any(str(node.get("dtype")).startswith(("int", "uint")) for node in nodes)


def refuted_but_proved(rule: ir.CheckedRule, steps: int, wanted: int) -> list[str]:
    found = []
    for what, changed in mutants(rule):
        try:
            proof = prove(changed, steps)
        except NotProved:
            continue
        verdict = verify_now(changed, Settings(seconds=2, wanted=wanted, proof_steps=0))
        if (
            verdict.verdict == "refuted" and "does not fit" not in verdict.reason
            and rank_of(verdict) <= most(proof) and not (proof.floats and has_integers(verdict))
        ):
            found.append(f"{what}: {verdict.reason}")
    return found


def test_there_are_mutations() -> None:
    assert sum(1 for name in NAMES for rule in rules_of(name) for _ in mutants(rule)) > 300


@pytest.mark.parametrize(
    "name",
    ["parallel_dense", "parallel_dense_variadic", "split_concat", "trans_trans", "onnx transpose_back"],
)
def test_what_is_proved_is_not_refuted(name: str) -> None:
    assert [found for rule in rules_of(name) for found in refuted_but_proved(rule, 3_000, 24)] == []


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_what_is_proved_is_not_refuted_with_time(name: str) -> None:
    assert [found for rule in rules_of(name) for found in refuted_but_proved(rule, 30_000, 60)] == []

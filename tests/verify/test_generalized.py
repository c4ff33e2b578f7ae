"""More general rules with fewer cases: what they leave out, and what is proved without them."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.prove.generalized import generalized
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import Budget, NotProved, TooMuch

SCORES = "rule r(x, y, a, b) { s = MatMul(x, y); t = s * const() | s; Softmax((t + a) + b, axis = -1)"


def rule(text: str) -> CheckedRule:
    (found,) = api.parse_rules("dialect onnx;\n" + text).own.values()
    return found


def free(found: CheckedRule | None) -> list[str]:
    """The names of what stands for any tensor."""
    assert found is not None
    return [node.name for node in found.leaves.values() if node.name in ("s", "t")]


def test_what_the_target_takes_as_it_is_stands_for_anything() -> None:
    where = "where t.ndim == 4, x.kind == \"input\""
    found = generalized(rule(f"{SCORES} {where} => Softmax(t + (a + b), axis = -1) }}"))
    assert "t" in free(found) and found is not None and len(found.where) == 1


@pytest.mark.parametrize(
    "target", ["Softmax(t + (a + x), axis = -1)", "Softmax(t + (a + y), axis = -1)"]
)
def test_what_it_looks_into_does_not(target: str) -> None:
    assert generalized(rule(f"{SCORES} => {target} }}")) is None


def test_a_rule_that_rests_on_what_is_inside_is_proved_as_it_is() -> None:
    text = "rule r(x) { t = Relu(x) | Exp(x); Relu(t) => t }"
    general = generalized(rule(text))
    assert general is not None
    with pytest.raises(NotProved):
        prove(general)
    prove(rule(text))


def test_a_wrong_rule_is_not_proved_by_what_is_left_out() -> None:
    with pytest.raises(NotProved):
        prove(rule(SCORES + " => Softmax(t + a, axis = -1) }"))


def test_all_ways_to_a_proof_share_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes too many steps as the more general rule has none left as it is."""
    began: list[int] = []

    def too_much(run: object, budget: Budget, *_: object) -> int:
        began.append(budget.left)
        budget.spend(budget.left + 1)
        raise AssertionError

    monkeypatch.setattr("gslang.verify.prove.prove.all_cases", too_much)
    with pytest.raises(TooMuch):
        prove(rule("rule r(x) { t = Relu(x) | Exp(x); Relu(t) => t }"), 1000)
    assert began == [1000, -1]

"""What follows from what, with derivations that can be checked step by step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslang.api import RuleSet, load, parse_rules
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.discover.idle_attributes import without_idle
from gslang.discover.implied import Implied, Settings, implied
from gslang.search.explained import Term

SUMS = """dialect relay;
rule assoc(x, y, z): (x + y) + z => x + (y + z);
rule dist(x, y, z): x * y + x * z => x * (y + z);
rule big(x, y, z, w): (x * y + x * z) + x * w => x * (y + (z + w));
rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);
rule thrice(x): nn.relu(nn.relu(nn.relu(x))) => nn.relu(x);
rule same_shape(x, y: any(shape = x.shape)): nn.relu(x + y) => nn.relu(nn.relu(y + x));
rule one_axis(x): sum(x, axis = 0, keepdims = false, exclude = false)
    => negative(sum(negative(x), axis = 0, keepdims = false, exclude = false));
"""


def ask(rules: RuleSet, name: str, *by: str) -> Implied:
    return implied(rules.known[name], [rules.known[other] for other in by or rules.own])


def is_chain(answer: Implied) -> bool:
    """Whether each step begins where the one before ended, up to the order of operands of sums and products.
    """
    return all(
        normal(a) == normal(b)
        for d in answer.derivations
        for a, b in zip([d.start, *(s.after for s in d.steps)], [s.before for s in d.steps])
    )


def normal(term: Term | None) -> object:
    if term is None:
        return None
    operands = [normal(o) for o in term.operands]
    return (
        term.op, term.attrs, term.name,
        tuple(sorted(operands, key=repr)) if term.op in ("add", "multiply") else tuple(operands),
    )


def test_a_rule_of_several_steps() -> None:
    rules = parse_rules(SUMS)
    answer = ask(rules, "big")
    assert (answer.implied, answer.instances, answer.rules, answer.forward) == (
        True, 6, ("assoc", "dist"), False,
    )
    assert is_chain(answer)
    assert not ask(rules, "big", "dist", "twice").implied
    assert not ask(rules, "assoc").implied


def test_steps_forward_and_backward_are_told_apart() -> None:
    rules = parse_rules(SUMS)
    thrice = ask(rules, "thrice")
    assert thrice.forward and [step.rule for step in thrice.derivations[0].steps] == ["twice", "twice"]
    assert ask(rules, "twice", "thrice").implied is False
    back = ask(rules, "same_shape")
    assert back.implied and not back.forward and back.rules == ("twice",)


def test_conditions_of_rules_count() -> None:
    text = (
        "dialect relay;\nrule any_shape(x, y): nn.relu(x + y) => tanh(x + y);\n"
        "rule equal_shapes(x, y: any(shape = x.shape)): nn.relu(x + y) => tanh(x + y);\n"
    )
    rules = parse_rules(text)
    assert ask(rules, "equal_shapes").implied
    answer = ask(rules, "any_shape")
    assert not answer.implied and answer.reason.startswith("not derived")


def test_several_outputs_and_projections() -> None:
    rules = load("std.relay")
    answer = ask(rules, "parallel_two_conv", "parallel_conv_variadic")
    assert answer.implied and answer.forward and len(answer.derivations) == 2
    assert is_chain(answer)


def test_chains_of_all_shipped_rules_hold_together() -> None:
    rules = load("std.relay")
    answers = [
        implied(rules.known[name], list(rules.known.values()), Settings(instances=2, nodes=500))
        for name in rules.own
    ]
    found = [answer for answer in answers if answer.implied]
    assert len(found) >= 5 and all(map(is_chain, found))


def test_onnx() -> None:
    rules = load("std.onnx")
    assert ask(rules, "truth_and_back").implied
    assert not ask(rules, "cast_like").implied


def test_a_copy_under_the_same_name_is_left_out() -> None:
    rules, again = parse_rules(SUMS), parse_rules(SUMS)
    assert not implied(rules.known["assoc"], [again.known["assoc"]]).implied


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "sums.gsl"
    path.write_text(SUMS, encoding="utf-8")
    return str(path)


def test_the_command(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["implied", f"{file}#thrice", "--by", file]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "thrice: implied, derived on 6 instances\n    nn.relu(nn.relu(nn.relu(x_0)))\n"
        "  = nn.relu(nn.relu(x_0))    by `twice`\n"
    )
    assert (
        main(["implied", file, "--by", file, "--rule", "thrice", "--rule", "assoc", "--format", "json"]) == 1
    )
    data = json.loads(capsys.readouterr().out)["rules"]
    assert [(entry["rule"], entry["implied"]) for entry in data] == [("assoc", False), ("thrice", True)]
    assert set(data[1]) == {"rule", "implied", "reason", "instances", "by", "forward", "derivations"}
    assert [step["rule"] for step in data[1]["derivations"][0]["steps"]] == ["twice", "twice"]


def test_names_and_files_that_there_are_not(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["implied", f"{file}#trice", "--by", file]) == 2
    assert "did you mean `thrice`?" in capsys.readouterr().err
    assert main(["implied", file, "--by", file, "--rule", "trice"]) == 2
    assert "did you mean `thrice`?" in capsys.readouterr().err
    assert main(["implied", str(tmp_path / "none.gsl"), "--by", file]) == 3
    assert main(["implied", file]) == 2
    broken = tmp_path / "broken.gsl"
    broken.write_text("rule r(x): nn.rellu(x) => x;\n", encoding="utf-8")
    assert main(["implied", file, "--by", str(broken)]) == 1


def test_rules_are_read_backwards() -> None:
    """The outer relu has to go inside, against the rule's direction, before two relus can become one."""
    rules = parse_rules(
        "dialect relay;\nrule inside(x, y) { c = concatenate((nn.relu(x), nn.relu(y))); c => "
        "nn.relu(concatenate((x, y), c.*)) }\n"
        "rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
        "rule both(x, y) { c = concatenate((nn.relu(x), y)); nn.relu(c) => nn.relu(concatenate((x, y), c.*)) "
        "}\n"
    )
    answer = ask(rules, "both", "inside", "twice")
    assert answer.implied and not answer.forward and is_chain(answer)
    assert not ask(rules, "both", "twice").implied


def test_declared_operators_are_what_they_mean() -> None:
    text = (
        "dialect relay;\nop my.twice(x: tensor) -> tensor { value = x + x };\n"
        "rule relus(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
        "rule r(x): my.twice(nn.relu(nn.relu(x))) => nn.relu(x) + nn.relu(x);\n"
    )
    assert ask(parse_rules(text), "r", "relus").implied


def test_attributes_that_do_not_matter() -> None:
    plain = without_idle(load_dialect("relay"))
    types = (TensorType((1, 2, 5, 5), "float32"), TensorType((4, 2, 3, 3), "float32"))
    assert plain("nn.conv2d", {"channels": 4, "padding": (1, 1), "groups": 1}, types) == {"padding": (1, 1)}
    assert plain("nn.conv2d", {"strides": (2, 2), "kernel_size": (3, 3)}, types) == {"strides": (2, 2)}

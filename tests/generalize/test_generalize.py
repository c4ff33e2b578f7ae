"""Conditions that are found for rules without any: enough, and no more than are needed."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from gslang.api import load, parse_rules
from gslang.base.source import Source
from gslang.cli.main import main
from gslang.formats.json_writer import write_json
from gslang.generalize.candidates import candidates
from gslang.generalize.draft import Condition, NoDraft
from gslang.generalize.drafting import draft_of, rule_item
from gslang.generalize.generalized import Generalized
from gslang.generalize.lift import lifts
from gslang.generalize.refine import Settings, generalize, generalize_in
from gslang.generalize.report import as_text
from gslang.generalize.weakest import Column, weakest
from gslang.verify.instances.draw import Instance, Search, instances, instances_on, match_in
from gslang.verify.neighbours import neighbours, point_of

AT_LEISURE = Settings(seconds=60)  # no result depends on how busy the machine is


def found(text: str, dialect: str = "relay", settings: Settings = AT_LEISURE) -> Generalized:
    return generalize_in(Source("<test>", f"dialect {dialect};\n{text}"), "r", settings)


def test_a_zero_is_found() -> None:
    g = found("rule r(x, z: const): x + z => x;")
    assert g.before.verdict == "refuted"
    assert "z.value == 0" in g.conditions and len(g.conditions) <= 2
    assert g.verdict is not None and g.verdict.verdict == "proved"


def test_two_calls_without_attributes_have_none_to_be_equal() -> None:
    g = found("rule r(x): Neg(Neg(x)) => Neg(x);", "onnx")
    assert g.before.verdict == "refuted" and g.reason == "no instance was found on which the sides agree"


def test_rules_of_a_family_have_no_text_of_their_own() -> None:
    family = Source("<test>", "dialect onnx;\nrule r(x) for F in Relu, Neg: F(F(x)) => F(x);")
    for name in ("r", "r[Neg]"):
        with pytest.raises(NoDraft, match="as a rule of its own"):
            draft_of(family, name)


def test_a_rule_that_holds_stays() -> None:
    g = found("rule r(x): nn.relu(nn.relu(x)) => nn.relu(x);")
    assert g.unchanged and g.verdict is not None and g.verdict.verdict == "proved"


def test_division_is_for_floats() -> None:
    g = found("rule r(x, y): (x * y) / y => x;")
    assert g.verdict is not None and g.verdict.verdict == "proved"
    assert any("float32" in c for c in g.conditions) and any("shape" in c for c in g.conditions)


@pytest.mark.long
def test_joined_sums_need_equal_parts() -> None:
    g = found(
        "rule r(a, b, c, d): concatenate((a, b), axis = 1) + concatenate((c, d), axis = 1) => concatenate((a "
        "+ c, b + d), axis = 1);"
    )
    assert g.verdict is not None and g.verdict.verdict in ("exact", "proved")
    assert "c.shape == a.shape" in g.conditions
    assert not any("b.shape == a.shape" in c for c in g.conditions)


@pytest.mark.long
def test_two_convolutions() -> None:
    """The conditions of the shipped rule, or weaker ones, element types included."""
    g = found("rule r(x, a, b): nn.conv2d(x, a) + nn.conv2d(x, b) => nn.conv2d(x, a + b);")
    assert g.rule is not None and g.verdict is not None and g.verdict.verdict in ("exact", "proved")
    assert g.text is not None and "c1.*" in g.text
    mixed = 0
    for instance in of_the_shipped_rule(30):
        types = types_of(instance)
        assert list(instances_on(g.rule, [instance.before.copy()], Search())), (g.text, types)
        mixed += types["x"] != types["w1"]
    assert mixed


def test_time_that_does_not_suffice_is_told() -> None:
    g = found("rule r(x, y): (x * y) / y => x;", settings=Settings(seconds=0.001))
    assert g.text is None and g.stopped == 0.001 and g.left_open == "do any conditions suffice?"
    assert "# left open: do any conditions suffice?" in as_text([g])


def test_neighbours_differ_from_one_another() -> None:
    texts = [write_json(instance.before) for instance in of_the_shipped_rule(1)[1:]]
    assert len(texts) > 15 and len(set(texts)) == len(texts)


def test_neighbours_of_two_convolutions_have_mixed_types() -> None:
    """An input of another type than the kernels, in which the convolutions are computed."""
    types = [types_of(instance) for instance in of_the_shipped_rule(1)]
    assert any(t["x"] != t["w1"] == t["w2"] == t["c1"] for t in types)


def of_the_shipped_rule(count: int) -> list[Instance]:
    """Instances of `diamond_conv_add`, and the neighbours of the first."""
    rule = load("std.relay").known["diamond_conv_add"]
    drawn = list(islice(instances(rule, Search(), 7, 20.0, 2_000), count))
    scope = match_in(rule, drawn[0].before)
    assert scope is not None
    return [i for i in (*drawn, *neighbours(rule, point_of(scope), [], 7)) if i.after is not None]


def types_of(instance: Instance) -> dict[str, str]:
    """The element types of the leaves and calls of `diamond_conv_add` by name."""
    rule, graph = load("std.relay").known["diamond_conv_add"], instance.before
    scope = match_in(rule, graph)
    assert scope is not None
    return {
        node.name: str(getattr(graph.types[scope.slots[k]], "dtype", ""))
        for k, node in enumerate(rule.nodes) if node.name is not None
    }


def test_nothing_helps() -> None:
    g = found("rule r(x): nn.relu(x) => tanh(x);")
    assert g.text is None and g.reason


def test_drafts_name_calls_and_put_conditions_at_nodes() -> None:
    source = Source(
        "<test>", "dialect relay;\nrule r(x, a, b): nn.conv2d(x, a) + nn.conv2d(x, b) => nn.conv2d(x, a + b);"
    )
    text, rule = draft_of(source, "r").with_best_places([
        Condition("b.shape == a.shape", 1, "b", "shape", "a.shape"),
        Condition("c2.strides == c1.strides", 1, "c2", "strides", "c1.strides"),
        Condition("c2.groups == c1.groups", 1, "c2", "groups", "c1.groups"), Condition("a.ndim == 4"),
    ])
    assert (
        "b: any(shape = a.shape)" in text and "c1.{strides, groups}" in text and "where a.ndim == 4" in text
    )
    assert rule.name == "r"


def test_a_constraint_that_comes_too_early_is_a_condition() -> None:
    source = Source("<test>", "dialect relay;\nrule r(x, a): nn.relu(x) + a => nn.relu(x) + a;")
    text, _ = draft_of(source, "r").with_best_places(
        [Condition("x.shape == a.shape", 1, "x", "shape", "a.shape")]
    )
    assert "where x.shape == a.shape" in text


def test_no_such_rule() -> None:
    with pytest.raises(NoDraft, match="unknown rule `r`"):
        generalize_in(Source("<test>", "dialect relay;\n"), "r")


def test_the_weakest_conjunction() -> None:
    # samples 0, 1 good, 2, 3 bad; the first column excludes both bad ones but loses a good one
    columns = [Column(0b0001, 0b0000, 1), Column(0b0011, 0b1000, 1), Column(0b0011, 0b0100, 1)]
    assert weakest(columns, 0b0011, 0b1100) == (1, 2)
    assert weakest(columns[:1], 0b0011, 0b1100) == (0,)
    assert weakest(columns[1:2], 0b0011, 0b1100) is None
    assert weakest(columns, 0b0011, 0) == ()


def test_one_condition_makes_room_for_two_weaker_ones() -> None:
    """The first column is cheaper and loses one of 24 good samples, which no other column loses."""
    good, bad = (1 << 24) - 1, 0b11 << 24
    columns = [Column(good >> 1, 0, 0.1), Column(good, 1 << 24, 1), Column(good, 2 << 24, 1)]
    assert weakest(columns, good, bad) == (1, 2)
    assert weakest(columns[:2], good, bad) == (0,)


def test_a_checked_rule_is_enough() -> None:
    (handle,) = parse_rules("dialect relay;\nrule r(x): nn.relu(nn.relu(x)) => nn.relu(x);")
    assert generalize(handle.rule).unchanged


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, out = tmp_path / "rules.gsl", tmp_path / "out.gsl"
    rules.write_text(
        "dialect relay;\nrule zero(x, z: const): x + z => x;\nrule wrong(x): nn.relu(x) => tanh(x);\n"
    )
    assert main(["generalize", str(rules), "zero", "-o", str(out)]) == 0
    assert "# needs: z.value == 0" in capsys.readouterr().out
    assert main(["check", str(out)]) == 0
    assert main(["generalize", str(rules), "wrong", "--format", "json"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert entry["text"] is None and entry["before"]["verdict"] == "refuted" and entry["reason"]
    assert main(["generalize", str(rules), "none"]) == 2
    assert "unknown rule `none`" in capsys.readouterr().err
    assert main(["generalize", str(tmp_path / "missing.gsl")]) == 3


def test_verify_says_who_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "rules.gsl"
    rules.write_text("dialect relay;\nrule zero(x, z: const): x + z => x;\n")
    assert main(["verify", str(rules)]) == 1
    assert "help: `gslc generalize" in capsys.readouterr().out


def test_permutations_undo_each_other() -> None:
    """Not the defaults, although these are drawn most often; by other seeds, equal axes of matrices."""
    g = found("rule r(x): transpose(transpose(x)) => x;", settings=replace(AT_LEISURE, seed=1))
    (condition,) = g.conditions
    assert "axes[i] for i in" in condition and "none" not in condition
    assert g.verdict is not None and g.verdict.verdict == "proved"


@pytest.mark.parametrize("seed", range(3))
def test_conditions_on_inputs_alone_do_not_lose_most_instances(seed: int) -> None:
    """A counterexample of high rank does not ask for `x.ndim <= 2`: the literal may raise the rank."""
    text = "rule r(x): x / (Exp(-x) + 1.0) => x * Sigmoid(x);"
    g = found(text, "onnx", replace(AT_LEISURE, seed=seed))
    assert g.verdict is not None and g.verdict.verdict == "proved"
    assert all("x.ndim <=" not in condition for condition in g.conditions)


def test_an_input_that_the_target_does_not_read_is_a_constant() -> None:
    g = found("rule r(x, y): power(x, y) => x * x;", settings=Settings(seconds=20))
    assert g.text is not None and "y: const" in g.text and "y.value == 2" in g.conditions[-1]


def test_missing_attributes_come_from_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, out = tmp_path / "rules.gsl", tmp_path / "out.gsl"
    rules.write_text("dialect relay;\nrule clips(x): clip(clip(x)) => clip(x);\n")
    assert main(["check", str(rules)]) == 1
    assert main(["generalize", str(rules), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "attributes of `clip`, those of `c2`" in said and "# needs: c1.a_max >= c2.a_max" in said
    assert main(["check", str(out)]) == 0
    rules.write_text("dialect relay;\nrule wrong(x): nn.relu(x) => clip(x);\n")
    assert main(["generalize", str(rules)]) == 1
    assert "needs `a_min`" in capsys.readouterr().err


def test_what_a_file_uses_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gslang.check import imports

    read: list[str] = []

    def counted(path: str | Path) -> object:
        read.append(Path(path).name)
        return read_source(path)

    read_source = imports.read_source
    monkeypatch.setattr(imports, "read_source", counted)
    (tmp_path / "other.gsl").write_text("dialect relay;\nrule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);\n")
    (tmp_path / "rules.gsl").write_text('dialect relay;\nuse "./other.gsl";\n')
    assert main(["generalize", str(tmp_path / "rules.gsl")]) == 3
    assert read == ["other.gsl"]


def test_functions_of_the_file_are_no_operators() -> None:
    text = (
        "dialect relay;\nfn twice(x, y) = nn.matmul(x, y, transpose_a = false);\n"
        "rule r(x, y, z) { s = twice(x, y); twice(s, z) => t = twice(y, z); twice(x, t) }\n"
    )
    rule = parse_rules(text).known["r"]
    assert lifts(rule.span.source, "r", rule) == []


def test_a_draft_has_what_its_rule_needs_of_the_file_and_no_more() -> None:
    around = rule_item(Source("r.gsl", """dialect relay;
op my.one(x: tensor) -> tensor { shape = same(x.shape), dtype = x.dtype };
op my.two(x: tensor) -> tensor { shape = x.shape, dtype = x.dtype };
op my.wide(x: tensor) -> tensor { shape = x.shape, dtype = x.dtype } is elementwise;
fn same(s) = twin(s);
fn twin(s) = s;
fn other(s) = s;
rule r(x): my.one(x) => x;
"""), "r")[1]
    assert [name for name in ("one", "two", "wide", "same(s)", "twin(s)", "other") if name in around] == [
        "one", "wide", "same(s)", "twin(s)",
    ]


def test_of_very_many_candidates_the_first_are_looked_at() -> None:
    names = ", ".join(f"a{k}" for k in range(30))
    rules = parse_rules(f"dialect relay; rule r({names}): ({names}) => ({names});", "r.gsl")
    assert len(candidates(rules.own["r"], [])) == 1_000

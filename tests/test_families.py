"""Rule families: each rule has a verdict, a test and a name of its own; passes, options and the Python
interface name it or all of them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

import gslang
from gslang.check.checked import CheckedRule, called
from gslang.cli.main import main
from gslang.graph.annotations import annotations_of
from gslang.graph.builder import Builder

TEXT = """## What is neutral.
rule neutral(x) for (Op, e) in (add, 0), (multiply, 1), (multiply, 0):
    (y := Op(x, e)) where y.ndim == x.ndim
  => x;
## Another one.
rule other(x): tanh(exp(x)) => x;
test "adds" for neutral[add, 0] { x: input float32[2]; x + 0.0 => x }
test "multiplies" for neutral[multiply, 1] { x: input float32[2]; x * 1.0 => x }
pass all { neutral; }
pass one { neutral[multiply, 1]; }
"""
NAMES = ["neutral[add, 0]", "neutral[multiply, 1]", "neutral[multiply, 0]"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "family.gsl"
    path.write_text(TEXT)
    return path


def test_rules_by_name(file: Path) -> None:
    rules = gslang.load(file)
    assert list(rules.own) == [*NAMES, "other"]
    assert [s.rules for s in rules.passes["all"].steps] == [tuple(NAMES)]
    assert [s.rules for s in rules.passes["one"].steps] == [("neutral[multiply, 1]",)]
    assert rules.steps(None, ["neutral"])[0].rules == tuple(NAMES)
    assert rules.steps(None, None, ["neutral"])[0].rules == ("other",)
    with pytest.raises(KeyError):
        rules.steps(None, ["neutral[add, 1]"])


def test_verdicts(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(file), "--rule", "neutral"]) == 1
    out = capsys.readouterr().out
    lines = [
        re.split(r"  +", line)[:2]
        for line in out.splitlines()
        if "neutral[" in line and line[0] != " "
    ]
    assert [name for _, name in lines] == NAMES
    assert lines[2][0] == "refuted" and "refuted" not in (lines[0][0], lines[1][0])
    suggested = re.findall("help: `(gslc generalize .*)` finds conditions", out)
    (command,) = map(shlex.split, suggested)
    assert command[-1] == "neutral[multiply, 0]" and main(command[1:]) == 1
    assert "no conditions were found" in capsys.readouterr().out


def test_conditions_are_found_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.gsl"
    path.write_text(
        "## Both.\nrule both(x, z: const) for (F, e) in (add, -1 + 1), (subtract, 0):\n"
        "    F(x, z) where x.ndim > e => x;\nrule both_add_1_1(x): abs(abs(x)) => abs(x);\n"
    )
    found = tmp_path / "o.gsl"
    assert main(["generalize", str(path), "both", "-o", str(found)]) == 0
    out = capsys.readouterr().out
    assert "# both[add, -1+1]: refuted" in out and "# both[subtract, 0]: refuted" in out
    assert "rule both_add_1_1_(" in out and "x.ndim > (-1 + 1)" in out
    assert list(gslang.load(found).own) == ["both_add_1_1_", "both_subtract_0"]


def test_one_is_explained(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "neutral[add, 0]", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "rule neutral(x) for" in shown and '"adds"' in shown and '"multiplies"' not in shown
    assert main(["explain", "neutral", str(file)]) == 0
    assert '"multiplies"' in capsys.readouterr().out


def test_an_import_names_the_family(file: Path) -> None:
    other = file.with_name("other.gsl")
    other.write_text('use "./family.gsl" (neutral);\npass p { neutral; }\n')
    assert [s.rules for s in gslang.load(other).passes["p"].steps] == [tuple(NAMES)]


def test_an_own_rule_takes_the_place_of_an_imported_family(file: Path) -> None:
    other = file.with_name("other.gsl")
    other.write_text('use "./family.gsl";\nrule neutral(x): abs(abs(x)) => abs(x);\npass p { neutral; }\n')
    assert [s.rules for s in gslang.load(other).passes["p"].steps] == [("neutral",)]


def test_only_names_that_are_imported_are_looked_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may stand for a family, which takes a look at all rules."""
    asked: list[str] = []

    def noted(rules: Mapping[str, CheckedRule], name: str) -> tuple[str, ...]:
        asked.append(name)
        return called(rules, name)

    monkeypatch.setattr("gslang.check.checked.called", noted)
    user = file.with_name("user.gsl")
    user.write_text(
        'use "./family.gsl";\nrule neutral(x): tanh(x) => x;\n'
        + "".join(f"rule r{k}(x): exp(exp(x)) => x;\n" for k in range(9))
    )
    assert len(gslang.load(user).own) == 10
    assert "neutral" in asked and not {"r0", "r8"} & {*asked}


CHOICES = """dialect onnx;
## By the operator of a call.
rule twice(x) for F in Relu, Neg { y = F(F(x)); y => Relu(x) if y.op == "Relu" else x }
## By another item of the row.
rule item(x) for (F, e) in (Relu, 0), (Neg, 1) { y = F(F(x)); y => Relu(x) if e == 0 else x }
## By the alternative that matched, whatever it is called in the row.
rule either(x) for (F, G) in (Relu, Neg), (Sigmoid, Relu) {
    y = (a := F(x)) | (b := G(x));
    Neg(y) => match y { a => Neg(F(x) + 0), b => x if b.op == "Neg" else Neg(y) }
}
test "Relu" for twice[Relu] { x: input float32[2]; Relu(Relu(x)) => Relu(x) }
test "Neg" for twice { x: input float32[2]; Neg(Neg(x)) => x }
test "the other operator" for twice[Relu] { x: input float32[2]; Neg(Neg(x)) => unchanged }
test "item" for item { x: input float32[2]; Relu(Neg(Neg(x))) => Relu(x) }
test "first" for either[Sigmoid, Relu] { x: input float32[2]; Neg(Sigmoid(x)) => Neg(Sigmoid(x) + 0) }
test "second" for either[Relu, Neg] { x: input float32[2]; Neg(Neg(x)) => x }
test "neither" for either[Relu, Neg] { x: input float32[2]; Neg(Sigmoid(x)) => unchanged }
"""


def test_choices_by_what_the_row_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "choices.gsl"
    path.write_text(CHOICES)
    assert main(["check", str(path)]) == 0 and main(["test", str(path)]) == 0
    capsys.readouterr()
    assert main(["verify", str(path), "--require", "proved"]) == 0, capsys.readouterr().out


def test_a_condition_that_one_row_never_fulfils(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.gsl"
    path.write_text("## d\nrule r(x) for (f, e) in (abs, 0), (exp, 1): f(f(x)) where e == 0 => f(x);\n")
    assert main(["lint", str(path)]) == 1
    out = capsys.readouterr().out
    assert "`e == 0` is never true" in out and "always true" not in out


def test_annotations_read_the_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.gsl"
    text = "@attach(step = e, op = y.op)\nrule r(x, z: const) for (F, e) in (add, 0), (multiply, 1) {\n"
    path.write_text(text + "    y = F(x, z); y where z.value == e => abs(x) }\n")
    rules = gslang.load(path)
    b = Builder(rules.programs[0].dialect)
    b.graph.set_outputs([b.call("multiply", b.input("x", (2,)), b.const(1.0))])
    result = rules.apply(b.graph)
    assert annotations_of(result.graph, result.graph.outputs[0]) == {"step": 1, "op": "multiply"}
    path.write_text("@attach(step = e)\nrule r(x) for (F, e) in (abs, 0), (exp, 1): F(F(x)) => F(x);\n")
    assert main(["generalize", str(path), "r[abs, 0]"]) == 0
    assert "@attach(step = 0)" in capsys.readouterr().out


KINDS = """## The table gives the kind of an input, with constraints or without.
rule last(x: K, y: any(dtype = x.dtype)) for K in const, param(dtype = "float32") {
    x - y where y.kind == "input" => x + negative(y)
}
## It gives the operators of a variable.
rule twice(x, f: F(unary)) for F in op(nn.relu | abs), op(ceil) { f(f(x)) => f(x) }
test "a constant" for last[const] {
    y: input float32[2];
    const(value = [1.0, 2.0], dtype = "float32") - y
  => const(value = [1.0, 2.0], dtype = "float32") + negative(y)
}
test "a parameter" for last { y: input float32[2];  w: param float32[2];  w - y => w + negative(y) }
test "not of this type" for last { y: input float16[2];  w: param float16[2];  w - y => unchanged }
test "ceil" for twice { x: input float32[2];  ceil(ceil(x)) => ceil(x) }
test "not exp" for twice { x: input float32[2];  exp(exp(x)) => unchanged }
"""


def test_kinds_of_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kinds.gsl"
    path.write_text(KINDS)
    assert main(["lint", str(path)]) == 0 and main(["test", str(path)]) == 0, capsys.readouterr().out
    capsys.readouterr()
    assert main(["verify", str(path), "--require", "proved"]) == 0
    assert 'last[param(dtype="float32")]' in capsys.readouterr().out


def test_the_nearest_rule_of_a_family_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.gsl"
    path.write_text(
        "rule f(x) for (F, k) in (nn.relu, 1), (abs, 2) { F(F(x)) where x.ndim >= k => F(x) }\n"
        'test "t" for f { x: input float32[2]; abs(abs(x)) => abs(x) }\n'
    )
    assert main(["test", str(path)]) == 1
    out = capsys.readouterr().out
    assert "f[abs, 2]" in out and "x.ndim = 1" in out and "f[nn.relu, 1]" not in out


TUPLES = """dialect onnx;
## Some axes.
rule y(x) for (p, e) in ((0, ), 1), ([1,], 2), (( 0, 1, ), 2): ReduceSum(x, p) where x.ndim == e => x;
## Tuples inside of calls.
rule f(x) for (s, e) in (broadcast((2,), x.shape,), max(0, 1,)), ((0,) if 1 in (1,) else (), 2):
    Concat(x, axis = e) where x.shape[:1] == s => x;
test "one" for y[ (0,), 1 ] { x: input float32[3, 2]; ReduceSum(x, (0, 1)) => unchanged }
pass p { y[([1,]), 2]; y[(0, 1,), 2]; }
"""


def test_tuples_of_one_item_in_a_table_of_one_name() -> None:
    rules = gslang.parse_rules(
        "dialect onnx; rule z(x) for p in (0,), [0], (0, 1): Transpose(x, perm = p) => x;"
        "rule u(x) for ( # no tuples\n p, ) in (0,), [1], (2 ), 3: Softmax(x, axis = p) => x;"
    )
    assert list(rules.own) == ["z[(0,)]", "z[[0]]", "z[(0, 1)]", "u[0]", "u[1]", "u[2]", "u[3]"]
    for names in ("A", "(A)"):
        relus = gslang.parse_rules(f"dialect onnx; rule r(x) for {names} in Relu, (Abs): A(A(x)) => A(x);")
        assert list(relus.own) == ["r[Relu]", "r[Abs]"]


def test_tuples_of_one_item_in_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tuples.gsl"
    path.write_text(TUPLES)
    assert list(gslang.load(path).own) == [
        "y[(0,), 1]", "y[[1], 2]", "y[(0, 1), 2]",
        "f[broadcast((2,), x.shape), max(0, 1)]", "f[(0,)if 1 in(1,)else(), 2]",
    ]
    assert main(["check", str(path)]) == 0 and main(["test", str(path)]) == 0
    capsys.readouterr()
    assert main(["verify", str(path), "--rule", "y[(0,), 1]"]) == 1
    assert "y[(0,), 1]" in capsys.readouterr().out
    path.write_text(TUPLES + 'test "another" for y[(0), 1] { x: input float32[3]; x => unchanged }')
    assert main(["check", str(path)]) == 1
    assert "y[0, 1]" in capsys.readouterr().err

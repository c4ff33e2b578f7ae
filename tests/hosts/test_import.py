"""Rules of other tools: pairs of ONNX functions and Tensat's terms, read, judged and repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslang.api import load
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.generalize.refine import Settings
from gslang.hosts.function_rule import NotSayable, operand_text, rule_of
from gslang.hosts.judged import Given, Judged, judge
from gslang.hosts.pairs import read_pairs

HERE = Path(__file__).parent
HEAD = '<domain: "r", opset_import: ["" : 18]>\n'
# Names of the wrong pairs, and a condition that is part of the repair; None: no conditions make a useful rule
# of it.
REPAIRS: dict[str, str | None] = {
    "two_transposes": "[n1.perm[i] for i in n2.perm] ==",
    "add_zero": "c.value == 0",
    "mul_one": "c.value == 1",
    "matmul_add": "broadcast(n1.shape, c.shape) == n1.shape",
    "cast_cast": "n2.to == n1.to",
    "relu_clip": "low.value >= 0",
    "softmax_softmax": "x.shape[n1.axis] == 1",
    "concat_concat": "",
    "mul_div": "x.dtype in",
    "sub_swap": None,
    "conv_conv": "n2.strides == n1.strides",
    "relu_add": "",
    "flatten_flatten": "normalize_axis(n2.axis, n1.ndim) == n1.ndim - 1",
    "sqrt_square": None,
    "leaky_leaky": "n1.alpha <= 0",  # the inner one gives nothing negative then
}


def write(folder: Path, text: str, name: str = "pairs.txt") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def pair(name: str, pattern: str, replacement: str) -> str:
    return f"{HEAD}{name}_pattern {pattern}\n{HEAD}{name}_replacement {replacement}\n"


RELUS = pair("relus", "(x) => (z) { y = Relu(x) z = Relu(y) }", "(x) => (z) { z = Relu(x) }")


def test_a_pair_becomes_a_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rules.gsl"
    assert main(["import", "onnxsim", write(tmp_path, RELUS), "-o", str(out)]) == 0
    assert capsys.readouterr().out.startswith("proved  relus  ")
    rules = load(out)
    assert list(rules.own) == ["relus"] and not rules.diagnostics
    assert main(["fmt", "--check", str(out)]) == 0


def test_attributes_and_constants(tmp_path: Path) -> None:
    text = pair(
        "slope",
        "<alpha> (x) => (z) { c = Constant<value = float {2.0}>() y = LeakyRelu<alpha: float = @alpha>(x) z "
        "= Mul(y, c) }",
        "<alpha> (v) => (z) { c = Constant<value = float {2.0}>() y = Mul(v, c) z = LeakyRelu<alpha: float = "
        "@alpha>(y) }",
    )
    (one,) = read_pairs(write(tmp_path, text))
    rule = rule_of(one, load_dialect("onnx"))
    assert "n2 = Mul(n1, 2.0)" in rule and "alpha = n1.alpha" in rule and "Mul(x, 2.0)" in rule


def test_models_and_text_say_the_same(tmp_path: Path) -> None:
    import onnx

    onnx_text = 'ir_version: 9, opset_import: ["" : 18, "r" : 1]'
    model = onnx.parser.parse_model(
        f"<{onnx_text}>\nm (float[2] x) => (float[2] y) {{ y = Identity(x) }}\n{RELUS}"
    )
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    text = write(tmp_path, RELUS)
    dialect = load_dialect("onnx")
    (first,), (second,) = read_pairs(text), read_pairs(tmp_path / "model.onnx")
    assert rule_of(first, dialect) == rule_of(second, dialect)


def test_names_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnx

    model = onnx.ModelProto(ir_version=10)
    model.functions.add(name="a_pattern", domain="d")
    model.functions.add(name="a_replacement", domain="d")
    data = model.SerializeToString().replace(b"a_pattern", b"\xff_pattern")
    (tmp_path / "model.onnx").write_bytes(data)
    assert main(["import", "onnxsim", str(tmp_path / "model.onnx"), "-o", str(tmp_path / "out.gsl")]) == 3
    assert "the name of a function is not UTF-8 text" in capsys.readouterr().err


def test_without_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = RELUS + pair("odd", "(x) => (z) { z = Rellu(x) }", "(x) => (z) { z = Relu(x) }")
    assert main(["import", "onnxsim", write(tmp_path, text), "--as-written", "--format", "json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["rules"]
    assert first["before"]["verdict"] == "unknown" and "rule relus(x)" in first["text"]
    assert second["text"] is None and "did you mean `Relu`?" in second["before"]["reason"]


def test_equal_rules_are_judged_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def noted(given: Given, head: str, settings: Settings) -> Judged:
        judged.append(given.name)
        return judge(given, head, settings)

    monkeypatch.setattr("gslang.hosts.judged.judge", noted)
    path = write(tmp_path, RELUS + RELUS.replace("relus", "rule_b") + RELUS)
    assert main(["import", "onnxsim", path, "-o", str(out := tmp_path / "out.gsl")]) == 0
    assert judged == ["relus"]
    lines = [line for line in out.read_text().splitlines() if line.startswith("rule ")]
    assert lines == [f"rule {name}(x) {{" for name in ("relus", "rule_b", "relus_2")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no functions found"), (HEAD + "f (x) => (z) { z = Relu(x) }", "`f` has no replacement"),
        (HEAD + "f (x) => (z) { z = Relu(x)", "a function is not closed"),
        (HEAD + "f (x) => (z) { z = = Relu(x) }\n" + HEAD + "g (x) => (z) { z = Relu(x) }", "pairs.txt:2:"),
        (
            HEAD + "f_replacement (x) => (z) { z = Relu(x) }\n" + HEAD
            + "f_pattern (x) => (z) { z = Relu(x) }",
            "a pattern is expected",
        ),
        ("\x00\x01\x02", "neither text nor an ONNX model"),
    ],
)
def test_files_that_are_none(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "onnxsim", write(tmp_path, text), "-o", str(tmp_path / "out.gsl")]) == 3
    assert said in capsys.readouterr().err and not (tmp_path / "out.gsl").exists()


@pytest.mark.parametrize(
    ("pattern", "replacement", "said"),
    [
        ("(x) => (z) { z = Relu(y) }", "(x) => (z) { z = Relu(x) }", "reads `y`, which is neither an input"),
        ("(x) => (z) { z = Relu(x) }", "(x, y) => (z) { z = Add(x, y) }", "which the pattern does not have"),
        (
            "(x) => (z) { z = Relu(x) }", "(x) => (z, y) { z = Relu(x) y = Relu(z) }",
            "1 outputs and the replacement 2",
        ),
        ("(x) => (z) { z = Relu<alpha = 1>(x) }", "(x) => (z) { z = Relu(x) }", "has no attribute `alpha`"),
        ("(x) => (x) { z = Relu(x) }", "(x) => (x) { z = Relu(x) }", "there is nothing to match"),
        (
            "(x) => (z) { z = Relu(x) }", "<a> (x) => (z) { z = LeakyRelu<alpha: float = @a>(x) }",
            "the pattern does not bind `@a`",
        ),
    ],
)
def test_pairs_that_are_no_rules(
    pattern: str, replacement: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, pair("p", pattern, replacement))
    assert main(["import", "onnxsim", path, "--as-written", "--format", "json"]) == 1
    assert said in json.loads(capsys.readouterr().out)["rules"][0]["before"]["reason"]


@pytest.mark.parametrize(
    "name",
    [
        *(["add_zero", "relu_add"]),
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in REPAIRS if name not in ("add_zero", "relu_add")
        ),
    ],
)
def test_wrong_pairs_are_refuted_and_repaired(name: str) -> None:
    """Fifteen pairs that are wrong as they stand.

    Where there is no repair, no conditions that rules have make the sides equal on anything useful.
    """
    one = next(p for p in read_pairs(HERE / "wrong_pairs.txt") if p.name == name)
    found = judge(
        Given(name, one.place, rule_of(one, load_dialect("onnx"))), "dialect onnx;\n", Settings(seconds=30)
    )
    wanted = REPAIRS[name]
    assert found.before == "refuted"
    if wanted is None:
        assert not found.text
    else:
        assert found.verdict in ("proved", "exact") and any(
            wanted in condition for condition in found.conditions
        )


def test_there_are_fifteen_wrong_pairs() -> None:
    assert [p.name for p in read_pairs(HERE / "wrong_pairs.txt")] == list(REPAIRS)


# ── Tensat ──


def test_tensat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "(matmul (matmul ?a ?b) ?c)=>(matmul ?a (matmul ?b ?c))\n(smul ?a ?b)=>(ewmul ?a ?b)\n"
        "(conv2d 1 1 0 0 ?x (ewadd ?a ?b))=>(ewadd (conv2d 1 1 0 0 ?x ?a) (conv2d 1 1 0 0 ?x ?b))\n"
    )
    out = tmp_path / "rules.gsl"
    assert main(["import", "tensat", write(tmp_path, text), "--as-written", "-o", str(out)]) == 1
    assert "`smul` has no meaning here" in capsys.readouterr().out
    rules = load(out)
    assert list(rules.own) == ["tensat_000", "tensat_002"] and not rules.diagnostics


def test_tensat_rules_of_several_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    side = "(split 1 (matmul 0 ?x (concat 1 2 ?a ?b)))"
    text = f"(matmul 0 ?x ?a)=>(split_0 {side})\n(matmul 0 ?x ?b)=>(split_1 {side})\n"
    out = tmp_path / "rules.gsl"
    assert main(["import", "tensat", write(tmp_path, text), "-o", str(out)]) == 0
    assert "tensat_000" in capsys.readouterr().out
    (rule,) = load(out)
    assert len(rule.rule.outputs) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(relu ?a)", "1:1: a rule is two terms"), ("(relu ?a=>(relu ?a)", "1:1: `(` is not closed"),
        ("(relu ?a))=>(relu ?a)", "1:10: `)` follows the term"), ("", "no rules found"),
    ],
)
def test_lines_that_are_no_terms(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "tensat", write(tmp_path, text)]) == 3
    assert said in capsys.readouterr().err


def test_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "onnxsim", write(tmp_path, RELUS), "--with-conditions"]) == 2
    assert main(["import", "taso", str(tmp_path / "none.json")]) == 2
    assert main(["import", "onnxsim", str(tmp_path / "none.txt")]) == 3
    capsys.readouterr()


def test_a_constant_whose_value_is_of_another_kind() -> None:
    from onnx import AttributeProto, NodeProto

    for attribute in (AttributeProto(name="value"), AttributeProto(name="value_float", type=3, s=b"one")):
        with pytest.raises(NotSayable, match="of another kind"):
            operand_text(NodeProto(op_type="Constant", output=["c"], attribute=[attribute]), True)

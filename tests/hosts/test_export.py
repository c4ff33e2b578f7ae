"""Rules for other tools: what they can say is written, and means the same there; what they cannot is refused.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gslang.api import load, parse_rules
from gslang.cli.main import main
from gslang.hosts.pairs import read_pairs
from gslang.hosts.sayable import Refused, plain

RULES = """dialect onnx;
## Two relus are one.
rule relu_relu(x): Relu(Relu(x)) => Relu(x);
rule leaky(x) { n = LeakyRelu(x); n * 2.0 => LeakyRelu(x * 2.0, n.*) }
rule turned(x) { t = Transpose(x, perm = (1, 0)); Transpose(t, perm = (1, 0)) => x }
rule sums(x, y, z): (x + y) + z => x + (y + z);
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "rules.gsl"
    path.write_text(RULES, encoding="utf-8")
    return str(path)


def test_pairs_come_back(file: str, tmp_path: Path) -> None:
    """Text and protobuf say the same, and are read as rules that are implied by those that were written."""
    text, model = tmp_path / "pairs.txt", tmp_path / "pairs.onnx"
    assert (
        main(["export", "onnxsim", file, "-o", str(text)]) == 0
        == main(["export", "onnxsim", file, "-o", str(model)])
    )
    assert (
        [p.name for p in read_pairs(text)] == [p.name for p in read_pairs(model)]
        == ["relu_relu", "leaky", "turned", "sums"]
    )
    back = tmp_path / "back.gsl"
    assert main(["import", "onnxsim", str(model), "--as-written", "-o", str(back)]) == 0
    assert list(load(back).own) == ["relu_relu", "leaky", "turned", "sums"]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("rule r(x, y): x + y where x.ndim == 2 => y + x;", "it has a `where` condition"),
        ("rule r(x, y: any(shape = x.shape)): x + y => y + x;", "`y` has a condition on its shape"),
        ("rule r(x, y: const): x + y => y + x;", "`y` must be of kind const"),
        ("rule r(x): Relu?(x) + x => x;", "alternatives"),
        (
            (
                "rule r(x) { t = Transpose(x); Transpose(t) => Transpose(x, perm = [t.perm[i] for i in "
                "t.perm]) }"
            ),
            "`perm` of `Transpose` is computed",
        ),
        ('@changes("it rounds") rule r(x): Relu(x) => x;', "it changes values"),
        ("rule r(x) { n = Relu(x); Tanh(keep n) => n }", "keep"),
    ],
)
def test_conditions_are_refused(rule: str, why: str) -> None:
    rules = parse_rules(f"dialect onnx;\n{rule}\n")
    with pytest.raises(Refused, match=re.escape(why)):
        plain(rules.known["r"])


def test_refusals_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.gsl"
    path.write_text("dialect onnx;\nrule r(x, y): x + y where x.ndim == 2 => y + x;\n", encoding="utf-8")
    out = tmp_path / "out.py"
    assert main(["export", "onnxscript", str(path), "-o", str(out)]) == 1
    assert "refused r: it has a `where` condition" in capsys.readouterr().err and not out.exists()
    assert main(["export", "onnxscript", str(path), "--rule", "q"]) == 2
    assert main(["export", "onnxscript", "std.relay", "--rule", "bias_add_zero", "-o", str(out)]) in (1, 2)
    assert main(["export", "onnxsim", str(tmp_path / "none.gsl")]) == 3


def test_the_module_is_python(file: str, tmp_path: Path) -> None:
    out = tmp_path / "rules.py"
    assert main(["export", "onnxscript", file, "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    compile(text, "rules.py", "exec")
    assert "rules = pattern.RewriteRuleSet([relu_relu, leaky, turned, sums])" in text


@pytest.mark.skipif(importlib.util.find_spec("onnxscript") is None, reason="onnxscript is not installed")
def test_the_module_runs(file: str, tmp_path: Path) -> None:
    import onnx.parser
    from onnx.reference import ReferenceEvaluator
    from onnxscript.rewriter import rewrite

    out = tmp_path / "written_rules.py"
    assert main(["export", "onnxscript", file, "-o", str(out)]) == 0
    spec = importlib.util.spec_from_file_location("written_rules", out)
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules["written_rules"] = module
    spec.loader.exec_module(module)
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 18]> g (float[2, 3] x) => (float[2, 3] y) <float c = {2.0}> '
        "{ a = Relu(x) b = Relu(a) d = LeakyRelu<alpha: float = 0.3>(b) e = Mul(d, c) f = Transpose<perm = "
        "[1, 0]>(e) y = Transpose<perm = [1, 0]>(f) }"
    )
    after = rewrite(model, pattern_rewrite_rules=module.rules)
    assert [n.op_type for n in after.graph.node].count("Relu") == 1 and "Transpose" not in [
        n.op_type for n in after.graph.node
    ]
    x = np.asarray([[-1.0, 2.0, 3.0], [0.5, -2.0, 1.0]], np.float32)
    before, now = (ReferenceEvaluator(m).run(None, {"x": x})[0] for m in (model, after))
    assert np.allclose(before, now)

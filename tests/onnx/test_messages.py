"""ONNX's own modules, loaded without the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.onnx.networks.network import Network

_PROGRAM = """
import gslang.dialect.onnx.messages as m
m.messages(), m.compiled()
import onnx, onnx.checker
assert onnx.onnx_ml_pb2.ModelProto is onnx.ModelProto is m.messages().ModelProto
assert onnx.onnx_cpp2py_export is m.compiled() and onnx.defs.has("Relu")
"""


@pytest.mark.parametrize("first", ["", "import importlib.util; importlib.util.find_spec('onnx')\n"])
def test_the_package_imported_later_has_its_parts(first: str) -> None:
    subprocess.run([sys.executable, "-c", first + _PROGRAM], check=True)


def test_a_run_without_values_imports_neither_onnx_nor_numpy(tmp_path: Path) -> None:
    net = Network()
    x = net.input("x", [2, 3])
    for _ in range(3):
        x = net.call("Tanh", net.call("Add", x, net.initializer(np.array(0, np.float32))))
    onnx.save(net.model({x: [2, 3]}, 17), tmp_path / "model.onnx")
    (tmp_path / "rules.gsl").write_text("dialect onnx;\nrule add_zero(x): x + 0 => x;\n")
    program = (
        "import sys\nfrom gslang.cli.main import main\ncode = main()\n"
        "print(code, sorted({'numpy', 'onnx', 'lark'} & set(sys.modules)))"
    )
    for _ in range(2):  # the second time the rules are known
        run = subprocess.run(
            [sys.executable, "-c", program, "rules.gsl", "model.onnx", "-o", "out.onnx"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )
    assert run.stdout == "0 []\n", run.stdout
    assert "3 applications" in run.stderr


def test_whole_numbers_of_a_rule_are_constants_without_numpy(tmp_path: Path) -> None:
    net = Network()
    x = net.input("x", [2, 3])
    wide = net.call("Concat", x, x, axis=1)
    onnx.save(net.model({net.call("Relu", wide): [2, 6]}, 17), tmp_path / "model.onnx")
    (tmp_path / "rules.gsl").write_text(
        "dialect onnx;\nuse std.onnx.common;\n"
        "rule halves(x) {\n    y = Relu(x);\n    y\n  =>\n    p = Split(x, ints([3, 3]), axis = 1);\n"
        "    Concat(p.0, p.1, axis = 1)\n}\n"
    )
    program = (
        "import sys\n{}from gslang.cli.main import main\ncode = main()\nprint(code, 'numpy' in sys.modules)"
    )
    # the second time the rules are known
    for first, name, says in [("import numpy\n", "b.onnx", "0 True\n"), ("", "a.onnx", "0 False\n")]:
        run = subprocess.run(
            [sys.executable, "-c", program.format(first), "rules.gsl", "model.onnx", "-o", name],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )
        assert run.stdout == says, run.stdout + run.stderr
        assert "1 application" in run.stderr
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    onnx.checker.check_model(onnx.load(tmp_path / "a.onnx"), full_check=True)

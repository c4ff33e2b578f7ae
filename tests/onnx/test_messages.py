"""ONNX's own modules, loaded without the package."""

from __future__ import annotations

import subprocess
import sys

import pytest

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

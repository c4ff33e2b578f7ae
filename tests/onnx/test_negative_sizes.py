"""Sizes below zero, which the `onnx` package does not survive where a slice is taken, are unknown ones; of
constants they are errors. In processes of their own: what is tested ends one.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.hostile.rare import rare_onnx

NAMES = [f"rare_sliced_{where}.onnx" for where in ("input", "constant", "attribute", "in_body")]


@cache
def files() -> dict[str, bytes]:
    return {name: data for name, data in rare_onnx() if name.startswith("rare_sliced_")}


def test_none_is_left_out() -> None:
    assert list(files()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_size_below_zero(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(files()[name])
    command = [sys.executable, "-m", "gslang", "convert", name, "-o", "out.onnx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    constant = "constant" in name or "attribute" in name
    assert done.returncode == (3 if constant else 0), done.stderr
    assert ("a size of the tensor `w` is below zero: [-1]" in done.stderr) == constant
    assert (tmp_path / "out.onnx").exists() != constant

"""An installed wheel finds its grammar and rules from any folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.long
def test_wheel(tmp_path: Path) -> None:
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path / "dist"), str(ROOT))
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", str(tmp_path / "venv"))
    python = str(tmp_path / "venv" / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", str(wheel))
    done = run(str(tmp_path / "venv" / "bin" / "gslc"), "test", "std.relay")
    assert "0 failed" in done.stdout
    for verb in ("check", "lint", "fmt"):  # of rules over ONNX, without its package
        done = run(str(tmp_path / "venv" / "bin" / "gslc"), verb, *(["--check"] if verb == "fmt" else []), str(ROOT / "stdlib_rules/onnx/cast.gsl"))

"""`make demo` does what it says: weights that wait in a file, a whole pass, equal numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_demo() -> None:
    run = subprocess.run(
        [sys.executable, "examples/demo.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    calls = {
        words[0]: (int(words[1]), int(words[2]))
        for line in run.stdout.splitlines() if len(words := line.split()) == 3 and words[2].isdigit()
    }
    assert calls["nn.batch_norm"] == (94, 0)
    assert calls["nn.conv2d"] == (94, 75)
    assert "numbers agree" in run.stdout

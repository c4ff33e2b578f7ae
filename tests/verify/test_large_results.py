"""Rules whose operators make as many elements as a drawn number says: no more are made than there is memory
for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_MEMORY = 4 << 30  # bytes of addresses, of which libraries take their part
_VERIFY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
from gslang.cli.main import main
sys.exit(main(["verify", {path!r}]))
"""


def verified(rules: str, folder: Path) -> str:
    """What `gslc verify` writes in little memory."""
    path = folder / "rules.gsl"
    path.write_text(f"dialect onnx;\n{rules}", encoding="utf-8")
    program = _VERIFY.format(memory=_MEMORY, path=str(path))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    return run.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, a process cannot limit its memory")
def test_windows_of_any_size(tmp_path: Path) -> None:
    names = ("HammingWindow", "HannWindow", "BlackmanWindow")
    sources = {name: f"(n) {{ y = {name}(n); y where n.ndim == 0 => {name}" for name in names}
    wrong = [f"rule w_{name}{sources[name]}(n, output_datatype = y.output_datatype) }}" for name in names]
    right = [f"rule r_{name}{sources[name]}(n, y.*) }}" for name in names]
    told = verified("\n".join(wrong + right), tmp_path)
    assert [line.split()[:2] for line in told.splitlines() if line.startswith(("refuted", "proved"))] == [
        *[["refuted", f"w_{name}"] for name in names], *[["proved", f"r_{name}"] for name in names]
    ]
    assert "MemoryError" not in told and "Unable to allocate" not in told

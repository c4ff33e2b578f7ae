"""The demo: Inception-v3 as Relay text, rewritten by the shipped inference pass, with equal numbers before
and after.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "demo"


def run(*command: str) -> None:
    print("$ " + " ".join(command).replace(str(ROOT) + "/", ""), flush=True)
    subprocess.run([sys.executable, *command], check=True, cwd=ROOT)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    model, weights = "build/demo/inception_v3.relay", "build/demo/inception_v3.npz"
    run("examples/models/inception_v3.py", model, "--params", weights)
    run(
        "-m", "gslang", "std.relay", model, "--params", weights, "--pass", "inference", "--check-numbers",
        "--report", "build/demo/report.json", "-o", "build/demo/inception_v3.out.relay",
    )  # fmt: skip
    show(OUT / "report.json")


def show(path: Path) -> None:
    """Calls before and after, from the report."""
    import json

    report = json.loads(path.read_text())
    before, after = report["calls"]["before"], report["calls"]["after"]
    print(f"\n{'operator':<24}{'before':>8}{'after':>8}")
    for name in sorted({*before, *after}):
        print(f"{name:<24}{before.get(name, 0):>8}{after.get(name, 0):>8}")
    print(f"{'all':<24}{sum(before.values()):>8}{sum(after.values()):>8}")
    numbers = report["numbers"]
    print(f"\nnumbers agree: largest difference {numbers['max_abs']:.2g}, relative {numbers['max_rel']:.2g}")


if __name__ == "__main__":
    main()

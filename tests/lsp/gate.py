"""A lint process that stands still at documents named `held…` until it is let through: what happens meanwhile
needs no sleep.

`begun` in the folder of such a document says that its lints have begun; they end when a file `go` lies beside
it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gslang.lsp.lint_process as lint_process
import gslang.lsp.lint_worker as lint_worker

ROOT = str(Path(__file__).resolve().parents[2])
SERVER = [sys.executable, "-m", "tests.lsp.gate", "server"]
"""Starts `gslc lsp` with such a lint process."""


def command(path: Sequence[str]) -> list[str]:
    """Starts the lint process, in place of `lint_worker.command`."""
    return [
        sys.executable, "-c", f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import work; work()",
        ROOT, *path,
    ]


def work() -> None:
    """Run the lint process with the gate in front of its lints."""
    through = lint_worker.lint

    def held(analysis: Any, selected: frozenset[str]) -> Any:
        path = Path(analysis.document.name)
        if path.name.startswith("held"):
            (path.parent / "begun").touch()
            while not (path.parent / "go").exists():
                time.sleep(0.01)
        return through(analysis, selected)

    lint_worker.lint = held
    lint_worker.main()


async def begun(folder: Path) -> None:
    """Wait until the lints of a held document in `folder` have begun."""
    while not (folder / "begun").exists():
        await asyncio.sleep(0.01)


if __name__ == "__main__":
    from gslang.cli.main import main

    # The lint process is found under this name, not as `__main__`.
    from tests.lsp import gate

    lint_process.command = gate.command
    raise SystemExit(main(["lsp"]))

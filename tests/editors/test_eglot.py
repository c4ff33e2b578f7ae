"""Emacs with the shipped mode, eglot and `gslc lsp` behind it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.corpus import ROOT

pytestmark = pytest.mark.editors
RULES = "dialect relay;\n## One of two.\nrule once(x): nn.relu( x) => nn.rellu(x);\n"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("emacs")
    rules = folder / "mine.gsl"
    rules.write_text(RULES, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}",
        "RULES": str(rules),
        "HOME": str(folder),
    }
    load = [
        "-l", str(ROOT / "editors" / "emacs" / "gsl-mode.el"), "-l",
        str(Path(__file__).parent / "eglot_session.el"),
    ]
    # Not -Q: before Emacs 29 eglot is a package, which Debian puts on the load path in its start files.
    done = subprocess.run(
        ["emacs", "-q", "--batch", *load], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_diagnostics_appear(session: Any) -> None:
    (position, message), *others = session["diagnostics"]
    assert others == [] and position == RULES.index("nn.rellu") + 1
    assert "unknown operator `nn.rellu`" in message and "did you mean `nn.relu`?" in message


def test_hover_shows_the_operator(session: Any) -> None:
    assert "op nn.relu(data: tensor) -> tensor" in session["hover"]["contents"]["value"]


def test_formatting_by_the_server(session: Any) -> None:
    assert (
        session["formatted"] == "dialect relay;\n\n## One of two.\nrule once(x): nn.relu(x) => nn.rellu(x);\n"
    )

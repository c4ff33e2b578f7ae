"""Neovim, headless, with the shipped files on its runtime path and `gslc lsp` behind it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.corpus import ROOT

pytestmark = pytest.mark.editors
RULES = """dialect relay;

## conv(x, w1) + conv(x, w2) = conv(x, w1 + w2)
rule sum_of_two(x, w1: var, w2: var(shape = w1.shape)) {
    c1 = nn.conv2d(x, w1);
    c2 = nn.conv2d(x, w2, stride = [1, 1]);
    c1 +   c2
  =>
    nn.conv2d(x, w1 + w2, c1.*)
}
test "no change" for sum_of_two { x: input float32[2]; x => unchanged }
"""


def in_neovim(folder: Path, script: Path, rules: Path, *before: str) -> Any:
    """What a script answers, where a person has only put the shipped folder on the runtime path."""
    setup = folder / "init.vim"
    setup.write_text(
        f"set runtimepath^={ROOT / 'editors' / 'vim'}\nfiletype plugin indent on\nsyntax on\n",
        encoding="utf-8",
    )
    answer = folder / "answer.json"
    homes = {
        name: str(folder / name.lower())
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    }
    environment = {
        **os.environ, **homes,
        "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}",
        "ANSWER": str(answer),
    }
    command = [
        "nvim", "--headless", "-n", "-i", "NONE", "-u", str(setup), *before, str(rules), "-S", str(script),
    ]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=180, env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert answer.is_file(), done.stderr
    return json.loads(answer.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("neovim")
    rules = folder / "mine.gsl"
    rules.write_text(RULES, encoding="utf-8")
    found = in_neovim(folder, Path(__file__).parent / "neovim_session.lua", rules)
    assert "problem" not in found, found["problem"]
    return found


def test_the_server_starts_for_rule_files(session: Any) -> None:
    assert session["filetype"] == "gslang" and session["servers"] == 1


def test_diagnostics_appear(session: Any) -> None:
    found = [one for one in session["diagnostics"] if one["code"] == "E0303"]
    assert [(one["line"], one["column"]) for one in found] == [(6, 27)]
    assert "stride" in found[0]["message"]


def test_a_mended_mistake_goes(session: Any) -> None:
    assert "E0303" not in [one["code"] for one in session["after"]]


def test_hover_shows_the_operator(session: Any) -> None:
    assert "nn.conv2d" in json.dumps(session["hover"]) and "strides" in json.dumps(session["hover"])


def test_definition_leads_to_the_rule(session: Any) -> None:
    found = session["definition"]
    first = found[0] if isinstance(found, list) else found
    place = first.get("targetSelectionRange") or first["range"]
    assert place["start"] == {"line": 3, "character": 5}


def test_completion_knows_operators(session: Any) -> None:
    found = session["completion"]
    items = found["items"] if isinstance(found, dict) else found
    assert any("conv2d" in item["label"] for item in items)


def test_formatting_is_that_of_gslc_fmt(session: Any) -> None:
    mended = RULES.replace("stride =", "strides =")
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "gslc", "fmt", "-"], input=mended, capture_output=True, text=True,
        check=True, timeout=60,
    )
    assert session["formatted"] == done.stdout.splitlines()
    assert "    c1 + c2" in session["formatted"]


def test_the_formatting_command_needs_no_server(tmp_path: Path) -> None:
    rules = tmp_path / "mine.gsl"
    rules.write_text("rule one( x ):x=>x;\n\n\n\n## two\nrule two( x ):x=>x;\n", encoding="utf-8")
    script = tmp_path / "script.vim"
    script.write_text(
        "GslangFormat\ncall writefile([json_encode(getline(1, '$'))], $ANSWER)\nqa!\n", encoding="utf-8"
    )
    found = in_neovim(tmp_path, script, rules, "--cmd", "let g:gslang_lsp = v:false")
    assert found == ["rule one(x): x => x;", "", "## two", "rule two(x): x => x;"]


def test_format_on_save(tmp_path: Path) -> None:
    rules = tmp_path / "mine.gsl"
    rules.write_text("rule one( x ):x=>x;\n", encoding="utf-8")
    script = tmp_path / "script.vim"
    script.write_text(
        "let g:gslang_format_on_save = v:true\nwrite\ncall writefile(['0'], $ANSWER)\nqa!\n", encoding="utf-8"
    )
    in_neovim(tmp_path, script, rules, "--cmd", "let g:gslang_lsp = v:false")
    assert rules.read_text(encoding="utf-8") == "rule one(x): x => x;\n"

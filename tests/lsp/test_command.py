"""`gslc lsp` as a command, and clients that can less than others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gslang.base.source import Source
from gslang.cli.main import main
from gslang.lsp import snippets
from gslang.syntax.parser import parse
from tests.lsp.client import LONG, ROOT, Client


def test_without_pygls(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert main(["lsp"]) == 2
    assert "pip install 'gslang[lsp]'" in capsys.readouterr().err


def test_help_does_not_load_the_server() -> None:
    code = (
        "import sys; from gslang.cli.main import main; main(['lsp', '--help']); print('pygls' in sys.modules "
        "or 'gslang.lsp' in sys.modules)"
    )
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.endswith("False\n")


def test_a_client_that_goes_away() -> None:
    """Without `shutdown`, its end of the pipe closed: the server ends too."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gslang", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, cwd=ROOT,
    )
    _, errors = process.communicate(b"", timeout=LONG)
    assert process.returncode == 0 and errors == b""


def test_exit_without_shutdown_is_told() -> None:
    client = Client()
    client.say("exit", None)
    assert client.process.wait(LONG) == 1 and client.stderr == ""


def test_the_end_does_not_wait_for_a_verification() -> None:
    """All rules of a file are asked about at once: together they would take much longer than the end may."""
    text = (ROOT / "stdlib_rules" / "onnx" / "normalization.gsl").read_text(encoding="utf-8")
    client = Client()
    client.open("untitled:slow", text)
    rules = [line.split()[1].split("(")[0] for line in text.splitlines() if line.startswith("rule ")]
    for number, rule in enumerate(rules):
        params = {"command": "gslang.verify", "arguments": ["untitled:slow", rule]}
        client._send({"id": f"verify {number}", "method": "workspace/executeCommand", "params": params})
    client.at("hover", "untitled:slow", 0, 0)
    assert client.close() == 0 and client.stderr == ""
    assert len([answer for answer in client.unasked if "error" not in answer]) < len(rules)


def test_a_client_without_snippets_and_levels() -> None:
    client = Client(capabilities={"textDocument": {}})
    client.open("untitled:plain", "rule r(x): exp(x) => x;\n")
    (symbol,) = client.on("documentSymbol", "untitled:plain")
    assert symbol["location"]["uri"] == "untitled:plain" and "children" not in symbol
    items = {item["label"]: item for item in client.at("completion", "untitled:plain", 1, 0)["items"]}
    assert (
        items["rule"]["insertText"] == "rule name(x): source => target;"
        and "insertTextFormat" not in items["rule"]
    )
    assert (
        items["dialect"]["insertText"] == "dialect relay;" and items["fn"]["insertText"] == "fn name(x) = x;"
    )
    assert items["test"]["insertText"].count("input float32[2, 3];") == 1
    assert all("$" not in item.get("insertText", "") for item in items.values())
    assert client.close() == 0 and client.stderr == ""


@pytest.mark.parametrize("label", sorted(snippets.ITEMS))
def test_items_to_begin_with_can_be_read(label: str) -> None:
    assert parse(Source(label, snippets.plain(snippets.ITEMS[label][1]))).diagnostics == ()

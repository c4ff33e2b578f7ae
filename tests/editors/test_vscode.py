"""The extension for VS Code fits together: what its manifest names is there, snippets are rules, no address
of a registry is written down.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.syntax.parser import parse
from tests.editors.corpus import ROOT, Token, tokens

FOLDER = ROOT / "editors" / "vscode"


def manifest() -> dict[str, Any]:
    return dict(json.loads((FOLDER / "package.json").read_text(encoding="utf-8")))


def test_files_of_the_manifest_are_there() -> None:
    named = re.findall(
        r'"(?:\./)?((?:images|syntaxes|snippets)/[^"]+|language-configuration\.json)"', json.dumps(manifest())
    )
    assert len(named) >= 5
    assert all((FOLDER / name).is_file() for name in named)
    assert {language["id"] for language in manifest()["contributes"]["languages"]} == {"gslang"}


def test_commands_and_settings_are_those_of_the_program() -> None:
    program = (FOLDER / "src" / "extension.ts").read_text(encoding="utf-8")
    contributed = manifest()["contributes"]
    commands = {command["command"] for command in contributed["commands"]}
    assert set(re.findall(r'registerCommand\("([^"]+)"', program)) == commands
    settings = set(contributed["configuration"]["properties"])
    assert {f"gslang.{name}" for name in re.findall(r'get(?:<[^>]+>)?\("([^"]+)"', program)} == settings
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in settings)


def test_the_version_is_that_of_gslang() -> None:
    import gslang

    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    assert (
        manifest()["version"] == lock["version"] == lock["packages"][""]["version"]
        == re.match(r"[\d.]*\d", gslang.__version__)[0]
    )  # type: ignore[index]


def test_the_lock_names_no_registry() -> None:
    text = (FOLDER / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in text and "registry" not in text
    assert all("integrity" in package for name, package in json.loads(text)["packages"].items() if name)


def expanded(body: list[str]) -> str:
    """A snippet with the texts of its places."""
    texts: dict[str, str] = {}
    written = "\n".join(body)

    def place(found: re.Match[str]) -> str:
        texts.setdefault(found[1], found[2])
        return texts[found[1]]

    return re.sub(r"\$\{(\d+):((?:[^{}\\]|\\.)*)\}", place, written)


@pytest.mark.parametrize(
    "name", sorted(json.loads((FOLDER / "snippets" / "gslang.json").read_text(encoding="utf-8")))
)
def test_snippets_are_rules(name: str) -> None:
    snippet = json.loads((FOLDER / "snippets" / "gslang.json").read_text(encoding="utf-8"))[name]
    text = expanded(snippet["body"])
    assert "$" not in text
    if snippet["prefix"] == "each":
        text = f"rule r(x) {{\n{text}\n*branch.y => x }}"
    if snippet["prefix"] == "allow":
        text += "\nrule r(x): x => x;"
    assert parse(Source(name, text + "\n")).diagnostics == ()


def code(text: str) -> list[Token]:
    return [token for token in tokens(text) if token.kind != "comment"]


def test_brackets_and_words_are_those_of_the_language() -> None:
    found = json.loads((FOLDER / "language-configuration.json").read_text(encoding="utf-8"))
    word = re.compile(found["wordPattern"])
    text = (ROOT / "stdlib_rules" / "relay" / "conv.gsl").read_text(encoding="utf-8")
    assert all(
        word.fullmatch(token.text)
        for token in code(text) if token.kind in ("name", "keyword", "field", "number")
    )
    opening = re.compile(found["indentationRules"]["increaseIndentPattern"])
    closing = re.compile(found["indentationRules"]["decreaseIndentPattern"])
    assert (
        opening.match("rule r(x) {  # why")
        and opening.match("    c = f(") and not opening.match("rule r(x): x => x;")
    )
    assert closing.match("    );") and not closing.match("  => x")


def test_the_icon_is_square_and_small() -> None:
    data = Path(FOLDER / "images" / "icon.png").read_bytes()
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    assert width == height >= 128 and len(data) < 50_000

"""docs/lint.md: its table is that of the lints, its configuration is valid, what it shows of a run is real,
and it names all options.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

from gslang.cli.lint import add_arguments
from gslang.cli.main import main
from gslang.lint import configuration
from gslang.lint.codes import LINTS


def test_the_table_is_complete() -> None:
    text = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| L0")]
    assert rows == [
        f"| {i.code} | `{i.name}` | {i.title} | {'' if i.default else 'no'} |" for i in LINTS.values()
    ]


def page() -> str:
    return (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")


def test_the_configuration_shown_is_valid() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", page(), re.DOTALL)
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    table = toml.loads(block)
    schema = json.loads(
        (Path(configuration.__file__).parent / "configuration.schema.json").read_text(encoding="utf-8")
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(table, schema)
    read = configuration.read_configuration(table, "gslang.toml")
    assert (
        read.severity_of("L0201").value == "note" and read.severity_of("L0202").value == "error"
        and read.severity_of("L0101").value == "warning"
    )


def test_the_run_shown_is_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rules are those in the excerpts; the output is that of the page, line by line."""
    (shown,) = re.findall(r"```text\n\$ gslc (lint[^\n]*)\n(.*?)```", page(), re.DOTALL)
    command, output = shown
    rules = re.findall(r"^\d+ \| (rule .*)$", output, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.gsl").write_text("".join(f"{rule}\n" for rule in reversed(rules)), encoding="utf-8")
    assert main(command.split()) == 1
    out, err = capsys.readouterr()
    assert out + err.splitlines(keepends=True)[0] == output


def test_options_are_in_the_manual() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = {o for action in parser._actions for o in action.option_strings if o.startswith("--")} - {
        "--help", "--cache",
    }
    assert [option for option in sorted(options) if option not in page()] == []

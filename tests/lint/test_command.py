"""`gslc lint` as users call it: selection, configuration, fixes, reports, exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest

from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.lint import configuration
from gslang.lint.codes import LINTS
from gslang.lint.run_lints import selected_codes

BAD = """\
use std.relay.common (pair, pads2);

## Two become one.
@allow(L0109, L0107)
rule twice(x, w) {
    dead = exp(x);
    c = nn.conv2d(x, w);
    nn.relu(nn.relu(c)) where pair(c.dilation)[0] == 1
  =>
    nn.relu(c)
}
"""
FIXED = """\
use std.relay.common (pair);

## Two become one.
@allow(L0109)
rule twice(x, w) {
    c = nn.conv2d(x, w);
    nn.relu(nn.relu(c)) where pair(c.dilation)[0] == 1
  =>
    nn.relu(c)
}
"""


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad rules.gsl"
    path.write_text(BAD, encoding="utf-8")
    return path


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["lint", *arguments])
    return code, capsys.readouterr().out


def codes(output: str) -> list[str]:
    return [line.split(": ")[1].split()[0] for line in output.splitlines()]


def test_text_shows_the_place(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = lint(capsys, "bad rules.gsl", "--select", "L0101")
    assert code == 1
    assert out == (
        "warning[L0101]: `dead` is not matched: no output reaches it\n"
        " --> bad rules.gsl:6:5\n  |\n6 |     dead = exp(x);\n  |     ^^^^\n  = help: remove it, or use it\n"
    )


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ((), ["L0103", "L0115", "L0101"]),
        (("--select", "L0101,L0103"), ["L0103", "L0101"]),
        (("--select", "unused-import"), ["L0103"]),
        (("--select", "L01", "--ignore", "L0103"), ["L0115", "L0101"]),
        (("--ignore", "all"), []),
        (("--select", "L0101", "--ignore", "L01"), ["L0101"]),
    ],
)
def test_selection(bad: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: list[str]) -> None:
    code, out = lint(capsys, "bad rules.gsl", "--format", "concise", *arguments)
    assert codes(out) == expected
    assert code == (1 if expected else 0)


def test_lints_that_wait_are_asked_for_by_name() -> None:
    waiting = {code for code, info in LINTS.items() if not info.default}
    assert waiting == {"L0118", "L0119", "L0201", "L0204", "L0205"}
    assert not selected_codes(("L02",), ()) & waiting
    assert selected_codes(("L0201", "growing"), ()) == {"L0201", "L0204"}
    assert selected_codes(("all",), ()) == set(LINTS)
    assert selected_codes((), ()) == set(LINTS) - waiting


def test_unknown_selector(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "bad rules.gsl", "--select", "unused-inport"]) == 2
    assert "did you mean `unused-import`?" in capsys.readouterr().err


def test_exit_zero_and_statistics(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "bad rules.gsl", "--statistics", "--exit-zero") == (
        0,
        "     1  L0101  a name that nothing uses\n     1  L0103  an import that nothing uses\n     1  L0115  an `@allow` that silences nothing\n",
    )


def test_fix_mends_and_is_stable(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "bad rules.gsl", "--fix") == (0, "")
    assert bad.read_text(encoding="utf-8") == FIXED
    assert lint(capsys, "bad rules.gsl", "--fix") == (0, "")
    assert bad.read_text(encoding="utf-8") == FIXED


def test_errors_are_shown_instead(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad.write_text("rule r(x): nn.rely(x) => x;\n", encoding="utf-8")
    code, out = lint(capsys, "bad rules.gsl", "--format", "concise")
    assert code == 1 and codes(out) == ["E0301"]


def test_configuration(bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.gslang.lint]\nignore = ["L0103"]\nper-file-ignores = { "bad*.gsl" = ["L0115"] }\n')
    assert codes(lint(capsys, "bad rules.gsl", "--format", "concise")[1]) == ["L0101"]
    (tmp_path / "gslang.toml").write_text('[lint]\nselect = ["unused-import"]\n')
    assert codes(lint(capsys, "bad rules.gsl", "--format", "concise")[1]) == ["L0103"]
    (tmp_path / "gslang.toml").write_text('[lint]\nslect = ["L0101"]\n')
    assert main(["lint", "bad rules.gsl"]) == 3
    assert "did you mean `select`?" in capsys.readouterr().err


@pytest.mark.parametrize("table", [{"lint": {"select": "L0101"}}, {"lint": 3}, {"lint": {"per-file-ignores": []}}, {"lint": {"more": []}}])
def test_schema_and_reader_refuse_the_same(table: object) -> None:
    schema = json.loads((Path(configuration.__file__).parent / "configuration.schema.json").read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table, schema)
    with pytest.raises(InputError):
        configuration.read_configuration(table, "gslang.toml")
    good = {"lint": {"select": ["L01", "overlap"], "ignore": ["all"], "per-file-ignores": {"*.gsl": ["L0108"]}}}
    jsonschema.validate(good, schema)
    assert configuration.read_configuration(good, "x").select == ("L01", "overlap")


def test_sarif(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = lint(capsys, str(bad), "--format", "sarif")
    run = json.loads(out)["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["L0101", "L0103", "L0109", "L0115"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == LINTS["L0101"].title
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]
    assert places == [{"uri": "bad%20rules.gsl", "uriBaseId": "SRCROOT"}] * 4
    prints = [result["partialFingerprints"]["gslang/v1"] for result in run["results"]]
    assert len(set(prints)) == 4
    bad.write_text("# one more line\n" + BAD, encoding="utf-8")
    _, out = lint(capsys, str(bad), "--format", "sarif")
    assert [result["partialFingerprints"]["gslang/v1"] for result in json.loads(out)["runs"][0]["results"]] == prints


def test_junit_and_gitlab(bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.gsl").write_text(FIXED, encoding="utf-8")
    _, out = lint(capsys, str(bad), "good.gsl", "--format", "junit")
    suite = ET.fromstring(out)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["bad rules.gsl", "good.gsl"]
    failure = suite[0][0]
    assert failure.get("message") == "3 findings" and "bad rules.gsl:6:5: L0101" in str(failure.text)
    _, out = lint(capsys, str(bad), "--format", "gitlab")
    entries = json.loads(out)
    assert [entry["check_name"] for entry in entries] == ["L0103", "L0115", "L0101"]
    assert entries[2]["location"] == {"path": "bad rules.gsl", "positions": {"begin": {"line": 6, "column": 5}, "end": {"line": 6, "column": 9}}}
    assert len({entry["fingerprint"] for entry in entries}) == 3


def test_github_and_json(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = lint(capsys, "bad rules.gsl", "--format", "github", "--select", "L0101")
    assert out.startswith("::warning file=bad rules.gsl,line=6,col=5,endLine=6,endColumn=9,title=L0101::`dead` is not matched")
    _, out = lint(capsys, "bad rules.gsl", "--format", "json", "--select", "L0101")
    assert json.loads(out)["diagnostics"][0]["code"] == "L0101"

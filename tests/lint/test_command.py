"""`gslc lint` as users call it: selection, configuration, fixes, reports, exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest

from gslang.base.diagnostics import InputError
from gslang.check import limits
from gslang.cli.main import main
from gslang.lint import configuration
from gslang.lint.codes import LINTS
from gslang.lint.selectors import selected_codes

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
HEAVY = """\
rule heavy(x): nn.relu(x) where sum([a for a in range(x.ndim + 2000)]) > 0 => nn.relu(exp(x));
test "once" for heavy { x: input float32[2]; nn.relu(x) => nn.relu(exp(x)) }
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
        "warning[L0101]: `dead` is not matched: no output depends on it\n"
        " --> bad rules.gsl:6:5\n  |\n6 |     dead = exp(x);\n  |     ^^^^\n  = help: remove it, or use it\n"
    )


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ((), ["L0103", "L0115", "L0101"]), (("--select", "L0101,L0103"), ["L0103", "L0101"]),
        (("--select", "unused-import"), ["L0103"]),
        (("--select", "L01", "--ignore", "L0103"), ["L0115", "L0101"]), (("--ignore", "all"), []),
        (("--select", "L0101", "--ignore", "L01"), ["L0101"]),
    ],
)
def test_selection(
    bad: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: list[str]
) -> None:
    code, out = lint(capsys, "bad rules.gsl", "--format", "concise", *arguments)
    assert codes(out) == expected
    assert code == (1 if expected else 0)


def test_lints_that_wait_are_asked_for_by_name() -> None:
    waiting = {code for code, info in LINTS.items() if not info.default}
    assert waiting == {"L0118", "L0119", "L0201", "L0204", "L0205", "L0207"}
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
        (
            "     1  L0101  an unused name\n     1  L0103  an unused import\n"
            "     1  L0115  an `@allow` that suppresses nothing\n"
        ),
    )


def test_fix_mends_and_is_stable(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "bad rules.gsl", "--fix") == (0, "")
    assert bad.read_text(encoding="utf-8") == FIXED
    assert lint(capsys, "bad rules.gsl", "--fix") == (0, "")
    assert bad.read_text(encoding="utf-8") == FIXED


def test_fixes_that_can_be_made_are_counted(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "bad rules.gsl"]) == 1
    said = capsys.readouterr().err
    assert main(["lint", "bad rules.gsl", "--fix"]) == 0
    fixed = capsys.readouterr().err.partition(" fixed")[0]
    assert f"{fixed} of them can be fixed with --fix" in said
    bad.write_text(
        "fn any_axis(x) = nn.softmax(x, axis = (a := _));\n## d\n@allow(L0109)\n"
        "rule r(x) { y = any_axis(x); exp(y) where y.axis == 1 => tanh(x) }\n"
    )
    assert main(["lint", "bad rules.gsl"]) == 0
    assert "can be fixed" not in capsys.readouterr().err


def test_errors_are_shown_instead(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad.write_text("rule r(x): nn.rely(x) => x;\n", encoding="utf-8")
    code, out = lint(capsys, "bad rules.gsl", "--format", "concise")
    assert code == 1 and codes(out) == ["E0301"]


def test_configuration(bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.gslang.lint]\nignore = ["L0103"]\nper-file-ignores = { "bad*.gsl" = ["L0115"] }\n'
    )
    assert codes(lint(capsys, "bad rules.gsl", "--format", "concise")[1]) == ["L0101"]
    (tmp_path / "gslang.toml").write_text('[lint]\nselect = ["unused-import"]\n')
    assert codes(lint(capsys, "bad rules.gsl", "--format", "concise")[1]) == ["L0103"]
    (tmp_path / "gslang.toml").write_text('[lint]\nslect = ["L0101"]\n')
    assert main(["lint", "bad rules.gsl"]) == 3
    assert "did you mean `select`?" in capsys.readouterr().err
    (tmp_path / "gslang.toml").write_text('[lnt]\nselect = ["L0101"]\n')
    assert main(["lint", "bad rules.gsl"]) == 3
    assert "did you mean `lint`?" in capsys.readouterr().err
    (tmp_path / "gslang.toml").write_text(
        'model = "net.onnx"\n[other-tool]\nx = 1\n[lint]\nselect = ["L0101"]\n'
    )
    assert codes(lint(capsys, "bad rules.gsl", "--format", "concise")[1]) == ["L0101"]


@pytest.mark.parametrize(
    "table",
    [
        {"lint": {"select": "L0101"}}, {"lint": 3}, {"lint": {"per-file-ignores": []}},
        {"lint": {"more": []}}, {"lint": {"severity": {"L01": "fatal"}}}, {"lint": {"severity": {"L01": 1}}},
        {"lint": {"severity": {"l01!": "note"}}}, {"lint": {"ignore": ["no lint"]}},
    ],
)
def test_schema_and_reader_refuse_the_same(table: object) -> None:
    schema = json.loads(
        (Path(configuration.__file__).parent / "configuration.schema.json").read_text(encoding="utf-8")
    )
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table, schema)
    with pytest.raises(InputError):
        configuration.read_configuration(table, "gslang.toml")
    good = {"lint": {
        "select": ["L01", "overlap"],
        "ignore": ["all"],
        "per-file-ignores": {"*.gsl": ["L0108"]},
        "severity": {"all": "error", "L01": "note"},
    }}
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
    assert [
        result["partialFingerprints"]["gslang/v1"] for result in json.loads(out)["runs"][0]["results"]
    ] == prints


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
    assert entries[2]["location"] == {
        "path": "bad rules.gsl",
        "positions": {"begin": {"line": 6, "column": 5}, "end": {"line": 6, "column": 9}},
    }
    assert len({entry["fingerprint"] for entry in entries}) == 3


def test_github_and_json(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = lint(capsys, "bad rules.gsl", "--format", "github", "--select", "L0101")
    assert out.startswith(
        "::warning file=bad rules.gsl,line=6,col=5,endLine=6,endColumn=9,title=L0101::`dead` is not matched"
    )
    _, out = lint(capsys, "bad rules.gsl", "--format", "json", "--select", "L0101")
    assert json.loads(out)["diagnostics"][0]["code"] == "L0101"


def test_diff_shows_and_changes_nothing(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = lint(capsys, "bad rules.gsl", "--diff")
    assert code == 1 and bad.read_text(encoding="utf-8") == BAD
    assert "-    dead = exp(x);\n" in out and "+@allow(L0109)\n" in out
    bad.write_text(FIXED, encoding="utf-8")
    assert lint(capsys, "bad rules.gsl", "--diff") == (0, "")


def test_unsafe_fixes_are_asked_for(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "rule r(x): transpose(transpose(x, axes = [1, 0]), axes = [1, 0]) => x;\n"
    bad.write_text(text, encoding="utf-8")
    assert lint(capsys, "bad rules.gsl", "--select", "L0118", "--fix")[0] == 1
    assert bad.read_text(encoding="utf-8") == text
    assert lint(capsys, "bad rules.gsl", "--select", "L0118", "--fix", "--unsafe-fixes")[0] == 0
    assert bad.read_text(encoding="utf-8") == text.replace("(transpose", "(keep transpose")


def test_fix_keeps_line_ends_and_mark(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad.write_bytes(b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode())
    assert lint(capsys, "bad rules.gsl", "--fix") == (0, "")
    assert bad.read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()


def test_severities(bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gslang.toml").write_text(
        '[lint.severity]\nL01 = "note"\nunused-import = "error"\n', encoding="utf-8"
    )
    code, out = lint(capsys, "bad rules.gsl")
    assert code == 1 and out.startswith("error[L0103]") and "note[L0101]" in out
    code, out = lint(capsys, "bad rules.gsl", "--ignore", "L0103", "--format", "github")
    assert code == 0 and out.startswith("::notice file=")
    (tmp_path / "gslang.toml").write_text('[lint]\nseverity = { L01 = "fatal" }\n', encoding="utf-8")
    assert main(["lint", "bad rules.gsl"]) == 3
    assert "one of error, warning, note" in capsys.readouterr().err


def test_each_file_has_the_configuration_of_its_folder(
    bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "b.gsl").write_text(BAD, encoding="utf-8")
    (inner / "gslang.toml").write_text('[lint]\nselect = ["L0101"]\n', encoding="utf-8")
    assert codes(lint(capsys, ".", "--format", "concise")[1]) == ["L0103", "L0115", "L0101", "L0101"]


def test_several_processes_find_the_same(
    bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for k in range(5):
        (tmp_path / f"{k}.gsl").write_text(BAD if k % 2 else FIXED, encoding="utf-8")
    (tmp_path / "wrong.gsl").write_text("rule r(x): nn.rely(x) => x;\n", encoding="utf-8")
    alone = lint(capsys, ".", "--format", "concise", "--no-cache")
    assert alone[0] == 1 and codes(alone[1]).count("L0101") == 3 and codes(alone[1]).count("E0301") == 1
    assert lint(capsys, ".", "--format", "concise", "--jobs", "3") == alone
    assert main(["lint", ".", "--jobs", "0"]) == 2


def test_findings_are_kept_until_an_imported_file_changes(
    bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more.gsl").write_text("fn axis_of(c) = c.axis;\nfn other(c) = 1;\n", encoding="utf-8")
    bad.write_text(
        'use "./more.gsl";\n\nrule r(x) { s = nn.softmax(x); nn.relu(s) where axis_of(s) > 0, s.axis > 0 => '
        's }\n',
        encoding="utf-8",
    )
    assert codes(lint(capsys, "bad rules.gsl", "--select", "L0104", "--format", "concise")[1]) == ["L0104"]
    (tmp_path / "more.gsl").write_text("fn axis_of(c) = c.ndim;\nfn other(c) = 1;\n", encoding="utf-8")
    assert lint(capsys, "bad rules.gsl", "--select", "L0104", "--format", "concise") == (0, "")


def test_colours(bad: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1;33mwarning" in lint(capsys, "bad rules.gsl", "--color", "always")[1]
    assert "\x1b" not in lint(capsys, "bad rules.gsl")[1]


def test_standard_input(
    bad: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    code, out = lint(capsys, "-", "--format", "concise", "--fix")
    assert code == 1 and codes(out) == ["L0103", "L0115", "L0101"] and out.startswith("<stdin>:1:29: L0103")


def test_lints_that_reach_the_limit_of_work_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_WORK", 1_000)
    monkeypatch.setattr(limits, "MORE_WORK_FOR_A_NODE", 0)
    path = tmp_path / "heavy.gsl"
    path.write_text(HEAVY, encoding="utf-8")
    code, output = lint(capsys, str(path), "--no-cache")
    assert code == 1
    assert "linting stopped at `heavy`: its conditions and attributes take too many steps" in output
    assert "findings of L0203 (non-terminating) may be missing" in output
    assert "L0108" in output  # what needs no run is still found


def test_files_that_run_together(bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rules of different files are held against each other where asked; `@allow` works there too, in its own
    file only.
    """
    bad.unlink()
    (tmp_path / "a.gsl").write_text("rule general(x, y): nn.relu(x + y) => x;\n", encoding="utf-8")
    (tmp_path / "b.gsl").write_text(
        "\nrule special(x, y): nn.relu(exp(x) + y) => y;\nrule back(x): exp(negative(x)) => "
        "negative(exp(x));\n",
        encoding="utf-8",
    )
    (tmp_path / "c.gsl").write_text(
        "@allow(L0203)\nrule out(x): negative(exp(x)) => exp(negative(x));\n"
        "rule again(a, b): nn.relu(b + a) => b;\n",
        encoding="utf-8",
    )
    (tmp_path / "d.gsl").write_text("dialect onnx;\nrule other(x, y): Relu(x + y) => x;\n", encoding="utf-8")
    assert lint(capsys, ".", "--select", "L02", "--format", "concise") == (0, "")
    code, out = lint(capsys, ".", "--select", "L02", "--format", "concise", "--together")
    assert code == 1 and [line.split(": ")[:2] for line in out.splitlines()] == [
        ["b.gsl:2:6", "L0202 `general` matches everything that `special` does"],
        ["b.gsl:3:6", "L0203 these rules form an infinite loop"],
        ["c.gsl:3:6", "L0206 `again` is a duplicate of `general`"],
    ]


@pytest.mark.parametrize("more", [(), ("--no-cache",), ("--fix",)])
def test_each_text_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    """By the checker; the lints take what it read.

    `--fix` parses each text that it makes, and what is there.
    """
    from gslang.base.cache import cache_folder
    from gslang.syntax import parser

    cache_folder.cache_clear()
    monkeypatch.setenv("GSLANG_CACHE", str(tmp_path / "cache"))
    rules, user = tmp_path / "bad.gsl", tmp_path / "user.gsl"
    rules.write_text(BAD)
    user.write_text('use "./bad.gsl";\nrule r(x): exp(x) => tanh(x);\n')
    texts: list[str] = []
    attempt = parser._attempt
    monkeypatch.setattr(
        parser, "_attempt", lambda source, *rest: (texts.append(source.text), attempt(source, *rest))[1]
    )
    main(["lint", str(rules), *more])
    own = [text for text in texts if "twice" in text]
    assert own and sorted(set(own)) == sorted(own)
    texts.clear()
    main(["lint", str(user), "--no-cache"])
    assert len([text for text in texts if "rule r(x)" in text]) == 1
    cache_folder.cache_clear()

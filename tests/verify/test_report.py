"""Reports of verdicts, byte for byte, SARIF against its schema; exit codes and options of `gslc verify`."""

from __future__ import annotations

import json
import re
from multiprocessing import get_start_method
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

import gslang.api as api
from gslang.cli.main import main
from gslang.verify.counterexample import Counterexample
from gslang.verify.report import FORMATS
from gslang.verify.verdict import Verdict

SCHEMA = Path(__file__).parent.parent / "lint" / "data" / "sarif-2.1.0.subset.schema.json"
TEXT = """## Swapped. More of it.
rule swapped(x, y): x - y => y - x;
rule never(x) { y = nn.relu(x); y where x.ndim < 0 => x }
## A | in its text.
rule twice(x): -(-x) => x;
"""
GRAPH = '{"format": "gsl-graph"}'
VERDICTS = [
    Verdict(
        "swapped", "refuted", "the sides <differ>", None, 3, 0.25, {"rank 1": 3},
        Counterexample(
            GRAPH, None, {"x": [1.0, float("nan")]}, float("inf"), 'test "counterexample" for swapped {\n}\n'
        ),
    ),
    Verdict("never", "unknown", "no instance was found", None, 0, 1.5),
    Verdict("twice", "exact", "for any a | b", 7e-18, 24, 0.125, {"rank 0": 24}),
]


def report(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "rules.gsl"
    file.write_text(TEXT)
    return FORMATS[kind](VERDICTS, api.load(file).own)


def test_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert report("text", monkeypatch, tmp_path) == (
        "refuted  swapped  the sides <differ> (3 instances)  0.2 s\n"
        '  test "counterexample" for swapped {\n'
        "  }\n"
        "  help: `gslc generalize rules.gsl swapped` finds conditions\n"
        "unknown  never    no instance was found (0 instances)  1.5 s\n"
        "exact    twice    for any a | b (24 instances)  0.1 s\n"
        "1 exact, 1 unknown, 1 refuted\n"
    )


def test_laws_that_a_proof_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.gsl").write_text("rule t(x): nn.relu(nn.relu(x)) => nn.relu(x);")
    assert main(["verify", "rules.gsl", "--explain", "--instances", "3"]) == 0
    first, *laws, counts = capsys.readouterr().out.splitlines()
    assert (
        first.startswith("proved  t  for every rank and size") and "real arithmetic" in first
        and counts == "1 proved"
    )
    assert (
        "  relu: relu(x) = maximum(x, 0) (real numbers)" in laws
        and "  largest whole number:" in "\n".join(laws)
    )
    assert main(["verify", "rules.gsl", "--format", "json", "--instances", "3"]) == 0
    assert "relu of whole numbers" in json.loads(capsys.readouterr().out)["rules"][0]["laws"]


def test_what_stopped_a_proof_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.gsl").write_text(
        "rule t(x) { p = nn.avg_pool2d(negative(x)); p => negative(nn.avg_pool2d(x, p.*)) }"
    )
    assert main(["verify", "rules.gsl", "--explain", "--instances", "2"]) == 0
    _, why, _ = capsys.readouterr().out.splitlines()
    assert why.startswith("  no proof: ")
    assert main(["verify", "rules.gsl", "--format", "json", "--instances", "2"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert why == f"  no proof: {entry['unproved']}" and entry["verdict"] == "tested"


def test_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = report("json", monkeypatch, tmp_path)
    assert "NaN" not in text and "Infinity" not in text
    assert json.loads(text) == {"rules": [
        {
            "rule": "swapped",
            "verdict": "refuted",
            "bound": None,
            "instances": 3,
            "seconds": 0.25,
            "coverage": {"rank 1": 3},
            "reason": "the sides <differ>",
            "laws": [],
            "unproved": None,
            "uncertified": None,
            "counterexample": {
                "source": {"format": "gsl-graph"},
                "target": None,
                "inputs": {"x": [1.0, None]},
                "max_abs": None,
                "test": 'test "counterexample" for swapped {\n}\n',
            },
        },
        {
            "rule": "never",
            "verdict": "unknown",
            "bound": None,
            "instances": 0,
            "seconds": 1.5,
            "coverage": {},
            "reason": "no instance was found",
            "laws": [],
            "unproved": None,
            "uncertified": None,
            "counterexample": None,
        },
        {
            "rule": "twice",
            "verdict": "exact",
            "bound": 7e-18,
            "instances": 24,
            "seconds": 0.125,
            "coverage": {"rank 0": 24},
            "reason": "for any a | b",
            "laws": [],
            "unproved": None,
            "uncertified": None,
            "counterexample": None,
        },
    ]}


def test_sarif(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    document = json.loads(report("sarif", monkeypatch, tmp_path))
    jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(document)
    (run,) = document["runs"]
    kinds = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    found = [
        (kinds[r["ruleIndex"]], r["ruleId"], r["level"], r["locations"][0]["physicalLocation"])
        for r in run["results"]
    ]
    place = {"artifactLocation": {"uri": "rules.gsl"}}
    assert found == [
        ("verify/refuted", "verify/refuted", "error", place | {"region": {"startLine": 2, "startColumn": 6}}),
        ("verify/unknown", "verify/unknown", "note", place | {"region": {"startLine": 3, "startColumn": 6}}),
    ]
    assert (
        run["results"][0]["message"]["text"]
        == 'swapped: the sides <differ>\n\ntest "counterexample" for swapped {\n}\n'
    )


def test_junit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    suite = ElementTree.fromstring(report("junit", monkeypatch, tmp_path))
    assert suite.attrib == {"name": "gslc verify", "tests": "3", "failures": "1", "skipped": "1"}
    cases = [
        (
            case.attrib["name"], case.attrib["classname"],
            [(child.tag, child.attrib["message"]) for child in case],
        )
        for case in suite
    ]
    assert cases == [
        ("swapped", "rules.gsl", [("failure", "the sides <differ>")]),
        ("never", "rules.gsl", [("skipped", "no instance was found")]),
        ("twice", "rules.gsl", []),
    ]
    assert suite[0][0].text == 'test "counterexample" for swapped {\n}\n'


def test_markdown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert report("markdown", monkeypatch, tmp_path) == (
        "| rule | what it does | verdict | error probability | instances | basis |\n"
        "|---|---|---|---|---|---|\n"
        "| `swapped` | Swapped | refuted |  | 3 | the sides <differ> |\n"
        "| `never` |  | unknown |  | 0 | no instance was found |\n"
        "| `twice` | A \\| in its text | exact | 7e-18 | 24 | for any a \\| b |\n"
        "\n3 rules: 1 exact, 1 unknown, 1 refuted.\n"
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "good.gsl").write_text("rule twice(x): -(-x) => x;\nrule same(x, y): x + y => y + x;\n")
    (tmp_path / "unknown.gsl").write_text("rule never(x) { y = nn.relu(x); y where x.ndim < 0 => x }\n")
    (tmp_path / "near.gsl").write_text(
        "@approximate(rtol = 1e-2)\nrule near(x): (y := x * 1.0001) where y.ndim == x.ndim => x;\n"
    )
    (tmp_path / "wrong.gsl").write_text("rule twice(x): -(-x) => -x;\n")
    (tmp_path / "broken.gsl").write_text("rule twice(x): nn.rely(x) => x;\n")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "options", "code"),
    [
        ("good.gsl", [], 0), ("good.gsl", ["--require", "exact"], 0), ("unknown.gsl", [], 0),
        ("unknown.gsl", ["--require", "tested"], 1), ("unknown.gsl", ["--require", "changes"], 1),
        ("near.gsl", ["--require", "tested"], 0), ("near.gsl", ["--require", "exact"], 1),
        ("near.gsl", ["--require", "proved"], 1), ("wrong.gsl", [], 1), ("broken.gsl", [], 1),
        ("good.gsl", ["--rule", "twize"], 2), ("good.gsl", ["--require", "good"], 2), ("missing.gsl", [], 3),
    ],
)
def test_exit_codes(
    file: str, options: list[str], code: int, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(files / file), "--seconds", "2", *options]) == code
    if code == 2 and options[0] == "--rule":
        assert "did you mean `twice`" in capsys.readouterr().err


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d+ s\n", "_ s\n", text)


def test_more_processes_say_the_same(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gslang.base.cache.cache_folder", lambda: None)
    main(["verify", str(files / "good.gsl")])
    alone = capsys.readouterr().out
    main(["verify", str(files / "good.gsl"), "--jobs", "2"])
    assert without_times(capsys.readouterr().out) == without_times(alone)


@pytest.mark.skipif(get_start_method() != "fork", reason="processes do not begin as copies of this one")
def test_processes_that_begin_with_the_rules_do_not_load_them(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(*_: object, **named: object) -> None:
        raise AssertionError("loaded again")

    monkeypatch.setattr("gslang.base.cache.cache_folder", lambda: None)
    monkeypatch.setattr("gslang.cli.verify.load_rules", loaded)
    assert main(["verify", str(files / "good.gsl"), "--jobs", "2"]) == 0


def test_a_verdict_is_kept_as_long_as_the_rule_says_the_same(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import gslang.base.cache as cache
    import gslang.verify.verdict as module

    monkeypatch.setattr(cache, "cache_folder", lambda: files)
    monkeypatch.setattr(module, "_ALIKE", {})  # other tests may have asked for the same rules
    runs = []
    original = module.verify_now
    monkeypatch.setattr(
        module, "verify_now", lambda *arguments: runs.append(arguments[0].name) or original(*arguments)
    )
    good = files / "good.gsl"
    main(["verify", str(good)])
    main(["verify", str(good)])
    assert runs == ["twice", "same"]
    good.write_text("# A comment.\n" + good.read_text())
    main(["verify", str(good)])
    assert runs == ["twice", "same"]
    good.write_text(good.read_text().replace("-(-x) => x", "-(-x) => x + 0.0"))
    main(["verify", str(good)])
    assert runs == ["twice", "same", "twice"]
    main(["verify", str(good), "--rule", "same", "--seed", "1"])
    assert runs == ["twice", "same", "twice", "same"]
    capsys.readouterr()


def test_seconds_are_a_limit(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gslang.base.cache.cache_folder", lambda: None)
    main([
        "verify", str(files / "unknown.gsl"), "--seconds", "0.2", "--instances", "100000", "--format", "json",
    ])
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert entry["verdict"] == "unknown" and entry["instances"] == 0 and "x.ndim < 0" in entry["reason"]


def test_rules_that_are_meant_to_change_values_are_notes_and_never_passed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.gsl").write_text('@changes("rounded")\nrule down(x): exp(x) => floor(x);\n')
    rules, verdicts = (
        api.load(tmp_path / "rules.gsl").own,
        [Verdict("down", "changes", "rounded; the sides differ", None, 6, 0.1)],
    )
    (run,) = json.loads(FORMATS["sarif"](verdicts, rules))["runs"]
    assert [
        (r["ruleId"], r["level"], run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"])
        for r in run["results"]
    ] == [("verify/changes", "note", "verify/changes")]
    suite = ElementTree.fromstring(FORMATS["junit"](verdicts, rules))
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("0", "1") and suite[0][0].attrib[
        "message"
    ].startswith("rounded")
    assert json.loads(FORMATS["json"](verdicts, rules))["rules"][0]["verdict"] == "changes"
    assert "| changes |" in FORMATS["markdown"](verdicts, rules) and FORMATS["text"](
        verdicts, rules
    ).endswith("1 changes\n")

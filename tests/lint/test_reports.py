"""Reports for machines: SARIF against its schema, JSON with fixes and graphs, and graphs in files on which
`gslc match` shows the finding.
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gslang
from gslang.cli.main import main
from gslang.lint.codes import LINTS

HERE = Path(__file__).parent
SCHEMA = json.loads((HERE / "data" / "sarif-2.1.0.subset.schema.json").read_text(encoding="utf-8"))
BAD = HERE / "corpus" / "bad"


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    main(["lint", *arguments])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def test_sarif_of_the_whole_corpus_is_valid(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    document = report(capsys, "corpus/bad", "--select", "all", "--format", "sarif")
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    run = document["runs"][0]  # type: ignore[index]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(LINTS)
    assert all(
        rule["help"]["markdown"].startswith(f"# {rule['id']}: ") for rule in run["tool"]["driver"]["rules"]
    )
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]
    }
    assert all(uri.startswith("corpus/bad/") for uri in uris)
    prints = [result["partialFingerprints"]["gslang/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints) > 100
    assert any("fixes" in result for result in run["results"]) and any(
        "relatedLocations" in result for result in run["results"]
    )
    silenced = [result for result in run["results"] if "suppressions" in result]
    assert silenced and all(
        result["suppressions"] == [{"kind": "inSource", "justification": "@allow"}] for result in silenced
    )


def test_sarif_of_files_elsewhere_has_no_base(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = report(capsys, str(BAD / "late.gsl"), "--format", "sarif")
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    results = document["runs"][0]["results"]  # type: ignore[index]
    locations = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in results]
    assert locations and all(location == {"uri": (BAD / "late.gsl").as_uri()} for location in locations)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    (tmp_path / "ä b.gsl").write_text("rule r(x): exp(x) => tanh(x);\n", encoding="utf-8")
    for name in ("../ä b.gsl", str(tmp_path / "ä b.gsl")):
        (result, *_) = report(capsys, name, "--format", "sarif")["runs"][0]["results"]  # type: ignore[index]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {
            "uri": (tmp_path / "ä b.gsl").as_uri()
        }


@pytest.mark.parametrize("verb", ["lint", "check"])
def test_sarif_has_what_code_scanning_needs(
    verb: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What GitHub requires or recommends: descriptions and help of each rule, its index, relative addresses,
    regions from 1, fingerprints that do not move with the lines.
    """
    monkeypatch.chdir(tmp_path)
    text = (
        "rule twice(x): nn.relu(nn.rely(x)) => nn.relu(x);\nrule w(x): nn.relu(nn.rely(x)) => nn.relu(x);\n"
    )
    text = text if verb == "check" else text.replace("nn.rely", "nn.relu")
    prints = []
    for lines in ("", "# a line above\n\n"):
        (tmp_path / "rules.gsl").write_text(lines + text, encoding="utf-8")
        main([verb, "rules.gsl", "--format", "sarif"])
        document = json.loads(capsys.readouterr().out)
        jsonschema.Draft7Validator(SCHEMA).validate(document)
        assert document["$schema"].endswith("sarif-2.1.0.json") and document["version"] == "2.1.0"
        (run,) = document["runs"]
        rules = run["tool"]["driver"]["rules"]
        for rule in rules:
            assert rule["help"]["text"] == f"gslc explain {rule['id']}" and rule["help"][
                "markdown"
            ].startswith(f"# {rule['id']}: ")
            assert len(rule["fullDescription"]["text"]) > len(rule["shortDescription"]["text"]) / 2 > 5
            assert (
                "```" not in rule["fullDescription"]["text"] and len(rule["fullDescription"]["text"]) < 1024
            )
            assert rule["defaultConfiguration"]["level"] in ("warning", "error") and rule["properties"][
                "problem.severity"
            ] in ("warning", "error")
        assert len(run["results"]) > 1
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["level"] in (
                "error", "warning", "note",
            )
            (location,) = result["locations"]
            assert location["physicalLocation"]["artifactLocation"] == {
                "uri": "rules.gsl",
                "uriBaseId": "SRCROOT",
            }
            assert all(value >= 1 for value in location["physicalLocation"]["region"].values())
        prints.append([result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]])
        assert len(set(prints[-1])) == len(prints[-1])
    assert prints[0] == prints[1]


def test_sarif_of_errors_is_valid(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "wrong.gsl").write_text("rule r(x): nn.rely(x) => x;\n", encoding="utf-8")
    document = report(capsys, str(tmp_path), "--format", "sarif")
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["E0301"]  # type: ignore[index]


def test_json_tells_fixes_and_names(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = report(capsys, str(BAD / "late.gsl"), "--select", "L0111", "--format", "json")["diagnostics"]  # type: ignore[misc]
    assert (found["name"], found["graph"]) == ("late-condition", None)
    assert found["fix"]["safe"] is True and [edit["text"] for edit in found["fix"]["edits"]] == [
        ", axis = 1", "",
    ]


SHOWN = sorted(
    p
    for p in BAD.glob("*.gsl")
    if p.stem.startswith(("overlap", "covered", "order", "same", "loop", "growing"))
)


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_graphs_show_what_is_found(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`gslc match` on the graph of a finding lists matches of the rules that it names; where it is about one
    node, at one node.
    """
    main([
        "lint", str(path), "--select", "L0201,L0202,L0203,L0204,L0205", "--graphs", str(tmp_path), "--format",
        "json",
    ])
    out, err = capsys.readouterr()
    found = [d for d in json.loads(out)["diagnostics"] if d["graph"] is not None]
    written = [line.split()[-1] for line in err.splitlines() if line.startswith("gslc match ")]
    assert len(written) == len(found) and (found or path.stem.startswith("same"))
    for finding, graph in zip(found, written):
        assert main(["match", str(path), graph, "--format", "json"]) == 0
        matches = json.loads(capsys.readouterr().out)["matches"]
        names = [
            word
            for word in finding["message"].split("`")[1::2]
            if word.isidentifier() and not word.startswith("n")
        ]
        at = [{tuple(m["outputs"]) for m in matches if m["rule"] == name} for name in names]
        assert all(at), (finding["message"], matches)
        if finding["code"] in ("L0201", "L0202"):
            assert at[0] & at[1], finding["message"]
        if finding["code"] == "L0203":
            result = gslang.load(path).apply(
                gslang.read(graph), limit=40, pass_name="p" if path.stem == "loop_in_a_pass" else None
            )
            assert result.stop_reason.value == "limit" or result.problem is not None

"""Reports for machines: SARIF against its schema, JSON with fixes and graphs, and graphs in files on which `gslc match` shows the finding."""

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


def test_sarif_of_the_whole_corpus_is_valid(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    document = report(capsys, "corpus/bad", "--select", "all", "--format", "sarif")
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    run = document["runs"][0]  # type: ignore[index]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(LINTS)
    assert all(rule["help"]["markdown"].startswith(f"# {rule['id']}: ") for rule in run["tool"]["driver"]["rules"])
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert all(uri.startswith("corpus/bad/") for uri in uris)
    prints = [result["partialFingerprints"]["gslang/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints) > 100
    assert any("fixes" in result for result in run["results"]) and any("relatedLocations" in result for result in run["results"])
    silenced = [result for result in run["results"] if "suppressions" in result]
    assert silenced and all(result["suppressions"] == [{"kind": "inSource", "justification": "@allow"}] for result in silenced)


def test_sarif_of_files_elsewhere_has_no_base(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = report(capsys, str(BAD / "late.gsl"), "--format", "sarif")
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    results = document["runs"][0]["results"]  # type: ignore[index]
    locations = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in results]
    assert locations and all(location["uri"].startswith("/") and "uriBaseId" not in location for location in locations)


def test_sarif_of_errors_is_valid(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "wrong.gsl").write_text("rule r(x): nn.rely(x) => x;\n", encoding="utf-8")
    document = report(capsys, str(tmp_path), "--format", "sarif")
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["E0301"]  # type: ignore[index]


def test_json_tells_fixes_and_names(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = report(capsys, str(BAD / "late.gsl"), "--select", "L0111", "--format", "json")["diagnostics"]  # type: ignore[misc]
    assert (found["name"], found["graph"]) == ("late-condition", None)
    assert found["fix"]["safe"] is True and [edit["text"] for edit in found["fix"]["edits"]] == [", axis = 1", ""]


SHOWN = sorted(p for p in BAD.glob("*.gsl") if p.stem.startswith(("overlap", "covered", "order", "same", "loop", "growing")))


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_graphs_show_what_is_found(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`gslc match` on the graph of a finding lists matches of the rules that it names; where it is about one node, at one node."""
    main(["lint", str(path), "--select", "L0201,L0202,L0203,L0204,L0205", "--graphs", str(tmp_path), "--format", "json"])
    out, err = capsys.readouterr()
    found = [d for d in json.loads(out)["diagnostics"] if d["graph"] is not None]
    written = [line.split()[-1] for line in err.splitlines() if line.startswith("gslc match ")]
    assert len(written) == len(found) and (found or path.stem.startswith("same"))
    for finding, graph in zip(found, written):
        assert main(["match", str(path), graph, "--format", "json"]) == 0
        matches = json.loads(capsys.readouterr().out)["matches"]
        names = [word for word in finding["message"].split("`")[1::2] if word.isidentifier() and not word.startswith("n")]
        at = [{tuple(m["outputs"]) for m in matches if m["rule"] == name} for name in names]
        assert all(at), (finding["message"], matches)
        if finding["code"] in ("L0201", "L0202"):
            assert at[0] & at[1], finding["message"]
        if finding["code"] == "L0203":
            result = gslang.load(path).apply(gslang.read(graph), limit=40, pass_name="p" if path.stem == "loop_in_a_pass" else None)
            assert result.stop_reason.value == "limit" or result.problem is not None

"""Traces: what they say, that they can be applied again, where they part from another graph; provenance; the
report.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest
from jsonschema import Draft202012Validator

import gslang
from examples.models import inception_v3, nasnet_cell
from gslang.cli.main import main
from gslang.cli.progress import shown
from gslang.dialect.load import load_dialect
from gslang.engine.fixed_point import Progress, RuleCount
from gslang.engine.replay import TraceEntry, ids_of, told
from gslang.engine.rewrite import Application
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder

RULES = """
rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);
rule odd(x): tanh(-x) => -tanh(x);
rule never(x): sqrt(exp(x)) => exp(x * 0.5);
pass both { twice; fold; odd; cse; }
"""


@pytest.fixture()
def files(tmp_path: Path) -> Path:
    build = Builder(load_dialect("relay"))
    x = build.input("x", (2, 3))
    for _ in range(6):
        x = build.call("tanh", build.call("negative", build.call("nn.relu", build.call("nn.relu", x))))
    gslang.write(build.finish(x), tmp_path / "graph.json")
    (tmp_path / "rules.gsl").write_text(RULES, encoding="utf-8")
    return tmp_path


def gslc(folder: Path, *arguments: str) -> int:
    return main([str(folder / "rules.gsl"), str(folder / "graph.json"), *arguments])


def test_a_line_is_an_application(files: Path) -> None:
    assert gslc(files, "-o", str(files / "a.json"), "--trace", str(files / "t.jsonl")) == 0
    first = json.loads((files / "t.jsonl").read_text().splitlines()[0])
    assert first == {
        "application": 1,
        "rule": "twice",
        "outputs": ["n1"],
        "removed": ["n1", "n0"],
        "added": [{"id": "%25", "op": "nn.relu"}],
        "replaced": {"n1": "%25"},
        "bindings": {"x": "x"},
        "written": {"%25": "n1"},
        "lines": 12,
    }


@pytest.mark.parametrize("chosen", [(), ("--pass", "both")], ids=["rules", "pass"])
def test_tracing_and_replaying_give_the_same_bytes(files: Path, chosen: tuple[str, ...]) -> None:
    outputs = [files / f"{k}.json" for k in range(3)]
    assert gslc(files, "-o", str(outputs[0]), *chosen) == 0
    assert gslc(files, "-o", str(outputs[1]), "--trace", str(files / "t.jsonl"), *chosen) == 0
    assert (
        gslc(
            files, "-o", str(outputs[2]), "--replay", str(files / "t.jsonl"), "--trace",
            str(files / "u.jsonl"),
        )
        == 0
    )
    assert len({path.read_bytes() for path in outputs}) == 1
    assert (files / "t.jsonl").read_bytes() == (files / "u.jsonl").read_bytes()
    assert ('"step": "cse"' in (files / "t.jsonl").read_text()) == bool(chosen)


def test_a_real_network_is_replayed(tmp_path: Path) -> None:
    """Several outputs, templates, and constants in targets."""
    gslang.write(inception_v3.build(75, width=0.1, values=False), tmp_path / "net.json")
    run = ["std.relay", str(tmp_path / "net.json"), "-o"]
    assert (
        main([*run, str(tmp_path / "a.json"), "--pass", "inference", "--trace", str(tmp_path / "t.jsonl")])
        == 0
    )
    assert main([*run, str(tmp_path / "b.json"), "--replay", str(tmp_path / "t.jsonl")]) == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("cases", "rule_file", "at_least"),
    [("cases.json", "std.relay", 40), ("adversarial.json", TESTS / "stdlib" / "adversarial.gsl", 400)],
)
def test_all_cases_are_replayed(cases: str, rule_file: str | Path, at_least: int) -> None:
    """Blocks, several outputs, constraints, rules that never end: all rules at once on each of the known
    cases.
    """
    rules, applied = gslang.load(rule_file), 0
    for case in json.loads((TESTS / "cases" / cases).read_text()):
        before = read_json(json.dumps(case["graph"]), case["name"], rules.dialect)
        entries: list[TraceEntry] = []
        ids = ids_of(before)

        def observe(number: int, what: Application | str) -> None:
            assert isinstance(what, Application)
            entries.append(TraceEntry(number, None, json.loads(json.dumps(told(number, what, ids)))))

        untraced = write_json(rules.apply(before, limit=50).graph)
        assert write_json(rules.apply(before, limit=50, watch=lambda _, graph: observe).graph) == untraced, (
            case["name"]
        )
        assert write_json(rules.replay(before, entries).graph) == untraced, case["name"]
        half = rules.apply(before, limit=50, stop_after=len(entries) // 2)
        assert write_json(rules.replay(before, entries[: len(entries) // 2]).graph) == write_json(
            half.graph
        ), case["name"]
        applied += len(entries)
    assert applied > at_least, applied


def test_written_ids_lead_to_the_nodes_of_the_graph(files: Path) -> None:
    """Each node of the written graph is one of the file's, or the trace says where it comes from."""
    gslc(files, "-o", str(files / "a.json"), "--trace", str(files / "t.jsonl"))
    made: dict[str, str] = {}
    for line in (files / "t.jsonl").read_text().splitlines():
        entry = json.loads(line)
        operators = {item["id"]: item["op"] for item in entry["added"]}
        made |= {written: operators[id] for id, written in entry["written"].items() if id in operators}
    nodes = json.loads((files / "a.json").read_text())["nodes"]
    assert made == {node["id"]: node["op"] for node in nodes if node["kind"] == "call"}


def test_ids_are_unique_whatever_names_there_are() -> None:
    build = Builder(load_dialect("relay"))
    graph = build.finish(build.call("add", build.input("%0", (2,)), build.input("x", (2,))))
    graph.names[2] = "x"
    ids = ids_of(graph)
    assert [ids(node) for node in range(4)] == ["%0", "x", "%%2", "%%3"]


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (
            lambda lines: [*lines[:2], lines[2][:40]],
            "t.jsonl:3:1: not a line of a trace: not JSON\n  help: is the file truncated?",
        ),
        (lambda lines: [lines[0], "[1]"], "t.jsonl:2:1: not a line of a trace: expected an object"),
        (
            lambda lines: [lines[0], '{"rule": "twice"}'],
            "t.jsonl:2:1: not a line of a trace: `lines` must be the number",
        ),
        (
            lambda lines: [line.replace('"twice"', '"thrice"') for line in lines],
            "t.jsonl:1:1: unknown rule `thrice`",
        ),
        (lambda lines: lines[1:], "t.jsonl:1:1: `odd` has other `application` here: 1, and not 2"),
        (lambda lines: [lines[0], lines[0]], "t.jsonl:2:1: the node `n1` was already removed"),
        (lambda lines: [lines[0].replace('"n1"', '"n99"')], "t.jsonl:1:1: unknown node `n99`"),
        (
            lambda lines: [lines[0].replace('"%25"', '"%26"')],
            't.jsonl:1:1: `twice` has other `added` here: [{"id": "%25"',
        ),
        (
            lambda lines: [lines[0].replace('"x": "x"', '"x": "n0"')],
            "t.jsonl:1:1: `twice` has other `bindings` here",
        ),
        (lambda lines: [lines[0].replace('["n1"]', '["n4"]')], "t.jsonl:1:1: `twice` does not match at `n4`"),
        (
            lambda lines: lines[:5],
            "t.jsonl:5:1: this is the last line, but the trace has 12\n  help: is the file truncated?",
        ),
        (
            lambda lines: [lines[0].replace('"bindings"', '"bound"')],
            "t.jsonl:1:1: not a line of a trace: `bindings` is missing",
        ),
        (
            lambda lines: [lines[0].replace('["n1"]', "[]")],
            "t.jsonl:1:1: not a line of a trace: `rule` must be a name",
        ),
    ],
)
def test_a_trace_that_does_not_fit(
    files: Path, capsys: pytest.CaptureFixture[str], damage, expected: str
) -> None:  # type: ignore[no-untyped-def]
    gslc(files, "-o", str(files / "a.json"), "--trace", str(files / "t.jsonl"))
    lines = (files / "t.jsonl").read_text().splitlines()
    (files / "t.jsonl").write_text("\n".join(damage(lines)))
    capsys.readouterr()
    assert gslc(files, "-o", str(files / "b.json"), "--replay", str(files / "t.jsonl")) == 3
    told = capsys.readouterr().err
    assert expected in told
    assert not (files / "b.json").exists()


def test_stopping_after_some_applications(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = []
    for count in (0, 1, 5):
        assert (
            gslc(
                files, "-o", str(files / "a.json"), "--trace", str(files / "t.jsonl"), "--stop-after",
                str(count),
            )
            == 0
        )
        assert f"{count} application" in (told := capsys.readouterr().err) and "(stopped)" in told
        traces.append((files / "t.jsonl").read_text())
    assert [text.count("\n") for text in traces] == [0, 1, 5]
    first, again = (json.loads(text.splitlines()[0]) for text in traces[1:])
    assert first | {"lines": 5} == again


def test_stopping_within_a_pass(files: Path) -> None:
    """Right after the application: built-in steps that would follow do not run."""
    traces = {}
    for count in (6, 7):
        assert (
            gslc(
                files, "-o", str(files / "a.json"), "--pass", "both", "--trace", str(files / "t.jsonl"),
                "--stop-after", str(count),
            )
            == 0
        )
        traces[count] = [
            json.loads(line).get("step") for line in (files / "t.jsonl").read_text().splitlines()
        ]
    assert traces[6] == [None] * 6
    assert traces[7] == [None] * 6 + ["fold", None]


def test_new_nodes_tell_where_they_come_from(files: Path) -> None:
    assert gslc(files, "-o", str(files / "a.json"), "--provenance") == 0
    nodes = json.loads((files / "a.json").read_text())["nodes"]
    origins = [node["origin"] for node in nodes if "origin" in node]
    schema = json.loads((Path(gslang.__file__).parent / "formats" / "graph.schema.json").read_text())
    Draft202012Validator(schema).validate(json.loads((files / "a.json").read_text()))
    assert origins[0] == {"rule": "twice", "application": 1, "from": ["n1", "n0"]}
    assert len(origins) == len(nodes) - 1  # all but the input are new
    again = gslang.read(files / "a.json")
    gslang.write(again, files / "b.json")
    assert (files / "a.json").read_bytes() == (files / "b.json").read_bytes()  # it is kept
    assert gslc(files, "-o", str(files / "c.json")) == 0
    assert "origin" not in (files / "c.json").read_text()


def test_where_there_is_no_place_for_it(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, warned in (("a.relay", True), ("a.json", False)):
        assert gslc(files, "-o", str(files / name), "--provenance") == 0
        assert (
            "warning: Relay text cannot represent what `--provenance` records" in capsys.readouterr().err
        ) == warned


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("twice", "/nodes/1/origin: expected an object with rule, application, from"),
        (
            {"rule": "twice", "application": 0, "from": []},
            "/nodes/1/origin/application: `application` is a number from 1, not 0",
        ),
        ({"rule": "twice", "application": 1, "from": [1]}, "/nodes/1/origin/from: `from` is a list of ids"),
        ({"application": 1, "from": []}, "/nodes/1/origin: `rule` is a rule's name"),
        (
            {"rule": "twice", "application": 1, "from": [], "form": 1},
            "/nodes/1/origin/form: unknown key `form`",
        ),
    ],
)
def test_a_wrong_origin(
    files: Path, capsys: pytest.CaptureFixture[str], origin: object, expected: str
) -> None:
    graph = json.loads((files / "graph.json").read_text())
    graph["nodes"][1]["origin"] = origin
    (files / "graph.json").write_text(json.dumps(graph))
    assert gslc(files) == 3
    assert expected in capsys.readouterr().err


def test_the_report_goes_to_stdout_beside_a_graph_in_a_file(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gslc(files, "--report", "-") == 2
    assert "cannot both go to stdout" in capsys.readouterr().err
    assert gslc(files, "-o", str(files / "a.json"), "--report", "-") == 0
    assert json.loads(capsys.readouterr().out)["applications"] == 12


def test_what_a_trace_says_is_not_chosen_again(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gslc(files, "--replay", str(files / "t.jsonl"), "--rule", "odd") == 2
    assert "--replay takes the applications from the trace" in capsys.readouterr().err


def test_a_trace_that_cannot_be_written_or_read(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gslc(files, "-o", str(files / "a.json"), "--trace", str(files / "none" / "t.jsonl")) == 3
    assert not (files / "a.json").exists()  # told before anything is done
    assert gslc(files, "--replay", str(files / "none.jsonl")) == 3
    assert "none.jsonl: cannot be read: no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-o", "a.json", "--trace", "./a.json"), "./a.json: the trace would overwrite the graph\n"),
        (
            ("-o", "a.json", "--trace", "t", "--report", "t"),
            "t: the trace would overwrite the report\n",
        ),
        (
            ("-o", "a.json", "--report", "graph.json"),
            "graph.json: the report would overwrite the input graph\n",
        ),
        (
            ("-o", "a.json", "--trace", "rules.gsl"),
            "rules.gsl: the trace would overwrite the rules\n",
        ),
        (("-o", "a.json", "--replay", "-"), "a trace must be read from a file\n"),
    ],
)
def test_one_file_for_two_things(
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    expected: str,
) -> None:
    monkeypatch.chdir(files)
    before = [(files / name).read_bytes() for name in ("graph.json", "rules.gsl")]
    assert gslc(files, *options) == 2
    assert f"gslc: {expected}  help: " in capsys.readouterr().err
    assert not (files / "a.json").exists() and before == [
        (files / name).read_bytes() for name in ("graph.json", "rules.gsl")
    ]


def test_a_graph_may_be_written_over_itself(files: Path) -> None:
    assert gslc(files, "-o", str(files / "graph.json")) == 0
    assert "tanh" in (files / "graph.json").read_text()


class Terminal(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.written = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


def test_progress_is_shown_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Progress({"r": RuleCount(candidates=70)}, applications=5, sweeps=2, recent=["r"])
    monkeypatch.setattr("gslang.cli.progress._BEGIN", 0.0)
    for stream, expected in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with shown(done):
            if isinstance(stream, Terminal):
                assert stream.written.wait(600)
        assert ("sweep 2: 70 candidates tried, 5 applications, last `r`" in stream.getvalue()) == expected
        assert stream.getvalue().endswith("\r\x1b[K" if expected else "")


def test_a_short_run_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with shown(Progress()):
        pass
    assert terminal.getvalue() == ""


def test_the_report_counts(files: Path) -> None:
    assert gslc(files, "-o", str(files / "a.json"), "--report", str(files / "r.json")) == 0
    report = json.loads((files / "r.json").read_text())
    assert report["rules"]["twice"] | {"seconds": 0} == {
        "applications": 6,
        "matches": 6,
        "candidates": 18,
        "seconds": 0,
    }
    assert report["never_fired"] == ["never"]


def test_a_match_that_cannot_be_applied_is_a_match(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "rules.gsl").write_text("rule grow(x): tanh(x) => concatenate((x, x));", encoding="utf-8")
    assert (
        gslc(
            files, "-o", str(files / "a.json"), "--report", str(files / "r.json"), "--trace",
            str(files / "t.jsonl"),
        )
        == 1
    )
    assert capsys.readouterr().err.count("rule `grow` was not applied at n3") == 1
    report = json.loads((files / "r.json").read_text())
    assert report["rules"]["grow"] | {"seconds": 0} == {
        "applications": 0,
        "matches": 6,
        "candidates": 6,
        "seconds": 0,
    }
    assert report["never_fired"] == ["grow"]
    assert (files / "t.jsonl").read_text() == ""


def run_with_hash_seed(folder: Path, seed: int) -> tuple[bytes, bytes]:
    out, trace = folder / f"out{seed}.json", folder / f"trace{seed}.jsonl"
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [
        sys.executable, "-m", "gslang", "std.relay", str(folder / "net.json"), "--pass", "inference", "-o",
        str(out), "--trace", str(trace),
    ]
    subprocess.run(command, env=environment, check=True, capture_output=True, cwd=Path(__file__).parents[2])
    return out.read_bytes(), trace.read_bytes()


@pytest.mark.parametrize("runs", [pytest.param(3), pytest.param(20, marks=pytest.mark.long)])
def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path, runs: int) -> None:
    gslang.write(nasnet_cell.build(values=False), tmp_path / "net.json")
    assert len({run_with_hash_seed(tmp_path, seed) for seed in range(runs)}) == 1

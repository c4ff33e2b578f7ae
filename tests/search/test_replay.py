"""The result of a search comes again from its trace, byte for byte, whatever the method and the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gslang
from gslang.api import RuleSet
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import Symbol
from gslang.engine.replay import ReplayError
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from gslang.search.cost.tables import table_of
from gslang.search.saturate import Limits
from gslang.search.search import METHODS, Settings, search
from tests.search.test_search import RELAY, RULES, chain, random_graph, rules

ONNX_RULES = """dialect onnx;
rule left(x, y: any(shape = (_, _)), z: any(shape = (_, _))): MatMul(MatMul(x, y), z)
    => MatMul(x, MatMul(y, z));
rule relu_twice(x): Relu(Relu(x)) => Relu(x);
rule join(x) {
    each branch in 2.. {
        w = any(shape = (_, _));
        product = MatMul(x, w);
    }
    *branch.product
  =>
    both = MatMul(x, Concat(*[b.w for b in branch], axis = 1));
    parts = Split(both, const(value = [b.w.shape[1] for b in branch], dtype = "int64"), axis = 1);
    *parts
}
"""


def joined() -> Graph:
    """Products of one matrix, of which some have to be reassociated before they can be joined."""
    b = Builder(RELAY)
    x = b.input("x", (16, 4))
    y = b.call("nn.matmul", x, b.param("v", (4, 4)))
    b.graph.names[y] = "named"
    ends = [b.call("nn.matmul", y, b.param(f"w{k}", (4, 2))) for k in range(3)]
    ends = [b.call("nn.relu", b.call("nn.relu", end)) for end in ends]
    return b.finish(*ends, b.call("transpose", b.call("transpose", x, axes=(1, 0)), axes=(1, 0)))


def replayed(graph: Graph, own: RuleSet, settings: Settings, table: str) -> int:
    """How many applications the trace of a search has, which has to lead to its result."""
    of = (graph, RELAY, list(own.own.values()), table_of(table), settings)
    found, plain = search(*of, traced=True), search(*of)
    assert plain.trace is None and found.trace is not None
    assert write_json(plain.graph) == write_json(found.graph)
    result = own.replay(graph, found.trace.entries)
    assert write_json(result.graph) == write_json(found.graph)
    assert result.applications == len([entry for entry in found.trace.entries if entry.step is None])
    return result.applications


@pytest.mark.parametrize("method", METHODS)
def test_what_was_found_comes_again(method: str) -> None:
    settings = Settings(method, Limits(nodes=500, rounds=5, multi=2), budget=5)
    assert sum(replayed(graph, rules(), settings, "roofline") for graph in (chain(), joined())) > 0
    for seed in range(30):
        replayed(random_graph(seed), rules(), settings, ("flops", "bytes", "roofline")[seed % 3])


def test_only_what_the_result_rests_on_is_told() -> None:
    found = search(joined(), RELAY, list(rules().own.values()), table_of("roofline"), traced=True)
    assert found.trace is not None
    told = [entry.said["rule"] for entry in found.trace.entries if entry.step is None]
    assert len(told) < sum(found.applications.values()) and set(told) >= set(found.led)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "r.gsl").write_text(RULES)
    (tmp_path / "onnx.gsl").write_text(ONNX_RULES)
    (tmp_path / "g.json").write_text(write_json(joined()))
    gslang.write(joined(), tmp_path / "g.relay")
    b = Builder(load_dialect("onnx"))
    x = b.input("x", (Symbol("n"), 8))
    y = b.call("MatMul", x, b.input("v", (8, 8)))
    ends = [b.call("Relu", b.call("Relu", b.call("MatMul", y, b.input(f"w{k}", (8, 1))))) for k in range(3)]
    gslang.write(b.finish(*ends), tmp_path / "g.onnx")
    return tmp_path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["g.json", "g.relay", "g.onnx"])
def test_the_command(name: str, method: str, folder: Path) -> None:
    own = "onnx.gsl" if name == "g.onnx" else "r.gsl"
    given = [str(folder / own), str(folder / name), "-o"]
    sizes = ["--dim", "n=64"] if name == "g.onnx" else []
    options = ["--require", "any", "--cost", "roofline", "--method", method, *sizes]
    trace = str(folder / "t.jsonl")
    assert main(["search", *given, str(folder / f"1{name}"), *options, "--trace", trace]) == 0
    assert main(["search", *given, str(folder / f"2{name}"), *options]) == 0
    assert main([*given, str(folder / f"3{name}"), "--replay", trace, "--check-numbers"]) == 0
    assert len({(folder / f"{k}{name}").read_bytes() for k in (1, 2, 3)}) == 1
    lines = [json.loads(line) for line in Path(trace).read_text().splitlines()]
    assert lines[0]["step"] == "search" and len(lines) > 1 and lines[0]["lines"] == len(lines)
    if name == "g.json":
        ids = {node["id"] for node in json.loads((folder / "1g.json").read_text())["nodes"]}
        assert {id for line in lines for id in line.get("written", {}).values()} <= ids


def test_a_trace_that_does_not_fit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(folder / "r.gsl"), str(folder / "g.json"), "-o", str(folder / "o.json")]
    trace = folder / "t.jsonl"
    assert main(["search", *given, "--require", "any", "--cost", "roofline", "--trace", str(trace)]) == 0
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    (folder / "o.json").unlink()

    def wrong(message: str, number: int, change: dict[str, object], count: int | None = None) -> None:
        edited = [dict(line) for line in lines[:count]]
        edited[number].update(change)
        bad = folder / "bad.jsonl"
        bad.write_text("".join(json.dumps({**line, "lines": len(edited)}) + "\n" for line in edited))
        capsys.readouterr()
        assert main([*given, "--replay", str(bad)]) == 3
        assert message in capsys.readouterr().err and not (folder / "o.json").exists()

    last = len(lines) - 1
    assert lines[last]["step"] == "choose"
    wrong("does not match at", 1, {"match": 1000})
    wrong("`match` must be a number", 1, {"match": "first"})
    wrong("`match` must be a number", 1, {"match": -1})
    wrong("unknown rule `joyn` (did you mean `join`?)", 1, {"rule": "joyn"})
    wrong("unknown node `nowhere`", 1, {"outputs": ["nowhere"]})
    wrong("has other `equal` here", 1, {"equal": {}})
    wrong("unknown node `nowhere`", last, {"nodes": ["nowhere"]})
    wrong("the selected nodes are not a graph", last, {"nodes": lines[last]["nodes"][:1]})
    wrong("`nodes` must be ids", last, {"nodes": 3})
    wrong("the trace of a search ends with `choose`", 0, {}, -1)
    wrong("`method` must be eqsat", 0, {"method": "magic"})
    wrong("`sizes` must map", 0, {"sizes": {"n": "two"}})
    wrong("a search must be the first line of a trace", last, {"step": "search"})
    wrong("this belongs to a search", 0, {"step": "cse"})
    wrong("this belongs to a search", 0, {"method": "greedy"})
    for extra in ("--provenance", "--trace", "--html"):
        more = [extra] if extra == "--provenance" else [extra, str(folder / "more")]
        assert main([*given, "--replay", str(trace), *more]) == 3
        assert "nothing to note" in capsys.readouterr().err


def test_in_python() -> None:
    own = rules()
    found = own.search(joined(), cost="roofline", require="any", traced=True)
    assert found.trace is not None
    assert write_json(own.replay(joined(), found.trace.entries).graph) == write_json(found.graph)
    with pytest.raises(ReplayError):
        own.replay(chain(), found.trace.entries)


@pytest.mark.long
@pytest.mark.parametrize("block", range(50))
def test_many_random_graphs(block: int) -> None:
    for seed in range(1000 + block * 20, 1020 + block * 20):
        settings = Settings(METHODS[seed % 3], Limits(nodes=400, rounds=4, multi=1 + seed % 2), budget=4)
        replayed(random_graph(seed), rules(), settings, ("flops", "bytes", "roofline")[seed // 3 % 3])

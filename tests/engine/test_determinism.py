"""The same input gives the same bytes, whatever Python's hash seed: outputs, reports and traces of a pass of
many rules.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from gslang.dialect.load import load_dialect
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from tests.cli.test_cli import gslc

RULES = """
rule pair(x) { exp(x), tanh(x) => y = exp(x); y, y - abs(x) }
rule branches(x) { each b in 2.. { w = any(); m = ordered (x * w); } *b.m => *[exp(x) + i.w for i in b] }
rule fields() { each f in 1.. { x = any(); y = abs(x); } c = concatenate((*f.y,));
    c => abs(concatenate([i.x for i in f], c.*)) }
rule any_of(x, f: op(sin | cos | sqrt)): f(negative(x)) | f(abs(x)) => abs(f(x));
rule sums(x): x + (y := exp(x)) => y + x * 2.0;
@once
rule round(x): sigmoid(x) => sigmoid(abs(x));
pass all { repeat { pair; branches; any_of; } fields; sums; round; fold; cse; }
"""


def graph(seed: int) -> Graph:
    """Some 800 nodes, many of which the rules match."""
    random, build = Random(seed), Builder(load_dialect("relay"))
    nodes = [build.input(f"x{k}", (2, 2)) for k in range(4)] + [build.const(2.0)]
    for _ in range(600):
        a, b = random.choice(nodes[-12:] if random.random() < 0.7 else nodes[:4]), random.choice(nodes)
        match random.randrange(4):
            case 0:
                nodes.append(build.call(random.choice(("multiply", "multiply", "add", "subtract")), a, b))
            case 1:
                wide = build.call(
                    "concatenate", build.pack(build.call("abs", a), build.call("abs", a)), axis=0
                )
                nodes.append(build.call("sum", wide, axis=(0,), keepdims=True))
            case _:
                nodes.append(
                    build.call(random.choice(("exp", "tanh", "abs", "negative", "sin", "cos", "sigmoid")), a)
                )
    unused = [n for n in nodes[5:] if not build.graph.users[n]]
    random.shuffle(unused)
    return build.finish(*unused)


def results(folder: Path, seed: int) -> tuple[str, ...]:
    done = gslc(
        "r.gsl", "g.json", "--pass", "all", "--limit", "400", "-o", "out.json", "--report", "report.json",
        "--trace", "trace", cwd=folder, PYTHONHASHSEED=str(seed),
    )
    assert "Traceback" not in done.stderr and (folder / "out.json").exists(), done.stderr
    report = json.loads((folder / "report.json").read_text())
    report_text = json.dumps(without_times(report))
    return (done.stdout, (folder / "out.json").read_text(), report_text, (folder / "trace").read_text())


def without_times(value: object) -> object:
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if "second" not in k and k != "time"}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def write(folder: Path) -> None:
    (folder / "r.gsl").write_text(RULES)
    (folder / "g.json").write_text(write_json(graph(1)))


def test_three_runs_give_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path)
    first = results(tmp_path, 0)
    rules = {json.loads(line)["rule"] for line in first[3].splitlines() if "rule" in json.loads(line)}
    assert {"pair", "branches", "any_of"} <= rules  # else there was nothing to be undecided about
    assert results(tmp_path, 1) == first and results(tmp_path, 4242) == first


@pytest.mark.long
def test_twenty_runs_give_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path)
    assert len({results(tmp_path, seed) for seed in range(20)}) == 1

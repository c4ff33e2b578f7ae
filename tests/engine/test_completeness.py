"""Multi-output patterns whose exact occurrence in the graph is known: a match must be found, in whatever
order users come.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.dialect.load import load_dialect
from gslang.engine.generate import compile_matcher
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.formats.json_reader import read_json

CASES = json.loads((Path(__file__).parent.parent / "cases" / "completeness.json").read_text())


def rule_of(case: dict[str, Any]) -> str:
    inputs = [p["id"] for p in case["pattern"] if p["op"] == "wildcard"]
    lines = [
        f"{p['id']} = {p['op']}({', '.join(p['inputs'])});" for p in case["pattern"] if p["op"] != "wildcard"
    ]
    outputs = ", ".join(case["pattern_outputs"])
    targets = ", ".join(f"sigmoid({inputs[0]})" for _ in case["pattern_outputs"])
    return f"rule r({', '.join(inputs)}) {{ {' '.join(lines)} {outputs} => {targets} }}"


@pytest.mark.parametrize("case", CASES, ids=[f"{c['name']}-{c['mode']}" for c in CASES])
def test_found(case: dict[str, Any]) -> None:
    program = check_source(Source("case.gsl", rule_of(case)))
    assert program.ok, [d.message for d in program.diagnostics]
    plan = program_of(program.rules["r"])
    graph = read_json(json.dumps(case["graph"]), case["name"], load_dialect("relay"))
    start = {graph.names[n]: n for n in graph.nodes()}[
        case["expected"]["embedding"][case["pattern_outputs"][0]]
    ]
    found = next(matches(plan, graph, start), None)
    assert found is not None
    assert compile_matcher(plan)(graph)(start, lambda scope: list(scope.slots)) == list(found.slots)

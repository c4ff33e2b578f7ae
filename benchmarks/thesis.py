"""Time against nodes for rules with 2, 3 and n outputs and 1, 2, 3 operators per branch, and against the
number of rules that do not apply: `python -m benchmarks.thesis`.

All in this process, gslang alone: the median of n applications of compiled rules to the same graph. Writes
`thesis_time.svg` and `thesis.jsonl` to `benchmarks/work/results/`, and prints growth exponents (1: linear).
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
from pathlib import Path
from time import process_time

from benchmarks.models import WORK, relay_graph
from benchmarks.report import draw_panels, exponent
from benchmarks.thesis_rules import ANY, NETWORKS, OPERATORS, OUTPUTS, rule_text, rules_that_do_not_apply
from gslang.api import RuleSet, parse_rules
from gslang.graph.graph import Graph

RULE_COUNTS = (1, 10, 100, 1000)
DOUBLED = 2.0


def rewriting_seconds(rules: RuleSet, graph: Graph, rounds: int) -> tuple[float, int]:
    """The median processor time of `apply`, and how many applications there were; one round before is not
    counted.
    """
    times = []
    applications = 0
    for number in range(rounds + 1):
        gc.collect()
        began = process_time()
        applications = rules.apply(graph).applications
        if number:
            times.append(process_time() - began)
    return statistics.median(times), applications


def outputs_and_operators(steps: int, rounds: int, out: Path) -> bool:
    """Time against nodes; a panel per network and number of operators, a curve per number of outputs."""
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    ok = True
    with (out / "thesis.jsonl").open("w", encoding="utf-8") as file:
        for network, (build, sizes) in NETWORKS.items():
            graphs = [build(size) for size in sizes[:steps]]
            for operators in OPERATORS:
                for outputs in OUTPUTS:
                    rules = parse_rules(rule_text(network, outputs, operators))
                    name = f"{'n' if outputs == ANY else outputs} outputs"
                    points: list[tuple[float, float]] = []
                    for graph in graphs:
                        seconds, applications = rewriting_seconds(rules, graph, rounds)
                        ok &= applications > 0
                        points.append((len(graph), seconds * 1e3))
                        row = {
                            "network": network,
                            "operators": operators,
                            "outputs": name,
                            "nodes": len(graph),
                        }
                        file.write(
                            json.dumps({**row, "applications": applications, "seconds": seconds}) + "\n"
                        )
                    e = exponent(points) or 0.0
                    last = f"{points[-1][1]:.1f} ms at {points[-1][0]} nodes"
                    print(
                        f"{network}, {operators} per branch, {name}: {last}, time ~ nodes^{e:.2f}", flush=True
                    )
                    panels.setdefault(f"{network}, {operators} per branch", {})[name] = points
    draw_panels(panels, "nodes", "ms", out / "thesis_time.svg", logarithmic=False)
    return ok


def rules_not_applying(nodes: int, rounds: int) -> bool:
    """Time against the number of rules that never match; the goal is that a thousand of them at most double
    it.
    """
    graph = relay_graph("tt", nodes)
    sets = {count: parse_rules(rules_that_do_not_apply(count)) for count in RULE_COUNTS}
    times = dict.fromkeys(sets, 0.0)
    for count, rules in sets.items():
        times[count], applications = rewriting_seconds(rules, graph, rounds)
        assert applications == 0
    first = times[RULE_COUNTS[0]]
    for count, seconds in times.items():
        print(
            f"{count:5d} rules that do not apply, {nodes} nodes: {seconds * 1e3:.1f} ms, "
            f"×{seconds / first:.2f}"
        )
    ok = times[RULE_COUNTS[-1]] <= DOUBLED * first
    print(f"{'PASS' if ok else 'FAIL'}  {RULE_COUNTS[-1]} rules take at most {DOUBLED:g}× the time of one")
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=4, help="how many sizes of each network, smallest first")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=10_000, help="of the graph for rules that do not apply")
    parser.add_argument("--only", choices=("outputs", "rules"))
    a = parser.parse_args()
    out = WORK / "results"
    out.mkdir(parents=True, exist_ok=True)
    ok = a.only == "rules" or outputs_and_operators(a.steps, a.rounds, out)
    if a.only != "outputs":
        ok &= rules_not_applying(a.nodes, a.rounds)
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())

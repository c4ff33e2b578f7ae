"""List matches, change nothing: gslc match rules.gsl graph.json"""

from __future__ import annotations

import argparse
import json
import sys

from gslang.cli.main import ExitCode
from gslang.cli.shared import add_graph_options, check_names, load_graph, load_rules, show_findings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", help="a .gsl file, a folder, or a shipped module")
    parser.add_argument("graph", help="a .json or .relay graph")
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    rules = load_rules([options.rules])
    if show_findings(rules, options):
        return ExitCode.FINDINGS
    wrong = check_names(rules, options.rule or (), "rule", list(rules.known))
    if wrong:
        sys.stderr.write(wrong)
        return ExitCode.USAGE
    graph = load_graph(options.graph, options, rules.dialect)
    found = [match for name in options.rule or rules.own for match in rules[name].matches(graph)]
    if options.format == "json":
        table = [
            {"rule": m.rule, "outputs": list(m.outputs), "nodes": m.nodes, "instances": m.instances} for m in found
        ]
        sys.stdout.write(json.dumps({"matches": table, "misses": []}, indent=2, ensure_ascii=False) + "\n")
        return ExitCode.FINE
    for m in found:
        bound = ", ".join(f"{name} = {where}" for name, where in m.nodes.items())
        counts = ", ".join(f"{len(items)} × {name}" for name, items in m.instances.items())
        sys.stdout.write(f"{m.rule} at {', '.join(m.outputs)}: {', '.join(part for part in (bound, counts) if part)}\n")
    sys.stderr.write(f"{len(found)} match{'es' * (len(found) != 1)}\n")
    return ExitCode.FINE

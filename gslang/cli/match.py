"""List matches, change nothing: gslc match rules.gsl graph.json"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from gslang.cli.main import ExitCode
from gslang.cli.shared import add_graph_options, check_names, load_graph, load_rules, show_findings

if TYPE_CHECKING:
    from gslang.api import Match, RuleSet
    from gslang.engine.why_not import Miss
    from gslang.graph.graph import Graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", help="a .gsl file, a folder, or a shipped module")
    parser.add_argument("graph", help="a .json or .relay graph")
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument("--why-not", nargs="?", const="", metavar="NODE", help="tell the nearest misses (of patterns that NODE would be part of)")
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="misses to show for each rule (5)")
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
    names = options.rule or list(rules.own)
    if options.why_not is not None:
        return _why_not(rules, graph, names, options)
    found = [match for name in names for match in rules[name].matches(graph)]
    if options.format == "json":
        _write_json([_as_dict(match) for match in found], [])
        return ExitCode.FINE
    for m in found:
        bound = ", ".join(f"{name} = {where}" for name, where in m.nodes.items())
        counts = ", ".join(f"{len(items)} × {name}" for name, items in m.instances.items())
        sys.stdout.write(f"{m.rule} at {', '.join(m.outputs)}: {', '.join(part for part in (bound, counts) if part)}\n")
    sys.stderr.write(f"{len(found)} match{'es' * (len(found) != 1)}\n")
    if not found:
        sys.stderr.write("  help: `--why-not` tells what stood in the way\n")
    return ExitCode.FINE


def _as_dict(match: Match) -> dict[str, Any]:
    return {"rule": match.rule, "outputs": list(match.outputs), "nodes": match.nodes, "instances": match.instances}


def _write_json(matches: list[dict[str, Any]], misses: list[dict[str, Any]]) -> None:
    sys.stdout.write(json.dumps({"matches": matches, "misses": misses}, indent=2, ensure_ascii=False) + "\n")


# ── why not ───────────────────────────────────────────────────────────────────────────────────────────────────


def _why_not(rules: RuleSet, graph: Graph, names: list[str], options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean

    node = None
    if options.why_not:
        ids = {graph.label(n): n for n in graph.nodes()}
        node = ids.get(options.why_not)
        if node is None:
            guess = did_you_mean(options.why_not, list(ids)[:10_000])
            sys.stderr.write(f"gslc: there is no node `{options.why_not}`\n" + (f"  help: did you mean `{guess}`?\n" if guess else ""))
            return ExitCode.USAGE
    misses = {name: rules[name].why_not(graph, node, options.limit) for name in names}
    if options.format == "json":
        matches = [_as_dict(match) for name in names for match in rules[name].matches(graph)]
        _write_json(matches, [_miss_dict(graph, miss) for found in misses.values() for miss in found if miss.reason != "matches"])
        return ExitCode.FINE
    absent = [] if options.rule else [name for name, found in misses.items() if found[0].reason == "no-candidate"]
    near = sorted((name for name in names if name not in absent), key=lambda name: -misses[name][0].matched / misses[name][0].of)
    sys.stdout.write("\n".join(_told(graph, name, misses[name]) for name in near))
    if absent:
        where = "in the graph" if node is None else f"around `{options.why_not}`"
        sys.stdout.write(("\n" if near else "") + f"nothing {where} can be the first output of: {', '.join(absent)}\n")
    return ExitCode.FINE


def _told(graph: Graph, name: str, misses: list[Miss]) -> str:
    """The misses of a rule as text: for each how far it came, the place in the rule, what was expected and found."""
    from gslang.base.diagnostics import Label
    from gslang.base.render import excerpt

    lines = []
    for miss in misses:
        if miss.reason == "matches":
            lines.append(f"{name} matches at {graph.label(miss.start)}")
            continue
        at = f" at {graph.label(miss.start)}" if miss.start >= 0 else ""
        lines.append(f"{name}{at}: {miss.matched} of {miss.of} [{miss.reason}]")
        width = len(str(miss.span.line_column[0]))
        lines += [f"  {line}" for line in excerpt(Label(miss.span), width)]
        lines.append(f"  {' ' * width} = expected {miss.expected}")
        lines.append(f"  {' ' * width} = found    {miss.found}")
        if miss.help:
            lines.append(f"  {' ' * width} = help: {miss.help}")
    return "\n".join(lines) + "\n"


def _miss_dict(graph: Graph, miss: Miss) -> dict[str, Any]:
    line, column = miss.span.line_column
    return {
        "rule": miss.rule, "start": graph.label(miss.start) if miss.start >= 0 else None,
        "node": graph.label(miss.node) if miss.node >= 0 else None, "matched": miss.matched, "of": miss.of, "reason": miss.reason,
        "file": miss.span.source.name, "line": line, "column": column, "expected": miss.expected, "found": miss.found, "help": miss.help or None,
    }  # fmt: skip

"""List matches without changing the graph: gslc match rules.gsl graph.json

In an ONNX model, matches in bodies and local functions are listed after those in the graph around them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.json_text import json_text
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.miss_text import miss_data, miss_lines
from gslang.cli.option_types import positive
from gslang.cli.refusals import refuse_two_stdins
from gslang.cli.shared import add_define_option, add_graph_options, load_graph
from gslang.cli.usable_rules import add_extern_option, usable_rules

if TYPE_CHECKING:
    from gslang.api import Match, RuleSet
    from gslang.engine.effort import Effort
    from gslang.engine.miss import Miss
    from gslang.graph.graph import Graph

    Place = tuple[str, Graph]  # the path of a graph inside a model, and the graph

# of matching, for one rule, and of all rules together for misses; enough where the work is not quadratic in
# the readers of a value
_STEPS, _STEPS_PER_NODE = 200_000, 15


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_define_option(parser)
    parser.add_argument("rules", help="a .gsl file, a folder, or a shipped module")
    parser.add_argument("graph", nargs="?", help="a .json, .relay or .onnx graph")
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument(
        "--why-not", nargs="?", const="", metavar="NODE",
        help="explain the nearest misses (of patterns that NODE would be part of)",
    )
    parser.add_argument(
        "--limit", type=positive, default=5, metavar="N", help="number of misses to show for each rule (5)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_graph_options(parser)
    add_extern_option(parser)


def run(options: argparse.Namespace) -> int:
    # `--why-not GRAPH`: no node was meant
    if options.graph is None and options.why_not and Path(options.why_not).is_file():
        options.graph, options.why_not = options.why_not, ""
    if options.graph is None:
        raise Refusal(
            "gslc match: the graph is missing\n  help: gslc match RULES GRAPH --why-not [NODE]\n"
        )
    refuse_two_stdins(options.rules, options.graph)
    rules = usable_rules([options.rules], options)
    graph = load_graph(options.graph, options, rules.dialect)
    names = options.rule or list(rules.own)
    places = _places(graph, rules)
    if options.why_not is not None:
        return _why_not(rules, places, names, options)
    found, stopped = _matches(rules, places, names)
    if options.format == "json":
        _write_json(found, [], stopped)
        return ExitCode.FINE
    for path, m in found:
        bound = ", ".join(f"{name} = {where}" for name, where in m.nodes.items())
        counts = ", ".join(f"{len(items)} × {name}" for name, items in m.instances.items())
        said = ", ".join(part for part in (bound, counts) if part)
        sys.stdout.write(f"{m.rule} at {', '.join(m.outputs)}{_in(path)}: {said}\n")
    sys.stderr.write(f"{len(found)} match{'es' * (len(found) != 1)}\n")
    for rule, limit in stopped.items():
        sys.stderr.write(
            f"{rule}: only the matches found in {limit:,} steps, the limit for this graph\n"
            f'  help: `rules["{rule}"].matches(graph)` in Python finds all (docs/python.md)\n'
        )
    if not found:
        sys.stderr.write("  help: `--why-not` shows what did not match\n")
    return ExitCode.FINE


def _places(graph: Graph, rules: RuleSet) -> list[Place]:
    """The graph, and what is inside of it, by path ("" for the graph itself)."""
    if "onnx" not in graph.meta:
        return [("", graph)]
    from gslang.formats.onnx.bodies import insides

    return [("", graph), *insides(graph, rules.dialect)]


def _in(path: str) -> str:
    return f" in {path}" if path else ""


def _matches(
    rules: RuleSet, places: list[Place], names: list[str]
) -> tuple[list[tuple[str, Match]], dict[str, int]]:
    """The matches with the paths of their graphs, and the rules that used up their steps, with the number of
    these.
    """
    from gslang.check.limits import counted_work
    from gslang.engine.effort import Effort, EffortSpent

    limit = _most_steps(places)
    found: list[tuple[str, Match]] = []
    stopped = {}
    with counted_work(_nodes(places)):
        for rule in map(rules.__getitem__, names):
            effort = Effort(limit)
            try:
                for path, graph in places:
                    for match in rule.matches(graph, effort):
                        found.append((path, match))
            except EffortSpent:
                stopped[rule.name] = limit
    return found, stopped


def _most_steps(places: list[Place]) -> int:
    return _STEPS + _STEPS_PER_NODE * _nodes(places)


def _nodes(places: list[Place]) -> int:
    return sum(len(graph) for _, graph in places)


def _as_dict(path: str, match: Match) -> dict[str, object]:
    return {
        "rule": match.rule, **({"body": path} if path else {}),
        "outputs": list(match.outputs),
        "nodes": match.nodes,
        "instances": match.instances,
    }


def _write_json(
    matches: list[tuple[str, Match]], misses: list[dict[str, object]], stopped: dict[str, int]
) -> None:
    data = {
        "matches": [_as_dict(path, match) for path, match in matches], "misses": misses,
        **({"stopped": stopped} if stopped else {}),
    }
    sys.stdout.write(json_text(data))


# ── why not ─────────────────────────────────────────────────────────────────────────────────────────────────


def _why_not(rules: RuleSet, places: list[Place], names: list[str], options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean
    from gslang.check.limits import counted_work

    asked: list[tuple[Place, int | None]] = [(place, None) for place in places]
    if options.why_not:
        ids = [(place, {place[1].label(n): n for n in place[1].nodes()}) for place in places]
        asked = [(place, found[options.why_not]) for place, found in ids if options.why_not in found]
        if not asked:
            guess = did_you_mean(options.why_not, [id for _, found in ids for id in found][:10_000])
            raise Refusal(
                f"gslc: unknown node `{options.why_not}`\n"
                + (f"  help: did you mean `{guess}`?\n" if guess else "")
            )
    steps = _most_steps([place for place, _ in asked])
    with counted_work(_nodes(places)):
        misses, left_out = _all_nearest(rules, asked, names, options.limit, steps)
    if options.format == "json":
        matches, stopped = _matches(rules, places, names)
        _write_json(
            matches,
            [
                _miss_dict(place, miss)
                for found in misses.values()
                for place, miss in found if miss.reason != "matches"
            ],
            {**dict.fromkeys(left_out, steps), **stopped},
        )
        return ExitCode.FINE
    absent = (
        [] if options.rule
        else [name for name, found in misses.items() if found[0][1].reason == "no-candidate"]
    )
    near = sorted(
        (name for name in names if name not in absent), key=lambda name: -_nearness(misses[name][0][1])
    )
    sys.stdout.write("\n".join(_told(name, misses[name]) for name in near))
    if absent:
        where = "in the graph" if not options.why_not else f"around `{options.why_not}`"
        sys.stdout.write(
            ("\n" if near else "") + f"no node {where} can be the first output of: {', '.join(absent)}\n"
        )
    if left_out:
        sys.stderr.write(
            f"only the misses found in {steps:,} steps, the limit for this graph: {', '.join(left_out)}\n"
            "  help: `--rule NAME` examines one rule, `--why-not NODE` one node\n"
        )
    return ExitCode.FINE


def _all_nearest(
    rules: RuleSet, asked: list[tuple[Place, int | None]], names: list[str], limit: int, steps: int
) -> tuple[dict[str, list[tuple[Place, Miss]]], list[str]]:
    """The nearest misses of each rule, and the rules for which the `steps` did not suffice.

    All rules get as many of these; what some leave is shared by the others, which then begin anew.
    """
    from gslang.engine.effort import Effort

    found: dict[str, list[tuple[Place, Miss]]] = {}
    left, share, todo = steps, 0, names
    while todo and left // len(todo) > share:
        share, stopped = left // len(todo), []
        for name in todo:
            effort = Effort(share)
            found[name] = _nearest(rules, asked, name, limit, effort)
            left -= effort.taken
            if effort.stopped:
                stopped.append(name)
        todo = stopped
    return found, todo


def _nearest(
    rules: RuleSet, asked: list[tuple[Place, int | None]], name: str, limit: int, effort: Effort
) -> list[tuple[Place, Miss]]:
    """The nearest misses of a rule in all places together, best first; places without a candidate only if
    there is no other.
    """
    rule = rules[name]
    found = [(place, miss) for place, node in asked for miss in rule.why_not(place[1], node, limit, effort)]
    candidates = [item for item in found if item[1].reason != "no-candidate"] or found[:1]
    # equal ones as they come: outer places first
    candidates.sort(key=lambda item: (item[1].reason != "matches", -_nearness(item[1])))
    return candidates[:limit]


def _nearness(miss: Miss) -> float:
    return miss.matched / miss.of


def _told(name: str, misses: list[tuple[Place, Miss]]) -> str:
    """The misses of a rule as text: for each how far it came, the location in the rule, what was expected and
    found.
    """
    lines = []
    for (path, graph), miss in misses:
        start = graph.label(miss.start) if miss.start >= 0 else ""
        lines += (
            [f"{name} matches at {start}{_in(path)}"] if miss.reason == "matches"
            else miss_lines(miss, f"{start}{_in(path)}" if start else "")
        )
    return "\n".join(lines) + "\n"


def _miss_dict(place: Place, miss: Miss) -> dict[str, object]:
    path, graph = place
    return {
        "rule": miss.rule, **({"body": path} if path else {}),
        "start": graph.label(miss.start) if miss.start >= 0 else None,
        "node": graph.label(miss.node) if miss.node >= 0 else None,
        **miss_data(miss),
    }

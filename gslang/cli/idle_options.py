"""Options that can do nothing beside the other arguments: they are refused before any work.

One row says under what condition some options of some verbs have an effect. Conditions look at the command
line alone; what only a file tells is left to the verb.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from gslang.base.quick_dataclass import dataclass

Condition = Callable[[argparse.Namespace], bool]

_GRAPH = ("input_format", "function", "inline", "skip_unsupported", "params", "opset")
_RELAY = ("function", "inline", "skip_unsupported")
_SWEEPS = ("pass_name", "once", "passes", "limit", "fold", "fold_limit", "no_subgraphs", "stop_after")
_CHOICE = ("define", "rule", "skip", "allow_extern")
_OUTPUT = ("output_format", "external", "output_params")
_REPORTS = ("report", "trace", "html", "replay", "provenance", "force")
_NUMBERS = ("seed", "inputs", "dim", "backend")
_JUDGING = (
    "require", "seconds", "instances", "seed", "jobs", "cluster", "strict_special", "format", "explain",
    "certificate",
)


@dataclass(frozen=True, slots=True)
class Need:
    """`options`, by their names in a namespace, have an effect in `verbs` (in all that have them, if there
    are none) only where `holds`; `what` is put after "does nothing".
    """

    verbs: tuple[str, ...]
    options: tuple[str, ...]
    holds: Condition
    what: str
    help: str


def refuse_idle(
    verb: str, parser: argparse.ArgumentParser, options: argparse.Namespace, words: Sequence[str]
) -> str:
    """The error message for the first of the `words` that can do nothing, "" if there is none."""
    given = _given(parser, options, words)
    for need in NEEDS:
        if need.verbs and verb not in need.verbs:
            continue
        for dest in need.options:
            if dest in given and not need.holds(options):
                return f"gslc {verb}: {given[dest]} has no effect {need.what}\n  help: {need.help}\n"
    return ""


def _given(
    parser: argparse.ArgumentParser, options: argparse.Namespace, words: Collection[str]
) -> dict[str, str]:
    """The options that the words hold, as one writes them, by their names in the namespace."""
    written = {word.partition("=")[0] for word in words if word.startswith("-")}
    return {
        action.dest: next(
            (name for name in action.option_strings if name in written), action.option_strings[-1]
        )
        for action in parser._actions
        if action.option_strings and hasattr(options, action.dest) and (
            not written.isdisjoint(action.option_strings)
            or getattr(options, action.dest) != action.default
        )
    }


def _graphs(options: argparse.Namespace) -> Iterator[str]:
    """The graphs that are given."""
    for name in ("graph", "before", "after", "a", "b"):
        value = getattr(options, name, None)
        yield from value if isinstance(value, list) else [] if value is None else [value]


def _formats(options: argparse.Namespace) -> set[str]:
    """The formats that the graphs may have; "" for one that only reading tells."""
    from gslang.formats.registry import SUFFIXES

    if options.input_format is not None:
        return {options.input_format}
    return {SUFFIXES.get(os.path.splitext(graph)[1].lower(), "") for graph in _graphs(options)}


def _may_be(format: str) -> Condition:
    return lambda options: any(found in ("", format, f"{format}txt") for found in _formats(options))


def _may_be_written_as_onnx(options: argparse.Namespace) -> bool:
    from gslang.formats.registry import SUFFIXES

    if options.output in (None, "-"):
        return False
    if os.path.isdir(options.output) or len(list(_graphs(options))) > 1:
        return True
    return (options.output_format or SUFFIXES.get(os.path.splitext(options.output)[1].lower())) == "onnx"


def _several_graphs(options: argparse.Namespace) -> bool:
    graphs = list(_graphs(options))
    return len(graphs) > 1 or any(os.path.isdir(name) for name in (*graphs, options.output or ""))


def is_gallery(options: argparse.Namespace) -> bool:
    """True if `gslc view` gets rules alone: a rule file, a folder of them or a shipped module."""
    name: str = options.graph
    return options.rules is None and (
        Path(name).suffix.lower() == ".gsl" or name.startswith("std.") or Path(name).is_dir()
    )


def _is_graph_alone(options: argparse.Namespace) -> bool:
    return options.rules is None and not is_gallery(options)


NEEDS: tuple[Need, ...] = (
    Need(
        ("apply",),
        (
            "output", "jobs", "cluster", "rule", "skip", *_SWEEPS, "check_numbers", *_NUMBERS, "bench",
            "cost", *_REPORTS, *_OUTPUT, *_GRAPH,
        ),
        lambda o: bool(o.graph), "without a graph", "gslc RULES GRAPH -o OUT",
    ),
    Need(
        ("view",), (*_SWEEPS, *_GRAPH, "times"), lambda o: not is_gallery(o), "without a graph",
        "gslc view GRAPH RULES -o page.html",
    ),
    Need(
        ("view",), (*_CHOICE, *_SWEEPS, "times"), lambda o: not _is_graph_alone(o), "without rules",
        "options of a run need rules: gslc view GRAPH RULES -o page.html",
    ),
    Need(("apply",), ("times",), lambda o: bool(o.html), "without --html", "--html page.html"),
    Need(("view",), ("seconds",), is_gallery, "with a graph", "gslc view RULES --seconds N -o page.html"),
    Need(
        ("bench",), (*_CHOICE, *_SWEEPS),
        lambda o: o.rules is not None or o.graph.lower().endswith(".gsl"), "without rules",
        "options of a run need rules: gslc bench MODEL RULES",
    ),
    Need(("bench",), ("seconds",), lambda o: o.rounds is None, "with --rounds", "remove one of them"),
    Need(
        (), _RELAY, _may_be("relay"), "with a graph that is not Relay text",
        "remove it, or add --input-format relay",
    ),
    Need(
        (), ("no_subgraphs",), _may_be("onnx"), "with a graph that is not an ONNX model",
        "remove it: only ONNX models have bodies and local functions",
    ),
    Need(
        (), ("external",), _may_be_written_as_onnx, "unless an ONNX model is written to a file",
        "-o model.onnx",
    ),
    Need(
        (), ("fold_limit",), lambda o: o.fold or o.pass_name is not None or bool(getattr(o, "replay", None)),
        "without --fold, or a pass that folds", "add --fold",
    ),
    Need(
        ("apply",), ("seed",), lambda o: o.check_numbers or o.bench,
        "without --check-numbers or --bench", "add --check-numbers",
    ),
    Need(
        ("apply",), ("inputs",), lambda o: o.check_numbers or o.bench or _several_graphs(o),
        "without --check-numbers or --bench", "add --check-numbers",
    ),
    Need(
        ("apply",), ("dim",), lambda o: o.check_numbers or o.bench or o.cost is not None,
        "without --check-numbers, --bench or --cost", "add --check-numbers",
    ),
    Need(
        ("apply", "search"), ("backend",), lambda o: o.check_numbers, "without --check-numbers",
        "add --check-numbers",
    ),
    Need(
        ("search",), ("seed", "force"), lambda o: o.check_numbers, "without --check-numbers",
        "add --check-numbers",
    ),
    Need(
        ("search",), ("inputs",), lambda o: o.check_numbers or _several_graphs(o),
        "without --check-numbers", "add --check-numbers",
    ),
    Need(
        ("bisect",), _NUMBERS, lambda o: o.check == "numbers", "if the check is a command",
        "--check numbers evaluates the graph",
    ),
    Need(
        ("apply", "search"), ("jobs",), _several_graphs, "with one graph",
        "give several, or a folder of them, and a folder with -o",
    ),
    Need(
        ("search",), ("multi", "nodes", "rounds", "extract"), lambda o: o.method == "eqsat",
        "unless --method is eqsat", "remove it, or add --method eqsat",
    ),
    Need(
        ("search",), ("alpha", "budget"), lambda o: o.method == "backtrack",
        "unless --method is backtrack", "--method backtrack",
    ),
    Need(
        ("match",), ("limit",), lambda o: o.why_not is not None, "without --why-not",
        "it is the number of misses: --why-not --limit N",
    ),
    Need(
        ("lint",), ("unsafe_fixes",), lambda o: o.fix or o.diff, "without --fix or --diff",
        "add --diff or --fix",
    ),
    Need(
        ("lint",), ("format", "graphs", "statistics"), lambda o: not o.diff, "with --diff",
        "--diff shows only what would be fixed",
    ),
    Need(
        ("lint",), ("jobs",), lambda o: not o.together, "with --together",
        "rules that run as one set are linted in one process",
    ),
    Need(
        ("verify",), ("define", "allow_extern"), lambda o: bool(o.rules), "without rules",
        "gslc verify RULES --recheck DIR",
    ),
    Need(
        ("verify",), ("rule", *_JUDGING), lambda o: o.recheck is None, "with --recheck",
        "--recheck checks certificates and does not verify rules",
    ),
    Need(
        ("verify",), ("explain",), lambda o: o.format == "text", "unless --format is text",
        "the other formats contain the laws of each proof anyway, or cannot represent them",
    ),
    Need(
        ("verify",), ("jobs",), lambda o: "-" not in o.rules, "with rules from standard input",
        "write the rules to a file",
    ),
    Need(
        ("from-example",), ("seconds", "instances", "seed", "format"), lambda o: o.after is not None,
        "without a second graph", "gslc from-example BEFORE AFTER",
    ),
    Need(
        ("import",), ("as_written", "seconds", "seed", "format"), lambda o: o.kind != "taso", "for taso",
        "rules of TASO are translated without verdicts: gslc verify checks them",
    ),
    Need(
        ("import",), ("seconds", "seed"), lambda o: not o.as_written, "with --as-written",
        "remove one of them",
    ),
    Need(
        ("extract",), ("seconds",), lambda o: o.method != "greedy", "with --method greedy",
        "it is the time for exact extraction: --method exact",
    ),
    Need(
        ("discover",), ("variables",), lambda o: not o.inputs, "with --inputs",
        "--inputs says how many there are of each shape",
    ),
    Need(
        ("implied",), ("rule",), lambda o: any("#" not in rules for rules in o.rules),
        "where each FILE#NAME is one rule", "gslc implied FILE --rule NAME --by OTHERS",
    ),
    Need(
        ("explain",), ("define",), lambda o: o.file is not None, "without a rule file",
        "gslc explain RULE FILE --define NAME=VALUE",
    ),
    Need(
        ("convert",), ("output_params",), lambda o: not _is_page(o), "with a page",
        "remove it: a page contains no parameters",
    ),
)  # fmt: skip


def _is_page(options: argparse.Namespace) -> bool:
    return (options.output_format or os.path.splitext(options.output)[1].lower()) in ("html", ".html", ".htm")

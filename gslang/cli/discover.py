"""Find rules over operators, with their conditions, verdicts and tests: gslc discover --ops
add,multiply,nn.relu -o found.gsl

FILES are rule files. Their declared operators can be combined (all of them without --ops); rules that FILES
contain or imply are omitted. Terms of up to --size operators are enumerated, and equal terms become
candidates. For each candidate, the weakest conditions under which it holds are searched for. Candidates that
smaller rules imply are dropped. The most useful rules come first (--on).

Exit codes: 0 success; 1 no rule was found, or a rule file has errors; 2 usage error; 3 a file or an operator
cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from gslang.base.json_text import json_text
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.many import add_cluster_option
from gslang.cli.option_types import positive
from gslang.cli.refusals import outputs_conflict
from gslang.cli.shared import load_rules, show_findings

if TYPE_CHECKING:
    from gslang.base.diagnostics import Diagnostic
    from gslang.discover.discover import Discovery
    from gslang.discover.judge import Judged
    from gslang.discover.plan import Plan
    from gslang.discover.usefulness import Use


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", nargs="*", metavar="FILES",
        help="rule files that declare operators to combine, or rules that are already known",
    )
    parser.add_argument(
        "--ops", default="", metavar="LIST",
        help="operators, with attributes to try: `add, concatenate(axis = 0 | 1)`",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="output file (stdout)")
    parser.add_argument("--dialect", metavar="NAME", help="dialect of operators (that of FILES, else relay)")
    parser.add_argument(
        "--size", type=positive, default=2, metavar="N", help="maximum number of operators in a term (2)"
    )
    parser.add_argument(
        "--outputs", type=positive, default=1, metavar="N",
        help="maximum number of outputs of a rule: terms that share an input may be computed together (1)",
    )
    parser.add_argument(
        "--variables", type=positive, default=3, metavar="N", help="number of inputs of each shape (3)"
    )
    parser.add_argument(
        "--inputs", default="", metavar="SHAPES", help="explicit shapes of inputs: `[n, m], [n, m], [m]`"
    )
    parser.add_argument(
        "--constants", default="", metavar="NUMBERS", help="numbers that terms may contain: 0,1"
    )
    parser.add_argument(
        "--require", choices=("tested", "exact", "proved"), default="exact",
        help="the weakest acceptable verdict of a rule (exact)",
    )
    parser.add_argument(
        "--on", nargs="+", action="extend", default=[], metavar="GRAPH",
        help="graphs on which the usefulness of each rule is measured",
    )
    parser.add_argument(
        "--cost", default="flops", metavar="NAME|FILE",
        help="the cost to reduce: flops (the default), bytes, roofline, ort-cpu, or a .tsv file",
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="number of processes (1)")
    add_cluster_option(parser)
    parser.add_argument(
        "--state", metavar="FILE", help="resume from this file, and save progress in it"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress on stderr")
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text: a .gsl file; json: the rules with all details",
    )


def run(options: argparse.Namespace) -> int:
    from gslang.base.diagnostics import InputError

    if not options.rules and not options.ops:
        raise Refusal(
            "gslc discover: no operators are given\n"
            "  help: list them, --ops add,nn.relu, or give a file that declares some\n"
        )
    if wrong := outputs_conflict(
        {"the rules": options.output, "the state": options.state},
        {
            **{f"the rules in {name}": name for name in options.rules},
            **{f"the graph {name}": name for name in options.on},
            "the cost table": options.cost,
        },
    ):
        raise Refusal(f"gslc discover: {wrong}")
    dialect = options.dialect or "relay"
    if options.rules:
        known = load_rules(options.rules)
        if show_findings(known, options):
            return ExitCode.FINDINGS
        dialect = options.dialect or known.dialect.name
    from gslang.dialect.load import dialect_names

    if dialect not in dialect_names():
        raise InputError(
            f"unknown dialect `{dialect}`",
            path="--dialect",
            help=f"known: {', '.join(dialect_names())}",
        )
    from gslang.base.processes import workers
    from gslang.discover.discover import discover
    from gslang.discover.plan import Question, plan_of
    from gslang.formats.registry import read_graph
    from gslang.search.cost.tables import table_of

    question = Question(
        dialect,
        options.ops,
        tuple(options.rules),
        options.size,
        options.variables,
        options.inputs,
        _numbers(options.constants),
        options.require,
        options.outputs,
    )
    table = table_of(options.cost)
    plan = plan_of(question)
    graphs = [read_graph(path, dialect=plan.dialect) for path in options.on]
    share = options.cluster is not None or options.jobs > 1
    with workers(options.jobs, options.cluster) if share else nullcontext() as pool:
        result = discover(question, table, pool, options.state, _teller(options.quiet))
    return _write(options, plan, result, graphs, table)


def _numbers(text: str) -> tuple[float, ...]:
    from gslang.base.diagnostics import InputError

    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(
            f"`{text}` is not a list of numbers", path="--constants", help="write 0,1 or 0.5"
        ) from None


def _teller(quiet: bool) -> Any:
    def tell(line: str) -> None:
        if not quiet:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    return tell


def _write(
    options: argparse.Namespace, plan: Plan, result: Discovery, graphs: Sequence[Any], table: Any
) -> int:
    from gslang.base.atomic_write import write_text
    from gslang.discover.clean_file import file_without_findings
    from gslang.discover.rule_file import RuleFile
    from gslang.discover.usefulness import Use, in_order, use_of

    uses = [use_of(rule, plan.prelude, graphs, table) if graphs else Use() for rule in result.rules]
    rules = in_order(result.rules, uses)
    if options.format == "json":
        text = _as_data(result, rules)
    else:
        file = RuleFile(plan, rules, options.output, options.cost, len(graphs))
        text = file_without_findings(file, partial(_findings, file.name))
    if options.output in (None, "-"):
        sys.stdout.write(text)
    elif rules:
        write_text(options.output, text)
    else:
        sys.stderr.write(f"no rule was found: {options.output} is not written\n")
    verdicts = {
        verdict: sum(rule.verdict == verdict for rule in result.rules)
        for verdict in ("proved", "exact", "tested")
    }
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items() if count)
    sys.stderr.write(
        f"rules: {len(rules)}{f' ({counted})' if counted else ''}; "
        f"implied by others: {len(result.followed)}; "
        f"candidates that hold under no conditions: {len(result.refused)}\n"
    )
    return ExitCode.FINE if rules else ExitCode.FINDINGS


def _findings(name: str, text: str) -> list[Diagnostic]:
    """The lints' findings in the text of a rule file."""
    from gslang.base.source import Source
    from gslang.check.check import check_source
    from gslang.lint.run_lints import lint_program
    from gslang.lint.selectors import selected_codes

    source = Source(name, text)
    return lint_program(source, check_source(source), selected_codes((), ()), cache=False)


def _as_data(result: Discovery, rules: Sequence[tuple[Judged, Use]]) -> str:
    data = {
        "rules": [
            {
                "rule": rule.name, "text": rule.text, "verdict": rule.verdict, "reason": rule.reason,
                "conditions": list(rule.conditions),
                "fired": use.fired, "saved": use.saved,
            }
            for rule, use in rules
        ],
        "terms": [{"looked_at": a, "computed": b, "new": c} for a, b, c in result.counts],
        "equations": result.equations,
        "candidates": result.candidates, "implied": result.followed, "refused": len(result.refused),
    }  # fmt: skip
    return json_text(data)

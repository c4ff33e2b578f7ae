"""Find rules over operators, with their conditions, verdicts and tests:
gslc discover --ops add,multiply,nn.relu -o found.gsl

FILES are rule files whose declared operators may be combined (all of them without --ops), and whose rules are
known: what they imply is left out. Terms of up to --size operators are enumerated, equal ones become
candidates, the weakest conditions under which a candidate holds are looked for, and what smaller rules imply
is dropped. The most useful rules come first (--on).

Exit codes: 0 fine; 1 no rule was found, or a rule file has errors; 2 usage; 3 a file or an operator cannot be
used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gslang.cli.main import ExitCode
from gslang.cli.option_types import positive
from gslang.cli.refusals import refuse_output
from gslang.cli.shared import load_rules, show_findings

if TYPE_CHECKING:
    from gslang.discover.discover import Discovery, Plan
    from gslang.discover.judge import Judged
    from gslang.discover.usefulness import Use


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", nargs="*", metavar="FILES",
        help="rule files with operators to combine, and with rules that are known already",
    )
    parser.add_argument(
        "--ops", default="", metavar="LIST",
        help="operators, with attributes to try: `add, concatenate(axis = 0 | 1)`",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="where the rules go (stdout)")
    parser.add_argument("--dialect", metavar="NAME", help="of the operators (that of FILES, else relay)")
    parser.add_argument("--size", type=positive, default=2, metavar="N", help="operators in a term (2)")
    parser.add_argument("--variables", type=positive, default=3, metavar="N", help="inputs of each shape (3)")
    parser.add_argument(
        "--inputs", default="", metavar="SHAPES", help="shapes of inputs instead: `[n, m], [n, m], [m]`"
    )
    parser.add_argument("--constants", default="", metavar="NUMBERS", help="numbers that terms may hold: 0,1")
    parser.add_argument(
        "--require", choices=("tested", "exact", "proved"), default="exact",
        help="the least verdict of a rule (exact)",
    )
    parser.add_argument(
        "--on", nargs="+", action="extend", default=[], metavar="GRAPH",
        help="graphs that tell how useful a rule is",
    )
    parser.add_argument(
        "--cost", default="flops", metavar="NAME|FILE",
        help="what rules are to save: flops (the default), bytes, roofline, ort-cpu, or a .tsv file",
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="processes (1)")
    parser.add_argument(
        "--state", metavar="FILE", help="go on from this file, and keep in it what is found out"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text",
        help="rules as a .gsl file, or all that is known about them",
    )


def run(options: argparse.Namespace) -> int:
    from gslang.base.diagnostics import InputError

    if not options.rules and not options.ops:
        sys.stderr.write(
            "gslc discover: over which operators?\n  help: name them, --ops add,nn.relu, or give a file that "
            "declares some\n"
        )
        return ExitCode.USAGE
    for path in (options.output, options.state):
        if path is not None and path != "-":
            refuse_output(path)
    dialect = options.dialect or "relay"
    if options.rules:
        known = load_rules(options.rules)
        if show_findings(known, options):
            return ExitCode.FINDINGS
        dialect = options.dialect or known.dialect.name
    from gslang.dialect.load import dialect_names

    if dialect not in dialect_names():
        raise InputError(
            f"there is no dialect `{dialect}`", path="--dialect", help=f"known: {', '.join(dialect_names())}"
        )
    from gslang.base.processes import processes
    from gslang.discover.discover import Question, discover, plan_of
    from gslang.formats.registry import read_graph
    from gslang.search.cost.tables import table_of

    question = Question(
        dialect, options.ops, tuple(options.rules), options.size, options.variables, options.inputs,
        _numbers(options.constants), options.require,
    )
    table = table_of(options.cost)
    plan = plan_of(question)
    graphs = [read_graph(path, dialect=plan.dialect) for path in options.on]
    result = discover(question, table, options.jobs, options.state, _teller(options.quiet), processes)
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
    from gslang.discover.usefulness import Use, in_order, use_of

    uses = [use_of(rule, plan.prelude, graphs, table) if graphs else Use() for rule in result.rules]
    rules = in_order(result.rules, uses)
    text = (
        _as_data(plan, result, rules) if options.format == "json"
        else _without_findings(options, plan, rules, len(graphs))
    )
    if options.output in (None, "-"):
        sys.stdout.write(text)
    else:
        write_text(options.output, text)
    verdicts = {
        verdict: sum(rule.verdict == verdict for rule in result.rules)
        for verdict in ("proved", "exact", "tested")
    }
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items() if count)
    sys.stderr.write(
        f"{len(rules)} rules{f' ({counted})' if counted else ''}; {len(result.followed)} more follow from "
        "them, "
        f"{len(result.refused)} candidates have no conditions under which they hold\n"
    )
    return ExitCode.FINE if rules else ExitCode.FINDINGS


def _without_findings(
    options: argparse.Namespace, plan: Plan, rules: Sequence[tuple[Judged, Use]], graphs: int
) -> str:
    """The file, with annotations for what lints find: a rule that leads back to itself runs once, one that
    never fires goes.
    """
    from gslang.base.source import Source
    from gslang.check.check import check_source
    from gslang.discover.rule_file import rule_file
    from gslang.lint.run_lints import lint_program
    from gslang.lint.selectors import selected_codes

    annotations: dict[str, list[str]] = {}
    left = list(rules)
    name = options.output if options.output not in (None, "-") else "found.gsl"
    for _ in range(6):
        text = rule_file(plan, left, options.output, options.cost, annotations, graphs)
        source = Source(name, text)
        found = lint_program(source, check_source(source), selected_codes((), ()), cache=False)
        if not found:
            break
        loops = [finding for finding in found if finding.code == "L0203"]
        for finding in loops or found:
            before = text[: finding.primary.span.start]
            rule = next((r.name for r, _ in left if r.name == _last_rule(before, text)), None)
            if rule is None:
                continue
            if finding.code == "L0202":
                left = [(r, use) for r, use in left if r.name != rule]
                continue
            note = (
                "@once" if finding.code == "L0203" and "@once" not in annotations.get(rule, [])
                else f"@allow({finding.code})"
            )
            own = annotations.setdefault(rule, [])
            if note not in own:
                own.append(note)
    return text


def _last_rule(before: str, text: str) -> str:
    """The rule in which a place is: its head may go on behind the place."""
    import re

    names = re.findall(r"^rule (\w+)", before + re.match(r"\w*", text[len(before) :])[0], re.MULTILINE)  # type: ignore[index]
    return names[-1] if names else ""


def _as_data(plan: Plan, result: Discovery, rules: Sequence[tuple[Judged, Use]]) -> str:
    data = {
        "rules": [
            {
                "rule": rule.name,
                "text": rule.text,
                "verdict": rule.verdict,
                "reason": rule.reason,
                "conditions": list(rule.conditions),
                "fired": use.fired,
                "saved": use.saved,
            }
            for rule, use in rules
        ],
        "terms": [{"looked_at": a, "computed": b, "new": c} for a, b, c in result.counts],
        "equations": result.equations,
        "candidates": result.candidates,
        "implied": result.followed,
        "refused": len(result.refused),
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

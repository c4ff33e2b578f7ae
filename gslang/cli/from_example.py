"""Derive the rules that lead from one graph to another: gslc from-example before.onnx after.onnx

The differences are extracted, generalized and verified; whole networks are cut at the values that both
compute. With --select, the pattern consists of these nodes of the first graph; without a second graph, the
result is a rule that does not change them, as a starting point for editing.

Exit codes: 0 success; 1 some difference does not yield a correct rule; 2 usage error; 3 a file cannot be
used.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial

from gslang.base.diagnostics import InputError
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.option_types import add_inference_options, allowance_of
from gslang.cli.refusals import outputs_conflict
from gslang.cli.shared import add_graph_options, load_graph
from gslang.cli.text_output import write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="BEFORE", help="a graph")
    parser.add_argument(
        "after", metavar="AFTER", nargs="?", help="the graph after the rewrite, or an edited copy of BEFORE"
    )
    parser.add_argument(
        "--select", metavar="IDS", help="the pattern: comma-separated ids of nodes of BEFORE"
    )
    parser.add_argument(
        "--name", default="example", metavar="NAME",
        help="name of the rule, or common prefix if there are several (example)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the rule file here")
    add_inference_options(parser, "reading")
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    if mistake := _mistake(options):
        raise Refusal(f"gslc from-example: {mistake}")
    from gslang.dialect.load import load_dialect
    from gslang.fmt.format_source import layout
    from gslang.generalize.example import NoRule, rule_text, selected
    from gslang.generalize.from_example import Found, best_rule, rules_between

    before = load_graph(options.before, options)
    after = before if options.after is None else load_graph(options.after, options)
    if before.dialect != after.dialect:
        raise InputError(
            f"the graphs are of different dialects, {before.dialect} and {after.dialect}", path=options.after
        )
    dialect = load_dialect(before.dialect)
    chosen = (
        None if options.select is None
        else selected(before, after, [name.strip() for name in options.select.split(",") if name.strip()])
    )
    if options.after is None and chosen is not None:
        try:
            text = layout(rule_text(before, after, chosen, dialect, options.name))
        except NoRule as problem:
            raise InputError(f"no rule can be written: {problem}", path=options.before) from None
        return _write(options, text, text)
    from gslang.base.source import Source
    from gslang.generalize.refine import Settings
    from gslang.generalize.report import differences_as_json, differences_as_text, rule_file

    allowance = allowance_of(options)
    settings = Settings(allowance.seconds, options.seed, options.instances)
    tell = partial(print, file=sys.stderr) if sys.stderr.isatty() else lambda text: None

    def warn(text: str) -> None:
        sys.stderr.write(f"warning: {text}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        if chosen is None:
            found = rules_between(before, after, dialect, options.name, settings, tell, allowance, warn)
        else:
            rule = best_rule(before, after, [chosen], dialect, options.name, settings, allowance)
            found = (
                Found((), ((rule.reason, 1),)) if rule.text is None else Found(((rule, 1),), ())
            )
    shown = (
        differences_as_json(found) if options.format == "json"
        else differences_as_text(found, before.dialect)
    )
    if not found.rules:
        sys.stdout.write(shown)
        return ExitCode.FINDINGS
    head = Source("<example>", f"dialect {before.dialect};\n")
    text = rule_file(head, [rule for rule, _ in found.rules])
    status = _write(options, text, shown)
    return ExitCode.FINDINGS if found.failed else status


def _mistake(options: argparse.Namespace) -> str | None:
    """The words for options that do not fit together."""
    if options.after is None and options.select is None:
        return (
            f"only one graph is given, {options.before}\n"
            f"  help: give a second graph, `gslc from-example {options.before} AFTER`, or name the nodes "
            "that are to be the pattern, --select n4,n7\n"
        )
    if not options.name.isidentifier() or not options.name.isascii():
        return f"`{options.name}` is not a valid rule name\n  help: use letters, digits and `_`\n"
    return outputs_conflict(
        {"the rule file": options.output},
        {
            "the first graph": options.before,
            "the second graph": options.after,
            "the input parameters": options.params,
        },
    )


def _write(options: argparse.Namespace, text: str, shown: str) -> int:
    if options.output in (None, "-"):
        sys.stdout.write(shown)
        return ExitCode.FINE
    write_output(text, options.output)
    return ExitCode.FINE

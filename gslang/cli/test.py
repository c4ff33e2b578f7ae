"""Run the tests in rule files: gslc test rules.gsl"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from gslang.cli.main import ExitCode
from gslang.cli.option_types import natural
from gslang.cli.paint import painter
from gslang.cli.shared import add_define_option
from gslang.cli.usable_rules import add_extern_option, usable_rules

if TYPE_CHECKING:
    from gslang.testing import Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_define_option(parser)
    parser.add_argument("rules", nargs="+", help=".gsl files, folders, or shipped modules")
    parser.add_argument(
        "--rule", action="append", metavar="NAME", help="run only the tests of this rule (may be repeated)"
    )
    parser.add_argument("--format", choices=("text", "json", "junit"), default="text")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the random inputs (0)")
    add_extern_option(parser)


def run(options: argparse.Namespace) -> int:
    from gslang.testing import run_tests

    rules = usable_rules(options.rules, options)
    chosen = frozenset(options.rule) if options.rule else None
    outcomes = [o for program in rules.programs for o in run_tests(program, chosen, options.seed)]
    failed = [o for o in outcomes if not o.passed]
    if options.format == "json":
        table = [
            {
                "test": o.title,
                "rule": o.rule,
                "place": o.place,
                "passed": o.passed,
                "problem": o.problem,
                "why_not": _reason(o),
                "seconds": round(o.seconds, 6),
            }
            for o in outcomes
        ]
        sys.stdout.write(
            json.dumps(
                {"tests": table, "passed": len(outcomes) - len(failed), "failed": len(failed)}, indent=2
            )
            + "\n"
        )
    elif options.format == "junit":
        lines = [
            '<?xml version="1.0" encoding="utf-8"?>',
            f'<testsuite name="gslang" tests="{len(outcomes)}" failures="{len(failed)}">',
        ]
        for o in outcomes:
            head = (
                f'  <testcase classname={quoteattr(o.rule)} name={quoteattr(o.title)} time="{o.seconds:.6f}"'
            )
            lines.append(
                head + "/>" if o.passed
                else (
                    f"{head}><failure "
                    f"message={quoteattr(chr(10).join([o.problem or '', *_explained(o)]))}/></testcase>"
                )
            )
        sys.stdout.write("\n".join([*lines, "</testsuite>", ""]))
    else:
        paint = painter(options, sys.stdout)
        for o in failed:
            sys.stdout.write("".join(
                f"{line}\n"
                for line in [
                    f"{paint('bad', 'FAILED')} {o.place}: {o.rule}: {o.title}", f"  {o.problem}",
                    *_explained(o),
                ]
            ))
        passed, lost = f"{len(outcomes) - len(failed)} passed", f"{len(failed)} failed"
        sys.stdout.write(f"{paint('good', passed)}, {paint('bad', lost) if failed else lost}\n")
    return ExitCode.FINDINGS if failed else ExitCode.FINE


def _explained(outcome: Outcome) -> list[str]:
    """Why the rule did not apply, as indented lines."""
    from gslang.cli.miss_text import miss_lines

    return [] if outcome.miss is None else [f"  {line}" for line in miss_lines(outcome.miss, outcome.at)]


def _reason(outcome: Outcome) -> dict[str, object] | None:
    from gslang.cli.miss_text import miss_data

    miss = outcome.miss
    if miss is None:
        return None
    return {
        "node": outcome.at or None,
        **miss_data(miss),
    }

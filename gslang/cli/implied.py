"""Decide whether rules follow from others, and how: gslc implied RULES.gsl[#name] --by OTHERS.gsl

A rule is implied if, on several instances, rewriting with the other rules in both directions leads from its
source to its target. A rule is never used in its own derivation, so RULES may be among the OTHERS.

Exit codes: 0 all rules are implied; 1 some are not, or a rule file has errors; 2 usage error; 3 a file cannot
be used.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from gslang.base.json_text import json_text
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.option_types import natural, positive
from gslang.cli.shared import check_names, load_rules, show_findings

if TYPE_CHECKING:
    from gslang.check.checked import CheckedRule
    from gslang.discover.implied import Implied


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", nargs="+", help=".gsl files, folders, or shipped modules; `FILE#NAME` is one rule"
    )
    parser.add_argument(
        "--by", action="append", required=True, metavar="RULES",
        help="rules that may imply them: a file with its imports, a folder, a module (may be repeated)",
    )
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument(
        "--instances", type=positive, default=6, metavar="N", help="number of instances to derive (6)"
    )
    parser.add_argument(
        "--nodes",
        type=positive,
        default=2000,
        metavar="N",
        help="limit on the number of e-nodes for each (2000)"
    )
    parser.add_argument(
        "--rounds", type=positive, default=8, metavar="N", help="limit on the number of rounds for each (8)"
    )
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the instances (0)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(options: argparse.Namespace) -> int:
    asked = _asked(options)
    others = load_rules(options.by)
    if show_findings(others, options):
        return ExitCode.FINDINGS
    from gslang.check.limits import counted_work
    from gslang.discover.implied import NO_INSTANCE, Settings, implied, with_fewer_attempts

    by = list(others.known.values())
    settings = Settings(options.instances, options.nodes, options.rounds, options.seed)
    answers: list[tuple[CheckedRule, Implied]] = []
    in_vain = 0
    with counted_work(len(asked)):
        for rule in asked:
            answer = implied(rule, by, with_fewer_attempts(settings, in_vain))
            in_vain += answer.reason == NO_INSTANCE
            answers.append((rule, answer))
    if options.format == "json":
        sys.stdout.write(json_text({"rules": [_as_data(rule, answer) for rule, answer in answers]}))
    else:
        sys.stdout.write("".join(_as_text(rule, answer) for rule, answer in answers))
        sys.stdout.write(f"{sum(answer.implied for _, answer in answers)} of {len(answers)} rules implied\n")
    return ExitCode.FINE if all(answer.implied for _, answer in answers) else ExitCode.FINDINGS


def _asked(options: argparse.Namespace) -> list[CheckedRule]:
    """The rules that are asked for. Raises `Refusal` if there is an error in their files or no such rule."""
    found: list[CheckedRule] = []
    known: list[str] = []
    for given in options.rules:
        file, _, name = given.partition("#")
        rules = load_rules([file])
        if show_findings(rules, options):
            raise Refusal(code=ExitCode.FINDINGS)
        if wrong := check_names([name] if name else [], "rule", list(rules.own)):
            raise Refusal(wrong)
        known += rules.own
        found += [
            rules.known[own]
            for own in rules.own if (own == name if name else not options.rule or own in options.rule)
        ]
    missing = next((name for name in options.rule or () if name not in known), None)
    if missing is not None:
        from gslang.base.suggest import did_you_mean

        guess = did_you_mean(missing, known)
        raise Refusal(
            f"gslc: unknown rule `{missing}`\n" + (f"  help: did you mean `{guess}`?\n" if guess else "")
        )
    return found


def _as_text(rule: CheckedRule, answer: Implied) -> str:
    from gslang.discover.implied import defaults_of
    from gslang.search.explained import written

    lines = [f"{answer.rule}: {'implied' if answer.implied else 'not implied'}, {answer.reason}"]
    defaults = defaults_of(rule.dialect)
    for derivation in answer.derivations:
        lines.append(f"    {written(derivation.start, defaults)}")
        lines += [
            f"  = {written(step.after, defaults)}    {'by' if step.forward else 'backwards by'} `{step.rule}`"
            for step in derivation.steps
        ]
    return "\n".join(lines) + "\n"


def _as_data(rule: CheckedRule, answer: Implied) -> dict[str, object]:
    from gslang.discover.implied import defaults_of
    from gslang.search.explained import written

    defaults = defaults_of(rule.dialect)
    return {
        "rule": answer.rule,
        "implied": answer.implied,
        "reason": answer.reason,
        "instances": answer.instances,
        "by": list(answer.rules),
        "forward": answer.forward,
        "derivations": [
            {
                "start": written(derivation.start, defaults),
                "steps": [
                    {"rule": s.rule, "forward": s.forward, "term": written(s.after, defaults)}
                    for s in derivation.steps
                ],
            }
            for derivation in answer.derivations
        ],
    }

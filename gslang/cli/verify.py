"""Judge rules by their meaning: gslc verify rules.gsl

Exit codes: 0 fine; 1 a rule is refuted, or less than --require asks for; 2 usage; 3 a file cannot be used.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING

from gslang.cli.main import ExitCode
from gslang.cli.option_types import natural, positive
from gslang.cli.shared import add_define_option, defines_of, load_rules
from gslang.cli.usable_rules import add_extern_option, runnable, usable_rules

if TYPE_CHECKING:
    from gslang.api import RuleSet
    from gslang.verify.verdict import Settings, Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_define_option(parser)
    parser.add_argument("rules", nargs="+", help=".gsl files, folders, or shipped modules")
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument("--require", choices=("changes", "tested", "exact", "proved"), default=None, help="exit with 1 unless every rule is at least this; `changes`: equal, or marked `@changes`")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="the most processor time for one rule (10)")
    parser.add_argument("--instances", type=positive, default=24, metavar="N", help="how many instances to look at (24)")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="of the instances and values (0)")
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--strict-special", action="store_true", help="differences in NaN and infinities refute, too")
    parser.add_argument("--format", choices=("text", "json", "sarif", "junit", "markdown"), default="text")
    parser.add_argument("--explain", action="store_true", help="below each proved rule: the laws that its proof used (text)")
    add_extern_option(parser)


def run(options: argparse.Namespace) -> int:
    rules = usable_rules(options.rules, options)
    if isinstance(rules, ExitCode):
        return rules
    from gslang.verify.report import FORMATS, as_text
    from gslang.verify.verdict import ORDER, Settings

    names = options.rule or list(rules.own)
    settings = Settings(options.seconds, options.seed, options.instances, options.strict_special)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        verdicts = _verdicts(options, rules, names, settings)
    judged = {name: rules.known[name] for name in names}
    sys.stdout.write(as_text(verdicts, judged, options.explain) if options.format == "text" else FORMATS[options.format](verdicts, judged))
    least = ORDER.index(options.require) if options.require else ORDER.index("unknown")
    return ExitCode.FINDINGS if any(ORDER.index(v.verdict) < least for v in verdicts) else ExitCode.FINE


def _verdicts(options: argparse.Namespace, rules: RuleSet, names: list[str], settings: Settings) -> list[Verdict]:
    from gslang.verify.verdict import verify

    if options.jobs <= 1 or len(names) < 2 or "-" in options.rules:
        return [verify(rules.known[name], settings, rules.programs) for name in names]
    from gslang.base.processes import processes

    with processes(options.jobs) as pool:
        return list(pool.map(_one, [(tuple(options.rules), json.dumps(defines_of(options)), options.allow_extern, name, settings) for name in names]))


@cache
def _loaded(files: tuple[str, ...], defines: str, allow_extern: bool) -> RuleSet:
    return runnable(load_rules(files, defines=json.loads(defines)), allow_extern)


def _one(task: tuple[tuple[str, ...], str, bool, str, Settings]) -> Verdict:
    """In a process of its own: the rules are loaded again there, their dialects hold functions."""
    from gslang.verify.verdict import verify

    warnings.simplefilter("ignore", RuntimeWarning)
    files, defines, allow_extern, name, settings = task
    rules = _loaded(files, defines, allow_extern)
    return verify(rules.known[name], settings, rules.programs)

"""Prove rules, or find counterexamples: gslc verify rules.gsl

Exit codes: 0 success; 1 a rule is refuted, weaker than --require, or proved without a certificate although
--certificate is given; 2 usage error; 3 a file cannot be used.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.many import add_cluster_option
from gslang.cli.option_types import add_seconds_option, allowance_of, natural, positive
from gslang.cli.paint import painter
from gslang.cli.shared import add_define_option, defines_of, load_rules
from gslang.cli.usable_rules import add_extern_option, options_about, runnable, usable_rules

if TYPE_CHECKING:
    from gslang.api import RuleSet
    from gslang.base.deadline import Allowance
    from gslang.check.checked import CheckedRule
    from gslang.verify.verdict import Settings, Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_define_option(parser)
    parser.add_argument("rules", nargs="*", help=".gsl files, folders, or shipped modules")
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument(
        "--require", choices=("changes", "tested", "exact", "proved"), default=None,
        help="exit with 1 if a verdict is weaker than this; `changes`: equal, or marked `@changes`",
    )
    add_seconds_option(parser, "rule")
    parser.add_argument(
        "--instances", type=positive, default=24, metavar="N", help="number of instances to check (24)"
    )
    parser.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="seed of the instances and values (0)"
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="number of processes (1)")
    add_cluster_option(parser)
    parser.add_argument(
        "--strict-special", action="store_true", help="treat differences in NaN and infinities as refutations"
    )
    parser.add_argument("--format", choices=("text", "json", "sarif", "junit", "markdown"), default="text")
    parser.add_argument(
        "--explain", action="store_true",
        help="list the laws that each proof used, or why there is no proof (text)",
    )
    parser.add_argument(
        "--certificate", metavar="DIR",
        help="write the proof of each proved rule to DIR: its cases and steps",
    )
    parser.add_argument(
        "--recheck", metavar="DIR",
        help="check the certificates in DIR with an independent checker; given rules, accept only "
        "certificates for these",
    )
    add_extern_option(parser)


def run(options: argparse.Namespace) -> int:
    if not options.rules and options.recheck is None:
        raise Refusal(
            "gslc verify: no rules are given\n  help: give .gsl files, folders or shipped modules, or "
            "certificates with --recheck DIR\n"
        )
    if not options.rules:
        return _recheck(options.recheck, {})
    rules = usable_rules(options.rules, options)
    if options.recheck is not None:
        return _recheck(options.recheck, rules.known)
    if options.certificate is not None:
        _folder(options.certificate)
    from gslang.verify.report import FORMATS
    from gslang.verify.verdict import ORDER, Settings
    from gslang.verify.verdict_text import Layout, counts_line

    _collect_seldom()
    names = options.rule or list(rules.own)
    allowance = allowance_of(options, len(names))
    settings = Settings(allowance.seconds, options.seed, options.instances, options.strict_special)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        verdicts, layout = [], Layout(names, painter(options, sys.stdout))
        for verdict in _verdicts(options, rules, names, settings, allowance):
            verdicts.append(verdict)
            if options.format == "text":  # each as soon as it is known
                rule, given = rules.known[verdict.rule], options_about(rules, verdict.rule, options)
                sys.stdout.write(layout.verdict(verdict, rule, options.explain, given))
                sys.stdout.flush()
    judged = {name: rules.known[name] for name in names}
    sys.stdout.write(
        counts_line(verdicts) if options.format == "text" else FORMATS[options.format](verdicts, judged)
    )
    least = ORDER.index(options.require) if options.require else ORDER.index("unknown")
    short = any(v.uncertified or ORDER.index(v.verdict) < least for v in verdicts)
    return ExitCode.FINDINGS if short else ExitCode.FINE


def _collect_seldom() -> None:
    """Proofs and instances make many small objects and hardly a circle: looking for some takes time."""
    gc.set_threshold(200_000, 50, 100)


def _folder(name: str) -> None:
    """Makes a folder for certificates. Raises `InputError`."""
    with file_errors(name, "cannot be written"):
        Path(name).mkdir(parents=True, exist_ok=True)


def _recheck(name: str, rules: Mapping[str, CheckedRule]) -> int:
    """Check certificates again. Raises `InputError` if there are none."""
    from gslang.verify.certificates import recheck

    folder = Path(name)
    if not folder.is_dir():
        raise InputError(
            "no such folder" if not folder.exists() else "not a folder", path=name,
            help="`gslc verify RULES --certificate DIR` writes certificates",
        )
    with file_errors(name, "cannot be read"):
        good, refused = recheck(folder, rules)
    if not good and not refused:
        raise InputError(
            "no certificates found", path=name, help="`gslc verify RULES --certificate DIR` writes them"
        )
    for c in good:
        counts = ", ".join(f"{count} {what}" for what, count in c.counts.items() if count)
        print(f"checked  {c.rule}  {c.claim}: {counts}")
    for path, why in refused:
        print(f"refused  {path}  {why}")
    print(f"{len(good)} checked, {len(refused)} refused")
    return ExitCode.FINDINGS if refused else ExitCode.FINE


def _verdicts(
    options: argparse.Namespace,
    rules: RuleSet,
    names: list[str],
    settings: Settings,
    allowance: Allowance,
) -> Iterator[Verdict]:
    """Verdicts in the order of the names. In processes of their own all rules have the same time."""
    if options.cluster and "-" in options.rules:
        raise InputError(
            "rules from standard input cannot go to a cluster", path="-", help="write the rules to a file"
        )
    from gslang.verify.own_tests import has_tests
    from gslang.verify.verdict import holds, is_settled, no_time_for

    if not options.cluster and (options.jobs <= 1 or len(names) < 2) or "-" in options.rules:
        for name in names:

            def judge(seconds: float, name: str = name) -> Verdict:
                return _judge(rules, name, replace(settings, seconds=seconds), options.certificate)

            rule = rules.known[name]
            whole = has_tests(rule, rules.programs)
            yield allowance.spend(judge, holds if whole else is_settled, whole) or no_time_for(rule)
        return
    from gslang.base.processes import workers

    files = tuple(options.rules), json.dumps(defines_of(options)), options.allow_extern
    _LOADED[files] = rules  # for processes that begin as copies of this one
    with workers(options.jobs, options.cluster) as pool:
        yield from pool.map(_one, [(files, name, settings, options.certificate) for name in names])


def _judge(rules: RuleSet, name: str, settings: Settings, certificates: str | None) -> Verdict:
    """The verdict on a rule, with its certificate where one is asked for. Raises `InputError`."""
    from gslang.verify.verdict import verify

    verdict = verify(rules.known[name], settings, rules.programs)
    if certificates is not None:
        from gslang.verify.certificates import certified

        with file_errors(certificates, "cannot be written"):
            return certified(rules.known[name], verdict, settings, Path(certificates))
    return verdict


_Files = tuple[tuple[str, ...], str, bool]  # names, the definitions given for them, and `--allow-extern`
_LOADED: dict[_Files, RuleSet] = {}


def _one(task: tuple[_Files, str, Settings, str | None]) -> Verdict:
    """In a process of its own: where it has not begun with the rules, they are loaded again, since their
    dialects hold functions."""
    warnings.simplefilter("ignore", RuntimeWarning)
    _collect_seldom()
    files, name, settings, certificates = task
    if files not in _LOADED:
        names, defines, allow_extern = files
        _LOADED[files] = runnable(load_rules(names, defines=json.loads(defines)), allow_extern)
    return _judge(_LOADED[files], name, settings, certificates)

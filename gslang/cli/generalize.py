"""Find the conditions under which a rule holds: gslc generalize rules.gsl [RULE]...

Prints each rule with fixed attributes left open where possible, with copied attributes, and with the weakest
side conditions found, and its verdict.

Exit codes: 0 success; 1 no conditions were found for some rule; 2 usage error; 3 a file cannot be used.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.cli.main import ExitCode, Refusal
from gslang.cli.option_types import add_inference_options, allowance_of
from gslang.cli.refusals import outputs_conflict
from gslang.cli.shared import add_define_option, defines_of, load_rules
from gslang.cli.usable_rules import add_extern_option, usable

if TYPE_CHECKING:
    from gslang.api import RuleSet
    from gslang.base.source import Source
    from gslang.generalize.generalized import Generalized


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", metavar="RULES", help="a .gsl file, a folder, `-`, or a shipped module")
    parser.add_argument("rule", nargs="*", metavar="RULE", help="names of rules in the file (all)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write a rule file with the rules found and their dependencies"
    )
    parser.add_argument(
        "--no-lift", action="store_true", help="only add conditions; do not generalize fixed attributes"
    )
    add_inference_options(parser, "rule")
    add_define_option(parser)
    add_extern_option(parser)


def _completed(
    rules: RuleSet, options: argparse.Namespace
) -> tuple[RuleSet | None, Mapping[str, tuple[str, ...]]]:
    """The rules of a file whose targets leave out required attributes, which their sources have, and what was
    copied; None for others, and where there are other errors.
    """
    from gslang.api import RuleError, parse_rules
    from gslang.generalize.complete import completed

    if not Path(options.rules).is_file():
        return None, {}
    try:
        source, copied = completed(rules.diagnostics)
        new = None if source is None else parse_rules(
            source.text, source.name, allow_extern=options.allow_extern, defines=defines_of(options)
        )
    except RuleError:
        return None, {}
    return (new if new is not None and set(options.rule or ()) <= set(new.known) else None), copied


def run(options: argparse.Namespace) -> int:
    if options.output == "-":
        raise Refusal(
            "gslc generalize: the rules must be written to a file\n  help: -o found.gsl, or remove -o\n"
        )
    if wrong := outputs_conflict(
        {"the rule file": options.output}, {"the input rules": options.rules}
    ):
        raise Refusal(f"gslc generalize: {wrong}")
    options.rule = options.rule or None
    defines = defines_of(options)
    loaded = load_rules([options.rules], defines=defines)
    rules, copied = _completed(loaded, options)
    if rules is None:
        rules = usable(loaded, options)
    from gslang.base.diagnostics import InputError
    from gslang.generalize.checking import Checking
    from gslang.generalize.draft import NoDraft
    from gslang.generalize.refine import Settings, generalize, no_time
    from gslang.generalize.report import FORMATS

    if not rules.own and not options.rule:
        raise InputError("no rules found", path=options.rules)
    names, checking = options.rule or list(rules.own), Checking(defines, options.allow_extern)
    allowance = allowance_of(options, len(names))
    found: list[Generalized] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        for name in names:

            def general(seconds: float, name: str = name) -> Generalized:
                settings = Settings(seconds, options.seed, options.instances, not options.no_lift, checking)
                return generalize(rules.known[name], settings)

            try:
                one = allowance.spend(general, lambda found: found.answers) or no_time(rules.known[name])
            except NoDraft as problem:
                raise InputError(f"rule `{name}`: {problem}", path=options.rules) from None
            found.append(replace(one, lifted=(*copied.get(name, ()), *one.lifted)))
            if sys.stderr.isatty():
                sys.stderr.write(f"{len(found)} of {len(names)}: {name}\n")
    sys.stdout.write(FORMATS[options.format](found))
    if options.output and all(g.text is None for g in found):
        sys.stderr.write(f"no rule was found: {options.output} is not written\n")
    elif options.output:
        _write(options.output, {rules.known[g.name].span.source for g in found}, found)
    return ExitCode.FINDINGS if any(g.text is None for g in found) else ExitCode.FINE


def _write(path: str, sources: AbstractSet[Source], found: Sequence[Generalized]) -> None:
    """Write the rules that were found in place of those of their file. Raises `InputError`."""
    from gslang.base.atomic_write import write_text
    from gslang.base.diagnostics import InputError
    from gslang.base.file_errors import file_errors
    from gslang.generalize.report import rule_file

    if len(sources) > 1:
        raise InputError(
            "rules of several files cannot be written to one", path=path, help="name the rules of one file"
        )
    with file_errors(path, "cannot be written"):
        write_text(path, rule_file(next(iter(sources)), found))

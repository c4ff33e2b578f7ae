"""The rules that a verb works with: loaded, without errors, and with the names that its options ask for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gslang.check.checked import called, families
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.shared import check_names, defines_of, load_rules, show_findings

if TYPE_CHECKING:
    from gslang.api import RuleSet


def add_extern_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-extern", action="store_true",
        help="import the Python functions that rules name with `@extern`",
    )


def options_about(rules: RuleSet, name: str, options: argparse.Namespace) -> list[str]:
    """The options that a rule was given its meaning with, for another command: values of its parameters, and
    `--allow-extern`.
    """
    parameters = {key for program in rules.programs if name in program.rules for key in program.parameters}
    defines = [given for given in options.define if given.partition("=")[0] in parameters]
    allowed = ["--allow-extern"] if options.allow_extern and rules.known[name].externs else []
    return [*(part for given in defines for part in ("--define", given)), *allowed]


def runnable(rules: RuleSet, allow_extern: bool) -> RuleSet:
    """The rules with what their `@extern` functions name: the functions, or what refuses to call them.

    Raises `InputError`.
    """
    from gslang.api import RuleSet
    from gslang.engine.externs import with_externs

    return RuleSet(tuple(with_externs(program, allow_extern) for program in rules.programs))


def usable_rules(files: Sequence[str], options: argparse.Namespace) -> RuleSet:
    """The rules of files, folders, modules or `-`. Raises `Refusal` if a verb cannot go on with them: there
    are findings, which are written to stderr, or names of rules or passes that do not exist (`--rule`,
    `--skip`, `--pass`, as far as the verb has them).

    Raises `InputError` for files that cannot be read.
    """
    return usable(load_rules(files, defines=defines_of(options)), options)


def usable(rules: RuleSet, options: argparse.Namespace) -> RuleSet:
    """The same of rules that are loaded. Raises `InputError` for `@extern` functions that do not exist."""
    if show_findings(rules, options):
        raise Refusal(code=ExitCode.FINDINGS)
    rules = runnable(rules, options.allow_extern)
    asked = [*(options.rule or ()), *getattr(options, "skip", ())]
    pass_name: str | None = getattr(options, "pass_name", None)
    wrong = check_names(asked, "rule", [*rules.known, *families(rules.known)]) or check_names(
        [pass_name] if pass_name else [], "pass", list(rules.passes)
    )
    if not wrong and options.rule and set(options.rule) <= set(getattr(options, "skip", ())):
        wrong = "gslc: no rule is left: each of those with --rule is skipped\n"
    if wrong:
        raise Refusal(wrong)
    for name in ("rule", "skip"):  # a family stands for its rules
        if getattr(options, name, None):
            setattr(
                options, name,
                [rule for given in getattr(options, name) for rule in called(rules.known, given)],
            )
    return rules

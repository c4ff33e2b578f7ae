"""Translate rules of other tools: gslc import taso graph_subst.json -o rules/

`taso` reads the substitutions of TASO's generator as JSON, and writes `taso.gsl` (rules `taso_000` …) and
`operators.gsl` into a folder. `onnxsim` reads pairs of ONNX functions, as text or protobuf, and `tensat` the
rules of Tensat; both write one rule file. Each rule gets a verdict. A refuted rule is completed by the
missing conditions (`gslc generalize`), or omitted if no conditions are found.

Exit codes: 0 success; 1 a rule is rejected, or refuted and not repaired; 2 usage error; 3 a file cannot be
used.
"""

from __future__ import annotations

import argparse
import sys

from gslang.cli.main import ExitCode, Refusal
from gslang.cli.option_types import add_seconds_option, allowance_of, natural
from gslang.cli.refusals import outputs_conflict
from gslang.cli.text_output import write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("taso", "onnxsim", "tensat"), help="the format of the file")
    parser.add_argument("file", help="the file to translate")
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="the rule file (stdout); for taso a folder, created if missing"
    )
    parser.add_argument(
        "--with-conditions", action="store_true",
        help="taso: add the conditions under which the substitutions hold",
    )
    parser.add_argument(
        "--as-written", action="store_true", help="onnxsim, tensat: only translate, without verdicts"
    )
    add_seconds_option(parser, "rule")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the instances (0)")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the report on the rules"
    )


def run(options: argparse.Namespace) -> int:
    if options.kind == "taso":
        return _taso(options)
    if options.with_conditions:
        raise Refusal(
            f"gslc import {options.kind}: --with-conditions is for taso\n"
            "  help: conditions are found unless --as-written is given\n"
        )
    from gslang.generalize.refine import Settings
    from gslang.hosts.judged import FORMATS, Given, as_written, judge_all, rule_file

    if wrong := outputs_conflict(
        {"the rule file": options.output}, {"the input rules": options.file}
    ):
        raise Refusal(f"gslc import {options.kind}: {wrong}")
    given: list[Given]
    if options.kind == "tensat":
        from gslang.hosts.tensat import read_tensat

        given, head = read_tensat(options.file)
    else:
        from gslang.dialect.load import load_dialect, require_inference
        from gslang.hosts.function_rule import NotSayable, rule_of
        from gslang.hosts.pairs import read_pairs

        pairs, head, given = read_pairs(options.file), "dialect onnx;\n\n", []
        dialect = load_dialect("onnx")
        require_inference(dialect)
        for pair in pairs:
            try:
                given.append(Given(pair.name, pair.place, rule_of(pair, dialect)))
            except NotSayable as problem:
                given.append(Given(pair.name, pair.place, "", str(problem)))

    def tell(line: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"{line}\n")

    found = (
        as_written(given, head) if options.as_written
        else judge_all(
            given, head, Settings(seed=options.seed), allowance_of(options, len(given)), tell
        )
    )
    text = rule_file(found, f"Rules of {options.kind}, from {_name(options.file)}.", head)
    report = FORMATS[options.format](found)
    if options.output in (None, "-"):
        sys.stdout.write(text if options.format == "text" else report)
        sys.stderr.write(report if options.format == "text" else "")
    else:
        if any(one.text for one in found):
            write_output(text, options.output)
        else:
            sys.stderr.write(f"no rule holds: {options.output} is not written\n")
        sys.stdout.write(report)
    return ExitCode.FINE if all(one.text for one in found) else ExitCode.FINDINGS


def _name(path: str) -> str:
    from pathlib import Path

    return Path(path).name


def _taso(options: argparse.Namespace) -> int:
    if options.output in (None, "-"):
        raise Refusal("gslc import taso: no output folder\n  help: give one, -o rules\n")
    from gslang.taso.read import read_substitutions
    from gslang.taso.write import write_rules

    rules = read_substitutions(options.file)
    files = write_rules(rules, options.file, options.output, options.with_conditions)
    count = f"{len(rules)} rule{'s' * (len(rules) != 1)}"
    sys.stderr.write(f"{count}: {', '.join(map(str, files))}\n")
    return ExitCode.FINE

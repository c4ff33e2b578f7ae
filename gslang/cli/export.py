"""Write rules for other tools: gslc export onnxscript rules.gsl -o rules.py

`onnxsim` reads pairs of ONNX functions: text, or a model that contains them if OUT ends in .onnx or .pb.
`onnxscript` reads a Python module. Both match calls and attributes only: a rule with conditions that the tool
cannot express is skipped, with the reason, and the others are written.

Exit codes: 0 all rules were written; 1 some were skipped, or a file has errors; 2 usage error; 3 a file
cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gslang.base.file_errors import file_errors
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.refusals import outputs_conflict
from gslang.cli.shared import add_define_option, defines_of, load_rules, show_findings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("onnxsim", "onnxscript"), help="the tool to export to")
    parser.add_argument("rules", nargs="+", metavar="RULES", help="rule files, folders, or shipped modules")
    parser.add_argument(
        "--rule", action="append", default=[], metavar="NAME", help="export only this rule (may be repeated)"
    )
    add_define_option(parser)
    parser.add_argument("-o", "--output", metavar="OUT", help="output file (stdout)")


def run(options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean
    from gslang.check.checked import called
    from gslang.hosts.sayable import Plain, Refused, plain

    if wrong := outputs_conflict(
        {"the output": options.output}, {f"the rules in {name}": name for name in options.rules}
    ):
        raise Refusal(f"gslc export: {wrong}")
    rules = load_rules(options.rules, defines=defines_of(options))
    if show_findings(rules, options):
        return ExitCode.FINDINGS
    names = list(rules.own)
    for name in options.rule:
        if not called(rules.known, name):
            guess = did_you_mean(name, rules.known)
            raise Refusal(
                f"gslc export: unknown rule `{name}`\n"
                + (f"  help: did you mean `{guess}`?\n" if guess else "")
            )
    names = [own for name in options.rule for own in called(rules.known, name)] or names
    made: list[Plain] = []
    for name in names:
        try:
            made.append(plain(rules.known[name]))
        except Refused as why:
            sys.stderr.write(f"refused {name}: {why}\n")
    if not made:
        sys.stderr.write(f"none of {len(names)} rules can be expressed for {options.kind}\n")
        return ExitCode.FINDINGS
    if options.kind == "onnxscript":
        from gslang.hosts.write_onnxscript import as_module

        data = as_module(made)
    else:
        from gslang.dialect.load import load_dialect, require_inference
        from gslang.hosts.write_onnxsim import as_protobuf, as_text

        require_inference(load_dialect("onnx"))
        data = as_protobuf(made) if Path(options.output or "").suffix in (".onnx", ".pb") else as_text(made)
    if options.output in (None, "-"):
        sys.stdout.write(data.decode())
    else:
        from gslang.base.atomic_write import write_atomically

        with file_errors(options.output, "cannot be written"):
            write_atomically(options.output, lambda stream: stream.write(data))
        sys.stderr.write(f"{len(made)} of {len(names)} rules\n")
    return ExitCode.FINE if len(made) == len(names) else ExitCode.FINDINGS

"""Explain a diagnostic code or a rule: gslc explain E0401, gslc explain conv_mul"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.cli.main import ExitCode

if TYPE_CHECKING:
    from gslang.check.checked import CheckedProgram


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help="a code such as E0401, or the name of a shipped rule")


def run(options: argparse.Namespace) -> int:
    from gslang.base.codes import CODES
    from gslang.base.suggest import did_you_mean
    from gslang.lint.codes import LINTS

    code = options.what.upper()
    if code in CODES or code in LINTS:
        page = Path(__file__).parent.parent / ("check" if code in CODES else "lint") / "explain" / f"{code}.md"
        title = CODES[code].title if code in CODES else LINTS[code].title
        sys.stdout.write(page.read_text(encoding="utf-8") if page.is_file() else f"# {code}: {title}\n")
        return ExitCode.FINE
    from gslang.check.modules import load_module

    shipped: dict[str, CheckedProgram] = {}
    for module in ("std.relay", "std.onnx", "std.onnxruntime"):
        if options.what not in shipped:
            shipped |= {name: program for program in load_module(module) for name in program.own_rules if name not in shipped}
    if options.what in shipped:
        program = shipped[options.what]
        rule = program.rules[options.what]
        source = rule.span.source.text
        start = source.rfind("rule", 0, rule.span.start)
        end = source.find("\n\n", rule.span.start)
        if rule.doc:
            sys.stdout.write("".join(f"## {line}\n" for line in rule.doc.splitlines()))
        sys.stdout.write(source[start : end if end >= 0 else len(source)].rstrip() + "\n")
        return ExitCode.FINE
    guess = did_you_mean(options.what, [*CODES, *LINTS, *shipped])
    help = f"did you mean `{guess}`?" if guess else "codes look like E0401; docs/rules.md lists the shipped rules"
    sys.stderr.write(f"gslc explain: `{options.what}` is neither a code nor a shipped rule\n  help: {help}\n")
    return ExitCode.USAGE

"""List operators and their signatures: gslc ops, gslc ops nn.conv2d"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from gslang.cli.main import ExitCode

if TYPE_CHECKING:
    from gslang.dialect.signature import Signature


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("operator", nargs="?", help="one operator")
    parser.add_argument("--dialect", default="relay", metavar="NAME", help="relay")


def run(options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean
    from gslang.dialect.load import dialect_names, load_dialect

    if options.dialect not in dialect_names():
        sys.stderr.write(f"gslc ops: there is no dialect `{options.dialect}`\n  help: dialects: {', '.join(dialect_names())}\n")
        return ExitCode.USAGE
    operators = load_dialect(options.dialect).operators
    if options.operator is None:
        for name in sorted(operators):
            sys.stdout.write(show(operators[name]) + "\n")
        return ExitCode.FINE
    if options.operator not in operators:
        guess = did_you_mean(options.operator, operators)
        sys.stderr.write(f"gslc ops: there is no operator `{options.operator}`\n" + (f"  help: did you mean `{guess}`?\n" if guess else ""))
        return ExitCode.USAGE
    sys.stdout.write(show(operators[options.operator]) + "\n")
    return ExitCode.FINE


def show(signature: Signature) -> str:
    """The declaration of an operator, as in a rule file."""
    parts = [f"{'*' * o.variadic}{o.name}: {o.kind}{'?' * o.optional}" for o in signature.operands]
    for spec in signature.attributes.values():
        default = f" = {_value(spec.default)}" if spec.name in signature.defaults else ""
        parts.append(f"{spec.name}: {' | '.join(map(str, spec.types))}{default}")
    results = signature.results if isinstance(signature.results, str) else f"({', '.join(signature.results)})"
    traits = f" is {', '.join(sorted(signature.traits))}" if signature.traits else ""
    return f"op {signature.name}({', '.join(parts)}) -> {results}{traits};"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_value, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, str):
        return f'"{value}"'
    return {None: "none", True: "true", False: "false"}.get(value, repr(value)) if not isinstance(value, (int, float)) or isinstance(value, bool) else repr(value)

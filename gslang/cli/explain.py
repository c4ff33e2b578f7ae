"""Explain a diagnostic code or a rule: gslc explain E0401, gslc explain conv_mul,
gslc explain my_rule mine.gsl

A rule is shown with its documentation, its annotations and its tests. Rules of a file come first, then the
shipped rules of the file's dialect; without a file, those of all dialects.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.cli.main import ExitCode, Refusal
from gslang.cli.shared import add_define_option, defines_of, load_rules, show_findings

if TYPE_CHECKING:
    from gslang.check.checked import CheckedProgram

SHIPPED = {"relay": ("std.relay",), "onnx": ("std.onnx", "std.onnxruntime")}  # by dialect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_define_option(parser)
    parser.add_argument("what", help="a code such as E0401, or the name of a rule")
    parser.add_argument("file", nargs="?", help="a .gsl file, a folder or a module with the rule")


def run(options: argparse.Namespace) -> int:
    from gslang.base.codes import CODES
    from gslang.base.suggest import did_you_mean
    from gslang.check.modules import load_module
    from gslang.lint.codes import LINTS

    code = options.what.upper()
    if code in CODES or code in LINTS:
        page = (
            Path(__file__).parent.parent / ("check" if code in CODES else "lint") / "explain" / f"{code}.md"
        )
        title = CODES[code].title if code in CODES else LINTS[code].title
        sys.stdout.write(page.read_text(encoding="utf-8") if page.is_file() else f"# {code}: {title}\n")
        return ExitCode.FINE
    own = load_rules([options.file], defines=defines_of(options)) if options.file is not None else None
    modules = [
        name
        for dialect, names in SHIPPED.items() if own is None or own.dialect.name == dialect
        for name in names
    ]
    shown = [] if own is None else _shown(own.programs, options.what)
    if not shown:  # shipped rules are loaded only then, and where they may have this name
        if own is not None and show_findings(own, options):
            return ExitCode.FINDINGS
        shipped = (load_module(name) for name in modules if _may_have(name, options.what))
        shown = list(dict.fromkeys(text for found in shipped for text in _shown(found, options.what)))
    if shown:
        sys.stdout.write("\n".join(shown))
        return ExitCode.FINE
    mine = () if own is None else own.known
    guess = did_you_mean(options.what, [*CODES, *LINTS, *mine, *(n for m in modules for n in _names_in(m))])
    guess = guess or did_you_mean(options.what.upper(), CODES)
    help = (
        f"did you mean `{guess}`?" if guess
        else (
            "codes look like E0401; docs/rules.md lists the shipped rules, `gslc explain NAME FILE` explains "
            "those of a file"
        )
    )
    where = "a shipped rule" if own is None else f"a rule of {options.file} or of std.{own.dialect.name}"
    raise Refusal(f"gslc explain: `{options.what}` is neither a code nor {where}\n  help: {help}\n")


def _shown(programs: Iterable[CheckedProgram], name: str) -> list[str]:
    """The rule as each of the programs that have it shows it."""
    return list(dict.fromkeys(text for program in programs if (text := rule_with_tests(program, name))))


def _names_in(module: str) -> list[str]:
    """The names of the rules and families of a shipped module, without checking it."""
    from gslang.check.module_files import find_module

    texts = (path.read_text(encoding="utf-8") for path in find_module(module))
    return [name for text in texts for name in re.findall(r"^rule (\w+)", text, re.MULTILINE)]


def _may_have(module: str, rule: str) -> bool:
    """True if a rule may be of a shipped module; those of a family have names that begin with its name."""
    return any(map(rule.startswith, _names_in(module)))


def rule_with_tests(program: CheckedProgram, name: str) -> str:
    """A rule and its tests as their author wrote them, below a line that says where; "" if the program has no
    such rule.
    """
    from gslang.base.shown_file import shown_file
    from gslang.check.checked import Const
    from gslang.check.walks import walk
    from gslang.dialect.domain_text import value_text
    from gslang.syntax.item_texts import rule_text, test_texts

    meant = program.named(name)
    if not meant:
        return ""
    span, names = (
        meant[0].span,
        (
            meant[0].family or meant[0].name,
            *([rule.name for rule in meant] if meant[0].family == name else [name]),
        ),
    )
    parts = [rule_text(span.source, names[0]), *(text for _, text in test_texts(span.source, *names))]
    read = [
        value
        for rule in meant
        for value in walk((rule.nodes, rule.where, rule.lets, rule.blocks, rule.target))
        if isinstance(value, Const)
    ]
    values = {value.name: value_text(value.value) for value in read if value.name is not None}
    head = [
        f"# {shown_file(span.source.name)}, line {span.line_column[0]}",
        *(f"# with {name} = {text}" for name, text in values.items()),
    ]
    return "\n".join(["\n".join(head), *parts])

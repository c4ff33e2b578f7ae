"""The completions of the command line, read from the parsers of the verbs.

The scripts are generated from it.
"""

from __future__ import annotations

import argparse
import re
from enum import Enum

from gslang.base.quick_dataclass import dataclass
from gslang.cli.main import VERBS, verb_parser


class Kind(Enum):
    """The kind of a value."""

    WORDS = "one of some words"
    FILE = "any file"
    RULES = "a rule file, a folder or a shipped module"
    RULE_FILES = "a rule file or a folder"
    GRAPH = "a graph"
    RULE = "the name of a rule in the files of the command line"
    PASS = "the name of a pass in them"
    LINTS = "codes of lints"
    EXPLAINED = "a code or a shipped rule"
    OPERATOR = "the name of an operator"
    OTHER = "nothing that could be listed"


@dataclass(frozen=True, slots=True)
class Value:
    kind: Kind
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """`value` is None for a flag; `optional`: the value may be left out."""

    names: tuple[str, ...]
    help: str
    value: Value | None
    optional: bool
    repeats: bool


@dataclass(frozen=True, slots=True)
class Verb:
    """`repeats`: the last of `arguments` may be given several times."""

    name: str
    help: str
    options: tuple[Option, ...]
    arguments: tuple[Value, ...]
    repeats: bool


@dataclass(frozen=True, slots=True)
class Names:
    """The shipped names; a family of rules has one. Codes and lints have their titles."""

    modules: tuple[str, ...]
    rules: tuple[str, ...]
    passes: tuple[str, ...]
    operators: tuple[str, ...]
    codes: tuple[tuple[str, str], ...]
    lints: tuple[tuple[str, str], ...]


_DECLARED = re.compile(r"^[ \t]*(rule|pass)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_DESTINATIONS = {
    "rule": Kind.RULE,
    "skip": Kind.RULE,
    "pass_name": Kind.PASS,
    "select": Kind.LINTS,
    "ignore": Kind.LINTS,
    "what": Kind.EXPLAINED,
    "rules": Kind.RULES,
    "by": Kind.RULES,
    "files": Kind.RULE_FILES,
    "graph": Kind.GRAPH,
    "operator": Kind.OPERATOR,
}


def verbs() -> tuple[Verb, ...]:
    return tuple(_verb(name) for name in VERBS)


def _verb(name: str) -> Verb:
    _, parser = verb_parser(name)
    options: list[Option] = []
    arguments: list[Value] = []
    repeats = False
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        if action.option_strings:
            value = None if action.nargs == 0 else _value(action)
            text = " ".join((action.help or "").split()).replace("%%", "%")
            repeated = isinstance(action, argparse._AppendAction)
            options.append(Option(tuple(action.option_strings), text, value, action.nargs == "?", repeated))
        else:
            arguments.append(_value(action))
            repeats = action.nargs in ("+", "*")
    return Verb(name, VERBS[name], tuple(options), tuple(arguments), repeats)


def _value(action: argparse.Action) -> Value:
    from gslang.dialect.load import dialect_names
    from gslang.formats.registry import READABLE, WRITABLE

    if action.choices is not None:
        return Value(Kind.WORDS, tuple(map(str, action.choices)))
    match action.dest:
        case "input_format":
            return Value(Kind.WORDS, READABLE)
        case "output_format":
            return Value(Kind.WORDS, WRITABLE)
        case "dialect":
            return Value(Kind.WORDS, tuple(dialect_names()))
    if action.dest in _DESTINATIONS:
        return Value(_DESTINATIONS[action.dest])
    takes_file = action.metavar in ("FILE", "OUT") or not action.option_strings
    return Value(Kind.FILE if takes_file else Kind.OTHER)


def names() -> Names:
    """Names in what is shipped."""
    from gslang.base.codes import CODES
    from gslang.base.resources import stdlib_path
    from gslang.base.rule_files import rule_files
    from gslang.check.module_files import module_names
    from gslang.dialect.load import dialect_names, load_dialect
    from gslang.lint.codes import LINTS

    # From the texts, as the scripts read other files: checking all modules would take half a minute.
    texts = [path.read_text(encoding="utf-8") for path in rule_files(stdlib_path())]
    declared = [found for text in texts for found in _DECLARED.findall(text)]
    rules = {name for word, name in declared if word == "rule"}
    passes = {name for word, name in declared if word == "pass"}
    lints = tuple((code, info.title) for code, info in LINTS.items())
    codes = (*((code, info.title) for code, info in CODES.items()), *lints)
    operators = {name for dialect in dialect_names() for name in load_dialect(dialect).operators}
    return Names(
        tuple(module_names()), tuple(sorted(rules)), tuple(sorted(passes)), tuple(sorted(operators)), codes,
        lints,
    )

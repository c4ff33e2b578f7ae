"""Steps that several verbs share: load rules and graphs, show findings, colours."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gslang.base.decode import decoded
from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.base.read_file import read_bytes
from gslang.cli.main import Refusal
from gslang.cli.option_types import positive

if TYPE_CHECKING:
    from gslang.api import RuleSet
    from gslang.base.diagnostics import Diagnostic
    from gslang.base.source import Source
    from gslang.check.checked import CheckedProgram
    from gslang.graph.graph import Graph
    from gslang.syntax.parser import Parsed


_GRAPHS = (".json", ".relay", ".onnx")  # suffixes of what is often given in the place of rules


def colored(options: argparse.Namespace) -> bool:
    """True if diagnostics on stderr are coloured."""
    if options.color != "auto":
        return bool(options.color == "always")
    return sys.stderr.isatty() and "NO_COLOR" not in os.environ


def add_define_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--define", action="append", default=[], metavar="NAME=VALUE",
        help="set a `param` of the rules: JSON, plain text, or @FILE for a JSON file",
    )


def defines_of(options: argparse.Namespace) -> dict[str, object]:
    """The values that `--define` gives to parameters of rule files. Raises `Refusal` for what is no value of
    a parameter, and `InputError` for a file that has none."""
    found: dict[str, object] = {}
    for given in getattr(options, "define", ()):
        name, equals, text = given.partition("=")
        if not equals or not name.isidentifier():
            raise _misused(
                f"--define {given}: expected NAME=VALUE",
                "--define threshold=128, --define scales=@scales.json",
            )
        if name in found:
            raise _misused(f"--define gives `{name}` twice", "remove one of them")
        if text == "@":
            raise _misused(f"--define {given}: the name of the file is missing", f"--define {name}=@FILE")
        try:
            found[name] = _json_file(text[1:]) if text.startswith("@") else _json_or_text(text)
        except _KeyTwice as error:
            where = f"{text[1:]}: " if text.startswith("@") else ""
            raise InputError(
                f"--define {name}: {where}duplicate key `{error.key}`", help="remove one of the two"
            ) from None
        try:
            json.dumps(found[name], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InputError(
                f"--define {name}: half of a surrogate pair is not text",
                help="write the character itself, or both halves: `\\ud83d\\ude00`",
            ) from None
    return found


def _misused(message: str, help: str) -> Refusal:
    return Refusal(f"gslc: {message}\n  help: {help}\n")


class _KeyTwice(Exception):
    """An object that has a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(items: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in items:
        if key in found:
            raise _KeyTwice(key)
        found[key] = value
    return found


def _json_file(path: str) -> object:
    with file_errors(path, "cannot be read"):
        data = read_bytes(path)
    text = decoded(data, path)
    help = "--define NAME=@FILE reads a JSON file"
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        said = error.msg[:1].lower() + error.msg[1:]
        at = f"{path}:{error.lineno}:{error.colno}"
        raise InputError(f"invalid JSON: {said}", path=at, help=help) from None
    except RecursionError:
        raise InputError("JSON nested too deeply", path=path, help=help) from None
    except ValueError as error:  # an integer of thousands of digits
        raise InputError(f"cannot read JSON: {error}", path=path, help=help) from None


def _json_or_text(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return text


def load_rules(
    names: Sequence[str],
    parsed: dict[Source, Parsed] | None = None,
    defines: Mapping[str, object] = MappingProxyType({}),
) -> RuleSet:
    """Rules by file, folder, module or `-`; errors in them are findings, not exceptions. Raises `InputError`.

    `parsed` receives the syntax of files that had to be parsed. `defines`: values for their parameters.
    """
    from gslang.api import RuleSet
    from gslang.base.suggest import did_you_mean
    from gslang.check.module_files import module_names
    from gslang.check.modules import load_module
    from gslang.engine.meaning import with_meanings

    programs = []
    for name in names:
        if not name:
            raise InputError(
                "the name of the rules is empty", help="give a .gsl file, a folder, `-` or a shipped module"
            )
        if name == "-":
            programs.append(_from_stdin(defines))
            continue
        if Path(name).suffix.lower() in _GRAPHS and Path(name).is_file():
            raise InputError(
                "this is a graph, not a rule file", path=name, help="the rules come first: gslc RULES GRAPH"
            )
        try:
            programs += load_module(name, parsed, defines)
        except FileNotFoundError as error:
            if Path(name).exists():  # it is another file that has gone meanwhile
                raise InputError(f"cannot be read: {error}", path=name) from None
            if Path(name).is_symlink():
                raise InputError(
                    f"broken link to `{os.readlink(name)}`", path=name,
                    help="remove the link, or create its target",
                ) from None
            raise InputError(
                "no such rule file", path=name, help=_meant(name, module_names())
            ) from None
        except (OSError, ValueError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise InputError(f"cannot be read: {why}", path=name) from None
    if not programs:
        raise InputError("no .gsl files in this folder", path=names[0])
    rules = RuleSet(tuple(map(with_meanings, programs)))
    for name in filter(None, defines):  # that of `ANY_VALUES` is empty
        if name not in rules.parameters:
            guess = did_you_mean(name, rules.parameters)
            listed = ", ".join(rules.parameters) or "none"
            raise _misused(
                f"--define: the rules have no parameter `{name}`",
                f"did you mean `{guess}`?" if guess else f"parameters: {listed}",
            )
    return rules


def _from_stdin(defines: Mapping[str, object]) -> CheckedProgram:
    from gslang.base.source import Source
    from gslang.check.check import check_module, check_source
    from gslang.check.imports import Importer
    from gslang.syntax.parser import source_of

    source = source_of("<stdin>", sys.stdin.buffer.read())
    if isinstance(source, Source):
        return check_source(source, Importer(check_module, None, defines))
    raise InputError(source.message, path=str(source.primary.span), help=source.help or "")


def show_findings(rules: RuleSet, options: argparse.Namespace) -> bool:
    """Write findings to stderr; True if one is an error."""
    from gslang.base.render import render_text

    found: tuple[Diagnostic, ...] = rules.diagnostics
    if found:
        sys.stderr.write(render_text(found, colored(options)))
    return any(d.severity.value == "error" for d in found)


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input-format", metavar="F", help="json, relay, onnx or onnxtxt (inferred from the suffix)"
    )
    parser.add_argument(
        "--function", default="main", metavar="NAME", help="the function of a Relay module to read (main)"
    )
    parser.add_argument("--inline", action="store_true", help="inline calls of global functions")
    parser.add_argument(
        "--skip-unsupported", action="store_true",
        help="ignore other functions of the module that cannot be read",
    )
    parser.add_argument("--params", metavar="FILE", help="values of parameters (.npz, .safetensors)")
    parser.add_argument(
        "--opset", type=positive, metavar="N", help="convert an ONNX model to operator set N first"
    )


def _meant(name: str, modules: Sequence[str]) -> str:
    """The shipped module or the rule file that a name was to be, or how to get one."""
    from gslang.base.suggest import did_you_mean

    path = Path(name)
    try:
        beside = [
            str(path.with_name(other.name)) for other in path.parent.iterdir() if other.suffix == ".gsl"
        ]
    except OSError:
        beside = []
    if not beside and path.parent != Path() and not path.parent.is_dir():
        return f"no such folder: {path.parent}"
    guess = did_you_mean(name, [*modules, *beside])
    if guess:
        return f"did you mean `{guess}`?"
    return (
        "give a .gsl file, a folder, or a shipped module: std.relay, std.onnx" if "." in name
        else "`gslc --help` lists the verbs"
    )


def load_graph(path: str, options: argparse.Namespace, dialect: Any = None) -> Graph:
    from gslang.formats.registry import read_graph

    graph = read_graph(
        path, input_format=options.input_format, dialect=dialect, function=options.function,
        inline=options.inline, skip_unsupported=options.skip_unsupported, params=options.params,
        opset=options.opset,
    )
    for warning in graph.meta.get("warnings", ()):
        sys.stderr.write(f"warning: {warning}\n")
    return graph


def check_names(names: Sequence[str], what: str, known: Sequence[str]) -> str | None:
    """A message for the first name that is not known."""
    from gslang.base.suggest import did_you_mean, some_of

    for name in names:
        if name not in known:
            guess = did_you_mean(name, known)
            help = (
                f"did you mean `{guess}`?" if guess
                else f"known: {some_of(name, known)}" if known
                else "the rule files declare no pass: `pass name { rule; rule; }`" if what == "pass"
                else "the rule files have no rules"
            )
            return f"gslc: unknown {what} `{name}`\n  help: {help}\n"
    return None

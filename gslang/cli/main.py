"""The command line: `gslc RULES GRAPH`, and its verbs. Each verb is a file; this one finds it and ends the
process well.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from types import ModuleType
from typing import NoReturn

from gslang.base.collection import no_collection
from gslang.base.one_run import expect_one_run
from gslang.base.recursion import deep_walks
from gslang.base.signals import Terminated, unwind_on_termination


class ExitCode(IntEnum):
    FINE = 0
    FINDINGS = 1  # rule errors, a failing test, numbers that differ, graphs that differ
    USAGE = 2
    BAD_INPUT = 3
    BUG = 4


VERBS = {
    "apply": "rewrite a graph with rules",
    "check": "check rule files",
    "generalize": "find the conditions under which a rule holds",
    "from-example": "write the rule that turns one graph into another",
    "lint": "find suspicious code in rule files",
    "fmt": "format rule files",
    "test": "run the tests in rule files",
    "verify": "prove rules, or refute them with counterexamples",
    "run": "evaluate a graph",
    "match": "list matches without rewriting",
    "bisect": "find the application that breaks a graph",
    "convert": "convert a graph between formats",
    "discover": "find rules over operators, with conditions and verdicts",
    "implied": "decide whether rules follow from others",
    "search": "find the cheapest graph that rules can reach",
    "cost": "print the cost of a graph, per operator and in total",
    "bench": "measure the latency of an ONNX model before and after rewriting",
    "extract": "extract the cheapest expressions from an e-graph",
    "import": "translate rules of other tools",
    "export": "write rules for other tools",
    "view": "draw a graph, rules or a run as an HTML page",
    "diff": "compare two graphs up to names",
    "explain": "explain a diagnostic code or a rule",
    "ops": "list operators and their signatures",
    "lsp": "run the language server for editors",
    "completion": "print completions for bash, zsh or fish",
}
_USAGE = "usage: gslc RULES GRAPH [-o OUT] …   or   gslc VERB …   (gslc --help)"


class Refusal(Exception):
    """A command that cannot go on: what it says on stderr, and its exit code."""

    def __init__(self, message: str = "", code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.code = code


class Parser(argparse.ArgumentParser):
    """Argparse, with a hint where an option is misspelt."""

    def error(self, message: str) -> NoReturn:
        from gslang.base.suggest import did_you_mean

        hint = ""
        if "unrecognized arguments:" in message:
            word = message.split(":", 1)[1].split()[0]
            option = word.split("=")[0]
            guess = did_you_mean(
                option, [known for action in self._actions for known in action.option_strings]
            )
            if verbs := _verbs_with(option):
                hint = (
                    f"\n  help: {' and '.join(f'`gslc {verb}`' for verb in verbs[:3])} "
                    f"{'have' if len(verbs) > 1 else 'has'} `{option}`"
                )
            elif guess:
                hint = f"\n  help: did you mean `{guess}`?"
        hint = hint or f"\n  help: `{self.prog} --help` lists the options"
        sys.stderr.write(f"{_short_usage(self.prog)}\n{self.prog}: {message}{hint}\n")
        raise SystemExit(ExitCode.USAGE)


def _short_usage(prog: str) -> str:
    """The usage of a verb with the options left out that need not be given, so that the message is seen.

    The parser that reports an error has no operands any more (`parse_intermixed_args`): hence a new one.
    """
    _, parser = verb_parser(prog.removeprefix("gslc "))
    needed = [action for action in parser._actions if action.required or not action.option_strings]
    formatter = parser._get_formatter()
    formatter.add_usage(None, needed, [])
    return formatter.format_help().strip().replace(prog, f"{prog} [OPTION]…", 1)


def _verbs_with(option: str) -> list[str]:
    """Verbs that have an option of just this name."""
    return [
        verb
        for verb in VERBS if option.startswith("--") and option in verb_parser(verb)[1]._option_string_actions
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    try:
        if arguments is None:
            unwind_on_termination()
            expect_one_run()
            _write_any_text()
        with deep_walks():
            code = int(_run(given))
        sys.stdout.flush()
        if arguments is None:
            gc.freeze()  # the process ends: Python would search all that is there for cycles once more
        return code
    except SystemExit as stop:
        return int(stop.code or 0) if isinstance(stop.code, int) or stop.code is None else ExitCode.USAGE
    except KeyboardInterrupt:
        sys.stderr.write("gslc: interrupted\n")
        return 130
    except Terminated as told:
        return 128 + told.number
    except BrokenPipeError:
        _close_output()
        return ExitCode.FINE
    except Exception as error:
        return failed(error)


def _open_streams() -> None:
    """Streams that the parent process closed are empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))


def _write_any_text() -> None:
    """Write files and pipes as UTF-8 with line feeds on every system, and what a terminal cannot show as
    escapes.

    An encoding chosen by the user (`PYTHONIOENCODING`) stays.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            if stream.isatty() or os.environ.get("PYTHONIOENCODING"):
                stream.reconfigure(errors="backslashreplace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _close_output() -> None:
    """Redirects stdout to nowhere, so that the end of the process does not try to flush it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def failed(error: Exception) -> int:
    """The exit code for an error that ended a command, after saying on stderr what it is."""
    from gslang.base.diagnostics import InputError

    if isinstance(error, Refusal):
        sys.stderr.write(str(error))
        return error.code
    if isinstance(error, InputError):
        sys.stderr.write(f"gslc: {error}\n")
        return ExitCode.BAD_INPUT
    if isinstance(error, MemoryError):
        sys.stderr.write(f"gslc: not enough memory{f' ({error})' if str(error) else ''}\n")
        return ExitCode.BAD_INPUT
    if isinstance(error, OSError):
        from gslang.base.file_errors import reason_of

        what = f"{error.filename}: " if error.filename is not None else ""
        sys.stderr.write(f"gslc: {what}{reason_of(error)}\n")
        if error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
            _close_output()
        return ExitCode.BAD_INPUT
    if os.environ.get("GSLANG_DEBUG"):
        import traceback

        traceback.print_exc()
    sys.stderr.write(
        f"gslc: internal error: {type(error).__name__}: {error}\n"
        "  this is a bug in gslang; please report it with the command and the files\n"
        "  (GSLANG_DEBUG=1 shows where it happened)\n"
    )
    return ExitCode.BUG


def _run(given: list[str]) -> int:
    if not given or given[0] in ("-h", "--help"):
        lines = [_USAGE, "", "Graph substitution rules for deep-learning compilers.", "", "verbs:"]
        width = max(map(len, VERBS)) + 2
        lines += [f"  {name:<{width}}{text}" for name, text in VERBS.items()]
        lines += ["", "RULES alone checks them. `gslc VERB --help` has the options; `gslc --version`.", ""]
        sys.stdout.write("\n".join(lines))
        return ExitCode.FINE if given else ExitCode.USAGE
    if any("\0" in word for word in given):
        sys.stderr.write("gslc: an argument contains a NUL character, which file names cannot contain\n")
        return ExitCode.USAGE
    if given[0] == "--version":
        from gslang import __version__
        from gslang.syntax.language_version import LANGUAGE_VERSION

        print(f"gslc {__version__} (language {LANGUAGE_VERSION})")
        return ExitCode.FINE
    if given[0] in VERBS and not os.path.isfile(given[0]):
        verb, rest = given[0], given[1:]
    else:
        from gslang.base.suggest import did_you_mean

        first = given[0]
        plain = not first.startswith("-") and "." not in first and not os.path.exists(first)
        if plain and (guess := did_you_mean(first, VERBS)):
            sys.stderr.write(f"gslc: unknown verb `{first}`\n  help: did you mean `{guess}`?\n")
            return ExitCode.USAGE
        verb, rest = "apply", given
    with no_collection():
        module, parser = verb_parser(verb)
    options = parser.parse_intermixed_args(rest)
    from gslang.cli.idle_options import refuse_idle

    if idle := refuse_idle(verb, parser, options, rest):
        sys.stderr.write(idle)
        return ExitCode.USAGE
    return int(module.run(options))


def verb_parser(verb: str) -> tuple[ModuleType, Parser]:
    """The module of a verb and the parser of its arguments."""
    module = import_module(f"gslang.cli.{verb.replace('-', '_')}{'_' * iskeyword(verb)}")
    parser = Parser(
        prog=f"gslc {verb}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour terminal output"
    )
    module.add_arguments(parser)
    return module, parser

"""Options that can do nothing are refused, and no option is left unread."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import gslang.cli
from gslang.cli.idle_options import NEEDS, Need, refuse_idle
from gslang.cli.main import VERBS, main, verb_parser

CLI = Path(gslang.cli.__file__).parent

# By verb and need the command line beside an option: where it can do nothing, and where it can do something.
LINES = {
    ("apply", "without a graph"): ("r.gsl", "r.gsl g.onnx -o o.onnx --fold --check-numbers {several}"),
    ("apply", "without --html"): ("r.gsl g.json -o o.json", "r.gsl g.json -o o.json --html p.html"),
    ("view", "without a graph"): ("r.gsl", "g.onnx r.gsl --fold"),
    ("view", "without rules"): ("g.onnx", "g.onnx r.gsl --fold"),
    ("view", "with a graph"): ("g.onnx", "r.gsl"),
    ("bench", "without rules"): ("g.onnx", "g.onnx r.gsl --fold"),
    ("bench", "with --rounds"): ("g.onnx --rounds 3", "g.onnx"),
    ("match", "without --why-not"): ("r.gsl g.json", "r.gsl g.json --why-not n"),
    ("lint", "without --fix or --diff"): ("r.gsl", "r.gsl --fix"),
    ("lint", "with --diff"): ("r.gsl --diff", "r.gsl"),
    ("lint", "with --together"): ("r.gsl --together", "r.gsl"),
    ("verify", "without rules"): ("--recheck d", "r.gsl --recheck d"),
    ("verify", "with --recheck"): ("r.gsl --recheck d", "r.gsl"),
    ("verify", "unless --format is text"): ("r.gsl --format json", "r.gsl"),
    ("verify", "with rules from standard input"): ("-", "r.gsl"),
    ("from-example", "without a second graph"): ("g.json --select n", "g.json h.json"),
    ("import", "for taso"): ("taso f.json -o d", "onnxsim f.txt"),
    ("import", "with --as-written"): ("onnxsim f.txt --as-written", "onnxsim f.txt"),
    ("extract", "with --method greedy"): ("e.json --method greedy", "e.json"),
    ("discover", "with --inputs"): ("--ops add --inputs [n]", "--ops add"),
    ("implied", "where each FILE#NAME is one rule"): ("r.gsl#a --by s.gsl", "r.gsl --by s.gsl"),
    ("explain", "without a rule file"): ("a", "a r.gsl"),
    ("convert", "with a page"): ("g.relay -o o.html", "g.relay -o o.relay"),
    ("bisect", "if the check is a command"): ("r.gsl g.json --check true", "r.gsl g.json --check numbers"),
    ("search", "unless --method is eqsat"): ("r.gsl g.json --method greedy", "r.gsl g.json"),
    ("search", "unless --method is backtrack"): ("r.gsl g.json", "r.gsl g.json --method backtrack"),
}
BEFORE = {
    "bisect": "r.gsl G --check numbers", "run": "G", "match": "r.gsl G", "cost": "G", "diff": "G G",
    "from-example": "G G", "convert": "G -o o.json", "view": "G r.gsl", "bench": "G r.gsl",
    "apply": "r.gsl G", "search": "r.gsl G",
}  # fmt: skip


def lines(need: Need, verb: str) -> tuple[str, str]:
    """A command line in which the options of a need do nothing, and one in which they do something."""
    if (verb, need.what) in LINES:
        idle, busy = LINES[verb, need.what]
        return idle, busy.replace("{several}", "h.onnx")
    rest = BEFORE[verb]
    match need.what:
        case "with a graph that is not Relay text":
            return rest.replace("G", "g.onnx"), rest.replace("G", "g.relay")
        case "with a graph that is not an ONNX model":
            return rest.replace("G", "g.json"), rest.replace("G", "g.onnx")
        case "unless an ONNX model is written to a file":
            line = rest.replace("G", "g.onnx").replace("o.json", "o.relay")
            return line, line.replace(" -o o.relay", "") + " -o o.onnx"
        case "without --fold, or a pass that folds":
            return rest.replace("G", "g.json"), rest.replace("G", "g.json") + " --fold"
        case "with one graph":
            return rest.replace("G", "g.json"), rest.replace("G", "g.json h.json")
    line = rest.replace("G", "g.json")
    return line, f"{line} --check-numbers"


def values(verb: str, dest: str) -> list[str]:
    """An option with a value that its parser takes."""
    (action,) = (a for a in verb_parser(verb)[1]._actions if a.option_strings and a.dest == dest)
    name = action.option_strings[-1]
    if action.nargs == 0:
        return [name]
    tried = [str(next(iter(action.choices)))] if action.choices else ["1", "a=1", "2.5", "1M"]
    for value in tried:
        try:
            verb_parser(verb)[1]._get_values(action, [value])
        except Exception:
            continue
        return [name, value]
    raise AssertionError(name)


def cases() -> Iterator[tuple[Need, str, str]]:
    for need in NEEDS:
        for verb in need.verbs or VERBS:
            known = {action.dest for action in verb_parser(verb)[1]._actions if action.option_strings}
            for dest in need.options:
                if dest in known:
                    yield need, verb, dest
                else:
                    assert not need.verbs or verb in ("view", "bench", "verify"), (verb, dest)


def test_options_that_can_do_nothing_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    count = 0
    for need, verb, dest in cases():
        idle, busy = lines(need, verb)
        option = values(verb, dest)
        assert main([verb, *idle.split(), *option]) == 2, (verb, idle, option)
        said = capsys.readouterr().err
        assert f"{option[0]} has no effect" in said and "help:" in said, (verb, idle, option, said)
        words = [*busy.split(), *option]
        parser = verb_parser(verb)[1]
        found = refuse_idle(verb, parser, parser.parse_intermixed_args(words), words)
        assert f"{option[0]} has no effect {need.what}\n" not in found, (verb, busy, option)
        count += 1
    assert count > 150


@cache
def read_in(module: str) -> frozenset[str]:
    """The names that a module of the command line, or one that it imports from, reads from its options."""
    tree = ast.parse((CLI / f"{module}.py").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="options"), attr=name):
                found.add(name)
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                found.add(name)
            case ast.Constant(value=str(name)) if module == "bisect":
                found.add(name)
            case ast.ImportFrom(module=str(name)) if name.startswith("gslang.cli.") and "main" not in name:
                found |= read_in(name.rpartition(".")[2])
    return frozenset(found)


def test_every_option_is_read() -> None:
    unread = [
        (verb, action.option_strings[-1])
        for verb in VERBS
        for module, parser in [verb_parser(verb)]
        for action in parser._actions
        if action.option_strings and action.dest not in ("help", "color")
        and action.dest not in read_in(module.__name__.rpartition(".")[2])
    ]
    assert unread == [("lsp", "--stdio")]  # editors give it; there is no other way

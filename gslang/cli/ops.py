"""Find operators and show their signatures: gslc ops conv, gslc ops nn.conv2d, gslc ops pool mine.gsl

If a word is not the name of an operator, all operators whose name contains it are listed. A file selects the
dialect; a rule file also adds the operators that it declares.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.cli.main import ExitCode, Refusal

if TYPE_CHECKING:
    from gslang.dialect.dialect import Dialect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("operator", nargs="?", help="an operator, or part of a name")
    parser.add_argument("file", nargs="?", help="a .gsl file or a graph: only operators of its dialect")
    parser.add_argument("--dialect", metavar="NAME", help="list only operators of this dialect (all)")


def run(options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean
    from gslang.dialect.load import dialect_names, load_dialect

    word, file = options.operator, options.file
    if file is None and word is not None and Path(word).suffix and Path(word).is_file():
        word, file = None, word
    if options.dialect is not None and options.dialect not in dialect_names():
        raise Refusal(
            f"gslc ops: unknown dialect `{options.dialect}`\n  help: dialects: {', '.join(dialect_names())}\n"
        )
    if file is not None:
        dialects = [dialect_of_file(file)]
        if options.dialect not in (None, dialects[0].name):
            raise Refusal(
                f"gslc ops: {file} is of dialect `{dialects[0].name}`, not `{options.dialect}`\n"
            )
    else:
        dialects = [
            load_dialect(name) for name in ([options.dialect] if options.dialect else dialect_names())
        ]
    found = [(dialect, _found(dialect.operators, word)) for dialect in dialects]
    if word is not None and any(word in names for _, names in found):
        found = [(dialect, [word]) for dialect, names in found if word in names]
    found = [(dialect, names) for dialect, names in found if names]
    if not found:
        guess = did_you_mean(word, [name for dialect in dialects for name in dialect.operators])
        where = f" in dialect `{dialects[0].name}`" if len(dialects) == 1 else ""
        raise Refusal(
            f"gslc ops: no operator contains `{word}`{where}\n"
            + (f"  help: did you mean `{guess}`?\n" if guess else "")
        )
    for k, (dialect, names) in enumerate(found):
        if len(dialects) > 1:
            sys.stdout.write(f"{'' if k == 0 else chr(10)}# dialect {dialect.name}\n")
        for name in names:
            sys.stdout.write(f"{dialect.operators[name]}\n")
    return ExitCode.FINE


def _found(names: Iterable[str], word: str | None) -> list[str]:
    """Names that contain a word, in any case; those that begin with it, or whose last part does, come first.
    """
    if word is None:
        return sorted(names)
    low = word.lower()
    begins = {
        name: not (name.lower().startswith(low) or name.rsplit(".", 1)[-1].lower().startswith(low))
        for name in names if low in name.lower()
    }
    return sorted(begins, key=lambda name: (begins[name], name))


def dialect_of_file(path: str) -> Dialect:
    """The dialect of a rule file, with the operators that it declares, or of a graph file.

    Raises `InputError`.
    """
    from gslang.cli.shared import load_rules
    from gslang.formats.registry import SUFFIXES, named_dialect, read_graph

    if Path(path).suffix.lower() in SUFFIXES:
        graph = read_graph(path)
        return named_dialect(graph.dialect, path)
    return load_rules([path]).dialect

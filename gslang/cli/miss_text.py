"""A near miss of a rule as lines of text, and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gslang.engine.miss import Miss


def miss_lines(miss: Miss, at: str) -> list[str]:
    """The text of a miss: how far a match got `at` a location of the graph, the part of the rule that did not
    match, what was expected and found."""
    from gslang.base.diagnostics import Label
    from gslang.base.render import excerpt

    width = len(str(miss.span.line_column[0]))
    indent = " " * width
    lines = [f"{miss.rule}{f' at {at}' if at else ''}: {miss.matched} of {miss.of} [{miss.reason}]"]
    lines += [f"  {line}" for line in excerpt(Label(miss.span), width)]
    lines += [f"  {indent} = expected {miss.expected}", f"  {indent} = found    {miss.found}"]
    lines += [f"  {indent} = also     {other}" for other in miss.others]
    return [*lines, f"  {indent} = help: {miss.help}"] if miss.help else lines


def miss_data(miss: Miss) -> dict[str, object]:
    """The same for JSON, without where in the graph it is."""
    line, column = miss.span.line_column
    return {
        "matched": miss.matched,
        "of": miss.of,
        "reason": miss.reason,
        "file": miss.span.source.name,
        "line": line,
        "column": column,
        "expected": miss.expected,
        "found": miss.found,
        "others": list(miss.others),
        "help": miss.help or None,
    }

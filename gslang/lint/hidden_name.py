"""L0106: a name that hides another where it is called: functions, and operator variables.

Names of nodes hide nothing: nodes are not called.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.base.source import Span
from gslang.check.context import FUNCTIONS
from gslang.check.families import names_called
from gslang.lint.linted_file import Finding, LintedFile, finding, walk
from gslang.syntax import nodes as n


def hidden_name(file: LintedFile) -> Iterator[Finding]:
    imported = {
        name.id: name.span
        for item in file.written.items if isinstance(item, n.Use)
        for name in item.names or ()
    }
    functions = {item.name.id: item.name.span for item in file.written.items if isinstance(item, n.FnDecl)}
    operators = file.program.dialect.operators
    for item in file.written.items:
        match item:
            case n.FnDecl():
                name = item.name.id
                what = (
                    "an import" if name in imported
                    else "an operator" if name in operators
                    else "a built-in function" if name in FUNCTIONS
                    else None
                )
                if what is not None:
                    yield _hiding("function", item.name, what, imported.get(name))
            case n.Rule():
                for given in item.inputs:
                    if (
                        given.kind is not None and given.kind.name.id == "op"
                        and (name := given.name.id) in {*operators, *functions, *imported}
                    ):
                        what = "an operator" if name in operators else "a function"
                        yield _hiding(
                            "operator variable", given.name, what, functions.get(name, imported.get(name))
                        )
                called = names_called(item)
                variables = {
                    given.name.id
                    for given in item.inputs if given.kind is not None and given.kind.name.id == "op"
                }
                bound = [given.name for given in item.inputs] + [
                    node.name
                    for node in walk((item.source, item.target)) if isinstance(node, (n.Bind, n.Walrus))
                ]
                for spot in bound:
                    if spot.id in functions and spot.id in called and spot.id not in variables:
                        message = f"`{spot.id}` is a node here, and a function where it is called"
                        yield finding(
                            "L0106", message, spot.span, "choose another name for one of them",
                            related=(Label(functions[spot.id], "the function"),),
                        )


def _hiding(kind: str, name: n.Name, what: str, place: Span | None) -> Finding:
    related = (Label(place, "the hidden name"),) if place is not None else ()
    return finding(
        "L0106", f"the {kind} `{name.id}` hides {what} of this name", name.span, "choose another name",
        related=related,
    )

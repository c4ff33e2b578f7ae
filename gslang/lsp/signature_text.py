"""Operators, functions and built-ins as text: declarations, and the parts of them that a call fills."""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.signature import Signature
from gslang.lsp.words import FUNCTIONS
from gslang.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class Parameter:
    """`text` as it stands in the declaration.

    `positional`: it may be given without its name; `variadic`: any number of times.
    """

    name: str
    text: str
    positional: bool
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Callable:
    """Something that can be called."""

    head: str
    parameters: tuple[Parameter, ...]
    tail: str
    doc: str

    @property
    def label(self) -> str:
        return f"{self.head}({', '.join(p.text for p in self.parameters)}){self.tail}"


def operator(signature: Signature) -> Callable:
    parameters = [Parameter(o.name, str(o), True, o.variadic) for o in signature.operands]
    parameters += [Parameter(spec.name, str(spec), False) for spec in signature.attributes.values()]
    results = signature.results if isinstance(signature.results, str) else f"({', '.join(signature.results)})"
    traits = f" is {', '.join(sorted(signature.traits))}" if signature.traits else ""
    return Callable(f"op {signature.name}", tuple(parameters), f" -> {results}{traits}", signature.doc)


def function(item: n.FnDecl) -> Callable:
    parameters = tuple(
        Parameter(p.name.id, p.name.id + (f": {p.type.id}" if p.type is not None else ""), True)
        for p in item.parameters
    )
    if item.body is None:
        return Callable(
            f"fn {item.name.id}", parameters, f" -> {item.result.id if item.result is not None else 'any'}",
            item.doc or "",
        )
    body = " ".join(item.body.span.text.split())
    return Callable(
        f"fn {item.name.id}", parameters, f" = {body if len(body) < 160 else body[:157] + '…'};",
        item.doc or "",
    )


def builtin(name: str) -> list[Callable]:
    """The forms of a built-in function."""
    forms, doc = FUNCTIONS[name]
    found = []
    for form in forms.split(" | "):
        inside = form[form.index("(") + 1 : -1]
        parts = [part.strip() for part in inside.split(",")]
        variadic = "…" in parts
        parameters = [Parameter(part, part, True) for part in parts if part != "…"]
        if variadic:
            parameters.append(Parameter("…", "…", True, True))
        found.append(Callable(name, tuple(parameters), "", doc))
    return found

"""The dialect that a file without a `dialect` line is of: told by the operators that it calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from gslang.check.walks import walk
from gslang.dialect.load import load_dialect
from gslang.syntax import nodes as n

_USUAL: Final = "relay"
_OTHERS: Final = ("onnx",)


def meant_dialect(program: n.Program) -> str:
    """`relay`, unless all operators that the file calls and that any dialect has are another dialect's."""
    if any(isinstance(item, n.DialectItem) for item in program.items):
        return _USUAL
    imported = {
        item.module.split(".")[1]
        for item in program.items if isinstance(item, n.Use) and item.module.startswith("std.")
    }
    if imported:
        return next((name for name in _OTHERS if any(part.startswith(name) for part in imported)), _USUAL)
    own = {item.name.id for item in program.items if isinstance(item, (n.FnDecl, n.OpDecl))}
    called = {
        name
        for item in program.items if isinstance(item, (n.Rule, n.FnDecl, n.Test))
        for name in _called(item, own)
    } - own
    if any(name.startswith(f"{_USUAL}.") for name in called):
        return _USUAL
    foreign = {name for name in called if name not in load_dialect(_USUAL).operators}
    if not foreign or len(foreign) < len({name for name in called if name not in _words()}):
        return _USUAL  # some are Relay's
    return next(
        (name for name in _OTHERS if any(known in load_dialect(name).operators for known in foreign)), _USUAL
    )


def dialect_with(operator: str, without: str) -> str | None:
    """Another dialect that has an operator of this name."""
    return next(
        (name for name in (_USUAL, *_OTHERS) if name != without and operator in load_dialect(name).operators),
        None,
    )


def _words() -> frozenset[str]:
    from gslang.check.context import FUNCTIONS, KINDS

    return frozenset((*FUNCTIONS, *KINDS, "const", "splat", "distinct"))


def _called(item: object, own: Collection[str]) -> Iterator[str]:
    """Names in front of parentheses, but those that are parameters or inputs; operators of variables, of the
    rows of a family, and in arguments of the file's `own` functions.
    """
    bound = {part.name.id for part in (*getattr(item, "inputs", ()), *getattr(item, "parameters", ()))}
    table = getattr(item, "table", None)
    bound |= {name.id for name in table.names} if table is not None else set()
    for operator in _operators(item, own):
        if operator not in bound and any(operator in load_dialect(d).operators for d in (_USUAL, *_OTHERS)):
            yield operator
    stack: list[Any] = [item]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(part)
        elif is_dataclass(part):
            if isinstance(part, n.Call) and (name := n.dotted(part.callee)) and name not in bound:
                yield name
            stack.extend(
                getattr(part, field.name)
                for field in fields(part) if field.name not in ("span", "field_span", "name_span")
            )


def _operators(item: object, own: Collection[str]) -> Iterator[str]:
    """The names that may be operators, where none is called."""
    for part in walk(item):
        places: tuple[object, ...] = ()
        match part:
            case n.Table(rows=rows):
                places = rows
            case n.Kind(name=n.Name("op"), arguments=arguments) | n.OperatorKind(arguments=arguments):
                places = tuple(arguments)
            case n.Call(callee=n.Name(name), arguments=arguments) if (
                name in own or name in ("users", "calls")
            ):
                places = tuple(argument.value for argument in arguments if isinstance(argument, n.Positional))
        for inner in walk(places):
            if (found := n.dotted(inner)) is not None:
                yield found

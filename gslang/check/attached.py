"""`@attach(…)`: what a rule attaches to the operators that it creates, to all of them or to those of one
statement of its target."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import values
from gslang.check.context import Lowering, Stop
from gslang.check.decided import UNKNOWN
from gslang.check.definite import new_nodes_read
from gslang.check.known_values import known
from gslang.graph.annotations import attachable
from gslang.syntax import nodes as n

_SHOWN = '`@attach(backend = "npu")`'


def read_attached(lowering: Lowering, item: n.Rule, made: dict[str, range]) -> None:
    """Give the calls of the target what is attached to them. `made`: the targets that each statement has
    created, by its name."""
    whole: list[ir.Attached] = []
    ignored: list[ir.Attached] = []
    parts: dict[str, list[ir.Attached]] = {}
    calls = {k: target for k, target in enumerate(lowering.targets) if isinstance(target, ir.MakeCall)}
    for annotation in item.annotations:
        if annotation.name.id != "attach":
            continue
        given, wanted = annotation.arguments, whole
        if given and isinstance(given[0], n.Positional):
            name = _statement(lowering, given[0].value, made)
            given, wanted = given[1:], parts.setdefault(name, []) if name is not None else ignored
            if name is not None and not any(k in made[name] for k in calls):
                lowering.error(
                    "E0702",
                    f"`{name}` creates no operator to attach to",
                    annotation.span,
                    "name a statement that does",
                )
        elif not calls:
            lowering.error(
                "E0702",
                "the target creates no operator to attach to",
                annotation.span,
                "remove `@attach`",
            )
        if not given and wanted is not ignored:
            lowering.error("E0702", "`@attach` needs at least one annotation", annotation.span, _SHOWN)
        for argument in given:
            if (stated := _stated(lowering, argument, [one.name for one in wanted])) is not None:
                wanted.append(stated)
    for k, call in calls.items():
        own = {one.name: one for one in whole}
        for name, some in parts.items():
            if k in made[name]:
                own.update({one.name: one for one in some})
        if own:
            lowering.targets[k] = replace(call, attached=tuple(own.values()))


def _statement(lowering: Lowering, value: n.Expr, made: Iterable[str]) -> str | None:
    """The name of a statement of the target; anything else is reported."""
    if isinstance(value, n.Name) and value.id in made:
        return value.id
    shown = f"`{value.id}` is not" if isinstance(value, n.Name) else "this is not the name of"
    guess = did_you_mean(value.id, tuple(made)) if isinstance(value, n.Name) else None
    hint = (
        f"did you mean `{guess}`?"
        if guess
        else f"expected the name of a statement after `=>`, or names with values: {_SHOWN}"
    )
    lowering.error("E0702", f"{shown} a statement of the target", value.span, hint)
    return None


def _stated(
    lowering: Lowering, argument: n.Positional | n.Keyword, before: Collection[str]
) -> ir.Attached | None:
    """A name with its value; None for what is reported. `before`: names that have values already."""
    if not isinstance(argument, n.Keyword):
        lowering.error(
            "E0702",
            "`@attach` takes the name of a statement first, then names with values",
            argument.span,
            '`@attach(y, backend = "npu")`',
        )
        return None
    if argument.name in before:
        lowering.error("E0702", f"`{argument.name}` is attached twice", argument.span, "remove one of them")
        return None
    try:
        what = values.value(lowering, argument.value)
    except Stop:
        return None
    if what.type == "graph" or what.value == ir.Const(None) or _is_never_attachable(lowering, what.value):
        lowering.error(
            "E0702", f"`{argument.name}` cannot be attached", argument.value.span,
            f"expected a string, a finite number, a boolean, or a tuple of these: {_SHOWN}",
        )  # fmt: skip
        return None
    if new_nodes_read(what.value, lowering.lets):
        lowering.error(
            "E0702",
            f"`{argument.name}` reads the type of a new node",
            argument.value.span,
            "read what the source has matched: its types, attributes and names",
        )
        return None
    return ir.Attached(argument.name, what.value, argument.value.span)


def _is_never_attachable(lowering: Lowering, value: ir.Value) -> bool:
    """True if a value, or an item of it, is known to be none that can be attached."""
    found = known(lowering, value)
    if found is UNKNOWN and isinstance(value, ir.TupleValue):
        items = [item for item in value.items if not isinstance(item, ir.SpreadValue)]
        return any(_is_never_attachable(lowering, item) for item in items)
    return found is not UNKNOWN and found is not None and not attachable(found)

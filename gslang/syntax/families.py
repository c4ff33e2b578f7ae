"""Rule families: `rule neutral(x) for (Op, e) in (Add, 0), (Mul, 1): Op(x, e) => x;` is a rule for each row
of its table.

A row's items stand for the table's names wherever these are read, as if they were written there; places of
the text stay those of the family.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gslang.base.diagnostics import Diagnostic, Label
from gslang.syntax import nodes as n
from gslang.syntax.tree_to_nodes import row_name


def instances(rule: n.Rule) -> tuple[tuple[n.Rule, ...], list[Diagnostic]]:
    """The rules that a rule stands for, itself if it is no family, and what is wrong with its table."""
    table = rule.table
    if table is None:
        return (rule,), []
    found = list(_mistakes(rule, table))
    made: dict[str, n.Rule] = {}
    for row in table.rows:
        items = items_of(row, table)
        if items is None:
            continue
        name = row_name(rule.name.id, items)
        if name in made:
            found.append(Diagnostic(
                "E0208", f"duplicate row `{name}`", Label(row.span), help="remove one of them"
            ))
            continue
        meant = {name.id: item for name, item in zip(table.names, items)}
        made[name] = replace(
            rule, name=replace(rule.name, id=name), inputs=_filled(rule.inputs, meant),
            source=_filled(rule.source, meant), target=_filled(rule.target, meant),
            annotations=_filled(rule.annotations, meant), table=None, family=rule.name,
        )
    return tuple(made.values()), found


def meant_by_row(rule: n.Rule, name: str) -> dict[str, n.Expr]:
    """The row items that the names of a family's table stand for in the rule of this name."""
    row, table = row_of(rule, name), rule.table
    items = None if row is None or table is None else items_of(row, table)
    return {} if table is None or items is None else {name.id: item for name, item in zip(table.names, items)}


def names_read(rule: n.Rule, names: Collection[str]) -> Iterator[n.Name]:
    """The places where a rule reads some names."""
    return (node for node, is_bound in _names(_parts(rule)) if node.id in names and not is_bound)


def _parts(rule: n.Rule) -> tuple[object, ...]:
    """The parts of a rule in which the names of its table can be read."""
    return rule.inputs, rule.source, rule.target, rule.annotations


def row_of(rule: n.Rule, name: str) -> n.Expr | None:
    """The row of a family that the rule of this name is made of."""
    table = rule.table
    if table is None:
        return None
    return next(
        (
            row
            for row in table.rows
            if (items := items_of(row, table)) is not None and row_name(rule.name.id, items) == name
        ),
        None,
    )


def items_of(row: n.Expr, table: n.Table) -> tuple[n.Expr, ...] | None:
    """The items of a row, one for each name of the table; None if it has more or fewer."""
    if isinstance(row, n.TupleExpr) and table.unpacked:
        return row.items if len(row.items) == len(table.names) else None
    return (row,) if len(table.names) == 1 else None


def _holds_rows(row: n.Expr, table: n.Table) -> bool:
    """True if what stands where a row should is a tuple of rows."""
    return isinstance(row, n.TupleExpr) and bool(row.items) and all(
        isinstance(item, n.TupleExpr) and items_of(item, table) is not None for item in row.items
    )


def _mistakes(rule: n.Rule, table: n.Table) -> Iterator[Diagnostic]:
    wanted = ", ".join(name.id for name in table.names)
    items = f"`({wanted})` with their values" if len(table.names) > 1 else f"`({wanted},)` with its value"
    for row in table.rows:
        if items_of(row, table) is None:
            yield Diagnostic(
                "E0210", f"a row needs an item for each of {wanted}", Label(row.span),
                help="the rows of a table have no brackets around them" if _holds_rows(row, table)
                else f"write {items}",
            )
    names = {name.id: name for name in table.names}
    if len(names) < len(table.names):
        yield Diagnostic(
            "E0202", "this table has a duplicate name", Label(table.span), help="choose another name"
        )
    used: set[str] = set()
    for node, is_bound in _names(_parts(rule)):
        if node.id in names and is_bound:
            yield Diagnostic(
                "E0202", f"`{node.id}` is bound twice", Label(node.span), help="choose another name",
                related=(Label(names[node.id].span, "the table has the same name"),),
            )  # fmt: skip
        used.add(node.id)
    for name, item in _no_kinds(rule, table):
        yield Diagnostic(
            "E0210", f"`{name.id}` stands for the kind of an input, and this is none", Label(item.span),
            help="write a kind in each row: `any`, `const`, `any(dtype = \"int64\")`, `op(unary)` …",
            related=(Label(name.span, "read here"),),
        )
    for name in names.values():
        if name.id not in used:
            yield Diagnostic(
                "E0210", f"`{name.id}` of the table is not used in the rule", Label(name.span),
                help="use it, or remove it and its items",
            )


def _no_kinds(rule: n.Rule, table: n.Table) -> Iterator[tuple[n.Name, n.Expr]]:
    """The names of a table that are read as the kind of an input, with each item that cannot be one."""
    read = {given.kind.name.id: given.kind for given in rule.inputs if given.kind is not None}
    for row in table.rows:
        for name, item in zip(table.names, items_of(row, table) or ()):
            if name.id in read and _kind(read[name.id], item) is None:
                yield read[name.id].name, item


_BINDING = frozenset(("name", "targets", "fields"))
"""Fields that hold names that are introduced, or that belong to an operator."""


def _names(item: object, bound: bool = False) -> Iterator[tuple[n.Name, bool]]:
    if isinstance(item, n.Name):
        yield item, bound
    elif isinstance(item, tuple):
        for part in item:
            yield from _names(part, bound)
    elif is_dataclass(item) and isinstance(item, n.Node) and not isinstance(item, (n.Spread, n.Kind, n.Arm)):
        for f in fields(item):
            yield from _names(getattr(item, f.name), f.name in _BINDING)
    elif isinstance(item, n.Spread):
        yield from _names(item.base)
    elif isinstance(item, n.Arm):  # its name is that of an alternative
        yield from _names(item.value)
    elif isinstance(item, n.Kind):
        yield item.name, False
        yield from _names(item.arguments)


def _filled(item: object, meant: Mapping[str, n.Expr]) -> Any:
    """The same with the row's items in the place of the table's names."""
    if isinstance(item, n.Name):
        return replace(meant[item.id], span=item.span) if item.id in meant else item
    if isinstance(item, tuple):
        new = tuple(_filled(part, meant) for part in item)
        return item if all(a is b for a, b in zip(item, new)) else new
    if not (is_dataclass(item) and isinstance(item, n.Node)):
        return item
    if isinstance(item, n.Kind) and item.name.id in meant:
        item = _kind(item, meant[item.name.id]) or item
    old = {
        f.name: getattr(item, f.name)
        for f in fields(item) if f.name not in _BINDING and not f.name.endswith("span")
    }
    changed = {name: value for name, part in old.items() if (value := _filled(part, meant)) is not part}
    return replace(item, **changed) if changed else item


def _kind(read: n.Kind, item: n.Expr) -> n.Kind | None:
    """The kind of an input that a row's item is, `const` or `any(dtype = "int64")`, where `read` has a name
    of the table; arguments that are written there are added. None if it is no kind.
    """
    match item:
        case n.Name():
            name, arguments = item, read.arguments
        case n.Call(callee=n.Name() as name, optional=False):
            own = tuple(a for a in item.arguments if isinstance(a, (n.Positional, n.Keyword)))
            if len(own) < len(item.arguments):
                return None
            arguments = *own, *read.arguments
        case n.OperatorKind():
            name = n.Name("op", span=item.span)
            arguments = *(n.Positional(e, span=e.span) for e in item.arguments), *read.arguments
        case _:
            return None
    return replace(read, name=replace(name, span=read.name.span), arguments=arguments)

"""Code that tests a condition once for each kind of match, where that is more work than to look it up.

Attributes, types and values of constants are shared: equal types are one object, calls that a file gives the
same attributes have one table of them, and a constant has many users. A condition that reads nothing else has
the same truth wherever it reads the same objects. The table is one run's, and holds the objects, so that none
of them gives its identity to another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.dialect.signature import Signature
from gslang.engine.code_writer import Place, Writer
from gslang.engine.constraint_code import constraint_code
from gslang.engine.value_code import Namespace, truth_code

_MOST: Final = 4096  # kinds of matches that are remembered: each holds some objects
_CHEAP: Final = frozenset(("len",))  # built-ins that take less time than a look-up


def emit_conditions(writer: Writer, place: Place, conditions: Iterable[ir.Value]) -> None:
    """Emit the tests of parts of `where`, those that are looked up last."""
    plain: list[str] = []
    known: list[str] = []
    objects: dict[str, None] = {}
    for condition in conditions:
        read = objects_read(condition, writer.names) if _is_costly(condition, writer.names) else None
        codes = [_as_code(each, writer.names) for each in read or ()]
        if None in codes or not any(codes):
            plain.append(truth_code(condition, writer.names))
        else:
            known.append(truth_code(condition, writer.names))
            objects.update((code, None) for code in codes if code)
    writer.conditions(place, plain)
    if known:
        _emit_look_up(writer, place, known, list(objects))


def emit_literals(
    writer: Writer, place: Place, node: int, constraints: Iterable[ir.Constraint | ir.SameAttributes]
) -> None:
    """Emit the tests of a constant's elements against literals."""
    codes = [constraint_code(constraint, node, writer.names) for constraint in constraints]
    if codes:
        _emit_look_up(writer, place, codes, [f"G.values.get(v{node})"])


def is_literal(writer: Writer, node: int, constraint: ir.Constraint | ir.SameAttributes) -> bool:
    """True if a constraint compares the elements of a constant, outside of templates, with a literal."""
    pattern = writer.plan.rule.nodes[node]
    return (
        pattern.admits == ir.OF_KIND["const"] and pattern.block is None and writer.names.inside is None
        and isinstance(constraint, ir.Constraint) and isinstance(constraint.elements, ir.Const)
    )


def _emit_look_up(writer: Writer, place: Place, conditions: list[str], objects: list[str]) -> None:
    inner, table = place.deeper(), f"known_{writer.tables}"
    writer.tables += 1
    by_value = ("types[", "op[")  # one object for each value
    kind = [read if read.startswith(by_value) else f"id({read})" for read in objects]
    writer.line(place, f"kind = {kind[0] if len(kind) == 1 else '(' + ', '.join(kind) + ')'}")
    writer.line(place, f"known = {table}.get(kind)")
    writer.line(place, "if known is None:")
    writer.attempt(inner, conditions)
    writer.line(inner, f"if len({table}) >= {_MOST}: {table}.clear()")
    writer.line(inner, f"known = {table}[kind] = (holds, {', '.join(objects)})")
    writer.check(place, "not known[0]")


def objects_read(value: object, names: Namespace) -> dict[ir.Source, None] | None:
    """The shared objects that decide what a value is; None if something else does, too."""
    found: dict[ir.Source, None] = {}
    for part in walk(value, names.rule.lets):
        if isinstance(part, ir.Given):
            read = _objects_of(part, names)
            if read is None:
                return None
            found.update(dict.fromkeys(read))
    return found


def _objects_of(part: ir.Given, names: Namespace) -> tuple[ir.Source, ...] | None:
    if not isinstance(part, ir.NodeAttr):
        return part.told_by
    place, node, name = part.place, part.node, part.name
    if not names.is_there(node):
        return None
    if name in ("shape", "dtype", "ndim"):
        return (("types", place, node),)
    signatures = [names.rule.dialect.get(operator) for operator in names.rule.nodes[node].operators]
    if not signatures or not all(s is not None and _is_attribute(s, name) for s in signatures):
        return None
    # defaults differ from operator to operator
    return (("attrs", place, node), *[("op", place, node)] * (len(signatures) > 1))


def _as_code(read: ir.Source, names: Namespace) -> str | None:
    """A shared object of one match, outside of templates; empty for what is the same in all of a run."""
    what, place, number = read
    if what == "opset":
        return ""
    if place != ir.OWN or what == "instances":
        return None
    if what == "capture":
        return f"c{number}"
    return f"{what}[v{number}]" if names.rule.nodes[number].block is None else None


def _is_costly(condition: ir.Value, names: Namespace) -> bool:
    """True if a condition takes more time than a look-up."""
    return any(
        isinstance(part, ir.Partly) or isinstance(part, ir.Builtin) and part.name not in _CHEAP
        for part in walk(condition, names.rule.lets)
    )


def _is_attribute(signature: Signature, name: str) -> bool:
    """True if an operator has an attribute of this name, and no operand whose value could be meant."""
    return name in signature.attributes and all(operand.name != name for operand in signature.operands)

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
        read = _objects_read(condition, writer.names)
        code = truth_code(condition, writer.names)
        if read is None:
            plain.append(code)
        else:
            known.append(code)
            objects.update(read)
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


def _objects_read(condition: ir.Value, names: Namespace) -> dict[str, None] | None:
    """The shared objects that a condition reads, as code; None if it reads something else, or takes less time
    than a look-up.
    """
    found: dict[str, None] = {}
    costly = False
    for part in walk(condition, names.rule.lets):
        costly = costly or isinstance(part, (ir.Comprehension, ir.Connective)) or (
            isinstance(part, ir.Builtin) and part.name not in _CHEAP
        )
        if isinstance(part, ir.Extern):
            return None
        if isinstance(part, ir.Reading):
            read = _object_read(part, names)
            if read is None:
                return None
            found.update(read)
    return found if costly and found else None


def _object_read(part: ir.Reading, names: Namespace) -> dict[str, None] | None:
    rule = names.rule
    match part:
        case ir.Local() | ir.Let(ir.Own()):
            return {}
        case ir.Captured(ir.Own(), number):
            return {f"c{number}": None}
        case ir.NodeAttr(ir.Own(), node, name) if names.is_there(node) and rule.nodes[node].block is None:
            if name in ("shape", "dtype", "ndim"):
                return {f"types[v{node}]": None}
            pattern = rule.nodes[node]
            if not isinstance(pattern, ir.CallNode):
                return None
            signatures = [rule.dialect.get(operator) for operator in pattern.operators]
            if not all(s is not None and _is_attribute(s, name) for s in signatures):
                return None
            # defaults differ from operator to operator
            return {f"attrs[v{node}]": None, **({f"op[v{node}]": None} if len(signatures) > 1 else {})}
    return None


def _is_attribute(signature: Signature, name: str) -> bool:
    """True if an operator has an attribute of this name, and no operand whose value could be meant."""
    return name in signature.attributes and all(operand.name != name for operand in signature.operands)

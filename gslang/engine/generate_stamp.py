"""Targets that are instantiated from a cached template.

Where a target is a fixed list of calls, its nodes' attributes and types follow from the types and attributes
of what the source matched. They are remembered once (a `Stamp`); each further application with the same ones
appends all nodes at once instead of one after the other. The nodes and their numbers are those that the code
of `generate_target` makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.target_reading import TargetReading
from gslang.dialect.tensor_type import Type
from gslang.engine.code_writer import Place, Writer, tuple_code
from gslang.engine.edits import Edits
from gslang.engine.generate_known import objects_read
from gslang.engine.value_code import Namespace
from gslang.graph.graph import INDEX_ATTRS
from gslang.graph.scalar import Row
from gslang.graph.users import MANY_USERS

_MOST_STAMPS = 1024  # of one rule; graphs with more kinds of matches gain nothing from more
_SMALL = 64  # elements of a constant that all applications share


@dataclass(frozen=True, slots=True)
class Stamp:
    """The parts shared by applications with one key, node by node; `values`: (position, array) of the
    constants among them."""

    attrs: tuple[Attrs, ...]
    types: tuple[Type | None, ...]
    values: tuple[tuple[int, object], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The nodes of a target in the order in which they are made, as code: operators and operands; `key`
    decides the rest.

    An operand that begins with `*` stands for those of all instances. `several`: the node whose fields, one
    node each, come last and are the outputs.
    """

    operators: tuple[str, ...]
    operands: tuple[tuple[str, ...], ...]
    outputs: tuple[str, ...]
    key: tuple[str, ...]
    several: str | None = None


def keep_stamp(edits: Edits, stamps: dict[object, Stamp], key: object, first: int) -> None:
    """Remember the nodes from `first` on, if nothing about them depends on a matched constant's value; those
    of new ones follow from the key.
    """
    graph = edits.graph
    if key is None or len(stamps) >= _MOST_STAMPS or any([node < first for node in edits.looked_at]):
        return
    values = tuple(
        [(node - first, graph.values[node]) for node in range(first, len(graph.op)) if node in graph.values]
    )
    if any(array.size > _SMALL for _, array in values):
        return
    for _, array in values:
        if type(array) is not Row:
            array.flags.writeable = False  # it is shared from now on
    stamps[key] = Stamp(tuple(graph.attrs[first:]), tuple(graph.types[first:]), values)


RUNTIME: dict[str, object] = {"keep_stamp": keep_stamp}


# ── which targets ───────────────────────────────────────────────────────────────────────────────────────────


class _NotFixed(Exception):
    """The target's nodes, or what they are made of, depend on more than types and attributes."""


@dataclass(slots=True)
class _Laying(TargetReading[str]):
    """The variable of each target's node; it and what it reads are noted, in the order of `generate_target`.
    """

    rule: ir.CheckedRule
    names: Namespace
    operators: list[str] = field(default_factory=list)
    operands: list[tuple[str, ...]] = field(default_factory=list)
    made: dict[int, str] = field(default_factory=dict)
    key: dict[str, None] = field(default_factory=dict)

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.rule.target.targets

    def node(self, number: int) -> str:
        """The variable of a target's node, laid out when first asked for."""
        if number not in self.made:
            self.made[number] = self.of_target(number)
        return self.made[number]

    def of_matched(self, number: int, target: ir.SourceNode) -> str:
        if target.place != ir.OWN or not self.names.is_there(target.node):
            raise _NotFixed
        self.key[f"types[v{target.node}]"] = None
        return f"v{target.node}"

    def of_absent(self, number: int, target: ir.Absent) -> str:
        return "-1"

    def of_constant(self, number: int, target: ir.MakeConst) -> str:
        return _constant(self, target)

    def of_call(self, number: int, target: ir.MakeCall) -> str:
        return _call(self, target)

    def of_tuple(self, number: int, target: ir.MakeTuple) -> str:
        return self.add("TUPLE", [_field(self, part) for part in target.fields])

    def of_projection(self, number: int, target: ir.MakeProj) -> str:
        index = ir.written_number(target.index)
        if (
            not isinstance(self.targets[target.base], ir.MakeCall)
            or index is None or not 0 <= index < len(INDEX_ATTRS)
        ):
            raise _NotFixed
        return self.add("PROJ", [self.node(target.base)])

    def of_other(self, number: int, target: ir.Target) -> str:
        raise _NotFixed

    def add(self, operator: str, operands: list[str]) -> str:
        self.operators.append(operator)
        self.operands.append(tuple(operands))
        return f"n{len(self.operators) - 1}"


def layout_of(writer: Writer) -> Layout | None:
    """The layout of the rule's target; None if it differs from match to match."""
    rule = writer.plan.rule
    laying = _Laying(rule, writer.names)
    several: str | None = None
    outputs: tuple[str, ...] = ()
    try:
        if not rule.blocks:
            outputs = tuple([laying.node(number) for number in rule.target.outputs])
        elif len(rule.blocks) == 1 and rule.output_block == 0:
            laying.key["len(I0)"] = None
            several = _fields_of(laying, rule.target.outputs)
        else:
            return None
    except _NotFixed:
        return None
    if len(laying.operators) < 2:
        return None
    return Layout(
        tuple(laying.operators), tuple(laying.operands), outputs, tuple(laying.key), several
    )


def _fields_of(laying: _Laying, outputs: tuple[int, ...]) -> str:
    """The call whose fields are the target's outputs."""
    targets = laying.targets
    match [targets[number] for number in outputs]:
        case [ir.Projections(base)] if isinstance(targets[base], ir.MakeCall):
            return laying.node(base)
    raise _NotFixed


def _field(laying: _Laying, number: int) -> str:
    """An operand of a tuple: a node, or those of all instances."""
    targets = laying.targets
    several = targets[number]
    if not isinstance(several, ir.SpliceInstances):
        return laying.node(number)
    if not laying.names.is_there(several.node):
        raise _NotFixed
    laying.key[_of_instances(f"types[i[{several.node}]]", several.block)] = None
    return _of_instances(f"i[{several.node}]", several.block)


def _of_instances(code: str, block: int) -> str:
    return f"*[{code} for i in I{block}]"


def _call(laying: _Laying, call: ir.MakeCall) -> str:
    targets = laying.targets
    if call.attached:
        raise _NotFixed
    items: list[str] = []
    waiting: list[tuple[int, ir.MakeConst]] = []
    for part in call.operands:
        what = targets[part]
        if isinstance(what, ir.MakeConst) and what.dtype is None and part not in laying.made:
            waiting.append((len(items), what))
            items.append("")
        else:
            items.append(laying.node(part))
    for position, what in waiting:
        items[position] = _constant(laying, what)
    while items and items[-1] == "-1":
        items.pop()
    for spread in call.spreads:
        _note_attributes(laying, spread.place, spread.node)
    for _, value in call.attributes:
        _note_value(laying, value)
    if isinstance(call.operator, str):
        return laying.add(repr(call.operator), items)
    laying.key[f"w_{call.operator[1]}"] = None
    return laying.add(f"w_{call.operator[1]}", items)


def _constant(laying: _Laying, constant: ir.MakeConst) -> str:
    if constant.as_tuple or constant.optional:
        raise _NotFixed
    for value in (constant.value, constant.dtype, constant.splat_shape):
        if value is not None:
            _note_value(laying, value)
    return laying.add("CONST", [])


def _note_attributes(laying: _Laying, place: ir.Place, node: int) -> None:
    if not laying.names.is_there(node):
        raise _NotFixed
    laying.key[_at(laying, place, node, "tuple(attrs[{}].items())")] = None


def _at(laying: _Laying, place: ir.Place, node: int, code: str) -> str:
    """Code about what a pattern node matched; of a template's node, about the first instance or all."""
    if laying.rule.nodes[node].block is None:
        return code.format(f"v{node}")
    if not isinstance(place, ir.At):
        raise _NotFixed
    if place.index == ir.Const(0):
        return code.format(f"I{place.block}[0][{node}]")
    return _of_instances(code.format(f"i[{node}]"), place.block)


def _note_value(laying: _Laying, value: ir.Value) -> None:
    """Put what an attribute expression reads into the key."""
    read = objects_read(value, laying.names)
    if read is None:
        raise _NotFixed
    for what, place, number in read:
        if what == "attrs":
            _note_attributes(laying, place, number)
        elif what in ("types", "op"):
            laying.key[_at(laying, place, number, f"{what}[{{}}]")] = None
        elif what == "capture" and place == ir.OWN:
            laying.key[f"c{number}"] = laying.key[f"type(c{number})"] = None
        elif what != "instances":  # how many there are is in the key
            raise _NotFixed


# ── code ────────────────────────────────────────────────────────────────────────────────────────────────────


def emit_key(writer: Writer, place: Place, layout: Layout) -> str:
    """Emit the new nodes' numbers (`n0`, `n1`, …) and the look-up of a stamp (variable `stamp`, its `key`);
    the name of the table.
    """
    stamps = writer.names.constant(StampTable())
    writer.line(
        place,
        "n0 = first_new; " + "; ".join(f"n{k} = first_new + {k}" for k in range(1, len(layout.operators))),
    )
    writer.line(place, f"key = ({''.join(f'{part}, ' for part in layout.key)})")
    if all(part.startswith(("types[", "op[", "w_")) for part in layout.key):
        writer.line(place, f"stamp = {stamps}.get(key)")
        return stamps
    writer.line(place, f"try: stamp = {stamps}.get(key)")
    writer.line(place, "except TypeError: stamp = key = None")  # an array among the attributes
    return stamps


def emit_stamped(writer: Writer, place: Place, layout: Layout) -> None:
    """Emit the code that appends all nodes of `stamp`, but for their names and users."""
    count, several = len(layout.operators), layout.several
    if several is not None:
        writer.line(place, f"projected = range(first_new + {count}, first_new + len(stamp.types))")
    more = "" if several is None else "*(PROJ,) * len(projected), "
    writer.line(place, f"op_extend(({''.join(f'{operator}, ' for operator in layout.operators)}{more}))")
    more = "" if several is None else f"*(({several},),) * len(projected), "
    lines = [tuple_code(items) for items in layout.operands]
    if last := (tuple_code(layout.operands[-1]) if lines.count(lines[-1]) > 1 else ""):
        writer.line(place, f"same = {last}")  # one tuple for all fields of a call
    shown = "".join(f"{'same' if line == last else line}, " for line in lines)
    writer.line(place, f"operands_extend(({shown}{more}))")
    writer.line(place, "attrs_extend(stamp.attrs); types_extend(stamp.types)")
    constants = [k for k, operator in enumerate(layout.operators) if operator == "CONST"]
    for number, k in enumerate(constants):
        writer.line(place, f"values[n{k}] = stamp.values[{number}][1]")


def emit_readers(writer: Writer, place: Place, layout: Layout) -> None:
    """Emit the code that leaves the nodes of `stamp` without names, and notes who reads them and what they
    read.
    """
    count, several = len(layout.operators), layout.several
    nameless = repr((None,) * count) if several is None else "(None,) * len(stamp.types)"
    readers = [readers_of(layout, f"n{k}") for k in range(count)]
    more = ""
    if several is not None:
        readers[int(several[1:])].append("*projected")
        more = "*((),) * len(projected), "
    noted = "".join(f"{tuple_code(mine)}, " for mine in readers)
    writer.line(place, f"names_extend({nameless}); users_extend(({noted}{more}))")
    if several is not None:
        writer.line(
            place,
            f"if len(users[{several}]) > {MANY_USERS}: users[{several}] = dict.fromkeys(users[{several}])",
        )
    for k, items in enumerate(layout.operands):
        for position, item in enumerate(dict.fromkeys([item for item in items if item[0] in "v*"])):
            if item[0] == "*":
                writer.line(place, f"for o in {item[1:]}:")
                writer.note_user(place.deeper(), "o", f"n{k}", True)
            else:
                writer.note_user(place, item, f"n{k}", position > 0)


def readers_of(layout: Layout, item: str) -> list[str]:
    """The new nodes that read a node."""
    return [f"n{k}" for k, items in enumerate(layout.operands) if item in items]


class StampTable(dict[object, Stamp]):
    """Key → stamp, for all graphs."""


__all__ = [
    "RUNTIME", "Layout", "Stamp", "emit_key", "emit_readers", "emit_stamped", "keep_stamp", "layout_of",
    "readers_of",
]

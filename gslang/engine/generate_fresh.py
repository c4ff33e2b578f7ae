"""Generated code for targets of which all is known beforehand: which nodes are new, that each output gets one
of its own, and that nothing goes on reading an old one.

All users move to the new nodes and the old outputs go, without a call of `Edits`. Who reads what is noted at
the very end, when new nodes come and old ones go in the same step.
"""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.footprint import admitted
from gslang.engine.code_writer import Place, Writer, tuple_code
from gslang.engine.generate_outline import OutlinedLayout, OutlinedStamps
from gslang.engine.generate_removal import emit_removal
from gslang.engine.generate_replace import (
    emit_end,
    emit_misfit,
    emit_redirection,
    greatest_label,
    may_be_output,
    reads_an_output,
)
from gslang.engine.generate_stamp import Layout, emit_stamped, readers_of
from gslang.engine.generate_target import may_leave_unused
from gslang.engine.worklist import Made
from gslang.graph.graph import CONST, OUTLINE, PROJ, TUPLE
from gslang.graph.order import GAP


def all_fresh(writer: Writer, layout: Layout) -> bool:
    """True if each output is replaced by a new node of its own that no other new node reads, and all it reads
    is known."""
    rule, plan, targets = writer.plan.rule, writer.plan, writer.plan.rule.target.targets
    outputs = layout.outputs
    if (
        rule.blocks or len(set(outputs)) < len(outputs) or not all(name[0] == "n" for name in outputs)
        or reads_an_output(plan)
    ):
        return False
    if any(name in items for items in layout.operands for name in outputs):
        return False
    if not all(writer.names.is_there(k) for k in range(len(rule.nodes))):
        return False
    sources = {target.node for target in targets if isinstance(target, ir.SourceNode)}
    return not may_leave_unused(rule) and not any(may_be_output(plan, node) for node in sources)


def emit_fresh(writer: Writer, place: Place, layout: Layout, bound: list[int]) -> None:
    """Emit what follows when the new nodes are there, but for their names and users."""
    count, nows = len(layout.operators), tuple_code(layout.outputs)
    if writer.traced:
        writer.line(place, f"old, now = {tuple_code(_olds(writer))}, {nows}")
    _emit_room(writer, place, count)
    _emit_typed(writer, place, layout)
    writer.line(
        place,
        f"if step > 0 and len(label) == first_new: label.extend(range(high - step * {count - 1}, high + 1, "
        "step))",
    )
    writer.line(place, f"else: place_new({tuple_code(_olds(writer))}, {nows}, first_new)")
    _emit_moved(writer, place, layout)
    emit_end(writer, place, bound)


def emit_outlined(writer: Writer, place: Place, outlined: OutlinedLayout, count: int) -> None:
    """Emit the application with outlines, which returns, where they are wanted and there is room for the
    whole target's `count` labels.
    """
    stamps, operators = (
        writer.names.constant(OutlinedStamps(outlined)), writer.names.constant(outlined.operators),
    )
    known = " and ".join(f"{leaf} in values" for leaf in outlined.leaves)
    writer.outlines.append(operators)
    writer.line(place, f"if outlining_{len(writer.outlines) - 1} and stamp is not None and {known}:")
    inner = place.deeper()
    writer.line(inner, f"less = {stamps}.get(id(stamp))")
    writer.line(inner, f"if less is None: less = {stamps}.of(stamp)")
    _emit_room(writer, inner, count)
    writer.line(inner, "if less and step > 0 and len(label) == first_new:")
    inner = inner.deeper()
    writer.line(inner, "stamp = less")
    emit_stamped(writer, inner, outlined.layout)
    _emit_typed(writer, inner, outlined.layout)
    labels = tuple_code(f"high - step * {count - 1 - k}" for k in outlined.places)
    writer.line(inner, f"label.extend({labels})")
    _emit_moved(writer, inner, outlined.layout)
    writer.line(inner, "return True")


def _olds(writer: Writer) -> list[str]:
    return [f"v{k}" for k in writer.plan.rule.outputs]


def _emit_typed(writer: Writer, place: Place, layout: Layout) -> None:
    olds, nows = _olds(writer), layout.outputs
    emit_misfit(
        writer, place, " or ".join(f"types[{now}] is not types[{old}]" for old, now in zip(olds, nows)),
        tuple_code(olds), tuple_code(nows),
    )
    writer.line(place.deeper(), f"refine_types({tuple_code(olds)}, {tuple_code(nows)})")


def _emit_room(writer: Writer, place: Place, count: int) -> None:
    """The outputs' `readers`, and the room for the labels of `count` new nodes before them."""
    olds, inner = _olds(writer), place.deeper()
    writer.line(place, f"low = {greatest_label(writer)}")
    if len(olds) == 1:
        writer.line(place, f"readers = users[{olds[0]}]")
        writer.line(place, f"high = label[{olds[0]}]")
    else:
        writer.line(place, f"readers = users[{olds[0]}]")
        others = " or ".join(f"users[{old}] != readers" for old in olds[1:])
        # the most frequent case
        writer.line(place, f"if len(readers) == 1 and not ({others}): high = label[readers[0]] - 1")
        writer.line(place, "else:")
        writer.line(inner, f"readers = dict.fromkeys([{', '.join(f'*users[{old}]' for old in olds)}])")
        writer.line(inner, f"high = min([label[u] for u in readers], default=low + {2 * GAP}) - 1")
    writer.line(place, f"step = (high - low) // {count}")


def _emit_moved(writer: Writer, place: Place, layout: Layout) -> None:
    """The new nodes have labels: `readers` read them, they have the names of the old ones, and these go."""
    olds, inner, count = _olds(writer), place.deeper(), len(layout.operators)
    before = dict(zip(layout.outputs, olds))
    if len(olds) == 1:
        emit_redirection(writer, place, olds[0], layout.outputs[0])
    else:
        moved = ", ".join(f"{old}: {now}" for now, old in before.items())
        writer.line(place, f"moved = {{{moved}}}.get")
        writer.line(place, "for u in readers: operands[u] = tuple(map(moved, operands[u], operands[u]))")
    if (made := _made(writer, layout)) is not None:
        writer.relevant.append(writer.names.constant(made))
        writer.line(place, f"for k in relevant_{len(writer.relevant) - 1}: seeds.append(first_new + k)")
    else:
        writer.line(place, f"seeds += range(first_new, first_new + {count})")
    writer.line(place, "seeds += readers; rest = []")
    writer.line(place, "if additions:")
    writer.line(inner, "for u in readers: note(u)")
    new = [f"n{k}" for k in range(count)]
    names = tuple_code([f"names[{before[node]}]" if node in before else "None" for node in new])
    users = tuple_code([
        f"users[{before[node]}]" if node in before else tuple_code(readers_of(layout, node)) for node in new
    ])
    writer.line(place, f"names_extend({names}); users_extend({users})")
    writer.line(place, f"{' = '.join(f'names[{old}]' for old in olds)} = None")
    for now, old in before.items():
        writer.line(place, f"if {old} in output_uses: G.replace_outputs({{{old}: {now}}})")
        writer.line(place, f"elif not users[{now}]: rest.append({now})")  # nobody used the old one
    _emit_reading(writer, place, layout)


def _made(writer: Writer, layout: Layout) -> Made | None:
    """The new nodes, as far as the rule tells; None if it leaves an operator open."""
    kinds = {"TUPLE": TUPLE, "PROJ": PROJ, "CONST": CONST, "OUTLINE": OUTLINE}
    operators = [name.strip("'") if name[0] == "'" else kinds.get(name) for name in layout.operators]

    def operand(item: str) -> int | frozenset[str] | None:
        if item[0] == "n":
            return int(item[1:])
        return admitted(writer.plan.rule.nodes, int(item[1:])) if item[0] == "v" else None

    made = [
        (operator, tuple(map(operand, items)))
        for operator, items in zip(operators, layout.operands) if operator is not None
    ]
    return tuple(made) if len(made) == len(operators) else None


def _emit_reading(writer: Writer, place: Place, layout: Layout) -> None:
    """Note the new nodes as readers of what they read, and let the old ones go."""
    nodes, leaves = writer.plan.rule.nodes, {}
    for item in dict.fromkeys([item for items in layout.operands for item in items if item[0] == "v"]):
        number, readers = int(item[1:]), readers_of(layout, item)
        if isinstance(nodes[number], ir.LeafNode):
            leaves[number] = readers
        else:  # an interior node: noted before it is asked who else reads it
            writer.line(place, f"G.exchange_users({item}, (), {tuple_code(readers)})")
    emit_removal(writer, place, leaves)

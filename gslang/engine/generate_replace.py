"""Generated code that lets new nodes take the place of a match's outputs.

Three ways, the fastest that is right for the rule: in line, where all is known beforehand (which nodes are
new, that each output gets one of its own, and that nothing goes on reading an old one); `Edits.replace_one`
and `Edits.replace` for the rest.
"""

from __future__ import annotations

from collections.abc import Collection

from gslang.check import checked as ir
from gslang.check.definite import new_nodes_read
from gslang.engine.code_writer import Place, Writer, tuple_code
from gslang.engine.generate_outline import OutlinedLayout, OutlinedStamps
from gslang.engine.generate_stamp import Layout, emit_stamped
from gslang.engine.generate_target import may_leave_unused, stands_for_several
from gslang.engine.lower import may_coincide
from gslang.engine.program import MatchProgram
from gslang.graph.graph import MANY_USERS
from gslang.graph.order import GAP


def emit_replacement(
    writer: Writer, place: Place, layout: Layout | None, one: bool, single: bool, outputs: str,
    bound: list[int], templates: frozenset[int],
) -> None:  # fmt: skip
    """Emit what follows when `now` is built: compare types, replace.

    `one`: one output, one new node; `single`: `now` is a node.
    """
    rule, inner = writer.plan.rule, place.deeper()
    if layout is not None and all_fresh(writer, layout):
        _emit_fresh(writer, place, layout)
        _emit_end(writer, place, bound)
        return
    fixed = rule.output_block is None and not any(
        stands_for_several(rule.target, number) for number in rule.target.outputs
    )
    if one:
        old = f"v{rule.outputs[0]}"
        _emit_misfit(writer, place, f"now < 0 or types[now] is not types[{old}]", f"({old},)", "(now,)")
    else:
        writer.line(place, f"old = {outputs}")
        if single:
            writer.line(place, "now = (now,)")
        some = (
            " or ".join(
                f"now[{k}] < 0 or types[now[{k}]] is not types[v{node}]"
                for k, node in enumerate(rule.outputs)
            )
            if fixed
            else "True"
        )
        _emit_misfit(writer, place, some, "old", "now")
    if one and _is_input(writer):
        _emit_shortcut(writer, place, bound)
        return
    same = f"now == {old}" if one else "all([a == b for a, b in zip(old, now)])"
    writer.line(place, f"if {same}:")
    writer.line(inner, "if len(op) > first_new: G.discard_from(first_new)")
    writer.line(inner, place.fail)
    low, unused = _greatest_label(writer), may_leave_unused(rule)
    if one:
        _emit_removing(writer, place, f"replace_one({old}, now, first_new, {low}, {unused}, seeds)")
        if writer.traced:
            writer.line(place, f"old, now = ({old},), (now,)")
        _emit_end(writer, place, bound)
        return
    staying = "()"
    if _reads_an_output(writer.plan):
        nodes = rule.nodes
        staying = all_slots(
            rule, [f"v{k}" for k in bound if not isinstance(nodes[k], ir.LeafNode)],
            [k for k in sorted(templates) if not isinstance(nodes[k], ir.LeafNode)],
        )  # fmt: skip
    _emit_removing(writer, place, f"replace(old, now, first_new, {low}, {unused}, {staying}, seeds)")
    _emit_end(writer, place, bound)


def scope_code(writer: Writer, bound: list[int]) -> str:
    """An expression for the match as it is handed over."""
    rule = writer.plan.rule
    slots = ", ".join(f"v{k}" if k in bound else "-2" for k in range(len(rule.nodes)))
    chosen = ", ".join(f"{k}: b{k}" for k, node in enumerate(rule.nodes) if isinstance(node, ir.AltNode))
    captures = ", ".join(f"{k}: c{k}" for k in range(len(rule.captures)))
    variables = ", ".join(f"{v.name!r}: w_{v.name}" for v in rule.variables)
    instances = ", ".join(f"I{b}" for b in range(len(rule.blocks)))
    return f"scope_of(G, [{slots}], {{{chosen}}}, {{{captures}}}, {{{variables}}}, [{instances}])"


def _emit_end(writer: Writer, place: Place, bound: list[int]) -> None:
    """The application is done."""
    writer.line(
        place,
        f"return record({scope_code(writer, bound)}, first_new, old, now, removed)" if writer.traced
        else "return True",
    )


def _emit_removing(writer: Writer, place: Place, call: str) -> None:
    """A call that removes nodes and returns them."""
    writer.line(place, f"removed += {call}" if writer.traced else call)


def _emit_misfit(writer: Writer, place: Place, condition: str, olds: str, nows: str) -> None:
    inner = place.deeper()
    writer.line(place, f"if {condition}:")
    writer.line(inner, f"why = type_mismatch({olds}, {nows})")
    writer.line(inner, "if why:")
    writer.line(inner.deeper(), "G.discard_from(first_new)")
    writer.line(inner.deeper(), "return Failure(rule.name, G.label(start), why)")


# ── in line ─────────────────────────────────────────────────────────────────────────────────────────────────


def _emit_fresh(writer: Writer, place: Place, layout: Layout) -> None:
    """All users move to the new nodes, and the old outputs go."""
    count = len(layout.operators)
    if writer.traced:
        writer.line(place, f"old, now = {tuple_code(_olds(writer))}, {tuple_code(layout.outputs)}")
    _emit_room(writer, place, count)
    _emit_typed(writer, place, layout)
    writer.line(
        place,
        f"if step > 0 and len(label) == first_new: label.extend(range(high - step * {count - 1}, high + 1, "
        "step))",
    )
    olds, nows = tuple_code(_olds(writer)), tuple_code(layout.outputs)
    writer.line(place, f"else: place_new({olds}, {nows}, first_new)")
    _emit_moved(writer, place, layout)


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
    writer.line(inner, "stamp = less; moving = readers")
    emit_stamped(writer, inner, outlined.layout)
    writer.line(inner, "readers = moving")
    _emit_typed(writer, inner, outlined.layout)
    labels = tuple_code(f"high - step * {count - 1 - k}" for k in outlined.places)
    writer.line(inner, f"label.extend({labels})")
    _emit_moved(writer, inner, outlined.layout)
    writer.line(inner, "return True")


def _olds(writer: Writer) -> list[str]:
    return [f"v{k}" for k in writer.plan.rule.outputs]


def _emit_typed(writer: Writer, place: Place, layout: Layout) -> None:
    olds, nows = _olds(writer), layout.outputs
    _emit_misfit(
        writer, place, " or ".join(f"types[{now}] is not types[{old}]" for old, now in zip(olds, nows)),
        tuple_code(olds), tuple_code(nows),
    )
    writer.line(place.deeper(), f"refine_types({tuple_code(olds)}, {tuple_code(nows)})")


def _emit_room(writer: Writer, place: Place, count: int) -> None:
    """The outputs' `readers`, and the room for the labels of `count` new nodes before them."""
    olds, inner = _olds(writer), place.deeper()
    writer.line(place, f"low = {_greatest_label(writer)}")
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
    """The new nodes have labels: `readers` read them, and the old ones go."""
    olds, inner, count = _olds(writer), place.deeper(), len(layout.operators)
    pairs = list(zip(olds, layout.outputs))
    if len(olds) == 1:
        _emit_redirection(writer, place, olds[0], layout.outputs[0])
    else:
        writer.line(place, f"moved = {{{', '.join(f'{old}: {now}' for old, now in pairs)}}}.get")
        writer.line(place, "for u in readers: operands[u] = tuple(map(moved, operands[u], operands[u]))")
    if all(
        operator[0] == "'" or operator in ("TUPLE", "PROJ", "CONST", "OUTLINE")
        for operator in layout.operators
    ):
        writer.relevant.append(tuple_code(layout.operators))
        writer.line(place, f"for k in relevant_{len(writer.relevant) - 1}: seeds.append(first_new + k)")
    else:
        writer.line(place, f"seeds += range(first_new, first_new + {count})")
    writer.line(place, "seeds += readers; rest = []")
    writer.line(place, "if additions:")
    writer.line(inner, "for u in readers: note(u)")
    for old, now in pairs:
        writer.line(place, f"users[{now}] = users[{old}]; names[{now}] = names[{old}]")
        writer.line(place, f"if {old} in output_uses: G.replace_outputs({{{old}: {now}}})")
        writer.line(place, f"elif not users[{now}]: rest.append({now})")  # nobody used the old one
    for column, empty in (("users", "()"), ("names", "None")):
        writer.line(place, f"{' = '.join(f'{column}[{old}]' for old in olds)} = {empty}")
    kept = {item for items in layout.operands for item in items}
    _emit_removal(writer, place, kept=kept)


def _emit_shortcut(writer: Writer, place: Place, bound: list[int]) -> None:
    """All users of the output read an input of the match instead."""
    rule, inner = writer.plan.rule, place.deeper()
    old, target = rule.outputs[0], rule.target.targets[rule.target.outputs[0]]
    assert isinstance(target, ir.SourceNode)
    now = f"v{target.node}"
    if writer.traced:
        writer.line(place, f"old, now = (v{old},), ({now},)")
    writer.line(place, f"if types[{now}] is not types[v{old}]:")
    _emit_removing(writer, inner, f"replace_one(v{old}, {now}, first_new, 0, False, seeds)")
    _emit_end(writer, inner, bound)
    writer.line(place, f"readers, into = users[v{old}], users[{now}]")
    _emit_redirection(writer, place, f"v{old}", now)
    writer.line(
        place, f"if type(into) is tuple and len(into) + len(readers) <= {MANY_USERS} and not additions:"
    )
    writer.line(inner, "for u in readers:")
    writer.line(inner.deeper(), "if u not in into: into += (u,)")
    writer.line(inner, f"users[{now}] = into")
    writer.line(place, "else:")
    writer.line(inner, "for u in readers:")
    writer.line(inner.deeper(), f"add_user({now}, u)")
    writer.line(inner.deeper(), "note(u)")
    writer.line(place, f"seeds += readers; rest = []; users[v{old}] = ()")
    writer.line(place, f"if v{old} in output_uses: G.replace_outputs({{v{old}: {now}}})")
    _emit_removal(writer, place, now)
    _emit_end(writer, place, bound)


def _emit_redirection(writer: Writer, place: Place, old: str, now: str) -> None:
    writer.line(place, "for u in readers:")
    writer.line(place.deeper(), "below = operands[u]")
    writer.line(
        place.deeper(),
        f"operands[u] = ({now},) if len(below) == 1 else tuple([{now} if o == {old} else o for o in below])",
    )


def _emit_removal(
    writer: Writer, place: Place, now: str | None = None, kept: Collection[str] = ()
) -> None:
    """The outputs have no users any more. With them go the interior nodes, where nothing but them was their
    user.

    An input may be an interior node at once; `now` is an input that stands for the output from now on. New
    nodes read those of `kept`.
    """
    rule = writer.plan.rule
    inside = _only_inside(rule)
    if not inside:
        _emit_going(writer, place, list(rule.outputs), kept)
        return
    alone = " and ".join(
        f"len(users[v{k}]) == {len(_readers(rule, k))}{'' if now is None else f' and v{k} != {now}'}"
        for k in inside
    )
    writer.line(place, f"if {alone}:")
    for k in inside:
        writer.line(place.deeper(), f"users[v{k}] = ()")
    _emit_going(writer, place.deeper(), [*rule.outputs, *inside], kept)
    writer.line(place, "else:")
    _emit_going(writer, place.deeper(), list(rule.outputs), kept)


def _emit_going(writer: Writer, place: Place, going: list[int], kept: Collection[str]) -> None:
    rule, inner = writer.plan.rule, place.deeper()

    def all_set(column: str, empty: str) -> None:
        writer.line(place, f"{' = '.join(f'{column}[v{k}]' for k in going)} = {empty}")

    all_set("op", "DEAD")
    all_set("label", "-1")
    reading: dict[int, list[int]] = {}
    for k in going:
        for child in dict.fromkeys(rule.nodes[k].below):
            if child not in going:
                reading.setdefault(child, []).append(k)
    for operand, gone in reading.items():
        writer.line(place, f"readers = users[v{operand}]")
        writer.line(place, "if type(readers) is dict:")
        for k in gone:
            writer.line(inner, f"readers.pop(v{k}, None)")
        test = f"u != v{gone[0]}" if len(gone) == 1 else f"u not in ({', '.join(f'v{k}' for k in gone)})"
        every = tuple_code([f"v{k}" for k in gone])
        count = len(gone)  # most often they are the oldest
        oldest = f"readers and readers[0] == v{gone[0]}" if count == 1 else f"readers[:{count}] == {every}"
        writer.line(place, f"elif {oldest}: users[v{operand}] = readers = readers[{count}:]")
        writer.line(place, f"else: users[v{operand}] = readers = tuple([u for u in readers if {test}])")
        pattern = rule.nodes[operand]
        # else no pattern has more than a leaf there
        is_seed = not isinstance(pattern, ir.LeafNode) or pattern.kind == "any"
        if f"v{operand}" in kept:
            if is_seed:
                writer.line(place, f"seeds.append(v{operand})")
        elif is_seed:
            writer.line(place, f"if readers: seeds.append(v{operand})")
            writer.line(place, f"else: rest.append(v{operand})")
        else:
            writer.line(place, f"if not readers: rest.append(v{operand})")
    all_set("operands", "()")
    all_set("attrs", "NO_ATTRS")
    writer.line(place, f"G.dead += {len(going)}")
    if writer.traced:
        writer.line(place, f"removed += ({', '.join(f'v{k}' for k in going)},)")
        writer.line(place, "removed += remove(rest, seeds)")
    else:
        writer.line(place, "if rest: remove(rest, seeds)")


# ── what is known beforehand ────────────────────────────────────────────────────────────────────────────────


def all_fresh(writer: Writer, layout: Layout) -> bool:
    """True if each output is replaced by a new node of its own that no other new node reads, and all it reads
    is known."""
    rule, plan, targets = writer.plan.rule, writer.plan, writer.plan.rule.target.targets
    outputs = layout.outputs
    if (
        rule.blocks or len(set(outputs)) < len(outputs) or not all(name[0] == "n" for name in outputs)
        or _reads_an_output(plan)
    ):
        return False
    if any(name in items for items in layout.operands for name in outputs):
        return False
    if not all(writer.names.is_there(k) for k in range(len(rule.nodes))):
        return False
    sources = {target.node for target in targets if isinstance(target, ir.SourceNode)}
    return not may_leave_unused(rule) and not any(_may_be_output(plan, node) for node in sources)


def _is_input(writer: Writer) -> bool:
    """True if one input of the match stands for its one output, and all that the source's nodes read is
    known."""
    rule = writer.plan.rule
    target = rule.target.targets[rule.target.outputs[0]]
    if (
        rule.blocks or not isinstance(target, ir.SourceNode)
        or not isinstance(rule.nodes[target.node], ir.LeafNode)
    ):
        return False
    return target.place == ir.OWN and all(writer.names.is_there(k) for k in range(len(rule.nodes)))


def _only_inside(rule: ir.CheckedRule) -> list[int]:
    """Interior nodes that only outputs and such nodes read in the pattern; users before what they use."""
    found: dict[int, None] = dict.fromkeys(rule.outputs)
    left = [k for k in rule.interior if isinstance(rule.nodes[k], ir.OpNode)]
    while ready := [k for k in sorted(left) if all(parent in found for parent in _readers(rule, k))]:
        found.update(dict.fromkeys(ready))
        left = [k for k in left if k not in found]
    return [k for k in found if k not in rule.outputs]


def _readers(rule: ir.CheckedRule, node: int) -> list[int]:
    return [k for k, other in enumerate(rule.nodes) if node in other.below]


def _may_be_output(plan: MatchProgram, node: int) -> bool:
    """True if a pattern node may have matched an output. No input has, by convexity."""
    rule = plan.rule
    if isinstance(rule.nodes[node], ir.LeafNode):
        return False
    return (
        node in rule.outputs or node not in plan.distinct
        and any(may_coincide(plan.rule.nodes[node], plan.rule.nodes[root]) for root in rule.outputs)
    )


def _reads_an_output(plan: MatchProgram) -> bool:
    """True if a matched node may read an output of the match. No input does, by convexity."""
    nodes, rule = plan.rule.nodes, plan.rule
    if any(isinstance(node, ir.AltNode) for node in nodes):
        return True
    roots = rule.outputs if rule.output_block is None else (rule.blocks[rule.output_block].root,)
    used = {child for node in nodes for child in node.below if not isinstance(nodes[child], ir.LeafNode)}
    return any(
        node in roots or node not in plan.distinct
        and any(may_coincide(plan.rule.nodes[node], plan.rule.nodes[root]) for root in roots)
        for node in used
    )


def _greatest_label(writer: Writer) -> str:
    """The greatest label of what the new nodes read, as code, where that is a fixed list of nodes. No other
    node counts: the labels of new nodes are what the readable engine gives them.
    """
    rule = writer.plan.rule
    needed: dict[int, None] = dict.fromkeys(rule.target.outputs)
    for number in (stack := list(needed)):
        target = rule.target.targets[number]
        below = [k for k in (*target.parts, *new_nodes_read(target, rule.lets)) if k not in needed]
        needed.update(dict.fromkeys(below))
        stack += below
    nodes: set[int] = set()
    for number in needed:
        target = rule.target.targets[number]
        if target.optional or isinstance(target, ir.SeveralNodes):
            return "None"
        if isinstance(target, ir.SourceNode):
            pattern = rule.nodes[target.node]
            if pattern.block is not None or pattern.optional or not writer.names.is_there(target.node):
                return "None"
            nodes.add(target.node)
    if writer.highest_of == frozenset(nodes):
        return "highest"
    return f"max({', '.join([*(f'label[v{k}]' for k in sorted(nodes)), '0', '0'])})"


def all_slots(rule: ir.CheckedRule, outer: list[str], chosen: list[int] | None = None) -> str:
    """A display of the outer slots and of the instances' (all, or those of `chosen` template nodes)."""
    parts = list(outer)
    for number in range(len(rule.blocks)):
        if chosen is None:
            parts.append(f"*[n for i in I{number} for n in i.values()]")
        else:
            mine = tuple(k for k in chosen if rule.nodes[k].block == number)
            parts.append(f"*[i[k] for i in I{number} for k in {mine!r} if k in i]")
    return f"({''.join(f'{part}, ' for part in parts)})"

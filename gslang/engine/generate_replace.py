"""Generated code that lets new nodes take the place of a match's outputs.

Three ways, the fastest that is right for the rule: in line, where all is known beforehand (`generate_fresh`)
or an input takes the place of the one output; `Edits.replace_one` and `Edits.replace` for the rest.
"""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.definite import new_nodes_read
from gslang.engine.code_writer import Place, Writer
from gslang.engine.generate_removal import emit_removal
from gslang.engine.generate_target import may_leave_unused, stands_for_several
from gslang.engine.lower import may_coincide
from gslang.engine.program import MatchProgram


def emit_replacement(
    writer: Writer, place: Place, one: bool, single: bool, outputs: str, bound: list[int],
    templates: frozenset[int],
) -> None:  # fmt: skip
    """Emit what follows when `now` is built: compare types, replace.

    `one`: one output, one new node; `single`: `now` is a node.
    """
    rule, inner = writer.plan.rule, place.deeper()
    fixed = rule.output_block is None and not any(
        stands_for_several(rule.target, number) for number in rule.target.outputs
    )
    if one:
        old = f"v{rule.outputs[0]}"
        emit_misfit(writer, place, f"now < 0 or types[now] is not types[{old}]", f"({old},)", "(now,)")
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
        emit_misfit(writer, place, some, "old", "now")
    if one and _is_input(writer):
        _emit_shortcut(writer, place, bound)
        return
    same = f"now == {old}" if one else "all([a == b for a, b in zip(old, now)])"
    writer.line(place, f"if {same}:")
    writer.line(inner, "if len(op) > first_new: G.discard_from(first_new)")
    writer.line(inner, place.fail)
    low, unused = greatest_label(writer), may_leave_unused(rule)
    if one:
        _emit_removing(writer, place, f"replace_one({old}, now, first_new, {low}, {unused}, seeds)")
        if writer.traced:
            writer.line(place, f"old, now = ({old},), (now,)")
        emit_end(writer, place, bound)
        return
    staying = "()"
    if reads_an_output(writer.plan):
        nodes = rule.nodes
        staying = all_slots(
            rule, [f"v{k}" for k in bound if not isinstance(nodes[k], ir.LeafNode)],
            [k for k in sorted(templates) if not isinstance(nodes[k], ir.LeafNode)],
        )  # fmt: skip
    _emit_removing(writer, place, f"replace(old, now, first_new, {low}, {unused}, {staying}, seeds)")
    emit_end(writer, place, bound)


def scope_code(writer: Writer, bound: list[int]) -> str:
    """An expression for the match as it is handed over."""
    rule = writer.plan.rule
    slots = ", ".join(f"v{k}" if k in bound else "-2" for k in range(len(rule.nodes)))
    chosen = ", ".join(f"{k}: b{k}" for k, node in enumerate(rule.nodes) if isinstance(node, ir.AltNode))
    captures = ", ".join(f"{k}: c{k}" for k in range(len(rule.captures)))
    variables = ", ".join(f"{v.name!r}: w_{v.name}" for v in rule.variables)
    instances = ", ".join(f"I{b}" for b in range(len(rule.blocks)))
    return f"scope_of(G, [{slots}], {{{chosen}}}, {{{captures}}}, {{{variables}}}, [{instances}])"


def emit_end(writer: Writer, place: Place, bound: list[int]) -> None:
    """The application is done."""
    writer.line(
        place,
        f"return record({scope_code(writer, bound)}, first_new, old, now, removed)" if writer.traced
        else "return True",
    )


def _emit_removing(writer: Writer, place: Place, call: str) -> None:
    """A call that removes nodes and returns them."""
    writer.line(place, f"removed += {call}" if writer.traced else call)


def emit_misfit(writer: Writer, place: Place, condition: str, olds: str, nows: str) -> None:
    inner = place.deeper()
    writer.line(place, f"if {condition}:")
    writer.line(inner, f"why = type_mismatch({olds}, {nows})")
    writer.line(inner, "if why:")
    writer.line(inner.deeper(), "G.discard_from(first_new)")
    writer.line(inner.deeper(), "return Failure(rule.name, G.label(start), why)")


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
    emit_end(writer, inner, bound)
    writer.line(place, f"readers = moved = users[v{old}]")
    emit_redirection(writer, place, f"v{old}", now)
    writer.line(place, "if additions:")
    writer.line(inner, "for u in moved: note(u)")
    writer.line(place, f"seeds += moved; rest = [] if moved else [{now}]")
    writer.line(place, f"if v{old} in output_uses: G.replace_outputs({{v{old}: {now}}})")
    emit_removal(writer, place, {target.node: ["*moved"]})
    emit_end(writer, place, bound)


def emit_redirection(writer: Writer, place: Place, old: str, now: str) -> None:
    writer.line(place, "for u in readers:")
    writer.line(place.deeper(), "below = operands[u]")
    writer.line(
        place.deeper(),
        f"operands[u] = ({now},) if len(below) == 1 else tuple([{now} if o == {old} else o for o in below])",
    )


# ── what is known beforehand ────────────────────────────────────────────────────────────────────────────────


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


def may_be_output(plan: MatchProgram, node: int) -> bool:
    """True if a pattern node may have matched an output. No input has, by convexity."""
    rule = plan.rule
    if isinstance(rule.nodes[node], ir.LeafNode):
        return False
    return (
        node in rule.outputs or node not in plan.distinct
        and any(may_coincide(plan.rule.nodes[node], plan.rule.nodes[root]) for root in rule.outputs)
    )


def reads_an_output(plan: MatchProgram) -> bool:
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


def greatest_label(writer: Writer) -> str:
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

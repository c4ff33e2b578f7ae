"""The end of a generated matcher: tests of the whole match, and what is done with it."""

from __future__ import annotations

from dataclasses import replace

from gslang.check import checked as ir
from gslang.check.walks import conjuncts
from gslang.engine.code_writer import Place, Rest, Step, Writer
from gslang.engine.generate_fresh import all_fresh, emit_fresh, emit_outlined
from gslang.engine.generate_known import emit_conditions
from gslang.engine.generate_outline import outlined_layout
from gslang.engine.generate_replace import all_slots, emit_replacement, scope_code
from gslang.engine.generate_stamp import emit_key, emit_readers, emit_stamped, layout_of
from gslang.engine.generate_target import emit_target
from gslang.engine.variants import variants


def finish(rewrites: bool) -> Step:
    """Conditions 4 and 5, `where`, and handing over or rewriting."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        rule = writer.plan.rule
        templates = frozenset(k for k, node in enumerate(rule.nodes) if node.block is not None)
        bound = sorted((place.certain | place.possible) - templates)
        writer.sure = place.certain | templates
        outputs = _outputs_code(rule)
        matched = all_slots(rule, [f"v{k}" for k in bound])
        _check_outputs(writer, place, bound)
        _check_interior(writer, place, bound, matched, outputs)
        alternatives = any(isinstance(node, ir.AltNode) for node in rule.nodes)
        if rule.output_block is None and (len(rule.outputs) > 1 or alternatives):
            leaves = [f"v{k}" for k in bound if isinstance(rule.nodes[k], ir.LeafNode)]
            inputs = all_slots(
                rule, leaves, [k for k in sorted(templates) if isinstance(rule.nodes[k], ir.LeafNode)]
            )
            # an input that depends on an output has a greater label
            if not rule.blocks and leaves and not alternatives:
                writer.line(place, f"highest = max({', '.join(f'label[{leaf}]' for leaf in leaves)}, 0)")
                earliest = ", ".join(f"label[v{k}]" for k in rule.outputs)
                writer.check(place, f"highest >= min({earliest}) and not convex(G, {inputs}, {outputs})")
                writer.highest_of = frozenset(k for k in bound if isinstance(rule.nodes[k], ir.LeafNode))
            else:
                writer.check(place, f"not convex(G, {inputs}, {outputs})")
        writer.names.keeps_lets = True
        mark = len(writer.lines)
        emit_conditions(writer, place, [c for c in conjuncts(rule.where) if c not in writer.tested])
        for variable in rule.variables:
            _name_operator(writer, place, variable.name)
        if rewrites:
            _rewrite(writer, place, bound, templates, outputs)
        else:
            _hand_over(writer, place, bound)
        writer.names.keeps_lets = False
        if writer.names.lets:
            names = " = ".join(sorted(writer.names.lets.values()))
            writer.lines.insert(mark, "    " * place.indent + f"{names} = UNSET")

    return emit


def _outputs_code(rule: ir.CheckedRule) -> str:
    if rule.output_block is None:
        return f"({''.join(f'v{k}, ' for k in rule.outputs)})"
    return f"[i[{rule.blocks[rule.output_block].root}] for i in I{rule.output_block}]"


def _check_outputs(writer: Writer, place: Place, bound: list[int]) -> None:
    """Condition 3 for nodes that are outputs only if some branch was chosen."""
    rule, maybe_outputs = writer.plan.rule, writer.plan.maybe_outputs
    chosen = {
        m.node: " or ".join(" and ".join(f"b{a} == {k}" for a, k in way) for way in m.paths)
        for m in maybe_outputs
    }
    for maybe in maybe_outputs:
        inside = [k for k in maybe.others if rule.nodes[k].block is not None]
        sure = all_slots(rule, [f"v{k}" for k in maybe.others if k in bound and k not in chosen], inside)
        same = [
            f"v{maybe.node} in {sure}",
            *(f"v{maybe.node} == v{k} and ({chosen[k]})" for k in maybe.others if k in chosen),
        ]
        writer.check(place, f"({chosen[maybe.node]}) and ({' or '.join(same)})")


def _check_interior(writer: Writer, place: Place, bound: list[int], matched: str, outputs: str) -> None:
    """Condition 4: no user outside, no graph output."""
    rule = writer.plan.rule
    alternatives = any(isinstance(node, ir.AltNode) for node in rule.nodes)
    interior = [k for k in sorted(rule.interior) if k in bound]
    if rule.blocks:
        inner = [
            k
            for k in sorted(rule.interior)
            if rule.nodes[k].block is not None and rule.nodes[k].block != rule.output_block
        ]
        if interior or inner:
            some = all_slots(rule, [f"v{k}" for k in interior], inner)
            writer.check(place, f"not private(G, {some}, {{*{matched}}}, {outputs})")
    elif alternatives and interior:
        some = ", ".join(f"v{k}" for k in interior)
        writer.check(place, f"not private(G, ({some},), {{*{matched}}}, {outputs})")
    else:
        for k in interior:
            alone = sum(k in other.below for other in rule.nodes) == 1
            test = f"len(users[v{k}]) == 1" if alone else "False"
            writer.check(
                place, f"v{k} in output_uses or not ({test} or all([u in {matched} for u in users[v{k}]]))"
            )


def _name_operator(writer: Writer, place: Place, variable: str) -> None:
    """`w_f`: the operator that variable `f` matched."""
    nodes = writer.plan.rule.nodes
    same = [k for k, node in enumerate(nodes) if isinstance(node, ir.CallNode) and node.variable == variable]
    sure = [k for k in same if k in place.certain]
    if sure:
        writer.line(place, f"w_{variable} = op[v{sure[0]}]")
        return
    inside = "".join(
        f"op[I{nodes[k].block}[0][{k}]] if I{nodes[k].block} else "
        for k in same if nodes[k].block is not None
    )
    choice = "".join(f"op[v{k}] if v{k} != -2 else " for k in same if k in place.possible)
    writer.line(place, f"w_{variable} = {inside}{choice}None")


def _hand_over(writer: Writer, place: Place, bound: list[int]) -> None:
    writer.line(place, f"result = accept({scope_code(writer, bound)})")
    writer.line(place, "if result is not None: return result")
    writer.line(place, place.fail)


def _rewrite(writer: Writer, place: Place, bound: list[int], templates: frozenset[int], outputs: str) -> None:
    """The code that `_apply` emits; once for each way in which optional inputs may be there, where the target
    tells them apart.
    """
    plan, names = writer.plan, writer.names
    several = [] if writer.traced else variants(plan.rule)
    for absent, rule in several:
        here = " and ".join(
            f"v{k} {'<' if k in absent else '>='} 0"
            for k, node in enumerate(plan.rule.nodes) if node.optional
        )
        writer.line(place, f"if {here}:")
        writer.plan, writer.names = (
            replace(plan, rule=rule), replace(names, rule=rule, new_nodes={}, uncertain=None),
        )
        _apply(writer, place.deeper(), bound, templates, outputs)
    writer.plan, writer.names = plan, names
    if not several:
        _apply(writer, place, bound, templates, outputs)


def _apply(writer: Writer, place: Place, bound: list[int], templates: frozenset[int], outputs: str) -> None:
    """Build, compare types, replace. A value that is not known means that this is no match: go on."""
    rule = writer.plan.rule
    writer.line(place, "first_new = len(op)")
    if writer.traced:
        writer.line(place, "removed = []")
    inner = place.deeper()
    layout = layout_of(writer)
    if layout is None:
        single = _build(writer, place)
    else:
        fresh = all_fresh(writer, layout)
        stamps = emit_key(writer, place, layout)
        outlined = outlined_layout(rule, layout) if fresh and not writer.traced else None
        if outlined is not None:
            emit_outlined(writer, place, outlined, len(layout.operators))
        writer.line(place, "if stamp is None:")
        writer.line(inner, "looked_at.clear()")
        writer.remembered = True
        single = _build(writer, inner)
        writer.remembered = False
        writer.line(inner, f"keep_stamp(E, {stamps}, key, first_new)")
        if fresh:
            writer.line(inner, "del names[first_new:], users[first_new:]")
        writer.line(place, "else:")
        emit_stamped(writer, inner, layout)
        if fresh:
            emit_fresh(writer, place, layout, bound)
            return
        emit_readers(writer, inner, layout)
        outputs_now = (
            "[*projected]" if layout.several is not None
            else layout.outputs[0] if single
            else f"({', '.join(layout.outputs)},)"
        )
        writer.line(inner, f"now = {outputs_now}")
    one = single and rule.output_block is None and len(rule.outputs) == 1
    emit_replacement(writer, place, one, single, outputs, bound, templates)


def _build(writer: Writer, place: Place) -> bool:
    """Emit the code that makes the nodes one by one; whether `now` is a single node."""
    inner = place.deeper()
    writer.line(place, "try:")
    result, single = emit_target(writer, inner)
    writer.line(inner, f"now = {result}")
    writer.line(place, "except FAILURES:")
    writer.line(inner, "G.discard_from(first_new)")
    writer.line(inner, place.fail)
    writer.line(place, "except BuildError as error:")
    writer.line(inner, "G.discard_from(first_new)")
    writer.line(inner, "return Failure(rule.name, G.label(start), str(error))")
    return single

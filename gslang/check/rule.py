"""One rule: header, source, target → `CheckedRule`, or its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.reachable import reachable
from gslang.base.source import Span
from gslang.check import chains, patterns, rule_annotations, targets, templates, values, variables
from gslang.check import checked as ir
from gslang.check.attached import read_attached
from gslang.check.context import BlockOf, Lost, Lowering, NodesOf, Stop, TargetOf, ValueOf
from gslang.check.definite import new_nodes_read
from gslang.check.externs import externs_in
from gslang.check.levels import check_levels
from gslang.check.opsets import check_range
from gslang.check.order import check_order
from gslang.check.outputs import (
    check_operand_types,
    check_operands_given,
    check_replaced,
    settle_constants,
)
from gslang.check.relative_domains import check_relative_domains
from gslang.check.resolve import resolve
from gslang.check.results import Results, is_tuple, told_of, told_of_target
from gslang.check.rule_inputs import check_inputs, lower_inputs
from gslang.check.walks import walk
from gslang.dialect.dialect import Dialect
from gslang.syntax import nodes as n


def check_rule(
    rule: n.Rule, dialect: Dialect, functions: Mapping[str, n.FnDecl | n.ParamDecl]
) -> tuple[ir.CheckedRule | None, list[Diagnostic]]:
    """The checked rule, or None if it has an error; and all findings."""
    lowering = Lowering(dialect, functions, [], resolve, of_family=rule.family is not None)
    marks = rule_annotations.read(lowering, rule)
    lowering.in_a_rule = "an input is declared in parentheses after the rule's name"
    lowering.of_target = frozenset(statement.name.id for statement in rule.target.statements)
    inputs = lower_inputs(lowering, rule.inputs)
    lower_statements(lowering, rule.source)
    outputs, output_block = source_outputs(lowering, rule.source)
    where = _conditions(lowering, rule)
    source_names = set(lowering.used_inputs)
    if _has_error(lowering):
        _lose_names(lowering, rule.source)
    results = _lower_target(lowering, rule)
    if _has_error(lowering):
        return None, lowering.diagnostics
    variables.settle_calls(lowering)
    chains.let_instances_choose(lowering)
    check_inputs(lowering, rule, reached(lowering, outputs, output_block), source_names)
    _check_counts(lowering, rule, outputs, output_block, results)
    conditions = *(value for _, value in where), *lowering.lets
    check_replaced(lowering, outputs, results, conditions)
    settle_constants(lowering)
    check_operand_types(lowering)
    check_operands_given(lowering, conditions)
    blocks = _finish_blocks(lowering)
    check_levels(lowering, rule.name.span)
    check_order(
        lowering, rule, outputs, output_block, blocks, where, results,
        marks.disconnected,
    )
    if _has_error(lowering):
        return None, lowering.diagnostics
    checked = ir.CheckedRule(
        name=rule.name.id, doc=rule.doc, span=rule.name.span, dialect=dialect,
        nodes=tuple(lowering.patterns),
        inputs=inputs,
        outputs=tuple(outputs), output_block=output_block, blocks=blocks,
        variables=tuple(lowering.variables.values()),
        lets=tuple(lowering.lets),
        captures=tuple(lowering.captures),
        where=tuple(value for _, value in where),
        where_spans=tuple(condition.span for condition, _ in where),
        interior=_interior(lowering, outputs, blocks, output_block, results),
        target=ir.TargetGraph(
            tuple(lowering.targets), tuple(lowering.target_names), tuple(lowering.target_spans),
            tuple(results)
        ),
        family=None if rule.family is None else rule.family.id,
        once=marks.once, disconnected=marks.disconnected, approximate=marks.approximate,
        changes=marks.changes, tags=marks.tags, opset=marks.opset,
    )
    checked = replace(checked, externs=externs_in(checked))
    marked = next((item for item in rule.annotations if item.name.id == "opset"), None)
    found = check_range(checked, marked.span) if marked is not None else []
    found += check_relative_domains(checked)
    return None if found else checked, [*lowering.diagnostics, *found]


def _lose_names(lowering: Lowering, side: n.Side) -> None:
    """Leave without a meaning what only a part with an error binds, and what nothing binds, so that the
    target, which may read it, can be judged.
    """
    for finding in lowering.diagnostics:
        if finding.code in ("E0201", "E0303"):
            lowering.names.setdefault(finding.primary.span.text, Lost())
    for part in walk(side):
        if isinstance(part, n.Walrus):
            lowering.names.setdefault(part.name.id, Lost())


def _conditions(lowering: Lowering, rule: n.Rule) -> list[tuple[n.Expr, ir.Value]]:
    """The conditions of the source without those that have an error, as written and as values."""
    found = []
    for condition in rule.source.where:
        try:
            found.append((condition, values.condition(lowering, condition)))
        except Stop:
            pass
    return found


def _lower_target(lowering: Lowering, rule: n.Rule) -> list[int]:
    """The target's outputs, after its statements and annotations."""
    lowering.side = "target"
    lowering.of_target = frozenset()
    lowering.in_a_rule = "a target can use inputs and names bound in the source"
    made = lower_statements(lowering, rule.target)
    results = target_outputs(lowering, rule.target)
    read_attached(lowering, rule, made)
    for condition in rule.target.where:
        lowering.error(
            "E0601", "conditions belong to the source", condition.span,
            "move it after the source's outputs",
        )
    return results


def _has_error(lowering: Lowering) -> bool:
    return lowering.broken or any(finding.severity.value == "error" for finding in lowering.diagnostics)


# ── sides ───────────────────────────────────────────────────────────────────────────────────────────────────


def lower_statements(lowering: Lowering, side: n.Side) -> dict[str, range]:
    """Lower the statements of a side; one that has an error leaves its name `Lost`. Returns the targets that
    each has created."""
    made: dict[str, range] = {}
    lowering.text = side
    for k, statement in enumerate(side.statements):
        before, lowering.defining = len(lowering.targets), statement.name.id
        lowering.below = frozenset(later.name.id for later in side.statements[k + 1 :])
        try:
            if isinstance(statement, n.Chain):
                chains.chain(lowering, statement)
            elif isinstance(statement, n.Each):
                templates.each(lowering, statement)
            else:
                lowering.name_it(statement.name, lowering.resolve(statement.value))
        except Stop:
            lowering.bound_at.setdefault(statement.name.id, statement.name.span)
            lowering.names.setdefault(statement.name.id, Lost())
        made[statement.name.id] = range(before, len(lowering.targets))
    lowering.below, lowering.defining = frozenset(), None
    return made


def source_outputs(lowering: Lowering, side: n.Side) -> tuple[list[int], int | None]:
    """The source's outputs as pattern nodes, or the block whose instances are the outputs."""
    outputs: list[int] = []
    block: int | None = None
    for item in side.outputs:
        try:
            if isinstance(item, n.Star):
                what = lowering.resolve(item.value)
                if isinstance(what, BlockOf | NodesOf) and what.block in lowering.runs:
                    lowering.stop(
                        "E0607", "a chain has one output, its end", item.span,
                        _as_output(lowering, what, item.value),
                    )
                if isinstance(what, NodesOf) and len(side.outputs) == 1:
                    block = what.block
                    lowering.blocks[block] = replace(lowering.blocks[block], root=what.node, as_outputs=True)
                    continue
                if isinstance(what, BlockOf):
                    hint = "name the node of its template that is the output: `*branch.conv`"
                    lowering.stop("E0607", "the nodes of a block need a template name", item.span, hint)
                if not isinstance(what, NodesOf):
                    lowering.stop(
                        "E0607", "a tuple is not spread over the outputs of a source", item.span,
                        "write its fields, which the target replaces one by one: `s.0, s.1 => …`",
                    )
                lowering.stop(
                    "E0607", "a sequence is the only output of its side", item.span,
                    "write a rule whose only output it is",
                )
            what = lowering.resolve(item)
            if isinstance(what, BlockOf | NodesOf):
                lowering.stop(
                    "E0607", "a sequence cannot be one output", item.span, _as_output(lowering, what, item)
                )
            if isinstance(what, ValueOf):
                lowering.stop(
                    "E0603", "a value cannot be an output", item.span,
                    "an output is a call, a tuple or a projection",
                )
            node = patterns.node_of(lowering, item, what)
            if isinstance(lowering.patterns[node], ir.LeafNode):
                lowering.stop(
                    "E0603", "an input cannot be an output", item.span,
                    "an output is a call, a tuple or a projection",
                )
            if node in outputs:
                lowering.stop(
                    "E0610", "this node is an output already", item.span,
                    "an output has one replacement: list each node once",
                )
            outputs.append(node)
        except Stop:
            pass
    return outputs, block


def _as_output(lowering: Lowering, what: BlockOf | NodesOf, item: n.Expr) -> str:
    """The help for a block, or one node of all its instances, where an output is expected."""
    written = item.span.text if isinstance(what, NodesOf) else f"{item.span.text}.NAME"
    if what.block not in lowering.runs:
        return f"write `*` before it: `*{written}`" if isinstance(what, NodesOf) else f"write `*{written}`"
    block, _, name = written.partition(".")
    return f"the source continues from a chain's end: `{block}[-1].{name}`"


def target_outputs(lowering: Lowering, side: n.Side) -> list[int]:
    """The target's outputs, as targets."""
    outputs: list[int] = []
    for item in side.outputs:
        try:
            if isinstance(item, n.Star):
                outputs.append(targets.sequence_of(lowering, item, lowering.resolve(item.value)))
                continue
            what = lowering.resolve(item)
            if isinstance(what, TargetOf) and what.several:
                lowering.stop(
                    "E0607", "a sequence cannot be one output", item.span,
                    f"write `*` before it: `*{item.span.text}`",
                )
            outputs.append(targets.target_of(lowering, item, what))
        except Stop:
            pass
    return outputs


# ── the rule as a whole ─────────────────────────────────────────────────────────────────────────────────────


def reached(lowering: Lowering, outputs: list[int], block: int | None) -> set[int]:
    """Pattern nodes that the outputs need, templates that are consumed included."""
    starts = outputs if block is None else [*outputs, lowering.blocks[block].root]
    return set(reachable(starts, lambda node: lowering.patterns[node].below))


def _check_counts(
    lowering: Lowering, rule: n.Rule, outputs: list[int], block: int | None, targets_: list[int]
) -> None:
    several = [
        k for k in targets_ if isinstance(lowering.targets[k], ir.SeveralNodes)
    ]
    if block is None and not several and len(outputs) != len(targets_):
        span = rule.target.outputs[0].span.to(rule.target.outputs[-1].span)
        source = rule.source.outputs[0].span.to(rule.source.outputs[-1].span)
        lowering.error(
            "E0601",
            f"the source has {len(outputs)} output{'s' * (len(outputs) != 1)}, the target {len(targets_)}",
            span, "the k-th output of the source is replaced by the k-th of the target",
            related=(Label(source, "the source's outputs"),),
        )
    if block is None and not several and len(outputs) == len(targets_):
        for item, old, new in zip(rule.source.outputs, outputs, targets_):
            _check_results(
                lowering, item, told_of(lowering, old).results, told_of_target(lowering, new).results,
                lowering.target_spans[new]
            )
    if block is not None and not several:
        span = rule.target.outputs[0].span
        lowering.error(
            "E0601", "the source has a variable number of outputs, but the target does not", span,
            "write `*parts`",
        )


def _check_results(lowering: Lowering, item: n.Expr | n.Star, old: Results, new: Results, span: Span) -> None:
    """Check that the replacement of an output has as many results."""
    if (
        old is None or new is None or old == new
        or (is_tuple(old) and is_tuple(new) and "tuple" in (old, new))
    ):
        return
    if is_tuple(old) and new == "tensor":
        lowering.error(
            "E0309", "this output of the source has several results, the target has one", item.span,
            "write `.0` after the output to replace its first result", related=(Label(span, "the target"),),
        )  # fmt: skip
    elif old == "tensor":
        lowering.error(
            "E0309", "the target has several results, this output of the source has one", span,
            f"project one: `{span.text if len(span.text) < 40 else '(…)'}.0`",
            related=(Label(item.span, "the source"),),
        )
    else:
        lowering.error(
            "E0309", f"the target has {new} results, and this output of the source {old}", span,
            "project the results one by one, on both sides: `y.0, y.1`",
            related=(Label(item.span, "the source"),),
        )


def _finish_blocks(lowering: Lowering) -> tuple[ir.Block, ...]:
    """Give each block its root; a block that nothing consumes is an error."""
    roots: dict[int, int] = {}
    for node in lowering.patterns:
        for part in node.parts:
            if isinstance(part, ir.Splice):
                roots.setdefault(part.block, part.node)
    result = []
    for number in range(len(lowering.templates)):
        block = lowering.blocks[number]
        if block.root < 0 and number in roots:
            block = replace(block, root=roots[number])
        if number in lowering.runs and lowering.runs[number].end is None:
            end = f"{block.name}[-1].{lowering.runs[number].link}"
            hint = f"use its end, `{end}`, as an output or an operand"
            lowering.error("E0404", f"`{block.name}` is not used", block.span, hint)
        elif block.root < 0:
            lowering.error(
                "E0404", f"`{block.name}` is not used", block.span,
                f"use it as fields, `(*{block.name}.…)`, or as the outputs, `*{block.name}.…`",
            )  # fmt: skip
            block = replace(block, root=0)
        elif block.as_outputs:
            inner = reached(lowering, [block.root], None)
            if all(lowering.patterns[k].block == number for k in inner):
                lowering.error(
                    "E0602", f"the instances of `{block.name}` share no node", block.span,
                    "an output template needs a node from outside the block",
                )
            if block.fewest is not None and block.fewest < 1:
                block = replace(block, minimum=ir.Const(1))
        result.append(block)
    return tuple(result)


def _interior(
    lowering: Lowering,
    outputs: list[int],
    blocks: tuple[ir.Block, ...],
    output_block: int | None,
    target_outputs: list[int],
) -> frozenset[int]:
    """Neither input nor output, not used by the target as a node, not `keep`."""
    used = set(outputs)
    if output_block is not None:
        used.add(blocks[output_block].root)
    for number in _needed_targets(lowering, target_outputs):
        target = lowering.targets[number]
        if isinstance(target, ir.MatchedNodes):
            used.update((target.node, *lowering.without_alternatives(target.node)))
    inner = reached(lowering, outputs, output_block)
    return frozenset(
        k
        for k in sorted(inner)
        if isinstance(lowering.patterns[k], ir.OpNode)
        and k not in used
        and not lowering.patterns[k].keep
    )


def _needed_targets(lowering: Lowering, outputs: list[int]) -> set[int]:
    def read(number: int) -> list[int]:
        target = lowering.targets[number]
        return [*new_nodes_read(target, lowering.lets), *target.parts]

    return set(reachable(outputs, read))



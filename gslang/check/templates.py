"""Templates: `each` blocks, and `[e for i in ..]` where it stands for the fields of a tuple."""

from __future__ import annotations

from collections.abc import Callable

from gslang.check import checked as ir
from gslang.check import patterns, values
from gslang.check.context import BlockOf, Denotation, Lost, Lowering, Stop, Template, ValueOf, article
from gslang.syntax import nodes as n


def each(lowering: Lowering, statement: n.Each, begin: Callable[[], None] = lambda: None) -> None:
    """Lower an `each` block; its block is completed when it is known how it is consumed (`outputs`).

    `begin`: done first inside it.
    """
    check_place(lowering, statement, "each")
    minimum, maximum = bounds(lowering, statement.bounds)
    declared = frozenset(bind.name.id for bind in statement.statements)
    template = Template(len(lowering.templates), statement.name.id, declared=declared)
    lowering.templates.append(template)
    lowering.inside = template
    outer = dict(lowering.bound_at)
    where: list[ir.Value] = []
    begin()
    try:
        for bind in statement.statements:
            try:
                lowering.name_it(
                    bind.name, lowering.settle_ahead(template, bind.name.id, lowering.resolve(bind.value))
                )
            except Stop:
                lowering.bound_at.setdefault(bind.name.id, bind.name.span)
                template.names.setdefault(bind.name.id, Lost())
        for condition in statement.where:
            where.append(values.condition(lowering, condition))
    finally:
        lowering.inside = None
        lowering.bound_at = {**lowering.bound_at, **outer}
    lowering.blocks[template.block] = ir.Block(
        statement.name.id, tuple(template.nodes), minimum, maximum, tuple(where), -1, False,
        statement.name.span, statement.bounds.span, tuple(condition.span for condition in statement.where),
    )
    lowering.bind(statement.name, BlockOf(template.block))


def check_place(lowering: Lowering, statement: n.Each, word: str) -> None:
    """Report a block in a target, or inside another one."""
    if lowering.side != "source":
        lowering.stop(
            "E0606", f"`{word}` belongs in a source", statement.span,
            "in a target, repeat with `[e for i in name]`",
        )
    if lowering.inside is not None:
        lowering.stop(
            "E0404", "blocks cannot be nested", statement.span, "write out the inner one for a fixed number"
        )


def bounds(lowering: Lowering, found: n.Range | n.Expr) -> tuple[ir.Value, ir.Value | None]:
    """The least and the largest number of instances that `each` states."""
    if isinstance(found, n.Range):
        if found.lower is not None and found.upper is not None and found.lower > found.upper:
            lowering.error(
                "E0501", "the lower bound exceeds the upper one", found.span,
                f"write `{found.upper}..{found.lower}`",
            )
        return ir.Const(found.lower or 0), None if found.upper is None else ir.Const(found.upper)
    count = values.value(lowering, found)
    if count.type not in ("int", "any", "number"):
        lowering.error(
            "E0501", f"the number of instances must be an int, found {article(count.type)}",
            found.span,
            "write a range, `2..`, or an integer: `each b in 3`, `each b in s.num_outputs`",
        )
    return count.value, count.value


def short_template(lowering: Lowering, expr: n.Comprehension) -> Denotation:
    """`[split[i] for i in ..]`: a template of one node, consumed as the fields of a tuple."""
    if len(expr.targets) != 1 or expr.condition is not None:
        lowering.stop(
            "E0506", "`[e for i in ..]` takes one variable and no condition", expr.span,
            "write conditions in a block: `each f in .. { …; where …; }`",
        )
    if lowering.inside is not None:
        lowering.stop(
            "E0404", "templates cannot be nested", expr.span, "write out the fields of the inner tuple"
        )
    assert isinstance(expr.source, n.Range)
    minimum, maximum = bounds(lowering, expr.source)
    template = Template(len(lowering.templates))
    lowering.templates.append(template)
    lowering.inside = template
    lowering.overlay.append({expr.targets[0].id: ValueOf(ir.InstanceIndex(template.block), "int")})
    try:
        root = patterns.node_of(lowering, expr.element, lowering.resolve(expr.element))
    finally:
        lowering.overlay.pop()
        lowering.inside = None
    lowering.blocks[template.block] = ir.Block(
        expr.targets[0].id, tuple(template.nodes), minimum, maximum, (), root, False, expr.span,
        expr.source.span, (),
    )
    return lowering.add_pattern(
        ir.TupleNode(name=None, span=expr.span, block=None, fields=(ir.Splice(template.block, root),))
    )

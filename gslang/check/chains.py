"""Chains: templates whose instances follow one another, each from a value of the one before (language.md,
chains).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from gslang.base.diagnostics import Label
from gslang.check import checked as ir
from gslang.check import patterns, templates, variables
from gslang.check.context import Denotation, Lost, Lowering, NodeOf, OperatorOf, Run
from gslang.check.results import is_tuple, told_of
from gslang.graph.graph import TUPLE
from gslang.syntax import nodes as n


def chain(lowering: Lowering, statement: n.Chain) -> None:
    """Lower a `chain` block: where it starts, then its template."""
    start = _start(lowering, statement)
    link = _link(lowering, statement)
    block = len(lowering.templates)
    templates.each(lowering, statement, lambda: _begin(lowering, block, link, start))
    run = lowering.runs[block]
    found = lowering.blocks[block]
    if (
        found.most is not None and found.most < 1
        or isinstance(statement.bounds, n.Range) and statement.bounds.lower == 0
    ):
        lowering.error(
            "E0501", "a chain has at least one instance", statement.bounds.span,
            "write `1..`, and a separate rule without the chain",
        )
    root = lowering.templates[block].names.get(link.field)  # None where its statement is wrong
    if isinstance(root, NodeOf):
        passed_on = lowering.patterns[root.node]
        if not passed_on.branches and passed_on.operators in ((), (TUPLE,)):
            _give_up(lowering, block, link)
            lowering.stop(
                "E0404", f"`{link.field}` is passed to the next instance, so it must be a call or one of its "
                "results", link.span,
                f"name the call that reads `prev.{link.field}`",
            )
        lowering.blocks[block] = replace(
            found,
            minimum=found.minimum if found.fewest is None else ir.Const(max(1, found.fewest)),
            root=root.node, previous=run.previous,
        )
        _check_results(lowering, run, root.node, link)
    elif root is not None and not isinstance(root, Lost):
        _give_up(lowering, block, link)
        lowering.stop(
            "E0404",
            f"`prev.{link.field}` is an operand, so `{link.field}` must be a node of the block",
            link.span, f"name the call that reads `prev.{link.field}`: `{link.field} = …;`",
        )


def _check_results(lowering: Lowering, run: Run, root: int, link: n.Attribute) -> None:
    """Report several results that are passed on, by an instance or to the first one, where an operand is a
    tensor.
    """
    if "tensor" not in lowering.taken.get(run.previous, ()):
        return
    if is_tuple(told_of(lowering, root).results):
        called = lowering.patterns[root].called_as
        lowering.error(
            "E0309", f"`prev.{link.field}` has several results", link.span,
            "pass on one of its fields" if called is None
            else f"pass on one: `{link.field} = {called}(…).0;`",
        )
    if is_tuple(told_of(lowering, run.start).results):
        start = lowering.patterns[run.start]
        lowering.error(
            "E0309", "the chain starts from several results", start.span,
            "start from one of its fields" if start.called_as is None
            else f"start from one: `from {start.called_as}(…).0`",
        )


def _give_up(lowering: Lowering, block: int, link: n.Attribute) -> None:
    """Let what reads the end of a chain with an error not be judged."""
    lowering.templates[block].names[link.field] = Lost()


def _start(lowering: Lowering, statement: n.Chain) -> int:
    """The pattern node that the first instance goes on from; any node where nothing is said."""
    templates.check_place(lowering, statement, "chain")
    if statement.start is None:
        return patterns.leaf(lowering, statement.name.span, "any", ()).node
    return patterns.node_of(lowering, statement.start, lowering.resolve(statement.start))


def _link(lowering: Lowering, statement: n.Chain) -> n.Attribute:
    """The one `prev.NAME` of the block that stands as a node: what each instance hands on to the next."""
    found: n.Attribute | None = None
    for bind in statement.statements:
        for link in _handed_on(bind.value):
            if found is not None and link.field != found.field:
                lowering.stop(
                    "E0404",
                    f"a chain passes on one value, not both `prev.{found.field}` and `prev.{link.field}`",
                    link.span, "match what both are computed from inside the block",
                    related=(Label(found.span, "the other one"),),
                )
            found = found or link
    if found is None:
        lowering.stop(
            "E0404", f"no instance of `{statement.name.id}` reads the previous instance", statement.span,
            "as an operand, `prev.NAME` is the node NAME of the previous instance: "
            f"`y = {lowering.example}(prev.y);`",
        )  # fmt: skip
    if found.field not in [bind.name.id for bind in statement.statements]:
        lowering.stop(
            "E0201", f"the block has no name `{found.field}`", found.field_span,
            f"name the call: `{found.field} = …;`",
        )
    return found


def _handed_on(expr: object) -> Iterator[n.Attribute]:
    """`prev.NAME` wherever it is not read itself (`prev.NAME.axis`, `prev.NAME.*`), in order."""
    stack = [expr]
    while stack:
        part = stack.pop()
        match part:
            case n.Attribute(n.Name("prev")):
                yield part
            case n.Attribute(n.Attribute(n.Name("prev"))) | n.Spread(n.Attribute(n.Name("prev"))):
                pass
            case tuple():
                stack.extend(reversed(part))
            case _ if is_dataclass(part) and not isinstance(part, type):
                stack.extend(getattr(part, f.name) for f in reversed(fields(part)) if f.name != "span")


def _begin(lowering: Lowering, block: int, link: n.Attribute, start: int) -> None:
    """Add the node of the template that stands for the previous instance's value."""
    node = lowering.add_pattern(ir.PreviousNode(name=None, span=link.span, block=block))
    lowering.runs[block] = Run(link.field, node.node, start)


# ── operators of one instance ───────────────────────────────────────────────────────────────────────────────


def operator_of_instance(lowering: Lowering, expr: n.OperatorKind) -> Denotation:
    """`f = op(elementwise);` in a block: an operator of each instance's own, called once."""
    if lowering.inside is None or lowering.side != "source":
        lowering.stop(
            "E0310", "`op(…)` is the kind of an input", expr.span,
            "declare the operator variable in the header: `rule r(f: op(elementwise), x)`",
        )
    arguments = tuple(n.Positional(value, span=value.span) for value in expr.arguments)
    kind = n.Kind(n.Name("op", span=expr.span), arguments, False, span=expr.span)
    name = expr.span.text
    while name in lowering.variables:
        name += "'"
    lowering.own_variables.add(name)
    lowering.variables[name] = ir.OpVariable(name, variables.operators_of(lowering, kind))
    if variables.is_by_trait(kind):
        lowering.trait_variables.add(name)
    return OperatorOf(name)


def let_instances_choose(lowering: Lowering) -> None:
    """Calls by an operator of an instance's own: each stands for itself."""
    called: dict[str, int] = {}
    for k, node in enumerate(lowering.patterns):
        if isinstance(node, ir.CallNode) and node.variable in lowering.own_variables:
            assert node.variable is not None
            if node.variable in called:
                lowering.error(
                    "E0310", "an operator variable of a block is called once", node.span,
                    "to call the same operator twice, declare the variable as an input",
                    related=(Label(lowering.patterns[called[node.variable]].span, "called here"),),
                )
            called.setdefault(node.variable, k)
            lowering.patterns[k] = replace(node, variable=None)
    for name in lowering.own_variables:
        del lowering.variables[name]

"""Generated code for chains: the instances at a node as a generator of tables, the conditions on two that
follow one another as a function, and around them the search for a maximal run, which is the same for all
rules.

A rule in which a chain stands beside other templates, alternatives or further outputs is left to the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from gslang.check import checked as ir
from gslang.check.footprint import operators_at
from gslang.engine import program as mp
from gslang.engine.code_writer import Place, Rest, Step, Writer, below, chain, go, loop
from gslang.engine.generate_nodes import match_step
from gslang.engine.value_code import NotCompiled, truth_code
from gslang.graph.graph import Graph

Table = dict[int, int]
"""Template node → graph node, of one instance."""


def run_step(step: mp.Run) -> Step:
    """A maximal run that ends at the register's node, and the pattern before it."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        rule, number = writer.plan.rule, step.block
        block = rule.blocks[number]
        _check_is_plain(writer, place, step)
        matched = sorted((place.certain | place.possible | place.started) & writer.plan.distinct)
        writer.line(place, f"taken = {{{', '.join([*(f'v{k}' for k in matched), '-9'])}}}")
        assert block.fewest is not None
        instances, follows = _instances(writer, place, step), _follows(writer, place, step)
        distinct = tuple(k for k in block.nodes if k in writer.plan.distinct)
        shape = Shape(step.root, step.previous, _way_up(rule, step), distinct, block.fewest, block.most)
        start = writer.name("start")

        def body(inner: Place) -> None:
            writer.spliced.add(number)
            go(writer, inner, Rest(match_step(step.start, start), rest))
            writer.spliced.discard(number)

        known = writer.names.constant(shape)
        loop(
            writer,
            place,
            f"for {start}, I{number} in runs(G, {known}, {instances}, {follows}, taken, v{step.register}):",
            body,
        )

    return emit


def _check_is_plain(writer: Writer, place: Place, step: mp.Run) -> None:
    """Raise `NotCompiled` where a rule with a chain has more than this code is for."""
    rule, block = writer.plan.rule, writer.plan.rule.blocks[step.block]
    if (
        len(rule.blocks) > 1
        or len(rule.outputs) != 1
        or rule.has_alternatives
    ):
        raise NotCompiled("a chain beside other templates, outputs or alternatives")
    if writer.plan.late_blocks or any(k in writer.plan.deferred for k in block.nodes):
        raise NotCompiled("a chain with constraints that wait")
    if not set(step.outside) <= place.certain or any(rule.nodes[k].variable for k in block.nodes):
        raise NotCompiled("a chain that binds what is outside")
    if block.fewest is None or block.maximum is not None and block.most is None:
        raise NotCompiled("a chain with bounds that are computed")


def _instances(writer: Writer, place: Place, step: mp.Run) -> str:
    """`def instances(n): …`: the ways in which the template matches with its root at graph node `n`, each a
    table."""
    rule, names = writer.plan.rule, writer.names
    nodes = sorted(k for k in below(writer.plan, step.root) if rule.nodes[k].block is not None)
    name = writer.name("instances")
    writer.line(place, f"def {name}(n):")
    inner = replace(place, indent=place.indent + 1, fail="return", loops=0)
    before, kept = names.inside, names.keeps_lets
    names.inside, names.keeps_lets = "next", False

    def end(writer: Writer, place: Place, rest: Rest) -> None:
        writer.conditions(place, [truth_code(condition, names) for condition in step.own])
        inside = "".join(f"v{k}, " for k in (*nodes, *step.outside))
        for k in nodes:
            if k in rule.interior and k != step.root:
                writer.check(
                    place, f"v{k} in G.output_uses or not all([u in ({inside}) for u in users[v{k}]])"
                )
        writer.line(place, f"yield {{{', '.join(f'{k}: v{k}' for k in nodes)}}}")

    go(writer, inner, chain([match_step(step.root, "n"), end], None))
    names.inside, names.keeps_lets = before, kept
    return name


def _follows(writer: Writer, place: Place, step: mp.Run) -> str:
    """`def follows(p, s): …`: True if instance `s` may follow instance `p`."""
    names = writer.names
    name = writer.name("follows")
    writer.line(place, f"def {name}(p, s):")
    inner = replace(place, indent=place.indent + 1, fail="return False", loops=0)
    before, kept = names.inside, names.keeps_lets
    names.inside, names.keeps_lets = "let", False
    writer.conditions(inner, [truth_code(condition, names) for condition in step.linked])
    if step.root in writer.plan.rule.interior:
        outside = "".join(f", v{k}" for k in step.outside)
        writer.line(inner, f"matched = {{*p.values(), *s.values(){outside}}}")
        writer.check(
            inner,
            f"p[{step.root}] in G.output_uses or not all([u in matched for u in users[p[{step.root}]]])",
        )
    writer.line(inner, "return True")
    names.inside, names.keeps_lets = before, kept
    return name


def _way_up(rule: ir.CheckedRule, step: mp.Run) -> tuple[frozenset[str], ...]:
    """The operators from above `previous` up to the root, on a shortest way."""
    ways: dict[int, tuple[int, ...]] = {step.root: (step.root,)}
    queue = [step.root]
    for node in queue:
        for child in rule.nodes[node].below:
            if child not in ways:
                ways[child] = (*ways[node], child)
                queue.append(child)
    return tuple([operators_at(rule.nodes, node) for node in reversed(ways[step.previous][:-1])])


# ── at run time
# ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A chain as `runs` knows it: template nodes, operators on the way up from `previous` to `root`, and the
    bounds."""

    root: int
    previous: int
    way_up: tuple[frozenset[str], ...]
    distinct: tuple[int, ...]
    least: int
    most: int | None


def runs(
    graph: Graph,
    shape: Shape,
    instances: Callable[[int], Iterator[Table]],
    follows: Callable[[Table, Table], bool],
    taken: set[int],
    end: int,
) -> Iterator[tuple[int, list[Table]]]:
    """Maximal runs that end at a node: what stands before each, and its instances, first one first. As
    `Machine` finds them."""
    found: list[Table] = []  # last one first
    ways, slots, fits = [_ways(instances, end, shape, found)], [end], [False]
    while ways:
        if len(found) == len(ways):  # the instance of another way
            gone = found.pop()
            taken.difference_update([gone[k] for k in shape.distinct])
        for table in ways[-1]:
            before = table[shape.previous]
            if before < 0 or found and not follows(table, found[-1]):
                continue
            if not found and shape.most is None and _goes_on(graph, shape, instances, follows, table):
                continue
            found.append(table)
            taken.update([table[k] for k in shape.distinct])
            fits[-1] = True
            ways.append(_ways(instances, before, shape, found))
            slots.append(before)
            fits.append(False)
            break
        else:
            if not fits[-1] and found and len(found) >= shape.least:
                if (
                    shape.most is None
                    or len(found) >= shape.most
                    or not _goes_on(graph, shape, instances, follows, found[0])
                ):
                    yield slots[-1], found[::-1]
            ways.pop(), slots.pop(), fits.pop()


def _ways(
    instances: Callable[[int], Iterator[Table]], node: int, shape: Shape, found: list[Table]
) -> Iterator[Table]:
    if node < 0 or shape.most is not None and len(found) >= shape.most:
        return iter(())
    return instances(node)


def _goes_on(
    graph: Graph,
    shape: Shape,
    instances: Callable[[int], Iterator[Table]],
    follows: Callable[[Table, Table], bool],
    last: Table,
) -> bool:
    """True if another instance could follow the last one."""
    nodes = [last[shape.root]]
    for operators in shape.way_up:
        nodes = list(
            dict.fromkeys(
                [user for node in nodes for user in graph.users[node] if graph.op[user] in operators]
            )
        )
    end = last[shape.root]
    return any(
        table[shape.previous] == end and follows(last, table) for node in nodes for table in instances(node)
    )

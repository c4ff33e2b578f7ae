"""Generated code for `each` templates: instances as fields or operands, and as the rule's outputs.

An instance is a table from template node to slot; `I0` lists those of block 0. The first instance is matched
in line where it has to bind nodes from outside; all others by a nested function that returns the table or
None. That function takes the first way in which the instance matches, so a template with a choice of its own
is compiled only where the definition is greedy too (as outputs).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from gslang.check import checked as ir
from gslang.engine import program as mp
from gslang.engine.code_writer import Place, Rest, Step, Writer, below, chain, go
from gslang.engine.conditions import is_blocked
from gslang.engine.generate_forward import forward, ways
from gslang.engine.generate_nodes import constraint_codes, match_step
from gslang.engine.lower import may_be_absent, mentions_another
from gslang.engine.value_code import NotCompiled, code_of, truth_code
from gslang.graph.graph import Graph


def _template_nodes(writer: Writer, root: int) -> list[int]:
    rule = writer.plan.rule
    return sorted(k for k in below(writer.plan, root) if rule.nodes[k].block is not None)


def _outside(writer: Writer, root: int) -> list[int]:
    rule = writer.plan.rule
    return sorted(k for k in below(writer.plan, root) if rule.nodes[k].block is None)


def _table(nodes: Collection[int]) -> str:
    return "{" + ", ".join(f"{k}: v{k}" for k in nodes) + "}"


def _check_instance(writer: Writer, place: Place, block: ir.Block) -> None:
    """The block's own conditions; on the first instance also the constraints that read `first`."""
    names = writer.names
    if names.inside == "first":
        late = [(k, writer.plan.deferred[k]) for k in block.nodes if k in writer.plan.deferred]
        writer.conditions(
            place, [code for k, constraints in late for code in constraint_codes(writer, k, constraints)]
        )
    writer.conditions(place, [truth_code(condition, names) for condition in block.where])


def _instance_function(
    writer: Writer, place: Place, number: int, root: int, mode: str, refused: Sequence[str] = ()
) -> str:
    """`def instance(n, x): …`: match template node `root` at graph node `n` as instance number `x`, unless
    one of `refused` holds.
    """
    block = writer.plan.rule.blocks[number]
    nodes = _template_nodes(writer, root)
    name = writer.name("instance")
    writer.line(place, f"def {name}(n, x{number}):")
    inner = replace(place, indent=place.indent + 1, fail="return None", loops=0)
    names = writer.names
    before, names.inside = names.inside, mode
    kept, names.keeps_lets = names.keeps_lets, False

    def end(writer: Writer, place: Place, rest: Rest) -> None:
        _check_instance(writer, place, block)
        for bad in refused:
            writer.check(place, bad)
        writer.line(place, f"return {_table(nodes)}")

    go(writer, inner, chain([match_step(root, "n"), end], None))
    writer.line(inner, "return None")
    names.inside, names.keeps_lets = before, kept
    return name


def _bounds(writer: Writer, place: Place, block: ir.Block, count: str) -> None:
    """`count` instances are allowed."""
    names = writer.names
    conditions = [] if block.minimum == ir.Const(0) else [f"{count} >= {code_of(block.minimum, names)}"]
    if block.maximum is not None:
        conditions.append(f"{count} <= {code_of(block.maximum, names)}")
    writer.conditions(place, conditions)


def _has_choices(writer: Writer, nodes: Collection[int]) -> bool:
    rule = writer.plan.rule
    return any(
        isinstance(node := rule.nodes[k], ir.CallNode) and node.swappable and len(node.operands) == 2
        for k in nodes
    )


# ── as fields or operands ───────────────────────────────────────────────────────────────────────────────────


def fields_step(step: mp.Fields) -> Step:
    """Operands that are the instances of a block; they cover what the others leave."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        others = [s for s in writer.plan.registers[step.of].steps if isinstance(s, (mp.Operand, mp.Absent))]
        if any(
            isinstance(other, mp.Absent) or may_be_absent(writer.plan.rule, other.register)
            for other in others
        ):
            raise NotCompiled("an optional operand beside a sequence")
        if writer.names.inside is not None or step.block in writer.spliced:
            raise NotCompiled("a sequence inside a template, or a second time")
        if step.block in writer.plan.late_blocks:
            raise NotCompiled("a template that is judged on the whole match")
        given = f"o{step.of}"
        expression = f"{given}[{step.index}:{f'len({given}) - {step.behind}' if step.behind else ''}]"
        go(writer, place, Rest(_sequence_step(ir.Splice(step.block, step.register), expression), rest))

    return emit


def _sequence_step(splice: ir.Splice, expression: str) -> Step:
    # Long on purpose: the lines of one loop, in the order in which they are printed.
    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        rule, number = writer.plan.rule, splice.block
        block = rule.blocks[number]
        nodes = _template_nodes(writer, splice.node)
        if _has_choices(writer, nodes):
            raise NotCompiled("a choice inside a template of fields")
        fields = writer.name("fields")
        writer.line(place, f"{fields} = {expression}")
        _bounds(writer, place, block, f"len({fields})")
        matched = sorted((place.certain | place.possible | place.started) & writer.plan.distinct)
        earlier = [
            f"*[i[k] for i in I{b} for k in {_distinct(writer, rule.blocks[b].root)!r}]"
            for b in sorted(writer.spliced)
        ]
        writer.line(place, f"taken = {{{', '.join([*(f'v{k}' for k in matched), *earlier, '-9'])}}}")
        writer.line(place, f"I{number} = []")
        reads_first = mentions_another(block.where, rule.lets) or any(
            k in writer.plan.deferred or rule.nodes[k].variable is not None for k in nodes
        )
        binds = [k for k in _outside(writer, splice.node) if k not in place.certain]
        at_least_one = block.fewest is not None and block.fewest >= 1
        steps: list[Step] = []
        if binds:
            if not at_least_one:
                raise NotCompiled("no instance may leave nodes unmatched")
            writer.line(place, f"x{number} = 0")
            steps = [match_step(splice.node, f"{fields}[0]"), _first_done(number, splice.node)]
        before = writer.names.inside
        if binds:
            writer.names.inside = "first"

        def others(writer: Writer, place: Place, rest: Rest) -> None:
            writer.names.inside = before
            first = (
                None if binds or not reads_first
                else _instance_function(writer, place, number, splice.node, "first")
            )
            function = _instance_function(writer, place, number, splice.node, "next")
            start = 1 if binds else 0
            index, table = writer.name("x"), writer.name("i")
            writer.line(place, f"for {index} in range({start}, len({fields})):")
            chosen = function if first is None else f"({first} if {index} == 0 else {function})"
            inner = place.deeper()
            writer.line(inner, f"{table} = {chosen}({fields}[{index}], {index})")
            writer.line(inner, f"if {table} is None: break")
            writer.line(inner, f"I{number}.append({table})")
            distinct = _distinct(writer, splice.node)
            _take(writer, inner, table, distinct)
            writer.line(place, f"else: {index} = None")
            writer.check(place, f"{index} is not None")
            writer.spliced.add(number)
            go(writer, replace(place, certain=place.certain | set(_outside(writer, splice.node))), rest)
            writer.spliced.discard(number)

        go(writer, place, chain([*steps, others], rest))

    return emit


def _first_done(number: int, root: int) -> Step:
    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        _check_instance(writer, place, writer.plan.rule.blocks[number])
        nodes = _template_nodes(writer, root)
        writer.line(place, f"I{number} = [{_table(nodes)}]")
        distinct = _distinct(writer, root)
        _take(writer, place, f"I{number}[0]", distinct)
        place = replace(place, certain=place.certain - set(nodes))
        go(writer, place, rest)

    return emit


def _take(writer: Writer, place: Place, table: str, nodes: tuple[int, ...]) -> None:
    """Other instances cannot have these nodes."""
    if len(nodes) == 1:
        writer.line(place, f"taken.add({table}[{nodes[0]}])")
    elif nodes:
        writer.line(place, f"taken.update([{table}[k] for k in {nodes!r}])")


def _distinct(writer: Writer, root: int) -> tuple[int, ...]:
    return tuple(k for k in _template_nodes(writer, root) if k in writer.plan.distinct)


def _may_be_computed(pattern: ir.Pattern) -> bool:
    """True if an input may depend on others, so that a match with it may not be convex."""
    return isinstance(pattern, ir.LeafNode) and pattern.kind == "any"


# ── as outputs ──────────────────────────────────────────────────────────────────────────────────────────────


def output_block_step(number: int) -> Step:
    """The first instance at `start`, then greedily every candidate that keeps the match valid (semantics.md
    §10).
    """

    # Long on purpose: the lines of one loop, in the order in which they are printed.
    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        rule = writer.plan.rule
        block = rule.blocks[number]
        nodes, outside = _template_nodes(writer, block.root), _outside(writer, block.root)
        interior = tuple(k for k in nodes if k in rule.interior)
        leaves = tuple(k for k in nodes if isinstance(rule.nodes[k], ir.LeafNode))
        outer_leaves = [k for k in outside if isinstance(rule.nodes[k], ir.LeafNode)]
        writer.names.inside = "first"
        writer.line(place, f"x{number} = 0")

        there = all(map(writer.names.is_there, [*nodes, *outside]))
        private = []
        # else it matters which of the ways to match an instance is private
        if there and not _has_choices(writer, nodes):
            matched_here = f"({''.join(f'v{k}, ' for k in [*nodes, *outside])})"
            private = [
                (
                    f"v{k} in G.output_uses or len(users[v{k}]) > 1 and not all([u in {matched_here} for u "
                    f"in users[v{k}]])"
                )
                for k in interior
            ]
            interior = ()
        checks = bool(interior) or not there or any(_may_be_computed(rule.nodes[k]) for k in leaves)
        admitted = f"growing.admits({{}}, {{}}, ({''.join(f'v{k}, ' for k in outside)}))"

        def extend(writer: Writer, place: Place, rest: Rest) -> None:
            _enough_users(writer, place, block, frozenset(outside))
            _check_instance(writer, place, block)
            for bad in private:
                writer.check(place, bad)
            writer.line(place, f"I{number} = [{_table(nodes)}]")
            if checks:
                writer.line(
                    place,
                    f"growing = Growing(G, ({''.join(f'v{k}, ' for k in outer_leaves)}), {interior!r}, "
                    f"{leaves!r})",
                )
                writer.check(place, f"not {admitted.format(f'I{number}[0]', f'v{block.root}')}")
            matched = sorted((place.certain | place.started) & writer.plan.distinct)
            writer.line(place, f"taken = {{{', '.join([*(f'v{k}' for k in matched), '-9'])}}}")
            place = replace(place, certain=place.certain - set(nodes))
            writer.names.inside = "next"
            function = _instance_function(writer, place, number, block.root, "next", private)
            most = "None"
            if block.maximum is not None:
                writer.names.inside = None
                writer.line(place, "try:")
                writer.line(place, f"    most = {code_of(block.maximum, writer.names)}")
                writer.line(place, "except FAILURES:")
                writer.line(place, "    most = 0")
                most = "most"
            distinct = _distinct(writer, block.root)
            writer.names.inside = "next"

            def body(inner: Place, candidate: str) -> None:
                if most != "None":
                    writer.line(inner, f"if len(I{number}) >= {most}: break")
                writer.line(inner, f"if {candidate} in taken: continue")
                writer.line(inner, f"table = {function}({candidate}, len(I{number}))")
                refused = f" or not {admitted.format('table', candidate)}" if checks else ""
                writer.line(inner, f"if table is None{refused}: continue")
                writer.line(inner, f"I{number}.append(table)")
                _take(writer, inner, "table", distinct)

            forward(writer, place, block.root, body, frozenset(outside))
            writer.names.inside = None
            _bounds(writer, place, block, f"len(I{number})")
            writer.spliced.add(number)
            go(writer, place, rest)
            writer.spliced.discard(number)

        go(writer, place, chain([match_step(block.root, "start"), extend], rest))

    return emit


def _enough_users(writer: Writer, place: Place, block: ir.Block, known: frozenset[int]) -> None:
    """Each instance goes up from a shared node through a node of its own, so that node has as many users as
    there are instances.
    """
    if block.fewest is not None and block.fewest > 1:
        for base, _ in ways(writer, block.root, known)[:1]:
            writer.check(place, f"len(users[v{base}]) < {block.fewest}")


class Growing:
    """Conditions 4 and 5 while a variadic output grows, each instance looked at once."""

    __slots__ = ("_graph", "_highest", "_inner_inputs", "_interior", "_leaves", "_lowest", "_roots")

    def __init__(
        self, graph: Graph, outer_leaves: tuple[int, ...], interior: tuple[int, ...], leaves: tuple[int, ...]
    ) -> None:
        label = graph.ordered().label
        self._graph = graph
        self._interior, self._leaves = interior, leaves
        self._inner_inputs = {n: None for n in outer_leaves if n >= 0 and graph.operands[n]}
        self._highest = max([label[n] for n in self._inner_inputs], default=-1)
        self._lowest = 0  # of the roots' labels, once there are any
        self._roots: dict[int, None] = {}

    def admits(self, table: dict[int, int], root: int, outer: tuple[int, ...]) -> bool:
        """True if the match stays valid with this instance; if so it is part of it from now on."""
        graph = self._graph
        label, operands, users = graph.ordered().label, graph.operands, graph.users
        if self._interior:
            matched = set(table.values())
            for k in self._interior:
                slot = table[k]
                if (
                    slot >= 0 and slot != root
                    and (
                        slot in graph.output_uses
                        or any([u not in matched and u not in outer for u in users[slot]])
                    )
                ):
                    return False
        inner = [n for k in self._leaves if (n := table[k]) >= 0 and operands[n]]
        if root in self._inner_inputs or root in inner:
            return False
        start = next(iter(self._roots), root)
        if self._highest >= label[root] and is_blocked(graph, self._inner_inputs, (root,), start):
            return False
        if inner:
            lowest = min(self._lowest, label[root]) if self._roots else label[root]
            if any(label[n] >= lowest for n in inner) and is_blocked(
                graph, inner, {**self._roots, root: None}, start
            ):
                return False
            self._inner_inputs.update(dict.fromkeys(inner))
            self._highest = max(self._highest, *[label[n] for n in inner])
        self._lowest = min(self._lowest, label[root]) if self._roots else label[root]
        self._roots[root] = None
        return True


__all__: list[str] = ["Growing", "fields_step", "output_block_step"]

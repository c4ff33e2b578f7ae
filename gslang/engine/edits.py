"""Changing a graph at a match: adding typed nodes, letting them take the outputs' place, removing what nobody
uses any more.

Closures over the columns of one graph, since they run once per new node and once per application. Seeds are
what a later sweep has to look at: new nodes, nodes that read something new, and nodes that have lost a user
(an interior node may have become private). Until a replacement begins the graph has only grown, and
`Graph.discard_from` takes that back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import Type, UnknownValue
from gslang.engine.worklist import Made
from gslang.graph.graph import CONST, DEAD, INPUT, NO_ATTRS, Graph
from gslang.graph.inference import contradiction, infer_node, refine
from gslang.graph.order import GAP
from gslang.graph.users import MANY_USERS, users_of

Known = dict[tuple["Type | None", ...], "Type | None"]
"""Operand types → result type, of one operator with one set of attributes."""


class BuildError(Exception):
    """The target does not type-check here. The message names the operator."""


@dataclass(frozen=True, slots=True)
class Edits:
    """The changes that rewriting makes to one graph, as functions over its columns.

    `first` is the first new node of an application, `low` the greatest label of what new nodes read (None:
    not known), `unused` says that some new node inside the target may have no user, and `seeds` is what
    changed: it is added to. `staying` are matched nodes that keep what they read.
    """

    graph: Graph
    dialect: Dialect
    add: Callable[[str, tuple[int, ...], Attrs, Known | None], int]
    """Appends a typed node: operator, operands, attributes, and the table of types of calls with these
    attributes, or None.
    """
    infer: Callable[[int, Known, tuple[Type | None, ...]], Type | None]
    """The type of a node that has none yet, noted in the table; `looked_at` gets the constants whose values
    matter too.
    """
    type_mismatch: Callable[[Sequence[int], Sequence[int]], str | None]
    """Why these nodes cannot take the outputs' place."""
    replace_one: Callable[[int, int, int, int | None, bool, list[int]], list[int]]
    """`(old, now, first, low, unused, seeds)`: one takes the other's place; the removed nodes."""
    replace: Callable[
        [Sequence[int], Sequence[int], int, int | None, bool, Collection[int], list[int]], list[int]
    ]
    """`(olds, nows, first, low, unused, staying, seeds)`: the same for several outputs, all at once."""
    looked_at: list[int]
    note: Callable[[int], None]
    """Tells those who group users by values that what a node reads has changed."""
    relevant: Callable[[Made], tuple[int, ...]]
    """Those of a target's nodes that may be part of a match as they are: only these need become seeds."""
    remove: Callable[[list[int], list[int]], list[int]]
    """`(stack, seeds)`: removes what nobody uses, and then what only that used; what is still used becomes a
    seed.
    """
    place_new: Callable[[Sequence[int], Sequence[int], int], None]
    """`(olds, nows, first)`: labels for the new nodes, whatever has to move for them."""
    refine_types: Callable[[Sequence[int], Sequence[int]], None]
    """All that is known of the old outputs' types is known of the new ones'."""
    outlines: Callable[[tuple[str, ...]], bool]
    """True if calls of these operators may be laid down as outlines."""


MISSING: Final = object()  # no entry in a table of types


def edits_of(
    graph: Graph,
    dialect: Dialect,
    matters: Callable[[Made, int], bool] = lambda *_: True,
    outlines: Callable[[tuple[str, ...]], bool] = lambda _: False,
) -> Edits:
    """The edits of a graph. They stay valid as long as the graph's columns are not exchanged.

    `matters`: true of those of a target's nodes that may be part of a match; others need not become seeds.
    `outlines`: see `Edits`.
    """
    # Long on purpose: closures over the columns of the graph, which cost an application less than attributes.
    op, operands, attrs, types = graph.op, graph.operands, graph.attrs, graph.types
    names, users, values, additions = graph.names, graph.users, graph.values, graph.additions
    add_user, order = graph.add_user, graph.ordered()
    label = order.label
    depends_on_values: list[int] = []
    order.grow(len(op))

    def add(name: str, these: tuple[int, ...], given: Attrs, known: Known | None) -> int:
        node = len(op)
        op.append(name)
        operands.append(these)
        attrs.append(given)
        names.append(None)
        users.append(())
        for operand in these:
            if operand >= 0:
                readers = users[operand]
                if (
                    type(readers) is tuple and len(readers) < MANY_USERS
                    and not (additions and operand in additions)
                ):
                    if not readers or readers[-1] != node:
                        users[operand] = readers + (node,)
                else:
                    add_user(operand, node)
        if known is None:
            types.append(infer_or_fail(graph, dialect, node, None))
            return node
        key = tuple([types[o] if o >= 0 else None for o in these])
        result = known.get(key, MISSING)
        types.append(infer(node, known, key) if result is MISSING else result)  # type: ignore[arg-type]
        return node

    def infer(node: int, known: Known, key: tuple[Type | None, ...]) -> Type | None:
        looked_at: list[int] = []
        result = infer_or_fail(graph, dialect, node, looked_at)
        if looked_at:  # it depends on a constant's value too
            depends_on_values.extend(looked_at)
        elif not any(kind is None and o >= 0 for kind, o in zip(key, operands[node])):
            known[key] = result  # (an operand of unknown type has the key of one that is absent)
        return result

    def type_mismatch(olds: Sequence[int], nows: Sequence[int]) -> str | None:
        if len(olds) != len(nows):
            return f"the source has {len(olds)} outputs here, the target {len(nows)}"
        for old, now in zip(olds, nows):
            if now < 0:
                return "an absent operand cannot replace an output"
            if types[old] is not types[now] and (why := contradiction(types[old], types[now])):
                return f"the target's type does not fit: {why}"
        return None

    def note(user: int) -> None:
        """An operand of this node has changed, so values of it that a watcher has grouped by may have."""
        for operand in operands[user]:
            for log in additions.get(operand, ()):
                log.append(user)

    def settle(old: int, now: int, first: int, seeds: list[int]) -> None:
        """The new output takes the known type and the name of the old one."""
        if types[now] is not types[old]:
            refined = refine(types[now], types[old])
            if refined is not types[now]:
                types[now] = refined
                if now < first:
                    seeds.extend(users[now])
                    for user in users[now]:
                        note(user)
        if now >= first and names[old] is not None and names[now] is None:
            names[now], names[old] = names[old], None

    def label_new(first: int, low: int | None, high: int) -> bool:
        """Labels for new nodes above `low`, the last one `high`; False if they do not fit."""
        count = len(op)
        if low is None:
            low = max(
                [label[o] for node in range(first, count) for o in operands[node] if 0 <= o < first],
                default=0,
            )
        step = (high - low) // (count - first)
        if step < 1:
            return False
        if len(label) != first:
            order.grow(first)
        label.extend(range(high - step * (count - first - 1), high + 1, step))
        return True

    def remove(stack: list[int], seeds: list[int]) -> list[int]:
        removed: list[int] = []
        output_uses = graph.output_uses
        while stack:
            node = stack.pop()
            if users[node] or node in output_uses or op[node] is DEAD or op[node] is INPUT:
                continue
            op[node] = DEAD
            label[node] = -1
            removed.append(node)
            if node in values:
                del values[node]
            for operand in operands[node]:
                if operand >= 0:
                    readers = users[operand]
                    if isinstance(readers, dict):
                        readers.pop(node, None)
                    elif node in readers:
                        at = readers.index(node)
                        users[operand] = readers = readers[:at] + readers[at + 1 :]
                    if readers:
                        seeds.append(operand)
                    else:
                        stack.append(operand)
            operands[node] = ()
            attrs[node] = NO_ATTRS
        graph.dead += len(removed)
        return removed

    def replace_one(
        old: int, now: int, first: int, low: int | None, unused: bool, seeds: list[int]
    ) -> list[int]:
        count = len(op)
        if count > first:
            if not label_new(first, low, label[old]):  # no room, or the old output stays as an operand
                _place(graph, (old,), (now,), first, ())
            seeds.extend(range(first, count))
        settle(old, now, first, seeds)
        if users[old]:
            users[old] = redirect(old, now, first, seeds)
        if old in graph.output_uses:
            graph.replace_outputs({old: now})
        stack = [old] if users[now] or now < first else [old, now]  # nobody may have used the old one
        if unused:
            stack += [node for node in range(first, count) if not users[node]]
        return remove(stack, seeds)

    def redirect(old: int, now: int, first: int, seeds: list[int]) -> tuple[int, ...] | dict[int, None]:
        """Let the users of `old` read `now`, but not new nodes; returns these."""
        kept: list[int] = []
        for user in users[old]:
            if user >= first:
                kept.append(user)
                continue
            before = operands[user]
            operands[user] = (now,) if len(before) == 1 else tuple([now if o == old else o for o in before])
            seeds.append(user)
            readers = users[now]
            if type(readers) is tuple and len(readers) < MANY_USERS and not additions:
                if user not in readers:
                    users[now] = readers + (user,)
            else:
                add_user(now, user)
                note(user)
        return users_of(kept)

    def redirect_all(moved: dict[int, int], first: int, staying: Collection[int]) -> list[int]:
        """The same for several outputs; a node that reads many of them is changed once.

        Returns the users that have changed.
        """
        changed = dict.fromkeys([user for old in moved for user in users[old]])
        nows = set(moved.values())
        if (
            not staying and len(nows) == len(moved) and max(changed, default=0) < first
            and not any([now < first or users[now] for now in nows])
        ):
            for old, now in moved.items():  # each new node gets all users of one old node, and no others
                users[old], users[now] = users[now], users[old]
            get = moved.get
            for user in changed:
                operands[user] = tuple(map(get, operands[user], operands[user]))
            return list(changed)
        changed.clear()
        for old, now in moved.items():
            kept: list[int] = []
            for user in users[old]:
                if user >= first or user in staying:
                    kept.append(user)
                    continue
                changed[user] = None
                readers = users[now]
                if type(readers) is tuple and len(readers) < MANY_USERS and not additions:
                    if user not in readers:
                        users[now] = readers + (user,)
                else:
                    add_user(now, user)
            users[old] = users_of(kept)
        for user in changed:
            operands[user] = tuple([moved.get(o, o) for o in operands[user]])
        return list(changed)

    def replace(
        olds: Sequence[int],
        nows: Sequence[int],
        first: int,
        low: int | None,
        unused: bool,
        staying: Collection[int],
        seeds: list[int],
    ) -> list[int]:
        count = len(op)
        placed = False
        if len(staying) > 8:
            staying = frozenset(staying)
        room = None
        if low is None:
            room = _room(graph, olds, nows, first, staying)
            low = room[1]
        if count > first:
            high = (
                room[2] if room
                else min(
                    [label[u] for old in olds for u in users[old] if u < first and u not in staying],
                    default=low + 2 * GAP,
                )
            )
            placed = low < high and label_new(first, low, high - 1)
        if not placed:
            _place(graph, olds, nows, first, staying, room)
        seeds.extend(range(first, count))
        moved = {old: now for old, now in zip(olds, nows) if old != now}
        for old, now in moved.items():
            settle(old, now, first, seeds)
        if any([now in moved for now in nows]):  # outputs that change places: all at once
            changed = graph.replace_uses(moved, {*staying, *range(first, count)})
        else:
            changed = redirect_all(moved, first, staying)
            graph.replace_outputs(moved)
        seeds += changed
        for user in changed if additions else ():
            note(user)
        stack = [*olds, *[now for now in nows if now >= first and not users[now]]]
        if unused:
            stack += [node for node in range(first, count) if not users[node]]
        return remove(stack, seeds)

    def place_new(olds: Sequence[int], nows: Sequence[int], first: int) -> None:
        _place(graph, olds, nows, first, ())

    def refine_types(olds: Sequence[int], nows: Sequence[int]) -> None:
        for old, now in zip(olds, nows):
            types[now] = refine(types[now], types[old])

    def relevant(made: Made) -> tuple[int, ...]:
        return tuple([k for k in range(len(made)) if matters(made, k)])

    return Edits(
        graph, dialect, add, infer, type_mismatch, replace_one, replace, depends_on_values, note, relevant,
        remove, place_new, refine_types, outlines,
    )


def _place(
    graph: Graph,
    olds: Sequence[int],
    nows: Sequence[int],
    first: int,
    staying: Collection[int],
    room: tuple[list[int], int, int] | None = None,
) -> None:
    """Labels for new nodes, whatever stands in the way. `room`: as `_room` gives it.

    What they read, and old nodes that stand for an output, may come after a user of an output; such nodes
    move to the place right behind the first output. By convexity none of them depends on a user of an output.
    """
    order = graph.ordered()
    count = len(graph.op)
    order.grow(count)
    while True:
        needed, low, high = room or _room(graph, olds, nows, first, staying)
        nodes: Sequence[int] = range(first, count)
        if low >= high:
            label = order.label
            anchor = min(olds, key=label.__getitem__)
            low = label[anchor]
            moved = order.ancestors_after(graph.operands, needed, anchor)
            # no node moves up, where its other users may be below it
            high = min([high, *[label[node] for node in moved]])
            nodes = [*moved, *nodes]
        if not nodes or order.spread(nodes, low, high - 1):
            return
        order.renumber()
        room = None


def _room(
    graph: Graph, olds: Sequence[int], nows: Sequence[int], first: int, staying: Collection[int]
) -> tuple[list[int], int, int]:
    """Old nodes that new ones read, or that stand for an output; the greatest of their labels; the least one
    of the outputs' users.
    """
    label, users = graph.ordered().label, graph.users
    needed = [o for below in graph.operands[first:] for o in below if 0 <= o < first]
    needed += [node for node in nows if node < first]
    low = max([label[node] for node in needed], default=0)
    return (
        needed, low,
        min(
            [label[u] for old in olds for u in users[old] if u < first and u not in staying],
            default=low + 2 * GAP,
        ),
    )


def infer_or_fail(graph: Graph, dialect: Dialect, node: int, looked_at: list[int] | None) -> Type | None:
    """`infer_node`, a contradiction being a `BuildError` that names the operator.

    Raises `UnknownValue` for a call that the graph cannot have: then there is no match here.
    """
    if (missing := _missing_operand(graph, dialect, node)) is not None:
        raise BuildError(f"operand `{missing}` of `{graph.op[node]}` is not optional, and is absent here")
    try:
        if dialect.refuses is not None and graph.is_call(node):
            _refuse(graph, dialect.refuses, node, looked_at)
        return infer_node(graph, dialect, node, looked_at)
    except TypeInferenceError as error:
        raise BuildError(f"`{graph.op[node]}` of the target: {error}") from error


def _missing_operand(graph: Graph, dialect: Dialect, node: int) -> str | None:
    """The name of an operand that a call must have, and has not."""
    signature, operands = dialect.operators.get(graph.op[node]), graph.operands[node]
    for k, spec in enumerate(() if signature is None else signature.operands):
        if spec.variadic:
            return None
        if not spec.optional and (k >= len(operands) or operands[k] < 0):
            return spec.name
    return None


def _refuse(graph: Graph, refuses: Callable[..., str | None], node: int, looked_at: list[int] | None) -> None:
    operands = graph.operands[node]

    def constant(k: int) -> bool:
        if looked_at is not None:
            looked_at.append(operands[k])
        return operands[k] >= 0 and graph.op[operands[k]] is CONST

    types = tuple([graph.types[o] if o >= 0 else None for o in operands])
    there = tuple([k for k, o in enumerate(operands) if o >= 0])
    why = refuses(graph.meta, graph.op[node], graph.attrs[node], types, constant, there)
    if why is not None:
        known = graph.meta.get("refused", {})
        graph.meta["refused"] = {**known, why: known.get(why, 0) + 1}  # for the report
        raise UnknownValue(why)

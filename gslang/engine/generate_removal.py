"""Generated code that removes the outputs of a match, and its interior nodes where nothing else reads them.

What stays is told in the same go who reads it now (`new`: leaf → variables of nodes, or `*` and that of
several): most often its only reader goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.engine.code_writer import Place, Writer, tuple_code

NewReaders = Mapping[int, Sequence[str]]


def emit_removal(writer: Writer, place: Place, new: NewReaders) -> None:
    """The outputs have no users any more. With them go the interior nodes, where nothing but them was their
    user.

    An input may be an interior node at once, which then stays if somebody reads it now.
    """
    rule, inner = writer.plan.rule, place.deeper()
    inside = only_inside(rule)
    if not inside:
        _emit_going(writer, place, list(rule.outputs), new)
        return
    alone = [f"len(users[v{k}]) == {len(_readers(rule, k))}" for k in inside]
    alone += [f"v{k} != v{leaf}" for k in inside for leaf in new if not _is_apart(rule, leaf, k)]
    writer.line(place, f"if {' and '.join(alone)}:")
    _emit_going(writer, inner, [*rule.outputs, *inside], new)
    writer.line(place, "else:")
    _emit_going(writer, inner, list(rule.outputs), new)


def _emit_going(writer: Writer, place: Place, going: list[int], new: NewReaders) -> None:
    rule = writer.plan.rule

    def all_set(column: str, empty: str) -> None:
        writer.line(place, f"{' = '.join(f'{column}[v{k}]' for k in going)} = {empty}")

    all_set("op", "DEAD")
    all_set("label", "-1")
    all_set("users", "()")
    readers: dict[int, list[int]] = {}
    for k in going:
        for child in dict.fromkeys(rule.nodes[k].below):
            if child not in going:
                readers.setdefault(child, []).append(k)
    for operand in dict.fromkeys([*readers, *new]):
        gone = [f"v{k}" for k in readers.get(operand, ())]
        pattern = rule.nodes[operand]
        # else no pattern has more than a leaf there
        is_seed = not isinstance(pattern, ir.LeafNode) or pattern.kind == "any"
        if operand in new:
            _emit_exchange(writer, place, f"v{operand}", gone, new[operand])
            if is_seed and gone:
                writer.line(place, f"seeds.append(v{operand})")
            continue
        _emit_leaving(writer, place, f"v{operand}", gone)
        if is_seed:
            writer.line(place, f"if readers: seeds.append(v{operand})")
            writer.line(place, f"else: rest.append(v{operand})")
        else:
            writer.line(place, f"if not readers: rest.append(v{operand})")
    all_set("operands", "()")
    all_set("attrs", "NO_ATTRS")
    writer.line(place, f"G.dead += {len(going)}")
    if writer.traced:
        writer.line(place, f"removed += {tuple_code([f'v{k}' for k in going])}")
        writer.line(place, "removed += remove(rest, seeds)")
    else:
        writer.line(place, "if rest: remove(rest, seeds)")


def _emit_exchange(
    writer: Writer, place: Place, operand: str, gone: Sequence[str], new: Sequence[str]
) -> None:
    """`new` nodes read an operand in place of those `gone`, which are most often all that did."""
    before = tuple_code(gone)
    after = new[0][1:] if new[0][0] == "*" else tuple_code(new)
    call = f"G.exchange_users({operand}, {before}, {after})"
    if not gone:
        writer.line(place, call)
        return
    writer.line(place, f"readers = users[{operand}]")
    writer.line(place, f"if additions: {call}")
    writer.line(place, f"elif readers == {before}: users[{operand}] = {after}")
    writer.line(place, "elif type(readers) is dict:")
    for user in new:
        some = f"readers.update(dict.fromkeys({after}))" if user[0] == "*" else f"readers[{user}] = None"
        writer.line(place.deeper(), some)
    writer.line(place.deeper(), "; ".join(f"readers.pop({user}, None)" for user in gone))
    writer.line(place, f"else: {call}")


def _emit_leaving(writer: Writer, place: Place, operand: str, gone: Sequence[str]) -> None:
    """The nodes `gone` read an operand no more; `readers` are those left."""
    writer.line(place, f"readers = users[{operand}]")
    writer.line(place, "if type(readers) is dict:")
    for user in gone:
        writer.line(place.deeper(), f"readers.pop({user}, None)")
    test = f"u != {gone[0]}" if len(gone) == 1 else f"u not in ({', '.join(gone)})"
    count = len(gone)  # most often they are the oldest
    oldest = (
        f"readers and readers[0] == {gone[0]}" if count == 1 else f"readers[:{count}] == {tuple_code(gone)}"
    )
    writer.line(place, f"elif {oldest}: users[{operand}] = readers = readers[{count}:]")
    writer.line(place, f"else: users[{operand}] = readers = tuple([u for u in readers if {test}])")


def only_inside(rule: ir.CheckedRule) -> list[int]:
    """Interior nodes that only outputs and such nodes read in the pattern; users before what they use."""
    found: dict[int, None] = dict.fromkeys(rule.outputs)
    left = [k for k in rule.interior if isinstance(rule.nodes[k], ir.OpNode)]
    while ready := [k for k in sorted(left) if all(parent in found for parent in _readers(rule, k))]:
        found.update(dict.fromkeys(ready))
        left = [k for k in left if k not in found]
    return [k for k in found if k not in rule.outputs]


def _readers(rule: ir.CheckedRule, node: int) -> list[int]:
    return [k for k, other in enumerate(rule.nodes) if node in other.below]


def _is_apart(rule: ir.CheckedRule, leaf: int, node: int) -> bool:
    """True if no match has the same node for a leaf and a call: the call depends on it, or it is no call."""
    pattern = rule.nodes[leaf]
    if isinstance(pattern, ir.LeafNode) and pattern.kind != "any":
        return True
    nodes = rule.nodes
    return leaf in reachable([node], lambda k: nodes[k].below if isinstance(nodes[k], ir.OpNode) else ())

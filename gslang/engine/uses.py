"""The users of a matched node in the graph, as it is before the rewrite, and the calls in its bodies
(language.md §3).

Every such fact is told of a node, the operators and the attributes that its users are to have. Nodes that the
target has made already, those from `limit` on, do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, Union

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.values import call_attribute, equal
from gslang.graph.graph import TUPLE, Graph

FACTS: Final = ("users", "is_output", "calls")
Operators = Union[str, Collection[str], None]
"""The name of an operator, or several; None for any."""
NO_GRAPH: Final = -1
"""As a limit: there is no graph in which a node has users of its own, for instance in a search over classes
of equal nodes.
"""


def surroundings(
    what: str,
    graph: Graph,
    dialect: Dialect,
    node: int,
    limit: int | None,
    operators: Operators,
    attributes: Attrs,
    body: str | None = None,
) -> int:
    """The fact `what` (one of `FACTS`) of a node: a number, or True for an output of the graph, alone or in a
    tuple.

    Raises `UnknownValue` where the node is absent or there is no graph to look at.
    """
    if node < 0:
        raise UnknownValue("the node is not part of the match")
    if what == "calls":
        return count_calls(dialect, _bodies(graph, node, body), operators, attributes)
    if limit == NO_GRAPH:
        raise UnknownValue("uses are not known here")
    if what == "is_output":
        outputs = graph.output_uses
        return node in outputs or any(
            user in outputs and graph.op[user] is TUPLE for user in graph.users[node]
        )
    users = (user for user in graph.users[node] if limit is None or user < limit)
    return count_users(graph, dialect, users, operators, attributes)


def count_users(
    graph: Graph, dialect: Dialect, users: Iterable[int], operators: Operators, attributes: Attrs
) -> int:
    """The number of these nodes; with `operators` the calls of these, with these attributes."""
    if operators is not None:
        wanted = (operators,) if isinstance(operators, str) else operators
        users = [user for user in users if graph.op[user] in wanted]
    return sum(_has(graph, dialect, user, attributes) for user in users)


def _has(graph: Graph, dialect: Dialect, user: int, attributes: Attrs) -> bool:
    for name, value in attributes.items():
        try:
            found = call_attribute(graph, dialect, user, name)
        except UnknownValue:
            return False  # it has no such attribute
        if not equal(found, value):
            return False
    return True


def _bodies(graph: Graph, node: int, body: str | None) -> list[object]:
    """The bodies of a node, or the one of this name. Raises `UnknownValue` where that is none."""
    given = graph.attrs[node]
    if body is None:
        return [
            part
            for value in given.values()
            for part in (value if isinstance(value, tuple) else (value,))
            if hasattr(part, "calls")
        ]
    part = given.get(body)
    if not hasattr(part, "calls"):
        raise UnknownValue(f"{graph.label(node)} has no body `{body}`")
    return [part]


def count_calls(dialect: Dialect, bodies: Iterable[Any], operators: Operators, attributes: Attrs) -> int:
    """The number of calls in bodies, those in bodies inside included; with `operators` the calls of these,
    with these attributes.
    """
    wanted = (operators,) if isinstance(operators, str) else operators
    return sum(
        (wanted is None or name in wanted)
        and all(_states(dialect, name, own, key, value) for key, value in attributes.items())
        for body in bodies
        for name, own in body.calls()
    )


def _states(dialect: Dialect, operator: str, attributes: Attrs, name: str, value: object) -> bool:
    """True if a call in a body has an attribute of this value, stated or by default."""
    signature = dialect.operators.get(operator)
    defaults = signature.defaults if signature is not None else {}
    return (name in attributes or name in defaults) and equal(
        attributes[name] if name in attributes else defaults[name], value
    )

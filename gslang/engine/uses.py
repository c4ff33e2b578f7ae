"""The users of a matched node in the graph, as it is before the rewrite, and the calls in its bodies
(language.md §3).

Every such fact is told of a node, the operators and the attributes that its users are to have. Nodes that the
target has made already, those from `limit` on, do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.values import call_attribute, equal
from gslang.graph.graph import Graph

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
    operators: object,
    attributes: Attrs,
    body: str | None = None,
) -> Any:
    """The fact `what` of a node.

    Raises `UnknownValue` where the node is absent or there is no graph to look at.
    """
    if node < 0:
        raise UnknownValue("the node is not part of the match")
    if limit == NO_GRAPH and what != "calls":
        raise UnknownValue("uses are not known here")
    return FACTS[what](graph, dialect, node, limit, operators, attributes, body)


def count_users(
    graph: Graph,
    dialect: Dialect,
    node: int,
    limit: int | None,
    operators: Any,
    attributes: Attrs,
    body: str | None = None,
) -> int:
    """The number of nodes that have this one among their operands; with `operators` (a name or several) the
    calls of these, with these attributes."""
    users = [user for user in graph.users[node] if limit is None or user < limit]
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


def count_calls(
    graph: Graph,
    dialect: Dialect,
    node: int,
    limit: int | None,
    operators: Any,
    attributes: Attrs,
    body: str | None = None,
) -> int:
    """The number of calls in a body of a node, in all of them without `body`, those in bodies inside
    included.

    With `operators` the calls of these, with these attributes. Raises `UnknownValue` where what is said to be
    a body is none.
    """
    given = graph.attrs[node]
    if body is None:
        parts = [
            part
            for value in given.values()
            for part in (value if isinstance(value, tuple) else (value,))
            if hasattr(part, "calls")
        ]
    else:
        parts = [given.get(body)]
        if not hasattr(parts[0], "calls"):
            raise UnknownValue(f"{graph.label(node)} has no body `{body}`")
    wanted = (operators,) if isinstance(operators, str) else operators
    return sum(
        (wanted is None or name in wanted)
        and all(_states(dialect, name, own, key, value) for key, value in attributes.items())
        for part in parts
        for name, own in part.calls()
    )


def _states(dialect: Dialect, operator: str, attributes: Attrs, name: str, value: object) -> bool:
    """True if a call in a body has an attribute of this value, stated or by default."""
    signature = dialect.operators.get(operator)
    defaults = signature.defaults if signature is not None else {}
    return (name in attributes or name in defaults) and equal(
        attributes[name] if name in attributes else defaults[name], value
    )


def is_output(
    graph: Graph,
    dialect: Dialect,
    node: int,
    limit: int | None,
    operators: object,
    attributes: Attrs,
    body: str | None = None,
) -> bool:
    """True if a node is an output of the graph."""
    return node in graph.output_uses


FACTS: Final[dict[str, Callable[..., Any]]] = {
    "users": count_users,
    "is_output": is_output,
    "calls": count_calls,
}

"""Each broken invariant is found (the graph is broken by hand, past its methods)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import DEAD, Graph
from tests.graph.invariants import check_invariants


def sample() -> Graph:
    graph = Graph()
    x = graph.add_input("x", TensorType((2,), "float32"))
    y = graph.add("exp", [x], name="y")
    graph.set_outputs([graph.add("add", [x, y])])
    graph.ordered()
    return graph


def test_a_sound_graph_has_none() -> None:
    assert check_invariants(sample()) == []


def cyclic(graph: Graph) -> None:
    graph.operands[1] = (2,)
    graph.users[0], graph.users[2] = (2,), (1,)


def misplaced(graph: Graph) -> None:
    assert graph.order is not None
    graph.order.label[1] = graph.order.label[2]


def dead_operand(graph: Graph) -> None:
    graph.op[0] = DEAD


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda g: g.users.__setitem__(0, (1, 2, 2)), "0 has a user twice"),
        (lambda g: g.users.__setitem__(0, [1, 2]), "0 has its users in a list"),
        (lambda g: g.users.__setitem__(0, (2,)), "0 has users [2], by operands [1, 2]"),
        (lambda g: g.types.append(None), "column `types` has 4 rows, not 3"),
        (lambda g: g.operands.__setitem__(1, (7,)), "1 has operand 7, which does not exist"),
        (cyclic, "a cycle through some of the nodes [1, 2]"),
        (misplaced, "the order has 2 before its operand 1"),
        (lambda g: g.order.remove(1), "the order lacks 1"),
        (lambda g: g.names.__setitem__(1, "x"), "the name `x` is used 2 times"),
        (lambda g: g.outputs.append(2), "`output_uses` is {2: [0]}, found {2: [0, 1]}"),
        (lambda g: setattr(g, "dead", 2), "`dead` is 2, counted 0"),
        (dead_operand, "1 has operand 0, which was removed"),
        (lambda g: g.values.__setitem__(1, 0), "node 1 of `values` is neither a constant nor a parameter"),
        (lambda g: g.outputs.__setitem__(0, 9), "output 9 does not exist"),
    ],
)
def test_a_broken_one_is_told(damage: Callable[[Graph], None], expected: str) -> None:
    graph = sample()
    damage(graph)
    assert any(found.startswith(expected) for found in check_invariants(graph)), check_invariants(graph)

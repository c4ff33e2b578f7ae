"""The order kept as labels, against plain lists."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from gslang.graph.order import GAP, OUTSIDE, Order


def test_it_lists_what_it_was_given() -> None:
    order = Order([2, 0, 1], 4)
    assert list(order) == [2, 0, 1]
    assert order.label[3] == OUTSIDE


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 5))
def test_inserting_between_two_nodes(places: list[int], count: int) -> None:
    """Nodes spread between two neighbours come out between them, however often; nothing else moves."""
    order, expected = Order([0, 1], 2), [0, 1]
    fresh = 2
    for place in places:
        at = place % (len(expected) - 1)
        low, high = expected[at], expected[at + 1]
        nodes = list(range(fresh, fresh + count))
        fresh += count
        order.grow(fresh)
        while not order.spread(nodes, order.label[low], order.label[high] - 1):
            order.renumber()
        expected[at + 1 : at + 1] = nodes
        assert list(order) == expected
        labels = [order.label[node] for node in expected]
        assert labels == sorted(set(labels))


def test_no_room_is_told_and_changes_nothing() -> None:
    order = Order([0, 1], 3)
    assert not order.spread([2], 7, 7)
    assert order.label[2] == OUTSIDE
    assert order.spread([2], 7, 8) and order.label[2] == 8


def test_always_inserting_at_one_place_renumbers_rarely() -> None:
    order, renumbered, before = Order([0, 1], 2), 0, 1
    for node in range(2, 2000):
        order.grow(node + 1)
        if not order.spread([node], order.label[0], (order.label[0] + order.label[before]) // 2):
            order.renumber()
            renumbered += 1
            assert order.spread([node], order.label[0], (order.label[0] + order.label[before]) // 2)
        before = node
    assert list(order) == [0, *range(1999, 1, -1), 1]
    assert renumbered <= 2000 // 30


def test_ties_are_broken_by_number() -> None:
    order = Order([], 3)
    order.label[:] = [GAP, GAP, 1]
    assert list(order) == [2, 0, 1]


def test_a_removed_node_is_outside() -> None:
    order = Order(range(3), 3)
    order.remove(1)
    order.remove(1)
    order.remove(7)  # a number that was never in it
    assert list(order) == [0, 2]


def test_a_copy_is_independent() -> None:
    order = Order(range(3), 3)
    other = order.copy()
    other.remove(1)
    assert (list(order), list(other)) == ([0, 1, 2], [0, 2])

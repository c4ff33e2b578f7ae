"""The maintained order against a plain list."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from gslang.graph.order import Order


@given(st.integers(0, 5), st.lists(st.tuples(st.sampled_from(["place", "remove", "move", "append"]), st.integers(0, 99), st.integers(0, 99))))
def test_it_behaves_as_a_list(size: int, steps: list[tuple[str, int, int]]) -> None:
    order, expected, fresh = Order(range(size), size), list(range(size)), size
    for step, a, b in steps:
        anchor = -1 if not expected or a % (len(expected) + 1) == 0 else expected[a % len(expected)]
        at = expected.index(anchor) + 1 if anchor >= 0 else 0
        match step:
            case "place":
                order.place_after(fresh, anchor)
                expected.insert(at, fresh)
                fresh += 1
            case "append":
                order.append(fresh)
                expected.append(fresh)
                fresh += 1
            case "remove" if expected:
                node = expected.pop(b % len(expected))
                order.remove(node)
                order.remove(node)  # once more changes nothing
                assert order.label[node] == -1
            case "move" if expected and (node := expected[b % len(expected)]) != anchor:
                order.move_after(node, anchor)
                expected.remove(node)
                expected.insert(expected.index(anchor) + 1 if anchor >= 0 else 0, node)
        assert list(order) == expected
        labels = [order.label[node] for node in expected]
        assert labels == sorted(set(labels))


def test_always_inserting_at_one_place_relabels() -> None:
    """Gaps halve with each insertion, so this needs new labels every twenty or so."""
    order = Order(range(3), 3)
    for node in range(3, 2000):
        order.place_after(node, 0)
    assert list(order) == [0, *range(1999, 2, -1), 1, 2]
    labels = [order.label[node] for node in order]
    assert labels == sorted(set(labels))


def test_always_inserting_at_the_front_keeps_labels_rising() -> None:
    order = Order((), 0)
    for node in range(2000):
        order.place_after(node, -1)
    labels = [order.label[node] for node in order]
    assert list(order) == list(range(1999, -1, -1))
    assert labels == sorted(set(labels))


def test_every_node_in_the_list_has_a_label_that_says_so() -> None:
    """-1 means "not in the list", so no node in it may have that label, wherever it was put."""
    order = Order(range(2), 2)
    order.place_after(2, -1)
    for node in range(3, 60):  # ever nearer to the node that was first at the beginning
        order.place_after(node, node - 1)
        assert all(order.label[other] >= 0 for other in order), node
    for node in range(2, 60):
        order.remove(node)
        assert node not in list(order)


def test_a_copy_is_independent() -> None:
    order = Order(range(3), 3)
    other = order.copy()
    other.remove(1)
    other.append(3)
    assert list(order) == [0, 1, 2]
    assert list(other) == [0, 2, 3]

"""Graphviz text: types and attributes on it stay short."""

from __future__ import annotations

from gslang.dialect.load import load_dialect
from gslang.formats.dot import write_dot
from gslang.graph.builder import Builder


def test_a_node_with_thousands_of_results() -> None:
    build = Builder(load_dialect("relay"))
    parts = build.call("split", build.input("x", (3000, 2)), indices_or_sections=3000, axis=0)
    text = write_dot(build.finish(*[build.field(parts, k) for k in range(3000)]))
    assert text.count('label="tuple of 3000"') == 3000 and len(text) < 500_000


def test_a_small_tuple_is_written_out() -> None:
    build = Builder(load_dialect("relay"))
    parts = build.call("split", build.input("x", (2, 2)), indices_or_sections=2, axis=0)
    assert 'label="(float32[1, 2], float32[1, 2])"' in write_dot(build.finish(build.field(parts, 0)))


def test_long_attributes() -> None:
    build = Builder(load_dialect("relay"))
    node = build.call("reshape", build.input("x", (6,)), newshape=(1,) * 5000 + (6,))
    text = write_dot(build.finish(node))
    assert "newshape = (1, 1, 1, " in text and "…" in text and len(text) < 20_000

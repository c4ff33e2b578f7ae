"""Pictures of graphs: well-formed, complete, and cut off where there is too much."""

from __future__ import annotations

from xml.etree import ElementTree

import gslang
from gslang.dialect.load import load_dialect
from gslang.formats.picture import MOST_NODES, svg
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

SVG = "{http://www.w3.org/2000/svg}"


def chain(length: int) -> Graph:
    build = Builder(load_dialect("relay"))
    node = build.input("<x>", (2, 3))
    for _ in range(length):
        node = build.call("nn.relu", node)
    return build.finish(node)


def test_a_node_is_a_box_and_an_operand_a_line() -> None:
    build = Builder(load_dialect("relay"))
    x, w = build.input("x", (2, 3)), build.param("w", (4, 3))
    dense = build.call("nn.dense", x, w)
    parts = build.call("split", dense, indices_or_sections=2, axis=1)
    graph = build.finish(build.field(parts, 0), build.field(parts, 1))
    root = ElementTree.fromstring(svg(graph))
    assert [text.text for text in root.iter(f"{SVG}text")] == ["x", "w", "nn.dense", "split", ".0", ".1"]
    edges = [path for path in root.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(edges) == 5
    places = {text.text: float(text.get("y", "0")) for text in root.iter(f"{SVG}text")}
    assert places["x"] == places["w"] < places["nn.dense"] < places["split"] < places[".0"] == places[".1"]


def test_names_are_escaped_and_large_graphs_cut_off() -> None:
    root = ElementTree.fromstring(svg(chain(1000)))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[0] == "<x>" and texts[-1] == f"… and {1001 - MOST_NODES} more nodes"


def test_a_notebook_shows_it() -> None:
    assert gslang.load is not None  # the public interface is used
    picture = chain(2)._repr_svg_()
    assert picture is not None and picture.startswith("<svg")


def test_an_empty_graph() -> None:
    ElementTree.fromstring(svg(Graph()))

"""All conversions: what is written is read again, and a second round trip gives what the first one gave.

Graphs: cases, mutated files, ONNX's backend suite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from gslang.base.diagnostics import InputError
from gslang.formats.registry import graph_from_bytes, graph_text
from gslang.graph.graph import Graph
from tests.hostile.corpus import GRAPH
from tests.hostile.fuzz import mutated
from tests.hostile.readers import RELAY

CASES = Path(__file__).parents[1] / "cases"


def written(graph: Graph, format: str) -> bytes | None:
    """None where the format has no words for the graph."""
    try:
        if format == "onnx":
            from gslang.formats.onnx import onnx_model

            return (
                bytes(onnx_model(graph).SerializeToString(deterministic=True)) if graph.dialect == "onnx"
                else None
            )
        return graph_text(graph, format).encode("utf-8", "surrogatepass")
    except InputError:
        return None


def round_trips(graph: Graph, formats: tuple[str, ...]) -> list[str]:
    """Ways from one format to another and back after which a graph cannot be read, or that give another file
    the second time.
    """
    faults = []
    for way in [(a, b) for a in formats for b in formats]:
        texts: list[bytes] = []
        current = graph
        for format in (*way, *way):
            data = written(current, format)
            if data is None:
                break
            try:
                current = graph_from_bytes(data, f"g.{format}", format)
            except InputError as error:
                faults.append(f"{' → '.join(way)}: {error}: {data[:300]!r}")
                break
            texts.append(_renumbered(data))
        if len(texts) == 4 and texts[3] != texts[1]:
            faults.append(f"{' → '.join(way)}: {texts[1][:300]!r} and {texts[3][:300]!r}")
    return faults


def _renumbered(data: bytes) -> bytes:
    """Sizes that ONNX's shape inference makes up are numbered by the model's order of nodes, which JSON does
    not keep.
    """
    known: dict[bytes, bytes] = {}
    return re.sub(rb"\bunk__\d+\b", lambda found: known.setdefault(found[0], b"unk__%d" % len(known)), data)


def mutants(data: bytes, format: str, count: int) -> Iterator[Graph]:
    for number in range(count):
        try:
            yield graph_from_bytes(mutated(Random(number), data), f"g.{format}", format)
        except InputError:
            continue


@pytest.mark.parametrize("name", ["cases", "adversarial", "completeness"])
def test_cases(name: str) -> None:
    for case in json.loads((CASES / f"{name}.json").read_text()):
        assert (
            round_trips(
                graph_from_bytes(json.dumps(case["graph"]).encode(), "g.json", "json"), ("json", "relay")
            )
            == []
        ), case["name"]


@pytest.mark.parametrize(["data", "format"], [(GRAPH, "json"), (RELAY, "relay")], ids=["json", "relay"])
def test_mutated_files(data: bytes, format: str) -> None:
    found = list(mutants(data, format, 400))
    assert len(found) > 20
    for graph in found:
        assert round_trips(graph, ("json", "relay")) == []


def of_the_suite(step: int) -> Iterator[tuple[str, Graph]]:
    import gslang
    from tests.onnx.backend_suite import cases

    for case in islice(cases(), 0, None, step):
        yield case.name, gslang.from_onnx(case.model)


def test_a_sample_of_onnx_models() -> None:
    pytest.importorskip("onnx")
    for name, graph in of_the_suite(61):
        assert round_trips(graph, ("json", "onnx")) == [], name


@pytest.mark.long
def test_all_onnx_models_of_the_suite() -> None:
    pytest.importorskip("onnx")
    assert [
        (name, found) for name, graph in of_the_suite(1) if (found := round_trips(graph, ("json", "onnx")))
    ] == []

"""The example networks are what they say: sizes, sharing, invariants, values, and gradients that are
gradients.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from examples.models import inception_v3, nasnet_cell, resnet50, training_mlp, transformer
from gslang.dialect.load import load_dialect
from gslang.evaluate.run import evaluate
from gslang.formats.registry import read_graph, write_graph
from gslang.graph.compare import count_calls, differences, same_array
from gslang.graph.graph import PARAM, Graph
from gslang.graph.inference import infer_types
from tests.graph.invariants import check_invariants

DIALECT = load_dialect("relay")
MODELS = [inception_v3, nasnet_cell, resnet50, training_mlp, transformer]


def parameters(graph: Graph) -> int:
    return sum(int(np.prod(graph.types[n].shape)) for n in graph.nodes() if graph.op[n] is PARAM)  # type: ignore[union-attr, arg-type]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_every_model(model: ModuleType, tmp_path: Path) -> None:
    graph = model.build(values=False)
    assert check_invariants(graph) == []
    assert len(graph.reverse_post_order()) <= len(graph)
    assert infer_types(graph, DIALECT) == []
    for suffix in (".json", ".relay"):
        write_graph(graph, tmp_path / f"g{suffix}")
        assert differences(graph, read_graph(tmp_path / f"g{suffix}"), DIALECT, across_formats=True) == []


def test_sizes_are_those_of_the_papers() -> None:
    inception = inception_v3.build(values=False)
    calls = count_calls(inception)
    assert (calls["nn.conv2d"], calls["nn.batch_norm"], calls["nn.relu"]) == (94, 94, 94)
    assert parameters(inception) == pytest.approx(23.85e6, rel=0.002)
    assert str(inception.types[inception.outputs[0]]) == "float32[1, 1000]"
    resnet = resnet50.build(values=False)
    assert count_calls(resnet)["nn.conv2d"] == 53
    assert parameters(resnet) == pytest.approx(25.6e6, rel=0.002)
    assert count_calls(resnet50.build(layers=101, values=False))["nn.conv2d"] == 104
    assert count_calls(transformer.build(layers=3, values=False))["nn.dense"] == 18


def test_growth() -> None:
    calls = [
        count_calls(inception_v3.build(repeat=n, size=75, width=0.1, values=False))["nn.conv2d"]
        for n in (1, 2, 3)
    ]
    assert calls[2] - calls[1] == calls[1] - calls[0] == 3 * 7 + 4 * 10 + 2 * 9


def test_values_are_those_of_the_seed() -> None:
    one, same, other = (
        transformer.build(1, 8, 2, 8), transformer.build(1, 8, 2, 8), transformer.build(1, 8, 2, 8, seed=1),
    )
    weight = one.names.index("layer0_query_weight")
    assert same_array(one.value(weight), same.value(weight))
    assert not same_array(one.value(weight), other.value(weight))
    assert {one.value(n).dtype.name for n in one.nodes() if one.op[n] is PARAM} == {"float32"}


@pytest.mark.parametrize(
    "build",
    [
        lambda: inception_v3.build(size=75, width=0.125, classes=7),
        lambda: nasnet_cell.build(cells=1, filters=4, stem=8, size=8),
        lambda: resnet50.build(size=32, width=4, classes=5),
    ],
    ids=["inception_v3", "nasnet_cell", "resnet50"],
)
def test_classifiers_give_probabilities(build: Callable[[], Graph]) -> None:
    graph = build()
    shape = graph.types[graph.names.index("data")].shape  # type: ignore[union-attr]
    (result,) = evaluate(
        graph, DIALECT, {"data": np.random.default_rng(0).standard_normal(shape).astype("float32")}
    )
    assert np.isfinite(result).all()
    assert result.sum() == pytest.approx(1, abs=1e-5)
    assert result.max() < 0.999  # neither dead nor saturated


def test_gradients_are_those_of_finite_differences() -> None:
    graph = training_mlp.build(layers=3, features=3, hidden=4, classes=3, batch=5)
    random = np.random.default_rng(0)
    inputs = {
        "data": random.standard_normal((5, 3)).astype("float32"),
        "target": np.eye(3, dtype="float32")[[0, 1, 2, 1, 0]],
    }
    _, *gradients = evaluate(graph, DIALECT, inputs)
    names = [f"layer{k}_{part}" for k in (2, 1, 0) for part in ("weight", "bias")]
    for name, gradient in zip(names, gradients, strict=True):
        node = graph.names.index(name)
        value, step = graph.value(node), np.float32(1e-2)
        assert gradient.shape == value.shape
        direction = random.standard_normal(value.shape).astype("float32")
        losses = []
        for sign in (1, -1):
            graph.values[node] = value + sign * step * direction
            losses.append(float(evaluate(graph, DIALECT, inputs)[0]))
        graph.values[node] = value
        assert float((gradient * direction).sum()) == pytest.approx(
            (losses[0] - losses[1]) / (2 * float(step)), rel=0.01, abs=1e-3
        )


def test_a_script_writes_text_and_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(transformer.__file__)
    graph, params = tmp_path / "t.relay", tmp_path / "t.npz"
    arguments = [
        str(path), str(graph), "--params", str(params), "--layers", "1", "--d-model", "8", "--heads", "2",
        "--d-ff", "16",
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.syspath_prepend(str(path.parent))
    runpy.run_path(str(path), run_name="__main__")
    expected = transformer.build(layers=1, d_model=8, heads=2, d_ff=16)
    assert differences(expected, read_graph(graph, params=params), DIALECT, across_formats=True) == []

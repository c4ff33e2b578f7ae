"""Operators of which numbers are far off: an error, where the reference implementation would not end."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx import helper
from onnx.reference import ReferenceEvaluator

from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.onnx_corrections import corrected
from gslang.evaluate.onnx_refusals import refuse_call


def test_gathered_elements_are_those_of_the_reference() -> None:
    gather = corrected("GatherElements", (), {})
    assert gather is not None
    random = np.random.default_rng(0)
    for rank, axis in ((1, 0), (2, 0), (2, 1), (3, 1), (3, 2)):
        shape = random.integers(1, 5, rank)
        x, there = random.normal(size=shape), random.integers(-shape[axis], shape[axis], shape)
        node = helper.make_node("GatherElements", ["x", "i"], ["y"], axis=axis)
        expected = ReferenceEvaluator(node).run(None, {"x": x, "i": there})[0]
        for same in (axis, axis - rank):
            assert np.array_equal(gather([x, there], {"axis": same}), expected)


def test_elements_of_an_axis_that_is_longer_elsewhere() -> None:
    gather = corrected("GatherElements", (), {})
    assert gather is not None
    x = np.arange(6).reshape(2, 3)
    assert np.array_equal(gather([x, np.array([[1, 0]])], {"axis": 0}), [[3, 1]])


@pytest.mark.parametrize("index", [3, -4, 2**62, -(2**62)])
def test_an_index_outside_of_the_axis(index: int) -> None:
    gather = corrected("GatherElements", (), {})
    assert gather is not None
    with pytest.raises(ValueError, match="out of range for an axis of 3"):
        gather([np.arange(3.0), np.array([index])], {})


def _tree(first: list[int], second: list[int]) -> dict[str, list[int] | list[str]]:
    return {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2],
            "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"],
        "nodes_truenodeids": first, "nodes_falsenodeids": second,
    }


def test_trees_that_are_circles() -> None:
    refuse_call("TreeEnsembleRegressor", _tree([1, 2, 0], [2, 2, 0]))
    for first in ([0, 2, 0], [1, 0, 0], [1, 1, 0]):
        with pytest.raises(EvaluationError, match="is cyclic"):
            refuse_call("TreeEnsembleClassifier", _tree(first, [2, 2, 0]))


def test_trees_of_version_5_that_are_circles() -> None:
    ends = {"nodes_trueleafs": [0, 1], "nodes_falseleafs": [1, 1], "nodes_falsenodeids": [0, 1]}
    refuse_call("ai.onnx.ml.TreeEnsemble", {**ends, "nodes_truenodeids": [1, 0]})
    with pytest.raises(EvaluationError, match="is cyclic"):
        refuse_call("ai.onnx.ml.TreeEnsemble", {**ends, "nodes_truenodeids": [0, 0]})


WORDS = {"ngram_counts": [0, 2], "ngram_indexes": [0, 1], "pool_int64s": [5, 6, 7, 8], "max_skip_count": 1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ngram_counts", [0, 2**40]),
        ("ngram_counts", [1, 0]),
        ("max_skip_count", 2**62),
        ("ngram_indexes", [0, 2**40]),
    ],
)
def test_words_that_are_counted_without_end(name: str, value: object) -> None:
    refuse_call("TfIdfVectorizer", WORDS)
    with pytest.raises(EvaluationError):
        refuse_call("TfIdfVectorizer", {**WORDS, name: value})

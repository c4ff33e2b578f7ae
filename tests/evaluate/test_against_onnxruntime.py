"""Calls of each ONNX operator, drawn from its declared domains, have the values that onnxruntime gives them.

The reference implementation of the `onnx` package, on which the evaluator rests, is wrong for some operators;
onnxruntime is another implementation. Calls that it refuses are not compared.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import gslang
import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import Signature
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from gslang.verify.instances.draw import Search, drawn
from tests.evaluate import drawn_calls
from tests.evaluate.drawn_calls import calls_of

ort = pytest.importorskip("onnxruntime")

OPSETS = (21, 23)  # onnxruntime has all operators of the first, and those that the second one adds
RANDOM = ("Bernoulli", "Dropout", "Multinomial", "RandomNormalLike", "RandomUniformLike")
UNGUARDED = ("com.microsoft.QLinearSigmoid", "com.microsoft.QLinearLeakyRelu")
# by a table of exponentials, or by a sum that is rounded otherwise: codes of onnxruntime are one off
ROUGH = ("com.microsoft.QLinearSoftmax", "com.microsoft.QLinearGlobalAveragePool")
SINGLE = ("com.microsoft.FastGelu",)  # onnxruntime has the constants of these in single precision
UNORDERED = ("TopK",)  # where `sorted` is 0
FORBIDDEN = (
    "ConvTranspose",  # windows that do not reach the size that `auto_pad` states
    "Compress", "GatherND",  # what broadcasts against the standard
    "AveragePool",  # `ceil_mode` beside `auto_pad`
    "BlackmanWindow", "HammingWindow", "HannWindow",  # sizes that are no scalars
    "MaxPool", "MeanVarianceNormalization", "RNN",  # axes that are not there
    "MaxUnpool",  # places in a result of another size than strides and windows say
    "RotaryEmbedding", "com.microsoft.RotaryEmbedding",  # heads of odd sizes
)
"""Of these onnxruntime computes calls without a meaning, which the evaluator refuses or computes otherwise.
"""
RELATIVE = {"float16": 3e-2, "float32": 1e-3, "float64": 1e-6}


PARTS = 8
"""Of all operators, and of all rules: those of a part are tested together."""


@cache
def shipped() -> list[CheckedRule]:
    return [rule for package in ("std.onnxruntime", "std.onnx") for rule in api.load(package).own.values()]


def options() -> Any:
    found = ort.SessionOptions()
    found.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    found.log_severity_level = 4
    found.intra_op_num_threads = 1
    return found


@cache
def operators() -> list[tuple[str, Signature]]:
    return [item for item in drawn_calls.operators("onnx") if item[0] not in RANDOM]


def agree_roughly(ours: Any, theirs: Any) -> bool:
    return bool(np.max(np.abs(ours.astype(int) - theirs), initial=0) <= 1) and ours.dtype == theirs.dtype


def is_left_out(name: str, graph: Graph) -> bool:
    """True for calls without a zero point that onnxruntime looks for all the same, outside of its list, with
    an activation whose parameters have no default in the standard, of half a spectrum that is turned back,
    and with a size of parts beside `keepdims`, of which the standard says nothing.
    """
    call = next(n for n in graph.nodes() if graph.op[n] == name)
    attrs = graph.attrs[call]
    if {"Affine", "ScaledTanh"} & {*(attrs.get("activations") or ())}:
        return True
    if name == "DFT" and attrs.get("inverse") == attrs.get("onesided") == 1:
        return True
    if name == "SplitToSequence" and attrs.get("keepdims", 1) == 0 and len(graph.operands[call]) > 1:
        return True
    declared = load_dialect("onnx").operators[name].operands
    return name in UNGUARDED and len(graph.operands[call]) < len(declared)


def by_onnxruntime(graph: Graph, values: dict[str, Any]) -> list[Any] | None:
    """The outputs, None where the graph is refused."""
    found = (in_opset(opset, graph, values) for opset in OPSETS)
    return next((values for values in found if isinstance(values, list)), None)


def in_opset(opset: int, graph: Graph, values: dict[str, Any]) -> list[Any] | str:
    """The outputs, or why the graph is refused."""
    try:
        model = gslang.to_onnx(graph)
        for imported in model.opset_import:
            if imported.domain == "":
                imported.version = min(imported.version, opset)
        session = ort.InferenceSession(
            model.SerializeToString(), options(), providers=["CPUExecutionProvider"]
        )
        given = {found.name: np.asarray(values[found.name]) for found in session.get_inputs()}
        return list(session.run(None, given))
    except Exception as error:  # of many types, all of them refusals
        return str(error)


def agree(ours: Any, theirs: Any, single: bool = False) -> bool:
    if isinstance(ours, list):  # a sequence
        return len(ours) == len(theirs) and all(map(partial(agree, single=single), ours, theirs))
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    x, y = a.astype(float), b.astype(float)
    finite = np.isfinite(x)
    if not np.array_equal(finite, np.isfinite(y)):
        return False
    size = max(1e-6, float(np.max(np.abs(y[finite]), initial=0)))
    return float(np.max(np.abs(x[finite] - y[finite]), initial=0)) <= RELATIVE[
        "float32" if single and a.dtype == np.float64 else a.dtype.name
    ] * size


def compare(name: str, signature: Signature, count: int) -> int:
    """How many calls were compared. Fails where one differs, or only onnxruntime computes it."""
    compared = 0
    for k, graph in enumerate(calls_of(name, signature, count)):
        attrs = next(graph.attrs[n] for n in graph.nodes() if graph.op[n] == name)
        if name in UNORDERED and not attrs.get("sorted", 1) or is_left_out(name, graph):
            continue
        try:
            values = random_inputs(graph, k)
        except Exception:  # strings, sequences
            continue
        theirs = by_onnxruntime(graph, values)
        if theirs is None:
            continue
        try:
            ours = evaluate(graph, load_dialect("onnx"), values)
        except EvaluationError as error:
            assert name in FORBIDDEN or "no evaluator" in str(error), (name, attrs, error)
            continue
        alike = agree_roughly if name in ROUGH else partial(agree, single=name in SINGLE)
        same = all(map(alike, ours, theirs))
        assert same or name in FORBIDDEN, (name, attrs, [str(graph.types[o]) for o in graph.nodes()])
        compared += 1
    return compared


@pytest.mark.parametrize("part", range(PARTS))
def test_a_few_calls(part: int) -> None:
    """Most operators are compared: a comparison that refuses everything would show nothing."""
    some = operators()[part::PARTS]
    assert sum(compare(name, signature, 3) > 0 for name, signature in some) > len(some) / 2


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_many_calls(part: int) -> None:
    for name, signature in operators()[part::PARTS]:
        compare(name, signature, 60)


def computes_otherwise(graph: Graph) -> bool:
    """True if a window of `SAME_LOWER` may leave elements out: there onnxruntime pads by numbers below 0; and
    for whole numbers that are resized with `antialias`, which it limits to those above 0.
    """
    given = [graph.attrs[node] or {} for node in graph.nodes()]
    return any(
        a.get("antialias") or a.get("auto_pad") == "SAME_LOWER" and max(a.get("strides") or (1,)) > 4
        for a in given
    )


EXCUSED = (
    "NOT_IMPLEMENTED", "No Op registered",  # onnxruntime lacks the operator, or its element type
    "input index out of range",  # an embedding looks up no index below 0, as the rules' verdicts say
)


def refused_alone(before: Graph, after: Graph, values: dict[str, Any]) -> list[str]:
    """Why onnxruntime refuses the target though it computes the source."""
    if by_onnxruntime(before, values) is None:
        return []
    found = [in_opset(opset, after, values) for opset in OPSETS]
    said = [why for why in found if isinstance(why, str)]
    excused = len(said) < len(found) or any(word in why for why in said for word in EXCUSED)
    return [] if excused else said


def sides_that_agree(rule: CheckedRule, count: int) -> int:
    """How many sides of instances of a rule were compared. Fails where one differs, or where onnxruntime
    computes the source alone.
    """
    compared, search = 0, Search()
    for k in range(count):
        instance = drawn(rule, search, 5, k)
        sides = () if instance is None else (instance.before, instance.after)
        if instance is not None and instance.after is not None and rule.changes is None:
            try:
                values = random_inputs(instance.before, k)
            except gslang.InputError:
                continue
            assert refused_alone(instance.before, instance.after, values) == [], (rule.name, k)
        for graph in [side for side in sides if side is not None and not computes_otherwise(side)]:
            try:
                values = random_inputs(graph, k)
                ours = evaluate(graph, load_dialect("onnx"), values)
            except (EvaluationError, gslang.InputError):
                continue
            if (theirs := by_onnxruntime(graph, values)) is not None:
                rough = any(graph.op[node] in (*ROUGH, "com.microsoft.QLinearAdd") for node in graph.nodes())
                assert all(map(agree_roughly if rough else agree, ours, theirs)), (rule.name, k)
                compared += 1
    return compared


def test_sides_of_some_shipped_rules() -> None:
    assert sum(sides_that_agree(rule, 1) for rule in shipped()[::10]) > 5


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_sides_of_each_shipped_rule(part: int) -> None:
    assert sum(sides_that_agree(rule, 8) for rule in shipped()[part::PARTS]) > len(shipped()) / PARTS

"""Proofs look at every legal call: a rule about one drawn call, with its types, constants and attributes, has
a case, or the claim about all calls of the operator says what it leaves out.

What a meaning demands of a call is assumed of the source. A demand beyond the operator's own would keep such
calls out of a claim that does not mention them.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import gslang.api as api
from gslang.dialect.domain_text import value_text
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import REQUIRED, Signature
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from tests.evaluate.drawn_calls import calls_of, operators

PARTS = 6
"""Of all operators: those of a part are tested together."""
STEPS = 200_000
COPY = {"onnx": "Identity", "relay": "copy"}
NO_CASE = ("no case matches the source", "no examined case has")
NOTED = {  # operator → inputs of a rule about its calls, and what the claim says
    "Pow": ("x, y", "the exponent of `Pow` has the element type of its base"),
    "MatMulInteger": ("a, b, y, z", "zero points of the left factor are single numbers"),
    "com.microsoft.MatMulIntegerToFloat": ("a, b, s, t", "right factor have at most one axis"),
    "com.microsoft.DynamicQuantizeMatMul": ("a, b, s", "right factor have at most one axis"),
}


def rule_of(graph: Graph, dialect: str) -> str | None:
    """The rule that copies the result of exactly this call; None where it cannot be written."""
    names: dict[int, str] = {}
    inputs: list[str] = []
    for node in graph.reverse_post_order():
        operands = [names[o] if o >= 0 else "none" for o in graph.operands[node]]
        op = graph.op[node]
        if op in (INPUT, PARAM, CONST):
            names[node] = f"x{len(inputs)}"
            if (kind := _input(graph, node)) is None:
                return None
            inputs.append(f"{names[node]}: {kind}")
        elif op == TUPLE:
            names[node] = f"({', '.join(operands)},)"
        elif op == PROJ:
            names[node] = f"{operands[0]}.{graph.attrs[node]['index']}"
        else:
            while operands and operands[-1] == "none":
                operands.pop()
            given = _attributes(graph, node, load_dialect(dialect).operators[op])
            names[node] = f"{op}({', '.join([*operands, *given])})"
    call = names[graph.outputs[0]]
    return f"dialect {dialect};\nrule r({', '.join(inputs)}): {call} => {COPY[dialect]}({call});"


def _input(graph: Graph, node: int) -> str | None:
    type_ = graph.types[node]
    if not isinstance(type_, TensorType) or not type_.shape or not all(type_.shape):
        if not isinstance(type_, TensorType) or type_.shape != ():
            return None  # dimensions are not empty, as each claim says
    facts = f'shape = {value_text(type_.shape)}, dtype = "{type_.dtype}"'
    value = graph.value(node) if graph.op[node] == CONST else None
    if value is None or np.ndim(value) > 1 or np.size(value) > 16 or value.dtype.kind not in "iufb":
        return f"any({facts})"
    return f"const(value = {value_text(tuple(value.tolist()) if np.ndim(value) else value.item())}, {facts})"


def _attributes(graph: Graph, node: int, signature: Signature) -> list[str]:
    given = graph.attrs[node]
    rest = {k: s.default for k, s in signature.attributes.items() if k not in given}
    complete = {**given, **{k: v for k, v in rest.items() if v is not REQUIRED}}
    return [f"{name} = {value_text(value)}" for name, value in complete.items()]


def left_out(name: str, signature: Signature, dialect: str, count: int) -> list[str]:
    """The drawn calls that are computed, and of which no proof has a case."""
    found = []
    for graph in calls_of(name, signature, count, dialect):
        text = rule_of(graph, dialect)
        if text is None:
            continue
        try:
            rule = api.parse_rules(text).own["r"]
        except api.RuleError:
            continue  # a text that the language has not
        try:
            prove(rule, STEPS)
        except NotProved as error:
            if str(error).startswith(NO_CASE) and _computed(graph, dialect):
                found.append(text)
    return found


def _computed(graph: Graph, dialect: str) -> bool:
    try:
        evaluate(graph, load_dialect(dialect), random_inputs(graph, 0))
    except EvaluationError:
        return False
    return True


def some(dialect: str, part: int) -> list[tuple[str, Signature]]:
    return [item for item in operators(dialect)[part::PARTS] if item[0] not in NOTED]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", COPY)
def test_a_few_calls(dialect: str, part: int) -> None:
    chosen = some(dialect, part)
    assert [text for name, signature in chosen for text in left_out(name, signature, dialect, 3)] == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", COPY)
def test_many_calls(dialect: str, part: int) -> None:
    chosen = some(dialect, part)
    assert [text for name, signature in chosen for text in left_out(name, signature, dialect, 12)] == []


@pytest.mark.parametrize("name", NOTED)
def test_what_is_left_out_is_said(name: str) -> None:
    inputs, claim = NOTED[name]
    call = f"{name}({', '.join(re.findall(r'(?:^|, ?)([a-z])(?=[,:]|$)', inputs))})"
    rule = api.parse_rules(f"dialect onnx; rule r({inputs}): {call} => Identity({call});").own["r"]
    assert claim in prove(rule).claim


@pytest.mark.parametrize(
    "call",
    [
        # data of one axis has one channel
        "BatchNormalization(x, s, s, s, s, training_mode = 0, epsilon = 1e-5).0",
        "Pad(x, const(value = (1, 2), dtype = \"int64\"), s)",  # the value may be in a vector of one element
    ],
)
def test_calls_that_are_seldom_seen(call: str) -> None:
    facts = 'x: any(shape = (4,), dtype = "float32"), s: any(shape = (1,), dtype = "float32")'
    rule = api.parse_rules(f"dialect onnx; rule r({facts}): {call} => Identity({call});").own["r"]
    assert prove(rule, STEPS).cases

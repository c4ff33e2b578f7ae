"""Attributes that make a difference: an instance in which one changes nothing says nothing about a target
that drops it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import REQUIRED, TypeInferenceError
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.graph.inference import infer_node
from gslang.verify.compare import flat, inputs_for

Attribute = tuple[str, str]
"""An operator and the name of an attribute."""


def matters(graph: Graph, dialect: Dialect, attribute: Attribute, seed: int) -> bool:
    """True if the graph computes something else, or has other types, once the attribute has its default
    everywhere."""
    try:
        plain = _with_default(graph, dialect, attribute)
    except TypeInferenceError:
        return True
    if plain is None:
        return False
    if any(graph.types[a] != plain.types[b] for a, b in zip(graph.outputs, plain.outputs)):
        return True
    for kind in ("normal", "special"):
        inputs = inputs_for(graph, seed, kind)
        with np.errstate(all="ignore"):
            try:
                now = flat(evaluate(graph, dialect, inputs))
            except EvaluationError:
                return False
            try:
                then = flat(evaluate(plain, dialect, inputs))
            except EvaluationError:
                return True
        if not all(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(now, then)):
            return True
    return False


def _with_default(graph: Graph, dialect: Dialect, attribute: Attribute) -> Graph | None:
    """The graph without the attribute, with the types that it has then; None where no call gives another
    value than the default.
    """
    operator, name = attribute
    default: Any = dialect.operators[operator].attributes[name].default
    plain, changed = graph.copy(), False
    for node in graph.reverse_post_order():
        attrs = graph.attrs[node] or {}
        if graph.op[node] == operator and default is not REQUIRED and attrs.get(name, default) != default:
            plain.attrs[node] = {key: value for key, value in attrs.items() if key != name}
            changed = True
        if changed and graph.op[node] not in (INPUT, PARAM, CONST):
            plain.types[node] = infer_node(plain, dialect, node)
    return plain if changed else None

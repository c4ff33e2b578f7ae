"""A judge of rules that shares nothing with the verifier: graphs around those of the rule's own tests, all
that are one change away.

The sources of a rule's tests, also of those that expect no change, with each attribute at each value of its
declared domain, each constant at other values and shapes, each size and each element type changed; pairs of
these at random. Where the rule applies, both graphs are run, with whole numbers and halves as inputs, and
compared element by element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from gslang.check import checked as ir
from gslang.dialect.domain_values import choices
from gslang.dialect.dtypes import in_class
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.engine.build import BuildError
from gslang.engine.edits import edits_of
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Failure, apply_match
from gslang.engine.values import FAILURES
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.graph.inference import infer_node
from gslang.testing import build_graph

_SIZES = (1, 2, 3, 4, 6)
_NUMBERS = (0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-3, 64.0)
_TOLERANCE = 2e-3
Edit = tuple[int, str, Any]
"""A node, what is changed (`type`, `value` or an attribute), and what it becomes."""


def is_wrong(rule: ir.CheckedRule, seeds: list[Graph], most: int = 400) -> str | None:
    """A graph on which the two sides differ, in words; None if none was met."""
    for graph in islice(_around(seeds, rule), most):
        before, after = graph.copy(), graph
        if _apply(rule, after) and (why := _difference(before, after, rule)):
            calls = [
                f"{before.op[n]} {before.attrs[n]} {before.types[n]}" for n in before.reverse_post_order()
            ]
            return f"{why}: {'; '.join(calls)}"
    return None


def sources_of_tests(rule: ir.CheckedRule, programs: Any) -> list[Graph]:
    """The source graphs of a rule's tests, with numbers for symbolic sizes."""
    found = []
    for program in programs:
        for test in program.tests:
            if test.rule == rule.name and test.rule in program.rules:
                names = sorted(
                    {d.name for _, _, t in test.inputs for d in t.shape or () if isinstance(d, Symbol)}
                )
                sizes = {name: 2 + k for k, name in enumerate(names)}
                inputs = tuple([(name, kind, _sized(type_, sizes)) for name, kind, type_ in test.inputs])
                try:
                    found.append(build_graph(program, replace(test, inputs=inputs), test.source))
                except (BuildError, *FAILURES):
                    continue
    return found


def _sized(type_: TensorType, sizes: dict[str, int]) -> TensorType:
    if type_.shape is None:
        return TensorType((2, 3), type_.dtype)
    return TensorType(
        tuple([sizes[d.name] if isinstance(d, Symbol) else d for d in type_.shape]), type_.dtype
    )


def _around(seeds: list[Graph], rule: ir.CheckedRule) -> Iterator[Graph]:
    """The graphs, each with one edit in turn, then with several at random."""
    random = Random(rule.name)
    for graph in seeds:
        yield graph.copy()
    every = [list(_edits(graph, rule)) for graph in seeds]
    turns = [random.sample(edits, len(edits)) for edits in every]
    for k in range(max(map(len, turns), default=0)):
        for graph, edits in zip(seeds, turns):
            if k < len(edits) and (changed := _edited(graph, rule, edits[k : k + 1])) is not None:
                yield changed
    for _ in range(2_000 if any(every) else 0):
        k = random.randrange(len(seeds))
        if (
            every[k]
            and (changed := _edited(
                seeds[k], rule, random.sample(every[k], min(len(every[k]), random.choice((2, 2, 3, 4))))
            ))
            is not None
        ):
            yield changed


def _edits(graph: Graph, rule: ir.CheckedRule) -> Iterator[list[Edit]]:
    leaves = [
        n
        for n in graph.reverse_post_order()
        if graph.op[n] in (INPUT, PARAM) and isinstance(graph.types[n], TensorType)
    ]
    shapes = {n: graph.types[n].shape or () for n in leaves}
    for size in sorted({d for shape in shapes.values() for d in shape}):
        for other in _SIZES:  # everywhere
            yield [
                (
                    n, "type",
                    TensorType(tuple(other if d == size else d for d in shapes[n]), graph.types[n].dtype),
                )
                for n in leaves
            ]
    for n in leaves:
        for k in range(len(shapes[n])):
            for other in _SIZES:
                yield [(
                    n, "type", TensorType((*shapes[n][:k], other, *shapes[n][k + 1 :]), graph.types[n].dtype),
                )]
        for shape in ((), (1,), (1, 1), shapes[n][1:], (1, *shapes[n]), shapes[n][::-1]):
            yield [(n, "type", TensorType(shape, graph.types[n].dtype))]
    if all(graph.types[n].dtype == "float32" for n in leaves):
        for dtype in ("int32", "int8"):
            yield [(n, "type", TensorType(shapes[n], dtype)) for n in leaves]
    for n in graph.reverse_post_order():
        if graph.op[n] is CONST:
            value = np.asarray(graph.value(n))
            others = [np.full(value.shape, v) for v in _NUMBERS] + [
                value[::-1] if value.ndim else value, value + 1, value.reshape((1, *value.shape)),
            ]
            others += [
                np.resize(value, (2, *value.shape)), np.arange(value.size).reshape(value.shape),
                -value if value.dtype.kind != "b" else ~value,
            ]
            for other in others:
                yield [(n, "value", other.astype(value.dtype))]
        elif (signature := rule.dialect.get(graph.op[n])) is not None:
            types = tuple([graph.types[o] if o >= 0 else None for o in graph.operands[n]])
            given = signature.complete(graph.attrs[n])
            for name, spec in signature.attributes.items():
                for value in choices(spec.domain, signature.call(types, given))[:24]:
                    if value != given.get(name):
                        yield [(n, name, value)]


def _edited(graph: Graph, rule: ir.CheckedRule, edits: list[list[Edit]]) -> Graph | None:
    changed = graph.copy()
    for node, what, value in (edit for group in edits for edit in group):
        if what == "type":
            changed.types[node] = value
        elif what == "value":
            changed.values[node] = value
            changed.types[node] = TensorType(value.shape, changed.types[node].dtype)
        else:
            changed.attrs[node] = {**changed.attrs[node], what: value}
    try:
        for node in changed.reverse_post_order():
            if changed.op[node] not in (INPUT, PARAM, CONST):
                changed.types[node] = infer_node(changed, rule.dialect, node)
                _require_types(changed, rule, node)
    except TypeInferenceError:
        return None
    return changed


def _require_types(graph: Graph, rule: ir.CheckedRule, node: int) -> None:
    """Raises `TypeInferenceError` for operands of element types that an operator does not take: inference may
    not look at them."""
    operands = graph.operands[node]
    types = tuple([graph.types[o] if o >= 0 else None for o in operands])
    if rule.dialect.refuses is not None:
        there = tuple([k for k, o in enumerate(operands) if o >= 0])
        rule.dialect.refuses(
            graph.meta, graph.op[node], graph.attrs[node], types, lambda k: graph.op[operands[k]] is CONST,
            there,
        )
    signature = rule.dialect.get(graph.op[node])
    for spec, type_ in zip(() if signature is None else signature.operands, types):
        dtype = getattr(type_, "dtype", None)
        if spec.dtypes and dtype is not None and not any(in_class(dtype, wanted) for wanted in spec.dtypes):
            raise TypeInferenceError(f"{graph.op[node]} takes no {dtype}")


def _apply(rule: ir.CheckedRule, graph: Graph) -> bool:
    for start in graph.reverse_post_order():
        for scope in matches(program_of(rule), graph, start):
            result = apply_match(scope, edits_of(graph, rule.dialect), [])
            return result is not None and not isinstance(result, Failure)
    return False


def _difference(before: Graph, after: Graph, rule: ir.CheckedRule) -> str | None:
    """How the sides differ for two of three sets of inputs; None if they do not, as far as can be told."""
    if _quantizes_by_zero(before):
        return None
    found = []
    for seed in range(3):
        inputs = {}
        for node in before.reverse_post_order():
            if before.op[node] in (INPUT, PARAM):
                shape, dtype = before.types[node].shape, before.types[node].dtype
                rng = np.random.default_rng([seed, node])
                low = 0 if dtype.startswith("uint") or seed == 1 else -4
                inputs[str(before.names[node])] = (
                    rng.integers(low, 6, shape) / (1 if "int" in dtype else 2) + (seed == 1)
                ).astype(dtype)
        with np.errstate(all="ignore"):
            try:
                left = _flat(evaluate(before, rule.dialect, inputs))
            except EvaluationError:
                return None
            if any(_contradicts(value.shape, before.types[n]) for value, n in zip(left, before.outputs)):
                return None  # operands that the operator does not take, which type inference does not look at
            try:
                right = _flat(evaluate(after, rule.dialect, inputs))
            except EvaluationError:
                return None
        found += [why for a, b in zip(left, right) if (why := _unequal(a, b, rule.approximate))][:1]
    return found[0] if len(found) > 1 else None


def _quantizes_by_zero(graph: Graph) -> bool:
    """True if a scale is 0: what 0 / 0 is as an integer, nobody says."""
    return any(
        graph.op[operand] is CONST and not np.all(graph.value(operand))
        for node in graph.reverse_post_order() if "uantizeLinear" in graph.op[node]
        for operand in graph.operands[node][1:2]
    )


def _contradicts(shape: tuple[int, ...], type_: Any) -> bool:
    stated = getattr(type_, "shape", None)
    return stated is not None and (
        len(stated) != len(shape) or any(isinstance(d, int) and d != size for d, size in zip(stated, shape))
    )


def _unequal(a: Any, b: Any, tolerance: float | None) -> str | None:
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    if a.dtype.kind not in "f":
        return None if np.array_equal(a, b) else "other values"
    a, b = a.astype(np.float64), b.astype(np.float64)
    fine = np.isfinite(a)
    with np.errstate(all="ignore"):
        far = np.abs(a - b)[fine] > max(_TOLERANCE, 4 * (tolerance or 0)) * (1 + np.abs(a[fine]))
    return "values that are far apart" if far.any() or not np.isfinite(b[fine]).all() else None


def _flat(value: Any) -> list[Any]:
    return (
        [part for item in value for part in _flat(item)] if isinstance(value, (list, tuple))
        else [np.asarray(value)]
    )

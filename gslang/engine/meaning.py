"""Declared operators at work: type inference, and the graph that stands for a call's value, from `op … { … }`
declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gslang.base.open_types import Attrs
from gslang.check.checked import CheckedProgram, Meaning, NodeAttr, Value
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Infer, TypeInferenceError
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, Type
from gslang.engine.build import BuildError, build
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import FAILURES
from gslang.graph.graph import Graph
from gslang.graph.inference import contradiction, refine


def with_meanings(program: CheckedProgram) -> CheckedProgram:
    """The program with inference for the operators that its files declare, in its dialect and in those of its
    rules.
    """
    if not any(s.meaning is not None for s in program.dialect.added):
        return program
    dialect = infer_by_meaning(program.dialect)
    rules = {
        name: replace(rule, dialect=infer_by_meaning(rule.dialect)) for name, rule in program.rules.items()
    }
    return replace(program, dialect=dialect, rules=rules)


def infer_by_meaning(dialect: Dialect) -> Dialect:
    """The dialect with inference for its declared operators.

    A meaning uses only operators declared before it.
    """
    infer: dict[str, Infer] = dict(dialect.infer)
    complete = replace(dialect, infer=infer)
    for signature in dialect.added:
        if signature.meaning is not None:
            infer[signature.name] = _inference(signature.meaning, complete)
    return complete


def _inference(meaning: Meaning, dialect: Dialect) -> Infer:
    reads_values = bool(meaning.rule.target.outputs) or _mentions_value(
        (meaning.shape, meaning.dtype, meaning.rule.lets)
    )

    def infer(
        types: tuple[Type | None, ...], attrs: Attrs, value_of: Callable[[int], object]
    ) -> Type | None:
        graph = Graph(dialect.name)
        operands = []
        for k, type_ in enumerate(types):
            # the node that asks is not asked again: the type may depend on it
            value = value_of(k) if reads_values else None
            known = value is not None and isinstance(type_, TensorType)
            operands.append(
                graph.add_const(value, type_) if known else graph.add_input(f"operand {k}", type_)  # type: ignore[arg-type]
            )
        scope = frame(meaning, graph, operands, attrs)
        result: Type | None = None
        if meaning.rule.target.outputs:
            try:
                result = graph.types[build(graph, dialect, meaning.rule.target, scope)[0]]
            except BuildError as error:
                raise TypeInferenceError(f"its value does not type-check: {error}") from error
            except FAILURES:
                pass  # what is not known here may be known elsewhere
        declared = TensorType(_shape(meaning.shape, scope), _dtype(meaning.dtype, scope))
        if declared.shape is None and declared.dtype is None:
            return result
        if why := contradiction(declared, result):
            raise TypeInferenceError(f"its declared type and its value contradict each other: {why}")
        return refine(declared, result)

    return infer


def _mentions_value(item: object) -> bool:
    """True if a value reads `.value` of an operand."""
    if isinstance(item, NodeAttr):
        return item.name == "value"
    if is_dataclass(item) and not isinstance(item, type):
        return any(_mentions_value(getattr(item, part.name)) for part in fields(item))
    return isinstance(item, tuple) and any(map(_mentions_value, item))


def value_graph(
    meaning: Meaning, dialect: Dialect, types: Sequence[Type | None], attrs: Attrs
) -> Graph | None:
    """The graph that computes the operator's value from inputs named by position; None if no value is
    declared.

    Raises `BuildError`, or what an evaluation may fail with (`values.FAILURES`).
    """
    if not meaning.rule.target.outputs:
        return None
    graph = Graph(dialect.name, meaning.rule.name)
    operands = [graph.add_input(str(k), type_) for k, type_ in enumerate(types)]
    scope = frame(meaning, graph, operands, attrs)
    graph.set_outputs(build(graph, dialect, meaning.rule.target, scope))
    return graph


def frame(meaning: Meaning, graph: Graph, operands: Sequence[int], attrs: Attrs) -> Scope:
    """The scope of a meaning: its operands as slots, the call (never part of the result) last.

    Trailing operands may be missing.
    """
    call = graph.add(meaning.rule.name, operands, attrs)
    wanted = len(meaning.rule.nodes) - 1
    slots = list(operands)
    if meaning.variadic:
        slots[wanted - 1 :] = [graph.add_tuple(operands[wanted - 1 :])]
    slots += [-1] * (wanted - len(slots))
    return Scope(meaning.rule, graph, [*slots, call], memo={})


def _shape(value: Value | None, scope: Scope) -> tuple[Any, ...] | None:
    if value is None:
        return None
    try:
        shape = evaluate(value, scope)
    except FAILURES:
        return None
    if not isinstance(shape, tuple) or not all(
        d is UNKNOWN or isinstance(d, Symbol) or type(d) is int and d >= 0 for d in shape
    ):
        raise TypeInferenceError(
            f"`shape` of its declaration is {shape!r}, which is not a tuple of dimensions"
        )
    return shape


def _dtype(value: Value | None, scope: Scope) -> str | None:
    if value is None:
        return None
    try:
        dtype = evaluate(value, scope)
    except FAILURES:
        return None
    if not isinstance(dtype, str):
        raise TypeInferenceError(f"`dtype` of its declaration is {dtype!r}, which is not a data type")
    return dtype

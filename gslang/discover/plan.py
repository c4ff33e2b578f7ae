"""A question about operators, and what follows from it at once: the dialect, the inputs, the terms to form.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from gslang.api import load
from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.resources import stdlib_path
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect, require_inference
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import Type
from gslang.discover.evaluator import add_call, build_all, fingerprint, input_value
from gslang.discover.formers import SIZES, Asked, Former, formers_of, read_operators, shape_of, types_at
from gslang.discover.terms import Tree
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from gslang.search.cost.graph_cost import graph_cost
from gslang.search.cost.tables import CostTable
from gslang.search.cost.work import UnknownCost

_FAMILIES: tuple[tuple[tuple[str | int, ...], ...], ...] = (
    (("n", "m"),), (("n", "n"),), (("n", "m"), ("m",)), (("b", "n", "m"),), (("b", "n", "n"),),
    (("b", "c", "h", "w"), ("c", "c", 3, 3)),
)  # fmt: skip
"""Shapes of inputs, tried in this order for an operator."""


@dataclass(frozen=True, slots=True)
class Question:
    """`files`: rule files that declare operators, and whose rules are known already. `inputs`: shapes of
    variables, chosen by the operators if there are none. `variables`: of each shape that is chosen.
    `constants`: numbers that terms may hold. `outputs`: the most of a rule."""

    dialect: str
    operators: str
    files: tuple[str, ...] = ()
    size: int = 2
    variables: int = 3
    inputs: str = ""
    constants: tuple[float, ...] = ()
    require: str = "exact"
    outputs: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with all that follows from it at once."""

    question: Question
    dialect: Dialect
    formers: tuple[Former, ...]
    inputs: tuple[tuple[Type, ...], ...]
    prelude: str
    sources: tuple[str, ...] = ()
    """The files that declare operators, which `prelude` imports."""


@cache
def plan_of(question: Question) -> Plan:
    """Raises `InputError` for operators that do not exist, or that take no input that could be made."""
    dialect = load_dialect(question.dialect)
    known: list[Signature] = []
    prelude = f"dialect {question.dialect};\n"
    for file in question.files:
        rules = load(file)
        known += [s for s in rules.dialect.added if s.name not in {k.name for k in known}]
        dialect = _merged(dialect, rules.dialect)
    sources = tuple(dict.fromkeys(s.declared_at.source.name for s in known if s.declared_at is not None))
    prelude += "".join(f"use {used(source, None)};\n" for source in sources)
    require_inference(dialect)
    asked = (
        read_operators(question.operators, dialect)
        if question.operators
        else [Asked(s.name) for s in known]
    )
    if not asked:
        raise InputError(
            "no operators to combine", path="--ops", help="list some: --ops add,nn.relu"
        )
    shapes = (
        read_shapes(question.inputs) if question.inputs else _shapes(asked, dialect, question.variables)
    )
    inputs = tuple(types_at(shape) for shape in shapes)
    first = list(dict.fromkeys(shape_of(t[0]) for t in inputs))
    formers = [
        former
        for one in asked
        for former in _distinct(formers_of(one, dialect, first), dialect, inputs, bool(one.settled))
    ]
    formers += [Former("", 0, constant=value) for value in question.constants]
    idle = [one.op for one in asked if not any(former.op == one.op for former in formers)]
    if idle:
        raise InputError(
            f"`{idle[0]}` takes none of the inputs",
            path="--ops",
            help="state the inputs: --inputs '[n, m], [n, m]'",
        )
    return Plan(question, dialect, tuple(formers), inputs, prelude, sources)


def used(source: str, folder: Path | None) -> str:
    """The import of a file that declares operators: a shipped module by name, another by its path, relative
    to a folder if one is given."""
    path, shipped = Path(os.path.realpath(source)), stdlib_path().resolve()
    if path.is_relative_to(shipped):
        return ".".join(("std", *path.relative_to(shipped).with_suffix("").parts))
    if folder is None:
        return f'"{path}"'
    relative = os.path.relpath(path, folder.resolve()).replace(os.sep, "/")
    return f'"{relative}"' if relative.startswith(".") else f'"./{relative}"'


def _merged(a: Dialect, b: Dialect) -> Dialect:
    if a.name != b.name:
        raise InputError(
            f"its rules are of dialect {b.name}, not {a.name}",
            path="FILES",
            help=f"give --dialect {b.name}",
        )
    missing = [s for s in b.added if s.name not in a.operators]
    made = a.with_operators(missing)
    return replace(made, infer={**b.infer, **made.infer})


def read_shapes(text: str) -> list[tuple[str | int, ...]]:
    """Shapes like `[n, m], [n, m], [m]`. Raises `InputError`."""
    found: list[tuple[str | int, ...]] = []
    for part in text.replace("]", "]\n").splitlines():
        inner = part.strip().lstrip(",").strip()
        if not inner:
            continue
        if not (inner.startswith("[") and inner.endswith("]")):
            raise InputError(f"`{inner}` is not a shape", path="--inputs", help="write [n, m], [m]")
        dims = [d.strip() for d in inner[1:-1].split(",") if d.strip()]
        for d in dims:
            if not (d.isdigit() and 0 < int(d) < 64 or d in SIZES[0]):
                raise InputError(
                    f"`{d}` is not a size",
                    path="--inputs",
                    help=f"write a number from 1 to 63, or one of {', '.join(SIZES[0])}",
                )
        found.append(tuple(int(d) if d.isdigit() else d for d in dims))
    if not found:
        raise InputError("no shapes found", path="--inputs", help="write [n, m], [n, m]")
    return found


def _shapes(asked: Sequence[Asked], dialect: Dialect, variables: int) -> list[tuple[str | int, ...]]:
    """The shapes that the operators ask for: of the first family that each of them accepts; square matrices
    do where matrices do."""
    chosen: list[tuple[tuple[str | int, ...], ...]] = []
    for one in asked:
        ways = (
            (shapes, plain) for plain in (True, False) for shapes in _FAMILIES
        )  # as it is written without attributes, if that can be
        fitting = next((shapes for shapes, plain in ways if _accepts(one, dialect, shapes, plain)), None)
        if fitting is not None and fitting not in chosen:
            chosen.append(fitting)
    if not chosen:
        raise InputError(
            f"`{asked[0].op}` takes none of the usual inputs",
            path="--ops",
            help="state the inputs: --inputs '[n, m], [m]'",
        )
    if (("n", "n"),) in chosen and (("n", "m"),) in chosen:
        chosen.remove((("n", "m"),))
    found: dict[tuple[str | int, ...], int] = {}
    for shapes in chosen:
        for k, shape in enumerate(shapes):
            found[shape] = max(
                found.get(shape, 0), variables if k == 0 or shape[-1] == 3 else min(variables, 2)
            )
    return [shape for shape, times in found.items() for _ in range(times)]


def _accepts(one: Asked, dialect: Dialect, shapes: Sequence[tuple[str | int, ...]], plain: bool) -> bool:
    inputs = [types_at(shape) for shape in shapes]
    first = [shape_of(t[0]) for t in inputs]
    formers = formers_of(one, dialect, first)
    return any(_fits(former, dialect, inputs) for former in (formers[:1] if plain else formers))


def _fits(former: Former, dialect: Dialect, inputs: Sequence[tuple[Type, ...]]) -> bool:
    return any(True for _ in _values(former, dialect, inputs))


def _values(
    former: Former, dialect: Dialect, inputs: Sequence[tuple[Type, ...]]
) -> Iterator[tuple[tuple[int, ...], bytes]]:
    """The inputs of a former, and the function that computes it."""
    for chosen in product(range(len(inputs)), repeat=former.arity):
        values = []
        for at, sizes in enumerate(SIZES):
            graph = Graph(dialect.name)
            nodes = [graph.add_input(f"x{k}", inputs[number][at]) for k, number in enumerate(chosen)]
            node = add_call(graph, dialect, former, nodes, former.attributes(sizes))
            if node is None:
                break
            graph.set_outputs([node])
            try:
                values.append(
                    evaluate(
                        graph,
                        dialect,
                        {f"x{k}": input_value(k, at, inputs[n][at]) for k, n in enumerate(chosen)},
                    )[0]
                )
            except EvaluationError:
                break
        else:
            yield chosen, fingerprint(values)


def _distinct(
    formers: Sequence[Former], dialect: Dialect, inputs: Sequence[tuple[Type, ...]], settled: bool
) -> list[Former]:
    """Formers that take some inputs; of those that compute the same of all of them one, unless the user named
    them."""
    different = list(dict.fromkeys(inputs))
    found: dict[Any, Former] = {}
    for former in formers:
        values = tuple(_values(former, dialect, different))
        if values or settled:  # what the user settled may be meant for results of other operators
            found.setdefault((values, former) if settled else values, former)
    return list(found.values())


def graph_of(trees: Sequence[Tree], inputs: Sequence[Sequence[Type]], plan: Plan) -> Graph | None:
    """Terms at the first sizes, over inputs of these types (at each choice of sizes); None where one does not
    type-check."""
    graph = Graph(plan.dialect.name)
    nodes = [graph.add_input(f"x{k}", types[0]) for k, types in enumerate(inputs)]
    outputs = build_all(graph, trees, nodes, plan.formers, plan.dialect, SIZES[0])
    if outputs is None:
        return None
    graph.set_outputs(outputs)
    return graph


def cost_of(tree: Tree, plan: Plan, table: CostTable) -> float | None:
    """The cost of a term at the first sizes; None if one of its operators has no cost."""
    graph = graph_of((tree,), plan.inputs, plan)
    if graph is None:
        return None
    try:
        return graph_cost(graph, plan.dialect, table).cost
    except UnknownCost:
        return None

"""Values for the inputs of a graph that is evaluated: those of a file, else random ones, of sizes with which
the graph runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from gslang.base.diagnostics import InputError
from gslang.cli.numbers import outputs_of

if TYPE_CHECKING:
    from gslang.dialect.dialect import Dialect
    from gslang.formats.weights import WeightsFile
    from gslang.graph.graph import Graph

_SIZES: Final = (2, 4, 8, 16, 32, 64, 128, 256)
_MOST_TRIED: Final = 1 << 24  # elements of one input for which a larger size is tried


def inputs_for(
    graph: Graph, dialect: Dialect, options: argparse.Namespace, sizes: Mapping[str, int]
) -> dict[str, object]:
    """Values of all inputs by name: of `--inputs`, else random. Dimensions whose size nobody says are 2, or
    larger if the graph needs it.

    Raises `InputError` for a file that does not fit the graph, `EvaluationError` if the graph runs with no
    size that is tried.
    """
    from gslang.evaluate.errors import EvaluationError, NoEvaluatorError, TooLargeError, TooMuchMemoryError
    from gslang.evaluate.random_inputs import random_inputs

    given = {} if options.inputs is None else dict(fitting_inputs(graph, options.inputs))
    known = _sizes(graph, given, sizes, options.inputs)
    if not _has_open_sizes(graph, known, given):
        try:
            return {**random_inputs(graph, options.seed, known, given=given), **given}
        except TooLargeError as error:
            raise EvaluationError(f"{error}; give it with --inputs or --params") from None
    reason: EvaluationError | None = None
    for k, chosen in enumerate(_choices()):
        try:
            most = {"most": _MOST_TRIED} if k else {}
            inputs = {**random_inputs(graph, options.seed, known, chosen, given=given, **most), **given}
            outputs_of(graph, dialect, inputs, options.backend)
            return inputs
        except NoEvaluatorError:
            raise
        except EvaluationError as error:
            if not k and isinstance(error, TooMuchMemoryError):  # larger sizes take more
                raise
            reason = reason or error
    raise EvaluationError(
        f"{reason} (for unknown sizes, {_SIZES[0]} to {_SIZES[-1]} were tried; give sizes with --dim NAME=N, "
        "or values with --inputs FILE)"
    )


def _choices() -> Iterator[tuple[int, int]]:
    """Sizes of leading and of other dimensions: larger images in small batches first."""
    yield from ((_SIZES[0], size) for size in _SIZES)
    yield from ((size, size) for size in _SIZES[1:])


def fitting_inputs(graph: Graph, path: str) -> WeightsFile:
    """A file whose arrays have each the name and type of an input. Raises `InputError`."""
    from gslang.base.suggest import did_you_mean
    from gslang.formats.weights import fitting_type, open_weights
    from gslang.graph.graph import LEAVES

    arrays = open_weights(path)
    named = {
        name: node
        for node in graph.nodes()
        if graph.op[node] in LEAVES and node not in graph.values and (name := graph.names[node])
    }
    for name in arrays:
        if name not in named:
            guess = did_you_mean(name, named)
            help = f"did you mean `{guess}`?" if guess else f"inputs: {', '.join(named) or 'none'}"
            raise InputError(f"the graph has no input `{name}`", path=path, help=help)
        fitting_type(arrays, name, graph.types[named[name]], path)
    return arrays


def _sizes(
    graph: Graph, given: Mapping[str, Any], sizes: Mapping[str, int], path: str | None
) -> dict[str, int]:
    """The sizes of symbolic dimensions: those that are stated, and those of values that are given.

    Raises `InputError` if they disagree.
    """
    from gslang.dialect.tensor_type import Symbol, TensorType

    known = dict(sizes)
    for node in graph.nodes():
        name, type_ = graph.names[node], graph.types[node]
        if name is None or name not in given or not isinstance(type_, TensorType):
            continue
        for dimension, size in zip(type_.shape or (), given[name].shape):
            if isinstance(dimension, Symbol) and known.setdefault(dimension.name, size) != size:
                raise InputError(
                    f"`{name}`: dimension `{dimension.name}` is {size} here and {known[dimension.name]} "
                    "elsewhere",
                    path=path or "",
                )
    return known


def _has_open_sizes(graph: Graph, known: Mapping[str, int], given: Mapping[str, object]) -> bool:
    from gslang.dialect.tensor_type import Symbol, TensorType
    from gslang.graph.graph import LEAVES

    drawn = [
        graph.types[n]
        for n in graph.nodes()
        if graph.op[n] in LEAVES and n not in graph.values and graph.names[n] not in given
    ]
    dimensions = [d for type_ in drawn if isinstance(type_, TensorType) for d in type_.shape or ()]
    return any(d.name not in known if isinstance(d, Symbol) else not isinstance(d, int) for d in dimensions)

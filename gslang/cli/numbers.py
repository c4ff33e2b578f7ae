"""Evaluating graphs for `run`, `apply` and others: which backend does it, and where the numbers of two graphs
begin to differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.cli.option_types import named_size, natural

if TYPE_CHECKING:
    from gslang.dialect.dialect import Dialect
    from gslang.evaluate.agree import Agreement
    from gslang.graph.graph import Graph

BACKENDS: Final = ("auto", "onnxruntime", "reference")
_MOST_SHARED: Final = 20_000  # values that are compared one by one


def add_number_options(parser: argparse.ArgumentParser) -> None:
    """Options of verbs that evaluate graphs."""
    add_input_options(parser)
    parser.add_argument(
        "--backend", choices=BACKENDS, default="auto",
        help="evaluator of ONNX graphs: onnxruntime if it is installed (auto)",
    )


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """With what a graph is evaluated."""
    add_value_options(parser)
    parser.add_argument(
        "--dim", type=named_size, action="append", default=[], metavar="NAME=N",
        help="size of a symbolic dimension (2, or larger if the graph requires it)",
    )


def add_value_options(parser: argparse.ArgumentParser) -> None:
    """The values of inputs."""
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the random inputs (0)")
    parser.add_argument(
        "--inputs", metavar="FILE", help="values of inputs (.npz, .safetensors); others are random"
    )


def refuse_unknown_sizes(graph: Graph, sizes: Mapping[str, int]) -> None:
    """Raises `InputError` for a size of a dimension that no input or parameter has: it would fix nothing."""
    if not sizes:
        return
    from gslang.base.suggest import did_you_mean
    from gslang.search.cost.graph_cost import symbolic_dimensions

    known = symbolic_dimensions(graph)
    for name in sizes:
        if name not in known:
            guess = did_you_mean(name, known)
            help = (
                f"did you mean `{guess}`?" if guess else f"symbolic dimensions: {', '.join(known) or 'none'}"
            )
            raise InputError(f"`--dim {name}={sizes[name]}`: the graph has no dimension `{name}`", help=help)


def outputs_of(graph: Graph, dialect: Dialect, inputs: Mapping[str, object], backend: str) -> list[object]:
    """The values of the outputs.

    `auto` takes the reference where onnxruntime cannot run a graph, unless that would take long. Raises
    `EvaluationError`.
    """
    from gslang.evaluate.errors import EvaluationError, TooMuchMemoryError
    from gslang.evaluate.run import evaluate

    if _with_runtime(graph, backend):
        from gslang.formats.onnx.runtime import run_graph

        try:
            return run_graph(graph, inputs)
        except (EvaluationError, InputError) as error:
            if backend == "onnxruntime" or isinstance(error, TooMuchMemoryError):
                raise
            _refuse_long(error, graph)
    return evaluate(graph, dialect, inputs)


def _refuse_long(error: Exception, *graphs: Graph) -> None:
    """Raises `EvaluationError` for graphs that onnxruntime cannot run for `error`, and that take the other
    evaluator more work than folding may do.
    """
    from gslang.evaluate.errors import EvaluationError
    from gslang.evaluate.work import within_work

    for graph in graphs:
        nodes = graph.reverse_post_order()
        _, refused = within_work(graph, nodes)
        if refused:
            raise EvaluationError(
                f"{error}; the reference implementation would take too long for {graph.label(refused[0])} "
                "(--backend reference)"
            ) from error


def _with_runtime(graph: Graph, backend: str) -> bool:
    if graph.dialect != "onnx" or backend == "reference":
        if backend == "onnxruntime":
            raise InputError(
                f"onnxruntime runs only ONNX graphs, this one has dialect `{graph.dialect}`",
                help="--backend reference",
            )
        return False
    from gslang.formats.onnx.runtime import runtime_installed

    if runtime_installed():
        return True
    if backend == "onnxruntime":
        raise InputError("onnxruntime is not installed", help="pip install onnxruntime")
    return False


@dataclass(frozen=True, slots=True)
class Comparison:
    """`first`: the first value, in the order of the graph before, that both graphs have and that differs;
    what of it. `random`: output that is not compared → a call that draws random numbers for it.
    """

    agreement: Agreement
    backend: str
    first: str = ""
    detail: str = ""
    random: Mapping[int, str] = MappingProxyType({})


def tolerance_of(graph: Graph) -> float | None:
    """A tolerance for graphs with numbers of bfloat16, which float32 holds; None: each array's own."""
    from gslang.dialect.tensor_type import TensorType, TupleType

    types = (field for t in graph.types for field in (t.fields if isinstance(t, TupleType) else (t,)))
    return 5e-2 if any(isinstance(t, TensorType) and t.dtype == "bfloat16" for t in types) else None


def compare_graphs(
    before: Graph, after: Graph, dialect: Dialect, inputs: Mapping[str, object], backend: str,
    copied: bool = True,
) -> Comparison:
    """Both graphs on the same inputs, by the same backend. `copied`: `after` was made from a copy of the
    other, so that nodes without a name can be told by their numbers. Outputs that depend on random numbers
    are left out. Raises `EvaluationError`, also if those are all outputs.
    """
    from gslang.evaluate.agree import compare_values
    from gslang.evaluate.errors import EvaluationError, TooMuchMemoryError
    from gslang.evaluate.run import evaluate

    random = random_outputs(before, after)
    ran: list[Graph] = []

    def compared(run: Callable[[Graph], list[object]]) -> Agreement:
        left = [v for k, v in enumerate(run(before)) if k not in random]
        ran.append(before)
        right = [v for k, v in enumerate(run(after)) if k not in random]
        return compare_values(left, right, tolerance_of(before))

    if _with_runtime(before, backend):
        from gslang.formats.onnx.runtime import run_graph

        try:
            agreement = compared(lambda graph: run_graph(graph, inputs))
            found = _with_first(agreement, "onnxruntime", before, after, dialect, inputs, copied)
            return replace(found, random=random)
        except (EvaluationError, InputError) as error:
            if backend == "onnxruntime" or isinstance(error, TooMuchMemoryError):
                raise
            _refuse_long(error, before, after)
            if ran:
                sys.stderr.write(
                    f"warning: onnxruntime runs the original graph, but not the rewritten one: {error}\n"
                    "  help: the reference implementation compares both; --backend onnxruntime makes this an "
                    "error\n"
                )
    agreement = compared(lambda graph: evaluate(graph, dialect, inputs))
    found = _with_first(agreement, "reference", before, after, dialect, inputs, copied)
    return replace(found, random=random)


def random_outputs(before: Graph, after: Graph) -> dict[int, str]:
    """Number of an output that depends on random numbers in one of the graphs → the call that draws them.

    Raises `EvaluationError` if those are all outputs.
    """
    from gslang.evaluate.errors import EvaluationError
    from gslang.evaluate.randomness import random_nodes

    found: dict[int, str] = {}
    for graph in (after, before):
        drawn = random_nodes(graph)
        found.update((k, drawn[output]) for k, output in enumerate(graph.outputs) if output in drawn)
    if found and len(found) == len(before.outputs):
        raise EvaluationError(
            f"every output depends on random numbers: {found[0]} draws them without a `seed`"
        )
    return found


def tell_random(random: Mapping[int, str]) -> None:
    """Say on stderr which outputs are not compared."""
    for k, drawn in sorted(random.items()):
        sys.stderr.write(
            f"warning: output {k + 1} is not compared: {drawn} draws random numbers without a `seed`\n"
        )


def _with_first(
    agreement: Agreement,
    backend: str,
    before: Graph,
    after: Graph,
    dialect: Dialect,
    inputs: Mapping[str, object],
    copied: bool,
) -> Comparison:
    if agreement.equal:
        return Comparison(agreement, backend)
    from gslang.evaluate.errors import EvaluationError

    names = shared_names(before, after)[:_MOST_SHARED]
    try:
        if backend == "onnxruntime" and names:
            from gslang.formats.onnx.runtime import run_graph

            left, right = (run_graph(graph, inputs, names)[-len(names) :] for graph in (before, after))
            found = _first_different(names, left, right)
        else:
            pairs = _shared_nodes(before, after, copied)[:_MOST_SHARED]
            left = _values_of(before, [n for n, _ in pairs], dialect, inputs)
            right = _values_of(after, [n for _, n in pairs], dialect, inputs)
            found = _first_different([before.label(n) for n, _ in pairs], left, right)
    except (EvaluationError, InputError):
        return Comparison(agreement, backend)
    return Comparison(agreement, backend, *(found or ()))


def _first_different(
    labels: Sequence[str], left: Sequence[object], right: Sequence[object]
) -> tuple[str, str] | None:
    """The first value that differs, and how."""
    from gslang.evaluate.agree import compare_values

    for label, a, b in zip(labels, left, right):
        found = compare_values([a], [b])
        if not found.equal:
            return label, found.reason.replace("array 0 ", "").replace("array 0: ", "is ")
    return None


def shared_names(before: Graph, after: Graph) -> list[str]:
    """Names of calls' results that both graphs have, in the order of the first."""
    there = {after.names[n] for n in _computed(after)}
    return [name for n in _computed(before) if (name := before.names[n]) and name in there]


def _shared_nodes(before: Graph, after: Graph, copied: bool) -> list[tuple[int, int]]:
    """The values that both graphs compute, in the order of the first: results of one name, in a copy nodes
    without a name that are still there, and outputs.
    """
    named = {name: n for n in _computed(after) if (name := after.names[n])}
    still = {
        n
        for n in _computed(after)
        if copied and not after.names[n] and n < len(before.op) and after.op[n] is before.op[n]
    }
    found = []
    for n in _computed(before):
        name = before.names[n]
        other = named.get(name) if name else n if n in still else None
        if other is not None:
            found.append((n, other))
    random = random_outputs(before, after)
    outputs = [pair for k, pair in enumerate(zip(before.outputs, after.outputs)) if k not in random]
    return found + [pair for pair in outputs if pair not in found]


def _computed(graph: Graph) -> list[int]:
    """Calls and their results that outputs need, but for what depends on random numbers."""
    from gslang.evaluate.randomness import random_nodes
    from gslang.graph.graph import PROJ

    drawn, needed = random_nodes(graph), set(graph.reverse_post_order())
    return [
        n for n in graph.in_order()
        if n in needed and n not in drawn and (graph.is_call(n) or graph.op[n] is PROJ)
    ]


def _values_of(
    graph: Graph, nodes: Sequence[int], dialect: Dialect, inputs: Mapping[str, object]
) -> list[object]:
    from gslang.evaluate.run import evaluate

    watched = graph.copy()
    watched.set_outputs(nodes)
    return evaluate(watched, dialect, inputs)

"""`--check-numbers`: a graph before and after on the same inputs, told on stderr and in a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gslang.cli.inputs import fitting_inputs, inputs_for
from gslang.cli.numbers import compare_graphs, tell_random
from gslang.cli.paint import painter

if TYPE_CHECKING:
    from gslang.dialect.dialect import Dialect
    from gslang.graph.graph import Graph


def check_numbers(
    before: Graph, after: Graph, dialect: Dialect, options: argparse.Namespace, sizes: Mapping[str, int],
    copied: bool,
) -> tuple[bool, dict[str, object]]:
    """True if both graphs compute the same, and what the report says. Says on stderr by how much they differ,
    and where that begins; `copied`: the nodes that `after` still has from `before` have the same numbers.

    Raises `InputError` for inputs that do not fit the graph.
    """
    from gslang.evaluate.errors import EvaluationError

    try:
        inputs = inputs_for(before, dialect, options, sizes)
        compared = compare_graphs(before, after, dialect, inputs, options.backend, copied)
    except EvaluationError as error:
        sys.stderr.write(f"error: the numbers cannot be checked: {error}\n")
        return False, {"checked": False, "reason": str(error)}
    tell_random(compared.random)
    agreement = compared.agreement
    report: dict[str, object] = {
        "checked": True,
        "equal": agreement.equal,
        "backend": compared.backend,
        "max_abs": agreement.max_abs,
        "max_rel": agreement.max_rel,
        **({"not_compared": sorted(compared.random)} if compared.random else {}),
    }
    if agreement.equal:
        sys.stderr.write(
            f"{painter(options, sys.stderr)('good', 'numbers agree')}: largest difference "
            f"{agreement.max_abs:.3g} (relative {agreement.max_rel:.3g})\n"
        )
        return True, report
    sys.stderr.write(f"error: the numbers differ: {agreement.reason}\n")
    if compared.first:
        report["first_difference"] = compared.first
        sys.stderr.write(
            f"  the first value of both graphs that differs is `{compared.first}`: it {compared.detail}\n"
        )
    return False, report


def refuse_unfit_inputs(graph: Graph, options: argparse.Namespace) -> None:
    """Raises `InputError` for values that do not belong to the graph's inputs."""
    if options.inputs is not None:
        fitting_inputs(graph, options.inputs)


def tell_nothing_written() -> None:
    """Say that the output is left as it was."""
    sys.stderr.write("no graph is written\n  help: --force writes it anyway\n")

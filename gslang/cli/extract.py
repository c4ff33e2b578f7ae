"""Extract the cheapest expressions from an e-graph: gslc extract EGRAPH.json

The file is in the format of extraction-gym (`nodes` with `op`, `children`, `eclass`, `cost`, and
`root_eclasses`). The cost of an e-class that several e-nodes use counts once. Prints the cost, a lower bound
on the cost of any solution, and the time in seconds.

Exit codes: 0 success; 1 a root has no finite solution; 2 usage error; 3 the file cannot be used.
"""

from __future__ import annotations

import argparse
import json
import sys
from math import isfinite
from typing import TYPE_CHECKING

from gslang.cli.main import ExitCode

if TYPE_CHECKING:
    from gslang.search.egraph_file import EGraphFile
    from gslang.search.extract.problem import Solution


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "egraph", metavar="EGRAPH", help="a .json file in extraction-gym's format, or - for standard input"
    )
    parser.add_argument(
        "--method", choices=("greedy", "exact"),
        help="exact: integer programming with HiGHS (gslang[search]), the default where it is installed; "
        "greedy: with local improvement",
    )
    parser.add_argument(
        "--seconds", type=_seconds, metavar="S", help="limit on processor time for exact extraction (7)"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="json: includes the selected e-nodes"
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not isfinite(value) or value <= 0:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, not `{text}`")
    return value


def run(options: argparse.Namespace) -> int:
    from time import perf_counter

    from gslang.search.egraph_file import read_egraph
    from gslang.search.extract.exact import SECONDS, exact, require_solver, solver_is_installed
    from gslang.search.extract.greedy import cheapest_below
    from gslang.search.extract.improve import improve
    from gslang.search.extract.problem import Infeasible
    from gslang.search.extract.split import in_parts

    if options.method == "exact":
        require_solver()
    options.method = options.method or ("exact" if solver_is_installed() else "greedy")
    from_stdin = options.egraph == "-"
    file = read_egraph(
        "<stdin>" if from_stdin else options.egraph, sys.stdin.buffer.read() if from_stdin else None
    )
    began = perf_counter()
    try:
        if options.method == "exact":
            result = exact(file.problem, options.seconds or SECONDS)
        else:
            result = in_parts(file.problem, lambda part: improve(part, cheapest_below(part)))
    except Infeasible as error:
        sys.stderr.write(
            f"gslc extract: root class `{file.classes[error.root]}` has no finite solution: "
            "each of its e-nodes needs the class itself, or one that has none\n"
        )
        return ExitCode.FINDINGS
    seconds = perf_counter() - began
    sys.stdout.write(
        (_as_json if options.format == "json" else _as_text)(file, result, options.method, seconds)
    )
    return ExitCode.FINE


def _as_text(file: EGraphFile, result: Solution, method: str, seconds: float) -> str:
    lines = [f"cost {result.cost:.9g}"]
    if result.bound is not None:
        proved = result.bound >= result.cost * (1 - 1e-9)
        lines.append(f"bound {result.bound:.9g} ({'optimal' if proved else 'not proved optimal'})")
    lines.append(f"{len(result.choice)} e-nodes of {len(file.nodes)}, {method}, {seconds:.2f} seconds")
    return "\n".join(lines) + "\n"


def _as_json(file: EGraphFile, result: Solution, method: str, seconds: float) -> str:
    choices = {file.classes[of]: file.nodes[node] for of, node in result.choice.items()}
    report = {
        "method": method,
        "cost": result.cost,
        "bound": result.bound,
        "seconds": round(seconds, 6),
        "choices": choices,
    }
    return json.dumps(report, indent=1) + "\n"

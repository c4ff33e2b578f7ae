"""What the model scripts share, their command line: `python examples/models/NAME.py OUT.relay --params
OUT.npz`.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from pathlib import Path

from gslang.base.diagnostics import InputError
from gslang.formats.registry import write_graph
from gslang.formats.weights import param_values, write_weights
from gslang.graph.graph import Graph


def main(build: Callable[..., Graph], description: str) -> None:
    """Call `build` with the options that it has, and write its graph and weights."""
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument("out", type=Path, help="graph file to write: .relay or .json")
    parser.add_argument("--params", type=Path, help="file for the weights: .npz or .safetensors")
    options = inspect.signature(build).parameters
    for name, option in options.items():
        if type(option.default) is not bool:
            default, flag = option.default, f"--{name.replace('_', '-')}"
            parser.add_argument(flag, type=type(default), default=default, help=f"(default {default})")
    arguments = vars(parser.parse_args())
    out, params = arguments.pop("out"), arguments.pop("params")
    graph = build(**arguments, values=params is not None or out.suffix == ".json")
    try:
        write_graph(graph, out)
        if params is not None:
            write_weights(params, param_values(graph))
    except InputError as error:
        parser.error(str(error))
    print(f"{out}: {len(graph)} nodes")

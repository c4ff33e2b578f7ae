"""The model that a project names: `model = "nets/resnet.onnx"` in `[tool.gslang]` of `pyproject.toml`, or at
the top of `gslang.toml`.

The nearest file upward that has such a table decides, as for lints. A list names several.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from gslang.api import Rule
from gslang.base.diagnostics import InputError
from gslang.check.checked import CheckedRule
from gslang.formats.registry import read_graph
from gslang.graph.graph import Graph

_SECONDS = 5.0  # to count the matches of one rule in one model


def configured_models(folder: Path) -> tuple[Path, ...]:
    """The models for rules in a folder; none where nothing is configured or the file cannot be read."""
    toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    for place in (folder, *folder.parents):
        for name in ("gslang.toml", "pyproject.toml"):
            path = place / name
            try:
                table = toml.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
            except (toml.TOMLDecodeError, UnicodeDecodeError, OSError):
                table = None  # the lints tell what is wrong with it
            if name == "pyproject.toml" and table is not None:
                tool = table.get("tool", {})
                table = tool.get("gslang") if isinstance(tool, dict) else None
            if isinstance(table, dict):
                given = table.get("model", [])
                return tuple(
                    place / one
                    for one in (
                        [given] if isinstance(given, str) else given if isinstance(given, list) else []
                    )
                    if isinstance(one, str)
                )
    return ()


def count_matches(rule: CheckedRule, path: Path, graphs: dict[str, tuple[float, Graph]]) -> str:
    """"3 matches in net.onnx", or why that is not known.

    `graphs` keeps what was read, with the time of its file.
    """
    try:
        stamp = path.stat().st_mtime
        if str(path) not in graphs or graphs[str(path)][0] != stamp:
            graphs[str(path)] = (stamp, read_graph(str(path), dialect=rule.dialect))
    except (InputError, OSError) as error:
        return f"{path.name} cannot be read: {str(error).splitlines()[0]}"
    graph = graphs[str(path)][1]
    if graph.dialect != rule.dialect.name:
        return f"{path.name} is of the dialect {graph.dialect}"
    end = perf_counter() + _SECONDS
    count = 0
    more = ""
    for _ in Rule(rule).matches(graph):
        count += 1
        if perf_counter() > end:
            more = " or more"
            break
    return f"{count}{more} match{'es' * (count != 1 or bool(more))} in {path.name}"

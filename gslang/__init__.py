"""gslang: a text language for graph substitution rules in deep-learning compilers.

    rules = gslang.load("fuse.gsl")                 # raises gslang.RuleError with .diagnostics
    graph = gslang.read("model.relay")              # or .json
    result = rules.apply(graph)                     # result.graph, .applications, .stop_reason, .report()
    gslang.write(result.graph, "out.json")
    for match in rules["diamond_conv_add"].matches(graph): ...

Names load when they are first used: `import gslang` is instant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gslang.api import Match, Result, RuleError, RuleHandle, RuleSet, UnknownNameError, from_onnx, load, parse_rules, read, to_onnx, write
    from gslang.base.diagnostics import InputError
    from gslang.graph.graph import Graph

__all__ = [
    "Graph", "InputError", "Match", "Result", "RuleError", "RuleHandle", "RuleSet", "UnknownNameError", "from_onnx", "load", "parse_rules",
    "read", "to_onnx", "write",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "Graph":
        from gslang.graph.graph import Graph

        return Graph
    if name == "InputError":
        from gslang.base.diagnostics import InputError

        return InputError
    if name in __all__:
        from gslang import api

        return getattr(api, name)
    raise AttributeError(f"module 'gslang' has no attribute {name!r}")

"""gslang: a text language for graph substitution rules in deep-learning compilers.

    rules = gslang.load("fuse.gsl")                 # or "std.onnx"; raises gslang.RuleError with .diagnostics
    result = rules.apply("model.onnx")            # or a ModelProto, a Graph; .graph, .applications, .report()
    result.save("out.onnx")
    for match in rules["silu"].matches("model.onnx"): ...

    optimized = gslang.onnx.optimize(model)         # ModelProto → ModelProto, by the shipped rules

Names load when they are first used: `import gslang` is instant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gslang import onnx
    from gslang.api import (
        Match,
        Result,
        Rule,
        RuleError,
        RuleSet,
        UnknownNameError,
        from_onnx,
        load,
        parse_rules,
        read,
        to_onnx,
        write,
    )
    from gslang.base.diagnostics import InputError
    from gslang.engine.options import Options
    from gslang.graph.graph import Graph

__all__ = [
    "Graph", "InputError", "Match", "Options", "Result", "Rule", "RuleError", "RuleSet", "UnknownNameError",
    "from_onnx", "load", "onnx", "parse_rules", "read", "to_onnx", "write",
]
_HOMES = {
    "Graph": "gslang.graph.graph",
    "InputError": "gslang.base.diagnostics",
    "Options": "gslang.engine.options",
}


def __dir__() -> list[str]:
    return [*__all__, "__version__", "__doc__", "__file__", "__name__", "__path__"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gslang' has no attribute {name!r}")
    from importlib import import_module

    if name == "onnx":
        return import_module("gslang.onnx")
    return getattr(import_module(_HOMES.get(name, "gslang.api")), name)

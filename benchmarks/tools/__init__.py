"""The tools measured, each behind the same five steps; a tool's own package is imported in `prepare`, not
before.

Not here: clocks and processes (`cell`, `measure`).
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any, Protocol


class Tool(Protocol):
    """`jobs`: what it can do. `suffix`: the model file that it reads. The methods are the steps, in order;
    all but the last are timed.
    """

    jobs: tuple[str, ...]
    suffix: str

    def prepare(self) -> None:
        """Import what is needed."""

    def rules(self, job: str) -> Any:
        """The rules in the tool's own form."""

    def load(self, path: str, job: str) -> Any:
        """The graph in the tool's own form."""

    def rewrite(self, graph: Any, rules: Any) -> Any:
        """The rewritten graph; `graph` may be changed."""

    def save(self, graph: Any, path: str) -> None:
        """Write the graph as the tool does; nothing for tools that have no files."""

    def operators(self, graph: Any) -> Counter[str]:
        """How often each operator stands in a rewritten graph, by ONNX names. Not timed."""


# Name → module of this folder, class, arguments. Everything is ONNX but `gslang` and the hand-written loop.
TOOLS: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "gslang": ("gslang_tool", "Gslang", ()),
    "gslang_onnx": ("gslang_tool", "GslangOnOnnx", ()),
    "tinygrad": ("tinygrad_tool", "Tinygrad", ()),
    "xdsl": ("xdsl_tool", "Xdsl", ()),
    "onnxscript": ("onnx_tools", "OnnxScript", ()),
    "onnxoptimizer": ("onnx_tools", "OnnxOptimizer", ()),
    "onnxsim": ("onnx_tools", "OnnxSim", ()),
    "ort_basic": ("onnx_tools", "OnnxRuntime", ("ORT_ENABLE_BASIC",)),
    "ort_none": ("onnx_tools", "OnnxRuntime", ("ORT_DISABLE_ALL",)),
    "fx": ("torch_fx_tool", "TorchFx", ()),
    "relax": ("relax_tool", "Relax", ()),
    "hand": ("by_hand", "ByHand", ()),
}


def make_tool(name: str) -> Tool:
    module, cls, arguments = TOOLS[name]
    tool: Tool = getattr(import_module(f"benchmarks.tools.{module}"), cls)(*arguments)
    return tool

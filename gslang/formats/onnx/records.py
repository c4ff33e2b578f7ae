"""The parts of an ONNX model beside the graph: the messages themselves, kept in `graph.meta` and
`graph.extras`.

Messages are never changed after reading; graphs share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from gslang.base.diagnostics import InputError
from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.onnx.attributes import Body, Opaque
from gslang.dialect.onnx.function_size import LocalFunctions
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.graph.graph import Graph

KEY: Final = "onnx"  # in `graph.meta` (a `ModelRecord`) and in `graph.extras[node]` (a `NodeRecord`)


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """`message` as it was read, `folder` where its external data lies, `unused` initializers that nothing
    read.

    `may_be_external`: False where no tensor has its data in another file. `functions`: the local functions
    now. `taken`: names that new values must not have, besides those of
    `message`. `constants_are_nodes`: initializers cannot be (in a function).
    """

    message: Any
    folder: str
    opsets: Mapping[str, int]
    unused: frozenset[str]
    path: str = ""
    may_be_external: bool = True
    functions: LocalFunctions = field(default_factory=LocalFunctions)
    taken: frozenset[str] = frozenset()
    constants_are_nodes: bool = False


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """Where a graph node came from: `NodeProto` number `position`, with the attributes it had then.

    `value` is what a `Constant` held. For an initializer `message` is None. `attribute`: a constant that
    stands for an attribute of its user, whose version has it as such.
    """

    position: int
    message: Any
    attrs: Attrs | None = None
    value: Any = None
    attribute: bool = False


def model_record(graph: Graph) -> ModelRecord | None:
    found = graph.meta.get(KEY)
    return found if isinstance(found, ModelRecord) else None


def node_record(graph: Graph, node: int) -> NodeRecord | None:
    found = graph.extras.get(node, {}).get(KEY)
    return found if isinstance(found, NodeRecord) else None


def refuse_bodies(graph: Graph) -> None:
    """Raise `InputError` for attributes that only an ONNX file can hold: graphs, tensors, types."""
    for node in graph.nodes():
        for name, value in graph.attrs[node].items():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, (Body, Opaque, OnnxTensor)):
                    message = (
                        f"attribute `{name}` of `{graph.op[node]}` at {graph.label(node)} has no form in JSON"
                    )
                    raise InputError(message, help="use .onnx")

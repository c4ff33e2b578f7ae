"""One call of an ONNX operator over a prime field, as the meanings of operators see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.load import load_dialect
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.foreseen import refuse_large
from gslang.evaluate.onnx import evaluate_onnx_node
from gslang.graph.graph import Graph
from gslang.verify.comparison.bounded import MOST_BYTES
from gslang.verify.field import dual
from gslang.verify.field.dual import Dual, constant
from gslang.verify.field.residues import NoField


class Call:
    """One call: its operands by place and its attributes, some of which some versions of an operator have as
    operands.
    """

    def __init__(
        self, graph: Graph, node: int, operands: Sequence[Any], attrs: Attrs, unknown: set[str]
    ) -> None:
        self.graph, self.node, self.operands, self.attrs, self.unknown = graph, node, operands, attrs, unknown

    def dual(self, k: int) -> Dual:
        """Operand k as floats. Raises `NoField` where it is absent or no float tensor."""
        value = self.operands[k] if k < len(self.operands) else None
        if not isinstance(value, Dual):
            raise NoField(f"operand {k + 1} of `{self.graph.op[self.node]}` is not a float tensor")
        return value

    def optional(self, k: int) -> Dual | None:
        """Operand k as floats, None where it is absent."""
        return self.dual(k) if k < len(self.operands) and self.operands[k] is not None else None

    def numbers(self, name: str, k: int | None = None) -> tuple[int, ...] | None:
        """Whole numbers: an attribute, or operand k."""
        value = self.attrs.get(name)
        if value is None and k is not None and k < len(self.operands):
            value = self.operands[k]
        if value is None:
            return None
        return tuple(int(v) for v in np.asarray(value).reshape(-1).tolist())

    def places(self, k: int) -> Array | None:
        """Operand k as whole numbers, None where it is absent. Raises `NoField` for floats."""
        value = self.operands[k] if k < len(self.operands) else None
        if isinstance(value, Dual):
            raise NoField(f"operand {k + 1} of `{self.graph.op[self.node]}` is not an integer tensor")
        return None if value is None else np.asarray(value)

    def real(self, name: str) -> Dual:
        """A float attribute, as a constant."""
        return constant(np.float32(self.attrs[name]))

    def function(self, name: str, real: Callable[..., Any] | None, *arguments: Dual) -> Dual:
        """An element-wise function without a law, noted as unknown; `real` is the true one."""
        self.unknown.add(name.lower())
        return dual.function(name, real, *arguments)

    def reference(self, operands: Sequence[Array]) -> Any:
        """The result of ONNX's reference implementation on these operands. Raises `NoField` where it
        refuses."""
        try:
            refuse_large(self.graph, load_dialect("onnx"), self.node, operands, MOST_BYTES)
            return evaluate_onnx_node(self.graph, self.node, list(operands))
        except EvaluationError as error:
            raise NoField(str(error)) from error


# What an operator computes: one `Dual` or array, or a tuple of them. Raises `NoField`.
Meaning = Callable[[Call], Any]

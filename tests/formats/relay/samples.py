"""Small Relay texts that the tests share."""

from __future__ import annotations

from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect
from gslang.formats.relay import read_relay, write_relay
from gslang.graph.compare import differences
from gslang.graph.graph import Graph

DIALECT: Dialect = load_dialect("relay")

CONVOLUTION = """\
#[version = "0.0.5"]
def @main(%image: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  %0 = nn.conv2d(%image, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %1 = multiply(%0, 0.25f /* ty=float32 */) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  add(%0, %1) /* ty=Tensor[(1, 4, 8, 8), float32] */
}
"""

PARTITIONED = """\
#[version = "0.0.5"]
def @helper(%a: Tensor[(4), float32], %b: Tensor[(4), float32], Primitive=1, Compiler="ext") -> Tensor[(4), float32] {
  %0 = subtract(%a, %b);
  nn.relu(%0)
}

def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
  %1 = exp(%x);
  %2 = @helper(%1, %x);
  tanh(%2)
}
"""

CLOSURE = """\
def @main(%x: Tensor[(4), float32], %y: Tensor[(4), float32]) {
  %0 = exp(%x);
  %2 = fn (%p: Tensor[(4), float32] /* ty=Tensor[(4), float32] */, Primitive=1) -> Tensor[(4), float32] {
    %1 = add(%p, %0) /* ty=Tensor[(4), float32] */;
    multiply(%1, %y)
  };
  %3 = %2(%x);
  %4 = %2(%3);
  subtract(%4, %0)
}
"""


def main(body: str, parameters: str = "%x: Tensor[(2, 3), float32]") -> str:
    """A module with one function."""
    return f'#[version = "0.0.5"]\ndef @main({parameters}) {{\n{body}\n}}\n'


def read(text: str, **options: Any) -> Graph:
    return read_relay(text, "sample.relay", **{"dialect": DIALECT, **options})


def again(graph: Graph, dialect: Dialect | None = DIALECT, **options: Any) -> Graph:
    """The graph written and read back."""
    return read_relay(write_relay(graph, dialect, **options), "again.relay", dialect=dialect)


def assert_same(a: Graph, b: Graph) -> None:
    assert differences(a, b, DIALECT) == []


def ops(graph: Graph) -> list[str]:
    """Operators in order, operands first."""
    return [graph.op[node] for node in graph.reverse_post_order()]


def result(graph: Graph) -> int:
    assert len(graph.outputs) == 1
    return graph.outputs[0]

"""Costs of calls by name: `flops`, `bytes`, `roofline`, what onnxruntime was measured to take (`ort-cpu`),
and tables from files. All are additive.
"""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

from gslang.base.diagnostics import InputError
from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.graph.graph import Graph
from gslang.search.cost.work import Call, work_of

# A current laptop core, rounded: what a table needs is the ratio.
_OPERATIONS_PER_SECOND: Final = 50e9
_BYTES_PER_SECOND: Final = 10e9
_CALL_SECONDS: Final = 2e-6
NAMES: Final = ("flops", "bytes", "roofline", "ort-cpu")


class CostTable(Protocol):
    """`unit`: of its costs.

    `weights`: what work on weights only costs unless asked otherwise ("free", "concat-free", "charged").
    """

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def weights(self) -> str: ...

    def cost(self, call: Call) -> float:
        """The cost of a call, at least 0. Raises `UnknownCost`, never guesses."""


@runtime_checkable
class MeasuringTable(CostTable, Protocol):
    """A table that can also run whole graphs."""

    def slowdown(self, before: Graph, after: Graph, dialect: Dialect) -> float | None:
        """The time of `after` as a multiple of that of `before`, if it takes longer beyond noise."""


class Flops:
    """Floating-point operations, two for each multiply-add."""

    name, unit, weights = "flops", "operations", "free"

    def cost(self, call: Call) -> float:
        return float(work_of(call).operations)


class Bytes:
    """Bytes read and written, as if nothing stayed in a cache."""

    name, unit, weights = "bytes", "bytes", "free"

    def cost(self, call: Call) -> float:
        return float(work_of(call).moved)


class Roofline:
    """Microseconds: whichever takes longer, computing at 50 GFLOP/s or moving at 10 GB/s, and 2 for each call
    that does either.
    """

    name, unit, weights = "roofline", "µs", "free"

    def cost(self, call: Call) -> float:
        work = work_of(call)
        seconds = max(work.operations / _OPERATIONS_PER_SECOND, work.moved / _BYTES_PER_SECOND)
        return (seconds + _CALL_SECONDS) * 1e6 if seconds else 0.0


def table_of(name: str) -> CostTable:
    """The table with a name, or that in a file. Raises `InputError`."""
    for table in (Flops(), Bytes(), Roofline()):
        if table.name == name:
            return table
    if name == "ort-cpu":
        return _measured()
    from pathlib import Path

    if Path(name).is_file():
        from gslang.search.cost.file_table import read_table

        return read_table(name)
    guess = did_you_mean(name, NAMES)
    help = f"did you mean `{guess}`?" if guess else f"tables: {', '.join(NAMES)}, or a .tsv file"
    raise InputError("unknown cost table, and no such file", path=name, help=help)


def _measured() -> CostTable:
    from importlib.util import find_spec

    missing = [package for package in ("onnx", "onnxruntime") if find_spec(package) is None]
    if missing:
        raise InputError(
            f"the cost table `ort-cpu` needs {' and '.join(missing)}",
            help="pip install 'gslang[onnxruntime]'",
        )
    from gslang.search.cost.measured import MeasuredCosts

    return MeasuredCosts()

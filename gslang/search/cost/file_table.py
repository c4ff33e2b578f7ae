"""A cost table in a file: tab-separated lines with a header, one line for each operator, shapes and
attributes.

Columns: `op`, `input_shapes` (`64x1024;1024x1024`, one for each tensor among the operands), `attrs`, and
`cost` or `min_ms`. `op` is an operator of the graph's dialect, with attributes as JSON in `attrs` (those that
are not defaults); or one of TASO's, with its parameters, as Tensat's measurements have them. A call that has
no line has no cost; what TASO's table leaves out because it moves nothing there (splits, reshapes,
transposes, dropout) costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Final

from gslang.base.decode import decoded
from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import read_bytes
from gslang.dialect.tensor_type import TensorType, TupleType, Type, is_static
from gslang.search.cost.work import Call, unknown

Key = tuple[str, str, str]  # operator, shapes, attributes
_TASO: Final = frozenset("Concat Conv2d Ewadd Ewmul Matmul Poolmax Poolavg Relu Sigmoid Tanh".split())
_FREE_IN_TASO: Final = frozenset(
    "split reshape transpose nn.dropout squeeze expand_dims nn.batch_flatten".split()
)
_NAMED: Final = {"add": "Ewadd", "multiply": "Ewmul", "nn.relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}


@dataclass(frozen=True)
class FileTable:
    """`costs` by operator, shapes and attributes; `taso`: some operators in it are TASO's."""

    name: str
    costs: Mapping[Key, float]
    unit: str
    taso: bool
    weights: str = "charged"

    def cost(self, call: Call) -> float:
        """Raises `UnknownCost` for a call that the file has no line for."""
        shapes = ";".join(_shapes(call.operands))
        found = self.costs.get((call.operator, shapes, _as_key(call.attrs)))
        if found is None and self.taso:
            if call.operator in _FREE_IN_TASO:
                return 0.0
            operator, attrs = _in_taso(call)
            found = self.costs.get((operator, shapes, attrs))
        if found is None:
            raise unknown(call, f"{self.name} has no entry for it")
        return found


def _shapes(types: tuple[Type | None, ...]) -> list[str]:
    result = []
    for type in types:
        if isinstance(type, TupleType):
            result += _shapes(type.fields)
        elif isinstance(type, TensorType) and is_static(type.shape):
            result.append("x".join(map(str, type.shape or ())))
        elif type is not None:
            result.append("?")
    return result


def _as_key(attrs: Mapping[str, object]) -> str:
    """Attributes as a text, in one order and one spelling; "" for none."""
    return json.dumps(dict(sorted(attrs.items())), separators=(",", ":"), default=str) if attrs else ""


def _read_attributes(text: str, path: str, place: str) -> str:
    """The key of attributes in a file: of a JSON object, or of TASO's parameters, separated by commas."""
    if not text.strip().startswith("{"):
        return text.replace(" ", "")
    try:
        return _as_key(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"`attrs` is not JSON: {error}", path=path, place=place,
            help='attributes are an object, `{"axis":1}`; none are `{}`, or an empty column',
        ) from None


def _in_taso(call: Call) -> tuple[str, str]:
    """TASO's name and parameters of a call, "" where it has none: `Conv2d` stride, stride, padding (0: same,
    1: valid), activation (0: none, 2: relu); `Matmul` activation; `Concat` axis, rank; pools kernel, strides,
    padding, activation.
    """
    signature = call.dialect.get(call.operator)
    attrs = dict(call.attrs) if signature is None else signature.complete(call.attrs)
    first = call.operands[0] if call.operands else None
    if isinstance(first, TupleType):
        first = first.fields[0]
    shape = first.shape if isinstance(first, TensorType) and is_static(first.shape) else None
    if shape is None:
        return "", ""
    match call.operator:
        case "nn.conv2d" | "taso.conv2d_relu":
            weight = call.operands[1]
            if not isinstance(weight, TensorType) or weight.shape is None:
                return "", ""
            strides = tuple(attrs.get("strides", (1, 1)))
            padding = _padding(shape, weight.shape[2:], strides, tuple(attrs["padding"]))
            activation = 2 if call.operator == "taso.conv2d_relu" else 0
            usual = all(
                attrs.get(name, usual) == usual
                for name, usual in (("dilation", (1, 1)), ("data_layout", "NCHW"), ("kernel_layout", "OIHW"))
            )
            return (
                ("Conv2d", f"{strides[0]},{strides[1]},{padding},{activation}")
                if usual and padding is not None
                else ("", "")
            )
        case "nn.max_pool2d" | "nn.avg_pool2d":
            kernel, strides = attrs["pool_size"], attrs["strides"]
            padding = _padding(shape, kernel, strides, tuple(attrs["padding"]))
            name = "Poolmax" if call.operator == "nn.max_pool2d" else "Poolavg"
            return (
                (name, f"{kernel[0]},{kernel[1]},{strides[0]},{strides[1]},{padding},0")
                if padding is not None
                else ("", "")
            )
        case "nn.matmul" | "nn.batch_matmul":
            plain = not attrs["transpose_a"] and not attrs["transpose_b"]
            return ("Matmul", "0") if plain else ("", "")
        case "concatenate":
            return "Concat", f"{attrs['axis'] % len(shape)},{len(shape)}"
    return _NAMED.get(call.operator, ""), ""


def _padding(shape: Any, kernel: Any, strides: Any, padding: tuple[int, ...]) -> int | None:
    """1 for none ("valid"), 0 for what keeps the size up to the stride ("same"), None for other padding."""
    before = padding[:2] if len(padding) == 4 else padding * 2 if len(padding) == 1 else padding
    behind = padding[2:] if len(padding) == 4 else before
    size = [(d + b + a - k) // s + 1 for d, k, s, b, a in zip(shape[2:], kernel, strides, before, behind)]
    if size == [-(-d // s) for d, s in zip(shape[2:], strides)] and (any(padding) or tuple(kernel) == (1, 1)):
        return 0
    return None if any(padding) else 1


def read_table(path: str) -> FileTable:
    """The table in a file. Raises `InputError` with the line and column for what does not fit, `OSError`."""
    lines = decoded(read_bytes(path), path).splitlines()
    header = lines[0].split("\t") if lines else []
    price = next((name for name in ("cost", "min_ms") if name in header), None)
    if price is None or "op" not in header or "input_shapes" not in header:
        raise InputError(
            "expected a header with the columns `op`, `input_shapes`, `attrs` and `cost` (or `min_ms`)",
            path=path, place="1:1", help="columns are separated by tabs",
        )
    costs: dict[Key, float] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) < len(header):
            fields += [""] * (len(header) - len(fields))
        row = dict(zip(header, fields))
        try:
            cost = float(row[price])
        except ValueError:
            cost = -1.0
        if not isfinite(cost) or cost < 0:
            raise InputError(
                f"`{row[price]}` is not a cost: expected a number from 0", path=path,
                place=f"{number}:{_column(fields, header, price)}",
            )
        attrs = _read_attributes(row.get("attrs", ""), path, f"{number}:{_column(fields, header, 'attrs')}")
        key = (row["op"], row["input_shapes"].replace(" ", ""), attrs)
        if costs.setdefault(key, cost) != cost:
            raise InputError(
                f"`{row['op']}` with these shapes and attributes has a different cost above", path=path,
                place=f"{number}:1",
            )
    return FileTable(
        Path(path).name, costs, "ms" if price == "min_ms" else "", any(key[0] in _TASO for key in costs)
    )


def _column(fields: list[str], header: list[str], name: str) -> int:
    """Where a column begins in a line, from 1."""
    return 1 + sum(len(f) + 1 for f in fields[: header.index(name)]) if name in header else 1

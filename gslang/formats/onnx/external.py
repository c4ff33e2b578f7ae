"""Where the tensors of a model that is written lie: inside it, or in one data file beside it.

Data are copied from map to file in pieces; no tensor is loaded whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from gslang.base.atomic_write import write_atomically
from gslang.base.diagnostics import InputError
from gslang.dialect.onnx.attributes import graphs_of
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.formats.onnx.records import ModelRecord

MODES: Final = ("keep", "copy", "inline")
LIMIT: Final = (1 << 31) - (1 << 24)  # protobuf writes no message of 2 GiB
_ALIGNMENT: Final = 4096  # so that data can be mapped
_PIECE: Final = 1 << 24
_SMALL: Final = 1024  # bytes that stay in the model


def placed(model: Any, record: ModelRecord | None, path: Path, mode: str) -> Any:
    """The model with its tensors where `mode` wants them; writes the data file. Raises `InputError`.

    `keep` leaves references as they are if the model stays in its folder, and copies otherwise. A model that would be
    too large for one file is written with its data beside it.
    """
    if mode not in MODES:
        raise InputError(f"`{mode}` is no way to keep external data", help=f"one of {', '.join(MODES)}")
    folder = record.folder if record is not None else ""
    moved = path.parent.resolve() != Path(folder or ".").resolve()
    tensors = [OnnxTensor(t, folder) for t in tensors_of(model.graph)]
    outside = [t for t in tensors if t.external]
    inner = sum(len(t.message.raw_data) for t in tensors if not t.external)
    if mode == "inline":
        total = inner + sum(t.raw().nbytes for t in outside)
        if total > LIMIT:
            raise InputError(f"{total} bytes of weights do not fit into one file", path=str(path), help="--external copy")
        for tensor in outside:
            data = tensor.raw().tobytes()
            tensor.message.ClearField("external_data")
            tensor.message.ClearField("data_location")
            tensor.message.raw_data = data
    elif mode == "copy" or inner > LIMIT or (outside and moved):
        chosen = [t for t in tensors if t.external or len(t.message.raw_data) > _SMALL and (mode == "copy" or inner > LIMIT)]
        if chosen:
            _copy(chosen, path)
    return model


def _copy(tensors: list[OnnxTensor], path: Path) -> None:
    """Write the tensors' data into one new file beside the model, and let their messages refer to it."""
    target = _data_path(path, tensors)
    places: list[tuple[int, int]] = []

    def write(file: BinaryIO) -> None:
        for tensor in tensors:
            file.write(bytes(-file.tell() % _ALIGNMENT))
            start = file.tell()
            data = memoryview(tensor.raw() if tensor.external else tensor.message.raw_data)
            for at in range(0, len(data), _PIECE):
                file.write(data[at : at + _PIECE])
            places.append((start, len(data)))

    try:
        write_atomically(target, write)
    except OSError as error:
        raise InputError(f"cannot be written: {(error.strerror or str(error)).lower()}", path=str(target)) from None
    for tensor, (offset, length) in zip(tensors, places):
        message = tensor.message
        message.ClearField("raw_data")
        message.ClearField("external_data")
        message.data_location = message.EXTERNAL
        for key, value in (("location", target.name), ("offset", str(offset)), ("length", str(length))):
            message.external_data.add(key=key, value=value)


def _data_path(path: Path, tensors: list[OnnxTensor]) -> Path:
    """`model.onnx.data`, or with a number where that is a file the data are read from, or of another model."""
    target = path.with_name(path.name + ".data")
    sources = {t.data_file()[0] for t in tensors if t.external}
    count = 1
    while target.resolve() in sources or (count > 1 and os.path.exists(target)):
        count += 1
        target = path.with_name(f"{path.name}.{count}.data")
    return target


def tensors_of(graph: Any) -> Iterator[Any]:
    """All tensor messages of a graph and its bodies that may have external data."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
        for inner in graphs_of(node):
            yield from tensors_of(inner)

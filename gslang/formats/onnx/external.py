"""Where the tensors of a model that is written lie: inside it, or in one data file beside it.

Data go from file to file in pieces; no tensor is loaded whole, zeros become holes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.onnx.attributes import graphs_of
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.evaluate.spill import pieces, write_piece
from gslang.formats.onnx.records import ModelRecord

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorProto

MODES: Final = ("keep", "copy", "inline")
LIMIT: Final = (1 << 31) - (1 << 24)  # protobuf writes no message of 2 GiB
_ALIGNMENT: Final = 4096  # so that data can be mapped
_PIECE: Final = 1 << 22
_SMALL: Final = 1024  # bytes that stay in the model


@dataclass(frozen=True, slots=True)
class Pending:
    """The data of a new tensor whose message has none yet: `load()` gives the array as it is stored."""

    nbytes: int
    load: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file to be written before the model: `write` fills it, and lets the messages of `tensors` refer
    to it.
    """

    path: Path
    tensors: Sequence[OnnxTensor]
    write: Callable[[BinaryIO], None]


def placed(
    model: ModelProto, record: ModelRecord | None, path: Path, mode: str, pending: Mapping[str, Pending]
) -> DataFile | None:
    """Put the tensors of a model where `mode` wants them; what goes into a file is returned. Raises
    `InputError`.

    `keep` leaves references as they are if the model stays in its folder, and copies otherwise; new large
    tensors of a model that has external data are external too. A model that would be too large for one file
    is written with its data beside it.
    """
    if mode not in MODES:
        raise InputError(f"`{mode}` is not a mode of external data", help=f"one of {', '.join(MODES)}")
    folder = record.folder if record is not None else ""
    if (
        mode == "keep" and not pending and record is not None and not record.may_be_external
        and model.ByteSize() < LIMIT
    ):
        return None
    moved = path.parent.resolve() != Path(folder or ".").resolve()
    tensors = [OnnxTensor(t, folder) for t in tensors_of(model.graph)]
    new = {id(t) for t in tensors if t.message.name in pending and not t.external and not t.message.raw_data}
    outside = [t for t in tensors if t.external]
    inner = sum(
        pending[t.message.name].nbytes if id(t) in new else len(t.message.raw_data)
        for t in tensors if not t.external
    )
    chosen: list[OnnxTensor] = []
    if mode == "inline":
        total = inner + sum(t.extent()[2] for t in outside)
        if total > LIMIT:
            raise InputError(
                f"{total} bytes of weights do not fit into one file", path=str(path), help="--external copy"
            )
        for tensor in outside:
            _inline(tensor, tensor.raw().tobytes())
    else:
        copied = mode == "copy" or inner > LIMIT
        had = record is not None and any(
            t.data_location == t.EXTERNAL for t in tensors_of(record.message.graph)
        )
        chosen = [
            t for t in tensors
            if (t.external and (mode == "copy" or moved)) or (id(t) in new and (copied or had))
            or (copied and not t.external and len(t.message.raw_data) > _SMALL)
        ]  # fmt: skip
    taken = {id(t) for t in chosen}
    for tensor in tensors:
        if id(tensor) in new and id(tensor) not in taken:
            _inline(tensor, pending[tensor.message.name].load().tobytes())
    if not chosen:
        return None
    target = _data_path(path, outside)
    return DataFile(
        target, chosen,
        lambda file: _write(
            file, chosen, {id(t): pending[t.message.name] for t in chosen if id(t) in new}, target.name
        ),
    )


def _inline(tensor: OnnxTensor, data: bytes) -> None:
    tensor.message.ClearField("external_data")
    tensor.message.ClearField("data_location")
    tensor.message.raw_data = data


def _write(file: BinaryIO, tensors: list[OnnxTensor], pending: Mapping[int, Pending], name: str) -> None:
    """Write the tensors' data one behind the other, and let their messages refer to it."""
    for tensor in tensors:
        start = file.tell() + -file.tell() % _ALIGNMENT
        file.seek(start)
        for piece in _pieces(tensor, pending.get(id(tensor))):
            write_piece(file, piece)
        length = file.tell() - start
        file.truncate()
        message = tensor.message
        message.ClearField("raw_data")
        message.ClearField("external_data")
        message.data_location = message.EXTERNAL
        for key, value in (("location", name), ("offset", str(start)), ("length", str(length))):
            message.external_data.add(key=key, value=value)


def _pieces(tensor: OnnxTensor, pending: Pending | None) -> Iterator[bytes]:
    if pending is not None:
        yield from pieces(pending.load())
    elif tensor.external:
        yield from _copied(*tensor.extent())
    else:
        data = memoryview(tensor.message.raw_data)
        for at in range(0, len(data), _PIECE):
            yield bytes(data[at : at + _PIECE])


def _copied(path: Path, offset: int, length: int) -> Iterator[bytes]:
    """A part of a file, read and not mapped: what is mapped counts as memory."""
    with path.open("rb") as source:
        source.seek(offset)
        while length:
            piece = _read(source, min(length, _PIECE), path)
            length -= len(piece)
            yield piece


def _read(source: IO[bytes], count: int, path: Path) -> bytes:
    piece = source.read(count)
    if not piece:
        raise InputError("the file was truncated while it was read", path=str(path))
    return piece


def _data_path(path: Path, outside: list[OnnxTensor]) -> Path:
    """`model.onnx.data`, or with a number where that is a file the data are read from, or of another model.
    """
    target = path.with_name(path.name + ".data")
    sources = {t.extent()[0] for t in outside}
    count = 1
    while target.resolve() in sources or (count > 1 and os.path.exists(target)):
        count += 1
        target = path.with_name(f"{path.name}.{count}.data")
    return target


def tensors_of(graph: GraphProto) -> Iterator[TensorProto]:
    """All tensor messages of a graph and its bodies that may have external data."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
        for inner in graphs_of(node):
            yield from tensors_of(inner)

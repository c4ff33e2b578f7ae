"""ONNX models → graphs: from files, bytes and messages. External data is not loaded, only checked to lie in
the model's folder.

Not here: writing (`writer`), how a message becomes a graph (`model_graph`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslang.base.diagnostics import InputError
from gslang.base.file_errors import reason_of
from gslang.base.read_file import read_bytes
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx import needs_onnx
from gslang.dialect.onnx.messages import messages
from gslang.formats.onnx.model_graph import graph_of
from gslang.formats.onnx.texts import refuse_bytes
from gslang.graph.graph import Graph

if TYPE_CHECKING:
    pass


def read_onnx(source: Any, dialect: Dialect | None = None) -> Graph:
    """The graph of a model: a path, or a `ModelProto`. `dialect` may have operators of the user's own.

    Raises `InputError` for a file that is no model or a damaged one.
    """
    if isinstance(source, (str, Path)):
        try:
            data = read_bytes(source)
        except OSError as error:
            raise InputError(reason_of(error), path=str(source)) from None
        return read_onnx_bytes(data, str(source), dialect)
    return graph_of(source, "", "", dialect)


def read_onnx_bytes(data: bytes, path: str, dialect: Dialect | None = None) -> Graph:
    """The graph of a serialized model; external data lies in the folder of `path`. Raises `InputError`."""
    try:
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

        model = messages().ModelProto()
    except ImportError:
        raise needs_onnx(path) from None
    try:
        model.ParseFromString(data)
    except (DecodeError, RuntimeError, ValueError) as error:
        help = "the file is damaged or cut off, or its subgraphs are more than about 30 deep"
        raise InputError(f"this is not an ONNX model: {error}", path=path, help=help) from None
    if not model.HasField("graph"):
        raise InputError(
            "this is not an ONNX model: it has no graph", path=path, help="is the file complete?"
        )
    refuse_bytes(model, path)
    return graph_of(model, path, str(Path(path).parent), dialect, data)

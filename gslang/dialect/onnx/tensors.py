"""Tensors of ONNX models as lazy handles: inside the model, or in a file beside it that is mapped when it is
read.

A handle keeps the message it came from, so that untouched tensors are preserved.
"""

from __future__ import annotations

import math
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Final

from gslang.base.diagnostics import InputError
from gslang.dialect.dtypes import PLAIN, numpy_dtype, numpy_dtype_exists
from gslang.dialect.onnx.dtypes import dtype_name, element_type
from gslang.dialect.onnx.messages import messages

if TYPE_CHECKING:
    from onnx import TensorProto

# elements of arrays that stay loaded: rules look at scalars, shapes and axes again and again
_SMALL: Final = 64


class OnnxTensor:
    """A `TensorProto`: `shape`, `dtype` (NumPy's, None where it has none), `load()`. Equal if the messages
    are. Raises `InputError` for sizes below zero.
    """

    __slots__ = ("_key", "_small", "element", "folder", "is_held", "message", "path", "shape")

    def __init__(self, message: TensorProto, folder: str = "", path: str = "") -> None:
        self.message = message
        self.folder = folder
        self.path = path  # of the model, for messages
        self.shape = tuple(message.dims)
        if any(size < 0 for size in self.shape):
            shape = list(self.shape)
            raise InputError(f"a size of the tensor `{message.name}` is below zero: {shape}", path=path)
        self.element = dtype_name(message.data_type)
        # NumPy has numbers for its elements
        self.is_held = bool(self.element) and numpy_dtype_exists(self.element or "")
        self._key: bytes | None = None
        self._small: Any = None

    @property
    def key(self) -> bytes:
        if self._key is None:
            self._key = self.message.SerializeToString(deterministic=True)
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OnnxTensor) and (
            self is other or (self.folder, self.key) == (other.folder, other.key)
        )

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"OnnxTensor({self.element or '?'}{list(self.shape)})"

    @property
    def dtype(self) -> Any:
        return numpy_dtype(self.element) if self.is_held and self.element else None

    @property
    def nbytes(self) -> int:
        size: int = self.dtype.itemsize if self.dtype is not None else 1
        return int(math.prod(self.shape)) * size

    @property
    def external(self) -> bool:
        return bool(self.message.data_location == self.message.EXTERNAL)

    def load(self) -> Any:
        """The array, in the NumPy type that holds its element type.

        Raises `InputError` if the data is not there.
        """
        if self._small is not None:
            return self._small
        if self.external:
            return self._mapped()
        try:
            array = _plain_array(self)
            if array is None:
                from onnx import numpy_helper

                array = numpy_helper.to_array(self.message)
        except Exception as error:  # whatever the package raises for data that does not fit its shape
            raise InputError(
                f"the tensor `{self.message.name}` cannot be read: {error}", path=self.path
            ) from None
        if self.dtype is not None and array.dtype != self.dtype:
            array = array.astype(self.dtype)
        if array.size <= _SMALL:
            array.flags.writeable = False
            self._small = array
        return array

    def data_file(self) -> tuple[Path, int, int | None]:
        """File, offset and length (None: to its end) of external data.

        Raises `InputError` for a path outside.
        """
        entries = {entry.key: entry.value for entry in self.message.external_data}
        path = inside(self.folder, entries.get("location", ""), self.message.name, self.path)
        try:
            offset = int(entries.get("offset") or 0)
            length = int(entries["length"]) if entries.get("length") else None
        except ValueError:
            raise InputError(
                f"offset or length of the tensor `{self.message.name}` is not a number", path=self.path
            ) from None
        if offset < 0 or (length is not None and length < 0):
            raise InputError(
                f"offset or length of the tensor `{self.message.name}` is negative", path=self.path
            )
        return path, offset, length

    def extent(self) -> tuple[Path, int, int]:
        """File, offset and length of external data that are there. Raises `InputError`."""
        path, offset, length = self.data_file()
        try:
            size = path.stat().st_size
        except OSError as error:
            raise self._unreadable(error, path) from None
        needed = self._plain_bytes()
        if length is None and needed is not None:
            length = needed
        end = size if length is None else offset + length
        if needed is not None and length != needed:
            raise InputError(
                f"the tensor `{self.message.name}` has {length} bytes of data, its shape needs {needed}",
                path=self.path,
            )
        if end > size or offset > size:
            raise InputError(
                f"the tensor `{self.message.name}` ends at byte {max(end, offset)} of {size}", path=str(path),
                help="the file is cut off",
            )
        return path, offset, end - offset

    def _plain_bytes(self) -> int | None:
        """The size of the data, where it follows from shape and type."""
        if self.element in PLAIN and self.dtype is not None and min(self.shape, default=0) >= 0:
            return self.nbytes
        return None

    def raw(self) -> Any:
        """The bytes of external data, mapped. Raises `InputError`."""
        import numpy

        path, offset, length = self.extent()
        try:
            return (
                numpy.memmap(path, numpy.uint8, "r", offset, (length,)) if length
                else numpy.empty(0, numpy.uint8)
            )
        except OSError as error:
            raise self._unreadable(error, path) from None

    def _unreadable(self, error: OSError, path: Path) -> InputError:
        reason = (error.strerror or str(error)).lower()
        return InputError(
            f"the data of the tensor `{self.message.name}` cannot be read: {reason}", path=str(path),
            help="weights of the model are in this file: put it there",
        )

    def _mapped(self) -> Any:
        from onnx import TensorProto, numpy_helper

        raw = self.raw()
        if self._plain_bytes() is not None:
            return raw.view(self.dtype.newbyteorder("<")).reshape(self.shape)
        whole = TensorProto(data_type=self.message.data_type, dims=self.message.dims, raw_data=raw.tobytes())
        if self.dtype is None:
            return numpy_helper.to_array(whole)
        return OnnxTensor(whole, path=self.path).load()


def inside(folder: str, location: str, name: str, model: str = "") -> Path:
    """The file that external data lies in.

    Raises `InputError` if that is not in the model's folder or below.
    """
    windows, posix = PureWindowsPath(location), PurePosixPath(location)
    base = Path(folder or ".").resolve()
    path = (base / location.replace("\x00", "")).resolve()
    outside = (
        not location or "\x00" in location or windows.is_absolute() or windows.drive or posix.is_absolute()
        or ".." in windows.parts
    )
    if outside or not path.is_relative_to(base):
        help = (
            "external data must be in the folder of the model or below it; save the model again with its "
            "data there"
        )
        raise InputError(
            f"the tensor `{name}` has its data in `{location}`, outside the model's folder", path=model,
            help=help
        )
    return path


_FIELDS: Final = {
    "float32": "float_data", "float64": "double_data", "int32": "int32_data", "int64": "int64_data",
}  # fmt: skip
"""Fields of a `TensorProto` with the elements as they are, one by one."""


def _plain_array(tensor: OnnxTensor) -> Any:
    """The array of a tensor whose elements are stored as NumPy has them, or one by one; None for all others.
    """
    data = tensor.message.raw_data if tensor.element in PLAIN else b""
    dtype, size = tensor.dtype, math.prod(tensor.shape)
    if not data and tensor.element in _FIELDS:
        import numpy

        items = getattr(tensor.message, _FIELDS[tensor.element])[:]
        return numpy.array(items, dtype).reshape(tensor.shape) if len(items) == size else None
    if not data or len(data) != size * dtype.itemsize:
        return None
    import numpy

    return numpy.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(tensor.shape)


def stored_type(dtype: str, name: str) -> Any:
    """The NumPy type in which ONNX stores elements of a type.

    Raises `InputError` for a type that ONNX has not.
    """
    if dtype in PLAIN:
        return numpy_dtype(dtype)
    from onnx import helper

    try:
        return helper.tensor_dtype_to_np_dtype(element_type(dtype))
    except KeyError:
        raise InputError(f"`{name}`: ONNX has no tensors of type {dtype}") from None


def tensor_message(array: object, dtype: str | None, name: str) -> Any:
    """The `TensorProto` of an array whose element type is `dtype`.

    Raises `InputError` for a type that ONNX has not.
    """
    import numpy

    array = numpy.asarray(array)
    kind = dtype or array.dtype.name
    stored = stored_type(kind, name)
    array = array if array.dtype == stored else array.astype(stored)
    if kind in PLAIN:
        data = array.astype(stored.newbyteorder("<"), copy=False).tobytes()
        return messages().TensorProto(
            dims=array.shape, data_type=element_type(kind), name=name, raw_data=data
        )
    from onnx import numpy_helper

    return numpy_helper.from_array(array if array.flags.c_contiguous else array.copy(order="C"), name)

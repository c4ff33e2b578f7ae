"""Weights in `.npz` and `.safetensors` files: names and types at once, each array when it is asked for.

Nothing in a file is ever unpickled. Not here: which values a graph file names itself (`json_values`).
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from gslang.base.arrays import Array
from gslang.base.atomic_write import write_atomically
from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import open_file
from gslang.base.suggest import did_you_mean
from gslang.dialect.dtypes import numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import TensorType, Type, is_static
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.graph.inference import contradiction, refine

_KINDS: Final = "biuf"  # of NumPy types that are values here: no objects, texts, records
# the date of every archive member, so that equal arrays give equal bytes
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)

# Names of the safetensors header, as far as NumPy has the type.
_SAFETENSORS_DTYPES: Final = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
}


class WeightsFile(Mapping[str, object]):
    """The arrays of a file by name; `[name]` loads one. Raises `InputError` for what cannot be read."""

    path: str

    def type_of(self, name: str) -> TensorType:
        """Shape and dtype without the values."""
        raise NotImplementedError

    def handle(self, name: str) -> LazyArray:
        """The array, to be loaded later."""
        type = self.type_of(name)
        shape = tuple(d for d in type.shape or () if isinstance(d, int))
        return LazyArray(self, name, shape, numpy_dtype(type.dtype or ""))

    def missing(self, name: str) -> InputError:
        guess = did_you_mean(name, self)
        help = f"did you mean `{guess}`?" if guess else ""
        return InputError(f"unknown array `{name}`", path=self.path, help=help)


@dataclass(frozen=True, slots=True)
class LazyArray:
    """An array in a file that is loaded anew each time: a graph with handles holds no weights in memory."""

    file: WeightsFile = field(repr=False)
    key: str
    shape: tuple[int, ...]
    dtype: Any

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype.itemsize)

    def load(self) -> Any:
        return self.file[self.key]


def open_weights(path: str | Path) -> WeightsFile:
    """The arrays of a file by name; only its table of contents is read now. Raises `InputError`."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        return _Npz(str(path))
    if suffix == ".safetensors":
        return _Safetensors(str(path))
    raise _unknown_suffix(path)


class _Npz(WeightsFile):
    """A NumPy archive: a zip file of `.npy` members."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(open_file(path))
        except FileNotFoundError:
            raise InputError("no such file", path=path) from None
        except Exception as error:  # whatever a damaged archive makes zipfile raise
            raise InputError(f"this is not an .npz file: {error}", path=path) from None
        self._members = {name[:-4]: name for name in self._zip.namelist() if name.endswith(".npy")}
        self._types: dict[str, TensorType] = {}

    def type_of(self, name: str) -> TensorType:
        from numpy.lib import format as npy

        if name in self._types:
            return self._types[name]
        try:
            with self._zip.open(self._members[name]) as file:
                version = npy.read_magic(file)
                if version == (1, 0):
                    shape, _, dtype = npy.read_array_header_1_0(file)
                elif version == (2, 0):
                    shape, _, dtype = npy.read_array_header_2_0(file)
                else:
                    raise ValueError(f"version {version[0]}.{version[1]} of the .npy format")
        except KeyError:
            raise self.missing(name) from None
        except Exception as error:  # whatever a damaged archive makes zipfile, zlib and NumPy raise
            raise InputError(f"the array `{name}` cannot be read: {error}", path=self.path) from None
        if dtype.kind not in _KINDS:
            raise InputError(f"the array `{name}` holds {dtype}, not numbers", path=self.path)
        type = self._types[name] = TensorType(tuple(int(d) for d in shape), dtype.name)
        return type

    def __getitem__(self, name: str) -> Array:
        from numpy.lib import format as npy

        if name not in self._members:
            raise KeyError(name)
        self.type_of(name)
        try:
            with self._zip.open(self._members[name]) as file:
                array = npy.read_array(file, allow_pickle=False)
        except Exception as error:
            raise InputError(f"the array `{name}` cannot be read: {error}", path=self.path) from None
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


class _Safetensors(WeightsFile):
    """A safetensors file, through the package of that name."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            from safetensors import safe_open  # type: ignore[import-not-found]
        except ImportError:
            raise _no_safetensors(path) from None
        if not Path(path).is_file():
            raise InputError("no such file", path=path)
        try:
            file: Any = safe_open(path, framework="numpy")
            self._file = file
            self._names: list[str] = sorted(file.keys())
        except Exception as error:  # the package's own error type, or the system's
            raise InputError(f"this is not a safetensors file: {error}", path=path) from None

    def type_of(self, name: str) -> TensorType:
        if name not in self._names:
            raise self.missing(name)
        part = self._file.get_slice(name)
        dtype = part.get_dtype()
        if dtype not in _SAFETENSORS_DTYPES:
            raise InputError(f"the array `{name}` holds {dtype}, for which NumPy has no type", path=self.path)
        return TensorType(tuple(part.get_shape()), _SAFETENSORS_DTYPES[dtype])

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        self.type_of(name)
        try:
            return self._file.get_tensor(name)
        except ValueError as error:  # of NumPy, for shapes of no elements whose other sizes fit no array
            raise InputError(f"the array `{name}` cannot be read: {error}", path=self.path) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def is_weights_name(path: str | Path) -> bool:
    """True if a file of this name would be a weights file."""
    return Path(path).suffix.lower() in (".npz", ".safetensors")


def _unknown_suffix(path: str | Path) -> InputError:
    return InputError(
        "not the name of a weights file", path=str(path), help="use .npz or .safetensors"
    )


def _no_safetensors(path: str | Path) -> InputError:
    help = "pip install 'gslang[safetensors]', or use .npz"
    return InputError("`.safetensors` files need the package `safetensors`", path=str(path), help=help)


def write_weights(path: str | Path, arrays: Mapping[str, object]) -> None:
    """Write arrays to an `.npz` or `.safetensors` file, atomically, equal arrays with equal bytes.

    Raises `InputError` for another suffix or a file that cannot be written.
    """
    import numpy

    suffix = Path(path).suffix.lower()
    with file_errors(path, "cannot be written"):
        if suffix == ".safetensors":
            try:
                from safetensors.numpy import save  # type: ignore[import-not-found]
            except ImportError:
                raise _no_safetensors(path) from None
            data = save({name: numpy.ascontiguousarray(arrays[name]) for name in sorted(arrays)})
            write_atomically(path, lambda file: file.write(data))
        elif suffix == ".npz":
            write_atomically(path, lambda file: _write_npz(file, arrays))
        else:
            raise _unknown_suffix(path)


def _write_npz(file: Any, arrays: Mapping[str, object]) -> None:
    """As `numpy.savez`, but without the time of day in the archive."""
    import numpy

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name in sorted(arrays):
            buffer = io.BytesIO()
            numpy.lib.format.write_array(
                buffer, numpy.asanyarray(arrays[name]), version=None, allow_pickle=False
            )
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), buffer.getbuffer())


def param_values(graph: Graph) -> dict[str, object]:
    """Name → array of every parameter that something depends on and that has both, in the graph's numbering.
    """
    return {
        name: graph.value(node)
        for node in graph.reverse_post_order()
        if graph.op[node] is PARAM and node in graph.values and (name := graph.names[node]) is not None
    }


def fitting_type(arrays: WeightsFile, name: str, declared: Type | None, path: str | Path) -> TensorType:
    """The type of an array for an input that is declared as `declared`. Raises `InputError` if it does not
    fit.
    """
    found = arrays.type_of(name)
    if (
        isinstance(declared, TensorType) and declared.dtype is not None
        and numpy_dtype_exists(declared.dtype)
        # a type such as bfloat16 is held in a larger one
        and numpy_dtype(declared.dtype).name == found.dtype
    ):
        found = TensorType(found.shape, declared.dtype)
    if why := contradiction(declared, found):
        wanted = declared.dtype if isinstance(declared, TensorType) else None
        raise InputError(
            f"`{name}`: {why} (the graph against this file)", path=str(path),
            help="" if wanted in (None, found.dtype) else f'convert it: array.astype("{wanted}")',
        )
    return found


def attach_params(graph: Graph, path: str | Path) -> None:
    """Give parameters their values by name; arrays stay in the file until they are needed.

    An input whose name is in the file becomes a parameter. Types that the graph leaves open are filled in
    from the file (run `infer_types` afterwards). Raises `InputError` for a name that the graph does not have,
    and for a shape or dtype that does not fit.
    """
    arrays = open_weights(path)
    named = {
        name: node
        for node in graph.nodes() if graph.op[node] in (INPUT, PARAM) and (name := graph.names[node])
    }
    for name in arrays:
        node = named.get(name)
        if node is None:
            guess = did_you_mean(name, named)
            raise InputError(
                f"the graph has no parameter `{name}`", path=str(path),
                help=f"did you mean `{guess}`?" if guess else "",
            )
        declared = graph.types[node]
        found = fitting_type(arrays, name, declared, path)
        if not (isinstance(declared, TensorType) and is_static(declared.shape) and declared.dtype):
            graph.types[node] = refine(found, declared)
        graph.op[node] = PARAM
        graph.values[node] = arrays.handle(name)

"""Weights in `.npz` and `.safetensors` files, read one array at a time, when needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gslang.base.atomic_write import write_atomically
from gslang.base.diagnostics import InputError
from gslang.base.suggest import did_you_mean
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.graph.inference import contradiction


@dataclass(frozen=True, slots=True)
class LazyArray:
    """An array in a file, loaded when it is asked for. `shape` and `dtype` are what the graph says of it."""

    path: str
    key: str
    shape: tuple[int, ...]
    dtype: Any

    def load(self) -> Any:
        """The array. Raises `InputError` if the file does not hold what the graph says."""
        array = read_array(self.path, self.key)
        if tuple(array.shape) != self.shape or array.dtype != self.dtype:
            raise InputError(
                f"`{self.key}` is {array.dtype}{list(array.shape)}, the graph says {self.dtype}{list(self.shape)}", path=self.path
            )
        return array


def read_array(path: str, key: str) -> Any:
    arrays = open_weights(path)
    if key not in arrays:
        guess = did_you_mean(key, arrays)
        raise InputError(f"there is no array `{key}`", path=path, help=f"did you mean `{guess}`?" if guess else "")
    return arrays[key]


def open_weights(path: str | Path) -> Mapping[str, Any]:
    """The arrays of a file by name; each is loaded at its first use. Raises `InputError`."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        return _Npz(str(path))
    if suffix == ".safetensors":
        try:
            from safetensors.numpy import load_file
        except ImportError:
            raise InputError("safetensors files need an extra package", path=str(path), help="pip install 'gslang[safetensors]'") from None
        try:
            loaded: Mapping[str, Any] = load_file(str(path))
            return loaded
        except Exception as error:
            raise InputError(f"not a safetensors file: {error}", path=str(path)) from None
    raise InputError(f"unknown kind of weights file `{suffix}`", path=str(path), help="use .npz or .safetensors")


class _Npz(Mapping[str, Any]):
    """An `.npz` archive; nothing in it is ever unpickled."""

    def __init__(self, path: str) -> None:
        import zipfile

        import numpy

        self.path = path
        try:
            self._file = numpy.load(path, allow_pickle=False)
            self._names = list(self._file.files)
        except FileNotFoundError:
            raise InputError("there is no such file", path=path) from None
        except (OSError, ValueError, zipfile.BadZipFile, AttributeError) as error:
            raise InputError(f"not an .npz file: {error}", path=path) from None

    def __getitem__(self, key: str) -> Any:
        try:
            return self._file[key]
        except KeyError:
            raise
        except Exception as error:
            raise InputError(f"`{key}` cannot be read: {error}", path=self.path) from None

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def write_weights(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays to an `.npz` or `.safetensors` file, atomically and with the same bytes each time."""
    import numpy

    if Path(path).suffix.lower() == ".safetensors":
        try:
            from safetensors.numpy import save
        except ImportError:
            raise InputError("safetensors files need an extra package", path=str(path), help="pip install 'gslang[safetensors]'") from None
        data = save({name: numpy.ascontiguousarray(array) for name, array in arrays.items()})
        write_atomically(path, lambda file: file.write(data))
        return
    write_atomically(path, lambda file: numpy.savez(file, **{name: numpy.asarray(a) for name, a in arrays.items()}))  # type: ignore[arg-type]


def attach_params(graph: Graph, path: str | Path) -> None:
    """Give parameters their values by name. An input whose name is in the file becomes a parameter.

    Raises `InputError` for a name that the graph does not have, and for a shape or type that does not fit.
    """
    arrays = open_weights(path)
    named = {graph.names[node]: node for node in graph.nodes() if graph.op[node] in (INPUT, PARAM)}
    for name in arrays:
        node = named.get(name)
        if node is None:
            guess = did_you_mean(name, [n for n in named if n])
            raise InputError(f"the graph has no parameter `{name}`", path=str(path), help=f"did you mean `{guess}`?" if guess else "")
        array = arrays[name]
        found = TensorType(tuple(array.shape), array.dtype.name)
        declared = graph.types[node]
        if why := contradiction(declared, found):
            raise InputError(f"`{name}`: {why} (graph against file)", path=str(path))
        if not (isinstance(declared, TensorType) and is_static(declared.shape) and declared.dtype):
            graph.types[node] = found
        graph.op[node] = PARAM
        graph.values[node] = array

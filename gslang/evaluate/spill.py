"""Large arrays in a temporary file instead of memory, mapped when somebody reads them: folding does not grow
with the weights.
"""

from __future__ import annotations

from typing import IO, Any, Final

from gslang.base.arrays import Array
from gslang.base.diagnostics import InputError
from gslang.base.file_errors import reason_of

LARGE: Final = 1 << 24  # bytes from which an array is spilled
_PIECE: Final = 1 << 22
_ALIGNMENT: Final = 4096


class Spilled:
    """An array in a file: `shape`, `dtype`, `nbytes`, `load()`. The file goes when the last array in it does.
    """

    __slots__ = ("_file", "_offset", "dtype", "nbytes", "shape")

    def __init__(
        self, file: IO[bytes], offset: int, shape: tuple[int, ...], dtype: object, nbytes: int
    ) -> None:
        self._file, self._offset = file, offset
        self.shape, self.dtype, self.nbytes = shape, dtype, nbytes

    def load(self) -> Any:
        import numpy as np

        return np.memmap(self._file, self.dtype, "r", self._offset, self.shape)  # type: ignore[call-overload]

    def __repr__(self) -> str:
        return f"Spilled({self.dtype}{list(self.shape)})"


class SpillFile:
    """One temporary file (`TMPDIR`) for the large arrays of a run; made when there is one."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def keep(self, value: Any) -> Any:
        """An array, in the file if it is large; tuples part by part.

        Raises `InputError` if the disk is full.
        """
        if isinstance(value, tuple):
            return tuple([self.keep(part) for part in value])
        if value.nbytes < LARGE or value.dtype.hasobject:
            return value
        try:
            return self._written(value)
        except OSError as error:
            import tempfile

            raise InputError(
                f"folded constants cannot be kept: {reason_of(error)}", path=tempfile.gettempdir(),
                help="TMPDIR chooses another folder",
            ) from None

    def _written(self, value: Array) -> Spilled:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="gslang-")
        file = self._file
        file.seek(0, 2)
        offset = file.tell() + -file.tell() % _ALIGNMENT
        file.seek(offset)
        for piece in pieces(value):
            write_piece(file, piece)
        file.truncate()
        file.flush()
        return Spilled(file, offset, tuple(value.shape), value.dtype, int(value.nbytes))


def write_piece(file: IO[bytes], piece: Any) -> None:
    """Write bytes; a piece of zeros becomes a hole. `file.truncate()` has to follow."""
    if len(piece) >= _ALIGNMENT and not any(piece[:64]) and piece == bytes(len(piece)):
        file.seek(len(piece), 1)
    else:
        file.write(piece)


def pieces(array: Any) -> Any:
    """The bytes of an array in C order, a few at a time: a transposed view is never copied whole."""
    import numpy as np

    if array.nbytes <= _PIECE or not array.ndim:
        yield np.ascontiguousarray(array).tobytes()
        return
    if array.flags.c_contiguous:
        flat = array.reshape(-1).view(np.uint8)
        for at in range(0, flat.size, _PIECE):
            yield flat[at : at + _PIECE].tobytes()
        return
    rows = max(1, _PIECE // max(1, array.nbytes // array.shape[0]))
    for at in range(0, array.shape[0], rows):
        part = array[at : at + rows]
        yield from pieces(part if part.shape[0] < array.shape[0] else np.ascontiguousarray(part))


def loaded(value: object) -> Any:
    """The array of a handle, or the array itself; tuples part by part."""
    if isinstance(value, tuple):
        return tuple([loaded(part) for part in value])
    return value.load() if isinstance(value, Spilled) else value

"""Inputs and outputs of `Scan`: which operands it scans, along which axes, in which direction."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass

Place = tuple[int, bool]
"""The axis along which slices lie, and True if the first round has the last of them."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """`states`: how many operands are carried from round to round; the others are scanned (`inputs`).
    `outputs`: of the results behind the states.
    """

    states: int
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]


def scanned(attrs: Attrs, formal: int, results: int) -> Scanned:
    """The form of a `Scan` with `formal` operands of its own and `results` results.

    Raises `ValueError` where its attributes do not fit that.
    """
    states = formal - int(attrs["num_scan_inputs"])
    if not 0 <= states < formal or states > results:
        raise ValueError(f"a scan of {formal} operands has no {states} states")
    return Scanned(
        states,
        _places(attrs.get("scan_input_axes"), attrs.get("scan_input_directions"), formal - states),
        _places(attrs.get("scan_output_axes"), attrs.get("scan_output_directions"), results - states),
    )


def _places(
    axes: Sequence[int] | None, directions: Sequence[int] | None, count: int
) -> tuple[Place, ...]:
    if len(axes or ()) not in (0, count) or len(directions or ()) not in (0, count):
        raise ValueError(f"a scan states axes and directions for each of {count}, or for none")
    return tuple(
        zip([int(axis) for axis in axes or [0] * count], [d == 1 for d in directions or [0] * count])
    )

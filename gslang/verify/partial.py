"""Operators that are not defined for all whole numbers: division by 0, a shift by the width of the type."""

from __future__ import annotations

from typing import Final

DIVISIONS: Final = frozenset(
    {"Div", "Mod", "divide", "floor_divide", "trunc_divide", "mod", "floor_mod", "trunc_mod"}
)
SHIFTS: Final = frozenset({"BitShift", "left_shift", "right_shift"})

"""Python functions that random rules call."""

from __future__ import annotations


def itself(value: bool) -> bool:
    """The condition that it is given."""
    return value

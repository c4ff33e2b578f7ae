"""The parts of checks of operands' shapes: why they do not fit each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gslang.base.open_types import Attrs

Sizes = tuple[int, ...]
Shapes = Sequence[Sizes | None]
Check = Callable[[Shapes, Attrs], str | None]
"""Why the operands of these shapes (None: absent, or not known) do not fit, or None."""


def goes_into(shape: Sizes, whole: Sizes) -> bool:
    """True if a shape broadcasts to another one, which stays as it is."""
    pairs = zip(reversed(shape), reversed(whole))
    return len(shape) <= len(whole) and all(n in (1, m) for n, m in pairs)


def differ(what: str, shape: Sizes | None, wanted: Sizes | None) -> str | None:
    """Why an operand of a shape is not the wanted one."""
    if shape is None or wanted is None or shape == wanted:
        return None
    return f"{what} of {list(shape)} is not of {list(wanted)}"


def first(*reasons: str | None) -> str | None:
    return next((why for why in reasons if why), None)


def of_rank(least: int, *places: int) -> Check:
    """The operands at these places have at least `least` axes."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        few = [shape for k in places if (shape := shapes[k]) is not None and len(shape) < least]
        return f"{list(few[0])} needs at least {least} dimension{'s' * (least > 1)}" if few else None

    return check


def along_last(*places: int) -> Check:
    """The operands at these places are vectors along the last axis of the first one."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        wanted = None if shapes[0] is None else shapes[0][-1:]
        return first(*(differ("a vector", shapes[k], wanted) for k in places))

    return check


def single(what: str, *places: int) -> Check:
    """The operands at these places have one element, and at most one axis."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        several = [shape for k in places if (shape := shapes[k]) not in (None, (), (1,))]
        return f"{what} of {list(several[0] or ())} is not one number" if several else None

    return check

"""Pooling over symbolic tensors: means and largest elements of windows, for every size, stride and padding.

Padding is given. Windows that may reach beyond the padding (`ceil_mode` 1) are read only where they cannot:
in steps of one, or where a single one fits. A largest element is read only where no window lies in the
padding: what stands there is no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Rising, Tensor, Value, World
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number, is_number, product, text_of
from gslang.verify.prove.terms.terms import ONE, ZERO, Term, inverse, of_size, read
from gslang.verify.prove.terms.totals import total
from gslang.verify.prove.terms.uses import rewrite


@dataclass(frozen=True, slots=True)
class _Windows:
    """`shape`: of the result; `kernel`, `steps`, `spreads`, `before`: a number for each axis of an image.

    `rooms`: how far windows can move along each axis, where the number of steps is rounded up.
    """

    x: Tensor
    shape: tuple[Number, ...]
    kernel: tuple[Number, ...]
    steps: tuple[Number, ...]
    spreads: tuple[Number, ...]
    before: tuple[Number, ...]
    rooms: tuple[Number, ...]

    def places(self, index: Index, inside: Sequence[Number]) -> tuple[Number, ...]:
        """The positions along the axes of an image that an element of the window at `index` has."""
        return tuple(
            place * step + k * spread - first
            for place, k, step, spread, first in zip(
                index[2:], inside, self.steps, self.spreads, self.before
            )
        )


def _windows(world: World, x: Tensor, attrs: Attrs) -> _Windows:
    rank, facts = len(x.shape) - 2, world.facts
    world.need_true(rank >= 1, "the rank of an image")
    if attrs["auto_pad"] not in ("NOTSET", "VALID") or attrs["ceil_mode"] and not world.reading:
        raise NotProved("this `auto_pad` or `ceil_mode` of a pooling is not supported")
    kernel = attrs["kernel_shape"]
    world.need_true(kernel is not None and len(kernel) == rank, "the kernel shape of a pooling operator")
    steps, spreads = attrs["strides"] or (1,) * rank, list(attrs["dilations"] or (1,) * rank)
    stated = attrs["pads"] if attrs["auto_pad"] == "NOTSET" else None
    pads = stated or (0,) * (2 * rank)
    world.need_true(len(steps) == len(spreads) == rank and len(pads) == 2 * rank, "the attributes of pooling")
    shape: list[Number] = [*x.shape[:2]]
    rooms: list[Number] = []
    for k, size in enumerate(x.shape[2:]):
        for number in (kernel[k], steps[k], spreads[k]):
            world.need(number - 1, "kernel, stride or dilation of a pooling operator")
        for width in (pads[k], pads[rank + k]):
            world.need(width, "padding")
            _need_narrow(world, kernel[k], width)
        if facts.equal(kernel[k], 1) or facts.equal(spreads[k], 1):
            spreads[k] = 1  # a window of one element has no gaps
        room = facts.normal(size + pads[k] + pads[rank + k] - spreads[k] * (kernel[k] - 1) - 1)
        world.need(room, "input beyond the window")
        count = facts.normal(room // facts.normal(steps[k]) + 1)
        if attrs["ceil_mode"]:
            rooms.append(room)
            # one that begins behind the image is left out: never with less padding than a window reaches over
            behind = facts.at_least(pads[rank + k], spreads[k] * (kernel[k] - 1) + 1)
            least, count = count, facts.size("pooled")
            facts.learn(count - least + int(behind))
            facts.learn(least + 1 - count)
        shape.append(count)
    return _Windows(
        x, tuple(shape), tuple(kernel), tuple(steps), tuple(spreads), tuple(pads[:rank]), tuple(rooms)
    )


def _need_narrow(world: World, window: Number, width: Number) -> None:
    """A padding is narrower than its window, or one of the source: some runtimes do not take others."""
    wide = text_of(world.facts.normal(window - width))
    if world.reading:
        world.paddings.append(window - width)
    elif not any(text_of(world.facts.normal(known)) == wide for known in world.paddings):
        world.need(window - 1 - width, "window beyond the padding")


def _over(
    world: World, kind: str, windows: _Windows, index: Index, outside: bool, ones: bool = False
) -> Term:
    """The sum (or maximum) over a window of the elements in it, or of 1 for each (`ones`). `outside`: the
    padding may be read, as zeros.
    """
    facts, x = world.facts, windows.x
    for room, step in zip(windows.rooms, windows.steps):
        if not (facts.proves(facts.normal(-room)) or facts.proves(facts.normal(1 - step))):
            raise NotProved("pooling with `ceil_mode` is not supported")
    inside = [facts.position(facts.normal(size), bound=True) for size in windows.kernel]
    places = [facts.normal(place) for place in windows.places(index, inside)]
    limits = [
        limit for place, size in zip(places, x.shape[2:])
        for limit in (place, facts.normal(size - 1 - place))
    ]
    if not outside and not all(map(facts.proves, limits)):
        raise NotProved("a window may lie entirely in the padding")
    body = world.inside(limits, lambda: ONE if ones else x.at((*index[:2], *places)), lambda: ZERO)
    variables = tuple(
        (place.text[2:], facts.normal(size)) for place, size in zip(inside, windows.kernel)
    )
    return total(kind, variables, body, facts)


def _average(world: World, operands: Operands, attrs: Attrs) -> Value:
    windows = _windows(world, operands[0], attrs)
    world.need_real(operands[0].dtype)

    def at(index: Index) -> Term:
        count = of_size(world.facts.normal(product(windows.kernel)))
        if not attrs["count_include_pad"]:
            count = _over(world, "sum", windows, index, True, True)
            world.need_defined("!=0", count)  # a window may lie in the padding as a whole
        return _over(world, "sum", windows, index, True) * inverse(count)

    return Tensor(windows.shape, operands[0].dtype, at)


def _largest(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    if world.reading and x.rises is not None:
        return _largest_of_what_rises(world, x, x.rises, attrs)
    if world.pooled and (known := world.pooled.get(_pooling(x, attrs))) is not None:
        return known, Tensor(known.shape, "int64", _places)
    windows = _windows(world, x, attrs)
    y = Tensor(
        windows.shape, operands[0].dtype, lambda index: _over(world, "max", windows, index, False)
    )
    return y, Tensor(windows.shape, "int64", _places)


def _largest_of_what_rises(world: World, x: Tensor, rises: Rising, attrs: Attrs) -> Value:
    """The largest elements of windows, whatever these are: what a function that rises makes of the largest
    elements of its operand, which are read from a tensor of their own.
    """
    facts, base = world.facts, rises.base
    world.need_true(len(x.shape) >= 3, "the rank of an image")
    shape = (*x.shape[:2], *(facts.size("pooled") for _ in x.shape[2:]))
    name = f"pooled{len(world.pooled)}"
    pooled = Tensor(shape, base.dtype, lambda index: read(name, tuple(map(facts.normal, index))))
    world.pooled[_pooling(base, attrs)] = pooled

    def at(index: Index) -> Term:
        if not rises.surely():
            raise NotProved("the maximum of a sequence that may decrease is unknown")
        result = rises.of(pooled.at(index))
        rewrite("largest of what rises", lambda: result, result)  # terms are lowered to this
        return result

    return Tensor(shape, x.dtype, at), Tensor(shape, "int64", _places)


def _pooling(x: Tensor, attrs: Attrs) -> tuple[object, ...]:
    """The same for equal tensors in equal windows."""
    return (id(x), *((name, _written(value)) for name, value in sorted(attrs.items())))


def _written(value: Any) -> object:
    if isinstance(value, (tuple, list)):
        return tuple(map(_written, value))
    if is_number(value):
        return text_of(value)
    if value is None or isinstance(value, str):
        return value
    raise NotProved("an attribute of a pooling operator is unconstrained")


def _places(index: Index) -> Term:
    raise NotProved("the index output of max pooling is not supported")


WINDOWS: dict[str, Meaning] = {"AveragePool": _average, "MaxPool": _largest}

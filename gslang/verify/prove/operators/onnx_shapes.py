"""ONNX operators that speak of shapes, over symbolic tensors: their results are vectors of sizes, or one of
them.
"""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.constants import vector
from gslang.verify.prove.operators.onnx_operands import whole_numbers
from gslang.verify.prove.operators.relay_movement import plain_axis
from gslang.verify.prove.operators.tensors import Meaning, Operands, Tensor, Value, World, constant
from gslang.verify.prove.terms.sizes import product
from gslang.verify.prove.terms.terms import of_size


def _shape(world: World, operands: Operands, attrs: Attrs) -> Value:
    sizes = world.facts.normals(operands[0].shape)
    return vector(sizes[attrs["start"] : attrs["end"]], "int64")


def _size(world: World, operands: Operands, attrs: Attrs) -> Value:
    return constant(of_size(world.facts.normal(product(operands[0].shape))), (), "int64")


def gathered_size(world: World, sizes: Tensor, places: Tensor, axis: int) -> Tensor:
    """One of a vector of sizes, or several: which ones is a case."""
    items = sizes.items or ()
    world.need_true(plain_axis(world, axis, 1) == 0, "the axis of a gather")
    world.need_true(len(items) > 0, "a gather from an empty vector")
    rank, count = len(items), 1 if not places.shape else world.facts.normal(places.shape[0])
    if type(count) is not int:
        count = world.choose_rank()
        world.need_equal(places.shape[0], count, "number of indices")

    def choose() -> tuple[int, ...]:
        return tuple(world.facts.choices.choose(2 * rank) - rank for _ in range(count))

    chosen = whole_numbers(world, places, f"places in {rank}", choose)
    world.need_true(all(-rank <= k < rank for k in chosen), "a gather index out of range")
    found = tuple(items[k] for k in chosen)
    return vector(found, "int64") if places.shape else constant(of_size(found[0]), (), "int64")


SHAPES: dict[str, Meaning] = {"Shape": _shape, "Size": _size}

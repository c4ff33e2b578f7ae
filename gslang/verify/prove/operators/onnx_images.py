"""ONNX operators on whole images, over symbolic tensors: blocks of pixels, and images of another size.

A resized image is a weighted sum of the pixels, axis by axis, whatever the mode: the weight of a pixel is an
unknown function of its place, of that of the result, of both sizes, of the scale and of all attributes that
say how it is computed. Along an axis that keeps its size nothing changes. Where the nearest pixel is taken,
nothing more need be known of sizes, scales and attributes than that they are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_lookups import place_said
from gslang.verify.prove.operators.onnx_operands import operand, whole_numbers
from gslang.verify.prove.operators.onnx_quantised import converted, number_of
from gslang.verify.prove.operators.relay_movement import reshaped, transposed
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.operators.uninterpreted import said
from gslang.verify.prove.terms.dtypes import REAL, settled
from gslang.verify.prove.terms.opaque import Opaque
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import Real, Token, as_term
from gslang.verify.prove.terms.sizes import Number, text_of
from gslang.verify.prove.terms.terms import Term, inverse, of_size, unknown
from gslang.verify.prove.terms.totals import total

# ── blocks of pixels ──


def _need_image(world: World, x: Tensor, attrs: Attrs) -> Number:
    """The width of a block, of an image with four dimensions."""
    world.need_true(len(x.shape) == 4, "the rank of an image")
    size: Number = attrs["blocksize"]
    world.need(size - 1, "block size")
    return size


def _quotient(world: World, size: Number, part: Number) -> Number:
    """`size` divided by `part`, which must divide it."""
    count = world.facts.normal(size) // world.facts.normal(part)
    world.need_equal(count * part, size, "division of an image into blocks")
    return world.facts.normal(count)


def _moved(
    world: World, x: Tensor, parts: Sequence[Number], axes: Sequence[int], shape: Sequence[Number]
) -> Tensor:
    """The elements reshaped to `parts`, transposed by `axes`, reshaped to `shape`."""
    normal = world.facts.normal
    inner = transposed(reshaped(world, x, tuple(map(normal, parts))), axes)
    return reshaped(world, inner, tuple(map(normal, shape)))


def _depth_to_space(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    size = _need_image(world, x, attrs)
    n, c, h, w = x.shape
    depth = _quotient(world, c, size * size)
    shape = (n, depth, h * size, w * size)
    if attrs["mode"] == "CRD":
        return _moved(world, x, (n, depth, size, size, h, w), (0, 1, 4, 2, 5, 3), shape)
    return _moved(world, x, (n, size, size, depth, h, w), (0, 3, 4, 1, 5, 2), shape)


def _space_to_depth(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    size = _need_image(world, x, attrs)
    n, c, h, w = x.shape
    rows, columns = _quotient(world, h, size), _quotient(world, w, size)
    parts = (n, c, rows, size, columns, size)
    axes = (0, 1, 3, 5, 2, 4) if attrs.get("mode") == "CRD" else (0, 3, 5, 1, 2, 4)
    return _moved(world, x, parts, axes, (n, c * size * size, rows, columns))


# ── images of another size ──

# how a place in the result is one in the image
COORDINATES = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
    "tf_crop_and_resize",
)  # fmt: skip


def _resize(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    scales_given = operand(operands, 2)
    if type(attrs["mode"]) is str and attrs["mode"] == "nearest" and (
        isinstance(attrs["axes"], Opaque) or scales_given is not None and scales_given.items is None
    ):
        return _nearest(world, operands, attrs)
    if attrs["axes"] is not None or attrs["keep_aspect_ratio_policy"] != "stretch":
        raise NotProved("`axes` and `keep_aspect_ratio_policy` of `Resize` are not supported")
    shape, scales = _resized(world, x, operand(operands, 2), operand(operands, 3))
    how = f"resize {attrs['mode']} {attrs['coordinate_transformation_mode']} {attrs['nearest_mode']}"
    given = [as_term(attrs[name]) for name in ("antialias", "cubic_coeff_a", "exclude_outside")]

    def at(index: Index) -> Term:
        if attrs["coordinate_transformation_mode"] == "tf_crop_and_resize":
            raise NotProved("resizing part of an image (`tf_crop_and_resize`) is not supported")
        facts = world.facts
        places, variables, weights = list(index), [], []
        for k, (old, new) in enumerate(zip(map(facts.normal, x.shape), map(facts.normal, shape))):
            above, below = map(facts.normal, scales[k])
            if text_of(old) == text_of(new) and text_of(above) == text_of(below):
                continue
            scale = of_size(above) * inverse(of_size(below))
            places[k] = place = facts.position(old, bound=True)
            variables.append((place.text[2:], old))
            weights.append(unknown(how, *given, *map(of_size, (index[k], place, old, new)), scale))
        body = x.at(tuple(places)) if settled(x.dtype) == REAL else number_of(x.at(tuple(places)), x.dtype)
        for weight in weights:
            body = body * weight
        return total("sum", tuple(variables), body, facts) if variables else body

    y = Tensor(tuple(shape), "float32", at)
    rounded = converted(world, y, x.dtype, " resized")
    return Tensor(y.shape, x.dtype, lambda index: (y if settled(x.dtype) == REAL else rounded).at(index))


def _nearest(world: World, operands: Operands, attrs: Attrs) -> Value:
    """An image in which each pixel is one of `x`: the same one wherever operands, attributes and sizes are
    the same.
    """
    x: Tensor = operands[0]
    if attrs["coordinate_transformation_mode"] == "tf_crop_and_resize":
        raise NotProved("resizing part of an image (`tf_crop_and_resize`) is not supported")
    given = [*operands[1:], *[value for _, value in sorted(attrs.items())]]
    key = ("nearest", *map(said, given), *map(text_of, world.facts.normals(x.shape)))
    if key not in world.slices:
        if not world.reading:
            raise NotProved("the target resizes an image otherwise than the source")
        world.kept += given
        world.slices[key] = len(world.slices), tuple([world.facts.size("resized") for _ in x.shape])
    number, shape = world.slices[key]

    def at(index: Index) -> Term:
        places = []
        for axis, size in enumerate(x.shape):
            term = unknown(f"nearest {number} along {axis}", *map(of_size, index))
            place = place_said(world, term, size)
            if place is None:
                raise NotProved("the target takes a pixel that the source does not")
            places.append(place)
        return x.at(tuple(places))

    return Tensor(shape, x.dtype, at)


def _resized(
    world: World, x: Tensor, scales: Tensor | None, sizes: Tensor | None
) -> tuple[tuple[Number, ...], tuple[tuple[Number, Number], ...]]:
    """The sizes of a resized image, and the scale along each axis as a quotient."""
    facts, rank = world.facts, len(x.shape)
    world.need_true((scales is None) != (sizes is None), "a resize with both scales and sizes, or neither")
    if sizes is not None:
        new = whole_numbers(
            world, sizes, f"sizes of {rank}", lambda: tuple(facts.size("resized") for _ in range(rank))
        )
        world.need_true(len(new) == rank, "the number of sizes of a resized image")
        if sizes.leaf is not None:
            world.need_equal(sizes.shape[0], rank, "number of sizes of a resized image")
        for size in new:
            world.need(size - 1, "size of a resized image")
        shape = tuple(map(facts.normal, new))
        return shape, tuple(zip(shape, x.shape))
    assert scales is not None
    if scales.items is None:
        raise NotProved("the scales are unknown")
    world.need_true(len(scales.items) == rank, "the number of scales of a resized image")
    factors = [_whole(factor) for factor in scales.items]
    for factor in factors:
        world.need(factor - 1, "scale of a resized image")
    shape = facts.normals(a * b for a, b in zip(x.shape, factors))
    return shape, tuple((factor, 1) for factor in factors)


def _whole(factor: object) -> Number:
    """A scale that is a whole number. Raises `NotProved` for others."""
    if isinstance(factor, float) and factor.is_integer():
        return int(factor)
    if isinstance(factor, (float, Real, Token)):
        raise NotProved("scales that are not integers are not supported")
    return factor  # type: ignore[return-value]


IMAGES: dict[str, Meaning] = {
    "DepthToSpace": _depth_to_space, "SpaceToDepth": _space_to_depth, "Resize": _resize,
}  # fmt: skip

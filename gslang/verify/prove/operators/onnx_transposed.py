"""ConvTranspose over symbolic tensors: what each input position adds to the positions of its window."""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_arithmetic import with_bias
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number
from gslang.verify.prove.terms.terms import ZERO, Term
from gslang.verify.prove.terms.totals import total


def _conv_transpose(world: World, operands: Operands, attrs: Attrs) -> Value:
    """Data N C …, kernel C O …: y[q] is the sum of x[p]·w[k] over all p and k with p·stride + k·dilation =
    q + the padding before.
    """
    x, w, bias = operands[0], operands[1], operand(operands, 2)
    rank, facts = len(w.shape) - 2, world.facts
    world.need_true(rank >= 1 and len(x.shape) == rank + 2, "the ranks of a convolution's operands")
    world.need_same_dtype(x.dtype, w.dtype)
    if attrs["auto_pad"] != "NOTSET" or attrs["output_shape"] is not None:
        raise NotProved("`auto_pad` and `output_shape` are not supported")
    if attrs["group"] != 1:
        raise NotProved("grouped transposed convolutions are not supported")
    world.need_equal(x.shape[1], w.shape[0], "channels of a convolution")
    if attrs["kernel_shape"] is not None:
        for a, b in zip(attrs["kernel_shape"], w.shape[2:]):
            world.need_equal(a, b, "`kernel_shape`")
    steps, spreads = attrs["strides"] or (1,) * rank, attrs["dilations"] or (1,) * rank
    pads, more = attrs["pads"] or (0,) * (2 * rank), attrs["output_padding"] or (0,) * rank
    shape: list[Number] = [x.shape[0], w.shape[1]]
    for k in range(rank):
        world.need(steps[k] - 1, "stride")
        world.need(spreads[k] - 1, "dilation")
        for width in (pads[k], pads[rank + k], more[k]):
            world.need(width, "padding")
        reach = steps[k] * (x.shape[2 + k] - 1) + spreads[k] * (w.shape[2 + k] - 1) + 1
        shape.append(facts.normal(reach + more[k] - pads[k] - pads[rank + k]))
        world.need(shape[-1], "output size of a transposed convolution")

    def at(index: Index) -> Term:
        sizes = [facts.normal(size) for size in (w.shape[0], *x.shape[2:], *w.shape[2:])]
        channel, *rest = [facts.position(size, bound=True) for size in sizes]
        places, window = rest[:rank], rest[rank:]
        conditions: list[Number] = []
        for k, place in enumerate(index[2:]):
            off = facts.normal(places[k] * steps[k] + window[k] * spreads[k] - pads[k] - place)
            conditions += [off, facts.normal(-off)]
        inside = world.inside(
            conditions, lambda: x.at((index[0], channel, *places)) * w.at((channel, index[1], *window)),
            lambda: ZERO,
        )  # fmt: skip
        names = tuple((p.text[2:], size) for p, size in zip((channel, *rest), sizes))
        return total("sum", names, inside, facts)

    return with_bias(world, Tensor(tuple(shape), x.dtype, at), bias, w.shape[1])


TRANSPOSED: dict[str, Meaning] = {"ConvTranspose": _conv_transpose}

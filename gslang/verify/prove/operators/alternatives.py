"""Attributes of which a rule lists several values: those that mean the same in a call are one case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from gslang.check import checked as ir
from gslang.dialect.bounds import Call
from gslang.dialect.domain import modulus
from gslang.dialect.signature import AttributeSpec, Signature
from gslang.verify.prove.operators.domains import Either, Written
from gslang.verify.prove.operators.onnx_operators import RARELY_ASKED
from gslang.verify.prove.operators.tensors import Tensor, Value
from gslang.verify.prove.terms.paths import OPERATOR, Choices, Impossible


class OneOfAxes(Written):
    """One of several axes, as `values` write them. Which of them are the same axis is asked when the operands
    are computed; which way it is written becomes a case when the rule reads it.
    """

    def __init__(
        self, choices: Choices, values: Sequence[int], signature: Signature, spec: AttributeSpec,
        operands: Sequence[Value],
    ) -> None:
        super().__init__(choices, None, [])
        self.values, self.signature, self.spec, self.operands = values, signature, spec, operands
        self.axis: tuple[int, ...] = ()
        self.found: int | None = None  # as it is written

    @property
    def plain(self) -> object:
        """The axis, counted from the front."""
        rank = self._rank()
        if rank is None:
            return self.resolved()
        if not self.axis:
            written = self.values if self.found is None else (self.found,)
            axes = sorted({axis % rank for axis in written if -rank <= axis < rank})
            if not axes:
                raise Impossible(OPERATOR)
            self.axis = (axes[self.choices.choose(len(axes))],)
        return self.axis[0]

    def resolved(self) -> object:
        """The axis as it is written."""
        if self.found is None:
            rank = self._rank() if self.axis else None
            fitting = [axis for axis in self.values if rank is None or axis % rank == self.axis[0]]
            self.found = fitting[self.choices.choose(len(fitting))]
        return self.found

    def _rank(self) -> int | None:
        """The rank of the tensor whose axis it is."""
        return modulus(self.spec.domain, _ranks(self.signature, self.operands))


def _ranks(signature: Signature, operands: Sequence[Value]) -> Call:
    """The ranks of operands, for bounds of domains."""
    shapes: dict[str, tuple[None, ...]] = {}
    for spec, value in zip(signature.operands, operands):
        first = value[0] if isinstance(value, tuple) and value else value
        if isinstance(first, Tensor):
            shapes[spec.name] = (None,) * len(first.shape)
    return Call(shapes)


def alternatives(
    choices: Choices, test: ir.Test, signature: Signature, spec: AttributeSpec, operands: Sequence[Value],
    numbers: Callable[[], int],
) -> Written | None:
    """The value of an attribute that is one of several constants; None where each of them is a case."""
    if not isinstance(test, ir.OneOf):
        return None
    values = [_constant(part) for part in test.tests]
    if set(values) == {0, 1} and spec.name in RARELY_ASKED:
        return Either(choices, f"any{numbers()}")
    if spec.name == "dilation" and len({item for value in values for item in _items(value)}) == 1:
        alone = [value for value in values if len(_items(value)) == 1]  # it stands for all axes
        return Written(choices, alone[0], [partial(_items, value) for value in values]) if alone else None
    axes = [value for value in values if type(value) is int]
    shown = Call({operand.name: (None,) for operand in signature.operands})
    if len(axes) == len(values) and modulus(spec.domain, shown) is not None:
        return OneOfAxes(choices, axes, signature, spec, operands)
    return None


def _items(value: object) -> tuple[object, ...]:
    """The numbers in a list; a value that is none counts as one."""
    return value if isinstance(value, tuple) else (value,)


def _constant(test: ir.Test) -> object:
    return test.value.value if isinstance(test, ir.Equals) and isinstance(test.value, ir.Const) else None

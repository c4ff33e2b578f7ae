"""Traits of ONNX operators, which the package's schemas do not tell."""

from __future__ import annotations

from typing import Final

_UNARY: Final = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast Ceil Celu Clip Cos Cosh Elu Erf Exp Floor Gelu "
    "HardSigmoid HardSwish Identity IsInf "
    "IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus "
    "Softsign Sqrt Swish Tan Tanh ThresholdedRelu"
).split()
_BINARY: Final = (
    "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Mod "
    "Mul Or PRelu Pow Sub Xor"
).split()
_COMMUTATIVE: Final = "Add And BitwiseAnd BitwiseOr BitwiseXor Equal Mul Or Xor".split()
_ASSOCIATIVE: Final = "Add And BitwiseAnd BitwiseOr BitwiseXor Max Min Mul Or Xor".split()
_N_ARY: Final = "Max Mean Min Sum Where".split()
_IDEMPOTENT: Final = "Abs Ceil Floor Identity Relu Round Sign".split()
_INVOLUTION: Final = "BitwiseNot Identity Neg Not".split()
_MONOTONIC: Final = (  # whatever their attributes: not those with a slope, which may be below 0
    "Asinh Atan Ceil Clip Erf Exp Floor Identity Log Relu Round Sigmoid Sign Sinh Softplus Softsign Sqrt Tanh"
).split()
_INJECTIVE: Final = (
    "DepthToSpace Expand Flatten Gather Identity Reshape Slice SpaceToDepth Squeeze Tile Transpose Unsqueeze"
).split()
_REDUCTION: Final = (
    "ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
    "ReduceSum ReduceSumSquare"
).split()
_STATEFUL: Final = (
    "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike Dropout If Loop "
    "Scan SequenceMap"
).split()

_TABLE: Final = (
    (_UNARY, ("elementwise", "unary")),
    (_BINARY, ("elementwise", "broadcast", "binary")),
    (_N_ARY, ("elementwise", "broadcast")),
    (_COMMUTATIVE, ("commutative",)),
    (_ASSOCIATIVE, ("associative",)),
    (_IDEMPOTENT, ("idempotent",)),
    (_INVOLUTION, ("involution",)),
    (_MONOTONIC, ("monotonic",)),
    (_INJECTIVE, ("injective",)),
    (_REDUCTION, ("reduction",)),
    (_STATEFUL, ("stateful",)),
)


def traits_of(operator: str) -> frozenset[str]:
    """The traits of an operator of the default domain; none for others.

    A body may draw random numbers: stateful.
    """
    return frozenset(trait for operators, traits in _TABLE if operator in operators for trait in traits)

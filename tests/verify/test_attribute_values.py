"""Each value of an attribute that its declaration names, and some other value of each with a declared
domain, occurs in an instance of a call that leaves it open.

`UNREACHED` says which do not, and why: a verdict on a rule that leaves these open names them.
"""

from __future__ import annotations

import pytest

from gslang.dialect.load import load_dialect
from tests.verify.attribute_values import missing

UNREACHED = {
    # no shapes of its operands are proposed
    "CausalConvWithState", "LinearAttention", "MaxRoiPool",
    # what only a model's file holds: tensors and bodies as attributes, texts, element types of sequences
    "Constant", "ConstantOfShape", "If", "Loop", "Optional", "RegexFullMatch", "Scan", "SequenceEmpty",
    "SequenceMap", "device_copy",
    # of the operand that gives sizes, which may be given only where no factors are
    "Resize",
}  # fmt: skip
SOME = {
    "relay": ["nn.conv2d", "nn.avg_pool2d", "take", "image.resize2d", "layout_transform", "topk"],
    "onnx": ["AveragePool", "Pad", "QuantizeLinear", "Unique", "com.microsoft.FusedGemm", "LSTM"],
}


def operators(dialect: str) -> list[str]:
    return [
        name
        for name, signature in sorted(load_dialect(dialect).operators.items())
        if signature.attributes and name not in UNREACHED
        and not name.startswith(("ai.onnx.ml", "ai.onnx.preview"))
    ]


@pytest.mark.parametrize("dialect, name", [(d, name) for d, names in SOME.items() for name in names])
def test_every_value_occurs_for_some(dialect: str, name: str) -> None:
    assert missing(dialect, name) == {}


@pytest.mark.long
@pytest.mark.parametrize("dialect", list(SOME))
def test_every_value_occurs(dialect: str) -> None:
    found = {name: missing(dialect, name) for name in operators(dialect)}
    assert {name: values for name, values in found.items() if values} == {}

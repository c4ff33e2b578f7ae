"""A small ONNX model for each rule of the comparison, and the operators that are left once the rule has been
applied.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import ModelProto, helper, numpy_helper

LEFT = {
    "silu": {"Sigmoid": 1, "Mul": 1},
    "conv_bn": {"Conv": 1},
    "merge_products": {"MatMul": 1, "Split": 1},
    "transposes": {"Relu": 2},
    "gemm_bias": {"Gemm": 2, "Relu": 1},
}


def model(name: str) -> ModelProto:
    """The model for a rule. Weights are initializers."""
    rng = np.random.default_rng(0)
    weights = {key: rng.uniform(0.5, 1.5, shape).astype(np.float32) for key, shape in _WEIGHTS[name].items()}
    weights |= {"one": np.ones((), np.float32)} if name == "silu" else {}
    nodes = [
        helper.make_node(op, inputs.split(), [output], **attributes)
        for op, inputs, output, attributes in _NODES[name]
    ]
    made = {output for node in nodes for output in node.output} - {
        operand for node in nodes for operand in node.input
    }
    shape = _INPUT[name]
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, None) for output in sorted(made)],
        [numpy_helper.from_array(value, key) for key, value in weights.items()],
    )  # fmt: skip
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return onnx.shape_inference.infer_shapes(whole)


_INPUT = {
    "silu": [2, 3],
    "conv_bn": [1, 3, 8, 8],
    "merge_products": [5, 4],
    "transposes": [2, 3, 4],
    "gemm_bias": [2, 3],
}
_WEIGHTS: dict[str, dict[str, tuple[int, ...]]] = {
    "silu": {},
    "conv_bn": {"w": (4, 3, 3, 3), "scale": (4,), "shift": (4,), "mean": (4,), "variance": (4,)},
    "merge_products": {"q": (4, 6), "k": (4, 6), "v": (4, 6)},
    "transposes": {},
    "gemm_bias": {"w": (3, 4), "b": (4,), "k": (4,), "w2": (4, 2), "k2": (2,)},
}
_NODES: dict[str, list[tuple[str, str, str, dict[str, object]]]] = {
    "silu": [
        ("Neg", "x", "n", {}), ("Exp", "n", "e", {}), ("Add", "one e", "s", {}), ("Div", "x s", "y", {}),
    ],
    "conv_bn": [
        ("Conv", "x w", "c", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
        ("BatchNormalization", "c scale shift mean variance", "y", {"epsilon": 1e-3}),
    ],
    "merge_products": [("MatMul", "x q", "y1", {}), ("MatMul", "x k", "y2", {}), ("MatMul", "x v", "y3", {})],
    "transposes": [
        ("Relu", "x", "r", {}), ("Transpose", "r", "t", {"perm": [1, 2, 0]}),
        ("Transpose", "t", "u", {"perm": [2, 0, 1]}), ("Relu", "u", "y", {}),
    ],
    "gemm_bias": [
        ("Gemm", "x w b", "g", {}), ("Add", "g k", "h", {}), ("Relu", "h", "r", {}),
        ("Gemm", "r w2", "g2", {}), ("Add", "g2 k2", "y", {}),
    ],
}

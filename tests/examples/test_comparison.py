"""The rules of docs/comparison.md do the same in each tool that is installed: operators left, and numbers."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from subprocess import run
from types import ModuleType

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import gslang

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "comparison"
NAMES = ("silu", "conv_bn", "merge_products", "transposes", "gemm_bias")


def module(name: str) -> ModuleType:
    """A module of the folder. The test is skipped if the tool that it imports is not installed."""
    spec = importlib.util.spec_from_file_location(f"comparison_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


MODELS = module("models")


def same_numbers(before: onnx.ModelProto, after: onnx.ModelProto) -> bool:
    shape = [dim.dim_value for dim in before.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    return all(
        np.allclose(a, b, rtol=1e-4, atol=1e-4)
        for a, b in zip(
            *(ReferenceEvaluator(model).run(None, {"x": x}) for model in (before, after)), strict=True
        )
    )


@pytest.mark.parametrize("name", NAMES)
def test_gslang(name: str) -> None:
    before = MODELS.model(name)
    rules = gslang.load(FOLDER / "rules.gsl")
    after = rules.apply(before, rules=[name], fold=True).model
    assert (
        Counter(node.op_type for node in after.graph.node if node.op_type != "Constant") == MODELS.LEFT[name]
    )
    assert same_numbers(before, after)


@pytest.mark.parametrize("name", NAMES)
def test_onnxscript(name: str) -> None:
    pytest.importorskip("onnxscript")
    from onnxscript import ir, rewriter

    before = MODELS.model(name)
    after = ir.to_proto(rewriter.rewrite(ir.from_proto(before), module("onnxscript_rules").RULES[name]()))
    # The first nodes that fit the pattern are those of a match: one product three times. Others are not tried
    # when its condition fails.
    left = {"MatMul": 3} if name == "merge_products" else MODELS.LEFT[name]
    assert (
        Counter(node.op_type for node in after.graph.node if node.op_type not in ("Constant", "Identity"))
        == left
    )
    assert same_numbers(before, after)


RELAX = {
    "silu": {"sigmoid": 1, "multiply": 1},
    "conv_bn": {"conv2d": 1, "batch_norm": 0},
    "merge_products": {"matmul": 1},
    "transposes": {"permute_dims": 0, "relu": 2},
}


@pytest.mark.parametrize("name", RELAX)
def test_relax(name: str) -> None:
    pytest.importorskip("tvm.relax")
    from tvm.relax.frontend.onnx import from_onnx

    imported = from_onnx(MODELS.model(name), keep_params_in_input=name == "merge_products")
    after = module("relax_rules").RULES[name](imported)
    operators = Counter(
        binding.value.op.name.rpartition(".")[2]
        for block in after["main"].body.blocks
        for binding in block.bindings if hasattr(getattr(binding.value, "op", None), "name")
    )
    assert {operator: operators[operator] for operator in RELAX[name]} == RELAX[name]


@pytest.mark.parametrize("name", NAMES)
def test_inductor(name: str) -> None:
    torch = pytest.importorskip("torch")
    from torch._inductor.virtualized import V

    models = module("inductor_models")
    traced, inputs, mode = models.model(name)
    before = traced(*inputs)
    with V.set_fake_mode(mode):
        assert module("inductor_rules").RULES[name]().apply(traced.graph)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    called = [node.target.__name__ for node in traced.graph.nodes if node.op == "call_function"]
    operators = Counter(name.partition(".")[0] for name in called)
    assert {operator: operators[operator] for operator in models.LEFT[name]} == models.LEFT[name]
    assert all(map(partial(torch.allclose, atol=1e-4), tensors(before), tensors(traced(*inputs))))


def tensors(result: object) -> list[object]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def output_of(program: str, *arguments: str) -> str:
    """The output of a program of MLIR, which Debian installs with its version in its name.

    The test is skipped if it is not installed.
    """
    names = [program, *(f"{program}-{version}" for version in range(25, 15, -1))]
    installed = [name for name in names if shutil.which(name)]
    if not installed:
        pytest.skip(f"{program} is not installed")
    return run([installed[0], *arguments], check=True, capture_output=True, text=True).stdout


def compiled_pdll() -> str:
    return output_of("mlir-pdll", "-x=mlir", str(FOLDER / "rules.pdll"))


def test_pdll_compiles() -> None:
    assert compiled_pdll().count("pdl.pattern @") == 8


SILU_IN_MLIR = """module @ir {
  func.func @silu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    %n = "onnx.Neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %e = "onnx.Exp"(%n) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %s = "onnx.Add"(%one, %e) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %y = "onnx.Div"(%x, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
"""


def test_pdll_runs(tmp_path: Path) -> None:
    """The patterns without C++ run in a test pass of `mlir-opt`."""
    compiled = re.sub(r" loc\(#loc\d*\)", "", compiled_pdll())
    patterns = re.findall(r"^  pdl\.pattern @Silu.*?^  }$", compiled, re.DOTALL | re.MULTILINE)
    file = tmp_path / "silu.mlir"
    file.write_text("\n".join(["module @patterns {", *patterns, "}", SILU_IN_MLIR]), encoding="utf-8")
    after = output_of("mlir-opt", "--allow-unregistered-dialect", "--test-pdl-bytecode-pass", str(file))
    assert len(patterns) == 2 and "onnx.Sigmoid" in after and "onnx.Mul" in after
    assert "onnx.Div" not in after

"""Models that PyTorch's exporters wrote: what the pass for onnxruntime leaves of them, and that the numbers
stay.

`python -m benchmarks.exports tests/onnx/exports --out FOLDER` prints the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.exports import fused, measure

FOLDER = Path(__file__).parent / "exports"

# Nodes left at most, and operators of each kind that there must be.
LEFT = {
    "bert.dy18.dynamic.sdpa.mask.f32": (25, {"attention": 2, "norm": 5, "activation": 2}),
    "bert.ts17.dynamic.sdpa.mask.f32": (42, {"attention": 2, "norm": 5, "activation": 2}),
    "vit.dy18.dynamic.sdpa.nomask.f32": (26, {"attention": 2, "norm": 5, "activation": 2}),
    "llamakv.dy18.dynamic.sdpa.mask.f32": (79, {"attention": 2, "norm": 5, "activation": 2, "rotary": 4}),
    "whisperdec.dy20.static.eager.nomask.f32": (26, {"attention": 4, "norm": 7, "activation": 2}),
    "gpt2.ts17.static.eager.nomask.f32": (18, {"attention": 2, "norm": 5, "activation": 2}),
    "torchenc.ts17.static.eager": (22, {"attention": 2, "norm": 4, "activation": 2}),
    "torchenc.dy18.dynamic.sdpa.f32": (14, {"attention": 2, "norm": 4, "activation": 2}),
    "torchmha.dy18.dynamic.mask.f32": (29, {"norm": 1}),
    "gptneo.ts17.static.eager": (24, {"attention": 2, "norm": 5, "activation": 2}),
    "roformer.ts17.static.eager": (30, {"attention": 2, "norm": 5, "activation": 2, "rotary": 4}),
    "squeezebert.ts17.static.eager": (54, {"attention": 2, "norm": 5, "activation": 2}),
    "esm.ts17.static.eager": (33, {"attention": 2, "norm": 5, "activation": 2, "rotary": 4}),
    "resnet.ts17.static.f32.qdq": (25, {}),
    "mobilenetv2.ts18.dynamic.f32": (64, {}),
}


@pytest.mark.parametrize("name", LEFT)
def test_exported_models(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    outcome = measure(FOLDER, tmp_path, "onnxruntime", "std.onnxruntime", name)
    most, kinds = LEFT[name]
    assert not outcome.failure and outcome.differences and outcome.equal, (
        outcome.failure, outcome.differences,
    )
    assert outcome.nodes <= most, outcome.operators
    found = fused(outcome.operators)
    assert {kind: found[kind] for kind in kinds} == kinds
    assert outcome.bytes[1] <= outcome.bytes[0] * 1.05

"""Models as PyTorch's exporters write them: `python export.py FOLDER [--only NAME...]`, in an environment
with torch and transformers.

Each file is called `NETWORK.EXPORTER.DYNAMIC.ATTENTION.onnx`: `ts17` is the TorchScript exporter at operator
set 17, `dy20` the newer one at 20. Beside them stand `make_inputs.py` and `inputs/`, so that `python -m
benchmarks.exports FOLDER --out RESULTS` reads the folder. `make exports` does both.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from make_inputs import make_inputs
from networks import NETWORKS, Network

SIZES = {"b": 2, "s": 12, "p": 7, "t": 8, "d": 5}
VARIANTS = [
    ("ts", 17, False, "eager"), ("ts", 17, True, "sdpa"), ("dy", 18, True, "sdpa"),
    ("dy", 20, False, "eager"), ("dy", 23, True, "eager"),
]
"""Exporter, operator set, whether dimensions are dynamic, implementation of attention."""


def with_random_parts(network: torch.nn.Module) -> torch.nn.Module:
    """The network with random norms, biases and statistics, so that nothing is an identity by chance."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
            if not tensor.is_floating_point() or "inv_freq" in name:
                continue
            if tensor.ndim == 1:
                tensor.copy_(
                    torch.rand_like(tensor) * 0.5 + 0.75 if "weight" in name or "var" in name
                    else torch.randn_like(tensor) * 0.1
                )
    return network.eval()


def export(
    network: Network, exporter: str, opset: int, dynamic: bool, attention: str, target: Path
) -> dict[str, Any]:
    """Write one model; the specification of its inputs."""
    torch.manual_seed(0)
    spec = {"inputs": network.inputs, "sizes": SIZES, "dynamic": dynamic, "opset": opset}
    given = tuple(torch.from_numpy(np.asarray(v)) for v in make_inputs(spec).values())
    names = [name for name, _, _ in network.inputs]
    free = {
        name: {k: d for k, d in enumerate(shape) if isinstance(d, str)} for name, _, shape in network.inputs
    }
    options: dict[str, Any] = {"input_names": names, "opset_version": opset}
    if exporter == "ts":
        options |= {"dynamo": False, "dynamic_axes": free if dynamic else None}
    else:
        shapes = tuple(
            {
                k: torch.export.Dim(d, min=2, max=64) if d != "b" else torch.export.Dim("b")
                for k, d in free[n].items()
            }
            for n in names
        )
        options |= {
            "dynamo": True,
            "external_data": False,
            "dynamic_shapes": (shapes,) if dynamic else None,
            "verbose": False,
        }
    with torch.no_grad():
        torch.onnx.export(with_random_parts(network.make(attention)), given, str(target), **options)
    return spec


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="networks whose names begin so")
    parser.add_argument(
        "--variants", nargs="*", default=[],
        help="variants whose names contain one of these: ts17, dynamic, eager …",
    )
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.backends.mha.set_fastpath_enabled(False)  # one operator, which no exporter knows
    (given.folder / "inputs").mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).parent / "make_inputs.py", given.folder)
    failed = 0
    for name, network in NETWORKS.items():
        if given.only and not name.startswith(tuple(given.only)):
            continue
        for exporter, opset, dynamic, attention in VARIANTS:
            full = f"{name}.{exporter}{opset}.{'dynamic' if dynamic else 'static'}.{attention}"
            if given.variants and not any(part in full.split(".") for part in given.variants):
                continue
            try:
                spec = export(network, exporter, opset, dynamic, attention, given.folder / f"{full}.onnx")
            except Exception as error:  # exporters fail in many ways, each of which leaves the others to do
                failed += 1
                print(
                    f"{full}: {type(error).__name__}: {str(error).strip().splitlines()[:1]}", file=sys.stderr,
                    flush=True,
                )
                continue
            (given.folder / "inputs" / f"{full}.json").write_text(json.dumps(spec) + "\n", encoding="utf-8")
            print(full, flush=True)
    print(f"{failed} exports failed" if failed else "all exported")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

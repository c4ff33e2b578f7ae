"""How many nodes of ONNX models gslang and five other tools leave, and whether the numbers stay: docs/onnx-comparison.md.

`python -m benchmarks.onnx_models` (`make onnx-table`) writes the table; with `--only` or `--scale` it only prints it. Every tool runs
in a process of its own. Numbers are compared in onnxruntime with all its optimizations off, on random inputs. Speed is not
measured here (see `bench`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "onnx-comparison.md"
SCALE: Final = 2
"""What divides the networks' widths, so that the table takes half an hour: structure and node counts of convolutional networks
are the real ones, transformers have 2 layers of 12."""
SECONDS: Final = 900
"""Limit of one tool on one model."""
TOLERANCE: Final = 1e-3
"""Largest difference that counts as equal, relative to the largest number of the result (fusions round differently)."""
SIDES: Final = {"batch": 2, "length": 7}
"""What dynamic dimensions are when numbers are compared."""


# The tools: each reads a model from a file and writes one.


def _gslang(source: str, target: str, pass_name: str, module: str = "std.onnx") -> None:
    import gslang

    result = gslang.load(module).apply(gslang.read(source), pass_name=pass_name, fold_limit=None)  # constants of any size, as the others do
    gslang.write(result.graph, target)


def _onnxsim(source: str, target: str) -> None:
    import onnx
    import onnxsim

    simplified, _ = onnxsim.simplify(onnx.load(source))
    onnx.save(simplified, target)


def _onnxslim(source: str, target: str) -> None:
    import onnx
    import onnxslim

    onnx.save(onnxslim.slim(onnx.load(source)), target)


def _onnxoptimizer(source: str, target: str) -> None:
    import onnx
    import onnxoptimizer

    model = onnxoptimizer.optimize(onnx.load(source), onnxoptimizer.get_fuse_and_elimination_passes(), fixed_point=True)
    onnx.save(model, target)


def _onnxscript(source: str, target: str) -> None:
    import onnx
    import onnxscript.optimizer
    import onnxscript.rewriter

    model = onnxscript.rewriter.rewrite(onnxscript.optimizer.optimize(onnx.load(source), num_iterations=4))
    onnx.save(onnxscript.optimizer.optimize(model), target)


def _onnxruntime(source: str, target: str) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = target
    options.log_severity_level = 3
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


TOOLS: Final[dict[str, Callable[[str, str], None]]] = {
    "gslang inference": partial(_gslang, pass_name="inference"),
    "gslang transformers": partial(_gslang, pass_name="transformers"),
    "gslang onnxruntime": partial(_gslang, pass_name="onnxruntime", module="std.onnxruntime"),
    "onnxsim": _onnxsim,
    "onnxslim": _onnxslim,
    "onnxoptimizer": _onnxoptimizer,
    "onnxscript": _onnxscript,
    "onnxruntime basic": _onnxruntime,
}
OURS: Final = ("gslang inference", "gslang transformers")
FOR_ONNXRUNTIME: Final = "gslang onnxruntime"


# The models.


def models(scale: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name and maker of each model: networks with static and dynamic batch, then those that come with the `onnx` package."""
    from tests.onnx.networks import NETWORKS

    newer = {"bert": 23, "gpt2": 23}
    for name, generate in NETWORKS.items():
        for batch in (1, "batch"):
            suffix = "" if batch == 1 else ", dynamic"
            yield f"{name}{suffix}", partial(generate, scale, batch)
            if name in newer:
                yield f"{name}, operator set {newer[name]}{suffix}", partial(generate, scale, batch, opset=newer[name])
    import onnx

    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    for path in sorted(folder.glob("light_*.onnx")):
        yield path.stem, partial(_with_fixed_weights, path)


def _with_fixed_weights(path: Path) -> Any:
    """A model whose initializers are no inputs: as inputs they could be other ones at run time, and some tools fold them, some do not."""
    import onnx

    model = onnx.load(path)
    fixed = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in fixed]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 4)
    return model


# Judging a result.


@dataclass(frozen=True)
class Outcome:
    """What a tool made of a model. `difference` is relative to the largest number; `failure` says why there is none."""

    nodes: int = 0
    seconds: float = 0.0
    difference: float = float("nan")
    failure: str = ""
    operators: tuple[tuple[str, int], ...] = ()

    @property
    def equal(self) -> bool:
        return not self.failure and self.difference <= TOLERANCE


def count(model: Any) -> Counter[str]:
    """Nodes by operator, without `Constant`, which is another notation for an initializer."""
    return Counter(node.op_type for node in model.graph.node if node.op_type != "Constant")


def feeds_of(model: Any) -> dict[str, Any]:
    import numpy as np

    random, given, feeds = np.random.default_rng(0), {t.name for t in model.graph.initializer}, {}
    for value in model.graph.input:
        if value.name in given:
            continue
        tensor = value.type.tensor_type
        shape = [d.dim_value or SIDES.get(d.dim_param, 2) for d in tensor.shape.dim]
        whole = tensor.elem_type != 1
        feeds[value.name] = random.integers(0, 2, shape) if whole else random.standard_normal(shape).astype(np.float32)
    return feeds


def run(path: Path, feeds: dict[str, Any]) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    found: list[Any] = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)
    return found


def difference(before: list[Any], after: list[Any]) -> float:
    """The largest difference, relative to the largest number of its result."""
    import numpy as np

    worst = 0.0
    for a, b in zip(before, after, strict=True):
        if a.shape != b.shape or bool((np.isnan(a) != np.isnan(b)).any()):
            return float("inf")
        size = float(np.nanmax(np.abs(a))) if a.size else 0.0
        worst = max(worst, float(np.nanmax(np.abs(a - b))) / (size or 1.0) if a.size else 0.0)
    return worst


def measure(tool: str, source: Path, expected: list[Any], feeds: dict[str, Any], folder: Path) -> Outcome:
    import onnx

    target = folder / "out.onnx"
    target.unlink(missing_ok=True)
    began = perf_counter()
    command = [sys.executable, "-m", "benchmarks.onnx_models", "--tool", tool, "--files", str(source), str(target)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(failure=f"more than {SECONDS} s")
    seconds = perf_counter() - began
    if not target.exists():
        lines = done.stderr.strip().splitlines()
        return Outcome(failure=lines[-1][:200] if lines else f"exit code {done.returncode}")
    after = onnx.load(target)
    nodes = count(after)
    try:
        if tool in OURS:
            onnx.checker.check_model(str(target), full_check=True)
        far = difference(expected, run(target, feeds))
    except Exception as error:  # whatever a runtime raises for a model that it cannot load
        return Outcome(sum(nodes.values()), seconds, failure=str(error).splitlines()[0][:200])
    return Outcome(sum(nodes.values()), seconds, far, "", tuple(sorted(nodes.items())))


# The page.


def page(rows: dict[str, tuple[int, dict[str, Outcome]]]) -> str:
    tools = ["gslang", *(name for name in TOOLS if not name.startswith("gslang"))]
    lines = [
        "# Nodes left", "",
        "Written by `make onnx-table`. Nodes without `Constant`s that each tool leaves of a model; **bold**: no tool leaves fewer. `≠`: the numbers differ",
        f"by more than {TOLERANCE} of the largest; `–`: the tool or onnxruntime fails on it. gslang: the better of the passes `inference` and `transformers`",
        "of `std.onnx`, with `--fold-limit none`, as the other tools fold. Dynamic: the batch (and the length, where there is one) is a symbol.",
        "The networks are those of `tests/onnx/networks` with half their widths, transformers with 2 layers; `light_*` come with the `onnx` package, their",
        "initializers taken out of the inputs. Numbers are compared in onnxruntime without optimizations. Fewer nodes are no promise of less time.", "",
        ", ".join(f"{name} {version(name)}" for name in ("onnx", "onnxsim", "onnxslim", "onnxoptimizer", "onnxscript", "onnxruntime")) + ".", "",
        "| model | before | " + " | ".join(tools) + " |",
        "|---|---" + "|---" * len(tools) + "|",
    ]  # fmt: skip
    won = equal = 0
    for name, (before, found) in rows.items():
        best = {tool: outcome for tool, outcome in found.items() if not tool.startswith("gslang")}
        ours = [outcome for tool, outcome in found.items() if tool in OURS and outcome.equal]
        best["gslang"] = min(ours, key=lambda o: o.nodes) if ours else found[OURS[0]]
        fewest = min((o.nodes for o in best.values() if o.equal), default=0)
        won += best["gslang"].equal and best["gslang"].nodes == fewest
        equal += best["gslang"].equal
        lines.append(f"| {name} | {before} | " + " | ".join(_cell(best[tool], fewest) for tool in tools) + " |")
    lines += ["", f"With operators of onnxruntime alone (`com.microsoft`), the pass `onnxruntime` of `std.onnxruntime`: {_own(rows)}."]
    lines += ["", f"gslang leaves no more nodes than the best of the others on {won} of {len(rows)} models; its numbers are equal on {equal}.", ""]
    return "\n".join(lines)


def _own(rows: dict[str, tuple[int, dict[str, Outcome]]]) -> str:
    """Nodes left by the pass that is for onnxruntime alone, of the networks."""
    found = [
        (name, outcomes[FOR_ONNXRUNTIME]) for name, (_, outcomes) in rows.items() if not name.startswith("light") and FOR_ONNXRUNTIME in outcomes
    ]
    return ", ".join(f"{name} {outcome.nodes if outcome.equal else '≠'}" for name, outcome in found)


def _cell(outcome: Outcome, fewest: int) -> str:
    if outcome.failure:
        return "–"
    if not outcome.equal:
        return f"{outcome.nodes} ≠"
    return f"**{outcome.nodes}**" if outcome.nodes == fewest else str(outcome.nodes)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scale", type=int, default=SCALE, help=f"narrower networks ({SCALE}; 1: real widths and depths, which takes hours)")
    parser.add_argument("--only", nargs="*", default=[], help="models whose names begin so")
    parser.add_argument("--tools", nargs="*", default=list(TOOLS), help="these tools alone")
    parser.add_argument("--details", metavar="FILE", help="outcomes as JSON")
    parser.add_argument("--tool", choices=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--files", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.tool:
        TOOLS[given.tool](*given.files)
        return 0
    import onnx

    rows: dict[str, tuple[int, dict[str, Outcome]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in models(given.scale):
            if given.only and not name.startswith(tuple(given.only)):
                continue
            source, model = Path(folder) / "in.onnx", make()
            onnx.save(model, source)
            feeds = feeds_of(model)
            expected = run(source, feeds)
            before = sum(count(model).values())
            outcomes = {tool: measure(tool, source, expected, feeds, Path(folder)) for tool in given.tools}
            rows[name] = before, outcomes
            for tool, outcome in outcomes.items():
                said = outcome.failure or f"{outcome.nodes} nodes, difference {outcome.difference:.1e}, {outcome.seconds:.1f} s"
                print(f"{name}: {before} | {tool}: {said}", flush=True)
    if given.details:
        plain = {name: {tool: {**vars(o), "operators": dict(o.operators)} for tool, o in found.items()} for name, (_, found) in rows.items()}
        Path(given.details).write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    if not given.only and given.scale == SCALE and list(given.tools) == list(TOOLS):
        PAGE.write_text(page(rows), encoding="utf-8")
    elif set(given.tools) == set(TOOLS):
        print(page(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

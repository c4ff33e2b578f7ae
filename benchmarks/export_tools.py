"""What other tools leave of a folder of exported models: its `table.tsv`, which `benchmarks.exports` compares
with.

`python -m benchmarks.export_tools FOLDER` runs seven tools on each model, each in a process of its own, and
writes a row for each: nodes without `Constant`, seconds, fused operators, and the largest relative difference
of the results (onnxruntime's optimizations off), or why there is none.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from benchmarks.exports import KINDS, difference, feeds, operators, session

SECONDS: Final = 300
"""Limit of one tool on one model."""


def _onnxslim(source: str, target: str) -> None:
    import onnx
    import onnxslim

    onnx.save(onnxslim.slim(onnx.load(source)), target)


def _onnxsim(source: str, target: str) -> None:
    import onnx
    import onnxsim

    onnx.save(onnxsim.simplify(onnx.load(source))[0], target)


def _onnxruntime(level: str) -> Callable[[str, str], None]:
    def run(source: str, target: str) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        options.optimized_model_filepath = target
        options.log_severity_level = 4
        onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])

    return run


def _onnxruntime_transformers(source: str, target: str) -> None:
    """Its script for transformers, with the type of model that the file's name tells, or several: the one
    that leaves least.
    """
    import onnx
    from onnxruntime.transformers import optimizer

    least = None
    for kind in ("bert", "gpt2", "t5", "vit", "unet", "clip"):
        try:
            found = optimizer.optimize_model(source, model_type=kind, opt_level=0, num_heads=0, hidden_size=0)
        except Exception:  # one that does not fit fails in its own way
            continue
        if least is None or len(found.model.graph.node) < len(least.graph.node):
            least = found.model
    if least is not None:
        onnx.save(least, target)


def _onnxscript(source: str, target: str) -> None:
    import onnx
    import onnxscript.optimizer
    import onnxscript.rewriter

    model = onnxscript.rewriter.rewrite(onnxscript.optimizer.optimize(onnx.load(source), num_iterations=4))
    onnx.save(onnxscript.optimizer.optimize(model), target)


def _onnxscript_for_onnxruntime(source: str, target: str) -> None:
    import onnx
    import onnx_ir
    from onnxscript.rewriter.ort_fusions import optimize_for_ort

    model = onnx_ir.serde.deserialize_model(onnx.load(source))
    made = optimize_for_ort(model)
    onnx.save(onnx_ir.serde.serialize_model(made[0] if isinstance(made, tuple) else made), target)


TOOLS: Final[dict[str, Callable[[str, str], None]]] = {
    "onnxslim": _onnxslim,
    "onnxsim": _onnxsim,
    "ort1": _onnxruntime("ORT_ENABLE_BASIC"),
    "ort2": _onnxruntime("ORT_ENABLE_EXTENDED"),
    "ort.transformers": _onnxruntime_transformers,
    "onnxscript": _onnxscript,
    "onnxscript.ort": _onnxscript_for_onnxruntime,
}


def row(folder: Path, name: str) -> dict[str, str]:
    """What each tool makes of a model."""
    import onnx

    source = folder / f"{name}.onnx"
    found = {"name": name, "nodes": str(operators(onnx.load(source)).total())}
    try:
        given = list(feeds(folder, name))
        expected = [session(str(source), optimized=False).run(None, inputs) for _, inputs in given[:2]]
    except Exception as error:  # some exports run nowhere
        expected, given = [], []
        print(f"{name}: not run: {str(error).splitlines()[0][:120]}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as place:
        for tool in TOOLS:
            target = Path(place) / "out.onnx"
            target.unlink(missing_ok=True)
            child = get_context("spawn").Process(target=_quietly, args=(tool, str(source), str(target)))
            began = perf_counter()
            child.start()
            child.join(SECONDS)
            if child.is_alive():
                child.kill()
            found[f"{tool} s"] = f"{perf_counter() - began:.2f}"
            if not target.exists():
                found[tool], found[f"{tool} numbers"] = "-", "FAILS"
                continue
            nodes = operators(onnx.load(target))
            found[tool] = str(nodes.total())
            found[f"{tool} fused"] = _fused(nodes)
            found[f"{tool} numbers"] = _numbers(target, [inputs for _, inputs in given[:2]], expected)
    return found


def _quietly(tool: str, source: str, target: str) -> None:
    sys.stdout = sys.stderr = open("/dev/null", "w", encoding="utf-8")
    TOOLS[tool](source, target)


def _fused(nodes: Counter[str]) -> str:
    known = {name for names in KINDS.values() for name in names}
    return " ".join(
        f"{name}:{count}" for name, count in sorted(nodes.items()) if name.removeprefix("ms.") in known
    )


def _numbers(target: Path, given: list[dict[str, Any]], expected: list[list[Any]]) -> str:
    try:
        made = session(str(target), optimized=False)
        differences = (difference(a, made.run(None, inputs)) for inputs, a in zip(given, expected))
        return f"{max(differences, default=0.0):.1e}"
    except Exception as error:
        return f"FAILS {str(error).splitlines()[0][:100]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--only", nargs="*", default=[], help="models whose names contain one of these; rows of others stay"
    )
    given = parser.parse_args()
    path = given.folder / "table.tsv"
    rows: dict[str, dict[str, str]] = {}
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            rows = {found["name"]: dict(found) for found in csv.DictReader(lines, delimiter="\t")}
    for model in sorted(given.folder.glob("*.onnx")):
        if given.only and not any(part in model.stem for part in given.only):
            continue
        rows[model.stem] = rows.get(model.stem, {}) | row(given.folder, model.stem)
        print(model.stem, *(f"{tool} {rows[model.stem][tool]}" for tool in TOOLS), sep="  ", flush=True)
        columns = list(dict.fromkeys(column for found in rows.values() for column in found))
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, columns, delimiter="\t", lineterminator="\n", restval="")
            writer.writeheader()
            writer.writerows(rows[name] for name in sorted(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

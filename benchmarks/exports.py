"""What a pass leaves of a folder of exported models, beside what other tools leave, and whether the numbers
stay.

`python -m benchmarks.exports FOLDER` prints a line for each model of the folder: nodes before, nodes left,
the fewest that another tool leaves (`table.tsv` of the folder, if it has one), the largest relative
difference of the results, and what kinds of operators another tool fused more of. Numbers are compared in
onnxruntime, its optimizations off and on, with inputs made by the folder's `make_inputs.py` from
`inputs/NAME.json`; models with dynamic dimensions run with two sets of sizes. `--page FILE` writes the same
as a page (`make onnx-table`), with the time that models take in onnxruntime at its default level, as `gslc
bench` measures it.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

TOLERANCE: Final = 1e-3
"""Largest difference that counts as equal, relative to the largest number of the result."""
HALF_TOLERANCE: Final = 1e-2
"""The same where the results are of half precision, or computed from quantized numbers."""
OTHERS: Final = ("onnxslim", "onnxsim", "ort1", "ort2", "ort.transformers", "onnxscript", "onnxscript.ort")
"""Columns of `table.tsv`: nodes that other tools leave; beside each stand `… fused` and `… numbers`."""
EXPLANATION: Final = """\
Written by `make onnx-table`. The models are small networks written by PyTorch's exporters
(`examples/exports` creates such files). Each name contains the exporter (`ts`: TorchScript, `dy`: the newer
one) and the operator set.

* The columns of tools give the number of nodes left, not counting `Constant` nodes, and the seconds taken in
  parentheses. **Bold**: no tool leaves fewer. `–`: the tool, or onnxruntime on its output, fails.
* `gslang` is the pass `onnxruntime` of `std.onnxruntime`. Its seconds include loading the rules, and reading,
  rewriting and writing the model; the other tools were timed in another run.
* `fused` counts its operators for attention (a), norms (n), activations (f) and rotary positions (r).
* `difference` is the largest difference of results, relative to the largest number, over several inputs, with
  onnxruntime's optimizations off and on. For a quantized model, the number in parentheses, if it is larger
  than 0.01, is the difference between the results of the original model with optimizations off and on:
  onnxruntime's products of 8-bit integers saturate on processors without instructions for them.
* `latency` is the change in running time in onnxruntime at its default level, which performs many of these
  fusions itself, as measured by `gslc bench`: longer (`+`), shorter (`-`), or within noise (`=`). The machine
  was also doing other work, which may account for a few per cent.
"""
"""The text before the table of the page."""
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "attention": ("Attention", "MultiHeadAttention", "GroupQueryAttention", "QAttention"),
    "norm": (
        "LayerNormalization", "RMSNormalization", "GroupNormalization", "SimplifiedLayerNormalization",
        "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "GroupNorm", "SkipGroupNorm",
        "EmbedLayerNormalization",
    ),
    "activation": ("Gelu", "BiasGelu", "FastGelu", "QuickGelu", "HardSwish", "Mish", "Swish"),
    "rotary": ("RotaryEmbedding",),
}
"""Operators that do the same work, under the name of what they do."""


PACKAGES: Final = "<!-- packages -->\n"
"""Begins the part of the page that `benchmarks.packages` writes."""
LETTERS: Final = {"attention": "a", "norm": "n", "activation": "f", "rotary": "r"}


@dataclass(frozen=True)
class Outcome:
    """What the pass made of a model.

    `differences`: by set of inputs and level of onnxruntime; `failure` says why there is none. `own`: the
    largest difference between those levels on the model before, if it is quantized.
    """

    before: int
    nodes: int
    bytes: tuple[int, int]
    seconds: float
    operators: Mapping[str, int]
    differences: Mapping[str, float]
    failure: str = ""
    tolerance: float = TOLERANCE
    own: float = 0.0
    latency: str = ""

    @property
    def equal(self) -> bool:
        least = max(self.tolerance, self.own)
        return not self.failure and all(d <= least for d in self.differences.values())


def named(node: Any) -> str:
    """An operator as `table.tsv` spells it."""
    return (
        node.op_type if node.domain in ("", "ai.onnx")
        else f"ms.{node.op_type}" if node.domain == "com.microsoft"
        else f"{node.domain}.{node.op_type}"
    )


def operators(model: Any) -> Counter[str]:
    """Nodes by operator, without `Constant`, which is another notation for an initializer."""
    return Counter(named(node) for node in model.graph.node if node.op_type != "Constant")


def fused(found: Mapping[str, int]) -> Counter[str]:
    """How many operators of each kind there are."""
    return Counter({
        kind: sum(found.get(name, 0) + found.get(f"ms.{name}", 0) for name in names)
        for kind, names in KINDS.items()
    })


def session(source: Any, optimized: bool) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def difference(before: list[Any], after: list[Any], least: float = 0.0) -> float:
    """The largest difference, relative to the largest number of its result, or to `least` if that is more."""
    import numpy as np

    worst = 0.0
    for a, b in zip(before, after, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        if not a.size:
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        if bool((np.isnan(a) != np.isnan(b)).any()):
            return float("inf")
        size = float(np.nanmax(np.abs(a)))
        worst = max(worst, float(np.nanmax(np.abs(a - b))) / (max(size, least) or 1.0))
    return worst


def feeds(folder: Path, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Sets of inputs of a model, each with a name."""
    source = folder / "make_inputs.py"
    found = importlib.util.spec_from_file_location("make_inputs", source)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    given = json.loads((folder / "inputs" / f"{name}.json").read_text(encoding="utf-8"))
    yield "first", module.make_inputs(given, 0)
    yield "second", module.make_inputs(given, 1)
    if given.get("dynamic"):
        yield "other sizes", module.make_inputs(given, 2, {**given["sizes"], **module.OTHER_SIZES})


def rewrite(path: Path, target: Path, pass_name: str, module: str) -> None:
    import gslang

    result = gslang.load(module).apply(gslang.read(path), pass_name=pass_name)
    gslang.write(result.graph, target)


def measure(folder: Path, out: Path, pass_name: str, module: str, name: str, timed: float = 0.0) -> Outcome:
    """Run the pass over a model, and both models over its inputs; for as many seconds as `timed` says to see
    how long they take.
    """
    import onnx

    source, target = folder / f"{name}.onnx", out / f"{name}.onnx"
    before = operators(onnx.load(source))
    began = perf_counter()
    try:
        rewrite(source, target, pass_name, module)
    except Exception as error:  # whatever goes wrong is shown beside the model's name
        return Outcome(
            before.total(), 0, (0, 0), perf_counter() - began, {}, {}, f"{type(error).__name__}: {error}"
        )
    seconds = perf_counter() - began
    model = onnx.load(target)
    after = operators(model)
    floats = {v.type.tensor_type.elem_type for v in model.graph.output}
    rough = bool(floats & {10, 16}) or any(o in before for o in ("QuantizeLinear", "DynamicQuantizeLinear"))
    made = Outcome(
        before.total(), after.total(), (source.stat().st_size, target.stat().st_size), seconds, dict(after),
        {}, tolerance=HALF_TOLERANCE if rough else TOLERANCE,
    )
    differences: dict[str, float] = {}
    own = 0.0
    said = ""
    try:
        first, quick = (
            session(str(source), optimized=False), session(str(source), optimized=True) if rough else None,
        )
    except Exception as error:
        return Outcome(**{**vars(made), "failure": f"not run: {str(error).splitlines()[0][:90]}"})
    try:
        plain, best = session(str(target), optimized=False), session(str(target), optimized=True)
        for which, given in feeds(folder, name):
            try:
                expected = first.run(None, given)
            except Exception:  # some exporters write dynamic models that run with some sizes only
                continue
            # Quantized layers round differently in onnxruntime's own operators, and their products saturate
            # on some processors: what either of its levels makes of the model before counts.
            known = [expected] if quick is None else [expected, quick.run(None, given)]
            own = max(own, difference(known[0], known[-1]))
            for level, ran in ((0, plain), (99, best)):
                found = ran.run(None, given)
                differences[f"{which}@{level}"] = min(difference(outputs, found) for outputs in known)
            if timed and not said:
                said = latency(source, target, given, timed)
    except Exception as error:
        return Outcome(**{**vars(made), "failure": str(error).splitlines()[0][:200]})
    if not differences:
        return Outcome(**{**vars(made), "failure": "not run: with none of its inputs"})
    return Outcome(**{**vars(made), "differences": differences, "own": own, "latency": said})


def latency(source: Path, target: Path, given: dict[str, Any], seconds: float) -> str:
    """How much longer (`+`) or shorter the model takes than before, in per cent, or `=` where that is no more
    than noise.
    """
    import gslang
    from gslang.formats.onnx.latency import Setting, measure_latency

    found = measure_latency(
        gslang.read(source), gslang.read(target), given, Setting(threads=1, seconds=seconds)
    ).change
    if found is None or not found.more_than_noise:
        return "="
    return f"{(found.ratio - 1) * 100:+.0f} %"


def table(folder: Path) -> dict[str, dict[str, str]]:
    path = folder / "table.tsv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as lines:
        return {row["name"]: row for row in csv.DictReader(lines, delimiter="\t")}


def best_of_others(row: Mapping[str, str]) -> tuple[int, str] | None:
    """The fewest nodes that another tool leaves, and which, among those whose result runs."""
    counted = [tool for tool in OTHERS if row.get(tool, "").isdigit()]
    ran = [
        tool
        for tool in counted
        if row.get(f"{tool} numbers", "") not in ("", "-") and not row[f"{tool} numbers"].startswith("FAILS")
    ]
    return min(((int(row[tool]), tool) for tool in ran or counted), default=None)


def fused_elsewhere(row: Mapping[str, str]) -> Counter[str]:
    """The most operators of each kind that another tool makes."""
    most: Counter[str] = Counter()
    for tool in OTHERS:
        if row.get(f"{tool} numbers", "").startswith("FAILS"):
            continue
        found = {
            name: int(count)
            for name, _, count in (
                part.rpartition(":") for part in row.get(f"{tool} fused", "").split() if ":" in part
            )
        }
        most |= fused(found)
    return most


def line(name: str, outcome: Outcome, row: Mapping[str, str]) -> tuple[str, bool]:
    """What is printed of a model; whether another tool leaves fewer nodes, or the numbers differ."""
    best = best_of_others(row)
    less = best is not None and outcome.nodes > best[0]
    missing = fused_elsewhere(row) - fused(outcome.operators)
    numbers = max(outcome.differences.values(), default=float("nan"))
    said = [f"{name:52} {outcome.before:4} → {outcome.nodes:4}"]
    said.append(f"best {best[0]:4} {best[1]:16}" if best else "")
    said.append("MORE" if less else "    ")
    said.append(f"{numbers:8.1e}" + ("" if outcome.equal or not outcome.differences else " DIFFERS"))
    said.append(f"{outcome.bytes[1] / max(1, outcome.bytes[0]):.2f}x {outcome.seconds:.1f}s")
    if missing:
        said.append("missing " + " ".join(f"{kind}:{count}" for kind, count in missing.items()))
    if outcome.failure:
        said.append(outcome.failure)
    return "  ".join(said), bool(less)


def timed_count(count: str, seconds: str, least: int) -> str:
    """Nodes and seconds as a cell; the least number of nodes is bold."""
    return (f"**{count}**" if count == str(least) else count) + f" ({seconds})" * bool(seconds)


def page(found: Mapping[str, Outcome], rows: Mapping[str, Mapping[str, str]]) -> str:
    """A row for each model; the same in numbers."""
    from importlib.metadata import version

    tools = {
        "onnxslim": "onnxslim",
        "onnxsim": "onnxsim",
        "ort1": "onnxruntime basic",
        "ort2": "extended",
        "ort.transformers": "transformers",
        "onnxscript": "onnxscript",
        "onnxscript.ort": "for onnxruntime",
    }
    rank = [(o, best_of_others(rows.get(name, {}))) for name, o in found.items()]
    fewest = sum(best is None or o.nodes <= best[0] for o, best in rank)
    ran = [o for o in found.values() if not o.failure.startswith("not run")]
    lacking: Counter[str] = sum(
        (fused_elsewhere(rows.get(name, {})) - fused(o.operators) for name, o in found.items()), Counter()
    )
    faster = sum(o.latency.startswith("-") for o in ran)
    slower = sum(o.latency.startswith("+") for o in ran)
    lines = [
        "# Nodes left in exported models",
        "",
        EXPLANATION.rstrip(),
        "", f"onnxruntime {version('onnxruntime')}, onnx {version('onnx')}.", "",
        (
            f"No tool leaves fewer nodes on {fewest} of {len(found)}; numbers are equal on "
            f"{sum(o.equal for o in ran)} of {len(ran)} that run here; faster on {faster}, slower on "
            f"{slower}."
        ),
        (
            "Fused by another tool and not here: "
            f"{', '.join(f'{kind} {n}' for kind, n in lacking.items()) or 'nothing'}."
        ),
        "", "| model | before | gslang | fused | " + " | ".join(tools.values()) + " | difference | latency |",
        "|---|---|---|---|" + "---|" * (len(tools) + 2),
    ]
    for name, o in found.items():
        row, best = rows.get(name, {}), best_of_others(rows.get(name, {}))
        least = min(o.nodes, best[0]) if best else o.nodes
        kinds = fused(o.operators)
        made = " ".join(f"{kinds[kind]}{letter}" for kind, letter in LETTERS.items() if kinds[kind])
        cells = [str(o.before), timed_count(str(o.nodes), f"{o.seconds:.1f}", least), made]
        for tool in tools:
            failed = not row.get(tool, "").isdigit() or row.get(f"{tool} numbers", "").startswith("FAILS")
            cells.append("–" if failed else timed_count(row[tool], row.get(f"{tool} s", ""), least))
        worst = max((d for d in o.differences.values() if d == d), default=None)
        own = f" ({o.own:.0e})" if o.own > HALF_TOLERANCE else ""
        numbers = "not run" if worst is None else f"{worst:.0e}{own}"
        lines.append(f"| {name} | {' | '.join([*cells, numbers, o.latency or '–'])} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="models whose names contain one of these")
    parser.add_argument("--rules", default="std.onnxruntime")
    parser.add_argument("--pass", dest="pass_name", default="onnxruntime")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the models that are made")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", type=Path, help="write the table there, with latencies")
    parser.add_argument(
        "--timed", type=float, default=2.0, help="seconds to measure the latency of a model, for --page"
    )
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    rows = table(given.folder)
    names = [
        p.stem
        for p in sorted(given.folder.glob("*.onnx"))
        if not given.only or any(part in p.name for part in given.only)
    ]
    work = partial(
        measure, given.folder, given.out, given.pass_name, given.rules,
        timed=given.timed if given.page else 0.0,
    )
    more = wrong = 0
    lacking: Counter[str] = Counter()
    outcomes: dict[str, Outcome] = {}
    with ProcessPoolExecutor(given.jobs) as pool:
        for name, outcome in zip(names, pool.map(work, names)):
            row = rows.get(name, {})
            outcomes[name] = outcome
            said, less = line(name, outcome, row)
            print(said, flush=True)
            more += less
            wrong += not outcome.equal and not outcome.failure.startswith("not run")
            lacking += fused_elsewhere(row) - fused(outcome.operators)
    if given.page:
        before = given.page.read_text(encoding="utf-8") if given.page.exists() else ""
        others = "".join(before.partition(f"\n{PACKAGES}")[1:])
        given.page.write_text(page(outcomes, rows) + others, encoding="utf-8")
    print(
        f"{len(names)} models; another tool leaves fewer nodes on {more}; numbers differ on {wrong}; fused "
        f"elsewhere alone: {dict(lacking)}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

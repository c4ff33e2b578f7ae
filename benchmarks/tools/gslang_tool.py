"""gslang itself: on JSON graphs with the rules of `benchmarks/rules`, on ONNX models with those of its folder
`onnx`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.families import FAMILY_OF_JOB

RULES = Path(__file__).parent.parent / "rules"
ONNX_NAMES = {
    "nn.batch_norm": "BatchNormalization",
    "nn.conv2d": "Conv",
    "nn.matmul": "MatMul",
    "transpose": "Transpose",
    "add": "Add",
    "multiply": "Mul",
}


class Gslang:
    """`rewrite` is `RuleSet.apply`, which copies the graph first; `matches` counts what was applied."""

    jobs = tuple(FAMILY_OF_JOB)
    suffix = "json"
    matches = 0

    def prepare(self) -> None:
        import gslang

        self.gslang = gslang

    def rules(self, job: str) -> Any:
        self.fold = job.endswith("_fold")
        return self.gslang.load(RULES / f"{job}.gsl")

    def load(self, path: str, job: str) -> Any:
        return self.gslang.read(path)

    def rewrite(self, graph: Any, rules: Any) -> Any:
        result = rules.apply(graph, fold=self.fold)
        self.matches = result.applications
        return result.graph

    def save(self, graph: Any, path: str) -> None:
        self.gslang.write(graph, path + ".json")

    def operators(self, graph: Any) -> Counter[str]:
        """Relay's names as ONNX's."""
        return Counter(ONNX_NAMES.get(graph.op[n], graph.op[n]) for n in graph.nodes() if graph.is_call(n))


class GslangOnOnnx(Gslang):
    """The same on ONNX models."""

    jobs = ("convbn_fold", "tt", "ident", "parmm")
    suffix = "onnx"

    def rules(self, job: str) -> Any:
        self.fold = job.endswith("_fold")
        return self.gslang.load(RULES / "onnx" / f"{job.removesuffix('_fold')}.gsl")

    def save(self, graph: Any, path: str) -> None:
        self.gslang.write(graph, path)

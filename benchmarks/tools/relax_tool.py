"""TVM Relax: its ONNX importer, then its pattern language (`rewrite_call`, `rewrite_bindings`) or the pass
that it ships.

It writes no file. Graph patterns bind variables only, so the weights of the parallel jobs are parameters
there.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


class Relax:
    jobs = ("convbn", "tt", "ident", "parmm", "parconv", "none")
    suffix = "onnx"

    def prepare(self) -> None:
        import onnx
        import tvm
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx

        self.onnx, self.tvm, self.relax, self.from_onnx = onnx, tvm, relax, from_onnx

    def load(self, path: str, job: str) -> Any:
        return self.from_onnx(self.onnx.load(path), keep_params_in_input=job.startswith("par"))

    def rules(self, job: str) -> Any:
        relax, dpl = self.relax, self.relax.dpl
        match job:
            case "convbn":
                return relax.transform.FoldBatchnormToConv2D()
            case "parmm" | "parconv":
                return self._parallel("relax.matmul" if job == "parmm" else "relax.nn.conv2d")
        x = dpl.wildcard()
        if job == "ident":
            return self._in_order([self._neutral("relax.add", 0.0), self._neutral("relax.multiply", 1.0)])
        inner = dpl.is_op("relax.permute_dims")(x)

        def drop(call: Any, matched: Any) -> Any:
            p, q = ([int(i) for i in c.attrs.axes] for c in (matched[inner], call))
            return matched[x] if [p[i] for i in q] == list(range(len(p))) else call

        return self._in_order([(dpl.is_op("relax.permute_dims")(inner), drop)])

    def _neutral(self, op: str, value: float) -> tuple[Any, Any]:
        dpl = self.relax.dpl
        x, constant = dpl.wildcard(), dpl.is_const()

        def drop(call: Any, matched: Any) -> Any:
            array = matched[constant].value.numpy()
            return matched[x] if array.shape == () and array == value else call

        return dpl.is_op(op)(x, constant), drop

    def _in_order(self, rules: Any) -> Any:
        def run(module: Any) -> Any:
            function = module["main"]
            for pattern, rewrite in rules:
                function = self.relax.dpl.rewrite_call(pattern, rewrite, function)
            module["main"] = function
            return module

        return run

    def _parallel(self, op: str) -> Any:
        relax, dpl = self.relax, self.relax.dpl

        def run(module: Any) -> Any:
            with dpl.PatternContext() as context:
                x, weights = dpl.wildcard(), [dpl.wildcard() for _ in range(3)]
                outputs = [dpl.is_op(op)(x, w) for w in weights]

                def merge(matched: Any, _bindings: Any) -> Any:
                    joined = relax.op.concat(
                        [matched[w] for w in weights], axis=1 if op == "relax.matmul" else 0
                    )
                    new = (
                        relax.op.matmul(matched[x], joined) if op == "relax.matmul"
                        else relax.op.nn.conv2d(matched[x], joined)
                    )
                    parts = [
                        relax.op.strided_slice(
                            new, axes=[1], begin=[2 * i], end=[2 * i + 2], assume_inbound=True
                        )
                        for i in range(3)
                    ]
                    return {matched[o]: part for o, part in zip(outputs, parts)}

                module["main"] = dpl.rewrite_bindings(context, merge, module["main"])
            return module

        return run

    def rewrite(self, graph: Any, rules: Any) -> Any:
        return rules(graph)

    def save(self, graph: Any, path: str) -> None:
        """There is no file to write."""

    def operators(self, graph: Any) -> Counter[str]:
        names = {
            "permute_dims": "Transpose",
            "matmul": "MatMul",
            "conv2d": "Conv",
            "batch_norm": "BatchNormalization",
            "add": "Add",
            "multiply": "Mul",
        }
        counts: Counter[str] = Counter()
        for block in graph["main"].body.blocks:
            for binding in block.bindings:
                name = getattr(getattr(binding.value, "op", None), "name", type(binding.value).__name__)
                name = name.rsplit(".", 1)[-1]
                counts[names.get(name, name)] += 1
        return counts

"""The tools that take an ONNX model and give one back: onnxscript's rewriter, onnxoptimizer, onnxsim,
onnxruntime.

What `rewrite` contains differs: onnxoptimizer and onnxsim turn the model into bytes and back; onnxruntime
makes a session and writes the model, and offers no finer split; onnxsim and onnxruntime run all that they
have.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


def counted(path: str) -> Counter[str]:
    """The operators of a written model."""
    import onnx

    return Counter(node.op_type for node in onnx.load(path).graph.node)


class OnnxScript:
    """Rules that come with the package where there are any; parallel operators are a pattern with three
    outputs, written here. It computes folded weights.
    """

    jobs = ("convbn_fold", "tt", "ident", "parmm", "parconv", "none")
    suffix = "onnx"

    def prepare(self) -> None:
        import onnxscript.rewriter as rewriter
        import onnxscript.rewriter.rules.common as common
        from onnxscript import ir

        self.rewriter, self.common, self.ir = rewriter, common, ir

    def rules(self, job: str) -> Any:
        pattern, common = self.rewriter.pattern, self.common
        match job:
            case "convbn_fold":
                rules = [common.fuse_batchnorm_into_conv_rule]
            case "ident":
                rules = [common.add_0_rule, common.mul_by_1_rule]
            case "parmm" | "parconv":
                rules = [self._parallel("MatMul" if job == "parmm" else "Conv")]
            case _:
                rules = [common.transpose_transpose_rule, common.no_op_transpose_rule]
        return pattern.RewriteRuleSet(rules)

    def _parallel(self, op_type: str) -> Any:
        attributes = {"kernel_shape": [1, 1]} if op_type == "Conv" else {}
        axis = 0 if op_type == "Conv" else 1

        def source(op: Any, x: Any, w0: Any, w1: Any, w2: Any) -> Any:
            return tuple(getattr(op, op_type)(x, w, _outputs=[f"o{i}"]) for i, w in enumerate((w0, w1, w2)))

        def different(context: Any, w0: Any, w1: Any, w2: Any, **_: Any) -> bool:
            return len({id(w0), id(w1), id(w2)}) == 3

        def target(op: Any, x: Any, w0: Any, w1: Any, w2: Any, **_: Any) -> Any:
            joined = getattr(op, op_type)(x, op.Concat(w0, w1, w2, axis=axis), **attributes)
            return op.Split(joined, axis=1, num_outputs=3, _outputs=3)

        return self.rewriter.pattern.RewriteRule(source, target, different)

    def load(self, path: str, job: str) -> Any:
        return self.ir.load(path)

    def rewrite(self, graph: Any, rules: Any) -> Any:
        return self.rewriter.rewrite(graph, rules)

    def save(self, graph: Any, path: str) -> None:
        self.ir.save(graph, path)

    def operators(self, graph: Any) -> Counter[str]:
        return Counter(node.op_type for node in graph.graph)


class OnnxOptimizer:
    PASSES = {
        "convbn_fold": ["fuse_bn_into_conv"],
        "tt": ["fuse_consecutive_transposes", "eliminate_nop_transpose"],
        "ident": ["eliminate_nop_with_unit"],
        "parmm": ["fuse_qkv"],
        "none": ["fuse_consecutive_transposes", "eliminate_nop_transpose"],
    }
    jobs = tuple(PASSES)
    suffix = "onnx"

    def prepare(self) -> None:
        import onnx
        import onnxoptimizer

        self.onnx, self.optimizer = onnx, onnxoptimizer

    def rules(self, job: str) -> Any:
        return self.PASSES[job]

    def load(self, path: str, job: str) -> Any:
        return self.onnx.load(path)

    def rewrite(self, graph: Any, rules: Any) -> Any:
        return self.optimizer.optimize(graph, rules)

    def save(self, graph: Any, path: str) -> None:
        self.onnx.save(graph, path)

    def operators(self, graph: Any) -> Counter[str]:
        return Counter(node.op_type for node in graph.graph.node)


class OnnxSim(OnnxOptimizer):
    jobs = ("convbn_fold", "tt", "ident", "parmm", "parconv", "none")

    def prepare(self) -> None:
        import onnx
        import onnxsim

        self.onnx, self.simplifier = onnx, onnxsim

    def rules(self, job: str) -> Any:
        return None

    def rewrite(self, graph: Any, rules: Any) -> Any:
        result = self.simplifier.simplify(graph)
        return result[0] if isinstance(result, tuple) else result


class OnnxRuntime:
    jobs = OnnxSim.jobs
    suffix = "onnx"

    def __init__(self, level: str) -> None:
        self.level = level

    def prepare(self) -> None:
        import onnxruntime

        self.runtime = onnxruntime

    def rules(self, job: str) -> Any:
        return None

    def load(self, path: str, job: str) -> Any:
        return path

    def rewrite(self, graph: Any, rules: Any) -> Any:
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = getattr(self.runtime.GraphOptimizationLevel, self.level)
        options.optimized_model_filepath = self.written = graph + f".{self.level}.written"
        self.session = self.runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        return self.written

    def save(self, graph: Any, path: str) -> None:
        """Written already."""

    def operators(self, graph: Any) -> Counter[str]:
        return counted(graph)

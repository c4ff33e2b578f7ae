"""tinygrad's pattern matcher on its own graph: transposes, sums and products are its operators, all else is
`CUSTOM`.

It rewrites one root at a time: parallel operators are found from the concatenation that joins them, and no
split is made.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


class Tinygrad:
    jobs = ("convbn", "tt", "ident", "parmm", "parconv", "none")
    suffix = "onnx"

    def prepare(self) -> None:
        import onnx
        import onnx.numpy_helper
        from tinygrad.dtype import dtypes
        from tinygrad.uop import ops

        self.onnx, self.ops, self.float = onnx, ops, dtypes.float
        # The matcher accepts no functions that close over variables: what the rules need is global.
        globals().update(UOp=ops.UOp, CUSTOM=ops.Ops.CUSTOM, FLOAT=dtypes.float)

    def rules(self, job: str) -> Any:
        pattern, kind = self.ops.UPat, self.ops.Ops
        rules: list[Any]
        match job:
            case "ident":
                rules = [(pattern.var("x") + 0, lambda x: x), (pattern.var("x") * 1, lambda x: x)]
            case "convbn":
                rules = [(
                    pattern(kind.CUSTOM, src=(pattern(kind.CUSTOM, name="c"),), allow_any_len=True, name="n"),
                    fold_batch_norm,
                )]
            case "parmm" | "parconv":
                branches = tuple(pattern(kind.CUSTOM, name=name) for name in "abc")
                rules = [(pattern(kind.CUSTOM, src=branches, name="joined"), merge_parallel)]
            case _:
                rules = [
                    (pattern(kind.PERMUTE, src=(pattern(kind.PERMUTE, name="a"),), name="b"), drop_transposes)
                ]
        return self.ops.PatternMatcher(rules)

    def load(self, path: str, job: str) -> Any:
        node, kind, float_type = self.ops.UOp, self.ops.Ops, self.float
        graph = self.onnx.load(path).graph
        made: dict[str, Any] = {}
        for weight in graph.initializer:
            array = self.onnx.numpy_helper.to_array(weight)
            made[weight.name] = (
                node.const(float(array), float_type) if array.shape == ()
                else node(kind.CUSTOM, float_type, (), ("param", weight.name))
            )
        for value in graph.input:
            made[value.name] = node(kind.CUSTOM, float_type, (), ("input", value.name))
        for call in graph.node:
            operands = tuple(made[name] for name in call.input)
            match call.op_type:
                case "Transpose":
                    result = node(kind.PERMUTE, float_type, operands, tuple(call.attribute[0].ints))
                case "Add" | "Mul":
                    result = node(getattr(kind, call.op_type.upper()), float_type, operands)
                case _:
                    attributes = tuple((a.name, a.i, tuple(a.ints)) for a in call.attribute)
                    result = node(kind.CUSTOM, float_type, operands, (call.op_type, attributes))
            made[call.output[0]] = result
        return made[graph.output[0].name]

    def rewrite(self, graph: Any, rules: Any) -> Any:
        return self.ops.graph_rewrite(graph, rules)

    def save(self, graph: Any, path: str) -> None:
        """There is no file format for its graphs."""

    def operators(self, graph: Any) -> Counter[str]:
        names = {"PERMUTE": "Transpose", "ADD": "Add", "MUL": "Mul"}
        return Counter(
            n.arg[0] if n.op is self.ops.Ops.CUSTOM else names.get(n.op.name, n.op.name)
            for n in graph.toposort()
        )


def drop_transposes(a: Any, b: Any) -> Any:
    return a.src[0] if tuple(a.arg[i] for i in b.arg) == tuple(range(len(b.arg))) else None


def fold_batch_norm(n: Any, c: Any) -> Any:
    if n.arg[0] != "BatchNormalization" or c.arg[0] != "Conv" or len(c.src) != 2:
        return None
    weight = UOp(CUSTOM, FLOAT, (c.src[1], *n.src[1:]), ("folded_weight",))  # type: ignore[name-defined]  # noqa: F821
    bias = UOp(CUSTOM, FLOAT, n.src[1:], ("folded_bias",))  # type: ignore[name-defined]  # noqa: F821
    return UOp(CUSTOM, FLOAT, (c.src[0], weight, bias), c.arg)  # type: ignore[name-defined]  # noqa: F821


def merge_parallel(joined: Any, a: Any, b: Any, c: Any) -> Any:
    if joined.arg[0] != "Concat" or not (a.arg == b.arg == c.arg) or a.arg[0] not in ("Conv", "MatMul"):
        return None
    if not (a.src[0] is b.src[0] and b.src[0] is c.src[0]):
        return None
    weight = UOp(CUSTOM, FLOAT, (a.src[1], b.src[1], c.src[1]), ("joined_weight",))  # type: ignore[name-defined]  # noqa: F821
    return UOp(CUSTOM, FLOAT, (a.src[0], weight), a.arg)  # type: ignore[name-defined]  # noqa: F821

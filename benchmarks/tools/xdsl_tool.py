"""xdsl's pattern rewriter: Python patterns over an MLIR module of generic operations; it writes MLIR text.

Parallel operators are found by Python code over the uses of a value, not by a pattern; nothing folds weights.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


class Xdsl:
    jobs = ("convbn", "tt", "ident", "parmm", "parconv", "none")
    suffix = "onnx"

    def prepare(self) -> None:
        import onnx
        import xdsl.pattern_rewriter as pattern_rewriter
        from xdsl.dialects import builtin
        from xdsl.ir import Block, Region

        self.onnx, self.rewriter, self.builtin = onnx, pattern_rewriter, builtin
        self.Block, self.Region = Block, Region
        self.classes: dict[str, Any] = {}
        self.type = builtin.f32

    def operation(self, name: str) -> Any:
        """The class of operations `gx.NAME`."""
        from xdsl.irdl import AnyAttr, IRDLOperation, irdl_op_definition, result_def, var_operand_def

        if name not in self.classes:
            body = {
                "name": f"gx.{name}",
                "ins": var_operand_def(AnyAttr()),
                "out": result_def(AnyAttr()),
                "__annotations__": {},
            }
            self.classes[name] = irdl_op_definition(type(name, (IRDLOperation,), body))
        return self.classes[name]

    def make(self, name: str, operands: Any, attributes: Any = None) -> Any:
        return self.operation(name).create(
            operands=list(operands), result_types=[self.type], attributes=attributes or {}
        )

    def load(self, path: str, job: str) -> Any:
        builtin = self.builtin
        graph = self.onnx.load(path).graph
        block = self.Block(arg_types=[self.type] * len(graph.input))
        made = {value.name: argument for value, argument in zip(graph.input, block.args)}
        operations = []
        for weight in graph.initializer:
            operation = self.make("Param", [], {"name": builtin.StringAttr(weight.name)})
            operations.append(operation)
            made[weight.name] = operation.results[0]
        for call in graph.node:
            attributes = {
                a.name: builtin.ArrayAttr([builtin.IntegerAttr(int(k), 64) for k in a.ints]) if a.ints
                else builtin.IntegerAttr(a.i, 64)
                for a in call.attribute
            }
            operation = self.make(call.op_type, [made[name] for name in call.input], attributes)
            operations.append(operation)
            made[call.output[0]] = operation.results[0]
        operations.append(self.make("Return", [made[graph.output[0].name]]))
        block.add_ops(operations)
        return builtin.ModuleOp(self.Region(block))

    def rules(self, job: str) -> Any:
        rewrite = {
            "convbn": self._fold,
            "ident": self._identity,
            "parmm": self._merge("MatMul"),
            "parconv": self._merge("Conv"),
        }.get(job, self._transposes)

        class Rule(self.rewriter.RewritePattern):  # type: ignore[misc,name-defined,unused-ignore]
            def match_and_rewrite(self, op: Any, rewriter: Any) -> None:
                rewrite(op, rewriter)

        return self.rewriter.PatternRewriteWalker(Rule())

    def _transposes(self, op: Any, rewriter: Any) -> None:
        transpose = self.operation("Transpose")
        if not isinstance(op, transpose) or not isinstance(inner := op.operands[0].owner, transpose):
            return
        p, q = ([k.value.data for k in o.attributes["perm"].data] for o in (inner, op))
        if [p[i] for i in q] == list(range(len(p))):
            rewriter.replace_op(op, [], [inner.operands[0]])
            if inner.results[0].first_use is None:
                rewriter.erase_op(inner)

    def _identity(self, op: Any, rewriter: Any) -> None:
        for name, neutral in (("Add", "zero"), ("Mul", "one")):
            if isinstance(op, self.operation(name)):
                constant = op.operands[1].owner
                if (
                    isinstance(constant, self.operation("Param"))
                    and constant.attributes["name"].data == neutral
                ):
                    rewriter.replace_op(op, [], [op.operands[0]])
                    return

    def _fold(self, op: Any, rewriter: Any) -> None:
        if not isinstance(op, self.operation("BatchNormalization")):
            return
        conv = op.operands[0].owner
        if not isinstance(conv, self.operation("Conv")) or not conv.results[0].has_one_use():
            return
        weight, bias = (
            self.make("FoldedWeight", [conv.operands[1], *op.operands[1:]]),
            self.make("FoldedBias", op.operands[1:]),
        )
        new = self.make("Conv", [conv.operands[0], weight.results[0], bias.results[0]], dict(conv.attributes))
        rewriter.replace_op(op, [weight, bias, new], [new.results[0]])
        rewriter.erase_op(conv)

    def _merge(self, name: str) -> Any:
        def merge(op: Any, rewriter: Any) -> None:
            kind = self.operation(name)
            if not isinstance(op, kind) or "merged" in op.attributes:
                return
            siblings = [
                use.operation
                for use in op.operands[0].uses if isinstance(use.operation, kind) and use.index == 0
            ]
            if len(siblings) != 3 or siblings[0] is not op:
                return
            weight = self.make("JoinedWeight", [s.operands[1] for s in siblings])
            new = self.make(
                name, [op.operands[0], weight.results[0]],
                {**op.attributes, "merged": self.builtin.UnitAttr()},
            )
            rewriter.insert_op([weight, new], self.rewriter.InsertPoint.before(op))
            for i, sibling in enumerate(siblings):
                rewriter.replace_op(
                    sibling, [self.make("Slice", [new.results[0]], {"i": self.builtin.IntegerAttr(i, 64)})]
                )

        return merge

    def rewrite(self, graph: Any, rules: Any) -> Any:
        rules.rewrite_module(graph)
        return graph

    def save(self, graph: Any, path: str) -> None:
        from xdsl.printer import Printer

        with open(path, "w", encoding="utf-8") as file:
            Printer(file, print_generic_format=True).print_op(graph)

    def operators(self, graph: Any) -> Counter[str]:
        return Counter(o.name[3:] for o in graph.walk() if o.name.startswith("gx."))

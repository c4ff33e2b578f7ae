"""`test` items: two small graphs and the rule between them."""

from __future__ import annotations

from collections.abc import Mapping

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import patterns, rule_annotations, targets
from gslang.check.context import Lowering, NodeOf, Stop
from gslang.check.externs import refuse
from gslang.check.outputs import settle_constants
from gslang.check.resolve import resolve
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import numpy_dtype_exists
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.syntax import nodes as n


def check_test(
    item: n.Test,
    dialect: Dialect,
    functions: Mapping[str, n.FnDecl | n.ParamDecl],
    rules: Mapping[str, ir.CheckedRule],
    broken: set[str],
    found: list[Diagnostic],
) -> ir.CheckedTest | None:
    """A `test` item; None if a finding is an error."""
    name = item.rule.id
    if not ir.called(rules, name) and name not in broken:
        guess = did_you_mean(name, [*rules, *ir.families(rules)])
        found.append(Diagnostic(
            "E0207", f"unknown rule `{name}`", Label(item.rule.span),
            help=f"did you mean `{guess}`?" if guess else None,
        ))
        return None
    low = Lowering(dialect, functions, [], resolve, in_graph=False)
    opset = _opset(low, item)
    inputs = []
    for declared in item.inputs:
        kind = declared.kind.id
        if kind not in ("input", "param", "const", "var"):
            low.error(
                "E0704", f"unknown kind `{kind}`", declared.kind.span,
                "a test's inputs are `input`, `param` or `const`",
            )
        if not numpy_dtype_exists(declared.dtype.id):
            low.error(
                "E0704", f"unknown data type `{declared.dtype.id}`", declared.dtype.span,
                "write `float32`, `int64`, `bool`, …",
            )
        shape = tuple(dim if isinstance(dim, int) else Symbol(dim) for dim in declared.dims)
        inputs.append(
            (declared.name.id, "input" if kind == "var" else kind, TensorType(shape, declared.dtype.id))
        )
        node = patterns.leaf(low, declared.span, "any", (), name=declared.name.id)
        low.bind(declared.name, NodeOf(ir.OWN, node.node))
    low.side = "target"
    source = _side(low, item.source)
    expected = None
    if item.expected is not None:
        low.bound_at = {k: v for k, v in low.bound_at.items() if any(k == name for name, _, _ in inputs)}
        low.names = {k: v for k, v in low.names.items() if any(k == name for name, _, _ in inputs)}
        expected = _side(low, item.expected)
    settle_constants(low)
    refuse(low, "a test", (*low.lets, *low.targets), item.span)
    found += low.diagnostics
    if any(f.severity.value == "error" for f in low.diagnostics):
        return None
    table = (tuple(low.targets), tuple(low.target_names), tuple(low.target_spans))
    return ir.CheckedTest(
        item.title,
        name,
        tuple(inputs),
        ir.TargetGraph(*table, tuple(source)),
        None if expected is None else ir.TargetGraph(*table, tuple(expected)),
        tuple(low.lets),
        item.span,
        opset,
    )


def _opset(low: Lowering, item: n.Test) -> int | None:
    """The operator set that `@opset(11)` states for the test's graphs."""
    marks = rule_annotations.read(low, item)
    stated, highest = marks.opset
    if stated != highest or (stated is not None and low.dialect.name != "onnx"):
        span = next(a.span for a in item.annotations if a.name.id == "opset")
        low.error("E0702", "a test of ONNX rules states one operator set", span, "`@opset(11) test …`")
        return None
    return stated


def _side(low: Lowering, side: n.Side) -> list[int]:
    outputs = []
    for statement in side.statements:
        try:
            assert isinstance(statement, n.Bind)
            low.name_it(statement.name, low.resolve(statement.value))
        except Stop:
            pass
    for output in side.outputs:
        try:
            if isinstance(output, n.Star):
                outputs.append(targets.sequence_of(low, output, low.resolve(output.value)))
            else:
                outputs.append(targets.target_of(low, output, low.resolve(output)))
        except Stop:
            pass
    return outputs

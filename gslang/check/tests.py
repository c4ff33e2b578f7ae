"""`test` items: two small graphs and the rule between them."""

from __future__ import annotations

from collections.abc import Mapping

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import patterns, rule_annotations, targets
from gslang.check.context import Lost, Lowering, NodeOf, Stop
from gslang.check.externs import refuse
from gslang.check.outputs import settle_constants
from gslang.check.resolve import resolve
from gslang.dialect.declarations import NotConstant
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain_text import value_text
from gslang.dialect.dtypes import dtype_meant, numpy_dtype_exists
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
    if not ir.called(rules, name) and not ir.is_lost(name, broken):
        guess = did_you_mean(name, [*rules, *ir.families(rules)])
        found.append(Diagnostic(
            "E0207", f"unknown rule `{name}`", Label(item.rule.span),
            help=f"did you mean `{guess}`?" if guess
            else ir.rows_listed(name, rules) or "name a rule of this file or of one that it uses",
        ))
        return None
    lowering = Lowering(dialect, functions, [], resolve, in_graph=False)
    opset = _opset(lowering, item)
    inputs = _inputs(lowering, item)
    lowering.side = "target"
    lowering.in_a_rule = "tensors of a test are declared before its statements: `x: input float32[2, 3];`"
    source = _side(lowering, item.source)
    expected = None
    if item.expected is not None:
        lowering.bound_at = {
            k: v for k, v in lowering.bound_at.items() if any(k == name for name, _, _ in inputs)
        }
        lowering.names = {k: v for k, v in lowering.names.items() if any(k == name for name, _, _ in inputs)}
        expected = _side(lowering, item.expected)
    settle_constants(lowering)
    refuse(lowering, "a test", (*lowering.lets, *lowering.targets), item.span)
    found += lowering.diagnostics
    if any(f.severity.value == "error" for f in lowering.diagnostics):
        return None
    table = (tuple(lowering.targets), tuple(lowering.target_names), tuple(lowering.target_spans))
    return ir.CheckedTest(
        item.title,
        name,
        tuple(inputs),
        ir.TargetGraph(*table, tuple(source)),
        None if expected is None else ir.TargetGraph(*table, tuple(expected)),
        tuple(lowering.lets),
        item.span,
        opset,
    )


def _inputs(lowering: Lowering, item: n.Test) -> list[tuple[str, str, TensorType]]:
    """Name, kind and type of each input of a test, which stands for a node from here on."""
    inputs = []
    for declared in item.inputs:
        kind = declared.kind.id
        if kind not in ("input", "param", "const", "var"):
            lowering.error(
                "E0704", f"unknown kind `{kind}`", declared.kind.span,
                "a test's inputs are `input`, `param` or `const`",
            )
        if not numpy_dtype_exists(declared.dtype.id):
            guess = dtype_meant(declared.dtype.id)
            lowering.error(
                "E0704", f"unknown data type `{declared.dtype.id}`", declared.dtype.span,
                f"did you mean `{guess}`?" if guess else "write `float32`, `int64`, `bool`, …",
            )
        shape = tuple(_size(lowering, dim, declared.span) for dim in declared.dims)
        inputs.append(
            (declared.name.id, "input" if kind == "var" else kind, TensorType(shape, declared.dtype.id))
        )
        node = patterns.leaf(lowering, declared.span, "any", (), name=declared.name.id)
        lowering.bind(declared.name, NodeOf(ir.OWN, node.node))
    return inputs


def _size(lowering: Lowering, dim: int | str, span: Span) -> int | Symbol:
    """A size: the number that a parameter of the file has, if it is called like one."""
    declared = None if isinstance(dim, int) else lowering.functions.get(dim)
    if isinstance(dim, int) or not isinstance(declared, n.ParamDecl):
        return dim if isinstance(dim, int) else Symbol(dim)
    if type(declared.value) is int and declared.value >= 0:
        return declared.value
    if not isinstance(declared.value, NotConstant):
        lowering.error(
            "E0704", f"`{dim}` is {value_text(declared.value)}, and a size is a number from 0", span,
            "name another parameter, or give the symbolic size a name that no parameter has",
        )
    return Symbol(dim)


def _opset(lowering: Lowering, item: n.Test) -> int | None:
    """The operator set that `@opset(11)` states for the test's graphs."""
    marks = rule_annotations.read(lowering, item)
    stated, highest = marks.opset
    if stated != highest or (stated is not None and lowering.dialect.name != "onnx"):
        span = next(a.span for a in item.annotations if a.name.id == "opset")
        lowering.error("E0702", "a test of ONNX rules states one operator set", span, "`@opset(11) test …`")
        return None
    return stated


def _side(lowering: Lowering, side: n.Side) -> list[int]:
    outputs = []
    for statement in side.statements:
        assert isinstance(statement, n.Bind)
        try:
            lowering.name_it(statement.name, lowering.resolve(statement.value))
        except Stop:
            lowering.names.setdefault(statement.name.id, Lost())
    for output in side.outputs:
        try:
            if isinstance(output, n.Star):
                outputs.append(targets.sequence_of(lowering, output, lowering.resolve(output.value)))
            else:
                outputs.append(targets.target_of(lowering, output, lowering.resolve(output)))
        except Stop:
            pass
    return outputs

"""L0120: `ordered` before a call whose operands do not commute anyway, or in a target, where nothing is
matched.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Edit, Fix
from gslang.base.source import Span
from gslang.lint.linted_file import Finding, LintedFile, finding, walk
from gslang.syntax import nodes as n

_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_ONNX = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}


def pointless_ordered(file: LintedFile) -> Iterator[Finding]:
    for item in file.written.items:
        if not isinstance(item, n.Rule):
            continue
        for node in walk(item.source):
            if (
                isinstance(node, n.Unary) and node.operator == "ordered"
                and (name := _fixed_order(file, node.operand)) is not None
            ):
                yield _finding(node, f"the operands of `{name}` do not commute anyway")
        for node in walk(item.target):
            if isinstance(node, n.Unary) and node.operator == "ordered":
                yield _finding(node, "operands of a target are never reordered")


def _fixed_order(file: LintedFile, operand: n.Expr) -> str | None:
    """The operator of a call that does not commute."""
    match operand:
        case n.Binary(operator=sign):
            name = (_ONNX if file.program.dialect.name == "onnx" else _OPERATORS).get(sign, "")
        case n.Call(callee=callee):
            name = callee.span.text.removeprefix(f"{file.program.dialect.name}.")
        case _:
            return None
    signature = file.program.dialect.get(name)
    return None if signature is None or "commutative" in signature.traits else name


def _finding(node: n.Unary, why: str) -> Finding:
    start = node.span.start
    edit = Edit(Span(node.span.source, start, start + len("ordered ")), "")
    fix = Fix("remove `ordered`", (edit,)) if edit.span.text == "ordered " else None
    return finding("L0120", f"`ordered` has no effect here: {why}", node.span, "remove it", fix=fix)

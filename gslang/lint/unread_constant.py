"""L0117: a constant of the source that could have any value: the rule neither tests nor reads it, and nothing
that holds it stays.

Such a rule names a closed form (`x / c * 0.5`) and forgets to say which one: it matches with any number
there.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.check import checked as ir
from gslang.check.walks import attributes_read
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.pattern_walk import staying_nodes


def unread_constant(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        checked = rule.checked
        staying = staying_nodes(checked)
        for k, node in enumerate(checked.nodes):
            if (
                not isinstance(node, ir.LeafNode) or node.kind != "const" or k in staying
                or (k, "value") in attributes_read(checked)
            ):
                continue
            if any(
                isinstance(c, ir.Constraint) and c.field == "value" for c in node.constraints
            ) or not _is_number(checked, k):
                continue
            name = f"`{node.name}`" if node.name else "this constant"
            hint = "state which one: `const(value = …)`, or `any` if it does not matter"
            yield finding(
                "L0117", f"{name} may be any constant, and the target does not depend on it", node.span, hint
            )


def _is_number(rule: ir.CheckedRule, k: int) -> bool:
    """True if it takes part in element-wise arithmetic: shapes and axes show in the types of what they are
    operands of.
    """
    users = [node for node in rule.nodes if isinstance(node, ir.CallNode) and k in node.operands]
    signatures = [rule.dialect.get(operator) for node in users for operator in node.operators]
    return bool(signatures) and all(s is not None and "elementwise" in s.traits for s in signatures)

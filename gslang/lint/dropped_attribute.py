"""L0112: an operator of the source made again without an attribute of which the source allows any value."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.check import checked as ir
from gslang.check.walks import attributes_read
from gslang.lint.linted_file import Finding, LintedFile, finding

# they repeat what shapes of weights say
_IMPLIED = frozenset(("channels", "kernel_size", "kernel_shape", "units"))


def dropped_attribute(file: LintedFile) -> Iterator[Finding]:
    """An operator of the source made again without an attribute of which the source allows any value."""
    for rule in file.rules:
        checked = rule.checked
        for k, made in enumerate(checked.target.targets):
            if not isinstance(made, ir.MakeCall) or not isinstance(made.operator, str) or made.spreads:
                continue
            matched = [
                node
                for node in checked.nodes if isinstance(node, ir.CallNode) and made.operator in node.operators
            ]
            signature = checked.dialect.get(made.operator)
            if (
                not matched or signature is None or "elementwise" in signature.traits
                and not signature.attributes
            ):
                continue
            given = {name for name, _ in made.attributes}
            read = {name for _, name in attributes_read(checked)}
            dropped = [
                name
                for name in signature.attributes
                if name not in given and name not in read and name not in _IMPLIED
                and all(_is_free(node, name) for node in matched)
            ]
            if dropped and _gone(checked, matched):
                names = ", ".join(f"`{name}`" for name in dropped)
                them = "it" if len(dropped) == 1 else "them"
                yield finding(
                    "L0112", f"the source accepts any {names}, but the target falls back to the default",
                    checked.target.spans[k],
                    f"copy {them} from the matched call (`c.*`, `c.{{{dropped[0]}}}`), or require the "
                    "default in the source",
                )


def _is_free(node: ir.CallNode, name: str) -> bool:
    return not any(isinstance(c, ir.SameAttributes) or c.field == name for c in node.constraints)


def _gone(checked: ir.CheckedRule, matched: list[ir.CallNode]) -> bool:
    """True if one of the calls goes away: else nothing is being replaced by the new one."""
    going = {*checked.interior, *checked.outputs}
    return any(checked.nodes[k] in matched for k in going)

"""L0113: `keep` on a node that stays anyway, because it is an output or the target uses it."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Diagnostic
from gslang.check import checked as ir
from gslang.lint.linted_file import LintedFile, finding


def pointless_keep(file: LintedFile) -> Iterator[Diagnostic]:
    for rule in file.rules:
        checked = rule.checked
        used = {t.node for t in checked.target.targets if isinstance(t, (ir.SourceNode, ir.SpliceInstances))}
        for k, node in enumerate(checked.nodes):
            if not node.keep:
                continue
            why = "it is an output" if k in checked.outputs else "it is no call" if isinstance(node, ir.LeafNode) else None
            if why is None and k in used:
                why = "the target uses it, so it stays anyway"
            if why is not None:
                yield finding("L0113", f"`keep` changes nothing here: {why}", node.span, "leave it out")

"""The table of lints. A code never changes its meaning. `L01xx` look at one rule, `L02xx` at the rules of a
file together.

A `-` before a title marks a lint that runs only where it is selected: what it finds is often meant.
"""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LintInfo:
    code: str
    name: str
    title: str
    default: bool


_TABLE = """
L0101 unused-binding        + an unused name
L0102 unused-function       + an unused function
L0103 unused-import         + an unused import
L0104 constant-condition    + a condition that is always or never true
L0105 exact-float           + a computed number compared exactly with a float
L0106 hidden-name           + a name that shadows an operator, a function, a built-in or an import
L0107 name-style            + a name that is not in snake_case
L0108 missing-doc           + a rule without a doc comment
L0109 missing-test          + a rule without a test
L0110 repeated-computation  + a target that computes the same thing twice
L0111 late-condition        + a condition that could be a constraint
L0112 dropped-attribute     + an attribute that the target drops
L0113 pointless-keep        + a `keep` without effect
L0114 coarse-constant       + a rounded constant in place of a closed form
L0115 unused-suppression    + an `@allow` that suppresses nothing
L0116 no-change             + a rule whose target equals its source
L0117 unread-constant       + a constant whose value is neither tested nor used
L0118 needless-interior     - a node that need not be removed
L0119 late-input-condition  - a condition on an input that could be a constraint
L0120 pointless-ordered     + an `ordered` without effect
L0201 overlap               - two rules match at the same node
L0202 unreachable           + a rule whose matches are all taken by an earlier one
L0203 non-terminating       + rules that form an infinite loop
L0204 growing               - a rule that enlarges the graph
L0205 order-dependent       - a result that depends on the order of rules
L0206 duplicate             + two equivalent rules
L0207 implied               - a rule implied by the others
"""


def _read(line: str) -> LintInfo:
    code, name, mark, title = line.split(None, 3)
    return LintInfo(code, name, title, mark == "+")


LINTS: dict[str, LintInfo] = {line[:5]: _read(line) for line in _TABLE.strip().splitlines()}
